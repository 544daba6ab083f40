# SPDX-License-Identifier: GPL-2.0
"""The bench works: one low rate for saluki, with the output compared. `make bench` does the
measuring."""
import contextlib

import pytest

from bench import cable, filter as filters, frames, modules, rates, stolen
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


STAT = """cpu  50 0 30 100 0 5 5 10 7 0
cpu0 40 0 20 20 0 5 5 10 7 0
cpu1 10 0 10 80 0 0 0 0 0 0
intr 1 2 3
"""


def test_stolen_time_is_read():
    zero = stolen.Ticks(0, 0)
    assert stolen.share(zero, stolen.parse(STAT)) == 10 / 200
    assert stolen.share(zero, stolen.parse(STAT, cpu=0)) == 10 / 100
    assert stolen.share(zero, stolen.parse(STAT, cpu=1)) == 0
    assert stolen.share(zero, zero) == 0
    assert stolen.ticks(cpu=0).all <= stolen.ticks().all


def samples(taken_ms, gap_ms=0):
    """Some of the generator, then of a filter and of user space; the CPU is idle before and after.
    `gap_ms`: without samples, before the last one."""
    idle = [(t, "ffffffff82000000", "pv_native_safe_halt") for t in (0, 500)]
    busy = [(1000 + t, *(("ffffffffc0000000", "bpf_prog_12_generate") if t % 10 == 0 else
                         ("ffffffffc0000010", "bpf_prog_34_saluki_xdp") if t % 10 < 5 else
                         ("7f0000000000", "main"))) for t in range(taken_ms)]
    last = [(1000 + taken_ms + gap_ms, "ffffffffc0000000", "bpf_prog_12_generate"),
            (9000, "ffffffff82000000", "pv_native_safe_halt")]
    return "".join(f"{t // 1000}.{t % 1000:03}000000: 1000000 {at} {symbol}\n"
                   for t, at, symbol in idle + busy + last)


def test_samples_are_those_while_the_generator_runs():
    found = filters.sampled(samples(100))
    assert found.wall_ns == 100e6 and sum(found.ns.values()) == 101e6
    assert found.ns["bpf_prog_34_saluki_xdp"] == 40e6 and found.ns["user space"] == 50e6
    assert filters.unseen(found, 0) == 1  # no sample is missing
    with pytest.raises(RuntimeError):
        filters.sampled(samples(1).splitlines()[0])


def test_missing_samples_are_made_up_for():
    found = filters.sampled(samples(99, gap_ms=100))
    assert filters.unseen(found, 0) == pytest.approx(1.99)
    assert filters.unseen(found, 50e6) == pytest.approx(1.49)  # the hypervisor took some of it
    assert filters.unseen(found, 100e6) == 1  # or all: perf saw all that the CPU had


def test_module_costs_are_compared_with_an_empty_program():
    times = modules.Times(["empty 80\ncapture 100\nworm 120\n", "empty 40\ncapture 50\nworm 58\n",
                           "empty 50\ncapture 60\nworm 90\n"])
    assert times.more("worm", "capture") == 20
    assert times.more_x_empty("worm", "capture") == 0.25  # the median of 20/80, 8/40, 30/50


def test_one_rung(tmp_path):
    tmp_path.chmod(0o755)
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
