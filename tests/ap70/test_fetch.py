# SPDX-License-Identifier: GPL-2.0
"""Interrupted fetches and builds for the AP70 leave no unfinished files (packaging/debian.py)."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from netns import testbed

# As a kernel is built: by a program that works in the folder.
MAKE = """
import subprocess, debian
with debian.workshop() as folder:
    (folder / "half").mkdir()
    print(folder, flush=True)
    subprocess.run(["cat"])
"""


def own_group():
    """A process group of its own, as a shell's job has, which heeds signals: tests started by
    nohup(1), or in the background, ignore some."""
    os.setpgrp()
    for signo in (signal.SIGHUP, signal.SIGINT):
        signal.signal(signo, signal.SIG_DFL)


@contextlib.contextmanager
def making(cache):
    """(the process, its folder)"""
    env = {**os.environ, "SALUKI_CACHE": str(cache), "PYTHONPATH": str(testbed.ROOT / "packaging")}
    p = subprocess.Popen([sys.executable, "-c", MAKE], env=env, text=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, preexec_fn=own_group)
    try:
        yield p, pathlib.Path(p.stdout.readline().strip())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.communicate()


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_who_is_told_to_end_leaves_nothing(tmp_path, signo):
    with making(tmp_path) as (p, folder):
        assert (folder / "half").exists() and folder.parent == tmp_path
        os.killpg(p.pid, signo)
        assert p.wait(10) not in (0, -signal.SIGKILL)
    assert list(tmp_path.iterdir()) == []


def test_what_the_killed_have_left_is_removed(tmp_path):
    with making(tmp_path) as (_, living):
        with making(tmp_path) as (_, folder):
            pass
        assert folder.exists()
        with making(tmp_path) as (_, third):
            assert set(tmp_path.iterdir()) == {living, third}
