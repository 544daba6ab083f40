# SPDX-License-Identifier: GPL-2.0
"""saluki filter: a new filter during the capture, with every source, with an agent and without."""
import os
import signal
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_same
from netns.test_restart import numbered, written
from reference import captures
from reference.test_reference import write_pcap

# Even and odd numbers of numbered(): the last bit of the source address.
EVEN, ODD = "ether[11] & 1 = 0", "ether[11] & 1 = 1"


def refilter(bed, *words, interface="tap0"):
    return bed.ns.run(testbed.BUILD / "saluki", "filter", "-i", interface, *words, check=False,
                      capture_output=True)


def number(frame):
    return int.from_bytes(frame.data[6:12], "big")


@pytest.fixture
def wire(bed, bundled):
    frames = numbered(bundled, 20000)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    return frames


@pytest.mark.parametrize("options", [("--source", "xdp"), ("--source", "tc"),
                                     ("--ring", "mapped"), ("--source", "xsk"),
                                     ("--source", "mmap")])
def test_under_load(bed, wire, options):
    """One filter or the other judges every frame. Frames that both take are all there, once, and
    the counters have each frame's fate."""
    collector = bed.collector()
    both = "ether[10:2] & 7 < 4"  # half of all, whichever of the two is in force
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384", *options, f"{both} or {EVEN}"])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "5000"])
    sender.go()
    testbed.wait_for(lambda: written(collector) > 100, "frames")
    for n in range(20):
        done = refilter(bed, f"{both} or {(ODD, EVEN)[n % 2]}")
        assert done.returncode == 0, done.stderr
    count = sender.stop()
    status, said = sensor.finish()
    assert status == 0 and said.count("from now on") == 20, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    got = list(captures.frames(bed.out))
    numbers = [number(f) for f in got]
    assert stats["balance"] == 0 and stats["seen"] == count
    assert stats["filtered"] == count - len(got) > 0
    assert numbers == sorted(set(numbers))
    assert {n for n in range(count) if n & 7 < 4} <= set(numbers)
    assert_same([wire[n] for n in numbers], got, stamps=False)


@pytest.mark.long
def test_an_agent_that_does_not_listen(bed, wire):
    """A full socket to the other process does not stop the privileged process: it continues, and
    obeys signals."""
    bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["--source", "tc"])
    unprivileged, = testbed.with_children(sensor.pid())[1:]
    os.kill(unprivileged, signal.SIGSTOP)
    for n in range(400):
        done = refilter(bed, (ODD, EVEN)[n % 2])
        assert done.returncode == 0, done.stderr
    sensor.send_signal(signal.SIGTERM)
    time.sleep(1.2)  # it does not insist before: PRIVSEP_INSIST_NS
    sensor.send_signal(signal.SIGTERM)
    status, said = sensor.finish(signo=None)
    assert status == 1 and "ended by signal 9" in said, said


@pytest.mark.parametrize("source", ["xdp", "tc", "mmap"])
def test_the_first_filter_under_load(bed, wire, source):
    """In a run that began without a filter, every frame refused from the first one on is counted
    exactly."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384", "--source", source])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    sender.go()
    testbed.wait_for(lambda: written(collector) > 100, "frames")
    assert refilter(bed, EVEN).returncode == 0
    assert sender.played() == len(wire)
    assert sensor.finish()[0] == 0
    collector.finish()
    stats = collector.sensor_stats("lib")
    numbers = [number(f) for f in captures.frames(bed.out)]
    heard = set(numbers)
    first = next(n for n in range(1, len(wire), 2) if n not in heard)
    assert stats["balance"] == 0 and stats["seen"] == len(wire)
    assert stats["filtered"] == len(wire) - len(numbers) > 0
    assert numbers == [n for n in range(len(wire)) if n < first or n % 2 == 0]


def test_attached_without_an_agent(bed, wire):
    """The programs are replaced in place; the next run keeps the filter."""
    collector = bed.collector()
    assert "nothing is attached" in refilter(bed, "ip").stderr
    attach = bed.ns.run(testbed.BUILD / "saluki", "attach", "-i", "tap0", "-B", "16384", EVEN,
                        check=False, capture_output=True)
    assert attach.returncode == 0, attach.stderr
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "50000"])
    assert sender.play() == len(wire)
    assert refilter(bed, ODD).returncode == 0
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "50000"])
    assert sender.play() == len(wire)
    other = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", "-i", "tap0", "--to",
                                     "127.0.0.1:5600", "--key", bed.keys.sensor("lib"), EVEN], None)
    status, said = other.finish(signo=None)
    assert status == 1 and "another filter" in said and "saluki filter" in said
    sensor = bed.sensor("lib", "tap0")
    assert f"filter '{ODD}'" in sensor.expect("filter '")
    testbed.wait_for(lambda: written(collector) == len(wire), "the ring's frames", 20)
    assert sensor.finish()[0] == 0
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == stats["in_ring"] == 0 and stats["seen"] == 2 * len(wire)
    numbers = [number(f) for f in captures.frames(bed.out)]
    half = len(wire) // 2
    assert numbers[:half] == list(range(0, len(wire), 2))
    assert numbers[half:] == list(range(1, len(wire), 2))
    assert bed.ns.run(testbed.BUILD / "saluki", "detach", "-i", "tap0",
                      capture_output=True).returncode == 0


def test_what_it_refuses(bed, wire):
    """A refused filter changes nothing; '' takes every frame."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=[EVEN])
    code = bed.tmp_path / "code"
    for words, status, said in [
            (["ip and"], 1, "can't parse"), ([], 2, "give an expression"),
            (["--filter-code", code, "ip"], 2, f"--filter-code {code}: No such file"),
            (["wlan type mgt"], 1, "802.11")]:
        done = refilter(bed, *words)
        assert done.returncode == status and said in done.stderr, (words, done.stderr)
    assert refilter(bed, "ip", interface="nosuch").returncode == 1
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "50000"])
    assert sender.play() == len(wire)
    testbed.wait_for(lambda: written(collector) == len(wire) // 2, "the even ones")
    code.write_text(bed.ns.run("tcpdump", "-ddd", "-y", "EN10MB", ODD, capture_output=True).stdout)
    assert refilter(bed, "--filter-code", code).returncode == 0
    shown = bed.ns.run(testbed.BUILD / "saluki", "status", "-i", "tap0", capture_output=True).stdout
    assert "filter   code of code" in shown
    assert refilter(bed, "").returncode == 0
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "50000"])
    assert sender.play() == len(wire)
    status, said = sensor.finish()
    assert status == 0 and "no filter from now on" in said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == 0 and stats["written"] == len(wire) * 3 // 2
    name = subprocess.run(["capinfos", bed.out], capture_output=True, text=True, check=True).stdout
    assert f"Filter string = {EVEN}" in name
