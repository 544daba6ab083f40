# SPDX-License-Identifier: GPL-2.0
"""Frames of different parts are never merged, even if they are equal and heard at the same time."""
import collections

import pytest

from merge import pcapng, sim
from merge.blocks import Blocks
from merge.conftest import SMALL
from merge.pcapng import INTERFACE
from merge.program import check, rows, run

OTHER_STATIONS = 0x1234
# All clocks are right, so that the times of two parts are the same.
RIGHT_CLOCKS = {"offset": 0.0, "skew": 0.0, "walk": 0.0, "jitter": (1.0, 1.0), "outliers": 0.0}


@pytest.fixture(name="island", scope="module")
def fixture_island():
    """What its sensors send."""
    air = sim.simulate(**{**SMALL, "seconds": 6.0, **RIGHT_CLOCKS})
    return b"".join(data for _, data in air.stream())


def other_sensors(island):
    """The same frames from sensors with other names and ids."""
    blocks, names = Blocks(island), iter(Blocks(island).names())
    out = []
    for at, size, kind in zip(blocks.at.tolist(), blocks.length.tolist(), blocks.kind.tolist()):
        if kind == INTERFACE:
            sensor, _, interface = next(names).partition(":")
            number = int(sensor.removeprefix("s-"))
            out.append(pcapng.interface(f"t-{number}", 1000 + number, interface))
        else:
            out.append(island[at:at + size])
    return Blocks(b"".join(out))


def merge(folder, island, other):
    folder.chmod(0o755)
    (folder / "one.pcapng").write_bytes(island)
    (folder / "other.pcapng").write_bytes(other.data.tobytes())
    out = folder / "unified.pcapng"
    run("-w", out, folder / "one.pcapng", folder / "other.pcapng")
    return out


def islands_of(trace):
    """transmission -> names of the islands, parts and times of its receptions"""
    found = collections.defaultdict(list)
    for row in rows(trace):
        found[row["transmission"]].append((row["sensor"][0], row["part"], int(row["time_ns"])))
    return found


def test_equal_frames_of_two_parts_stay_apart(island, tmp_path):
    """Their acknowledgements are equal, and no other frame."""
    other = other_sensors(island)
    other.rename_stations(OTHER_STATIONS, short_ones=False)
    trace = merge(tmp_path, island, other)
    found = islands_of(trace)
    parts = collections.Counter((of, part) for its in found.values() for of, part, _ in its)
    largest = {name: max((n, part) for (of, part), n in parts.items() if of == name)[1] for name in "st"}
    assert largest["s"] != largest["t"]
    assert check(trace)["merged"] > 10_000
    # They could be merged: the parts' times are equal.
    begins = {name: min(time for its in found.values() for of, _, time in its if of == name) for name in "st"}
    assert abs(begins["s"] - begins["t"]) < 20_000
    assert [its for its in found.values() if len({of for of, _, _ in its}) > 1] == []


def test_islands_that_share_all_frames_are_one_part(island, tmp_path):
    """Receptions with a wrong FCS stay alone."""
    found = [its for its in islands_of(merge(tmp_path, island, other_sensors(island))).values() if len(its) > 1]
    both = [its for its in found if len({of for of, _, _ in its}) == 2]
    assert len(both) > .99 * len(found) > 1000
    assert len({part for its in both for _, part, _ in its}) == 1
