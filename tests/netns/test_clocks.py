# SPDX-License-Identifier: GPL-2.0
"""Sensors' clocks in the collector's output: readings, watermarks, offsets. The clocks are moved by clock.so."""
import os
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_tshark_agrees
from netns.live import long_trace
from netns.test_live import Viewer
from reference import captures, clocks

S = 10**9
SOURCES = ("auto", "mmap")
ERROR_NS = 4000  # readings.h's bound, and what a reading takes with clock.so


class Watched:
    """A sensor whose clocks the test moves, at a collector that writes a file or, with `piped`, to a reader."""

    def __init__(self, bed, source="auto", piped=False, rate=400, times=3, seconds=0, options=()):
        self.bed, self.clock = bed, bed.clock(seconds)
        self.path = bed.out
        self.collector = bed.collector(**(self._pipe() if piped else {}))
        trace, self.frames = long_trace(bed, times)
        self.player = bed.tun("mon0", 803, trace, ["--rate", str(rate)])
        self.began_ns = time.monotonic_ns()
        self.sensor = bed.sensor("lib", "mon0", env=self.clock.env,
                                 options=["--source", source, "--combo-age", "200", *options])
        self.collector.expect("sensor lib: connected")

    def _pipe(self):
        self.path = self.bed.tmp_path / "stream.pcapng"
        read_end, write_end = os.pipe()
        with self.path.open("wb") as out:
            reader = subprocess.Popen(["cat"], stdin=read_end, stdout=out)
        self.bed.stack.callback(reader.kill)
        os.close(read_end)
        self.bed.stack.callback(os.close, write_end)
        return {"write": "-", "stdout": write_end}

    def wait(self, condition, what, seconds=20):
        return testbed.wait_for(condition, what, seconds, interval=0.1)

    def written(self, count):
        self.wait(lambda: (self.collector.sensor_stats("lib") or {}).get("written", 0) >= count, f"{count} frames")

    def readings(self):
        return clocks.readings(self.path)

    def of_kind(self, kind):
        return clocks.of_kind(self.path, kind)

    def finish(self):
        """Ends both, and checks that each frame is there once."""
        status, said = self.sensor.finish()
        assert status == 0, said
        self.ended_ns = time.monotonic_ns()
        assert self.collector.finish()[0] == 0
        count = sum(1 for _ in captures.frames(self.path))
        assert_balanced(self.collector.sensor_stats("lib"), count)
        return count

    def assert_monotonic(self):
        """By their sensor's CLOCK_MONOTONIC, frames were heard in their order while the test ran."""
        stamps = clocks.monotonic_stamps(self.path, "lib:mon0")
        assert stamps == sorted(stamps)
        assert self.began_ns < stamps[0] and stamps[-1] < self.ended_ns
        return stamps


def assert_others_read(path, count):
    """tshark and capinfos see the frames, and nothing else."""
    assert_tshark_agrees(path, list(captures.frames(path)))
    said = subprocess.run(["capinfos", "-M", "-c", path], capture_output=True, text=True, check=True)
    assert said.stdout.split()[-1] == str(count) and not said.stderr
    copy = path.with_suffix(".copy")
    said = subprocess.run(["editcap", path, copy], capture_output=True, text=True, check=True)
    assert not said.stderr
    assert [f.data for f in captures.frames(copy)] == [f.data for f in captures.frames(path)]


@pytest.mark.parametrize("source", SOURCES)
def test_a_clock_that_runs_free(bed, source):
    """One reading a second and no more, in the file alone: nothing else is written while nothing is heard."""
    w = Watched(bed, source, times=1)
    w.player.play()
    w.written(len(w.frames))
    size = w.path.stat().st_size
    time.sleep(1.5)  # as a sensor that hears nothing
    assert w.path.stat().st_size == size
    count = w.finish()
    found = w.readings()
    times = [r.monotonic_ns for r in found]
    assert times == sorted(set(times)) and w.began_ns < times[0] and times[-1] < w.ended_ns
    assert len({r.realtime_ns for r in found}) == 1
    assert abs(found[0].realtime_ns + time.monotonic_ns() - time.time_ns()) < 10**8
    heard = w.assert_monotonic() if source == "auto" else clocks.monotonic_stamps(w.path, "lib:mon0")
    seconds = (heard[-1] - heard[0]) / S
    assert seconds < len(found) < 2 * seconds + 4, (seconds, found)
    assert not w.of_kind(clocks.WATERMARK)
    offsets = w.of_kind(clocks.OFFSET)
    assert 1 <= len(offsets) <= 3 and all(abs(o.ahead_ns) < 10**7 for o in offsets), offsets
    assert_others_read(w.path, count)


