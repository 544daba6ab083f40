# SPDX-License-Identifier: GPL-2.0
"""Keys are changed under load: the collector's and the sensors'. Each frame is written once, and no sensor is
enrolled again."""
import collections
import re
import signal

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_restart import numbered, written
from netns.test_spool import World
from netns.test_swarm import COMBOS, COUNT, Swarm, balanced_sensors, listed
from reference import captures
from reference.test_reference import write_pcap

FRAMES = 20000
NAMES = ("lib", "two", "room-0")


class Rotation:
    """A collector's old and new key, and collectors that have them."""

    def __init__(self, bed):
        self.bed = bed
        self.old = bed.keys.collector
        self.old_public = bed.keys.collector_public
        self.new = bed.tmp_path / "new.key"
        self.new_public = bed.keys._pair(self.new)
        self.write = bed.tmp_path / "captures"
        self.write.mkdir()

    def collector(self, *keys, **kwargs):
        self.bed.keys.collector = keys[0]
        more = [word for key in keys[1:] for word in ("--key", key)]
        return self.bed.collector(self.write, options=more, **kwargs)

    def trust(self, name):
        return self.bed.tmp_path / f"{name}.keys"

    def options(self, name):
        return ["--collector-keys", self.trust(name)]

    def trusts(self, name):
        """The keys in the sensor's file."""
        path = self.trust(name)
        lines = [line for line in path.read_text().splitlines() if line] if path.exists() else []
        return lines[-1].split()[2:] if lines else []

    def frames(self):
        return [f for path in sorted(self.write.glob("*.pcapng")) for f in captures.frames(path)]


@pytest.fixture(name="keys")
def fixture_keys(bed):
    return Rotation(bed)


def wire(bed, bundled):
    frames = numbered(bundled, FRAMES)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    return frames


def cable(bed, number, rate):
    testbed.veth(bed.ns, f"veth{number}", bed.ns, f"tap{number}")
    return bed.sender(f"veth{number}", bed.tmp_path / "wire.pcap", ["--rate", str(rate)])


def more_written(collector, name, seconds=40):
    at = (collector.sensor_stats(name) or {}).get("written", 0)
    testbed.wait_for(lambda: (collector.sensor_stats(name) or {}).get("written", 0) > at, f"{name}'s frames", seconds)


def assert_once(collector, name, count):
    stats = collector.sensor_stats(name)
    assert stats["earlier"] + stats["written"] == count, stats
    assert_balanced(stats, count, earlier=stats["earlier"])


def test_the_collectors_key_under_load(bed, bundled, keys):
    """Three sensors learn the new key from the collector, and then trust only it. One of them was off when the
    others learnt it."""
    wire(bed, bundled)
    senders = [cable(bed, i, 700) for i in range(len(NAMES))]
    collector = keys.collector(keys.old)
    run = {name: bed.sensor(name, f"tap{i}", options=keys.options(name)) for i, name in enumerate(NAMES[:2])}
    for sender in senders[:2]:
        sender.go()
    for name in NAMES[:2]:
        more_written(collector, name)
    assert collector.finish()[0] == 0

    collector = keys.collector(keys.new, keys.old)
    for name in NAMES[:2]:
        testbed.wait_for(lambda name=name: keys.trusts(name) == [keys.new_public, keys.old_public], "the keys", 30)
    assert not keys.trusts("room-0") and "sensors know" not in collector.said
    run["room-0"] = bed.sensor("room-0", "tap2", options=keys.options("room-0"))
    senders[2].go()
    testbed.wait_for(lambda: keys.trusts("room-0") == [keys.new_public, keys.old_public], "the late one's keys", 30)
    more_written(collector, "room-0")
    assert collector.finish()[0] == 0

    collector = keys.collector(keys.new)
    for name in NAMES:
        testbed.wait_for(lambda name=name: keys.trusts(name) == [keys.new_public], "the new key only", 30)
        more_written(collector, name)
    for sender in senders:
        assert sender.played() == FRAMES
    for name in NAMES:
        status, said = run[name].finish()
        assert status == 0, said
        assert "connected again" in said, said
    assert collector.finish()[0] == 0
    for name in NAMES:
        assert_once(collector, name, FRAMES)
    numbers = collections.Counter(f.data[6:12] for f in keys.frames())
    assert len(numbers) == FRAMES and set(numbers.values()) == {len(NAMES)}

    # A process that is started again reads the file: its key file has the old key.
    collector = keys.collector(keys.new)
    again = bed.reader("lib", bundled, options=keys.options("lib"))
    assert again.finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0


