# SPDX-License-Identifier: GPL-2.0
"""Several mergers, each of which writes a slice of the trace: by channel, by floor, or by both."""
import struct
import subprocess

import numpy as np
import pytest

from merge import assignment, judge, page, pcapng
from merge.blocks import Blocks
from merge.pcapng import PACKET
from merge.program import PROGRAM, check, rows, run, tshark

FLOORS = 4
BUILDING = {"seconds": 10.0, "sensors": 60, "aps": 24, "stas": 120, "batch": True, "ahead": True, "floors": FLOORS}
OUTAGES = {"seconds": 30.0, "sensors": 24, "aps": 9, "stas": 40, "batch": True, "outages": 3, "floors": 2}
CHANNELS = ("1", "6,2462", "36,none")
# Of transmissions. A reach of 1 cannot see that two floors apart somebody has heard the same.
TWICE = {1: .06, 2: .015}
SETTLED_S = 2
BETWEEN_NS = 2000  # what the tables of clocks leave of the difference of two slices' clocks
ANCHORED_NS = 1_000_000  # the difference, if sensors measure their offset to the collector
SUMS = ("receptions", "transmissions", "merged", "several", "alone")


def transmissions(trace):
    """(number, name of the interface, block without its interface) of each packet block, in their order."""
    data = trace.read_bytes()
    blocks = Blocks(data)
    names = blocks.names()
    return [(int.from_bytes(option(block, 5), "little"), names[interface], block[12:-4])
            for kind, interface, block in ((k, i, data[at:at + size]) for k, i, at, size in zip(
                blocks.kind.tolist(), blocks.interface.tolist(), blocks.at.tolist(), blocks.length.tolist()))
            if kind == PACKET]


