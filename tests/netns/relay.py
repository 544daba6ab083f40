# SPDX-License-Identifier: GPL-2.0
"""A bad network between sensors and their collector (relay.c), its recordings, and clocks that a
test moves (clock.c)."""
import collections
import os
import pathlib
import struct
import subprocess
import time

from netns import testbed

RELAY = testbed.ROOT / "build/tests/relay"
CLOCK = testbed.ROOT / "build/tests/clock.so"

Recorded = collections.namedtuple("Recorded", "down time_ns port data")


class Relay:
    """Sensors send to `address`; each order is done when its call returns."""

    def __init__(self, ns, port=5700, to=5600, host="127.0.0.1"):
        self.address = f"{host}:{port}"
        self.popen = ns.start(RELAY, host, port, host, to, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
        testbed.lines_until(self.popen.stdout, time.monotonic() + 10, "ready")

    def _ask(self, order, seconds=60):
        self.popen.stdin.write(order + "\n")
        self.popen.stdin.flush()
        return testbed.lines_until(self.popen.stdout, time.monotonic() + seconds, "\n").strip()

    def __call__(self, *orders):
        for order in orders:
            answer = self._ask(order)
            assert answer == "ok", (order, answer)

    def replay(self, path):
        """Sends the upward datagrams of a recording; returns their number."""
        return int(self._ask(f"replay {path}"))

    def counts(self):
        words = self._ask("counts").split()
        return dict(zip(words[::2], map(int, words[1::2])))

    def close(self):
        if self.popen.poll() is None:
            self.popen.stdin.close()
            self.popen.wait(10)
            self.popen.stdout.close()


def recorded(path):
    """Reads the datagrams recorded by a relay."""
    data, at, found = pathlib.Path(path).read_bytes(), 0, []
    while at < len(data):
        down, stamp, port, size = struct.unpack_from(">BQHH", data, at)
        found.append(Recorded(bool(down), stamp, port, data[at + 13:at + 13 + size]))
        at += 13 + size
    return found


class Clock:
    """The time of day for programs started with `env`."""

    LENGTH = 63  # clock.c

    def __init__(self, path, seconds=0):
        self.path = pathlib.Path(path)
        self.seconds, self.slews = seconds, [(0, 0, 0)]
        self.path.write_text(f"{seconds:<{self.LENGTH}}")
        self.path.chmod(0o644)
        self.env = {"LD_PRELOAD": str(CLOCK), "SALUKI_CLOCK": str(self.path)}
        if "sanitize" in str(testbed.BUILD):  # a sanitizer must be loaded first
            options = os.environ.get("ASAN_OPTIONS", "")
            self.env["ASAN_OPTIONS"] = ":".join(filter(None, [options, "verify_asan_link_order=0"]))

    def _write(self):
        """In place: the file is mapped."""
        raw, since, ppm = self.slews[-1]
        fd = os.open(self.path, os.O_WRONLY)
        os.pwrite(fd, f"{f'{self.seconds} {raw} {since} {ppm}' if since else self.seconds:<{self.LENGTH}}".encode(), 0)
        os.close(fd)

    def move(self, seconds):
        """Sets the time of day."""
        self.seconds = seconds
        self._write()

    def slew(self, ppm):
        """From now on, the other clocks lose time to CLOCK_MONOTONIC_RAW at this rate."""
        now = time.monotonic_ns()
        self.slews.append((round(self.raw_ns(now)), now, ppm))
        self._write()

    def raw_ns(self, monotonic_ns):
        """How much CLOCK_MONOTONIC_RAW is moved at a CLOCK_MONOTONIC time."""
        raw, since, ppm = next((s for s in reversed(self.slews) if s[1] <= monotonic_ns), self.slews[0])
        return raw + (monotonic_ns - since) * ppm / 1e6
