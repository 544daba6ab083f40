# SPDX-License-Identifier: GPL-2.0
"""Sensors with strange clocks, sensors that share nothing, and two sensors with one name."""
import collections

import pytest

from merge import attack, pcapng, replay
from merge.kinds import FLAGS
from merge.program import check, rows, run
from reference import captures

PARAMETERS = {"seconds": 10.0, "sensors": 12, "aps": 6, "stas": 30, "batch": True}
YEAR_NS = 365 * 86400 * 10**9
NEW_NS = 1_500_000_000  # before it, clocks are found


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    for f in (tmp_path, *tmp_path.parents[:2]):
        f.chmod(0o755)
    return tmp_path


@pytest.fixture(name="made", scope="module")
def fixture_made(written):
    return written(**PARAMETERS)


def merged(folder, stream, way):
    if way == "pipe":
        run("-q", "-r", "-", "-w", folder / "u.pcapng", input=stream)
    else:
        (folder / "in.pcapng").write_bytes(stream)
        run("-q", "-w", folder / "u.pcapng", folder / "in.pcapng")
    return check(folder / "u.pcapng")


def shifted(air, sensor, by_ns):
    for name in air.heard:
        if name.partition(":")[0] == sensor:
            air.heard[name] = [(t, f._replace(time_ns=f.time_ns + by_ns)) for t, f in air.heard[name]]
    return air


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_a_clock_in_1970(made, folder, way):
    """Frames of a sensor that does not know the time are merged like others."""
    usual = merged(folder, attack.Attacked(made).stream(), way)
    air = attack.Attacked(made)
    first = min(f.time_ns for name in air.heard for _, f in air.heard[name])
    found = merged(folder, shifted(air, "s-2", -first + 5_000_000_000).stream(), way)
    assert found["receptions"] == usual["receptions"]
    assert found["parts"] - found["part_joins"] == usual["parts"] - usual["part_joins"]
    assert found["unaligned"] <= usual["unaligned"] + .01 * usual["receptions"]
    assert found["merged"] > .99 * usual["merged"]
    times = [int(row["time_ns"]) for row in rows(folder / "u.pcapng")]
    assert max(times) - min(times) < 60 * 10**9


@pytest.mark.parametrize("way", ["file", "pipe"])
@pytest.mark.parametrize("years", [-10, 40])
def test_a_clock_that_is_years_off_and_heard_by_nobody(made, folder, way, years):
    """It is a part of its own, and holds nobody up."""
    usual = merged(folder, attack.Attacked(made).stream(), way)
    air = shifted(attack.Attacked(made), "s-2", years * YEAR_NS)
    count = 0
    for name in air.heard:
        if name.startswith("s-2:"):
            for n, (t, f) in enumerate(air.heard[name]):
                at = f.data[2] + 4  # the receiver's address is unknown to others
                air.heard[name][n] = t, f._replace(data=f.data[:at] + b"\x06" + f.data[at + 1:])
                count += 1
    found = merged(folder, air.stream(), way)
    assert found["receptions"] == usual["receptions"]
    # In a stream, others may begin as parts, too, before they join.
    assert found["parts"] - found["part_joins"] == usual["parts"] - usual["part_joins"] + 1
    assert found["merged"] > usual["merged"] - count - 20
    own = [row for row in rows(folder / "u.pcapng") if row["sensor"] == "s-2"]
    (_, most), *_ = collections.Counter(row["part"] for row in own).most_common()
    assert most > .5 * len(own)  # in a stream, the first frames do not wait until this is known
    assert sum(bool(int(row["flags"]) & FLAGS["unaligned"]) for row in own) > .5 * len(own)


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_nobody_hears_another(folder, way):
    """Each sensor is a part, and all frames are alone."""
    heard = [f for f in captures.frames(captures.OWN.root / "radiotap/as-phone.pcap.zst")]
    blocks, sensors = [pcapng.section()], 6
    blocks += [replay.interface(f"s-{n + 1}", n + 1, "wlan0") for n in range(sensors)]
    blocks += [replay.packet(n % sensors, f) for n, f in enumerate(heard)]
    found = merged(folder, b"".join(blocks), way)
    assert found["receptions"] == found["transmissions"] == len(heard)
    assert found["parts"] == sensors and found["merged"] == 0
