# SPDX-License-Identifier: GPL-2.0
"""The judge finds no fault in a perfect merge, and in others exactly the faults that were put in."""
import dataclasses

import numpy as np
import pytest

from merge import assignment, bound, judge, kinds, made_up, table


def judged(tmp_path, truth, columns, **how):
    made_up.write(tmp_path / "receptions.tsv", columns)
    return judge.judge(truth, assignment.read(tmp_path / "receptions.tsv", truth), **how)


def good(truth, kind=kinds.DATA, heard=3):
    """A reception of a transmission that at least `heard` radios heard well."""
    well = truth.kind != kinds.BAD_FCS
    often = np.bincount(truth.transmission[well], minlength=len(truth.sent_kind)) >= heard
    return np.flatnonzero(well & often[truth.transmission] & (truth.kind == kind))


def test_a_perfect_merge(tmp_path, plain):
    found = judged(tmp_path, plain.truth, made_up.perfect(plain.truth))
    assert set(found["rows"].values()) == {0, len(plain.truth)} and found["rows"]["expected"] == len(plain.truth)
    assert found["clock"]["max_us"] <= .1 and found["clock"]["in_main_part"] == 1
    assert {"all", "beacon", "data", "retry", "ack", "ba"} <= set(found["merges"])
    for figures in (*found["merges"].values(), *found["in_time"].values()):
        assert figures["missed"] == figures["false"] == figures["false_transmissions"] == 0
    assert found["bad_fcs"]["wrong"] == 0 and found["bad_fcs"]["right"] > 0
    assert found["calibration"]["within_1_sigma"] == 1


def test_the_order_of_rows_does_not_matter(tmp_path, plain):
    columns = made_up.perfect(plain.truth)
    order = np.random.default_rng(1).permutation(len(plain.truth))
    assert judged(tmp_path, plain.truth, made_up.chosen(columns, order)) == judged(tmp_path, plain.truth, columns)


def test_a_missed_merge(tmp_path, plain):
    columns = made_up.perfect(plain.truth)
    columns["transmission"][good(plain.truth)[0]] = 1
    merges = judged(tmp_path, plain.truth, columns)["merges"]
    assert (merges["data"]["missed"], merges["data"]["false"]) == (1, 0)
    assert merges["all"]["missed"] == 1 and merges["ack"]["missed"] == 0


def test_a_false_merge(tmp_path, plain):
    columns, row = made_up.perfect(plain.truth), good(plain.truth, kinds.ACK)
    columns["transmission"][row[0]] = columns["transmission"][row[row > row[0] + 100][0]]
    merges = judged(tmp_path, plain.truth, columns)["merges"]
    assert (merges["ack"]["missed"], merges["ack"]["false"], merges["ack"]["false_transmissions"]) == (1, 1, 1)
    assert merges["all"]["false"] == 1 and merges["data"]["false"] == 0


def test_all_receptions_in_one_transmission(tmp_path, plain):
    columns, truth = made_up.perfect(plain.truth), plain.truth
    columns["transmission"][:] = 1
    found = judged(tmp_path, truth, columns)
    well = truth.transmission[truth.kind != kinds.BAD_FCS]
    assert found["merges"]["all"]["false"] == len(well) - np.bincount(well).max()
    assert found["merges"]["all"]["missed"] == 0
    assert found["rows"]["radio_twice"] == len(truth) - len(plain.air.radios)


def test_each_reception_alone(tmp_path, plain):
    columns, truth = made_up.perfect(plain.truth), plain.truth
    columns["transmission"] = np.arange(len(truth))
    found = judged(tmp_path, truth, columns)
    assert found["merges"]["all"]["missed_percent"] == 100 and found["merges"]["all"]["false"] == 0
    assert found["bad_fcs"]["alone"] == found["bad_fcs"]["receptions"] == np.count_nonzero(truth.bad_fcs)


def test_rows_that_are_absent_unknown_or_repeated(tmp_path, plain):
    columns = made_up.perfect(plain.truth)
    columns["stamp_ns"][0] -= 10**12
    rows = np.concatenate([np.arange(len(plain.truth) - 3), [5, 5]])
    columns = made_up.chosen(columns, rows)
    columns["sensor"][7] = "stranger"
    found = judged(tmp_path, plain.truth, columns)["rows"]
    assert (found["absent"], found["unknown"], found["repeated"]) == (5, 2, 2)


def test_equal_stamps_are_told_apart_by_their_order(plain):
    """Not in a simulation, but in a capture."""
    truth, rows = plain.truth, made_up.perfect(plain.truth)
    rows["sensor"] = truth.sensor.astype(np.int64)
    same = dataclasses.make_dataclass("Same", ["sensor", "interface", "stamp_ns"])(
        truth.sensor, truth.interface, truth.stamp_ns.copy())
    same.__class__.__len__ = lambda self: len(self.sensor)
    own = np.flatnonzero((truth.sensor == 0) & (truth.interface == 0))[:3]
    same.stamp_ns[own] = rows["stamp_ns"][own] = same.stamp_ns[own[0]]
    assert (assignment.places(same, rows) == np.arange(len(truth))).all()


