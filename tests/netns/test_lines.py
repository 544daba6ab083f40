# SPDX-License-Identifier: GPL-2.0
"""Module events as lines of JSON: each is written once, in order, whatever happens to the
collector."""
import copy
import json
import pathlib
import random
import signal
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.test_modules import fixture_modules, fixture_wire  # noqa: F401 (fixtures)
from netns.test_restart import numbered, written
from reference import captures
from reference.test_reference import write_pcap
from wire import ends
from wire import saluki_combo as sc
from wire import saluki_wire as sw
from wire.test_interop import secret_of


@pytest.fixture(name="folder")
def fixture_folder(bed):
    folder = bed.tmp_path / "events"
    folder.mkdir()
    return folder


def lines(path):
    """All lines of a file, which ends with a whole line."""
    text = path.read_text()
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def inside(bed, path):
    """The path as the programs under test see it."""
    return pathlib.Path(f"/proc/{bed.ns.holder.pid}/root{path}")


def numbers(said):
    """The test frames' numbers, which the module "each" reports."""
    return [int(s["data"], 16) for s in said]


def assert_counted(collector, *names):
    """Every event received from a module is a line, or counted."""
    stats = collector.stats()
    assert sum(collector.sensor_stats(n)["module_events"] for n in names) == sum(
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
        its.load(its.copy("each"))
        its.load(its.copy("lengths"))
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
        assert collector.sensor_stats(name)["module_events"] == 2 * len(wire)
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
    """SIGKILL to both processes at any moment, while lines are written, loses and repeats no
    line."""
    count = 30000
    write_pcap(bed.tmp_path / "wire.pcap", 1, numbered(bundled, count))
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    out = bed.tmp_path / "captures"
    out.mkdir()
    write = out if output == "series" else out / "out.pcapng"
    options = ["--events", folder, *(["-C", "1"] if output == "rotated" else [])]
    collector = bed.collector(write, options=options)
    sensor = bed.sensor("lib", "tap0", options=["--combo-size", "4096", "--store-bytes", "32M"])
    modules.load(modules.copy("each"))
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
    """When files are moved away, as logrotate does, every line is in one of the files."""
    collector = bed.collector(options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "5000"])
    sender.go()
    file = folder / "each.jsonl"
    for n in range(1, 4):
        testbed.wait_for(lambda: file.exists() and file.stat().st_size > 100000, "lines")
        file.rename(folder / f"each.jsonl.{n}")
        collector.send_signal(signal.SIGHUP)
    testbed.wait_for(file.exists, "a new file")
    collector.kill_all()  # lines of the moved files do not come again
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
    """With the lines' disk full, the capture has all events, missing lines are counted, and with
    space they continue."""
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "none", folder)
    collector = bed.collector(options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "4000"])
    sender.go()
    collector.expect(f"{folder}/each.jsonl: No space left on device")
    lines(inside(bed, folder) / "each.jsonl")  # whole ones
    bed.ns.run("mount", "-o", "remount,size=64m", folder)
    collector.expect("each.jsonl: writing again")
    assert sender.played() == len(wire)
    assert sensor.finish()[0] == 0
    said = collector.finish()[1]
    assert said.count("No space left") < 10  # not one per line
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
    """Events that are not in the capture are in no line."""
    small = bed.tmp_path / "small"
    small.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "none", small)
    collector = bed.collector(small / "out.pcapng", options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    collector.expect("nothing is written until there is room")
    time.sleep(0.5)  # wrong lines would appear
    assert lines(folder / "each.jsonl") == captures.said(inside(bed, small) / "out.pcapng")
    bed.ns.run("mount", "-o", "remount,size=64m", small)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    stats = assert_counted(collector, "lib")
    assert stats["lines_lost"] == 0
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
    """A file of other content, a link, and another user's file are not touched."""
    (folder / "each.jsonl").write_text("x" * 2000)
    outside = bed.tmp_path / "outside"
    outside.write_text("")
    (folder / "lengths.jsonl").symlink_to(outside)
    collector = bed.collector(options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("each"))
    modules.load(modules.copy("lengths"))
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
    modules.load(modules.copy("each"))
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


def second(bed, name, port=5600):
    """A sensor of the second implementation, connected."""
    s = ends.Sensor(bed.ns, ("127.0.0.1", port), secret_of(bed.keys.sensor(name)),
                    sw.public(secret_of(bed.keys.collector)))
    s.set_up()
    return s


def event(module, size):
    fields = [sc.varint(1), sc.varint(len(module)), module, bytes(size)]
    return sc.Event(0, 2, bytes(2) + (10**18).to_bytes(8, "big") + b"".join(fields))


def free_part(bed, path):
    """A file system's free share, as a user sees it."""
    got = bed.ns.run("stat", "-f", "-c", "%a %b", path, capture_output=True).stdout.split()
    return int(got[0]) / int(got[1])


def test_keep_free(bed, folder):
    """One sensor's lines fill the folder's file system down to --keep-free. The rest is counted and
    in the capture; when files are deleted, lines continue."""
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=4m,mode=755", "none", folder)
    for name in "evil", "honest":
        bed.keys.sensor(name)
    # A fourth of it. The capture is on another file system, which may have little room in percent.
    collector = bed.collector(options=["--events", folder, "--keep-free", "1M"])
    evil = second(bed, "evil")
    for _ in range(80):
        evil.add_combo([], sc.ZSTD, [event(b"evil", 64)] * 256)
    evil.deliver(60)
    collector.expect(f"{folder}/evil.jsonl: No space left on device above --keep-free")
    assert 0.25 <= free_part(bed, folder) < 0.3
    bed.ns.run("dd", "if=/dev/zero", f"of={folder}/ballast", "bs=1k", "count=300",
               capture_output=True)  # a small batch may fit where a large one did not
    honest = second(bed, "honest")
    honest.add_combo([], sc.ZSTD, [event(b"honest", 4)])
    honest.deliver(20)
    collector.expect(f"{folder}/honest.jsonl: No space left on device above --keep-free")
    bed.ns.run("rm", folder / "ballast", folder / "evil.jsonl")
    collector.send_signal(signal.SIGHUP)
    collector.expect("read again")
    testbed.wait_for(lambda: free_part(bed, folder) > 0.9, "room")
    time.sleep(1.1)  # a failure is over after a second
    honest.add_combo([], sc.ZSTD, [event(b"honest", 5)])
    honest.deliver(20)
    collector.expect("honest.jsonl: writing again")
    said = collector.finish()[1]
    assert said.count("above --keep-free") == 2, said
    stats = assert_counted(collector, "evil", "honest")
    assert stats["lines_lost"] > 1000 and stats["lines_refused"] == stats["holds"] == 0
    assert len(captures.said(bed.out)) == 80 * 256 + 2
    assert [s["data"] for s in lines(inside(bed, folder) / "honest.jsonl")] == ["00" * 5]


def test_moved_away_many_times(bed, folder):
    """Each SIGHUP allows new files: an operator may move files away every day."""
    modules = [b"mod%d" % n for n in range(32)]
    collector = bed.collector(options=["--events", folder])
    sensor = second(bed, "lib")
    most = 64 * (len(bed.keys.sensors.read_text().splitlines()) + 1)
    days = most // len(modules) + 2
    for day in range(days):
        sensor.add_combo([], sc.ZSTD, [event(m, 4) for m in modules])
        sensor.deliver(20)
        made = lambda: list(folder.glob("mod*.jsonl"))
        testbed.wait_for(lambda: len(made()) == len(modules), f"files of day {day}")
        for f in made():
            f.rename(folder / f"{f.name}.{day}")
        collector.expect_again(signal.SIGHUP, "read again")
    collector.finish()
    stats = assert_counted(collector, "lib")
    assert stats["lines_written"] == days * len(modules)
