# SPDX-License-Identifier: GPL-2.0
"""A replayed air is one stream: its clocks run on, no frame comes twice, and the merge sees no event."""
import struct
import subprocess

import numpy as np
import pytest

from merge import sim
from merge.blocks import Blocks
from merge.conftest import SMALL
from merge.pcapng import PACKET
from merge.program import PROGRAM, check
from merge.rounds import Rounds
from reference import captures

ROUNDS = 3
SECONDS = 4.0


@pytest.fixture(scope="module")
def replay():
    return Rounds(sim.simulate(**{**SMALL, "seconds": SECONDS, "walk": 0.0, "batch": True}))


@pytest.fixture(scope="module")
def rounds(replay):
    return [replay.round(n) for n in range(ROUNDS)]


def test_clocks_run_on(replay, rounds):
    parts = [Blocks(r) for r in rounds]
    names = parts[0].names()
    assert len(names) == len(replay.spans_ns) and len({n.partition(":")[0] for n in names}) == SMALL["sensors"]
    stamps = [p.stamps(p.of(PACKET)) for p in parts]
    on = [p.interface[p.kind == PACKET] for p in parts]
    assert all((i == on[0]).all() and len(i) == replay.receptions for i in on)
    for number, s in enumerate(stamps):
        assert (s - stamps[0] == number * replay.spans_ns[on[0]]).all()
    assert (np.abs(replay.spans_ns - SECONDS * 1e9) < 60e-6 * SECONDS * 1e9).all() and len(set(replay.spans_ns)) > 10


def heartbeats(data):
    return {(interface, when): said for interface, when, said in (
        (struct.unpack_from("<I", data, at + 8)[0], stamp, struct.unpack_from(">Q", data, at + 29)[0])
        for at, stamp in zip(*places(data)))}


def places(data):
    blocks = Blocks(data)
    at = blocks.heartbeats()
    return at.tolist(), blocks.stamps(at).tolist()


def test_heartbeats_run_on(replay, rounds):
    first = heartbeats(rounds[0])
    assert len(first) > SMALL["sensors"] * SECONDS
    assert all(said == when for (_, when), said in first.items())
    for number, data in enumerate(rounds):
        moved = {(i, when + number * int(replay.spans_ns[i])): said + number * int(replay.spans_ns[i])
                 for (i, when), said in first.items()}
        assert heartbeats(data) == moved


def test_no_frame_comes_twice(rounds):
    """Their other bytes stay as they are."""
    frames = [[f.data for _, f in captures._pcapng(head + r)]
              for head, r in zip((b"", *(interfaces(rounds[0]),) * 2), rounds)]
    assert not set(frames[0]) & set(frames[1]) and not set(frames[1]) & set(frames[2])
    changed = set()
    for a, b in zip(frames[0], frames[1]):
        assert len(a) == len(b)
        radiotap, = struct.unpack_from("<H", a, 2)
        changed |= {n - radiotap for n, (x, y) in enumerate(zip(a, b)) if x != y}
    assert changed <= {7, 8, 13, 14}


def interfaces(data):
    blocks = Blocks(data)
    return blocks.chosen(np.arange(len(blocks.at)) < np.flatnonzero(blocks.kind == PACKET)[0])


def test_the_merge_sees_one_stream(replay, rounds, tmp_path):
    tmp_path.chmod(0o755)
    found = []
    for name, data in (("once", rounds[0]), ("all", b"".join(rounds))):
        out = tmp_path / f"{name}.pcapng"
        subprocess.run([PROGRAM, "-q", "-r", "-", "-w", out], input=data, check=True)
        found.append(check(out))
    once, whole = found
    assert whole["frames"] == ROUNDS * replay.receptions and whole["malformed"] == 0
    assert whole["steps"] == 0 and whole["parts"] == once["parts"] and whole["unaligned"] == once["unaligned"]
    assert whole["transmissions"] == pytest.approx(ROUNDS * once["transmissions"], rel=.005)
