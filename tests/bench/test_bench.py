# SPDX-License-Identifier: GPL-2.0
"""The bench works: one low rate for saluki, with the output compared. `make bench` does the
measuring."""
import contextlib

from bench import cable, frames, rates
from bench.__main__ import TARGETS
from netns import testbed


def test_frames_are_real_and_distinct():
    played = frames.sized([b"\1" * 60, b"\2" * 200], 100)
    assert [len(f) for f in played] == [100, 100]
    assert played[0][:60] == b"\1" * 60 and played[1] == b"\2" * 100


def test_every_figure_aimed_at_is_explained():
    page = (testbed.ROOT / "docs/bench.md").read_text()
    for name in TARGETS:
        known = [name, name.replace("hwsim_ch1", "TRACE"), name.replace("_saluki", "_NAME")]
        tail = name.removeprefix("rate_x_tcpdump")  # these are in one row
        assert any(f"`{k}`" in page for k in known + [tail]), name


def test_one_rung(tmp_path):
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    played = frames.real()
    assert len(played) == len(set(played)) >= frames.FRAMES_MIN
    trace = tmp_path / "frames.pcap"
    frames.write_pcap(trace, played)
    with contextlib.ExitStack() as stack:
        c = cable.Cable(stack, tmp_path)
        ladder = rates.Ladder(c, trace, 0.5, ["saluki", "saluki_bpf", "saluki_all"], print)
        assert rates.compare_frames(ladder, played) > 1000
        for name in ladder.names:
            run, = ladder.runs[name]
            assert run.captured > 10_000  # a loaded machine may lose some, and counts them
