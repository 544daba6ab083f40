# SPDX-License-Identifier: GPL-2.0
"""The whole way: sensors, collectors with a sink, saluki-kafka, a broker, and back to files. Collectors and sensors are
in a namespace; saluki-kafka and the broker are on the machine's loopback, and meet the collectors at sockets that have
paths."""
import collections
import contextlib
import signal

from netns import put, testbed

KAFKA = testbed.BUILD / "saluki-kafka"
TOPICS = ("combos", "sensors", "ledger")


def make_topics(broker, prefix, partitions=4):
    for topic in TOPICS:
        broker.create_topic(f"{prefix}.{topic}", partitions)


class Kafka(testbed.Process):
    """saluki-kafka put or get."""

    def __init__(self, stack, command, socket, broker, prefix, *options, ready=None):
        super().__init__(testbed.Host(), [KAFKA, command, "--socket", socket, "--brokers", broker.address,
                                          "--topic-prefix", prefix, "--allow-weak", "--user", "root",
                                          *options], ready)
        stack.callback(self.kill)


def log(broker, prefix):
    """The messages of the topic of combos as of put.read(), in the order of each partition."""
    found = []
    for m in broker.messages(f"{prefix}.combos"):
        name = put.Name(*put.struct.unpack_from(">BBHIQQQQ", m.headers["saluki"]))
        found.append(put.Message(m.offset, put.COMBOS, m.time_ms, m.key.decode(), name, m.value))
    return found


def combos(messages):
    return [m for m in messages if m.name.kind == put.COMBO]


def assert_log(messages, sensors, combos_each):
    """Each combo of each sensor is there, in order. Returns how many are there more than once."""
    found = combos(messages)
    put.assert_in_order(found)
    once = collections.Counter((m.key, m.name.count) for m in found)
    assert len(once) == sensors * combos_each
    return sum(n - 1 for n in once.values())


def stop(process, signo=signal.SIGTERM):
    status, said = process.finish(signo)
    assert status == 0, said
    return said
