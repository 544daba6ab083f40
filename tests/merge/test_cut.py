# SPDX-License-Identifier: GPL-2.0
"""A capture cut into sensors has the capture's frames, and its truth."""
import pytest

from merge import assignment, cut, judge, kinds, made_up
from merge.identity import identify
from merge.truth import Truth
from reference import captures

NAME = "hwsim/hwsim-all-groundtruth.pcap.zst"


@pytest.fixture
def made(traces, tmp_path):
    """The capture's transmissions, and the truth and the frames of the sensors, in one order."""
    rows = cut.transmissions(traces.root / NAME)
    air = cut.cut(rows)
    air.write_stream(tmp_path / "cut.pcapng")
    air.write_truth(tmp_path / "cut.npz")
    truth = Truth(tmp_path / "cut.npz")
    own = {name: [] for name in truth.names.tolist()}
    for name, frame in captures._pcapng((tmp_path / "cut.pcapng").read_bytes()):
        own[name.partition(":")[0]].append(frame)
    return rows, truth, [frame for its in own.values() for frame in its]


def test_sensors_hear_the_capture(made, tmp_path):
    rows, truth, heard = made
    assert len(truth.names) == 12 and len(set(truth.sent_channel.tolist())) == cut.CHANNELS
    assert set(truth.kind.tolist()) >= {kinds.BEACON, kinds.MGMT, kinds.DATA, kinds.ACK}
    assert len(rows) == len(truth.sent_end_ns) > 10_000 and len(truth) > 2.5 * len(rows)
    assert [f.time_ns for f in heard] == truth.stamp_ns.tolist()
    assert {f.data[2] for f in heard} == {16} and max(len(f.data) for f in heard) == 16 + 64
    assert (truth.sent_end_ns - truth.base_ns).tolist() == [s.time_ns - rows[0].time_ns for s in rows]
    made_up.write(tmp_path / "receptions.tsv", made_up.perfect(truth))
    found = judge.judge(truth, assignment.read(tmp_path / "receptions.tsv", truth))
    assert found["merges"]["all"]["missed"] == found["merges"]["all"]["false"] == found["rows"]["absent"] == 0


def test_bytes_and_identities_survive_the_cut(made):
    rows, truth, heard = made
    for frame, transmission in zip(heard, truth.transmission.tolist()):
        original = rows[transmission]
        assert frame.data[16:] == original.mac[:original.limit]
        assert frame.orig_len - 16 == original.length - 4
    for frame, transmission in list(zip(heard, truth.transmission.tolist()))[::10]:
        assert identify(frame.data, frame.orig_len) == rows[transmission].identity
