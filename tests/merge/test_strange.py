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


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_two_sensors_with_one_name(made, folder, way):
    """Their frames are of one radio, and their clocks are those of two runs. A line and a counter say it."""
    stream = made.stream.read_bytes()
    for name in (b"s-2:", b"sensor s-2 (id 2)"):
        assert name in stream
        stream = stream.replace(name, name.replace(b"2", b"1"))
    (folder / "in.pcapng").write_bytes(stream)
    out = ("-w", folder / "u.pcapng")
    said = run(*out, "-r", "-", input=stream) if way == "pipe" else run(*out, folder / "in.pcapng")
    assert said.count("s-1: two machines send as this sensor at the same time") == 1
    found, usual = check(folder / "u.pcapng"), merged(folder, made.stream.read_bytes(), way)
    assert found["twins"] > 10 and usual["twins"] == 0
    assert found["receptions"] == usual["receptions"] and found["joins"] <= usual["joins"] + 2
    assert found["merged"] > .9 * usual["merged"]


def test_sensors_of_two_collectors_with_one_id(made, folder):
    """Each has a number of its own in the trace."""
    stream = made.stream.read_bytes().replace(b"(id 2)", b"(id 1)")
    merged(folder, stream, "file")
    named = {row["sensor"] for row in rows(folder / "u.pcapng")}
    assert named == set(made.truth.names[made.truth.sensor])


def test_more_of_a_run_after_the_next_one(written, folder):
    """A sensor's spool brings it late. It is put on the clock of its run, and nobody is accused."""
    air = written(**PARAMETERS | {"seconds": 30.0}, restarts=1).air
    items, runs = air.arrivals(), collections.defaultdict(list)
    for item in items:
        if item.name:
            runs[item.sensor, item.name[0]].append(item)
    (sensor,) = (s for s, n in collections.Counter(s for s, _ in runs).items() if n == 2)
    first, second = (combos for (s, _), combos in runs.items() if s == sensor)
    spool = first[-6:]
    late = {id(new): old for new, old in zip(second, spool)}
    usual = merged(folder, b"".join(data for _, data in air.stream()), "file")
    order = []
    for item in items:
        if not any(item is old for old in spool):
            order += [item, late[id(item)]] if id(item) in late else [item]
    assert len(order) == len(items)
    (folder / "in.pcapng").write_bytes(b"".join(data for _, data in air.stream(order)))
    assert "two machines" not in run("-w", folder / "u.pcapng", folder / "in.pcapng")
    found = check(folder / "u.pcapng")
    assert found["twins"] == 0 and found["receptions"] == usual["receptions"] and found["joins"] == usual["joins"]
    assert found["merged"] >= usual["merged"] - 20


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_one_wrong_stamp(made, folder, way):
    """It is one frame that is misdated. Nobody else is late."""
    usual = merged(folder, made.stream.read_bytes(), way)
    air = attack.Attacked(made)
    name = next(n for n in sorted(air.heard) if len(air.heard[n]) > 1000)
    t, frame = air.heard[name][600]
    air.heard[name][600] = t, frame._replace(time_ns=frame.time_ns + 3600 * 10**9)
    found = merged(folder, air.stream(), way)
    assert found["misdated"] == 1 and usual["misdated"] == 0
    assert found["receptions"] == usual["receptions"]
    assert found["late_new"] + found["late_found"] <= usual["late_new"] + usual["late_found"] + 5
    assert abs(found["merged"] - usual["merged"]) < 30
    times = [int(row["time_ns"]) for row in rows(folder / "u.pcapng")]
    assert max(times) - min(times) < 60 * 10**9
