# SPDX-License-Identifier: GPL-2.0
"""--spool: undelivered combos are neither lost nor sent twice, whatever ends the sensor."""
import os
import struct

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_carried_on import blocks, options
from netns.test_refilter import EVEN
from netns.test_restart import numbered, written
from reference import captures
from reference.test_reference import write_pcap

SEGMENTS, FIRST, HEAD = 16, 4096, 512


def records(spool):
    """(kind, run, count, first, frames) of the records in a spool file, by segment."""
    data = spool.read_bytes() if spool.exists() else b""
    if len(data) < FIRST:
        return []
    size = int.from_bytes(data[16:24], "big")
    found = []
    for at in range(FIRST, FIRST + SEGMENTS * size, size):
        head = data[at:at + HEAD]
        if head[:8] != b"spsegm01":
            continue
        order, run, here = *struct.unpack(">QQ", head[8:24]), at + HEAD
        while here + 33 <= min(at + size, len(data)):
            length, kind, count, first, frames = struct.unpack(">IBQQI", data[here:here + 25])
            if not length:
                break
            found.append((order, kind, run, count, first, frames))
            here += 33 + length
    return sorted(found)


def frames_in(spool):
    return sum(r[5] for r in records(spool) if r[1] == 1)


def by_interface(file):
    """Frames, by their interface's description: name, snaplen, filter."""
    said, found = [], {}
    for kind, body in blocks(file):
        if kind == 1:
            o = options(body[8:])
            said.append((o[2].decode(), *struct.unpack_from("<I", body, 4), o.get(11, b"\0")[1:].decode()))
        elif kind == 6:
            n, kept = struct.unpack_from("<I8xI", body)
            found.setdefault(said[n], []).append(body[20:20 + kept])
    return found


class World:
    """A sensor on a cable, with a spool, and a collector that comes and goes."""

    def __init__(self, bed, more=()):
        self.bed = bed
        self.spool = bed.tmp_path / "spool"
        self.key = bed.keys.sensor("lib")
        self.options = ["--combo-size", "2048", "--combo-age", "100", "--spool", self.spool,
                        *more]
        testbed.veth(bed.ns, "veth0", bed.ns, "tap0")

    def sensor(self, **kwargs):
        return self.bed.sensor("lib", "tap0", key=self.key, options=self.options, **kwargs)

    def play(self, frames, interface="veth0"):
        file = self.bed.tmp_path / "wire.pcap"
        write_pcap(file, 1, frames)
        sender = self.bed.sender(interface, file, ["--rate", "4000"])
        assert sender.play() == len(frames)

    def wait_spooled(self, count):
        testbed.wait_for(lambda: frames_in(self.spool) >= count, "frames in the spool", 15)

    def wait_empty(self):
        testbed.wait_for(lambda: self.spool.stat().st_size == 0, "an empty spool", 60)


SOURCES = pytest.mark.parametrize("source", [[], ["--source", "mmap"]], ids=["ring", "mmap"])


@SOURCES
def test_killed_in_an_outage(bed, bundled, source):
    """Two SIGKILLs to the whole sensor, with no collector in reach, lose no spooled frame."""
    w = World(bed, source)
    frames = numbered(bundled, 6000)
    sensor = w.sensor()
    w.play(frames[:2000])
    w.wait_spooled(2000)
    sensor.kill_all()
    sensor = w.sensor()
    w.play(frames[2000:4000])
    w.wait_spooled(4000)
    sensor.kill_all()
    assert os.stat(w.spool).st_mode & 0o777 == 0o600
    sensor = w.sensor()
    collector = bed.collector()
    w.play(frames[4000:])
    testbed.wait_for(lambda: written(collector) >= len(frames), "frames", 60)
    w.wait_empty()
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == 0 and stats["lost_missing"] == 0
    assert stats["written"] == len(frames) and stats["bad_combos"] == 0
    assert_same(frames, captures.frames(bed.out), stamps=False)


def test_forwarded_behind_a_bad_network(bed, bundled):
    """Forwarded records arrive although they are lost, reordered and repeated, and the collector is
    killed meanwhile."""
    w = World(bed)
    frames = numbered(bundled, 6000)
    relay = bed.relay()
    sensor = w.sensor(to=relay.address)
    w.play(frames[:5000])
    w.wait_spooled(5000)
    sensor.kill_all()
    relay("loss 10", "duplicate 5", "reorder 10 50")
    collector = bed.collector(bed.tmp_path)
    sensor = w.sensor(to=relay.address)
    testbed.wait_for(lambda: written(collector) > 0, "frames", 60)
    collector.kill_all()
    collector = bed.collector(bed.tmp_path)
    w.play(frames[5000:])
    testbed.wait_for(lambda: w.spool.stat().st_size == 0, "an empty spool", 120)
    status, said = sensor.finish(seconds=60)
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == 0 and stats["lost_missing"] == 0 and stats["bad_combos"] == 0
    got = [f for file in sorted(bed.tmp_path.glob("*.pcapng")) for f in captures.frames(file)]
    assert_same(frames, got, stamps=False)


def test_outage_beyond_memory(bed, bundled):
    """More combos than the store holds come back out of the file, in order."""
    w = World(bed, ["--store-bytes", "64K"])
    frames = numbered(bundled, 8000)
    sensor = w.sensor()
    collector = bed.collector()
    w.play(frames[:1000])
    testbed.wait_for(lambda: written(collector) >= 1000, "frames")
    collector.kill_all()
    w.play(frames[1000:7000])
    w.wait_spooled(5500)
    collector = bed.collector(options=[])
    w.play(frames[7000:])
    w.wait_empty()
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(frames), earlier=stats["earlier"])
    assert stats["earlier"] + stats["written"] == len(frames)
    assert_same(frames, captures.frames(bed.out), stamps=False)


