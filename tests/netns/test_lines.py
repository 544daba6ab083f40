# SPDX-License-Identifier: GPL-2.0
"""What modules say, as lines of JSON: each once, in order, whatever becomes of the collector."""
import copy
import json
import pathlib
import random
import signal
import subprocess

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.test_modules import fixture_modules, fixture_wire  # noqa: F401 (fixtures)
from netns.test_restart import numbered, written
from reference import captures
from reference.test_reference import write_pcap


@pytest.fixture(name="folder")
def fixture_folder(bed):
    folder = bed.tmp_path / "events"
    folder.mkdir()
    return folder


def lines(path):
    """All of a file, which ends with a whole line."""
    text = path.read_text()
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def inside(bed, path):
    """What the programs under test see there."""
    return pathlib.Path(f"/proc/{bed.ns.holder.pid}/root{path}")


def numbers(said):
    """The test frames' numbers, which the module "each" says."""
    return [int(s["data"], 16) for s in said]


def assert_counted(collector, *names):
    """Every event of a module that came is a line, or counted."""
    stats = collector.stats()
    assert sum(collector.sensor_stats(n)["said"] for n in names) == sum(
        stats[f"lines_{what}"] for what in ("written", "lost", "refused"))
    return stats


def test_two_modules_of_two_sensors(bed, modules, wire, folder):
    testbed.veth(bed.ns, "veth1", bed.ns, "tap1")
    collector = bed.collector(options=["--events", folder])
    there = copy.copy(modules)
    there.interface = "tap1"
    sensors = {}
    for name, its in ("lib", modules), ("two", there):
        sensors[name] = bed.sensor(name, its.interface, options=["-B", "16384"])
        its.load(its.make("each"))
        its.load(its.make("lengths"))
    senders = [bed.sender(f"veth{i}", bed.tmp_path / "wire.pcap", ["--rate", "5000"])
               for i in range(2)]
    for s in senders:
        s.go()
    for s in senders:
        assert s.played() == len(wire)
    for sensor in sensors.values():
        status, said = sensor.finish()
        assert status == 0, said
    collector.finish()
    for name in sensors:
        assert_balanced(collector.sensor_stats(name), len(wire))
        assert collector.sensor_stats(name)["said"] == 2 * len(wire)
    assert assert_counted(collector, *sensors)["lines_written"] == 4 * len(wire)
    assert sorted(p.name for p in folder.iterdir()) == ["each.jsonl", "lengths.jsonl"]
    in_capture = captures.said(bed.out)
    assert len({s["id"] for s in in_capture}) == len(in_capture) == 4 * len(wire)
    for module in "each", "lengths":
        assert lines(folder / f"{module}.jsonl") == [
            s for s in in_capture if s["module"] == module]
    for name, interface in ("lib", "tap0"), ("two", "tap1"):
        own = [s for s in lines(folder / "each.jsonl") if s["sensor"] == name]
        assert numbers(own) == list(range(len(wire)))
        assert {s["interface"] for s in own} == {interface}
        own = [s for s in lines(folder / "lengths.jsonl") if s["sensor"] == name]
        assert [int.from_bytes(bytes.fromhex(s["data"]), "little") for s in own] == [
            f.orig_len for f in wire]


