# SPDX-License-Identifier: GPL-2.0
"""On a full disk the collector waits: no frame is lost, and each is in the file once."""
import collections
import json
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.test_restart import numbered
from reference import captures
from reference.test_reference import write_pcap
from wire import ends
from wire import saluki_wire as sw
from wire.test_interop import secret_of

HOLD = "nothing is written until there is room"
OVER = "writing again"
RATE = 4000


class World:
    """A sensor on a cable, and a collector that writes to a small disk."""

    def __init__(self, bed, bundled, size="1m", sensor_options=()):
        self.bed, self.bundled = bed, bundled
        self.disk = bed.tmp_path / "disk"
        self.disk.mkdir()
        bed.ns.run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.disk)
        self.key = bed.keys.sensor("lib")
        self.sensor_options = ["--combo-age", "100", *sensor_options]
        self.played = 0
        testbed.veth(bed.ns, "veth0", bed.ns, "tap0")

    def collector(self, *options, **kwargs):
        self.now = self.bed.collector(write=self.disk / "out.pcapng", options=options, **kwargs)
        return self.now

    def sensor(self, **kwargs):
        return self.bed.sensor("lib", "tap0", key=self.key, options=self.sensor_options, **kwargs)

    def fill(self, leave_kib=0):
        """Fills the disk except `leave_kib`."""
        free = int(self.bed.ns.run("stat", "-f", "-c", "%a", self.disk,
                                   capture_output=True).stdout) * 4
        self.bed.ns.run("dd", "if=/dev/zero", f"of={self.disk}/ballast", "bs=1k",
                        f"count={free - leave_kib}", capture_output=True)

    def make_room(self):
        self.bed.ns.run("rm", self.disk / "ballast")

    def play(self, count):
        frames = numbered(self.bundled, self.played + count)[self.played:]
        file = self.bed.tmp_path / f"wire-{self.played}.pcap"
        write_pcap(file, 1, frames)
        assert self.bed.sender("veth0", file, ["--rate", RATE]).play() == count
        self.played += count

    def free(self):
        """Bytes that any user may use."""
        return int(self.bed.ns.run("stat", "-f", "-c", "%a", self.disk,
                                   capture_output=True).stdout) * 4096

    def stats(self):
        return collections.defaultdict(int, self.now.sensor_stats("lib") or {})

    def wait(self, what, condition, seconds=30):
        try:
            testbed.wait_for(lambda: condition(self.stats()), what, seconds)
        except TimeoutError as e:
            raise TimeoutError(f"{what}: {self.now.stats()} {self.now.said}") from e

    def wait_held(self):
        self.now.expect(HOLD)
        self.wait("the hold", lambda s: s.get("held"))

    def numbers(self, linktype=1):
        """The numbers of the file's frames, in file order."""
        self.bed.ns.run("cp", self.disk / "out.pcapng", self.bed.out)
        return [int.from_bytes(f.data[6:12], "big") for f in captures.frames(self.bed.out)
                if f.linktype == linktype]

    def assert_each_once(self):
        got = self.numbers()
        assert sorted(got) == list(range(self.played)), (len(got), self.played)


@pytest.fixture
def world(bed, bundled):
    return World(bed, bundled)


def test_a_full_disk_is_waited_for(world):
    """A full disk is logged once when it begins and once when it ends; the ledger balances
    throughout."""
    world.fill(leave_kib=150)
    collector = world.collector()
    sensor = world.sensor()
    world.play(3000)
    world.wait_held()
    assert collector.stats()["holding"] == 1
    world.wait("all totals", lambda s: s["exported"] >= 2900)
    s = world.stats()
    assert s["lost_disk"] == s["lost_missing"] == s["balance"] == 0
    assert s["written"] < 3000 and s["in_flight"] > 0
    written = s["written"]
    time.sleep(2)  # there is no event to wait for
    assert world.stats()["written"] == written and world.stats()["balance"] == 0
    world.make_room()
    world.wait("all frames", lambda s: s["written"] == 3000)
    collector.expect(OVER)
    assert sensor.finish()[0] == 0
    status, said = collector.finish()
    assert status == 0 and said.count(HOLD) == said.count(OVER) == 1, said
    world.assert_each_once()
    assert_balanced(world.stats(), 3000)
    assert world.stats()["held"] == 0 and world.stats()["held_disk_ns"] > 2e9