def test_a_clock_that_is_set(bed):
    """Twice, by an hour and back by less than 10 ms. Frames before and after have exact times by CLOCK_MONOTONIC,
    though nobody knows when the clock was set."""
    w = Watched(bed, times=9)
    w.player.go()
    for n, seconds in enumerate((0, 3600, 3599.992)):
        w.clock.move(seconds)
        w.written(400 * (n + 1))
    w.player.stop()
    w.finish()
    stamps = w.assert_monotonic()
    assert max(b - a for a, b in zip(stamps, stamps[1:])) < S
    by_wall = [e.stamp_ns for e in clocks.entries(w.path) if e.kind is None]
    steps = [b - a for a, b in zip(by_wall, by_wall[1:]) if not 0 <= b - a < S]
    # Where frames had a longer pause, the second step is not seen.
    assert 3600 * S < steps[0] < 3601 * S and all(-8 * 10**6 < step < 0 for step in steps[1:]), steps
    differences = sorted({r.realtime_ns for r in w.readings()})
    assert len(differences) == 3
    assert abs(differences[2] - differences[0] - 3600 * S) < 10**5
    assert abs(differences[2] - differences[1] - 8 * 10**6) < 10**5


@pytest.mark.parametrize("source", SOURCES)
def test_a_clock_that_is_slewed(bed, source):
    """For each frame, the line between the readings around it is right."""
    w = Watched(bed, source, times=9)
    w.player.go()
    for n, ppm in enumerate((0, 500, -300, 20)):
        if ppm:
            w.clock.slew(ppm)
        w.written(300 * (n + 1))
    w.player.stop()
    w.finish()
    found = w.readings()
    truth = [r._replace(raw_ns=r.raw_ns - w.clock.raw_ns(r.monotonic_ns)) for r in found]
    # Nothing slews the machine's own clock while tests run.
    assert max(r.raw_ns for r in truth) - min(r.raw_ns for r in truth) < 20 * S / 10**6
    own, raw = clocks.Raw(truth), clocks.Raw(found)
    began = [since for _, since, _ in w.clock.slews[1:]]
    for stamp in clocks.monotonic_stamps(w.path, "lib:mon0"):
        if found[0].monotonic_ns < stamp < found[-1].monotonic_ns and all(abs(stamp - b) > 2 * 10**8 for b in began):
            assert abs(raw.at(stamp) - w.clock.raw_ns(stamp) - own.at(stamp)) < ERROR_NS
    seconds = (found[-1].monotonic_ns - found[0].monotonic_ns) / S
    assert len(found) < 2 * seconds + 20


@pytest.mark.parametrize("source", SOURCES)
def test_a_reader_of_a_pipe_knows_that_nothing_is_heard(bed, source):
    """Watermarks follow the time while the sensor hears nothing, and no frame comes behind a later one."""
    w = Watched(bed, source, piped=True, times=1)
    w.player.play()
    w.written(len(w.frames))
    heard = len(w.of_kind(clocks.WATERMARK))
    began = time.time_ns()
    w.wait(lambda: len(w.of_kind(clocks.WATERMARK)) > heard + 6, "watermarks")
    assert (time.time_ns() - began) / S < 7
    mark = w.of_kind(clocks.WATERMARK)[-1]
    assert 0 < time.time_ns() - mark < 2 * S
    second = bed.tun("mon1", 803, captures.BUNDLED)  # another interface, which this sensor does not hear
    second.close()
    count = w.finish()
    assert count == len(w.frames)
    assert_marks_hold(w.path, "lib:mon0")
    assert_others_read(w.path, count)
    assert len(w.of_kind(clocks.OFFSET)) >= 3


