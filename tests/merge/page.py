# SPDX-License-Identifier: GPL-2.0
"""docs/unified.md: its fenced blocks, and how a test runs them."""
import os
import re
import subprocess

from netns.testbed import BUILD, ROOT

PAGE = ROOT / "docs/unified.md"
REPORT = ROOT / "merge/report/saluki-merge-report"
PYTHON = ROOT / "build/venv/bin/python"


def blocks(language):
    """Pairs of heading and text, in the page's order."""
    found, heading = [], ""
    for title, kind, text in re.findall(r"^## ([^\n]*)$|^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S):
        heading = title or heading
        if kind == language:
            found.append((heading, text))
    return found


def commands(word):
    """All commands below the heading that begins with this word."""
    return "".join(text for heading, text in blocks("sh") if heading.startswith(word))


def scripts(folder):
    """Writes the page's scripts. Their first comments have their names."""
    for _, text in blocks("python"):
        (folder / re.match(r"# (\S+):", text)[1]).write_text(text)


def programs(folder):
    """A folder with the programs by the names that they have when they are installed."""
    folder.mkdir()
    (folder / "saluki-merge").symlink_to(BUILD / "saluki-merge")
    (folder / "python3").write_text(f'#!/bin/sh\nexec {PYTHON} "$@"\n')
    (folder / "saluki-merge-report").write_text(f'#!/bin/sh\nexec {PYTHON} -B {REPORT} "$@"\n')
    for name in ("python3", "saluki-merge-report"):
        (folder / name).chmod(0o755)
    return folder


def run(text, cwd, path):
    p = subprocess.run(["sh", "-ec", text], cwd=cwd, capture_output=True, text=True,
                       env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"})
    assert p.returncode == 0, p.stderr
    return p.stdout
