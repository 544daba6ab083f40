# SPDX-License-Identifier: GPL-2.0
"""Sensors, a collector with --sink, saluki-kafka put and a real broker; and back by saluki-kafka get and a collector
with --source. Each of them is killed under load, and each frame is once in the files."""
import signal

import pytest

from kafka import way
from netns.conftest import Bed
from netns.test_swarm import COMBOS, COUNT, Swarm, balanced_sensors, listed

MOVED_COMBOS = 2 * COMBOS


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


def assert_whole(whole, swarm, each=COMBOS):
    """The swarm has settled all; then each frame is in the log, and once in the files."""
    status, report = swarm.report(signal.SIGINT)
    assert status == 0, report
    way.assert_log(way.log(whole.broker, whole.prefix), COUNT, each)
    whole.finish()
    way.assert_files(whole.out, COUNT * each, report["frames"])
    return report


@pytest.mark.parametrize("what", ["put", "collector", "broker", "get", "source"])
def test_killed(bed, own_broker, prefix, what):
    """SIGKILL under load. The log has each combo, in order, perhaps twice; the files have each once."""
    whole = way.Way(bed, own_broker, prefix)
    swarm = Swarm(bed, "--combos", COMBOS, "--seconds", 600, "--rate", 400)
    way.wait_until_written(whole["source"], COUNT // 4)
    whole.kill(what)
    swarm.expect(f"all {COUNT * COMBOS} combos are settled", 120)
    report = assert_whole(whole, swarm)
    balanced_sensors(whole["collector"], COUNT, report["frames"])


def test_moved(bed, broker, prefix):
    """Two collectors. Under load, all sensors move from one to the other, and come back."""
    whole = way.Way(bed, broker, prefix, collectors=2)
    network = bed.relay()
    swarm = Swarm(bed, "--combos", MOVED_COMBOS, "--seconds", 600, "--rate", 400, to=network.address)
    first, second = whole.collectors()
    way.wait_until_written(first, COUNT // 4)
    network("to 5601")
    way.wait_until_written(second, COUNT // 4)
    network("to 5600")
    swarm.expect(f"all {COUNT * MOVED_COMBOS} combos are settled", 120)
    assert_whole(whole, swarm, MOVED_COMBOS)
    for collector in (first, second):
        got = collector.stats()["sensors"]
        assert all(s["lost_missing"] == s["balance"] == 0 for s in got) and sum(s["earlier"] for s in got) > 0, got
    # The second collector has heard of frames that the sensors took back with them.
    assert all(s["in_flight"] == 0 for s in first.stats()["sensors"])