def test_ended_in_an_outage(bed, bundled):
    """With SIGINT during an outage, the spool stays and the exit is no failure. The next run
    delivers it."""
    w = World(bed)
    frames = numbered(bundled, 3000)
    sensor = w.sensor()
    w.play(frames[:2000])
    status, said = sensor.finish()
    assert status == 0 and "2000 frames wait in --spool" in said, said
    assert frames_in(w.spool) == 2000
    collector = bed.collector()
    sensor = w.sensor()
    w.play(frames[2000:])
    sensor.expect("is delivered")
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(frames))
    assert stats["runs"] == 2 and w.spool.stat().st_size == 0
    assert_same(frames, captures.frames(bed.out), stamps=False)


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "killed"])
def test_other_interfaces(bed, bundled, ended):
    """An earlier run's frames keep that run's interfaces, snaplen and filter, even if the present
    run gives another interface the same number."""
    w = World(bed, [] if ended else ["--source", "mmap"])  # after a kill nothing stays attached
    testbed.veth(bed.ns, "veth1", bed.ns, "tap1")
    frames = numbered(bundled, 3000)
    sensor = bed.sensor("lib", "tap0", options=[*w.options, "-i", "tap1", "-s", "100", EVEN])
    w.play(frames[:1000])
    w.play(frames[1000:2000], "veth1")
    if ended:
        status, said = sensor.finish()
        assert status == 0, said
    else:
        w.wait_spooled(1000)
        sensor.kill_all()
    assert frames_in(w.spool) == 1000
    sensor = bed.sensor("lib", "tap1", options=[*w.options, "-s", "120"])
    collector = bed.collector()
    w.play(frames[2000:], "veth1")
    testbed.wait_for(lambda: written(collector) >= 2000, "frames", 60)
    w.wait_empty()
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert by_interface(bed.out) == {
        ("lib:tap0", 100, EVEN): [f.data[:100] for f in frames[:1000:2]],
        ("lib:tap1", 100, EVEN): [f.data[:100] for f in frames[1000:2000:2]],
        ("lib:tap1", 120, ""): [f.data[:120] for f in frames[2000:]]}


def test_bounded(bed, bundled):
    """Above --spool-bytes the oldest combos are given up, and the ledger counts each."""
    w = World(bed, ["--store-bytes", "64K", "--spool-bytes", "1M", "--compress", "none",
                    "--queue", "1", "--source", "mmap", "-B", "1024"])
    frames = numbered(bundled, 20000)
    sensor = w.sensor()
    w.play(frames)
    assert w.spool.stat().st_size <= 1024 * 1024 + FIRST
    sensor.expect("the oldest combos are given up")
    collector = bed.collector()
    w.wait_empty()
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == 0 and stats["seen"] == len(frames)
    # Combos given up may have been under way already.
    assert stats["dropped_store"] >= stats["lost_missing"] > 0
    got = list(captures.frames(bed.out))
    assert len(got) == stats["written"] > 0
    assert len(frames) == len(got) + stats["lost_missing"] + stats["ring_full"]
    numbers = [int.from_bytes(f.data[6:12], "big") for f in got]
    assert numbers == sorted(set(numbers)) and numbers[-1] > len(frames) // 2


def test_full_disk(bed, bundled):
    """A full disk is logged once, and the store in memory continues; spooled combos are not
    lost."""
    disk = bed.tmp_path / "disk"
    disk.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=256k", "none", disk)
    w = World(bed, ["--compress", "none"])
    w.options[w.options.index(w.spool)] = disk / "spool"
    frames = numbered(bundled, 4000)
    sensor = w.sensor()
    w.play(frames)
    sensor.expect("No space left on device")
    collector = bed.collector()
    testbed.wait_for(lambda: written(collector) >= len(frames), "frames", 60)
    status, said = sensor.finish()
    assert status == 0, said
    assert said.count("No space left") == 1
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(frames))
    assert_same(frames, captures.frames(bed.out), stamps=False)


def test_collector_of_another_key(bed, bundled):
    """A collector with another key gets nothing from the file, but new combos; the file keeps its
    content."""
    w = World(bed)
    frames = numbered(bundled, 3000)
    sensor = w.sensor()
    w.play(frames[:2000])
    status, said = sensor.finish()
    assert status == 0, said
    before = frames_in(w.spool)
    bed.keys.collector_public = bed.keys._pair(bed.keys.collector)
    secret = w.key.read_text().splitlines()[0]
    w.key.write_text(f"{secret}\n{bed.keys.collector_public}\n")
    collector = bed.collector()
    sensor = w.sensor()
    w.play(frames[2000:])
    testbed.wait_for(lambda: written(collector) >= 1000, "frames")
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert before == 2000 == frames_in(w.spool)
    assert_same(frames[2000:], captures.frames(bed.out), stamps=False)


def test_what_is_something_else(bed):
    """A file of another kind is not touched."""
    w = World(bed)
    w.spool.write_text("a letter that is longer than a beginning of a spool\n")
    sensor = w.sensor(ready=None)
    status, said = sensor.finish(signo=None)
    assert status == 1 and "is something else" in said
    assert w.spool.read_text().startswith("a letter")
    w.spool.write_bytes(b"saluki spool 1\n".ljust(FIRST, b"\0"))
    sensor = w.sensor(ready=None)
    status, said = sensor.finish(signo=None)
    assert status == 1 and "another version" in said and w.spool.stat().st_size == FIRST
    w.spool.unlink()
    first = w.sensor()
    second = w.bed.sensor("lib", "lo", key=w.key, options=w.options, ready=None)
    assert second.finish(signo=None)[0] == 1 and "another saluki has it" in second.said
    assert "gave no session" in first.finish()[1] and w.spool.stat().st_size == 0
