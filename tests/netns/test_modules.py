# SPDX-License-Identifier: GPL-2.0
"""Modules run on every frame, and are loaded, replaced and unloaded while frames come."""
import json
import shutil

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.test_loader import attach, saluki, send
from netns.test_restart import numbered, written
from netns.testbed import BUILD
from reference import captures
from reference.test_reference import write_pcap

GRANTS = """Interface = *
Show = mac, ip, ports
Helper = map_lookup_elem
Map = array, percpu_array
MapMemory = 1M
Instructions = 2000
Events = {events}
Priority = 100
"""


class Modules:
    def __init__(self, bed, interface):
        self.bed, self.interface = bed, interface
        self.key = bed.tmp_path / "sign.key"
        self.key.write_text(self.run("genkey").stdout)
        self.key.chmod(0o600)
        self.public = self.run("pubkey", input=self.key.read_text()).stdout.strip()
        self.policy = bed.tmp_path / "modules.conf"
        self.allow(GRANTS.format(events=1000000))
        self.serial = 0

    def run(self, *args, **kwargs):
        return self.bed.ns.run(BUILD / "saluki", "module", *args, capture_output=True, check=False,
                               **kwargs)

    def allow(self, entries):
        self.policy.write_text(f"[Module *]\nKey = {self.public}\n{entries}")

    def copy(self, name):
        """A module to be signed."""
        return shutil.copy(testbed.module_object(name), self.bed.tmp_path / f"{name}.o")

    def sign(self, obj, name=None):
        self.serial += 1
        got = self.run("sign", "--key", self.key, "--serial", str(self.serial),
                       *(["--name", name] if name else []), obj)
        assert got.returncode == 0, got

    def load(self, obj, name=None):
        self.sign(obj, name)
        got = self.run("load", "-i", self.interface, "--policy", self.policy, obj)
        assert got.returncode == 0, got
        return got.stderr

    def unload(self, name):
        got = self.run("unload", "-i", self.interface, name)
        assert got.returncode == 0, got

    def stats(self):
        got = self.run("stats", "--json", "-i", self.interface)
        assert got.returncode == 0, got
        return {m["name"]: m for m in json.loads(got.stdout)}


@pytest.fixture(name="modules")
def fixture_modules(bed):
    bed.ns.run("mount", "-t", "tmpfs", "none", "/var/lib")
    return Modules(bed, "tap0")


@pytest.fixture(name="wire")
def fixture_wire(bed, bundled):
    frames = numbered(bundled, 20000)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    return frames


@pytest.mark.parametrize("options", [("--source", "xdp"), ("--source", "tc"),
                                     ("--ring", "mapped")])
def test_a_module_sees_and_says_each_frame(bed, modules, wire, options):
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384", *options])
    modules.load(modules.copy("each"))
    modules.load(modules.copy("count"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    stats = modules.stats()
    for name in "each", "count":
        assert stats[name]["frames"] == len(wire), stats
        assert stats[name]["missing"] == stats[name]["skipped"] == 0
        assert stats[name]["ns_a_frame"] > 0
    assert stats["each"]["events"] == len(wire)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(wire))
    assert stats["unknown_events"] == stats["bad_events"] == 0
    assert len(list(captures.frames(bed.out))) == len(wire)
    said = captures.said(bed.out)
    assert [bytes.fromhex(s["data"]) for s in said] == [f.data[6:12] for f in wire]
    assert {(s["sensor"], s["interface"], s["module"], s["serial"], s["direction"]) for s in said} == {
        ("lib", "tap0", "each", 1, "in")}


def test_under_load(bed, modules, wire):
    """Loading, replacing and unloading a module loses no frame, and either the old or the new
    module sees each frame."""
    each, count = modules.copy("each"), modules.copy("count")
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "5000"])
    modules.load(each)
    sender.go()
    testbed.wait_for(lambda: written(collector) > 100, "frames")
    for _ in range(10):
        modules.load(each)
        modules.load(count)
        modules.unload("count")
    assert sender.played() == len(wire)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(wire))
    said = captures.said(bed.out)
    assert [bytes.fromhex(s["data"]) for s in said] == [f.data[6:12] for f in wire]
    assert {s["serial"] for s in said} > {1, 2}


def test_events_beyond_what_is_granted(bed, modules, wire):
    modules.allow(GRANTS.format(events=100))
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    each = modules.stats()["each"]
    assert each["frames"] == len(wire) == each["events"] + each["events_limited"]
    assert 200 <= each["events"] <= 500  # 2 to 3 seconds' worth, and one turn
    assert sensor.finish()[0] == 0
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(wire))
    assert len(captures.said(bed.out)) == each["events"]


@pytest.mark.parametrize("ring,more", [("bpf", []), ("mapped", []), ("mapped", ["--pipelines", "3"])])
def test_what_is_said_while_there_is_no_agent(bed, modules, bundled, ring, more):
    """Events without an agent wait in the ring with their frames, and are not among the frames that
    vanish with the ring."""
    frames = numbered(bundled, 3000)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    attach(bed, "-i", "tap0", "--ring", ring, "-B", "16384")
    modules.load(modules.copy("each"))
    send(bed, frames[:1000])
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=more)
    send(bed, frames[1000:2000])
    testbed.wait_for(lambda: written(collector) == 2000, "waiting and new frames")
    status, said = sensor.finish()
    assert status == 0, said
    send(bed, frames[2000:])
    assert modules.stats()["each"]["events"] == 3000
    status, said = saluki(bed, "detach", "-i", "tap0")
    assert status == 0 and "tap0: 1000 frames were in the ring and not exported" in said, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 2000)
    said = captures.said(bed.out)
    assert [bytes.fromhex(s["data"]) for s in said] == [f.data[6:12] for f in frames[:2000]]