def test_the_collector_is_killed_while_it_waits(world):
    """The next collector starts on the full disk, waits too, and continues."""
    world.fill(leave_kib=150)
    world.collector()
    sensor = world.sensor()
    world.play(3000)
    world.wait_held()
    world.now.kill_all()
    world.collector()
    world.wait_held()
    world.play(1000)
    s = world.stats()
    assert s["lost_disk"] == s["lost_missing"] == s["balance"] == 0 and s["in_flight"] > 0
    world.make_room()
    world.wait("all frames", lambda s: s["written"] + s["earlier"] == 4000)
    assert sensor.finish()[0] == 0
    assert world.now.finish()[0] == 0
    s = world.stats()
    assert s["balance"] == s["lost_missing"] == s["lost_disk"] == s["in_flight"] == 0
    world.assert_each_once()


def test_the_collector_is_stopped_while_it_waits(world):
    """Unwritten combos of a stopped collector are not settled: the next one gets them from the
    sensor."""
    world.fill(leave_kib=150)
    world.collector()
    sensor = world.sensor()
    world.play(3000)
    world.wait_held()
    status, said = world.now.finish()
    assert status == 1 and "will be sent again" in said, said
    s = world.stats()
    assert s["balance"] == s["lost_missing"] == s["lost_disk"] == 0 and s["in_flight"] > 0
    world.collector()
    world.wait_held()
    world.make_room()
    world.wait("all frames", lambda s: s["written"] + s["earlier"] == 3000)
    assert sensor.finish()[0] == 0
    assert world.now.finish()[0] == 0
    world.assert_each_once()


@pytest.mark.parametrize("spool", [False, True], ids=["memory", "spool"])
def test_the_sensor_is_killed_while_it_waits(bed, bundled, spool):
    """A killed sensor's ring outlives it, and complete combos of the earlier run are written
    too."""
    options = ["--spool", bed.tmp_path / "spool"] if spool else []
    world = World(bed, bundled, sensor_options=options)
    world.fill(leave_kib=150)
    collector = world.collector()
    sensor = world.sensor()
    world.play(3000)
    world.wait_held()
    world.wait("all totals", lambda s: s["exported"] >= 2900)
    time.sleep(2)  # after a second the store's content is in the spool
    sensor.kill_all()
    sensor = world.sensor()
    world.play(1000)
    time.sleep(1)
    s = world.stats()
    assert s["lost_disk"] == s["balance"] == 0, s
    world.make_room()
    world.wait("the second run", lambda s: s["held"] == 0 and not s["in_flight"])
    status, said = sensor.finish()
    assert status == 0, said
    assert "connected" in said or "session" in said or "no answer" not in said
    assert collector.finish()[0] == 0
    s = world.stats()
    assert s["balance"] == s["lost_disk"] == s["in_flight"] == 0, s
    got = world.numbers()
    assert len(set(got)) == len(got)
    assert len(got) + s["lost_missing"] + s["vanished"] >= 4000
    if spool:
        world.assert_each_once()


def test_held_sensors_are_calm(bed, bundled):
    """During a hold, which may last for hours, the sensor does not send acknowledged combos again,
    and its session continues."""
    world = World(bed, bundled, size="8m")
    world.fill(leave_kib=100)
    collector = world.collector()
    sensor = world.sensor()
    world.play(12000)  # more than 64 combos
    world.wait_held()
    time.sleep(5)
    before = collector.stats()
    time.sleep(10)  # the time of the measurement
    after = collector.stats()
    seconds = after["time"] - before["time"]
    rate = (after["bytes"] - before["bytes"]) / seconds
    print(f"{rate:.0f} bytes/s, {(after['datagrams'] - before['datagrams']) / seconds:.1f} "
          f"datagrams/s while held")
    assert rate < 2000
    assert after["sessions"] == before["sessions"] == 1
    assert world.stats()["in_flight"] > 0 and world.stats()["balance"] == 0
    world.make_room()
    world.wait("all frames", lambda s: s["written"] == 12000)
    status, said = sensor.finish()
    assert status == 0 and "path MTU" not in said and "datagrams of" not in said, said
    assert collector.finish()[0] == 0
    world.assert_each_once()
    assert_balanced(world.stats(), 12000)