def test_an_error_of_the_clock(tmp_path, plain):
    """One of many sensors is off; what all have in common does not count."""
    truth, columns = plain.truth, made_up.perfect(plain.truth)
    columns["time_ns"] = columns["time_ns"] + 123_456_789 + 7000 * (truth.sensor == 3)
    found = judged(tmp_path, truth, columns, skip=0)
    assert found["clock"]["p50_us"] <= .01 and 6.9 <= found["clock"]["max_us"] <= 7.1
    share = np.mean(truth.sensor == 3)
    late = np.abs(truth.jitter_ns) >= judge.LATE_NS
    assert found["calibration"]["within_1_sigma"] == pytest.approx(1 - np.mean(truth.sensor[~late] == 3), abs=1e-3)
    assert .01 < share < .2


def test_sigmas_are_judged(tmp_path, plain):
    truth, columns = plain.truth, made_up.perfect(plain.truth)
    rng = np.random.default_rng(2)
    columns["sigma_ns"] = rng.integers(200, 5000, len(truth))
    columns["time_ns"] = columns["time_ns"] + np.rint(rng.normal(0, columns["sigma_ns"])).astype(np.int64)
    found = judged(tmp_path, truth, columns)["calibration"]
    assert found["within_1_sigma"] == pytest.approx(.683, abs=.02)
    assert found["within_2_sigma"] == pytest.approx(.954, abs=.01)


def test_another_part_does_not_count(tmp_path, plain):
    truth, columns = plain.truth, made_up.perfect(plain.truth)
    columns["part"][truth.sensor == 3] = 9
    columns["time_ns"] = columns["time_ns"] + 10**6 * (truth.sensor == 3)
    found = judged(tmp_path, truth, columns)
    assert found["clock"]["max_us"] <= .1
    assert found["clock"]["in_main_part"] == pytest.approx(np.mean(truth.sensor != 3), abs=1e-4)


def test_a_radio_put_right_by_its_tsft(tmp_path, written):
    """The judge finds out by which clock each radio was put right."""
    made = written(tsft=.5, jitter=(10.0, 20.0))
    truth, columns = made.truth, made_up.perfect(made.truth)
    has = truth.tsft_us != 0
    assert .2 < has.mean() < .8
    columns["time_ns"] = np.where(has, truth.true_ns + truth.tsft_error_ns + judge.TSFT_DOWN_NS, columns["time_ns"])
    assert judged(tmp_path, truth, columns)["clock"]["max_us"] <= .1


def test_sensors_with_events_are_told_apart(tmp_path, written):
    made = written(steps=2, readings=True, ahead=True)
    columns = made_up.perfect(made.truth)
    troubled = np.isin(made.truth.sensor, [e["sensor"] for e in made.truth.events])
    columns["time_ns"] = columns["time_ns"] + 10_000_000 * troubled
    found = judged(tmp_path, made.truth, columns)
    assert found["clock"]["p99_us"] > 9000 and found["clock_without_events"]["max_us"] <= .1


def test_the_offline_bound_corrects_bent_clocks(plain):
    """It takes a slow error out, and leaves the stamps' noise."""
    truth, rows = plain.truth, made_up.perfect(plain.truth)
    rows["sensor"] = truth.sensor.astype(np.int64)
    rows["time_ns"] = rows["time_ns"] + np.rint(20_000 * np.sin(truth.sensor + truth.second / 10)).astype(np.int64)
    merged, offline = bound.bound(truth, assignment.assign(truth, rows))
    assert merged["p50_us"] > 5 and offline["p50_us"] < 1 and offline["p99_us"] < 5


@pytest.mark.parametrize("text", ["1\t2\n1\n", "1\tx\n", "1\t\n", "1\t2\t3\n", "1\t-\n"])
def test_a_malformed_table_is_refused(tmp_path, text):
    (tmp_path / "t.tsv").write_text("a\tb\n" + text)
    with pytest.raises(table.Malformed):
        table.read(tmp_path / "t.tsv", ("a", "b"))


def test_a_table_is_read_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "CHUNK", 10)
    rows = [(n * 7919 - 50, f"s-{n % 3}", 2**62 - n) for n in range(100)]
    (tmp_path / "t.tsv").write_text("a\tname\tb\n" + "\n".join("\t".join(map(str, r)) for r in rows))
    found = table.read(tmp_path / "t.tsv", ("a", "b"), {"name": lambda word: int(word[2:])})
    assert [*zip(*(found[c].tolist() for c in ("a", "name", "b")))] == [(a, int(s[2:]), b) for a, s, b in rows]
    with pytest.raises(table.Malformed, match="no column c"):
        table.read(tmp_path / "t.tsv", ("a", "c"))


@pytest.mark.parametrize("word, flags", [("0", 0), ("5", 5), ("0x12", 18), ("-", 0), ("late,off", 17)])
def test_flags_are_numbers_or_names(word, flags):
    assert assignment.flags_of(word) == flags
