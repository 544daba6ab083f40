# SPDX-License-Identifier: GPL-2.0
"""The steps of docs/modules.md, typed in order, print what the page shows, and its tables match the
program."""
import collections
import os
import re
import select
import subprocess
import time

import pytest

from cli import manpage
from netns import testbed
from netns.testbed import ROOT
from reference import captures

PAGE = (ROOT / "docs/modules.md").read_text()

# Folders that the page writes to, except /etc: empty ones of the namespace.
FOLDERS = ("/usr/local", "/opt", "/var/lib")
# Text that differs between machines and runs: keys, times, sizes.
VARIES = [r"[\w+/]{43}=", r"[0-9a-f]{16}-\d+-\d+", r"\d{4}-\d\d-\d\dT[\d:]+Z", r"\d{10,}",
          r"\d+(?= instructions)", r"(?<=proof )\w+", r"\d+(?=K)", r"\d+(?= bytes of maps)", r"[\d.]+(?= ns a frame)"]


def shape(line):
    return re.sub("|".join(VARIES), "#", line)


# Depends on the module, and a little on the kernel's verifier.
MEASURED = r"(\d+)(?= instructions)|(\d+)(?=K of)|(\d+)(?= bytes of maps)"


def stale(shown, said):
    """Lines of the page with a number more than a tenth from the programs' output."""
    numbers = {shape(line): [int("".join(n)) for n in re.findall(MEASURED, line)]
               for line in said.splitlines()}
    return [(line, numbers[shape(line)]) for line in shown
            if any(abs(int("".join(page)) - real) > real / 10
                   for page, real in zip(re.findall(MEASURED, line), numbers[shape(line)]))]


def steps():
    """("c", file name, text), or ("sh", commands, lines shown of their output)"""
    found, name = [], None
    for before, kind, text in re.findall(r"((?:^(?!```).*\n)*)^```(\w*)\n((?:^(?!```).*\n)*)^```$", PAGE, re.M):
        if kind == "c":
            (name,) = re.findall(r"Its name is `([\w.]+)`:\s*\Z", before)
            found.append(("c", name, text))
        elif kind == "sh":
            found.append(("sh", text, []))
        else:
            assert found[-1][0] == "sh" and not kind
            found[-1][2].extend(text.splitlines())
    return found


class Shell:
    """An interactive bash. Programs started by it end with it."""

    def __init__(self, ns):
        self.popen = ns.start("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "bash",
                              cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=os.environ | {
                                  "PATH": "/usr/local/sbin:/usr/local/bin:" + os.environ["PATH"],
                                  # `make install` must leave the machine's own folder as it is
                                  "EXTCAP": "/usr/local/lib/wireshark/extcap"})
        self.type(f"cd {ROOT}\n", [])

    def type(self, commands, shown, seconds=60):
        """Returns the exit status when exactly the lines shown were printed."""
        self.popen.stdin.write(f"{commands}echo \"@status $?\"\n")
        self.popen.stdin.flush()
        wanted = collections.Counter(map(shape, shown))
        said, deadline = "", time.monotonic() + seconds
        while True:
            lines = testbed.without_times(said).splitlines()[:None if said.endswith("\n") else -1]
            status = re.search(r"^@status (\d+)$", said, re.M)
            missing = wanted - collections.Counter(map(shape, lines))
            if status and not missing:
                return int(status[1]), testbed.without_times(said)
            left = deadline - time.monotonic()
            if left < 0 or not select.select([self.popen.stdout], [], [], left)[0]:
                raise TimeoutError(f"{commands}: not shown: {list(missing)}\nin: {said}")
            chunk = testbed.os.read(self.popen.stdout.fileno(), 65536).decode()
            assert chunk, said
            said += chunk

    def close(self):
        self.popen.kill()
        self.popen.wait()
        self.popen.stdin.close()
        self.popen.stdout.close()


@pytest.fixture(name="shell")
def fixture_shell(bed):
    for folder in FOLDERS:
        bed.ns.run("mount", "-t", "tmpfs", "-o", "mode=755", "none", folder)
    bed.ns.run("sh", "-c", "mkdir /run/upper /run/work && mount -t overlay overlay "
               "-o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work /etc && rm -rf /etc/saluki")
    shell = Shell(bed.ns)
    bed.stack.callback(shell.close)
    return shell


def test_every_step(bed, shell):
    assert sum(kind == "sh" for kind, *_ in steps()) >= 15
    printed = ""
    for kind, what, rest in steps():
        if kind == "c":
            bed.ns.run("sh", "-c", f"cat > /opt/syns/{what}", input=rest)
            continue
        status, said = shell.type(what, rest)
        # Refused commands, and a connection without a listener.
        fails = any(": refused: " in line for line in rest) or "/dev/tcp" in what.splitlines()[-1]
        assert status == int(fails), (what, said)
        assert "warning" not in said
        assert stale(rest, said) == [], said
        printed += said
    assert "balance 0" in printed and "balance -" not in printed
    # The page works from top to bottom: only the errors that it shows occur.
    shown = [shape(line) for kind, _, rest in steps() if kind == "sh" for line in rest]
    for line in printed.splitlines():
        assert ": refused: " not in line or shape(line) in shown, line
    out = bed.tmp_path / "capture.pcapng"
    out.write_bytes(subprocess.run(bed.ns.command(["cat", "/opt/syns/capture.pcapng"]), check=True,
                                   capture_output=True).stdout)
    assert len(list(captures.said(out))) == 5


def test_its_lists_are_those_of_the_manual():
    words = dict(re.findall(r"^(Helpers|Types of maps) that can be granted: (.*?)\. [TV]", PAGE, re.M | re.S))
    lines = manpage.sections("saluki-module")[("POLICY", "")]
    for mine, theirs in (("Helpers", "Helper"), ("Types of maps", "Map")):
        at = lines.index(f".It Li {theirs}")
        listed = []
        for line in lines[at + 1:]:
            if line.startswith(".It"):
                break
            if line.startswith(".Li "):
                listed += line[4:].rstrip(" .,").split(" , ")
        assert listed == re.findall(r"`(\w+)`(?! takes)", re.sub(r"\(.*?\)", "", words[mine], flags=re.S))
    entries = [line[7:] for line in lines if line.startswith(".It Li ")]
    assert entries == re.findall(r"^\| `([A-Z]\w+)` \|", PAGE, re.M)


def test_what_cannot_be_granted_is_there():
    said = re.findall(r'\[WANTS_\w+\] = "(.*)"', (ROOT / "agent/module/wants.c").read_text())
    assert len(said) >= 6
    for line in said:
        assert f"`{line}`" in PAGE


def test_it_can_be_typed():
    assert len(list(manpage.typed(PAGE))) >= 20
    assert manpage.mistakes(PAGE) == []
