# SPDX-License-Identifier: GPL-2.0
"""Worm detection on a sensor: a worm spreads within real traffic; when and where it is reported."""
import base64
import itertools
import json
import pathlib
import random
import subprocess
import threading
import time

import pytest

from bpf.modules import udp
from netns import testbed
from netns.compare import assert_balanced
from netns.test_modules import fixture_modules  # noqa: F401 (fixtures)
from netns.testbed import BUILD
from reference import captures
from reference.captures import Frame
from reference.test_reference import write_pcap
from wifi import figures

CONSUMER = BUILD / "modules/worm"
WORM = random.Random(1434).randbytes(376)
MS = 10**6
TICK_MS = 100  # in which it doubles
TICKS = 9
POLICY = """[Keys]
Anonymise = {anonymise}
[Module worm]
Key = {key}
Interface = *
Show = ip {how}, ports, payload 128
Helper = map_lookup_elem, map_update_elem
Map = array, percpu_array, lru_hash
MapMemory = 8M
Instructions = 32000
Events = 1000
Priority = 100
"""


def background(traces, rate):
    """All wired captures, one after the other, evenly spaced."""
    sent = [f for path in traces.folder("wired") for f in captures.frames(path)
            if f.linktype == 1 and 14 <= len(f.data) <= 1514]
    return [Frame(n * 10**9 // rate, len(f.data), 1, f.data) for n, f in enumerate(sent)]


def worm(begin_ns):
    """Infected hosts: twice as many each tick; each sends two copies to hosts of its own."""
    targets = itertools.count()
    for tick in range(TICKS):
        copies = [source for source in range(2**tick) for _ in range(2)]
        for n, source in enumerate(copies):
            target = next(targets)
            data = udp((f"10.1.{source >> 8}.{source & 255}", 1024 + source),
                       (f"10.{2 + (target >> 16)}.{target >> 8 & 255}.{target & 255}", 1434), WORM)
            yield Frame(begin_ns + tick * TICK_MS * MS + n * TICK_MS * MS // len(copies), len(data), 1,
                        data)


class Consumer(testbed.Process):
    """The output of the sensor's consumer, each line with its arrival time."""

    def __init__(self, bed):
        super().__init__(bed.ns, [BUILD / "saluki", "module", "consume", "-i", "tap0", "worm", "--",
                                  testbed.for_anybody(CONSUMER, bed.tmp_path), "--json"], None,
                         stdout=subprocess.PIPE)
        bed.stack.callback(self.kill)
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.popen.stdout:
            self.lines.append((time.time_ns(), json.loads(line)))

    def ended(self):
        assert self.popen.wait(20) == 0
        self.reader.join()
        return self.lines

    def kill(self):
        super().kill_all() if self.popen.poll() is None else None
        self.reader.join()


def assert_right(found, how):
    """There is one outbreak, the worm's, with its signature."""
    events = [e["event"] for e in found]
    assert events[:2] == ["outbreak", "content"] and set(events[2:-1]) == {"growth"}, found
    assert found[0]["port"] == 1434 and bytes.fromhex(found[1]["bytes"]) == WORM[:48]
    for e in found[0], found[2]:
        assert e["source"].startswith("10.1.") == (how == "")
    last = found[-2]
    assert last["sources"] == pytest.approx(last["copies"] / 4, rel=0.6)
    assert found[-1] == {"event": "end", "outbreaks": 1, "hits": 0, "bad_events": 0}


@pytest.mark.paired
@pytest.mark.parametrize("how", ["", "hashed", "prefix"])
def test_a_worm_amid_real_traffic(bed, traces, modules, how):
    frames = background(traces, 6000)
    begin_ns = frames[len(frames) // 2].time_ns
    frames = sorted([*frames, *worm(begin_ns)], key=lambda f: f.time_ns)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    key = bed.tmp_path / "anonymise.key"
    key.touch(mode=0o600)
    # The estimate of the sources depends on their pseudonyms. With a random key, it is farther off than
    # assert_right allows about once in a hundred times.
    key.write_bytes(base64.b64encode(bytes(range(32))) + b"\n")
    modules.policy.write_text(POLICY.format(anonymise=key, key=modules.public, how=how))
    folder = bed.tmp_path / "events"
    folder.mkdir()
    folder.chmod(0o777)
    collector = bed.collector(options=["--events", folder])
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("worm"))
    consumer = Consumer(bed)
    assert bed.sender("veth0", bed.tmp_path / "wire.pcap").play() == len(frames)
    stats = modules.stats()["worm"]
    assert stats["frames"] == len(frames) and stats["events_limited"] == stats["events_lost"] == 0
    modules.unload("worm")
    lines = consumer.ended()
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    assert_balanced(collector.sensor_stats("lib"), len(frames))

    assert_right([e for _, e in lines], how)
    text = pathlib.Path(folder / "worm.jsonl").read_text()
    there = subprocess.run([CONSUMER, "--json"], input=text, check=True, capture_output=True, text=True)
    assert_right([json.loads(line) for line in there.stdout.splitlines()], how)
    began_ns = next(f.time_ns for f in captures.frames(bed.out) if WORM[:20] in f.data)
    told_ms = (lines[0][0] - began_ns) / MS
    print(f"{stats['ns_a_frame']:.0f} ns a frame; told {told_ms:.0f} ms after the first copy, "
          f"{lines[0][1]['copies']} copies by then")
    if not how:
        figures.tell(worm_ms=told_ms)
    assert 0 < told_ms <= 1000


def test_signatures_are_filled_in_while_it_runs(bed, modules):
    """An operator can fill in signatures from the consumer's output during a run; a malformed one
    changes nothing."""
    payload = b"GET /default.ida?" + b"N" * 100
    data = udp(("10.0.0.1", 1024), ("10.0.0.2", 80), payload)
    write_pcap(bed.tmp_path / "wire.pcap", 1, [Frame(0, len(data), 1, data)])
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    modules.policy.write_text(POLICY.format(anonymise="/none", key=modules.public, how="").replace(
        "[Keys]\nAnonymise = /none\n", ""))
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0")
    modules.load(modules.copy("worm"))

    def fill(*args, text, status=0):
        got = modules.run("fill", "-i", "tap0", *args, input=text)
        assert got.returncode == status, got
        return got.stderr

    def play():
        assert bed.sender("veth0", bed.tmp_path / "wire.pcap").play() == 1
        return modules.stats()["worm"]["events"]

    (bed.tmp_path / "signatures").write_text('codered udp/80 @0 "GET /default.ida"\n')
    line = subprocess.run([CONSUMER, "--fill-signatures", bed.tmp_path / "signatures"], check=True,
                          capture_output=True, text=True).stdout
    assert play() == 0
    assert "line 2: takes a key of 4 bytes and a value of 392" in fill(
        "worm", "signatures", text=line + "00000000 00\n", status=1)
    assert play() == 0
    assert "1 entries put into map signatures of module worm" in fill("worm", "signatures", text=line)
    assert play() == 1
    assert "no module none" in fill("none", "signatures", text=line, status=1)
    assert "has no map none" in fill("worm", "none", text=line, status=1)
    assert "has no map ../worm" in fill("worm", "../worm", text=line, status=1)
    assert "is none that can be filled" in fill("worm", "sketches", text="", status=1)
    assert "entry 1 of 1" in fill("worm", "settings", text="05000000 " + "00" * 24, status=1)
    assert fill("worm", text="", status=2)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 3)
