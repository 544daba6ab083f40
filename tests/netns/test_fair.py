# SPDX-License-Identifier: GPL-2.0
"""Twenty bad sensors, and an honest one whose combos are still written in time."""
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.live import long_trace
from netns.relay import Relay

BAD, RATE, SECONDS = 20, 3000, 9


def scheduled(pid):
    """How long a process has run, and how long it has waited for a CPU, in ns."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return [int(x) for x in f.read().split()[:2]]


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["combos", "info", "probe", "bad", "jump"])
def test_an_honest_sensor_among_bad_ones(bed, kind):
    """Each sends the collector's most expensive datagrams, 3,000 per second. Each sensor's share of
    the collector's time is bounded, so the honest one's combos are settled soon."""
    bad = [bed.keys.sensor(f"bad-{i}") for i in range(BAD)]
    disk = bed.tmp_path / "disk"
    disk.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=4g", "none", disk)
    collector = bed.collector(write=disk, options=["-C", "100"])
    crowd = [bed.ns.start(testbed.BUILD / "tests/greedy", key, "5600", RATE, SECONDS, kind,
                          stdout=subprocess.PIPE) for key in bad]
    honest = bed.ns.start(testbed.BUILD / "tests/patient", bed.keys.sensor("lib"), "5600",
                          SECONDS - 2, "1", stdout=subprocess.PIPE)
    pid = testbed.receiving(collector.pid())
    before = scheduled(pid)
    count, *ms = map(float, honest.communicate(timeout=120)[0].split())
    assert honest.returncode == 0 and ms, "the honest sensor had no session"
    ran, waited = (b - a for a, b in zip(before, scheduled(pid)))
    slower = 1 + waited / ran
    sent = [list(map(int, p.communicate(timeout=120)[0].split())) for p in crowd]
    print(f"{kind}: {sum(s[0] for s in sent) / SECONDS:.0f} bad datagrams/s, "
          f"{sum(s[2] for s in sent)} frames of theirs; {count:.0f} honest combos were settled "
          f"after {ms[0]} ms (median), {ms[1]} ms (99 %), {ms[2]} ms (longest); the machine "
          f"was {slower:.1f} times slower than its CPU")
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert stats["written"] == count and stats["lost_missing"] == stats["lost_disk"] == 0
    assert ms[1] <= 200 * slower, (ms, slower)


def send(bed, path, key, port):
    """How long a sensor takes to send a file."""
    began = time.monotonic()
    sensor = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", "-r", path, "--keep", "all",
                                      "-s", "32768", "--compress", "none", "--to",
                                      f"127.0.0.1:{port}", "--key", key], None)
    try:
        assert sensor.finish(signo=None, seconds=120)[0] == 0
    finally:
        sensor.kill()
    return time.monotonic() - began


@pytest.mark.alone
def test_memory_among_bad_ones(bed):
    """Forty sensors touch as many combos as they can, each every second, and finish none: they
    claim all memory for combos. An honest sensor over a path of 30 ms is as fast as before."""
    bad = [bed.keys.sensor(f"bad-{i}") for i in range(40)]
    names = ["before", "honest"]
    keys = [bed.keys.sensor(name) for name in names]
    collector = bed.collector()
    path, frames = long_trace(bed, 40)
    relay, crowd = Relay(bed.ns), []
    try:
        relay("delay 15")
        alone = send(bed, path, keys[0], 5700)
        crowd = [bed.ns.start(testbed.BUILD / "tests/greedy", key, "5600", 70, 120, "claim")
                 for key in bad]
        time.sleep(2)  # all combos have been touched
        among = send(bed, path, keys[1], 5700)
        assert all(p.poll() is None for p in crowd)
    finally:
        for p in crowd:
            p.kill()
            p.wait()
        relay.close()
    print(f"{len(frames)} frames: {alone:.1f} s alone, {among:.1f} s among {len(bad)} bad sensors")
    assert collector.finish()[0] == 0
    for name in names:
        assert_balanced(collector.sensor_stats(name), len(frames))
    assert among <= 3 * alone + 3
