# SPDX-License-Identifier: GPL-2.0
"""saluki-swarm: many sensors at one collector, and what both say of their frames afterwards."""
import contextlib
import json
import os
import re
import subprocess

import pytest

from netns import testbed
from reference import captures

COUNT = 200
COMBOS = 4


class Swarm(testbed.Process):
    def __init__(self, bed, *options, to="127.0.0.1:5600"):
        super().__init__(bed.ns, [testbed.BUILD / "saluki-swarm", "--to", to, "--collector-key",
                                  bed.keys.collector_public, "--count", COUNT, "--json", *options],
                         None, stdout=subprocess.PIPE)
        bed.stack.callback(self.kill)

    def report(self, signo=None):
        """Waits for its end; returns its status and its report."""
        if signo:
            self.send_signal(signo)
        out, said = self.popen.communicate(timeout=240)
        self.said += said
        return self.popen.returncode, json.loads(out)


def listed(bed):
    """The swarm's sensors are those of the list."""
    done = testbed.saluki("--count", COUNT, "--sensors-file", bed.keys.sensors, program="saluki-swarm", check=True)
    assert done.stdout == done.stderr == ""
    lines = bed.keys.sensors.read_text().splitlines()[1:]
    assert [re.sub(" .*", "", line) for line in lines] == [f"swarm-{i:05}" for i in range(1, COUNT + 1)]


def balanced_sensors(collector, count, frames):
    """The sensors' statistics, after each has an equal part of the frames in the file, and has lost none."""
    got = sensors(collector)
    assert len(got) == count
    for s in got:
        assert s["balance"] == s["lost_missing"] == s["lost_disk"] == s["in_flight"] == 0, s
        assert s["written"] + s["earlier"] == s["exported"] == frames // count, s
    return got


def assert_all_written(bed, collector, report, replaced=False):
    """Every frame that any sensor sent is in the file, and no other; ledgers balance."""
    assert report["sensors_done"] == COUNT, report
    assert report["combos"] == report["combos_settled"] == COUNT * COMBOS
    assert report["frames"] == report["frames_settled"] > 0
    assert report["bad_datagrams"] == 0 or report["lost_sessions"]
    assert collector.finish()[0] == 0
    for s in balanced_sensors(collector, COUNT, report["frames"]):
        assert replaced or s["earlier"] == 0, s
    assert sum(1 for _ in captures.frames(bed.out)) == report["frames"]


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_second_thread_only_with_a_second_cpu(bed, bundled, cpus):
    own = sorted(os.sched_getaffinity(0))[:cpus]
    if len(own) < cpus:
        pytest.skip("needs two CPUs")
    listed(bed)
    collector = bed.collector(before=["taskset", "-c", ",".join(map(str, own))])
    receiving = testbed.receiving(collector.pid())
    assert len(os.listdir(f"/proc/{receiving}/task")) == cpus
    status, report = Swarm(bed, "-r", bundled, "--combos", COMBOS).report()
    assert status == 0, report
    assert_all_written(bed, collector, report)


def test_two_hundred_sensors_settle_all(bed, bundled):
    listed(bed)
    collector = bed.collector()
    status, report = Swarm(bed, "-r", bundled, "--combos", COMBOS).report()
    assert status == 0, report
    assert report["lost_sessions"] == 0 and report["set_up_ms"]["least"] > 0, report
    assert_all_written(bed, collector, report)


def test_padded(bed, bundled):
    """With padding, all datagrams sent have one length."""
    listed(bed)
    collector = bed.collector()
    status, report = Swarm(bed, "-r", bundled, "--combos", COMBOS, "--pad").report()
    assert status == 0 and report["bytes"] == report["datagrams"] * 1232, report
    assert_all_written(bed, collector, report)


def test_clocks_that_are_a_day_wrong(bed, bundled):
    """Sensors whose clocks are a day wrong use unknown slots, and get the time from the
    collector."""
    listed(bed)
    collector = bed.collector()
    status, report = Swarm(bed, "-r", bundled, "--combos", COMBOS, "--clock-ahead", 86400).report()
    assert status == 0, report
    # A request with a date that is too wrong, and one without; one handshake besides, and one that
    # is answered.
    assert report["requests"] >= 2 * COUNT and report["set_ups"] >= 2 * COUNT, report
    assert report["sessions"] == COUNT, report
    assert_all_written(bed, collector, report)


def test_all_come_back_when_the_collector_does(bed, bundled):
    """The collector is killed when all have a session and some frames are written: all return.
    Sessions are renewed all the time."""
    listed(bed)
    collector = bed.collector()
    swarm = Swarm(bed, "-r", bundled, "--combos", COMBOS, "--seconds", 600, "--rate", 400,
                  "--renew", 5)
    swarm.expect(f"all {COUNT} sensors have set up a session", 60)
    testbed.wait_for(lambda: any(s["written"] for s in sensors(collector)), "frames", 60)
    swarm.send_signal(testbed.signal.SIGUSR1)
    swarm.expect("counting sessions from now on")
    collector.kill_all()
    collector = bed.collector()
    swarm.expect(f"all {COUNT} sensors have set up a session", 120)
    swarm.expect(f"all {COUNT * COMBOS} combos are settled", 120)
    status, report = swarm.report(testbed.signal.SIGINT)
    assert status == 0 and report["lost_sessions"] >= COUNT and report["renewals"] > 0, report
    assert_all_written(bed, collector, report, replaced=True)


def sensors(collector):
    """The sensors it has heard of; none before its first statistics."""
    with contextlib.suppress(FileNotFoundError):
        return collector.stats()["sensors"]
    return []


def test_without_a_collector_it_fails(bed):
    swarm = Swarm(bed, "--combos", 1, "--seconds", 1, "--patience", 1)
    status, report = swarm.report()
    assert status == 1 and f"{COUNT} of {COUNT} sensors have not settled all" in swarm.said
    assert report["sensors_done"] == report["sessions"] == 0
