# SPDX-License-Identifier: GPL-2.0
"""Series of files as tcpdump and dumpcap write them: a ring (-W) keeps the newest files and nothing else is deleted,
and names have the time (-G)."""
import random
import re
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_once import frames_of, written
from netns.test_restart import numbered
from reference import captures
from reference.test_reference import write_pcap

OTHERS = {"notes.txt": b"mine", "out.pcapng": b"mine", "out_00001.pcapng": b"mine",
          "out_00001_20260101000000.pcapng": b"\x0a\x0d\x0d\x0a" + bytes(60),
          "out_00002_20260101000000.pcapng": b"in the ring of -w out.pcapng: the oldest files are deleted (-W)",
          "other_00001_20260101000000.pcapng": b"\x0a\x0d\x0d\x0a" + bytes(60)}


@pytest.fixture(name="folder")
def fixture_folder(bed):
    """With files that no ring may touch."""
    folder = bed.tmp_path / "captures"
    folder.mkdir()
    folder.chmod(0o700)
    for name, content in OTHERS.items():
        (folder / name).write_bytes(content)
    return folder


def ring_of(folder):
    """Its files, the oldest first."""
    for name, content in OTHERS.items():
        assert (folder / name).read_bytes() == content, name
    files = [f for f in folder.glob("out_*.pcapng") if f.name not in OTHERS]
    return sorted(files, key=lambda f: int(f.name.split("_")[1]))


def assert_newest(sent, files):
    """Their frames are the last ones that were sent, each once."""
    got = frames_of(files)
    assert 0 < len(got) < len(sent)
    assert_same(sent[-len(got):], got, 32768, False, stamps=False)


def test_a_ring(bed, bundled, folder):
    options = ["-C", "1000K", "-W", "3"]
    key = bed.keys.sensor("lib")
    sent = list(captures.frames(bundled))
    for run in (1, 2):  # a ring goes on
        collector = bed.collector(write=folder / "out.pcapng", options=options)
        for _ in range(8):
            assert bed.reader("lib", bundled, key, ["--keep", "all", "-s", "0"]).finish(signo=None)[0] == 0
        assert collector.finish()[0] == 0
        assert_balanced(collector.sensor_stats("lib"), 8 * len(sent))
        files = ring_of(folder)
        assert len(files) == 3 and int(files[0].name.split("_")[1]) > 3 * run
        assert_newest(sent * 8 * run, files)
    options[-1] = "2"
    assert bed.collector(write=folder / "out.pcapng", options=options).finish()[0] == 0
    assert ring_of(folder)[0] == files[-1]


def test_a_ring_in_a_folder(bed, bundled, folder):
    key = bed.keys.sensor("lib")
    collector = bed.collector(write=folder, options=["-C", "1"])
    for _ in range(5):
        assert bed.reader("lib", bundled, key, ["--keep", "all", "-s", "0"]).finish(signo=None)[0] == 0
    collector.finish()
    before = sorted(folder.glob("saluki_*.pcapng"))  # without -W: these stay
    collector = bed.collector(write=folder, options=["-C", "1", "-W", "2"])
    for _ in range(8):
        assert bed.reader("lib", bundled, key, ["--keep", "all", "-s", "0"]).finish(signo=None)[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 8 * len(list(captures.frames(bundled))))
    files = sorted(folder.glob("saluki_*.pcapng"))
    assert files[:-2] == before and not ring_of(folder)
    assert_newest(list(captures.frames(bundled)) * 8, files[-2:])


@pytest.mark.parametrize("name,options", [("out.pcapng", ["-C", "1", "-W", "3"]),
                                          ("out_%H%M%S.pcapng", ["-C", "1", "-G", "1h", "-W", "3"])])
def test_killed_amid_a_ring(bed, bundled, folder, name, options):
    """The ring goes on after SIGKILL, no frame is repeated, and the ledger balances."""
    count = 30000
    frames = numbered(bundled, count)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    collector = bed.collector(folder / name, options=options)
    sensor = bed.sensor("lib", "tap0", options=["--combo-size", "4096", "--store-bytes", "32M"])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "3000"])
    sender.go()
    chance = random.Random(name)
    for _ in range(3):
        testbed.wait_for(lambda: written(collector) > 0, "frames", 60)
        testbed.wait_for(lambda: chance.random() < 0.02, "any moment", interval=0.001)
        collector.kill_all()
        collector = bed.collector(folder / name, options=options)
    assert sender.played() == count
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    files = [f for f in folder.glob("out_*_*.pcapng") if f.name not in OTHERS]
    files.sort(key=lambda f: int(re.sub(r"_\d{14}\b", "", f.stem).split("_")[-1]))
    assert len(files) == 3
    got = frames_of(files)
    assert_same(frames[-len(got):], got, stamps=False)
    stats = collector.sensor_stats("lib")
    assert stats["earlier"] + stats["written"] == count
    assert_balanced(stats, count, earlier=stats["earlier"])
    ring_of(folder)


def test_names_with_times(bed, bundled, folder):
    """Two files of one second differ. A collector that starts again goes on counting."""
    sent = []
    for run in range(2):
        collector = bed.collector(write=folder / "cap-%Y%m%d-%H%M%S.pcapng", options=["-G", "1s", "-C", "1"])
        for _ in range(5):
            assert bed.reader("lib", bundled, options=["--keep", "all", "-s", "0"]).finish(signo=None)[0] == 0
            sent += list(captures.frames(bundled))
        assert collector.finish()[0] == 0
        assert_balanced(collector.sensor_stats("lib"), len(sent) // (run + 1))
    files = sorted(folder.glob("cap-*.pcapng"), key=lambda f: int(f.stem.split("_")[1]))
    assert len(files) >= 4 and all(re.fullmatch(r"cap-20\d{6}-[0-2]\d[0-5]\d{3}_\d{5}", f.stem) for f in files)
    assert [int(f.stem[-5:]) for f in files] == list(range(1, len(files) + 1))
    assert_same(sent, frames_of(files), 32768, False)


def test_idle_periods_leave_no_files(bed, bundled, folder):
    collector = bed.collector(write=folder / "out.pcapng", options=["-G", "1"])
    for _ in range(2):
        began = time.monotonic()
        assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
        testbed.wait_for(lambda began=began: time.monotonic() > began + 3, "two idle periods")
    collector.finish()
    files = ring_of(folder)
    assert len(files) == 2 and all(list(captures.frames(f)) for f in files)
    assert_same(list(captures.frames(bundled)) * 2, frames_of(files))
