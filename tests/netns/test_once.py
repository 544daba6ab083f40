# SPDX-License-Identifier: GPL-2.0
"""Each frame is in the collector's files once, however often the collector is killed, due to names
and state."""
import random

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_restart import numbered
from reference import captures
from reference.test_reference import write_pcap


def frames_of(files):
    return [f for file in files for f in captures.frames(file)]


def written(collector):
    return (collector.sensor_stats("lib") or {}).get("written", 0)


@pytest.mark.parametrize("state", ["kept", "damaged", "removed"])
@pytest.mark.parametrize("output", ["single", "series", "rotated"])
def test_killed_again_and_again(bed, bundled, output, state):
    """SIGKILL to both processes at any moment while frames come repeats no frame."""
    count = 30000
    frames = numbered(bundled, count)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    folder = bed.tmp_path / "captures"
    folder.mkdir()
    write = folder if output == "series" else folder / "out.pcapng"
    state_file = folder / ("saluki.state" if output == "series" else "out.pcapng.state")
    options = ["-C", "1"] if output == "rotated" else []
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    collector = bed.collector(write, options=options)
    sensor = bed.sensor("lib", "tap0", options=["--combo-size", "4096", "--store-bytes", "32M"])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "3000"])
    sender.go()
    chance = random.Random(output + state)
    for _ in range(3):
        testbed.wait_for(lambda: written(collector) > 0, "frames", 60)
        testbed.wait_for(lambda: chance.random() < 0.02, "any moment", interval=0.001)
        collector.kill_all()
        if state == "damaged":
            state_file.write_text("saluki-state 1\ntime 1\n")
        elif state == "removed":
            state_file.unlink()
        collector = bed.collector(write, options=options)
    assert sender.played() == count
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    got = frames_of(sorted(folder.glob("*.pcapng")))
    assert len(got) == count == stats["earlier"] + stats["written"]
    assert_same(frames, got, stamps=False)
    assert stats["earlier"] > 0
    assert_balanced(stats, count, earlier=stats["earlier"])


def test_state_is_one_collectors(bed):
    first = bed.collector(bed.tmp_path)
    second = testbed.Process(bed.ns, [testbed.BUILD / "saluki-collector", "--listen",
                                      "127.0.0.1:5601", "--key", bed.keys.collector, "--sensors",
                                      bed.keys.sensors, "-w", bed.tmp_path], None)
    bed.stack.callback(second.kill)
    status, said = second.finish(signo=None)
    assert status == 1 and "another saluki-collector writes to it" in said
    assert first.finish()[0] == 0


def test_a_state_that_cannot_be_kept(bed, bundled):
    """A state that cannot be kept is reported, and all else works."""
    collector = bed.collector(options=["--state", bed.tmp_path / "nowhere" / "state"])
    collector.expect("no state is kept")
    key = bed.keys.sensor("lib")
    assert bed.reader("lib", bundled, key).finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0
    assert len(frames_of([bed.out])) == len(frames_of([bundled]))


def test_killed_behind_a_bad_network(bed, bundled):
    """With acknowledgements lost, and pieces late, repeated and reordered, the names prevent
    repetitions."""
    count = 15000
    frames = numbered(bundled, count)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    collector = bed.collector(bed.tmp_path)
    relay = bed.relay()
    relay("loss 10", "duplicate 5", "reorder 10 50")
    sensor = bed.sensor("lib", "tap0", to=relay.address,
                        options=["--combo-size", "4096", "--store-bytes", "32M"])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "2000"])
    sender.go()
    chance = random.Random(6)
    for _ in range(3):
        testbed.wait_for(lambda: written(collector) > 0, "frames", 60)
        testbed.wait_for(lambda: chance.random() < 0.02, "any moment", interval=0.001)
        collector.kill_all()
        collector = bed.collector(bed.tmp_path)
    assert sender.played() == count
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_same(frames, frames_of(sorted(bed.tmp_path.glob("*.pcapng"))), stamps=False)
    assert_balanced(stats, count, earlier=stats["earlier"])