def test_one_sensor_does_not_fill_the_disk_for_all(bed, bundled):
    """A sensor whose half megabyte becomes hundreds on the disk is held, which is logged once, and
    the honest sensor's frames are all written."""
    world = World(bed, bundled, size="300m")
    greedy_key = bed.keys.sensor("two")
    collector = world.collector()
    sensor = world.sensor()
    world.play(2000)
    greedy = bed.ns.start(testbed.BUILD / "tests/greedy", greedy_key, "5600", "3000", "20",
                          stdout=subprocess.PIPE)
    collector.expect("sensor two: has used its share of the disk", 30)
    two = lambda: collector.sensor_stats("two")
    testbed.wait_for(lambda: (two() or {}).get("held"), "the hold")
    world.play(9368)
    world.wait("the honest sensor's frames", lambda s: s["written"] == world.played, 10)
    free = int(bed.ns.run("stat", "-f", "-c", "%a", world.disk, capture_output=True).stdout) * 4096
    sent, sent_bytes, _ = map(int, greedy.communicate(timeout=60)[0].split())
    print(f"greedy sent {sent_bytes} bytes in {sent} datagrams; {free >> 20} MiB are free")
    assert free > 300e6 / 4
    assert collector.stats()["holds"] == 0
    assert two()["held"] and two()["held_disk_ns"] > 1e9
    assert two()["lost_disk"] == two()["balance"] == 0
    assert sensor.finish()[0] == 0
    status, said = collector.finish()
    assert status == 0 and said.count("has used its share") == 1, said
    assert_balanced(world.stats(), world.played)
    got = world.numbers(linktype=1)
    assert sorted(got) == list(range(world.played))


def test_idle_sensors_take_nothing_of_the_disk(bed, bundled):
    """With forty idle sensors, another one can write four fifths of the disk as fast as it can, and
    is not held."""
    idle = [bed.keys.sensor(f"idle-{i}") for i in range(40)]
    world = World(bed, bundled, size="100m")
    size = world.free()
    collector = world.collector("--keep-free", "0")
    public = sw.public(secret_of(bed.keys.collector))
    for number, file in enumerate(idle):
        sensor = ends.Sensor(bed.ns, ("127.0.0.1", 5600), secret_of(file), public, seed=number + 5)
        sensor.set_up()
        sensor.say(sensor.totals(0))
        sensor.work(0.05)
    frames = list(captures.frames(bundled))
    file = bed.tmp_path / "large.pcap"
    write_pcap(file, 127, frames * 200)
    reader = bed.reader("lib", file, options=["--keep", "all", "-s", "32768"])
    status, said = reader.finish(0, 60)
    assert status == 0, said
    status, said = collector.finish()
    assert status == 0 and "has used its share" not in said, said
    assert collector.sensor_stats("lib")["held_disk_ns"] == 0
    assert_balanced(world.stats(), len(frames) * 200)
    assert world.free() < size / 4, "the test has used the disk"


