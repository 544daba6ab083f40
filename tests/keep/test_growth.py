# SPDX-License-Identifier: GPL-2.0
"""Hostile capture files and indexes: CPU time grows as the file does, whatever it describes. A section costs the same in
each kind of file."""
import resource
import struct

import pytest
import xxhash

from keep.made import COLLECTOR, MERGE, START_NS, Capture, Name, combo_name, interface, keep, packet, section, write

TRIES = 3  # other programs' turns only add time
TIMES, AT_MOST = 4, 8  # so many times the input, and the time that it takes at most
SECTIONS, SECTION_AT_MOST = 200_000, 4


def cpu_s(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    keep(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def pack_s(folder, data):
    """CPU time of packing a file."""
    for path in folder.iterdir():
        path.unlink()
    write(folder, 1, data)
    return cpu_s("-q", "--once", "--finished", folder)


def find_s(folder, data):
    """CPU time of counting a file's frames."""
    write(folder, 1, data)
    return cpu_s("find", folder)


def assert_linear(time_s, folder, make, count):
    few, more = (min(time_s(folder, data) for _ in range(TRIES)) for data in (make(count), make(TIMES * count)))
    assert more < AT_MOST * few, (few, more)


# ---- growth ------------------------------------------------------------------------------------------------------

def sensors(count):
    """A section and a new sensor each."""
    return b"".join(section() + interface(f"s-{n}", n & 0xffff) for n in range(count))


def runs(count):
    """A sensor that was started again for each frame."""
    names = (combo_name(Name(1 + n, 0, 0, 1, 1)) for n in range(count))
    return Capture().bytes() + b"".join(packet(START_NS + n, b"", options=[name]) for n, name in enumerate(names))


def interfaces(count):
    """An interface and a frame each."""
    return section() + b"".join(interface(name=f"wlan{n}") + packet(START_NS + n, b"", on=n) for n in range(count))


@pytest.mark.parametrize("make", [sensors, runs, interfaces])
def test_packing_is_linear(folder, make):
    assert_linear(pack_s, folder, make, 20_000)


@pytest.mark.parametrize("make", [sensors, runs, interfaces])
def test_counting_is_linear(folder, make):
    assert_linear(find_s, folder, make, 20_000)


def varint(value):
    return bytes([value & 0x7f | 0x80]) + varint(value >> 7) if value > 0x7f else bytes([value])


def every_chunk(count):
    """An index of as many chunks as sensors. Each sensor was heard in all chunks."""
    ranges = varint(1 + len(varint(count))) + b"\0" + varint(count)
    sensor = b"\x01" + b"\x01s" + b"\0" + b"\x01\0\0" + ranges
    data = (struct.pack("<IQQQIqqQ", 1, 0, count, 0, 0, 0, 0, 1) + varint(count) + b"\0\0" + b"\x01\0" * (count - 1)
            + ranges + varint(count) + sensor * count + b"\0\0")
    return b"salukidx" + struct.pack("<IQ", 2, xxhash.xxh64(data, 0).intdigest()) + data


def test_an_index_is_searched_in_linear_time(folder):
    def time_s(folder, count):
        path = write(folder, 1, section().ljust(count, b"\0"))
        path.with_suffix(".idx").write_bytes(every_chunk(count))
        return cpu_s("find", "--sensor", "s", folder)

    time_s(folder, 10)
    assert "without" not in keep("find", "--sensor", "s", folder)[1]  # the index is taken
    assert_linear(time_s, folder, int, 40_000)


# ---- sections ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("time_s", [pack_s, find_s])
def test_a_section_of_a_unified_trace_costs_as_much_as_any(folder, time_s):
    plain, merged = (min(time_s(folder, SECTIONS * section(application)) for _ in range(TRIES))
                     for application in (COLLECTOR, MERGE))
    assert merged < SECTION_AT_MOST * plain, (plain, merged)
