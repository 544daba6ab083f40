# SPDX-License-Identifier: GPL-2.0
"""The truth of simulated radios, cut into twelve sensors on four channels: nothing is missed or false but of ACKs."""
import subprocess

import pytest

from merge import assignment, cut, judge, kinds
from merge.program import PROGRAM, check, run
from merge.truth import Truth
from reference import captures

NAME = "hwsim/hwsim-all-groundtruth.pcap.zst"
SEEDS = range(1, 9)
ACK_MISSED_PERCENT, ACK_FALSE_PPM = 3.75, 1400  # 1.5 times the prototype's


@pytest.fixture(scope="module")
def sent():
    return cut.transmissions(captures.OWN.root / NAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_only_acks_are_missed(sent, tmp_path, seed):
    air = cut.cut(sent, seed=seed)
    air.write_stream(tmp_path / "cut.pcapng")
    air.write_truth(tmp_path / "cut.npz")
    run("-q", "-w", tmp_path / "u.pcapng", tmp_path / "cut.pcapng")
    with (tmp_path / "r.tsv").open("wb") as out:
        subprocess.run([PROGRAM, "receptions", tmp_path / "u.pcapng"], check=True, stdout=out)
    truth = Truth(tmp_path / "cut.npz")
    found = judge.judge(truth, assignment.read(tmp_path / "r.tsv", truth))
    assert len(truth.names) == 12 and len(set(truth.sent_channel.tolist())) == cut.CHANNELS
    assert check(tmp_path / "u.pcapng")["receptions"] == len(truth)
    assert found["rows"]["absent"] == found["rows"]["radio_twice"] == 0
    for kind, merges in found["merges"].items():
        if kind not in ("ack", "all"):
            assert (merges["missed"], merges["false"]) == (0, 0), (kind, merges)
    ack = found["merges"][kinds.NAMES[kinds.ACK]]
    assert ack["missed_percent"] <= ACK_MISSED_PERCENT and ack["false_ppm"] <= ACK_FALSE_PPM