def test_all_sensors_know_the_key(bed, bundled, keys):
    """The collector says when the old key can go. Sensors that it has not told keep it from that."""
    bed.keys.sensors.write_text("".join(line for line in bed.keys.sensors.read_text().splitlines(True)
                                        if re.match("lib |two ", line)))
    bed.keys.sensor("lib")
    collector = keys.collector(keys.new, keys.old)
    wire(bed, bundled)
    cable(bed, 0, 1000)
    cable(bed, 1, 1000)
    first = bed.sensor("lib", "tap0", options=keys.options("lib"))
    testbed.wait_for(lambda: keys.trusts("lib"), "the keys", 30)
    second = bed.sensor("two", "tap1")  # without --collector-keys
    said = collector.expect("sensor two: does not learn the first --key: not allowed: this sensor runs without "
                            "--collector-keys; add the key to its key file", 30)
    assert "all 2 sensors know" not in said
    collector.expect_again(signal.SIGUSR1, "keys: 1 of 2 sensors know the first --key; not known of two\n")
    assert second.finish()[0] == 0
    with bed.keys.sensor("two").open("a") as f:
        f.write(f"next {keys.new_public}\n")
    second = bed.sensor("two", "tap1")
    collector.expect("all 2 sensors know the first --key; the second one is no longer needed", 30)
    assert first.finish()[0] == second.finish()[0] == 0
    assert collector.finish()[0] == 0


def test_both_keys_in_the_key_file(bed, bundled, keys):
    """By hand: the key file has the next key too. The sensor tries both, and says which one answered."""
    with bed.keys.sensor("lib").open("a") as f:
        f.write(f"next {keys.new_public}\n")
    for key, public in ((keys.old, keys.old_public), (keys.new, keys.new_public)):
        collector = keys.collector(key)
        status, said = bed.reader("lib", bundled).finish(signo=None)
        assert status == 0 and f"(its key {public[:8]})" in said, said
        assert collector.finish()[0] == 0
    assert len(keys.frames()) == 2 * len(list(captures.frames(bundled)))


def test_an_enrolled_sensor_changes_keys(bed, bundled, keys):
    """With a config file, a preshared key, and a collector whose first key is in its config file."""
    bed.ns.run(testbed.BUILD / "saluki-collector", "enrol", "--sensors", bed.keys.sensors, "--control",
               bed.tmp_path / "ctl", "--key", keys.old, "--to", "127.0.0.1:5600", "--psk", "--out", bed.tmp_path / "new",
               "one", capture_output=True)
    config = bed.tmp_path / "new/one.conf"
    with config.open("a") as f:
        f.write(f"collector-keys = {keys.trust('one')}\n")
    own = bed.tmp_path / "collector.conf"
    own.touch(mode=0o600)
    own.write_text(f"listen = 127.0.0.1:5600\nkey-text = {keys.new.read_text()}sensors = {bed.keys.sensors}\n"
                   f"write = {keys.write}\n")
    program = testbed.BUILD / "saluki-collector"
    collector = testbed.Process(bed.ns, [program, "--config", own, "--key", keys.old], "listening on")
    bed.stack.callback(collector.kill)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    sensor = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", "--config", config, "-i", "tap0"], "connected")
    bed.stack.callback(sensor.kill)
    testbed.wait_for(lambda: keys.trusts("one") == [keys.new_public, keys.old_public], "the keys", 30)
    assert sensor.finish()[0] == 0 and collector.finish()[0] == 0
    collector = testbed.Process(bed.ns, [program, "--config", own], "listening on")
    bed.stack.callback(collector.kill)
    sensor = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", "--config", config, "-r", bundled], None)
    status, said = sensor.finish(signo=None)
    assert status == 0, said
    assert collector.finish()[0] == 0
    assert_same(list(captures.frames(bundled)), keys.frames())


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_sensors_key_under_load(bed, bundled, keys, how):
    """A sensor that continues an attached capture takes its next key at its restart."""
    frames = wire(bed, bundled)
    sender = cable(bed, 0, 1500)
    old = bed.keys.sensor("lib")
    new = bed.tmp_path / "lib-new.key"
    public = bed.keys._pair(new, bed.keys.collector_public + "\n")
    collector = keys.collector(keys.old)
    bed.ns.run(testbed.BUILD / "saluki", "attach", "-i", "tap0", "-B", "16384", capture_output=True)
    sensor = bed.sensor("lib", "tap0", key=old, options=["-B", "16384"])
    sender.go()
    more_written(collector, "lib")
    whole = bed.keys.sensors.read_text()
    bed.keys.sensors.write_text(re.sub(r"(?m)^(lib \d+ \S+) *$", rf"\1 next={public}", whole))
    collector.expect_again(signal.SIGHUP, "read again")
    more_written(collector, "lib")  # its session continues
    if how == "killed":
        sensor.kill_all()
    else:
        assert sensor.finish()[0] == 0
    sensor = bed.sensor("lib", "tap0", key=new, options=["-B", "16384"])
    collector.expect("sensor lib: uses its next key; its old key in --sensors is no longer needed", 20)
    more_written(collector, "lib")
    bed.keys.sensors.write_text(re.sub(r"(?m)^(lib \d+) \S+ *$", rf"\1 {public}", whole))
    sessions = collector.stats()["sessions"]
    collector.expect_again(signal.SIGHUP, "read again")
    more_written(collector, "lib")
    assert sender.played() == FRAMES
    testbed.wait_for(lambda: collector.sensor_stats("lib")["written"] == FRAMES, "all frames", 40)
    assert collector.stats()["sessions"] == sessions  # the change of the list ends none
    assert sensor.finish()[0] == 0
    bed.ns.run(testbed.BUILD / "saluki", "detach", "-i", "tap0", capture_output=True)
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, FRAMES)
    assert stats["runs"] == 1
    assert_same(frames, keys.frames(), stamps=False)


