# SPDX-License-Identifier: GPL-2.0
"""Rings, counters and programs outlive the agent: frames left there are neither lost nor sent
twice."""
import os
import random
import signal

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from reference import captures
from reference.test_reference import write_pcap


def numbered(bundled, count):
    """Frames that all differ, of the trace's kinds and lengths: a number in the source address."""
    trace = [f for f in captures.frames(bundled) if 60 <= len(f.data) < 1400]
    frames = []
    for i in range(count):
        f = trace[i % len(trace)]
        data = f.data[:6] + i.to_bytes(6, "big") + b"\x88\xb5" + f.data[14:]
        frames.append(f._replace(data=data, orig_len=len(data), linktype=1))
    return frames


def written(collector, name="lib"):
    return (collector.sensor_stats(name) or {}).get("written", 0)


@pytest.mark.parametrize("ring,more", [("bpf", []), ("mapped", []), ("bpf", ["--pipelines", "3"]),
                                       ("mapped", ["--pipelines", "3"])])
def test_killed_under_load(bed, bundled, ring, more):
    """SIGKILL to both processes at any moment, again and again while frames come, loses no
    frame."""
    count = 60000
    frames = numbered(bundled, count)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    options = ["--ring", ring, "-B", "16384", "--combo-size", "4096", *more]
    sensor = bed.sensor("lib", "tap0", key=key, options=options)
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "12000"])
    sender.go()
    chance = random.Random(ring)
    kills = 0
    while written(collector) < count * 0.8:
        at = written(collector)
        # Handshakes use up slots: an agent may have to ask more than once.
        testbed.wait_for(lambda: written(collector) > at, "frames", 40)
        testbed.wait_for(lambda: chance.random() < 0.1, "any moment", interval=0.001)
        sensor.kill_all()
        sensor = bed.sensor("lib", "tap0", key=key, options=options)
        sensor.expect("goes on")
        kills += 1
    assert kills > 2
    assert sender.played() == count
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, count)
    assert stats["runs"] == 1 and stats["vanished"] == stats["lost_missing"] == 0
    assert_same(frames, captures.frames(bed.out), stamps=False)


@pytest.mark.parametrize("which", ["privileged", "unprivileged"])
def test_one_process_killed(bed, bundled, which):
    """If one process is killed, the other does not continue alone, and no frame is lost."""
    frames = numbered(bundled, 8000)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    sensor = bed.sensor("lib", "tap0", key=key)
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "8000"])
    sender.go()
    testbed.wait_for(lambda: written(collector) > 500, "frames")
    processes = testbed.with_children(sensor.pid())
    os.kill(processes[which == "unprivileged"], signal.SIGKILL)
    sensor.popen.wait(10)
    testbed.wait_ended(processes[1])
    sensor = bed.sensor("lib", "tap0", key=key)
    assert sender.played() == len(frames)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(frames))
    assert_same(frames, captures.frames(bed.out), stamps=False)
