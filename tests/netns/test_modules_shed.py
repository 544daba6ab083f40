# SPDX-License-Identifier: GPL-2.0
"""When the ring fills, modules are left out, lowest priority first, and return by themselves. The
capture loses no frame, and a module of priority 100 sees each one."""
import json
import os
import signal

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_modules import GRANTS, fixture_modules  # noqa: F401 (fixtures)
from netns.test_restart import numbered, written
from reference import captures
from reference.test_reference import write_pcap

PRIORITIES = {"low": 0, "middle": 50, "high": 100}
FILLING, AFTER = 4400, 1000  # frames


class Overload:
    """Stops an agent from reading, for less than the time after which it counts as absent
    (bpf/run.h)."""

    def __init__(self, bed, modules, bundled, ring):
        self.bed, self.modules = bed, modules
        frames = [f for f in numbered(bundled, 40000) if len(f.data) > 160][:FILLING + AFTER]
        assert len(frames) == FILLING + AFTER
        self.frames = frames
        testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
        modules.policy.write_text("".join(
            f"[Module {name}]\nKey = {modules.public}\n" + GRANTS.format(events=0).replace(
                "Priority = 100", f"Priority = {priority}")
            for name, priority in PRIORITIES.items()))
        self.collector = bed.collector()
        self.sensor = bed.sensor("lib", "tap0", options=[
            "-B", "1024", "-s", "160", "--ring", ring])
        obj = modules.copy("count")
        for name in PRIORITIES:
            modules.load(obj, name=name)

    def play(self, part, count):
        path = self.bed.tmp_path / f"{part[0].time_ns}.pcap"
        write_pcap(path, 1, part)
        sender = self.bed.sender("veth0", path, ["--rate", "20000"])
        # Mapped rings are per CPU, and frames arrive on the sender's.
        os.sched_setaffinity(sender.popen.pid, {min(os.sched_getaffinity(0))})
        assert sender.play() == count

    def hold(self, signo):
        for pid in testbed.with_children(self.sensor.pid()):
            os.kill(pid, signo)

    def ring(self):
        got = self.bed.ns.run(testbed.BUILD / "saluki", "status", "-i", "tap0", "--json",
                              capture_output=True)
        ring = json.loads(got.stdout)["interfaces"][0]["ring"]
        return ring["used"] / ring["size"]


@pytest.mark.parametrize("ring", ["bpf", "mapped"])
def test_low_priority_goes_first_and_comes_back(bed, modules, bundled, ring):
    o = Overload(bed, modules, bundled, ring)
    o.hold(signal.SIGSTOP)
    try:
        o.play(o.frames[:FILLING], FILLING)
        full = modules.stats()
    finally:
        o.hold(signal.SIGCONT)
    skipped = {name: full[name]["skipped"] for name in PRIORITIES}
    assert skipped["low"] > skipped["middle"] > skipped["high"] == 0, full
    assert full["low"]["shed"] and full["middle"]["shed"] and not full["high"]["shed"]
    testbed.wait_for(lambda: written(o.collector) >= FILLING * 0.9, "frames", 30)
    testbed.wait_for(lambda: o.ring() < 0.2, "an empty ring", 30)
    o.play(o.frames[FILLING:], AFTER)
    after = modules.stats()
    for name, s in after.items():
        assert s["frames"] + s["skipped"] == FILLING + AFTER and s["missing"] == 0
        assert s["skipped"] == skipped[name] and not s["shed"], "it has come back"
    status, said = o.sensor.finish()
    assert status == 0, said
    o.collector.finish()
    stats = o.collector.sensor_stats("lib")
    assert_balanced(stats, FILLING + AFTER)
    assert stats["ring_full"] == 0
    assert_same([f._replace(data=f.data[:160]) for f in o.frames], captures.frames(bed.out),
                stamps=False)