def test_one_that_was_alone_leaves_a_reserve(bed, bundled):
    """A bad sensor is alone until the disk is full, and a sensor that comes later still finds room.
    The bad one continues when there is more."""
    world = World(bed, bundled, size="200m")
    size = world.free()
    world.fill(leave_kib=size // 1024 // 2)
    collector = world.collector("--keep-free", "5%")
    greedy = bed.ns.start(testbed.BUILD / "tests/greedy", bed.keys.sensor("two"), "5600", "3000", "30",
                          stdout=subprocess.PIPE)
    bed.stack.callback(greedy.kill)
    two = lambda: collector.sensor_stats("two")
    collector.expect("sensor two: has used its share of the disk", 30)
    assert world.free() < size / 10, "it has used what it may"
    sensor = world.sensor()
    world.play(2000)
    world.wait("the honest sensor's frames", lambda s: s["written"] == world.played, 10)
    assert collector.stats()["holds"] == 0 and two()["held"]
    assert world.free() > size / 20
    written = two()["written"]
    world.make_room()
    testbed.wait_for(lambda: two()["written"] > written, "the other's frames", 5)
    testbed.wait_for(lambda: two()["held"] and world.free() < size / 10, "the reserve again", 30)
    assert world.free() > size / 20
    greedy.kill()
    greedy.wait()
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    assert_balanced(world.stats(), world.played)
    assert sorted(world.numbers()) == list(range(world.played))


def test_keep_free(bed, bundled):
    """--keep-free leaves space for the machine's other services."""
    world = World(bed, bundled, size="8m")
    collector = world.collector("--keep-free", "60%")
    sensor = world.sensor()
    world.play(24000)
    collector.expect("out.pcapng: no room above the 5033 kB of --keep-free; " + HOLD, 30)
    free = lambda: int(bed.ns.run("stat", "-f", "-c", "%a", world.disk,
                                  capture_output=True).stdout) * 4096
    assert free() >= 0.6 * (8 << 20), free()
    world.wait_held()
    assert collector.stats()["keep_free"] == pytest.approx(0.6 * (8 << 20), rel=0.01)
    world.now.finish()
    assert free() >= 0.6 * (8 << 20), free()
    collector = world.collector("--keep-free", "0")
    world.wait("all frames", lambda s: s["written"] + s["earlier"] == 24000)
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    world.assert_each_once()


@pytest.mark.parametrize("options", [(), ("-G", 3600), ("-C", 1000)], ids=["folder", "time", "size"])
def test_the_largest_file(bed, bundled, options):
    """A file at its largest size is no full disk: the next file begins before, and no sensor
    waits."""
    world = World(bed, bundled, size="64m")
    collector = testbed.Collector(bed.ns, bed.keys, world.disk, options=options,
                                  before=["prlimit", "--fsize=2000000"])
    world.now = collector
    sensor = world.sensor()
    world.play(24000)
    world.wait("all frames", lambda s: s["written"] == 24000)
    assert collector.stats()["holds"] == 0
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    assert_balanced(world.stats(), 24000)
    files = bed.ns.run("sh", "-c", f"ls {world.disk}/*.pcapng; cp {world.disk}/*.pcapng {bed.tmp_path}",
                       capture_output=True).stdout.split()
    assert len(files) > 2
    got = [int.from_bytes(f.data[6:12], "big") for name in files
           for f in captures.frames(bed.tmp_path / name.rsplit("/", 1)[1])]
    assert got == list(range(24000))


def test_one_file_that_is_the_largest(bed, bundled):
    """If a single file has its largest size, sensors keep the frames that do not fit, and the log
    tells the operator how to continue."""
    world = World(bed, bundled, size="64m")
    collector = testbed.Collector(bed.ns, bed.keys, world.disk / "out.pcapng",
                                  before=["prlimit", "--fsize=500000"])
    world.now = collector
    sensor = world.sensor()
    world.play(6000)
    collector.expect("out.pcapng: may not grow any more; sensors keep their frames; start again with")
    s = world.stats()
    assert s["lost_disk"] == s["balance"] == 0
    collector.finish()
    collector = testbed.Collector(bed.ns, bed.keys, world.disk / "out.pcapng")
    world.now = collector
    world.wait("all frames", lambda s: s["written"] + s["earlier"] == 6000)
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    world.assert_each_once()


def test_a_store_that_overflows_meanwhile(bed, bundled):
    """Only frames that the sensor gives up are missing."""
    world = World(bed, bundled, size="4m", sensor_options=["--store-bytes", "1M", "-B", "64"])
    world.fill(leave_kib=100)
    collector = world.collector()
    sensor = world.sensor()
    world.play(24000)
    world.wait_held()
    world.wait("the first that is given up", lambda s: s["dropped_store"] > 0)
    assert world.stats()["balance"] == 0
    world.bed.ns.run("mount", "-o", "remount,size=64m", world.disk)
    world.make_room()
    world.wait("the rest", lambda s: not s["in_flight"] and s["written"] > 5000)
    status, said = sensor.finish()
    assert status == 0, said
    assert collector.finish()[0] == 0
    s = world.stats()
    assert s["balance"] == s["lost_disk"] == s["in_flight"] == 0, s
    assert 0 < s["lost_missing"] <= s["dropped_store"], s
    assert s["written"] + s["lost_missing"] + s["ring_full"] == 24000, s
    got = world.numbers()
    assert len(got) == len(set(got)) == s["written"]


def test_a_store_that_overflows_into_a_spool(bed, bundled):
    """The spool has room for all, so no frame is lost."""
    world = World(bed, bundled, size="64m",
                  sensor_options=["--store-bytes", "1M", "--spool", bed.tmp_path / "spool"])
    world.fill(leave_kib=100)
    collector = world.collector()
    sensor = world.sensor()
    world.play(24000)
    world.wait_held()
    world.wait("all totals", lambda s: s["seen"] == 24000)
    world.make_room()
    world.wait("all frames", lambda s: s["written"] == 24000)
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    world.assert_each_once()
    assert_balanced(world.stats(), 24000)


def test_one_way_sensors_cannot_wait(bed, bundled):
    """One-way sensors cannot be told to keep their frames: these count exactly as lost to the
    disk."""
    world = World(bed, bundled, size="4m")
    lines = bed.keys.sensors.read_text().splitlines()
    bed.keys.sensors.write_text("\n".join(x + " one-way" if x.startswith("lib ") else x
                                          for x in lines) + "\n")
    world.fill(leave_kib=100)
    collector = world.collector()
    sensor = world.bed.sensor("lib", "tap0", key=world.key,
                              options=["--combo-age", "100", "--one-way"])
    world.play(8000)
    collector.expect(HOLD)
    world.wait("losses", lambda s: s.get("lost_disk"))
    assert world.stats()["balance"] == 0
    world.make_room()
    collector.expect(OVER)
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    s = world.stats()
    assert s["balance"] == s["lost_missing"] == s["in_flight"] == s["held"] == 0, s
    assert 0 < s["written"] == 8000 - s["lost_disk"] == len(world.numbers()), s


def test_state_and_statistics_on_a_full_disk(bed, bundled):
    """State and statistics are replaced even on a completely full disk, so a collector can be
    restarted there, waits, and continues."""
    world = World(bed, bundled, size="2m")
    inside = world.disk / "stats.json"
    read = lambda name: bed.ns.run("cat", world.disk / name, check=False,
                                   capture_output=True).stdout
    stats = lambda: json.loads(read("stats.json"))

    def lib():
        text = read("stats.json")
        found = json.loads(text)["sensors"] if text else []
        return collections.defaultdict(int, found[0] if found else {})

    collector = world.collector("--stats-file", inside)
    sensor = world.sensor()
    world.play(1000)
    testbed.wait_for(lambda: lib()["written"] == 1000, "frames")
    bed.ns.run("sh", "-c", f"cat /dev/zero > {world.disk}/ballast", check=False, capture_output=True)
    free = lambda: bed.ns.run("stat", "-f", "-c", "%a", world.disk,
                              capture_output=True).stdout.strip()
    assert free() == "0"
    world.play(2000)
    collector.expect(HOLD)
    for _ in range(3):  # from one file to the other and back
        then = stats()["time"]
        testbed.wait_for(lambda: stats()["time"] > then, "new statistics")
        assert stats()["holding"] == 1 and free() == "0"
    status, said = collector.finish()
    assert status == 1 and "cannot be written" not in said, said
    first = read("out.pcapng.state")
    assert first.split("end ")[0].count("run ") == 1
    assert lib()["balance"] == 0
    collector = world.collector("--stats-file", inside)
    collector.expect(HOLD)
    testbed.wait_for(lambda: lib()["in_flight"] >= 1900, "the session", 20)
    status, said = collector.finish()
    assert "cannot be written" not in said and "damaged" not in said, said
    assert read("out.pcapng.state") != first and free() == "0"
    collector = world.collector("--stats-file", inside)
    collector.expect(HOLD)
    bed.ns.run("mount", "-o", "remount,size=64m", world.disk)
    world.make_room()
    testbed.wait_for(lambda: lib()["written"] + lib()["earlier"] == 3000, "all frames", 20)
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    assert lib()["balance"] == 0
    world.assert_each_once()
