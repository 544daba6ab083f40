# SPDX-License-Identifier: GPL-2.0
"""Sensors, a collector with --sink, saluki-kafka put and a real broker; and back by saluki-kafka get and a collector
with --source. Each of them is killed under load, and each frame is once in the files."""
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


@pytest.mark.parametrize("what", ["put", "collector", "broker"])
def test_killed(bed, own_broker, prefix, what):
    """SIGKILL under load. The log has each combo, in order; one that was sent again is there twice."""
    way.make_topics(own_broker, prefix)
    listed(bed)
    sink = bed.tmp_path / "sink"
    collector = bed.collector(sink=sink)
    put = way.Kafka(bed.stack, "put", sink, own_broker, prefix)
    swarm = Swarm(bed, "--combos", COMBOS, "--seconds", 600, "--rate", 400)
    testbed.wait_for(lambda: sum(s["written"] > 0 for s in collector.stats()["sensors"]) > COUNT // 4, "frames", 60)
    if what == "put":
        put.kill_all()
        put = way.Kafka(bed.stack, "put", sink, own_broker, prefix)
    elif what == "collector":
        collector.kill_all()
        collector = bed.collector(sink=sink)
    else:
        own_broker.restart()
    swarm.expect(f"all {COUNT * COMBOS} combos are settled", 120)
    status, report = swarm.report(testbed.signal.SIGINT)
    assert status == 0, report
    way.assert_log(way.log(own_broker, prefix), COUNT, COMBOS)
    assert collector.finish()[0] == 0
    balanced_sensors(collector, COUNT, report["frames"])
    way.stop(put)
