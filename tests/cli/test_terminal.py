# SPDX-License-Identifier: GPL-2.0
"""The programs' behaviour at a terminal."""
import contextlib
import os
import pty
import subprocess

import pytest

from netns.testbed import BUILD


def at_terminal(args, fd):
    """Runs a program whose standard input (0) or output (1) is a terminal. Returns its exit status,
    its output, and the bytes sent to the terminal."""
    ours, theirs = pty.openpty()
    try:
        p = subprocess.run(args, check=False, stderr=subprocess.PIPE, text=True, timeout=20,
                           **{["stdin", "stdout"][fd]: theirs})
        os.set_blocking(ours, False)
        try:
            sent = os.read(ours, 4096)
        except BlockingIOError:
            sent = b""
        return p.returncode, p.stderr, sent
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("path, what", [("-", "standard output is"), ("/dev/stdout", "is"),
                                        ("/proc/self/fd/1", "is")])
def test_pcapng_is_not_written_to_a_terminal(path, what):
    status, said, sent = at_terminal([BUILD / "saluki-collector", "--listen", "127.0.0.1:0", "--key", "k",
                                      "--sensors", "s", "-w", path], 1)
    assert status == 2 and sent == b""
    assert said.startswith(f"saluki-collector: -w {path}: {what} a terminal") and "| tshark" in said


def test_a_device_that_is_no_terminal_is_written_to():
    status, said, _ = at_terminal([BUILD / "saluki-collector", "--listen", "127.0.0.1:0", "--key", "k",
                                   "--sensors", "s", "-w", "/dev/null"], 1)
    assert status == 1 and "terminal" not in said and "k: No such file" in said, said


def test_the_controlling_terminal_is_a_terminal():
    """The controlling terminal counts as one under the name /dev/tty, with standard output
    elsewhere."""
    pid, ours = pty.fork()
    if not pid:
        os.execv(BUILD / "saluki-collector", ["saluki-collector", "--listen", "127.0.0.1:0", "--key", "k",
                                              "--sensors", "s", "-w", "/dev/tty"])
    said = b""
    with contextlib.suppress(OSError):  # it has ended
        while data := os.read(ours, 4096):
            said += data
    os.close(ours)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
    assert b"-w /dev/tty: is a terminal" in said, said


def test_a_capture_is_not_read_from_a_terminal():
    status, said, _ = at_terminal([BUILD / "saluki", "run", "-r", "-", "--to", "127.0.0.1:1", "--key", "k"],
                                  0)
    assert status == 2 and said.startswith("saluki: run: -r -: standard input is a terminal"), said


def test_a_viewer_does_not_write_to_a_terminal_either():
    status, said, sent = at_terminal([BUILD / "saluki-live", "-w", "-"], 1)
    assert status == 2 and sent == b""
    assert said.startswith("saluki-live: -w -: standard output is a terminal") and "| tshark" in said
