# SPDX-License-Identifier: GPL-2.0
"""Receptions that come late in a stream, and receptions with a wrong FCS: each finds its transmission."""
import subprocess

import numpy as np
import pytest

from merge import assignment, judge, pcapng
from merge.kinds import BAD_FCS
from merge.program import PROGRAM, check, run

OUTAGES = {"seconds": 30.0, "sensors": 24, "aps": 9, "stas": 40, "batch": True, "outages": 3, "bad": .1}
FOUND_LEAST = .975


def judged(trace, truth):
    table = trace.with_suffix(".tsv")
    with table.open("wb") as out:
        subprocess.run([PROGRAM, "receptions", trace], stdout=out, check=True)
    return assignment.read(table, truth)


@pytest.fixture(name="made", scope="module")
def fixture_made(written, tmp_path_factory):
    """The simulation, and the trace of its stream, in which three sensors are silent for nine seconds."""
    made, folder = written(**OUTAGES), tmp_path_factory.mktemp("late")
    folder.chmod(0o755)
    made.trace = folder / "unified.pcapng"
    with made.stream.open("rb") as stream:
        run("-q", "-r", "-", "-w", made.trace, stdin=stream)
    made.a = judged(made.trace, made.truth)
    return made


def test_late_receptions_find_their_transmission(made):
    ledger, a, truth = check(made.trace), made.a, made.truth
    late = a.flags & 1 > 0
    assert late.sum() == ledger["late_found"] + ledger["late_new"] > 1000 and ledger["balance"] == 0
    assert set(np.unique(truth.sensor[late])) <= {e["sensor"] for e in truth.events if e["kind"] == "outage"}
    on_time = a.found & ~late & (truth.kind != BAD_FCS)
    others = np.zeros(truth.transmission.max() + 1, bool)
    others[truth.transmission[on_time]] = True
    possible = late & others[truth.transmission] & (truth.kind != BAD_FCS)
    pairs = truth.transmission.astype(np.int64) << 32 | a.transmission
    found = np.isin(pairs[possible], pairs[on_time])
    assert found.mean() >= FOUND_LEAST
    assert judge.Merges(truth, a).of(judge.DATA)["false"] == 0


def test_late_blocks_have_the_time_of_their_transmission(made):
    """Blocks are in the order of time, but for late ones."""
    newest, times, late, found = 0, {}, 0, 0
    for number, ns, flags in blocks(made.trace.read_bytes()):
        if not flags & 1:
            assert ns >= newest and number == len(times) + 1
            newest, times[number] = ns, ns
            continue
        late += 1
        if number in times:
            assert ns == times[number]
            found += 1
        times.setdefault(number, ns)
    ledger = check(made.trace)
    assert (late, found) == (ledger["late_found"] + ledger["late_new"], ledger["late_found"])


def blocks(data):
    """(number, time, flags of the first reception) of each packet block"""
    at = 0
    while at < len(data):
        kind, length = (int.from_bytes(data[i:i + 4], "little") for i in (at, at + 4))
        if kind == pcapng.PACKET:
            high, low, kept = (int.from_bytes(data[i:i + 4], "little") for i in (at + 12, at + 16, at + 20))
            options = at + 28 + (kept + 3) // 4 * 4
            number = int.from_bytes(data[options + 4:options + 12], "little")
            yield number, high << 32 | low, data[options + 12 + 4 + 5 + 3]
        at += length


def test_files_have_nothing_late(made, tmp_path):
    tmp_path.chmod(0o755)
    run("-q", "-w", tmp_path / "u.pcapng", made.files)
    ledger = check(tmp_path / "u.pcapng")
    assert ledger["late_found"] == ledger["late_new"] == 0
    a = judged(tmp_path / "u.pcapng", made.truth)
    assert judge.Merges(made.truth, a).of(judge.DATA)["missed_percent"] < .01


def test_frames_with_a_wrong_fcs_find_their_transmission(made):
    """Half of them are damaged in the kept bytes, by up to 24 bytes: of 74 %, at most 4 bytes of the first 24 differ,
    and the sequence control does not."""
    a, truth = made.a, made.truth
    figures = judge.bad_ones(truth, a)
    good = np.zeros(truth.transmission.max() + 1, bool)
    good[truth.transmission[a.found & (truth.kind != BAD_FCS)]] = True
    bad = (truth.kind == BAD_FCS) & (np.abs(truth.jitter_ns) < judge.LATE_NS) & (a.flags & 1 == 0)
    data = np.isin(truth.sent_kind[truth.transmission], (judge.BEACON, judge.MGMT, judge.DATA))
    possible = bad & data & good[truth.transmission]
    pairs = truth.transmission.astype(np.int64) << 32 | a.transmission
    right = np.isin(pairs[possible], pairs[a.found & (truth.kind != BAD_FCS)])
    assert right.mean() > .7 and figures["wrong"] <= 1
