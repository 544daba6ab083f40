# SPDX-License-Identifier: GPL-2.0
"""saluki-merge behind a collector: two sensors hear the same frames, and the trace has each of them once."""
import os
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

from merge import program
from netns import testbed
from netns.live import long_trace
from reference import captures
from reference.test_reference import write_pcap

LIVE = testbed.BUILD / "saluki-live"
AIR = captures.OWN.root / "hwsim/hwsim-ch1.pcap.zst"
FROM_S, TO_S = 9, 16
BEGIN_NS, END_NS = 2_800_000_000, 1_000_000_000
BEHIND_S = 0.9  # at most, the median


@pytest.fixture(name="count")
def fixture_count(bundled):
    return len(list(captures.frames(bundled)))


def export(bed, *names, file):
    sensors = [bed.reader(name, file) for name in names]
    for sensor in sensors:
        status, said = sensor.finish(signo=None)
        assert status == 0, said


def assert_merged(trace, count):
    """A sensor that plays its trace at once may be done before the other one begins: then those are late."""
    found = program.check(trace)
    assert found["frames"] == found["receptions"] + found["malformed"] == 2 * count and found["missed"] == 0
    assert found["several"] + found["late_found"] > .8 * count


def test_files_of_a_collector(bed, bundled, count):
    bed.keys.sensor("hall")
    collector = bed.collector()
    export(bed, "lib", "hall", file=bundled)
    collector.finish()
    program.run("-w", bed.tmp_path / "unified.pcapng", bed.out)
    assert_merged(bed.tmp_path / "unified.pcapng", count)


def test_a_live_stream(bed, bundled, count):
    bed.keys.sensor("hall")
    collector = bed.collector()
    viewer = testbed.Process(bed.ns, [LIVE, "-w", "-"], "looking at", stdout=subprocess.PIPE)
    bed.stack.callback(viewer.kill)
    merge = subprocess.Popen([program.PROGRAM, "-q", "-r", "-", "-w", bed.tmp_path / "live.pcapng"],
                             stdin=viewer.popen.stdout)
    viewer.popen.stdout.close()
    export(bed, "lib", "hall", file=bundled)
    collector.finish()
    viewer.finish()
    assert merge.wait(20) == 0
    assert_merged(bed.tmp_path / "live.pcapng", count)


# ---- while the capture runs ------------------------------------------------------------------------


class Reader(threading.Thread):
    """Reads what saluki-merge writes, and notes when each packet came."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream, self.packets = stream, []  # (time now, the packet's time), in ns
        self.start()

    def run(self):
        while len(head := self.stream.read(8)) == 8:
            kind, length = (int.from_bytes(head[n:n + 4], "little") for n in (0, 4))
            body = self.stream.read(length - 8)
            if kind == 6:
                high, low = (int.from_bytes(body[n:n + 4], "little") for n in (4, 8))
                self.packets.append((time.time_ns(), high << 32 | low))

    def behind(self):
        """Seconds, without the first transmissions, which wait until the clocks are known, and without the last ones,
        behind which nothing comes."""
        now, at = np.array(self.packets).T
        return (now - at)[(at > at[0] + BEGIN_NS) & (at < at[-1] - END_NS)] / 1e9


class Watched:
    """Two sensors at a collector, and a merge of what a viewer sees of them. Both hear the trace, unless `quiet`."""

    def __init__(self, bed, trace, options=(), quiet=False, keep=()):
        bed.keys.sensor("hall")
        self.collector = bed.collector(options=["--live-bytes", "16M"])
        self.viewer = testbed.Process(bed.ns, [LIVE, "-w", "-"], "looking at", stdout=subprocess.PIPE)
        bed.stack.callback(self.viewer.kill)
        self.out = bed.tmp_path / "live.pcapng"
        self.merge = subprocess.Popen([program.PROGRAM, "-r", "-", "-w", "-"], stdin=self.viewer.popen.stdout,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        bed.stack.callback(self.merge.kill)
        self.viewer.popen.stdout.close()
        self.players = [bed.tun(name, 803, trace, options) for name in ("mon0", "mon1")]
        self.sensors = [bed.sensor(name, interface, options=["--combo-age", "200", *keep])
                        for name, interface in (("lib", "mon0"), ("hall", "mon1"))]
        self.players = self.players[:1] if quiet else self.players
        for name in ("lib", "hall"):
            self.collector.expect(f"sensor {name}: connected")
        self.reader = Reader(self.merge.stdout)

    def go(self):
        for player in self.players:
            player.go()

    def played(self):
        return sum(player.played() for player in self.players)

    def finish(self):
        """Ends all, in the order of the data's way. Returns the ledger that saluki-merge prints."""
        for process in (*self.sensors, self.collector, self.viewer):
            if process.popen.poll() is None:
                status, said = process.finish()
                assert status == 0, said
        said = self.merge.stderr.read().decode()
        assert self.merge.wait(20) == 0
        self.reader.join(20)
        return program.ledger(said)


@pytest.fixture(name="air")
def fixture_air(tmp_path):
    heard = list(captures.frames(AIR))
    heard = [f for f in heard if FROM_S * 10**9 < f.time_ns - heard[0].time_ns < TO_S * 10**9]
    write_pcap(tmp_path / "air.pcap", 127, heard)
    return tmp_path / "air.pcap", len(heard)


def test_transmissions_come_while_sensors_capture(bed, air):
    """At the trace's own speed, with stamps of now. The first ones wait until the clocks are known."""
    path, count = air
    w = Watched(bed, path)
    w.go()
    testbed.wait_for(lambda: len(w.reader.packets) > count // 2, "half of the transmissions", 60)
    assert w.players[0].popen.poll() is None  # still playing
    w.played()
    testbed.wait_for(lambda: len(w.reader.packets) >= count, "all transmissions", 20)
    behind = w.reader.behind()
    print(f"behind: median {np.median(behind):.2f} s, nine tenths {np.percentile(behind, 90):.2f} s")
    assert np.median(behind) < BEHIND_S
    found = w.finish()
    assert found["frames"] == 2 * count and found["missed"] == found["balance"] == 0
    assert found["several"] + found["late_found"] > .9 * count and found["parts"] == 1


def test_a_sensor_that_hears_nothing_holds_nobody_up(bed, air):
    """Its watermarks tell how far it is."""
    path, count = air
    w = Watched(bed, path, quiet=True)
    w.go()
    testbed.wait_for(lambda: len(w.reader.packets) > count // 2, "half of the transmissions", 60)
    w.played()
    testbed.wait_for(lambda: len(w.reader.packets) >= count, "all transmissions", 20)
    assert np.median(w.reader.behind()) < BEHIND_S
    found = w.finish()
    assert found["frames"] == found["alone"] == count and found["missed"] == 0


def test_what_the_viewer_misses_is_in_the_ledger(bed):
    """The merge stands still, so that the viewer is too slow for the collector's ring."""
    path, _ = long_trace(bed, 60)
    w = Watched(bed, path, ["--rate", "10000"], keep=["--keep", "all", "-s", "32768"])
    os.kill(w.merge.pid, signal.SIGSTOP)
    w.go()
    w.played()
    for sensor in w.sensors:
        sensor.finish()
    os.kill(w.merge.pid, signal.SIGCONT)
    found = w.finish()
    written = sum(w.collector.sensor_stats(s)["written"] for s in ("lib", "hall"))
    assert found["missed"] > 0 and found["balance"] == 0
    assert found["frames"] + found["missed"] == written
