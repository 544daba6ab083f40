# SPDX-License-Identifier: GPL-2.0
"""The whole way: sensors, collectors with a sink, saluki-kafka, a broker, and back to files. Collectors and sensors are
in a namespace; saluki-kafka and the broker are on the machine's loopback, and meet the collectors at sockets that have
paths."""
import collections
import contextlib
import json
import re
import signal
import struct

from confluent_kafka import Consumer, TopicPartition

from netns import put, testbed
from reference import captures

KAFKA = testbed.BUILD / "saluki-kafka"
TOPICS = ("combos", "sensors", "ledger")


def make_topics(broker, prefix, partitions=4):
    for topic in TOPICS:
        broker.create_topic(f"{prefix}.{topic}", partitions)


class Kafka(testbed.Process):
    """saluki-kafka put or get."""

    def __init__(self, stack, command, socket, broker, prefix, *options, ready=None):
        super().__init__(testbed.Host(), [KAFKA, command, "--socket", socket, "--brokers", broker.address,
                                          "--topic-prefix", prefix, "--user", "root",
                                          *(["--allow-weak"] if command == "put" else ["--group", "files"]),
                                          *options], ready)
        stack.callback(self.kill)


def log(broker, prefix):
    """The messages of the topic of combos as of put.read(), in the order of each partition."""
    found = []
    for m in broker.messages(f"{prefix}.combos"):
        name = put.Name(*struct.unpack_from(">BBHIQQQQ", m.headers["saluki"]))
        found.append(put.Message(m.offset, put.COMBOS, m.time_ms, m.key.decode(), name, m.value))
    return found


def caught_up(broker, prefix):
    """Whether the group of `get` has committed all that is in the log. It does so when the files have it."""
    consumer = Consumer(broker.quiet(group_id="files", enable_auto_commit=False))
    with contextlib.closing(consumer):
        parts = [TopicPartition(f"{prefix}.combos", n) for n in broker.partitions(f"{prefix}.combos")]
        ends = [consumer.get_watermark_offsets(p, timeout=10)[1] for p in parts]
        return [max(p.offset, 0) for p in consumer.committed(parts, timeout=10)] == ends


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


class Source(testbed.Process):
    """saluki-collector --source, which writes to a folder."""

    def __init__(self, bed, path, out, *options):
        out.mkdir(exist_ok=True)
        self.out, self.stats_file = out, out.parent / f"{out.name}.json"
        self.stats_file.unlink(missing_ok=True)
        super().__init__(bed.ns, [testbed.BUILD / "saluki-collector", "--source", path, "-w", out, "-C", "1M", "--board",
                                  "none", "--live", "none", "--stats-file", self.stats_file, *options], "taking combos")
        bed.stack.callback(self.kill)

    def stats(self):
        with contextlib.suppress(FileNotFoundError):
            return json.loads(self.stats_file.read_text())["sensors"]
        return []

    def written(self):
        return sum(s["written"] for s in self.stats())


NAME = re.compile(struct.pack("<H", 19373) + b"(?:..)" + struct.pack(">I", 32473) + b"(.{16})", re.DOTALL)


def combos_and_frames(folder):
    """The names of the combos in a folder's files, each with how often it is there, and the number of frames."""
    names, count = collections.Counter(), 0
    for path in sorted(folder.glob("*.pcapng")):
        names.update(NAME.findall(path.read_bytes()))
        count += sum(1 for _ in captures.frames(path))
    return names, count


def assert_files(folder, combos, frames):
    """Each combo is once in the folder's files, by its name, and so are all frames."""
    names, count = combos_and_frames(folder)
    assert not {name: n for name, n in names.items() if n > 1}
    assert (len(names), count) == (combos, frames), (len(names), count, combos, frames)
