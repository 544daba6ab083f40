# SPDX-License-Identifier: GPL-2.0
"""Sensors, a collector with --sink, saluki-kafka put and a real broker; and back by saluki-kafka get and a collector
with --source. Each of them is killed under load, and each frame is once in the files."""
import signal

import pytest

from kafka import way
from netns import testbed
from netns.conftest import Bed
from netns.test_swarm import COMBOS, COUNT, Swarm, balanced_sensors, listed


@pytest.fixture
def bed(tmp_path):
    tmp_path.chmod(0o755)
    with way.contextlib.ExitStack() as stack:
        yield Bed(stack, tmp_path)


def test_into_the_log(bed, broker, prefix):
    way.make_topics(broker, prefix)
    listed(bed)
    sink = bed.tmp_path / "sink"
    collector = bed.collector(sink=sink)
    put = way.Kafka(bed.stack, "put", sink, broker, prefix)
    status, report = Swarm(bed, "--combos", COMBOS).report()
    assert status == 0 and report["combos_settled"] == COUNT * COMBOS, (report, put.finish())
    assert way.assert_log(way.log(broker, prefix), COUNT, COMBOS) == 0
    assert collector.finish()[0] == 0
    balanced_sensors(collector, COUNT, report["frames"])
    way.stop(put)


class Way:
    """All programs but the broker, each of which can be killed and begun again."""

    def __init__(self, bed, broker, prefix):
        self.bed, self.broker, self.prefix = bed, broker, prefix
        way.make_topics(broker, prefix)
        listed(bed)
        self.sink, self.path, self.out = (bed.tmp_path / n for n in ("sink", "source.sock", "files"))
        for what in ("collector", "put", "source", "get"):
            self.begin(what)

    def begin(self, what):
        bed = self.bed
        program = {"collector": lambda: bed.collector(sink=self.sink),
                   "put": lambda: way.Kafka(bed.stack, "put", self.sink, self.broker, self.prefix),
                   "get": lambda: way.Kafka(bed.stack, "get", self.path, self.broker, self.prefix),
                   "source": lambda: way.Source(bed, self.path, self.out)}[what]()
        setattr(self, what, program)

    def kill(self, what):
        if what == "broker":
            self.broker.restart()
            return
        getattr(self, what).kill_all()
        self.begin(what)

    def assert_whole(self, swarm):
        """The swarm has settled all; then each frame is in the log, and once in the files."""
        status, report = swarm.report(signal.SIGINT)
        assert status == 0, report
        way.assert_log(way.log(self.broker, self.prefix), COUNT, COMBOS)
        try:
            testbed.wait_for(lambda: way.caught_up(self.broker, self.prefix), "commits", 60)
        finally:
            said = {what: getattr(self, what).finish() for what in ("get", "source", "collector", "put")}
            print({what: s[1][-1500:] for what, s in said.items()})
        assert {status for status, _ in said.values()} == {0}
        way.assert_files(self.out, COUNT * COMBOS, report["frames"])
        balanced_sensors(self.collector, COUNT, report["frames"])
        return said


@pytest.mark.parametrize("what", ["put", "collector", "broker", "get", "source"])
def test_killed(bed, own_broker, prefix, what):
    """SIGKILL under load. The log has each combo, in order, perhaps twice; the files have each once."""
    whole = Way(bed, own_broker, prefix)
    swarm = Swarm(bed, "--combos", COMBOS, "--seconds", 600, "--rate", 400)
    testbed.wait_for(lambda: sum(s["written"] > 0 for s in whole.source.stats()) > COUNT // 4, "frames", 60)
    whole.kill(what)
    swarm.expect(f"all {COUNT * COMBOS} combos are settled", 120)
    whole.assert_whole(swarm)