def option(block, code):
    """The value of a packet block's first option of this code."""
    at = 28 + -(-struct.unpack_from("<I", block, 20)[0] // 4) * 4
    while True:
        found, size = struct.unpack_from("<HH", block, at)
        if found == code:
            return block[at + 4:at + 4 + size]
        assert found
        at += 4 + -(-size // 4) * 4


def merged(folder, name, *arguments, **kwargs):
    trace = folder / f"{name}.pcapng"
    run("-q", "-w", trace, *arguments, **kwargs)
    return trace


def assigned(trace, truth):
    table = trace.with_suffix(".tsv")
    with table.open("wb") as out:
        subprocess.run([PROGRAM, "receptions", trace], stdout=out, check=True)
    return assignment.read(table, truth)


@pytest.fixture(name="building", scope="module")
def fixture_building(written, tmp_path_factory):
    """A simulated building, and its whole trace."""
    made = written(**BUILDING)
    made.folder = tmp_path_factory.mktemp("building")
    made.folder.chmod(0o755)
    made.whole = merged(made.folder, "whole", made.stream)
    made.floor_of = np.array(made.air.floors)
    return made


# ---- by channel ----------------------------------------------------------------------------------------------------


def test_slices_by_channel_are_the_whole_trace(building):
    """Byte by byte, with numbers and times. The clocks' tables are those of the whole trace, too."""
    slices = [merged(building.folder, f"channel{n}", "--channel", words, building.stream)
              for n, words in enumerate(CHANNELS)]
    found = [transmissions(s) for s in slices]
    assert all(numbers == sorted(numbers) for numbers in ([t[0] for t in s] for s in found))
    whole = transmissions(building.whole)
    assert sorted(t for s in found for t in s) == whole and len(whole) > 20_000
    assert [{t[1] for t in s} for s in found] == [{"channel 1"}, {"channel 6", "channel 11"}, set()]
    table = lambda trace: trace.with_suffix(".clocks.tsv").read_bytes()
    assert all(table(s) == table(building.whole) for s in slices)


def test_ledgers_of_slices_add_up(building):
    whole = check(building.whole)
    each = [check(merged(building.folder, "some", "--channel", words, building.stream)) for words in CHANNELS]
    for name in SUMS:
        assert sum(e[name] for e in each) == whole[name]
    for e in each:
        assert e["frames"] == whole["frames"] == e["receptions"] + e["left_to_others"] and e["balance"] == 0
        assert e["transmissions"] + e["left_transmissions"] == whole["transmissions"]
    assert whole["left_to_others"] == whole["left_transmissions"] == 0


def test_slices_by_floor_and_channel_are_those_by_floor(building):
    both = [merged(building.folder, f"both{n}", "--floor", "2", "--channel", words, building.stream)
            for n, words in enumerate(CHANNELS)]
    floor = merged(building.folder, "one", "--floor", "2", building.stream)
    assert sorted(t for s in both for t in transmissions(s)) == transmissions(floor)
    assert all(check(s)["balance"] == 0 for s in both)


def test_late_receptions_go_where_their_transmission_is(written, folder):
    made = written(**OUTAGES)
    for name, *words in (("six", "--channel", "6"), ("low", "--floor", "1")):
        with made.stream.open("rb") as stream:
            trace = merged(folder, name, *words, "-r", "-", stdin=stream)
        assert (found := check(trace))["late_found"] > 100 and found["left_to_others"] > found["late_found"]
        receptions = rows(trace)
        own = {r["transmission"] for r in receptions if not int(r["flags"]) & 1}
        late = [r for r in receptions if int(r["flags"]) & 1]
        assert len([r for r in late if r["transmission"] in own]) == found["late_found"]


# ---- by floor --------------------------------------------------------------------------------------------------------


def by_floor(building, reach):
    return [merged(building.folder, f"floor{n + 1}", "--floor", str(n + 1), "--reach", str(reach), building.stream)
            for n in range(FLOORS)]


def union(truth, slices):
    """What all slices together have made of the receptions. A reception is that of the first slice that has it."""
    out, below = None, 0
    for a in slices:
        number = np.where(a.found, a.transmission + below, -1)
        below += int(a.transmission.max()) + 1
        if out is None:
            out = assignment.Assignment(number, *(np.copy(getattr(a, n)) for n in ("time_ns", "sigma_ns", "flags", "part")))
            continue
        new = a.found & ~out.found
        for name in ("time_ns", "sigma_ns", "flags", "part"):
            getattr(out, name)[new] = getattr(a, name)[new]
        out.transmission[new] = number[new]
    return out


def has(truth, a):
    """Whether each true transmission is in the slice, with a reception that has a good FCS."""
    good = a.found & ~truth.bad_fcs
    return np.bincount(truth.transmission[good], minlength=truth.transmission.max() + 1) > 0


@pytest.mark.parametrize("reach", TWICE)
def test_slices_by_floor_have_each_transmission(building, reach):
    """At least once; few of them twice, and as well merged as in the whole trace."""
    truth, whole = building.truth, assigned(building.whole, building.truth)
    traces = by_floor(building, reach)
    slices = [assigned(s, truth) for s in traces]
    times = np.sum([has(truth, a) for a in slices], 0)
    heard = has(truth, whole)
    twice, lost = np.mean(times[heard] > 1), np.mean(~np.any([a.found for a in slices], 0))
    figures = {name: judge.Merges(truth, a).of() for name, a in (("whole", whole), ("slices", union(truth, slices)))}
    print(f"reach {reach}: {100 * twice:.2f} % of transmissions twice, {100 * lost:.2f} % of receptions nowhere; {figures}")
    assert (times[heard] > 0).all() and twice < TWICE[reach]
    assert lost < TWICE[reach]
    assert figures["slices"]["false_ppm"] <= 1.5 * figures["whole"]["false_ppm"]
    clock_of_all = judge.Clock(truth, whole)
    for a in slices:
        assert judge.Merges(truth, a).of()["missed_percent"] <= 1.5 * figures["whole"]["missed_percent"]
        clock, same = judge.Clock(truth, a).figures(), clock_of_all.figures(a.found)
        assert clock["p99_us"] <= 1.2 * same["p99_us"] and clock["p50_us"] <= 1.2 * same["p50_us"], (clock, same)
        assert clock["in_main_part"] == 1


def test_the_strongest_reception_is_on_the_slices_floor(building):
    """With a reach over all floors, each transmission of the merge is in one slice: the strongest one's."""
    truth = building.truth
    names = [s for s in by_floor(building, FLOORS)]
    signals = {}
    for n, trace in enumerate(names):
        for r in rows(trace):
            if not int(r["flags"]) & 2:
                signals.setdefault((n, r["transmission"]), []).append(
                    (int(r["signal_dbm"]), -building.floor_of[int(r["sensor"].removeprefix("s-")) - 1]))
    assert len(signals) > 20_000
    assert all(-max(heard)[1] == n + 1 for (n, _), heard in signals.items())
    ledgers = [check(s) for s in names]
    for name in SUMS:
        assert sum(e[name] for e in ledgers) == check(building.whole)[name]
    assert sum(len(a.found) - (~a.found).sum() for a in (assigned(s, truth) for s in names)) == len(truth)


def test_sensors_of_other_floors_are_not_read(building, folder):
    """Their frames may be anything. The slice does not describe them."""
    blocks = Blocks(building.stream.read_bytes())
    names = blocks.names()
    far = np.array([building.floor_of[int(n.split(":")[0].removeprefix("s-")) - 1] > 2 for n in names])
    packets = blocks.kind == PACKET
    begin = blocks.at[packets & far[np.where(packets, blocks.interface, 0)]] + 28
    blocks.data[begin + 1] = 9  # version of the radiotap header
    blocks.data[begin] = 9
    (folder / "noise.pcapng").write_bytes(blocks.data.tobytes())
    noise = merged(folder, "noisy", "--floor", "1", "--reach", "1", folder / "noise.pcapng")
    clean = merged(folder, "clean", "--floor", "1", "--reach", "1", building.stream)
    assert transmissions_without_times(noise) == transmissions_without_times(clean)
    found = check(noise)
    assert found["malformed"] == 0 and found["left_to_others"] > len(begin) and found["missed"] == 0
    assert check(merged(folder, "all", folder / "noise.pcapng"))["malformed"] == len(begin)
    seen = {i.split(":")[0] for i in Blocks(noise.read_bytes()).names() if i.startswith("s-")}
    assert seen == {f"s-{n + 1}" for n, floor in enumerate(building.floor_of) if floor <= 2}


def transmissions_without_times(trace):
    return sorted((r["sensor"], r["stamp_ns"]) for r in rows(trace))


def test_sensors_without_a_floor(plain, folder):
    """All mergers use them; what they alone have heard is of the slice "none"."""
    said = run("--floor", "1", "-w", folder / "one.pcapng", plain.stream)
    assert "the input says no sensor's floor" in said
    assert (found := check(folder / "one.pcapng"))["transmissions"] == 0 and found["left_to_others"] == len(plain.truth)
    whole = merged(folder, "whole", plain.stream)
    assert transmissions(merged(folder, "none", "--floor", "none", plain.stream)) == transmissions(whole)


def test_the_first_floor_counts(building, folder):
    """A sensor that is moved stays in its mergers: otherwise, mergers would disagree."""
    name, data = "s-1", building.stream.read_bytes()
    begin = pcapng.section()
    (folder / "moved.pcapng").write_bytes(begin + pcapng.interface(name, 1, "wlan0", FLOORS) + data)
    high = merged(folder, "high", "--floor", str(FLOORS), folder / "moved.pcapng")
    low = merged(folder, "low", "--floor", "1", folder / "moved.pcapng")
    sensors = lambda trace: {r["sensor"] for r in rows(trace)}
    assert building.floor_of[0] == 1 and name not in sensors(low)
    assert "s-1" in {i.split(":")[0] for i in Blocks(high.read_bytes()).names()}


def test_slices_are_resumed_and_tools_read_them(building, folder):
    trace = merged(folder, "floor", "--floor", "2", building.stream)
    data = trace.read_bytes()
    trace.write_bytes(data[:len(data) // 2])
    assert merged(folder, "floor", "--floor", "2", building.stream).read_bytes() == data
    packets = tshark(trace, "frame.packet_id", "frame.time_epoch")
    assert len(packets) == check(trace)["transmissions"]
    stamps = [float(p[1]) for p in packets]
    assert stamps == sorted(stamps)
    assert subprocess.run([PROGRAM, "stats", trace], capture_output=True, check=True).stdout


def test_check_finds_a_repeated_number(building, folder):
    trace = merged(folder, "six", "--channel", "6", building.stream)
    data = trace.read_bytes()
    blocks = Blocks(data)
    at, size = next((a, s) for a, s, k in zip(blocks.at.tolist(), blocks.length.tolist(), blocks.kind.tolist())
                    if k == PACKET)
    (folder / "twice.pcapng").write_bytes(data[:at] + 2 * data[at:at + size] + data[at + size:])
    done = subprocess.run([PROGRAM, "check", folder / "twice.pcapng"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "numbers that are not higher than the last" in done.stdout


# ---- times between floors --------------------------------------------------------------------------------------------


def off(truth, a):
    """(second, sensor) -> by how much the sensor's clock in the slice is ahead of true time, in ns."""
    chosen = a.found & (np.abs(truth.jitter_ns) < judge.LATE_NS) & (truth.second > SETTLED_S)
    both = truth.second[chosen].astype(np.int64) << 16 | truth.sensor[chosen]
    keys, ns = judge.medians(both, (a.time_ns - truth.true_ns - truth.jitter_ns)[chosen].astype(float))
    return {(int(k) >> 16, int(k) & 0xffff): v for k, v in zip(keys, ns)}


def differences(truth, one, other):
    """Second -> the difference of two slices' clocks, in ns, by the sensors that are in both."""
    clocks, found = [off(truth, assigned(s, truth)) for s in (one, other)], {}
    for second, sensor in clocks[0].keys() & clocks[1].keys():
        found.setdefault(second, []).append(clocks[1][second, sensor] - clocks[0][second, sensor])
    return {second: np.median(each) for second, each in found.items()}


def test_tables_of_clocks_tell_the_difference_of_two_slices(building, tmp_path):
    """The commands of docs/unified.md."""
    truth, slices = building.truth, by_floor(building, 1)[:3]
    page.scripts(tmp_path)
    for trace in slices:
        trace.with_suffix(".clocks.tsv").rename(tmp_path / trace.with_suffix(".clocks.tsv").name)
    page.run(page.commands("Several mergers"), tmp_path, page.programs(tmp_path / "bin"))
    lines = [[int(word) for word in line.split()] for line in (tmp_path / "between.tsv").read_text().splitlines()]
    base = truth.base_ns // 10**9
    for n, pair in enumerate(zip(slices, slices[1:])):
        said = {second: numbers[n] - (numbers[n - 1] if n else 0) for second, *numbers in lines}
        true = {base + second: ns for second, ns in differences(truth, *pair).items()
                if {base + second, base + second + 1} <= said.keys()}
        wrong = [(said[second] + said[second + 1]) / 2 - ns for second, ns in true.items()]
        print(f"differences {[round(said[second] / 1e3, 1) for second in true]} us, wrong by {np.round(wrong)} ns")
        assert len(wrong) >= 6 and np.abs(wrong).max() < BETWEEN_NS
        assert np.abs(list(true.values())).max() < ANCHORED_NS
