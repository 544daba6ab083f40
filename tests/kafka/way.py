# SPDX-License-Identifier: GPL-2.0
"""The whole way: sensors, collectors with a sink, saluki-kafka, a broker, and back to files. Collectors and sensors are
in a namespace; saluki-kafka and the broker are on the machine's loopback, and meet the collectors at sockets that have
paths."""
import collections
import contextlib
import copy
import json
import re
import signal
import struct

from confluent_kafka import Consumer, TopicPartition

from netns import put, testbed
from netns.test_swarm import listed
from reference import captures
from wire.saluki_put import COMBOS, Put

KAFKA = testbed.BUILD / "saluki-kafka"
TOPICS = ("combos", "sensors", "ledger")


def make_topics(broker, prefix, partitions=4):
    for topic in TOPICS:
        broker.create_topic(f"{prefix}.{topic}", partitions)


class Kafka(testbed.Process):
    """saluki-kafka put or get. `before` is a command that executes it in its own place."""

    def __init__(self, stack, command, socket, broker, prefix, *options, ready=None, before=()):
        super().__init__(testbed.Host(), [*before, KAFKA, command, "--socket", socket, "--brokers", broker.address,
                                          "--topic-prefix", prefix, "--user", "root",
                                          *(["--allow-weak"] if command == "put" else ["--group", "files"]),
                                          *options], ready)
        stack.callback(self.kill)


def log(broker, prefix):
    """The messages of the topic of combos as of put.named(), in the order of each partition."""
    found = []
    for m in broker.messages(f"{prefix}.combos"):
        found.append(put.named(Put(m.offset, COMBOS, m.time_ms, m.key, m.headers["saluki"], m.value)))
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

    def __init__(self, bed, path, out, *options, before=()):
        out.mkdir(exist_ok=True)
        self.out, self.stats_file = out, out.parent / f"{out.name}.json"
        self.stats_file.unlink(missing_ok=True)
        super().__init__(bed.ns, [*before, testbed.BUILD / "saluki-collector", "--source", path, "-w", out, "-C", "1M",
                                  "--board", "none", "--live", "none", "--stats-file", self.stats_file, *options],
                         "taking combos")
        bed.stack.callback(self.kill)


def sensors_of(collector):
    """What the last statistics of a collector, with a sink or a source, say of each sensor."""
    with contextlib.suppress(FileNotFoundError):
        return json.loads(collector.stats_file.read_text())["sensors"]
    return []


def wait_until_written(collector, sensors, seconds=60):
    """Waits until a collector has written frames of so many sensors."""
    testbed.wait_for(lambda: sum(s["written"] > 0 for s in sensors_of(collector)) >= sensors, "frames", seconds)


NAME = re.compile(struct.pack("<H", 19373) + b"(?:..)" + struct.pack(">I", 32473) + b"(.{16})", re.DOTALL)


def in_files(folder):
    """How often each combo is in the folder's files, by its name, and the number of frames."""
    names, frames = collections.Counter(), 0
    for path in sorted(folder.glob("*.pcapng")):
        names.update(NAME.findall(path.read_bytes()))
        frames += sum(1 for _ in captures.frames(path))
    return names, frames


def assert_files(folder, combos, frames):
    """Each combo is once in the folder's files, by its name, and so are all frames."""
    names, count = in_files(folder)
    assert not {name: n for name, n in names.items() if n > 1}
    assert (len(names), count) == (combos, frames), (len(names), count, combos, frames)


class Way:
    """All programs but the broker, each of which can be killed and begun again. With several collectors, each has a
    sink and a put of its own."""

    def __init__(self, bed, broker, prefix, collectors=1, options=()):
        self.bed, self.broker, self.prefix, self.options = bed, broker, prefix, options
        self.path, self.out = bed.tmp_path / "source.sock", bed.tmp_path / "files"
        self.running = {}
        make_topics(broker, prefix)
        listed(bed)
        for n in range(collectors):
            self.begin("collector", n)
            self.begin("put", n)
        self.begin("source")
        self.begin("get")

    def _collector(self, n):
        keys = copy.copy(self.bed.keys)
        keys.directory = self.bed.tmp_path / f"collector-{n}"
        keys.directory.mkdir(exist_ok=True)
        started = testbed.Collector(self.bed.ns, keys, None, listen=f"127.0.0.1:{5600 + n}", sink=self._sink(n))
        self.bed.stack.callback(started.kill)
        return started

    def _sink(self, n):
        return self.bed.tmp_path / f"sink-{n}"

    def begin(self, what, n=0):
        bed, broker, prefix = self.bed, self.broker, self.prefix
        self.running[what, n] = {
            "collector": lambda: self._collector(n),
            "put": lambda: Kafka(bed.stack, "put", self._sink(n), broker, prefix),
            "get": lambda: Kafka(bed.stack, "get", self.path, broker, prefix),
            "source": lambda: Source(bed, self.path, self.out, *self.options)}[what]()

    def __getitem__(self, what):
        return self.running[what, 0]

    def collectors(self):
        return [program for (what, _), program in self.running.items() if what == "collector"]

    def kill(self, what):
        if what == "broker":
            self.broker.restart()
            return
        self[what].kill_all()
        self.begin(what)

    def finish(self, seconds=60):
        """Waits until the files have all that is in the log, and ends all programs. Returns what they have said."""
        caught = False
        try:
            testbed.wait_for(lambda: caught_up(self.broker, self.prefix), "commits", seconds, 0.1)
            caught = True
        finally:
            said = {name: program.finish() for name, program in self.running.items()}
            if not caught or any(status for status, _ in said.values()):
                print({name: (status, text[-1500:]) for name, (status, text) in said.items()})
        if any(status for status, _ in said.values()):
            raise RuntimeError("a program failed")
        return {name: text for name, (_, text) in said.items()}
