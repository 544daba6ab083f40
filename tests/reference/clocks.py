# SPDX-License-Identifier: GPL-2.0
"""What a capture file tells of sensors' clocks (docs/saluki-files.5), and what a reader makes of it."""
import bisect
import collections
import struct

from reference import captures

OPTION, ENTERPRISE, NAME = 2989, 32473, 19373
READINGS, WATERMARK, OFFSET = 1, 2, 3

Reading = collections.namedtuple("Reading", "monotonic_ns realtime_ns raw_ns")  # the last two: minus the first
Offset = collections.namedtuple("Offset", "ahead_ns round_trip_ns collector_ns")
# An entry of a file: `name` is the interface's. A frame has a stamp; a block about a clock has a kind and a value, and
# is named if a combo begins with it.
Entry = collections.namedtuple("Entry", "name stamp_ns kind value named", defaults=[None, None, False])


def _value(data):
    kind, body = data[4], data[5:]
    if kind == READINGS:
        assert body and len(body) % 24 == 0
        return kind, [Reading(*struct.unpack_from(">Qqq", body, at)) for at in range(0, len(body), 24)]
    if kind == WATERMARK:
        return kind, struct.unpack(">Q", body)[0]
    assert kind == OFFSET
    return kind, Offset(*struct.unpack(">qQQ", body))


def entries(path):
    """Frames and blocks about clocks, in the file's order, up to a block that is not whole."""
    for kind, name, head, options in captures.whole_blocks(path):
        told = [data for code, data in options if code == OPTION]
        high, low = struct.unpack_from("<II", head, 4)
        if kind == 6:
            assert not told
            yield Entry(name, high << 32 | low)
        elif told:
            assert {code for code, _ in options} <= {OPTION, NAME} and len(told) == 1
            assert struct.unpack_from(">I", told[0])[0] == ENTERPRISE
            yield Entry(name, None, *_value(told[0]), NAME in dict(options))


def of_kind(path, kind, name=None):
    return [e.value for e in entries(path) if e.kind == kind and name in (None, e.name)]


def readings(path, name=None):
    return [r for block in of_kind(path, READINGS, name) for r in block]


def monotonic_stamps(path, name):
    """The stamps of a sensor's frames by its CLOCK_MONOTONIC, from the last reading before each frame."""
    found, last = [], None
    for e in entries(path):
        if e.name != name:
            continue
        if e.kind == READINGS:
            last = e.value[-1]
        elif e.kind is None:
            assert last, "a frame before the first reading"
            found.append(e.stamp_ns - last.realtime_ns)
    return found


class Raw:
    """CLOCK_MONOTONIC_RAW - CLOCK_MONOTONIC between readings, on straight lines."""

    def __init__(self, found):
        self.readings = found
        self.times = [r.monotonic_ns for r in found]

    def at(self, monotonic_ns):
        i = min(max(bisect.bisect(self.times, monotonic_ns), 1), len(self.times) - 1)
        a, b = self.readings[i - 1], self.readings[i]
        return a.raw_ns + (b.raw_ns - a.raw_ns) * (monotonic_ns - a.monotonic_ns) / (b.monotonic_ns - a.monotonic_ns)
