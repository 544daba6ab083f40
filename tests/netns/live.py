# SPDX-License-Identifier: GPL-2.0
"""A long trace, exported live or from a file through the relay, and checks of its result."""
from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_pipeline import as_seen
from reference import captures
from reference.test_reference import write_pcap

COLLECTOR_KIB = 16 << 10  # both processes, pool included
SENSOR_KIB = 10 << 10     # the store is 4 MiB of it
ALL = ("--keep", "all", "-s", "32768")
PLAIN = ("--compress", "none", "--combo-size", "4096", *ALL)  # many datagrams of few frames


def long_trace(bed, times):
    """Repeats the bundled trace with later stamps: no two frames are the same."""
    once = list(captures.frames(captures.BUNDLED))
    period = once[-1].time_ns - once[0].time_ns + 1000
    frames = [f._replace(time_ns=f.time_ns + n * period) for n in range(times) for f in once]
    path = bed.tmp_path / "long.pcap"
    write_pcap(path, 127, frames)
    return path, frames


def written(collector, name="lib"):
    return (collector.sensor_stats(name) or {}).get("written", 0)


def assert_whole(bed, collector, frames, stamps=True, whole=False):
    """Stops the collector. Each frame (whole, or its kept part) is there once, in order, and no
    other frame."""
    kib = testbed.anonymous_kib(collector.pid())
    status, said = collector.finish()
    assert status == 0, said
    assert_same(frames if stamps else as_seen(frames), captures.frames(bed.out),
                *((32768, False) if whole else ()), stamps=stamps)
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(frames))
    assert "sanitize" in str(testbed.BUILD) or kib < COLLECTOR_KIB, kib
    return stats


def export_file(bed, path, relay, options=PLAIN, **kwargs):
    """Runs saluki run -r to its end through the relay."""
    reader = bed.reader("lib", path, to=relay.address, options=options, **kwargs)
    status, said = reader.finish(signo=None, seconds=80)
    assert status == 0, said
    return said


def small_store(bed, compress="none", times=12, rate=20000):
    """A sensor with a small store and ring, in a session through the relay, and a player with more
    frames than they hold."""
    path, frames = long_trace(bed, times)
    collector = bed.collector()
    relay = bed.relay()
    player = bed.tun("mon0", 803, path, ["--rate", str(rate)])
    sensor = bed.sensor("lib", "mon0", to=relay.address,
                        options=["--compress", compress, "--store-bytes", "64K", "-B", "64"])
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session", 20)
    return collector, relay, player, sensor, frames


class Live:
    """A long trace played through an interface to a sensor that exports through the relay."""

    def __init__(self, bed, times=4, rate=2000, options=(), **kwargs):
        self.bed = bed
        self.path, self.frames = long_trace(bed, times)
        self.collector = bed.collector(**kwargs)
        self.relay = bed.relay()
        self.player = bed.tun("mon0", 803, self.path, ["--rate", str(rate)])
        self.sensor = bed.sensor("lib", "mon0", to=self.relay.address, options=options)
        self.player.go()

    def until_written(self, count, seconds=40):
        testbed.wait_for(lambda: written(self.collector) >= count, f"{count} frames", seconds)

    def finish(self):
        assert self.player.played() == len(self.frames)
        self.until_written(len(self.frames))
        kib = testbed.anonymous_kib(self.sensor.pid())
        status, said = self.sensor.finish()
        assert status == 0, said
        assert "sanitize" in str(testbed.BUILD) or kib < SENSOR_KIB, kib
        return assert_whole(self.bed, self.collector, self.frames, stamps=False)
