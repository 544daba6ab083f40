# SPDX-License-Identifier: GPL-2.0
"""The second implementation and the real one tell each other of clocks: readings between frames, progress."""
import time

import pytest
from netns import testbed
from reference import captures, clocks

from wire import ends
from wire import saluki_combo as sc
from wire import saluki_wire as sw
from wire.test_interop import Spoken, expected, got, keys, ns, secret_of, some  # noqa: F401 (fixtures)
from wire.test_refused import bad_frame

S = 10**9
REAL = 10**18


def reading(n, realtime_ns=REAL):
    return sc.Reading(100 * S + n * S, realtime_ns, -7 * n)


def event(at, *readings):
    return sc.Event(at, sc.CLOCK, sc.readings_write(readings))


def in_file(path):
    """(frames before, reading) of each."""
    found, frames = [], 0
    for e in clocks.entries(path):
        frames += e.kind is None
        if e.kind == clocks.READINGS:
            found += [(frames, sc.Reading(*r)) for r in e.value]
    return found


@pytest.fixture
def spoken(ns, keys, tmp_path):  # noqa: F811
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    spoken.keys = keys
    spoken.sensor.set_up()
    yield spoken
    spoken.collector.kill()


def restart(spoken, state=False):
    """Kills the collector; the next one reads the file, or a state that belongs to it."""
    spoken.collector.kill_all()
    if not state:
        spoken.out.with_name(spoken.out.name + ".state").unlink()
    spoken.collector = testbed.Collector(spoken.ns, spoken.keys, spoken.out)
    spoken.sensor.set_up()
    spoken.sensor.ack = None


@pytest.mark.parametrize("state", [False, True], ids=["by the file", "by the state"])
def test_readings_amid_frames(spoken, bundled, state):
    """They are where the sensor put them, also as a combo's first and last blocks, and a restarted collector knows
    these combos."""
    s, frames = spoken.sensor, some(bundled, 60)
    s.add_combo(frames[:20], sc.ZSTD_DOT11, [event(0, reading(0)), event(7, reading(1), reading(2, 5)),
                                             event(20, reading(3, 5))])
    s.add_combo(frames[20:40], sc.ZSTD_DOT11, [event(0, *map(reading, range(4, 4 + sc.READINGS_MAX)))])
    s.deliver()
    restart(spoken, state)
    s.add_combo([], sc.STORED, [event(0, reading(30))])  # no block in this section: left out
    s.add_combo(frames[40:], sc.ZSTD_DOT11, [event(0, reading(31))])
    s.add_combo([], sc.STORED, [event(0, reading(32)), sc.Event(0, sc.CLOCK, b""), sc.Event(0, sc.CLOCK, b"\x80")])
    s.deliver()
    restart(spoken, state)
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert in_file(spoken.out) == [(0, reading(0)), (7, reading(1)), (7, reading(2, 5)), (20, reading(3, 5)),
                                   *((20, reading(n)) for n in range(4, 4 + sc.READINGS_MAX)), (40, reading(31)),
                                   (60, reading(32))]
    assert [e.named for e in clocks.entries(spoken.out) if e.kind] == [True, False, False, True, True, True]
    assert stats["earlier"] == 60 and stats["balance"] == 0


def test_readings_before_refused_frames(spoken):
    """A block needs one of the sensor's interfaces. Frames of a link type that is not allowed give none."""
    s = spoken.sensor
    s.add_combo([bad_frame(n, 228) for n in range(4)], sc.STORED, [event(0, reading(0)), event(4, reading(1))])
    s.add_combo([bad_frame(n, 228 if n < 2 else 1) for n in range(4)], sc.STORED,
                [event(0, reading(2)), event(1, reading(3)), event(4, reading(4))])
    s.deliver()
    restart(spoken)
    s.finish()
    written, stats = spoken.close()
    assert len(written) == 2 and stats["balance"] == 0 and stats["bad_events"] == 0
    assert in_file(spoken.out) == [(0, reading(2)), (0, reading(3)), (2, reading(4))]


def test_progress_behind_frames(ns, keys, bundled, tmp_path):  # noqa: F811
    """A reader of a FIFO learns of a watermark behind its frames, whatever came first; and of the offset."""
    out, fifo, options = tmp_path / "out.pcapng", tmp_path / "fifo", ["--state", tmp_path / "state"]
    testbed.subprocess.run(["mkfifo", fifo], check=True)
    with out.open("wb") as file:
        reader = testbed.subprocess.Popen(["cat", fifo], stdout=file)
    spoken = Spoken(ns, keys, fifo, options=options)
    s, frames = spoken.sensor, some(bundled, 60)
    s.set_up()
    s.add_combo(frames[:20], sc.ZSTD_DOT11, [event(0, reading(0))])
    s.progress(frames[20].time_ns, -5000000, 300000)  # before its frames
    s.deliver()
    s.add_combo(frames[20:], sc.ZSTD_DOT11)
    s.deliver()
    s.progress(frames[-1].time_ns + 1, -5000001, 300000)
    s.say(bytes([sw.PROGRESS, 1]))  # incomplete
    s.finish()
    s.close()
    assert spoken.collector.finish()[0] == 0
    assert reader.wait(10) == 0
    assert spoken.collector.sensor_stats("room-1")["bad_messages"] == 1
    order = [(e.kind, e.value) for e in clocks.entries(out) if e.kind != clocks.READINGS]
    assert order.index((clocks.WATERMARK, frames[20].time_ns)) == 20  # as many frames
    assert order[-1] == (clocks.WATERMARK, frames[-1].time_ns + 1)
    offset, = clocks.of_kind(out, clocks.OFFSET)
    assert offset[:2] == (-5000001, 300000) and abs(offset.collector_ns - time.time_ns()) < 60 * S


def test_what_a_sensor_tells(ns, keys, bundled):  # noqa: F811
    """Readings before the frames of an interface, and progress that holds."""
    sensor_key = keys.sensor("room-1")
    sock = ends.socket_in(ns)
    c = ends.Collector(sock, secret_of(keys.collector), sw.public(secret_of(sensor_key)))
    player = testbed.Player.tun(ns, "mon0", 803, bundled, ["--rate", "600"])
    began = time.monotonic_ns()
    sensor = testbed.Sensor(ns, sensor_key, "mon0", to=f"127.0.0.1:{sock.getsockname()[1]}",
                            options=["--combo-age", "300"])
    try:
        c.serve(lambda: c.hellos and c.run().progress, 20)
        player.go()
        count = len(list(captures.frames(bundled)))
        c.serve(lambda: len(c.run().frames) == count, 30)
        told = len(c.run().progress)
        c.serve(lambda: len(c.run().progress) > told + 4, 10)
        run = c.run()
        assert run.readings[0][0] == 0 and 2 <= len(run.readings) < 12
        times = [r.monotonic_ns for _, r in run.readings]
        assert began < times[0] and times == sorted(times) and times[-1] < time.monotonic_ns()
        assert len({r.realtime_ns for _, r in run.readings}) == 1
        for p in run.progress:
            assert all(f.time_ns >= p.before_ns for f in run.frames[p.exported:])
        last = run.progress[-1]
        assert last.exported == count and 0 < time.time_ns() - last.before_ns < 2 * S
        assert 0 < last.round_trip_ns < S and abs(last.ahead_ns) < S
    finally:
        sensor.kill()
        player.close()
        sock.close()
