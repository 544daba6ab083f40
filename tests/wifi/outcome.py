# SPDX-License-Identifier: GPL-2.0
"""A topology's results. In: the guest's folder. Out: the frames on the air by hwsim0, the frames
received by sensors, and the programs' output."""
import collections
import json
import re
import struct

import pytest

from netns.compare import assert_balanced
from netns.testbed import without_times
from reference import captures
from wifi.topology import frequency

ACK = 0xd4
LINES = 40

OnAir = collections.namedtuple("OnAir", "time_ns mhz frame")


def _dot11(frame):
    """The frame after its radiotap header."""
    return frame.data[struct.unpack_from("<H", frame.data, 2)[0]:]


def _frequency(frame):
    """From hwsim0's radiotap header: aligned, after time, flags and rate, if present."""
    present, = struct.unpack_from("<I", frame.data, 4)
    assert present & 1 << 3 and not present >> 4, frame
    at = 8 + sum(size for bit, size in enumerate((8, 1, 1)) if present & 1 << bit)
    return struct.unpack_from("<H", frame.data, at + at % 2)[0]


class Outcome:
    def __init__(self, topology, folder):
        self.topology = topology
        self.folder = folder
        self.said = without_times((folder / "said").read_text(errors="replace"))
        lines = self.said.splitlines()
        if "init: this failed" in lines or "air: ended 0" not in lines:
            pytest.fail("\n".join(["the end of what was said:", *lines[-LINES:]]), pytrace=False)
        assert "air: 0 packets dropped by kernel" in lines, self.said

    def said_by(self, name):
        """The lines that a program printed; the last is `ended STATUS`."""
        return [line.partition(": ")[2] for line in self.said.splitlines()
                if line.startswith(f"{name}: ")]

    def truth(self):
        """All frames on the air."""
        return [OnAir(f.time_ns, _frequency(f), _dot11(f))
                for f in captures.frames(self.folder / "air.pcap")]

    def hearable(self, channel, band=""):
        """All frames on a channel except acknowledgements, which hwsim makes for hwsim0 only."""
        mhz = frequency(channel, band)
        return [a.frame for a in self.truth() if a.mhz == mhz and a.frame[0] != ACK]

    def heard(self, sensor, interface):
        """The frames received by a sensor's interface, as written by the collector."""
        return [_dot11(f) for f in captures.of_interface(self.folder / "out.pcapng",
                                                         f"{sensor}:{interface}")]

    def dwells(self, sensor, interface):
        """A sensor's radio's dwells, as written by the collector (captures.Dwell)."""
        return captures.dwells(self.folder / "out.pcapng", f"{sensor}:{interface}")

    def unsettled(self, sensor, interface):
        """For each frame of `heard`, whether it was received during a channel switch."""
        return captures.unsettled(self.folder / "out.pcapng", f"{sensor}:{interface}")

    def coverage(self, sensor, interface):
        """The collector's statistics of an interface, by its channels' text."""
        stats = json.loads((self.folder / "stats.json").read_text())["sensors"]
        its = next(i for s in stats if s["name"] == sensor for i in s["interfaces"]
                   if i["name"] == interface)
        return {c["channel"]: c for c in its["coverage"]["channels"]}

    def assert_balanced(self, sensor, frames):
        stats = json.loads((self.folder / "stats.json").read_text())["sensors"]
        assert_balanced(next(s for s in stats if s["name"] == sensor), frames)
        assert self.said_by(sensor)[-1] == "ended 0"

    def pings(self, station):
        """How many of a station's pings were answered."""
        return sum(map(int, re.findall(rf"(?m)^{station}-\S+: .*, (\d+) packets received",
                                       self.said)))