def test_two_hundred_sensors(bed, bundled, keys):
    """200 sensors change to the collector's new key, while they send and renew sessions."""
    listed(bed)
    collector = keys.collector(keys.old)
    swarm = Swarm(bed, "-r", bundled, "--combos", COMBOS, "--seconds", 600, "--rate", 400, "--renew", 5)
    swarm.expect(f"all {COUNT} sensors have set up a session", 60)
    assert collector.finish()[0] == 0
    collector = keys.collector(keys.new, keys.old)
    collector.expect(f"all {COUNT} sensors know the first --key; the second one is no longer needed", 60)
    assert collector.finish()[0] == 0
    swarm.said = ""
    swarm.send_signal(signal.SIGUSR1)
    swarm.expect("counting sessions from now on")
    collector = keys.collector(keys.new)
    swarm.expect(f"all {COUNT} sensors have set up a session", 60)
    swarm.expect(f"all {COUNT * COMBOS} combos are settled", 120)
    status, report = swarm.report(signal.SIGINT)
    assert status == 0 and report["lost_sessions"] >= COUNT, report
    assert report["sensors_done"] == COUNT and report["frames"] == report["frames_settled"] > 0, report
    assert collector.finish()[0] == 0
    balanced_sensors(collector, COUNT, report["frames"])
    assert len(keys.frames()) == report["frames"]


def test_what_is_spooled_survives_a_sensors_new_key(bed, bundled, keys):
    """The spool's key was wrapped with the sensor's old key, which is listed until the spool is empty."""
    w = World(bed)
    frames = numbered(bundled, 3000)
    sensor = w.sensor()
    w.play(frames[:2000])
    w.wait_spooled(2000)
    sensor.kill_all()
    w.key = bed.tmp_path / "lib-new.key"
    public = bed.keys._pair(w.key, bed.keys.collector_public + "\n")
    bed.keys.sensors.write_text(re.sub(r"(?m)^(lib \d+ \S+) *$", rf"\1 next={public}", bed.keys.sensors.read_text()))
    collector = keys.collector(keys.old)
    sensor = w.sensor()
    w.play(frames[2000:])
    testbed.wait_for(lambda: written(collector) == len(frames), "frames", 60)
    w.wait_empty()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(frames))
    assert_same(frames, keys.frames(), stamps=False)


def test_what_is_spooled_survives_the_collectors_new_key(bed, bundled, keys):
    """Only an old key had been wrapped with when the sensor started, and it is gone when another process forwards the
    combos."""
    w = World(bed, keys.options("lib"))
    frames = numbered(bundled, 4000)
    collector = keys.collector(keys.old)
    sensor = w.sensor()
    w.play(frames[:1000])
    testbed.wait_for(lambda: written(collector) == 1000, "frames", 30)
    for own in ((keys.new, keys.old), (keys.new,)):
        assert collector.finish()[0] == 0
        collector = keys.collector(*own)
        public = [{keys.new: keys.new_public, keys.old: keys.old_public}[key] for key in own]
        testbed.wait_for(lambda public=public: keys.trusts("lib") == public, "the keys", 30)
    assert collector.finish()[0] == 0
    w.play(frames[1000:3000])
    w.wait_spooled(2000)
    sensor.kill_all()
    sensor = w.sensor()
    collector = keys.collector(keys.new)
    w.play(frames[3000:])
    testbed.wait_for(lambda: written(collector) == 3000, "frames", 60)
    w.wait_empty()
    status, said = sensor.finish()
    assert status == 0 and "cannot open" not in said, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == stats["lost_missing"] == stats["bad_combos"] == 0, stats
    assert_same(frames, keys.frames(), stamps=False)
