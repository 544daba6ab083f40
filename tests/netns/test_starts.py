# SPDX-License-Identifier: GPL-2.0
"""Starts: a sensor gets its session at once, however often it is started. Also two sensors with one
key, and the messages of both sides about a sensor without a session. End to end;
tests/unit/test_session_receive.c and test_session.c test every step."""
import itertools
import struct
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.live import long_trace, written
from netns.test_one_way import allow
from reference import captures
from reference.test_reference import write_pcap

STARTS = 500
START_SECONDS = 1.5
FRAMES = 3


@pytest.mark.long
def test_500_starts_with_one_key(bed):
    """Each of 500 starts with one key gets a session, as in a loop over files or under a
    supervisor, though the collector restarts in the middle."""
    path = bed.tmp_path / "few.pcap"
    write_pcap(path, 127, itertools.islice(captures.frames(captures.BUNDLED), FRAMES))
    began, slowest = time.monotonic(), 0
    for _ in range(2):
        collector = bed.collector()
        for _ in range(STARTS // 2):
            start = time.monotonic()
            status, said = bed.reader("lib", path).finish(signo=None)
            slowest = max(slowest, time.monotonic() - start)
            assert status == 0, said
        assert collector.finish()[0] == 0
        assert_balanced(collector.sensor_stats("lib"), STARTS // 2 * FRAMES)
    took = time.monotonic() - began
    print(f"{STARTS} starts in {took:.1f} s, the slowest {slowest:.2f} s")
    assert slowest < START_SECONDS and took < 120
    assert len(list(captures.frames(bed.out))) == STARTS * FRAMES


def other_machine(bed, args):
    """Runs a command as on another machine: with another boot id."""
    boot_id = bed.tmp_path / "boot_id"
    boot_id.write_text("5f5c2e5e-0000-4000-8000-000000000000\n")
    boot_id.chmod(0o644)
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            f'mount --bind {boot_id} /proc/sys/kernel/random/boot_id && exec "$@"', "sh", *args]


def test_a_copied_key(bed):
    """Another machine with a connected sensor's key has to wait; both sides report this."""
    collector = bed.collector()
    path, _ = long_trace(bed, 4)
    players = [bed.tun(f"mon{n}", 803, path, ["--rate", "200"]) for n in range(2)]
    sensor = bed.sensor("lib", "mon0")
    players[0].go()
    testbed.wait_for(lambda: written(collector), "frames of the first")
    copy = testbed.Process(bed.ns, other_machine(bed, [
        testbed.BUILD / "saluki", "run", "-i", "mon1", "--to", "127.0.0.1:5600", "--key",
        bed.keys.sensor("lib")]), "another machine uses this sensor's key")
    bed.stack.callback(copy.kill)
    said = collector.expect("two machines use its key")
    assert said.count("127.0.0.1:") >= 2
    players[1].go()
    counts = [p.stop() for p in players]
    assert sensor.finish()[0] == 0
    copy.expect("connected; it did not answer before")
    status, said = copy.finish()
    assert status == 0, said
    status, said = collector.finish()
    assert status == 0 and said.count("two machines use its key") == 1, said
    assert_balanced(collector.sensor_stats("lib"), sum(counts))


def test_a_copied_key_of_a_one_way_sensor(bed):
    """A one-way sensor with a copied key cannot be told; the collector names the key, and does not
    ask for another."""
    allow(bed, "lib")
    collector = bed.collector()
    path, _ = long_trace(bed, 4)
    players = [bed.tun(f"mon{n}", 803, path, ["--rate", "100"]) for n in range(2)]
    sensor = bed.sensor("lib", "mon0", options=["--one-way"])
    players[0].go()
    testbed.wait_for(lambda: written(collector), "frames of the first")
    copy = testbed.Process(bed.ns, other_machine(bed, [
        testbed.BUILD / "saluki", "run", "-i", "mon1", "--to", "127.0.0.1:5600", "--key",
        bed.keys.sensor("lib"), "--one-way"]), "capturing by")
    bed.stack.callback(copy.kill)
    players[1].go()
    said = collector.expect("two machines use its key", 30)
    line = next(l for l in said.splitlines() if "two machines" in l)
    assert line.count("127.0.0.1:") == 2 and "and loses its frames" in line, line
    since, before = time.monotonic(), collector.stats()["not_ours"]
    # For longer than it takes until datagrams that open under no key are logged.
    testbed.wait_for(lambda: time.monotonic() - since > 15 and
                     collector.stats()["not_ours"] > before + 20, "refused datagrams", 40)
    counts = [p.stop() for p in players]
    assert copy.finish()[0] == sensor.finish()[0] == 0 and counts[1]
    status, said = collector.finish()
    assert status == 0 and said.count("two machines use its key") == 1, said
    assert "under no key" not in said, said
    stats = collector.sensor_stats("lib")
    assert stats["seen"] == counts[0] and stats["balance"] == 0, stats


def test_two_processes_with_one_key(bed):
    """Two processes on one machine take the session from each other. This is logged, and each frame
    counts once."""
    collector = bed.collector()
    path, _ = long_trace(bed, 8)
    players = [bed.tun(f"mon{n}", 803, path, ["--rate", "200"]) for n in range(2)]
    sensors = [bed.sensor("lib", f"mon{n}") for n in range(2)]
    for p in players:
        p.go()
    collector.expect("two processes use its key in turn", 60)
    counts = [p.stop() for p in players]
    for s in sensors:
        assert s.finish()[0] == 0
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert stats["runs"] == 2 and stats["seen"] == sum(counts), stats
    lost = stats["lost_missing"]  # under way during the takeover
    assert_balanced(stats, sum(counts), lost_missing=lost)
    assert len(list(captures.frames(bed.out))) == sum(counts) - lost


RESUMED = b"change@/devices/vmgenid\0ACTION=change\0DEVPATH=/devices/vmgenid\0SUBSYSTEM=acpi\0%s\0"
SEND_UEVENT = """import socket, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15)
s.sendto(bytes.fromhex(sys.argv[1]), (0, 0))
"""


def uevent(bed, variable):
    """The namespace's kernel sends it to all listeners there (lib/kobject_uevent.c)."""
    event = RESUMED % variable
    header = struct.pack("=IHHII", 16 + len(event), 0x10, 1, 0, 0)  # nlmsghdr: NLM_F_REQUEST
    bed.ns.run("python3", "-c", SEND_UEVENT, (header + event).hex())


@pytest.mark.parametrize("options", [(), ("--one-way",)])
def test_a_machine_that_is_resumed(bed, options):
    """A resumed machine makes new keys at once, and loses no frame."""
    if options:
        allow(bed, "lib")
    collector = bed.collector()
    path, _ = long_trace(bed, 4)
    player = bed.tun("mon0", 803, path, ["--rate", "200"])
    sensor = bed.sensor("lib", "mon0", options=options)
    player.go()
    testbed.wait_for(lambda: written(collector), "frames", 30)
    before = collector.stats()["sessions"]
    uevent(bed, b"NEW_VMGENID=10")
    uevent(bed, b"NEW_VMGENID=1")
    sensor.expect("this machine was resumed from a snapshot")
    testbed.wait_for(lambda: collector.stats()["sessions"] == before + 1, "a new session", 30)
    count = player.stop()
    status, said = sensor.finish()
    assert status == 0 and said.count("resumed from a snapshot") == 1, said
    assert collector.finish()[0] == 0
    assert_balanced(collector.sensor_stats("lib"), count)


@pytest.mark.parametrize("fault, sensor_says, collector_says", [
    ("no collector", "nothing listens there; check that saluki-collector is running", None),
    ("wrong key", "no answer; check that it is running, the path there takes datagrams of 1232 "
     "bytes, and --key has its public key", "listening on"),
    ("not listed", "it answers, but sets no session up; check that this sensor's public key",
     "is not in --sensors")])
def test_why_there_is_no_session(bed, bundled, fault, sensor_says, collector_says):
    collector = None if fault == "no collector" else bed.collector()
    key = bed.keys.sensor("stranger", listed=False)
    if fault == "wrong key":
        other = testbed.public_of(bed.keys.sensor("lib").read_text().splitlines()[0])
        key.write_text(key.read_text().splitlines()[0] + "\n" + other + "\n")
    status, said = bed.reader("stranger", bundled, key=key).finish(signo=None)
    assert status == 1 and sensor_says in said, said
    if collector:
        assert collector_says in collector.finish()[1]
