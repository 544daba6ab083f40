# SPDX-License-Identifier: GPL-2.0
"""A plain merge with the true clocks finds what the design says can be found in files like these."""
import numpy as np
import pytest

from merge import assignment, cut, judge, made_up, plain
from merge.truth import Truth


def judged(truth, stream):
    columns = made_up.perfect(truth)
    columns["sensor"] = truth.sensor.astype(np.int64)
    columns["transmission"] = plain.merge(truth, plain.in_order_of_truth(truth, stream))
    return judge.judge(truth, assignment.assign(truth, columns))


@pytest.mark.parametrize("parameters, ack_percent", [({"batch": True}, 3), ({"open": .5, "batch": True}, 3),
                                                     ({"jitter": (1.0, 1.0), "outliers": 0.0}, 0)])
def test_first_attempts_are_merged(written, parameters, ack_percent):
    """The design's row for 1 to 20 us and late batches: ACKs missed 2.1 %. Without late stamps nothing is missed."""
    made = written(**parameters)
    found = judged(made.truth, made.stream)
    for name in ("beacon", "mgmt", "data", "ba"):
        assert found["merges"][name]["missed"] == found["merges"][name]["false"] == 0
    assert found["merges"]["ack"]["missed_percent"] <= ack_percent
    assert found["merges"]["all"]["false_ppm"] <= (1000 if ack_percent else 0)
    assert found["in_time"]["ack"]["missed"] <= .5 * found["merges"]["ack"]["missed"]


def test_real_frames_are_merged(tmp_path, traces):
    """Of simulated radios: only answers can be missed, or taken for others."""
    air = cut.cut(cut.transmissions(traces.root / "hwsim/hwsim-all-groundtruth.pcap.zst"))
    air.write_stream(tmp_path / "cut.pcapng")
    air.write_truth(tmp_path / "cut.npz")
    found = judged(Truth(tmp_path / "cut.npz"), tmp_path / "cut.pcapng")["merges"]
    for name in ("beacon", "mgmt", "data"):
        assert (found[name]["missed"], found[name]["false"]) == (0, 0), name
    assert found["ack"]["missed_percent"] < 4 and found["ack"]["false_ppm"] < 2000
