# SPDX-License-Identifier: GPL-2.0
"""saluki-keep beside collectors that are killed: each frame is in the archive once, and numbers go on."""
import random

import pytest

from keep import made
from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_once import written
from netns.test_restart import numbered
from reference import captures
from reference.test_reference import write_pcap


def archive_frames(folder):
    """All frames of all files, packed or not, in the order of the files."""
    found, merged = [], folder / "unpacked.pcapng"
    for path in sorted(p for p in folder.iterdir() if p.name.endswith((".pcapng", ".pcapng.zst"))):
        if path.suffix == ".zst":
            merged.write_bytes(made.unpacked(path))
            path = merged
        found.extend(captures.frames(path))
    return found


def numbers(folder):
    return sorted(int(p.name.split("_")[1]) for p in folder.iterdir() if p.name.endswith((".pcapng", ".pcapng.zst")))


def begin_another(folder):
    """As a collector that is killed after it has begun a file: the file before that is closed."""
    last = max(folder.glob("saluki_*.pcapng"))
    number = int(last.name.split("_")[1]) + 1
    (folder / f"saluki_{number:05}_20991231000000.pcapng").write_bytes(made.section() + made.interface())


@pytest.mark.parametrize("state", ["kept", "removed"])
def test_killed_again_and_again_with_all_files_packed(bed, bundled, state):
    """The names of combos that were written are read from indexes."""
    count = 20000
    frames = numbered(bundled, count)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    folder = bed.tmp_path / "captures"
    folder.mkdir()
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    options = ["-C", "1"]
    collector = bed.collector(folder, options=options)
    sensor = bed.sensor("lib", "tap0", options=["--combo-size", "4096", "--store-bytes", "32M"])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "3000"])
    sender.go()
    chance = random.Random(state)
    for _ in range(3):
        testbed.wait_for(lambda: written(collector) > 0, "frames", 60)
        testbed.wait_for(lambda: chance.random() < 0.02, "any moment", interval=0.001)
        collector.kill_all()
        if state == "removed":
            (folder / "saluki.state").unlink()
        begin_another(folder)
        made.keep("--once", folder)
        assert len(list(folder.glob("*.pcapng"))) == 1
        before = max(numbers(folder))
        collector = bed.collector(folder, options=options)
        testbed.wait_for(lambda: max(numbers(folder)) > before, "the next number")
    assert sender.played() == count
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_same(frames, archive_frames(folder), stamps=False)
    assert stats["earlier"] > 0
    assert_balanced(stats, count, earlier=stats["earlier"])


def test_the_service_beside_a_collector(bed, bundled):
    """Files are packed while the collector writes, and what is found is what was captured."""
    count = 20000
    frames = numbered(bundled, count)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    folder = bed.tmp_path / "captures"
    folder.mkdir()
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    keeper = testbed.Process(bed.ns, [made.PROGRAM, folder], None)
    bed.stack.callback(keeper.kill)
    collector = bed.collector(folder, options=["-C", "1"])
    sensor = bed.sensor("lib", "tap0")
    assert bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"]).play() == count
    status, said = sensor.finish()
    assert status == 0, said
    testbed.wait_for(lambda: len(list(folder.glob("*.pcapng"))) == 1, "all but the last file packed", 60)
    collector.finish()
    assert keeper.finish()[0] == 0
    assert_balanced(collector.sensor_stats("lib"), count)
    made.keep("find", folder, "-w", bed.tmp_path / "found.pcapng")
    assert_same(frames, list(captures.frames(bed.tmp_path / "found.pcapng")), stamps=False)


def test_numbers_go_on_when_all_files_are_packed(bed, bundled):
    folder = bed.tmp_path / "captures"
    folder.mkdir()
    made.make_series(folder, 3, made.bundled())
    made.keep("--once", folder)
    (folder / made.file_name(4)).unlink()
    collector = bed.collector(folder)
    assert collector.finish()[0] == 0
    assert max(numbers(folder)) >= 4
