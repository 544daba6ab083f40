# SPDX-License-Identifier: GPL-2.0
"""A listed sensor gone bad: the limits of its effect on the collector's files, and on other
sensors' frames in them."""
import struct
import time

import pytest
from netns import testbed
from netns.compare import assert_balanced, assert_same, assert_tshark_agrees
from reference import captures

from wire import saluki_combo as sc
from wire import saluki_wire as sw
from wire.test_interop import Spoken, expected, got, keys, ns, some  # noqa: F401 (fixtures)

STAMP = 1792 * 10**18 // 10**3
BLOCKS_FREE, BLOCKS_EXTRA = 32, 480  # collector/output/interfaces.h


def bad_frame(n, linktype, interface=0, data=b"a frame"):
    return sc.Frame(STAMP + n, len(data), linktype, data, interface)


def blocks(path):
    """How many blocks of each type a file has."""
    data, at, found = path.read_bytes(), 0, {}
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        found[kind] = found.get(kind, 0) + 1
        at += size
    return found


def allow_any(keys, name="room-1"):  # noqa: F811
    keys.sensor(name, words="linktypes=any")


@pytest.fixture
def anything(ns, keys, tmp_path):  # noqa: F811
    """A sensor that may send any link type."""
    allow_any(keys)
    keys.sensor("honest")
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    spoken.keys = keys
    spoken.sensor.set_up()
    yield spoken
    spoken.collector.kill()


def read_by(spoken, file):
    """An honest sensor sends a file."""
    p = testbed.Process(spoken.ns, [testbed.BUILD / "saluki", "run", "-r", file, "--to",
                                    "127.0.0.1:5600", "--key", spoken.keys.sensor("honest")], None)
    try:
        assert p.finish(signo=None)[0] == 0
    finally:
        p.kill()


def test_interface_blocks_are_bounded(anything, bundled):
    """With a new interface and link type for each frame, most frames are refused, but no other
    sensor's."""
    s, count = anything.sensor, 0
    for number in range(600):
        s.add_combo([bad_frame(n, 1000 + number * 16 + n, number % 256) for n in range(16)],
                    sc.ZSTD)
        count += 16
    s.deliver()
    read_by(anything, bundled)
    honest = list(captures.frames(bundled))
    s.finish()
    written, stats = anything.close()
    made = blocks(anything.out)[1]
    sent = sum(map(len, s.combos))
    print(f"{made} interface blocks of {sent} bytes, {stats['lost_refused']} frames refused")
    # One more each ten seconds of the test.
    assert BLOCKS_FREE + BLOCKS_EXTRA <= made <= BLOCKS_FREE + BLOCKS_EXTRA + 16 + 10
    assert stats["lost_refused"] == count - stats["written"] and stats["balance"] == 0
    assert stats["written"] == made - 1
    assert_same(honest, [f for f in written if f.linktype == 127])
    assert_balanced(anything.collector.sensor_stats("honest"), len(honest))
    assert anything.collector.said.count("has so many interfaces and link types") == 1


def test_what_a_sensor_says_is_bounded(anything, bundled):
    """With endless changes of its filters, a sensor's frames stay under the newest block, and none
    is refused."""
    s = anything.sensor
    for n in range(700):
        lines = {"interface.0": "mon0", "filter.0": f"port {n}", "change": str(n + 1)}
        s.say(bytes([sw.INFO]) + sc.info_write(lines))
        s.add_combo([bad_frame(n, 1)], sc.STORED)
        for message in sw.pieces(n, s.combos[n], sw.DATAGRAM_MAX):
            s._piece(n, message, 10)
    s.settle(time.monotonic() + 30)
    s.finish()
    written, stats = anything.close()
    assert stats["written"] == len(written) == 700 and stats["lost_refused"] == 0
    assert blocks(anything.out)[1] <= BLOCKS_FREE + BLOCKS_EXTRA + 10
    assert_tshark_agrees(anything.out, written)


def test_dwells_need_a_block(anything):
    """Dwells are skipped if their interface has no block left."""
    s = anything.sensor
    for number in range(40):
        s.add_combo([bad_frame(n, 1000 + number * 16 + n, 100) for n in range(16)], sc.ZSTD)
    d = sc.Dwell(3, 2412, 20, 2412, STAMP, STAMP + 1000, 1, 5, 0, 0)
    s.add_combo([], sc.ZSTD, [sc.Event(0, sc.DWELL, sc.dwell_write(d))] * 3)
    s.add_combo([bad_frame(0, 1000 + 39 * 16 + 15, 100)], sc.ZSTD)
    s.deliver()
    s.finish()
    _, stats = anything.close()
    assert stats["bad_events"] == 3 and stats["balance"] == 0
    assert not captures.dwells(anything.out, "room-1:3")


def test_frames_that_were_refused_are_known_after_a_kill(ns, keys, bundled, tmp_path):  # noqa: F811
    """A file says how many of a combo's frames it lacks: after a kill, the next collector continues
    there."""
    keys.sensor("honest")
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    s, frames = spoken.sensor, []
    s.set_up()
    for number in range(6):
        part = [bad_frame(number * 10 + n, 228 if n in (0, 4, 9) or number == 5 else 1)
                for n in range(10)]
        s.add_combo(part, sc.STORED)
        frames += part
    s.deliver()
    spoken.collector.kill_all()
    (tmp_path / "out.pcapng.state").unlink()  # the names are in the file
    spoken.collector = testbed.Collector(ns, keys, spoken.out)
    s.set_up()
    s.ack = None
    part = [bad_frame(100 + n, 1) for n in range(10)]
    s.add_combo(part, sc.STORED)
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got([f for f in frames + part if f.linktype == 1])
    assert stats["balance"] == stats["lost_missing"] == 0
    # The last combo was refused as a whole: it is in no file, and was sent again.
    assert (stats["earlier"], stats["lost_refused"], stats["written"]) == (50, 10, 10)
