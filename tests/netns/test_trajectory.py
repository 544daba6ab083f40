# SPDX-License-Identifier: GPL-2.0
"""Trajectory sampling: two sensors on two sides of a router, and the consumer's results from their
labels against the router's log."""
import collections
import json
import subprocess
import time
import types

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.test_modules import Modules
from netns.testbed import BUILD
from reference import captures, label
from reference.test_reference import write_pcap
from wifi import figures

ROUTER = testbed.ROOT / "build/tests/router"
CONSUMER = BUILD / "modules/trajectory"
MTU = 3400  # the most that XDP takes on a cable
HERE, THERE = "lib/tap0", "two/tap1"
GRANTS = """Interface = *
Show = {show}
Helper = map_lookup_elem, map_update_elem
Map = array, lru_hash
MapMemory = 4M
Instructions = 2000
Events = 1000000
Priority = 100
"""

Fate = collections.namedtuple("Fate", "came_ns what sent")  # sent: (before, after) of each copy


class Router:
    def __init__(self, ns, came, goes, log):
        self.log = log
        self.popen = ns.start(ROUTER, came, goes, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        testbed.lines_until(self.popen.stdout, time.monotonic() + 10, "ready")

    def finish(self):
        """Each frame's fate, in order, when all are sent."""
        out, _ = self.popen.communicate(timeout=30)
        assert self.popen.returncode == 0
        fates = [line.split() for line in self.log.read_text().splitlines()]
        assert len(fates) == int(out)
        return [Fate(int(f[0]), f[1], [tuple(map(int, f[i:i + 2])) for i in range(2, len(f), 2)])
                for f in fates]

    def kill(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.communicate()


class Fleet:
    """Two sensors with one trajectory key; between them a router."""

    def __init__(self, bed, show):
        self.bed, self.other = bed, bed.namespace()
        testbed.veth(bed.ns, "veth0", bed.ns, "tap0", "mtu", str(MTU))
        testbed.veth(bed.ns, "out0", self.other, "tap1", "mtu", str(MTU))
        testbed.veth(self.other, "uplink", bed.ns, "downlink")
        self.other.run("ip", "address", "add", "10.99.0.2/24", "dev", "uplink")
        bed.ns.run("ip", "address", "add", "10.99.0.1/24", "dev", "downlink")
        self.key = self.secret("trajectory.key")
        self.anonymise = self.secret("anonymise.key")
        self.collector = bed.collector(listen="0.0.0.0:5600")
        self.sensors = [bed.sensor("lib", "tap0", options=["-B", "16384"]),
                        bed.sensor("two", "tap1", ns=self.other, to="10.99.0.1:5600",
                                   options=["-B", "16384"])]
        self.modules = [self.load(bed.ns, "tap0", show), self.load(self.other, "tap1", show)]

    def secret(self, name):
        path = self.bed.tmp_path / name
        path.touch(mode=0o600)
        path.write_text(testbed.saluki("genpsk", check=True).stdout)
        return path

    def load(self, ns, interface, show):
        folder = self.bed.tmp_path / f"modules-{interface}"
        folder.mkdir()
        ns.run("mount", "-t", "tmpfs", "none", "/var/lib")
        modules = Modules(types.SimpleNamespace(ns=ns, tmp_path=folder), interface)
        modules.policy.write_text(
            f"[Keys]\nTrajectory = {self.key}\nAnonymise = {self.anonymise}\n"
            f"[Module trajectory]\nKey = {modules.public}\n{GRANTS.format(show=show)}")
        modules.load(modules.copy("trajectory"))
        return modules

    def rate(self, rate):
        """Sets the rate as an operator does. Returns the bound of a label's lower half."""
        line = subprocess.run([CONSUMER, "--fill-rate", str(rate)], check=True, capture_output=True,
                              text=True).stdout
        for modules in self.modules:
            got = modules.run("fill", "-i", modules.interface, "trajectory", "settings", input=line)
            assert got.returncode == 0 and "1 entries" in got.stderr, got
        return min(int(rate * 2**32), 2**32 - 1)

    def finish(self, frames):
        """Ends it all; returns the modules' lines."""
        seen = [len(frames[0]), len(frames[1])]
        for sensor in self.sensors:
            assert sensor.finish()[0] == 0
        assert self.collector.finish()[0] == 0
        for name, count in zip(("lib", "two"), seen):
            assert_balanced(self.collector.sensor_stats(name), count)
        return "".join(json.dumps(s) + "\n" for s in captures.said(self.bed.out))


def consume(lines, *options):
    """The consumer's output: (objects before it, the summary)."""
    got = subprocess.run([CONSUMER, "--json", *options], input=lines, capture_output=True, text=True,
                         check=False)
    assert got.returncode == 0 and not got.stderr, got.stderr
    *before, last = map(json.loads, got.stdout.splitlines())
    return before, last


def wired(traces):
    return [f for path in traces.folder("wired") for f in captures.frames(path)
            if f.linktype == 1 and 14 <= len(f.data) <= MTU + 14]


@pytest.mark.paired
@pytest.mark.parametrize("show", ["ip hashed, ports, label", "label"])
def test_real_traffic_through_a_router(bed, traces, show):
    rate = 0.25 if "ip" in show else 1
    fleet = Fleet(bed, show)
    below = fleet.rate(rate)
    frames = wired(traces)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    router = Router(bed.ns, "tap0", "out0", bed.tmp_path / "router.log")
    bed.stack.callback(router.kill)
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "6000"])
    assert sender.play() == len(frames)
    fates = router.finish()
    assert len(fates) == len(frames)
    sent = [f for f in fates for _ in f.sent]
    lines = fleet.finish((frames, sent))

    key = label.key_of(fleet.key)
    of = label.labels(key, [label.packet(f.data) for f in frames])
    chosen = collections.Counter(n for n in of if n is not None and n & 0xffffffff < below)
    forwarded = collections.Counter()
    for n, fate in zip(of, fates):
        if n in chosen:
            forwarded[n] += len(fate.sent)
    said = collections.defaultdict(collections.Counter)
    for line in map(json.loads, lines.splitlines()):
        said[line["sensor"]][int.from_bytes(bytes.fromhex(line["data"])[:8], "little")] += 1
    assert said["lib"] == chosen
    both = +forwarded
    agree = (said["two"] & both).total() / (said["two"] | both).total()
    print(f"{chosen.total()} of {len(frames)} frames chosen, {both.total()} of them forwarded")
    assert rate == 1 or abs(chosen.total() / sum(n is not None for n in of) / rate - 1) < 0.05

    packets, summary = consume(lines, "--packets")
    repeated = {n for n in chosen if chosen[n] > 1 or forwarded[n] > 1}
    assert {int(p["label"], 16) for p in packets if "discarded" in p} == repeated
    assert sum(summary["discarded"].values()) == len(repeated)
    assert summary["late"] == summary["closed_early"] == summary["bad_events"] == 0
    errors, true_ms = delays(packets, dict(zip(of, fates)))
    link, = summary["links"]
    assert (link["from"], link["to"], link["packets"]) == (HERE, THERE, len(errors))
    if "ip" in show:
        assert link["lost"] + link["unjudged"] == lost_among_others(packets)
        assert link["lost"] > 10
    true_ms.sort()
    assert abs(link["median_ms"] / true_ms[len(true_ms) // 2] - 1) < 0.05
    errors.sort()
    assert abs(link["min_ms"] - true_ms[0]) < 1, link
    assert abs(link["max_ms"] - true_ms[-1]) < 1 + errors[-1], link
    # A virtual machine's CPU may pause between a packet's two stamps.
    error = errors[len(errors) * 999 // 1000]
    print(f"delays: {len(errors)}, wrong by a median of {errors[len(errors) // 2]:.4f} ms, 99.9 % "
          f"within {error:.4f}, at most {errors[-1]:.4f}")
    if "ip" in show:
        figures.tell(trajectory_agree=agree, trajectory_delay_error_ms=error)
    assert agree == 1
    assert error <= 1


def delays(packets, fates):
    """Each delay's error, and the true delays (ms)."""
    errors, true = [], []
    for p in packets:
        fate = fates[int(p["label"], 16)]
        if "discarded" in p:
            continue
        if not fate.sent:
            assert [s["point"] for s in p["seen"]] == [HERE]
            continue
        assert [s["point"] for s in p["seen"]] == [HERE, THERE]
        measured = p["seen"][1]["time_ns"] - p["seen"][0]["time_ns"]
        before, behind = (at - fate.came_ns for at in fate.sent[0])  # sent some time in between
        true.append((before + behind) / 2e6)
        errors.append(max(before - measured, measured - behind, 0) / 1e6)
    return errors, true


FLOWS = 65536


def lost_among_others(packets):
    """Packets lost from flows with other packets forwarded, once there were any to see. Each flow
    has one of FLOWS places, and is replaced by the next flow with the same place."""
    awake_ns = min(s["time_ns"] for p in packets for s in p["seen"] if s["point"] == THERE)
    places, lost = {}, 0
    for p in packets:
        if "discarded" in p:
            continue
        flow, came_ns = int(p["flow"], 16), p["seen"][0]["time_ns"]
        place = places.setdefault(flow % FLOWS, {"flow": None})
        if place["flow"] != flow:
            place.update(flow=flow, goes_on=False, waiting=0, first_ns=came_ns)
        if len(p["seen"]) == 2:
            lost += place["waiting"] if place["first_ns"] >= awake_ns else 0
            place.update(goes_on=True, waiting=0)
        elif place["goes_on"]:
            lost += came_ns >= awake_ns
        else:
            place["waiting"] += 1
    return lost
