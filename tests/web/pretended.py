# SPDX-License-Identifier: GPL-2.0
"""A board of invented sensors, in a test's namespace (pretend_board.c)."""
import subprocess

from netns import testbed


class Pretended:
    """A board of invented sensors s-0, s-1, ..."""

    def __init__(self, bed, count, *minutes):
        self.program = bed.ns.start(testbed.BUILD / "tests/pretend_board", count, *minutes, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE)
        bed.stack.callback(self.end)
        assert self.program.stdout.readline() == "ready\n"

    def order(self, *lines):
        self.program.stdin.write("".join(f"{line}\n" for line in lines))
        self.program.stdin.flush()

    def end(self):
        self.program.kill()
        self.program.communicate()
