# SPDX-License-Identifier: GPL-2.0
"""Sensors that enrol, setup and add make: a running collector accepts them without a restart."""
import base64
import os
import pathlib
import subprocess
import time

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.testbed import BUILD
from reference import captures


def collector_command(bed, command, *args):
    return bed.ns.run(BUILD / "saluki-collector", command, "--sensors", bed.keys.sensors, "--control",
                      bed.tmp_path / "ctl", *args, capture_output=True).stdout


def read_again(collector):
    collector.said += testbed.lines_until(collector.popen.stderr, time.monotonic() + 20, "read again")


def run(bed, config, file):
    p = testbed.Process(bed.ns, [BUILD / "saluki", "run", "--config", config, "-r", file], None)
    bed.stack.callback(p.kill)
    return p


def test_an_enrolled_sensor_is_accepted(bed, bundled):
    collector = bed.collector(options=("--control", bed.tmp_path / "ctl"))
    said = collector_command(bed, "enrol", "--key", bed.keys.collector, "--to", "127.0.0.1:5600", "--psk", "--out",
                             bed.tmp_path / "new", "one", "three")
    assert f"the running collector (process {collector.pid()}) reads the file again\n" in said
    read_again(collector)
    status, sensor = run(bed, bed.tmp_path / "new/three.conf", bundled).finish(signo=None)
    assert status == 0, sensor
    assert collector.finish()[0] == 0
    frames = list(captures.frames(bundled))
    assert_balanced(collector.sensor_stats("three"), len(frames))
    assert_same(frames, list(captures.frames(bed.out)))


def test_a_sensor_of_setup_is_added_and_removed(bed, bundled):
    collector = bed.collector(options=("--control", bed.tmp_path / "ctl"))
    config = bed.tmp_path / "sensor.conf"
    add = subprocess.run([BUILD / "saluki", "setup", "--to", "127.0.0.1:5600", "--collector", bed.keys.collector_public,
                          "--out", config], capture_output=True, text=True, check=True).stdout.split()
    collector_command(bed, "add", "new", add[5])
    read_again(collector)
    status, sensor = run(bed, config, bundled).finish(signo=None)
    assert status == 0, sensor
    count = len(list(captures.frames(bundled)))
    testbed.wait_for(lambda: (s := collector.sensor_stats("new")) and s["written"] == count, "the sensor's frames")
    assert_balanced(collector.sensor_stats("new"), count)
    collector_command(bed, "remove", "new")
    read_again(collector)
    status, sensor = run(bed, config, bundled).finish(signo=None)
    assert status == 1 and "gave no session" in sensor
    assert collector.finish()[0] == 0


def test_a_collector_with_a_config_file(bed, bundled):
    """All of its options and its key are in the file."""
    config = bed.tmp_path / "collector.conf"
    config.touch(mode=0o600)
    config.write_text(f"listen = 127.0.0.1:5600\nkey-text = {bed.keys.collector.read_text()}"
                      f"sensors = {bed.keys.sensors}\n"
                      f"write = {bed.tmp_path}/wrong.pcapng\ncontrol = none\nboard = none\nlive = none\n")
    collector = testbed.Process(bed.ns, [BUILD / "saluki-collector", "-w", bed.out, "--config", config], "listening on")
    bed.stack.callback(collector.kill)
    status, said = bed.reader("lib", bundled).finish(signo=None)
    assert status == 0, said
    status, said = collector.finish()
    assert status == 0, said
    assert_same(list(captures.frames(bundled)), list(captures.frames(bed.out)))
    assert not (bed.tmp_path / "wrong.pcapng").exists()


def memory(pid):
    """What a process has in memory that it can write to."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb") as mem:
        for line in maps:
            area, mode, *_, name = line.rstrip("\n").split(" ", 5)
            if mode.startswith("rw") and not name.strip().startswith(("/", "[v", "anon_inode")):
                begin, end = (int(n, 16) for n in area.split("-"))
                mem.seek(begin)
                yield mem.read(end - begin)


def links(pid):
    """Of its descriptors, besides the standard ones."""
    return [os.readlink(fd) for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir() if int(fd.name) > 2]


def test_privileged_processes_forget_the_keys(bed, bundled):
    """No process keeps the key's text, and one process of each program has the key."""
    config = bed.tmp_path / "collector.conf"
    config.touch(mode=0o600)
    secret = bed.keys.collector.read_text().strip()
    config.write_text(f"key-text = {secret}\n")
    bed.keys.sensor("lib")
    lib = (bed.tmp_path / "lib.key").read_text().split()
    collector = testbed.Process(bed.ns, [BUILD / "saluki-collector", "--listen", "127.0.0.1:5600", "--sensors",
                                         bed.keys.sensors, "-w", bed.out, "--config", config, "--stats-file",
                                         bed.tmp_path / "stats.json"], "listening on")
    bed.stack.callback(collector.kill)
    bed.tun("mon0", 803, bundled, ["--rate", "20000"])
    (bed.tmp_path / "lib.conf").touch(mode=0o600)
    (bed.tmp_path / "lib.conf").write_text(f"to = 127.0.0.1:5600\nkey-text = {lib[0]}\ncollector = {lib[1]}\n")
    sensor = testbed.Process(bed.ns, [BUILD / "saluki", "run", "--config", bed.tmp_path / "lib.conf", "-i", "mon0",
                                      "-v"], "capturing by")
    bed.stack.callback(sensor.kill)
    sensor.expect("session")
    for process, key in ((collector, secret), (sensor, lib[0])):
        privileged, *others = testbed.with_children(process.pid())
        raw = base64.b64decode(key)
        knows = [pid for pid in others if any(raw in area for area in memory(pid))]
        assert len(knows) == 1  # and this search can find it
        assert not any(key.encode() in area for pid in (privileged, *others) for area in memory(pid))
        others = set(others) - set(knows)
        assert not any(raw in area for pid in {privileged, *others} for area in memory(pid))
        assert not any(link.startswith("pipe:") for pid in others for link in links(pid))
