# SPDX-License-Identifier: GPL-2.0
"""The simulator's files are what a collector writes, and its truth is what the files say."""
import hashlib
import subprocess
import sys

import numpy as np
import pytest

from merge import clocks, hearing, kinds, sim
from merge.conftest import SMALL
from merge.identity import NARROW, WINDOW_NS, identify
from merge.truth import Truth
from netns.testbed import ROOT
from reference import captures

RADIOTAP = 127
EVENTFUL = {"seconds": 16.0, "steps": 2, "slews": 1, "restarts": 2, "readings": True, "ahead": True}


def frames(made):
    """The stream's frames by sensor and interface, each list in order."""
    found = {}
    for name, frame in captures._pcapng(made.stream.read_bytes()):
        found.setdefault(name, []).append(frame)
    return found


def own(truth, name):
    """The rows of the truth of an interface s-1:wlan0."""
    sensor, _, interface = name.partition(":wlan")
    return np.flatnonzero((truth.names[truth.sensor] == sensor) & (truth.interface == int(interface)))


def tshark(path, *arguments):
    done = subprocess.run(["tshark", "-r", path, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def digest(air):
    return hashlib.sha256(b"".join(data for _, data in air.stream())).hexdigest()


# ---- files -----------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    for n in (1, 2):
        command = [sys.executable, "-m", "merge.sim", tmp_path / f"{n}", "-T", "3", "--sensors", "8", "--aps", "6",
                   "--stas", "12", "--batch", "--readings", "--ahead", "--jitter", "2", "--restarts", "1",
                   "--tsft", ".5"]
        done = subprocess.run(command, cwd=ROOT / "tests", check=True, capture_output=True, text=True)
        assert "transmissions" in done.stdout
    for kind in ("pcapng", "npz"):
        assert (tmp_path / f"1.{kind}").read_bytes() == (tmp_path / f"2.{kind}").read_bytes()


def test_another_seed_gives_other_bytes():
    assert len({digest(sim.simulate(**{**SMALL, "seconds": 2.0, "seed": seed})) for seed in (1, 2, 3)}) == 3


def test_other_delays_change_only_the_order():
    one, other = (sim.simulate(**SMALL, delays_seed=seed) for seed in (1, 2))
    assert (one.receptions == other.receptions).all()
    pieces = [[data for _, data in air.stream()] for air in (one, other)]
    assert pieces[0] != pieces[1] and sum(map(len, pieces[0])) == sum(map(len, pieces[1]))


def test_one_parameter_leaves_the_rest_alone(plain, written):
    """With other stamps the same radios hear the same transmissions."""
    exact = written(jitter=(0.0, 0.0), outliers=0.0)
    columns = ["radio", "transmission", "signal_dbm", "bad_fcs"]
    both = [np.sort(made.air.receptions[columns], order=["radio", "transmission"]) for made in (plain, exact)]
    assert (both[0] == both[1]).all()


def test_frames_and_stamps_are_those_of_the_truth(plain):
    heard = frames(plain)
    assert sum(map(len, heard.values())) == len(plain.truth) and len(heard) == len(plain.air.radios)
    for name, its in heard.items():
        rows = own(plain.truth, name)
        assert [f.time_ns for f in its] == plain.truth.stamp_ns[rows].tolist()
        assert {f.linktype for f in its} == {RADIOTAP}
        length = plain.truth.sent_length[plain.truth.transmission[rows]]
        assert all(f.orig_len - f.data[2] in (n, n - 4) for f, n in zip(its, length))


def test_files_of_sensors_have_the_frames_of_the_stream(plain):
    each = {}
    for path in sorted(plain.files.iterdir()):
        for name, frame in captures._pcapng(path.read_bytes()):
            assert name.startswith(path.stem + ":")
            each.setdefault(name, []).append(frame)
    assert each == frames(plain)


@pytest.mark.parametrize("parameters", [{"sensors": 5, "aps": 1, "stas": 0}, {"aps": 3, "stas": 3, "load": 0.0},
                                        {"sensors": 3, "loss": (1.0, 1.0), "tsft": 1.0}])
def test_little_or_nothing_is_heard(tmp_path, parameters):
    """A cell without stations; only beacons; sensors that hear nothing and send heartbeats."""
    air = sim.simulate(**{**SMALL, "seconds": 3.0, "readings": True, "ahead": True, **parameters})
    air.write_stream(tmp_path / "all.pcapng")
    air.write_files(tmp_path / "each")
    air.write_truth(tmp_path / "truth.npz")
    assert len(list(captures.frames(tmp_path / "all.pcapng"))) == len(Truth(tmp_path / "truth.npz"))
    assert len(list(reports(tmp_path / "all.pcapng", 2))) >= 5 * air.parameters.sensors
    assert (len(air.receptions) == 0) == ("loss" in parameters) and air.summary()


def test_no_two_stamps_of_an_interface_are_equal(written):
    truth = written(jitter=(0.0, 0.0), outliers=0.0).truth
    keys = np.column_stack([truth.sensor, truth.interface, truth.stamp_ns])
    assert len(np.unique(keys, axis=0)) == len(truth)


@pytest.mark.parametrize("parameters", [{"batch": True}, {"tsft": 1.0, "open": .5, "readings": True, "ahead": True},
                                        {"keep_headers": True}])
def test_tshark_reads_everything(written, parameters):
    """Frames with a wrong FCS may be malformed; no other is. With an FCS it is right, if it is there."""
    made = written(**parameters)
    fields = ("frame.len", "wlan.fcs.status", "radiotap.flags.badfcs", "_ws.malformed", "_ws.expert.severity",
              "wlan.fc.type_subtype")
    lines = tshark(made.stream, "-o", "wlan.check_checksum:TRUE", "-T", "fields",
                   *(argument for f in fields for argument in ("-e", f)))
    rows = [line.split("\t") for line in lines]
    assert len(rows) == len(made.truth)
    well = [r for r in rows if r[2] == "0"]
    assert len(well) == np.count_nonzero(~made.truth.bad_fcs)
    assert {r[1] for r in well} == {"", "1"} and not any(r[3] for r in well)
    error = 8 << 20
    assert not any(int(severity) >= error for r in well for severity in r[4].split(",") if severity)
    assert {int(r[5], 0) for r in well} >= {0x08, 0x04, 0x28, 0x1d, 0x1b, 0x1c, 0x19, 0x2c}


def test_frames_are_cut_at_64_bytes(plain, written):
    sizes = {len(f.data) - f.data[2] for its in frames(plain).values() for f in its}
    assert max(sizes) == 64 and 10 in sizes
    cut = {len(f.data) - f.data[2] for its in frames(written(keep_headers=True)).values() for f in its
           if f.data[f.data[2]] == 0x88}
    assert max(cut) == 34


# ---- identity --------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{"batch": True}, {"tsft": 1.0, "open": .5, "readings": True, "ahead": True}])
def test_receptions_of_one_transmission_have_one_identity(written, parameters):
    """Those with a good FCS. Unique keys belong to one transmission ever, others to one within their window."""
    made = written(**parameters)
    truth, keys = made.truth, {}
    for name, its in frames(made).items():
        for row, frame in zip(own(truth, name).tolist(), its):
            if truth.bad_fcs[row]:
                continue
            identity, transmission = identify(frame.data, frame.orig_len), int(truth.transmission[row])
            assert identity.kind == truth.kind[row]
            assert keys.setdefault(transmission, identity) == identity
    by_key = {}
    for transmission, identity in sorted(keys.items()):
        by_key.setdefault(identity, []).append(int(truth.sent_end_ns[transmission]))
    for identity, times in by_key.items():
        if identity.finds:
            assert len(times) == 1
        elif len(times) > 1 and identity.kind not in NARROW:
            assert np.diff(times).min() > WINDOW_NS
    found = {identity.finds for identity in by_key if identity.kind == kinds.DATA}
    assert found == {True, not parameters.get("open")}
    assert any(len(times) > 10 for identity, times in by_key.items() if identity.kind == kinds.ACK)


# ---- blocks ----------------------------------------------------------------------------------------


def combo_names(path):
    """(interface's name, kind of block, name as numbers, blocks until the next name) of each combo."""
    found = []
    for kind, interface, _, options in captures._blocks(path):
        name = next((value for code, value in options if code == 19373), None)
        if name is not None:
            fields = int.from_bytes, ((4, 12), (12, 20), (20, 28), (28, 32), (32, 34), (34, 36))
            found.append([interface, kind, [fields[0](name[a:b], "big") for a, b in fields[1]], {5: 0, 6: 0}])
        if found and (kind == 6 or any(code == 2989 and value[4] == 1 for code, value in options)):
            found[-1][3][kind] += 1
    return found


def test_combos_are_named_and_counted(written):
    made = written(**EVENTFUL)
    next_of, first_kinds, with_blocks = {}, set(), 0
    for interface, kind, (run, count, first, n, sensor, events), blocks in combo_names(made.stream):
        assert interface.startswith(f"s-{sensor}:") and (blocks[6], blocks[5]) == (n, events)
        assert next_of.get((sensor, run), (0, 0)) == (count, first)
        next_of[sensor, run] = count + 1, first + n
        first_kinds.add(kind)
        with_blocks += events > 0
    assert sum(first for _, first in next_of.values()) == len(made.truth)
    assert first_kinds == {5, 6} and with_blocks > 50
    restarted = [e["sensor"] + 1 for e in made.truth.events if e["kind"] == "restart"]
    assert sorted(s for s, _ in next_of) == sorted([*range(1, SMALL["sensors"] + 1), *restarted])


def reports(path, kind):
    """(interface's name, block's time, the option's value behind the type)."""
    for block, interface, body, options in captures._blocks(path):
        for code, value in options:
            if code == 2989 and block == 5 and value[4] == kind:
                assert value[:4] == (32473).to_bytes(4, "big")
                high, low = np.frombuffer(body[4:12], "<u4").tolist()
                yield interface, high << 32 | low, value[5:]


def test_heartbeats_are_true_and_only_in_the_stream(plain):
    """No frame with an earlier stamp follows one. Clocks do not step here."""
    promised, beats = {}, {}
    for kind, interface, body, options in captures._blocks(plain.stream):
        sensor = interface.partition(":")[0]
        if kind == 6:
            high, low = np.frombuffer(body[4:12], "<u4").tolist()
            assert high << 32 | low >= promised.get(sensor, 0)
        for code, value in options:
            if code == 2989:
                assert value[4] == 2
                promised[sensor] = int.from_bytes(value[5:], "big")
                beats[sensor] = beats.get(sensor, 0) + 1
    assert set(beats.values()) <= {15, 16} and len(beats) == SMALL["sensors"]
    assert not any(list(reports(path, 2)) for path in plain.files.iterdir())


def test_readings_put_frames_on_a_free_running_clock(written):
    """A frame's stamp and the readings around it give the sensor's CLOCK_MONOTONIC_RAW. This clock has neither steps
    nor slews, and without the walk its rate is constant."""
    made = written(steps=2, slews=2, readings=True, jitter=(0.0, 0.0), outliers=0.0, walk=0.0)
    truth, table, at, free = made.truth, {}, {}, {}
    order = np.dtype([("mono", ">u8"), ("difference", ">i8"), ("raw", ">i8")])
    for interface, _, value in reports(made.stream, 1):
        table.setdefault(interface.partition(":")[0], []).append(np.frombuffer(value, order))
    table = {name: np.concatenate(parts) for name, parts in table.items()}
    for kind, interface, body, options in captures._blocks(made.stream):
        name = interface.partition(":")[0]
        at[name] = at.get(name, 0) + sum(len(v[5:]) // 24 for c, v in options if c == 2989 and v[4] == 1)
        if kind == 6 and at[name]:
            high, low = np.frombuffer(body[4:12], "<u4").tolist()
            mono = (high << 32 | low) - int(table[name]["difference"][at[name] - 1])
            raw = np.interp(mono, table[name]["mono"], table[name]["raw"])
            free.setdefault(name, []).append(mono + int(round(raw)))
    troubled = {truth.names[e["sensor"]] for e in truth.events}
    assert len(troubled) == 4 and len(free) == SMALL["sensors"]
    for name, values in free.items():
        rows = np.flatnonzero(truth.names[truth.sensor] == name)[-len(values):]
        values, true = np.array(values), truth.true_ns[rows] - truth.base_ns
        inside = true < true.max() - 10**9  # behind the last readings nothing is known of a slew
        off = (values - values[0] - true)[inside].astype(float)
        line = np.polyfit(true[inside], off, 1)
        worst = np.abs(off - np.polyval(line, true[inside])).max()
        assert worst < (20_000 if name in troubled else 200), name
        assert abs(line[0]) < 60e-6


def test_readings_are_few(written):
    made = written(steps=2, slews=2, readings=True, jitter=(0.0, 0.0), outliers=0.0, walk=0.0)
    for sensor, clock in enumerate(made.air.clocks):
        at = clocks.readings(clock, 1, sensor, int(SMALL["seconds"] * 1e9))
        kind = next((e["kind"] for e in made.truth.events if e["sensor"] == sensor), None)
        seconds = int(SMALL["seconds"])
        assert {None: seconds, "step": seconds + 1}.get(kind, len(at)) - 1 <= len(at) <= seconds + 10
        assert len(np.unique(at[:, 2])) == (2 if kind == "step" else 1)


def test_a_sensor_knows_how_far_it_is_ahead(written):
    made = written(steps=2, readings=True, ahead=True)
    count = 0
    for interface, _, value in reports(made.stream, 3):
        ahead, trip, collector = (int.from_bytes(value[a:a + 8], "big", signed=a == 0) for a in (0, 8, 16))
        clock, c = made.air.clocks[int(interface.partition(":")[0][2:]) - 1], made.air.collector
        true = (collector - clocks.BASE_NS - c.offset_ns) / (1 + c.rate)
        assert abs(int(clock.realtime(np.array([true]))[0]) - collector - ahead) <= trip / 2 + 20
        assert 100_000 < trip < 200_000_000
        count += 1
    assert count == pytest.approx(SMALL["sensors"] * SMALL["seconds"], abs=SMALL["sensors"])


# ---- truth -----------------------------------------------------------------------------------------


def test_stamps_are_the_clock_plus_jitter(written):
    made = written(**EVENTFUL)
    t = made.truth
    for sensor in range(SMALL["sensors"]):
        if any(e["sensor"] == sensor and e["kind"] in ("step", "restart") for e in t.events):
            continue
        rows = np.flatnonzero(t.sensor == sensor)
        ahead = np.interp(t.true_ns[rows] - t.base_ns, t.grid_ns, t.clock_ns[sensor])
        off = t.stamp_ns[rows] - t.true_ns[rows] - t.jitter_ns[rows] - ahead
        assert np.abs(off).max() < 2 + 2e6 * 600e-6  # the clock goes on during a late stamp's delay


def test_steps_and_restarts_are_in_the_truth(written):
    t = written(**EVENTFUL).truth
    assert [e["kind"] for e in t.events] == ["step"] * 2 + ["slew"] + ["restart"] * 2
    for event in t.events:
        rows = np.flatnonzero(t.sensor == event["sensor"])
        off, after = t.stamp_ns[rows] - t.true_ns[rows], t.true_ns[rows] - t.base_ns > event["at_ns"]
        moved = np.median(off[after]) - np.median(off[~after])
        if event["kind"] == "slew":
            continue
        assert moved == pytest.approx(event["amount"], abs=1e6)
        gap = (t.true_ns[rows] - t.base_ns)[after].min() - event["at_ns"]
        assert (gap >= clocks.RESTART_NS) == (event["kind"] == "restart")


def test_late_stamps():
    rng = np.random.default_rng(1)
    true = np.sort(rng.integers(0, 10**10, 50_000))
    alone, batch = (hearing.jitters(np.random.default_rng(2), true, 1000, .01, b) for b in (False, True))
    for late in (alone, batch):
        assert .005 < np.mean(late > 100_000) < .02 and late.max() < 2.1e6
    moments = np.sort((true + batch)[batch > 100_000])
    assert np.mean(np.diff(moments) < 4000) > .3  # stamped by one interrupt


def test_an_outage_delays_frames(written):
    made = written(outages=2, hb=0)
    arrivals = {}
    for sensor in range(SMALL["sensors"]):
        items = made.air.items(sensor)
        assert all(a.arrival_ns <= b.arrival_ns for a, b in zip(items, items[1:]))
        arrivals[sensor] = max(i.arrival_ns - i.emitted_ns for i in items)
    out = {e["sensor"]: e for e in made.truth.events if e["kind"] == "outage"}
    for sensor, delay in arrivals.items():
        assert (delay > 2e9) == (sensor in out)
    assert len(out) == 2 and not list(reports(made.stream, 2))


def test_islands_share_no_transmission(written):
    t = written(islands=1).truth
    away = t.sensor % 4 == 0
    assert not set(t.transmission[away].tolist()) & set(t.transmission[~away].tolist())
    assert away.any()


def test_tsft_is_a_clock_of_each_radio(written):
    made = written(tsft=1.0, tsft_resets=2, open=.5, readings=True, ahead=True)
    t, radios = made.truth, {}
    for name, its in frames(made).items():
        rows = own(t, name)
        assert [int.from_bytes(f.data[8:16], "little") for f in its] == t.tsft_us[rows].tolist()
        order = rows[np.argsort(t.true_ns[rows], kind="stable")]
        clock = t.tsft_us[order] * 1000 - t.tsft_error_ns[order] - (t.true_ns[order] - t.base_ns)
        jumps = np.abs(np.diff(clock)) > 10**6
        radios[name] = np.count_nonzero(jumps)
        if not jumps.any():
            assert np.ptp(clock) < SMALL["seconds"] * 21e3
    assert sorted(radios.values())[-3:] == [0, 1, 1]
    assert t.tsft_error_ns.std() < 600 and np.abs(t.tsft_error_ns).max() < 3000


def test_wrong_fcs(plain):
    """Few and weak ones; half of them differ from the other receptions of the transmission."""
    t, differ, n = plain.truth, 0, 0
    assert .003 < t.bad_fcs.mean() < .05 and t.signal_dbm[t.bad_fcs].mean() < t.signal_dbm[~t.bad_fcs].mean()
    right = {}
    heard = [(row, f) for name, its in frames(plain).items() for row, f in zip(own(t, name).tolist(), its)]
    mac = lambda f: f.data[f.data[2]:][:10]
    for row, f in heard:
        if not t.bad_fcs[row]:
            right[t.transmission[row]] = mac(f)
    for row, f in heard:
        flagged = bool(f.data[8] & 0x40)
        assert flagged == t.bad_fcs[row]
        if flagged and t.transmission[row] in right:
            n += 1
            differ += mac(f) != right[t.transmission[row]]
    assert .25 < differ / n < .6