def assert_marks_hold(path, name):
    mark, frames = 0, 0
    for e in clocks.entries(path):
        if e.name == name and e.kind == clocks.WATERMARK:
            assert e.value >= mark
            mark = e.value
        elif e.name == name and e.kind is None:
            assert e.stamp_ns >= mark, (frames, e.stamp_ns - mark)
            frames += 1
    assert mark


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("rate", [3, 40, 3000])
def test_watermarks_between_frames(bed, source, rate):
    """Sparse frames, whose combos are always open, and many: each watermark holds."""
    w = Watched(bed, source, piped=True, rate=rate, times=1 if rate < 100 else 12, options=["--combo-age", "900"])
    w.player.go()
    w.wait(lambda: len(w.of_kind(clocks.WATERMARK)) >= 6, "watermarks", 30)
    w.player.stop()
    w.finish()
    assert_marks_hold(w.path, "lib:mon0")
    marks = w.of_kind(clocks.WATERMARK)
    assert rate > 100 or len(set(marks)) >= 5, marks


def test_a_viewer_has_all_and_the_file_no_watermarks(bed):
    w = Watched(bed, times=1)
    viewer = Viewer(bed)
    w.player.play()
    w.written(len(w.frames))
    w.wait(lambda: len(clocks.of_kind(viewer.out, clocks.WATERMARK)) > 4, "watermarks")
    count = w.finish()
    status, said = viewer.finish()
    assert status == 0, said
    assert not w.of_kind(clocks.WATERMARK)
    assert clocks.readings(viewer.out) == w.readings() != []
    assert clocks.of_kind(viewer.out, clocks.OFFSET)
    assert not any(e.named for e in clocks.entries(viewer.out))
    assert_marks_hold(viewer.out, "lib:mon0")
    assert_others_read(viewer.out, count)


def test_the_offset_follows_a_clock_that_is_set(bed):
    """Without waiting for another measurement."""
    w = Watched(bed, piped=True, times=1, seconds=-45)
    w.player.play()
    w.wait(lambda: w.of_kind(clocks.OFFSET), "an offset")
    w.clock.move(30)
    w.wait(lambda: w.of_kind(clocks.OFFSET)[-1].ahead_ns > 0, "another offset", 5)
    before, after = w.of_kind(clocks.OFFSET)[0], w.of_kind(clocks.OFFSET)[-1]
    w.finish()
    for offset, ahead in (before, -45 * S), (after, 30 * S):
        assert 0 < offset.round_trip_ns < S
        assert abs(offset.ahead_ns - ahead) <= offset.round_trip_ns / 2 + 10**6, (offset, ahead)
        assert abs(offset.collector_ns - time.time_ns()) < 60 * S


def test_a_restarted_collector_knows_combos_that_begin_with_readings(bed):
    """A killed collector's file ends with whole combos, and nothing is written twice."""
    w = Watched(bed, rate=700, times=6, options=["--combo-size", "1024"])
    w.player.go()
    for _ in range(2):
        w.written(500)  # by this collector
        w.collector.kill_all()
        w.collector = bed.collector()
    assert w.player.played() == len(w.frames)
    assert any(e.named for e in clocks.entries(w.path) if e.kind == clocks.READINGS)
    status, said = w.sensor.finish()
    assert status == 0, said
    assert w.collector.finish()[0] == 0
    assert sum(1 for _ in captures.frames(w.path)) == len(w.frames)


def test_a_kernel_without_the_raw_clock(bed):
    """Linux before 2.6.28: all else is as before."""
    w = Watched(bed, times=1, rate=2000)
    w.sensor.finish()
    w.sensor = bed.sensor("lib", "mon0", env={**w.clock.env, "SALUKI_NO_RAW": "1"})
    w.player.play()
    w.written(len(w.frames))
    w.sensor.finish()
    assert w.collector.finish()[0] == 0
    assert not w.readings() and sum(1 for _ in captures.frames(w.path)) == len(w.frames)


def test_a_file_has_no_clock(bed, bundled):
    collector = bed.collector()
    assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0
    assert not clocks.readings(bed.out) and not clocks.of_kind(bed.out, clocks.WATERMARK)