@pytest.mark.parametrize("output", ["single", "series", "rotated"])
def test_killed_again_and_again(bed, modules, bundled, folder, output):
    """SIGKILL to both processes at any moment, while lines are written."""
    count = 30000
    write_pcap(bed.tmp_path / "wire.pcap", 1, numbered(bundled, count))
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    out = bed.tmp_path / "captures"
    out.mkdir()
    write = out if output == "series" else out / "out.pcapng"
    options = ["--events", folder, *(["-C", "1"] if output == "rotated" else [])]
    collector = bed.collector(write, options=options)
    sensor = bed.sensor("lib", "tap0", options=["--combo-size", "4096", "--store-bytes", "32M"])
    modules.load(modules.make("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "3000"])
    sender.go()
    chance = random.Random(output)
    for _ in range(3):
        testbed.wait_for(lambda: written(collector) > 0, "frames", 60)
        testbed.wait_for(lambda: chance.random() < 0.02, "any moment", interval=0.001)
        collector.kill_all()
        collector = bed.collector(write, options=options)
    assert sender.played() == count
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, count, earlier=stats["earlier"])
    got = lines(folder / "each.jsonl")
    assert got == [s for file in sorted(out.glob("*.pcapng")) for s in captures.said(file)]
    assert numbers(got) == list(range(count))


def test_moved_away(bed, modules, wire, folder):
    """As logrotate does it: every line is in one of the files."""
    collector = bed.collector(options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.make("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "5000"])
    sender.go()
    file = folder / "each.jsonl"
    for n in range(1, 4):
        testbed.wait_for(lambda: file.exists() and file.stat().st_size > 100000, "lines")
        file.rename(folder / f"each.jsonl.{n}")
        collector.send_signal(signal.SIGHUP)
    testbed.wait_for(file.exists, "a new file")
    collector.kill_all()  # what is in the moved ones does not come again
    collector = bed.collector(options=["--events", folder])
    assert sender.played() == len(wire)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(wire), earlier=stats["earlier"])
    got = [s for f in (*(folder / f"each.jsonl.{n}" for n in range(1, 4)), file) for s in lines(f)]
    assert got == captures.said(bed.out)
    assert numbers(got) == list(range(len(wire)))


def test_disk_full(bed, modules, wire, folder):
    """Of the lines alone: the capture has them all, what is missing is counted, and when there is room
    they go on."""
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "none", folder)
    collector = bed.collector(options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.make("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "4000"])
    sender.go()
    collector.expect(f"{folder}/each.jsonl: No space left on device")
    lines(inside(bed, folder) / "each.jsonl")  # whole ones
    bed.ns.run("mount", "-o", "remount,size=64m", folder)
    collector.expect("each.jsonl: writing again")
    assert sender.played() == len(wire)
    assert sensor.finish()[0] == 0
    said = collector.finish()[1]
    assert said.count("No space left") < 10  # not one for each line
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    stats = assert_counted(collector, "lib")
    assert stats["lines_lost"] > 0 and stats["write_errors"] == 0
    in_capture = captures.said(bed.out)
    assert numbers(in_capture) == list(range(len(wire)))
    got = lines(inside(bed, folder) / "each.jsonl")
    assert len(got) == stats["lines_written"]
    ids = {s["id"] for s in got}
    assert len(ids) == len(got) and got == [s for s in in_capture if s["id"] in ids]


def test_capture_cannot_be_written(bed, modules, wire, folder):
    """What is not in the capture is in no line."""
    small = bed.tmp_path / "small"
    small.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "none", small)
    collector = bed.collector(small / "out.pcapng", options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.make("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    assert sensor.finish()[0] == 0
    collector.finish()  # what it comes to is as at the end of it: small blocks still find room
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(wire), lost_disk=stats["lost_disk"])
    assert stats["lost_disk"] > 0
    stats = assert_counted(collector, "lib")
    assert stats["lines_lost"] > 0
    assert lines(folder / "each.jsonl") == captures.said(inside(bed, small) / "out.pcapng")


def refused(bed, folder, listen="127.0.0.1:5601"):
    got = bed.ns.run(testbed.BUILD / "saluki-collector", "--listen", listen, "--key",
                     bed.keys.collector, "--sensors", bed.keys.sensors, "-w",
                     bed.tmp_path / "other.pcapng", "--events", folder, capture_output=True,
                     check=False, timeout=20)
    assert got.returncode == 1
    return got.stderr


def test_folders_that_cannot_be_used(bed, folder):
    nowhere = folder / "nowhere"
    assert f"--events {nowhere}: No such file or directory" in refused(bed, nowhere)
    nowhere.write_text("")
    assert f"--events {nowhere}: Not a directory" in refused(bed, nowhere)
    locked = folder / "locked"
    locked.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "ro", "none", locked)
    assert f"--events {locked}: Read-only file system" in refused(bed, locked)
    bed.collector(options=["--events", folder])
    assert f"--events {folder}: another saluki-collector writes to it" in refused(bed, folder)


def test_names_that_are_there(bed, modules, wire, folder):
    """A file that is no file of lines, one that is a link, one of somebody's: none is touched."""
    (folder / "each.jsonl").write_text("x" * 2000)
    outside = bed.tmp_path / "outside"
    outside.write_text("")
    (folder / "lengths.jsonl").symlink_to(outside)
    collector = bed.collector(options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.make("each"))
    modules.load(modules.make("lengths"))
    assert bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"]).play() == len(wire)
    assert sensor.finish()[0] == 0
    said = collector.finish()[1]
    assert "each.jsonl: is no file of lines" in said
    assert "lengths.jsonl: Too many levels of symbolic links" in said
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    assert assert_counted(collector, "lib")["lines_lost"] == 2 * len(wire)
    assert (folder / "each.jsonl").read_text() == "x" * 2000 and outside.read_text() == ""


def test_wireshark_reads_the_capture(bed, modules, wire, folder):
    collector = bed.collector(options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.make("each"))
    assert bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"]).play() == len(wire)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    got = subprocess.run(["tshark", "-r", bed.out, "-T", "fields", "-e", "eth.src"], check=True,
                         capture_output=True, text=True)
    assert got.stderr.replace("Running as user \"root\" and group \"root\". This could be dangerous.\n",
                              "") == ""
    sources = [line.replace(":", "") for line in got.stdout.split() if line]
    assert [int(s, 16) for s in sources] == numbers(lines(folder / "each.jsonl"))
    got = subprocess.run(["capinfos", "-c", "-M", bed.out], check=True, capture_output=True, text=True)
    assert str(len(wire)) in got.stdout and not got.stderr
