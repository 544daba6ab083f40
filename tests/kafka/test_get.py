# SPDX-License-Identifier: GPL-2.0
"""saluki-kafka get, between a real broker and a stand-in for the collector."""
import collections
import re
import struct
import time

from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AclOperation, NewPartitions
import pytest

from kafka.broker import wait_for
from kafka.peer import RECORD, SENSORS, Program, Source, name

PARTITIONS = 3


@pytest.fixture(name="topics")
def fixture_topics(broker, prefix):
    make_topics(broker, prefix)
    return prefix


def make_topics(broker, prefix):
    broker.create_topic(f"{prefix}.combos", PARTITIONS)
    broker.create_topic(f"{prefix}.sensors", 2, cleanup_policy="compact")
    broker.create_topic(f"{prefix}.ledger", 1)


@pytest.fixture(name="source")
def fixture_source(tmp_path):
    with Source(tmp_path / "source") as source:
        yield source


def get(tmp_path, broker, prefix, *more, path="source", group=None):
    return Program(tmp_path, "get", "--socket", tmp_path / path, "--brokers", broker.address, "--topic-prefix", prefix,
                   "--group", group or prefix, *more)


Combo = collections.namedtuple("Combo", "key value header")


def combos(count, sensors=6, first=0, info=1):
    return [Combo(b"sensor-%d" % (n % sensors), struct.pack(">Q", n) + b"." * 100, name(n % sensors, n, info=info))
            for n in range(first, first + count)]


def plain_producer(broker):
    """Begins faster than an idempotent one."""
    return Producer(broker.quiet(linger_ms=1))


def produce(broker, prefix, messages):
    """In this order."""
    producer = plain_producer(broker)
    for m in messages:
        producer.produce(f"{prefix}.combos", m.value, m.key, headers={"saluki": m.header} if m.header else None)
    assert producer.flush(30) == 0


def produce_records(broker, prefix, sensors=6, info=1, text=b"boot=1\n"):
    producer = plain_producer(broker)
    for n in range(sensors):
        producer.produce(f"{prefix}.sensors", text, b"sensor-%d/%016x" % (n, info))
    assert producer.flush(30) == 0


def committed(broker, prefix, group=None):
    """partition -> offset"""
    asked = ConsumerGroupTopicPartitions(group or prefix, [TopicPartition(f"{prefix}.combos", p) for p in range(PARTITIONS)])
    (answer,) = broker.admin().list_consumer_group_offsets([asked]).values()
    return {t.partition: t.offset for t in answer.result(10).topic_partitions}


def by_key(messages):
    found = collections.defaultdict(list)
    for m in messages:
        found[m.key].append(m.value)
    return found


def counts(said):
    """The counters of the last report, which balance."""
    words = [line for line in said.splitlines() if "get: received" in line][-1].split("get: ")[1]
    found = {part.rsplit(" ", 1)[0]: int(part.rsplit(" ", 1)[1]) for part in words.replace(" = ", " + ").split(" + ")}
    assert found["received"] == sum(found.values()) - found["received"]
    return found


def test_messages_come_once_and_are_committed(tmp_path, broker, topics, source):
    sent = combos(1000)
    produce_records(broker, topics)
    produce(broker, topics, sent)
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: len(source.combos) >= 1000)
        source.run(lambda: source.state("lag") == "0" and source.why() is None)
        assert source.state("partitions") == str(PARTITIONS)
        assert program.stop() == 0
    assert by_key(source.combos) == by_key(sent)
    assert {m.value: m.header for m in source.combos} == {m.value: m.header for m in sent}
    assert {m.key: m.value for m in source.records} == {b"sensor-%d/%016x" % (n, 1): b"boot=1\n" for n in range(6)}
    assert all(m.number & RECORD for m in source.records) and not any(m.number & RECORD for m in source.combos)
    assert sum(committed(broker, topics).values()) == 1000
    assert counts(program.said()) == {"received": 1000, "done": 1000, "rejected": 0, "passed over": 0,
                                      "of a later version": 0, "returned": 0, "in flight": 0}
    with get(tmp_path, broker, topics):
        produce(broker, topics, combos(10, first=1000))
        source.run(lambda: len(source.combos) >= 1010)
        assert len(source.combos) == 1010


def test_an_offset_is_committed_after_done(tmp_path, broker, topics, source):
    source.answers = False
    produce_records(broker, topics)
    produce(broker, topics, combos(100, sensors=1))
    with get(tmp_path, broker, topics):
        source.run(lambda: len(source.combos) == 100)
        begun = len(source.states)
        source.run(lambda: len(source.states) > begun + 1)  # two ticks, each with a commit
        assert set(committed(broker, topics).values()) == {-1001}
        source.say_done(*source.combos[:40], *source.combos[41:])
        source.run(lambda: 40 in committed(broker, topics).values())
        assert sorted(committed(broker, topics).values()) == [-1001, -1001, 40]
        source.say_refused(source.combos[40], "malformed")
        source.run(lambda: 100 in committed(broker, topics).values())


def test_collector_that_reconnects_has_all_again(tmp_path, broker, topics, source):
    source.answers = False
    produce_records(broker, topics)
    produce(broker, topics, combos(50))
    with get(tmp_path, broker, topics):
        source.run(lambda: len(source.combos) == 50)
        first = source.combos[:]
        source.say_done(*first[:5], *first[20:30])
        source.run(lambda: sum(o for o in committed(broker, topics).values() if o > 0) >= 5)
        source.disconnect()
        source.combos.clear(), source.records.clear(), source.order.clear()
        source.run(lambda: len(source.combos) == 35)
        assert source.combos == first[5:20] + first[30:]
        assert len(source.records) == 6 and source.order[:6] == source.records
        source.say_done(*source.combos)
        source.run(lambda: sum(committed(broker, topics).values()) == 50)


def test_killed_get_repeats_what_was_not_committed(tmp_path, broker, topics, source):
    source.answers = False
    sent = combos(200)
    produce_records(broker, topics)
    produce(broker, topics, sent)
    program = get(tmp_path, broker, topics).start()
    source.run(lambda: len(source.combos) == 200)
    source.say_done(*source.combos[:100])
    source.run(lambda: sum(o for o in committed(broker, topics).values() if o > 0) > 0)
    program.kill()
    before = committed(broker, topics)
    source.combos.clear()
    source.answers = True
    with get(tmp_path, broker, topics) as program:
        left = 200 - sum(o for o in before.values() if o > 0)
        source.run(lambda: len(source.combos) >= left)
        assert program.stop() == 0
    assert len(source.combos) == left and sum(committed(broker, topics).values()) == 200


def test_a_record_goes_before_the_combo_that_names_it(tmp_path, broker, topics, source):
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: source.state("partitions") == str(PARTITIONS))
        for n in range(2, 6):
            produce_records(broker, topics, info=n)
            produce(broker, topics, combos(30, info=n, first=n * 100))
        source.run(lambda: len(source.combos) == 120)
        assert program.stop() == 0
    assert "messages without their record 0" in program.said()
    known = set()
    for m in source.order:
        if m.number & RECORD:
            known.add(m.key)
        else:
            assert m.key + b"/%016x" % struct.unpack(">Q", m.header[32:40]) in known


def test_a_combo_whose_record_is_missing_goes_on(tmp_path, broker, topics, source):
    sent = combos(20, sensors=1, info=99)
    produce(broker, topics, sent)
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: len(source.combos) == 20)
        assert program.stop() == 0
    assert source.values() == [m.value for m in sent]
    assert "messages without their record 20" in program.said()


def test_strangers_messages_are_passed_over(tmp_path, broker, topics, source):
    produce_records(broker, topics, sensors=1)
    good = combos(4, sensors=1)
    key = good[0].key
    bad = [Combo(key, b"hello", b""), Combo(key, b"x", b"\x01"), Combo(key, b"", good[0].header[:39]),
           Combo(b"", b"y", good[0].header), Combo(b"k" * 65, b"y", good[0].header),
           Combo(key, b"z" * 65537, good[0].header), Combo(key, b"z", good[0].header + b"." * 216)]
    newer = [Combo(key, b"v", name(version=2)), Combo(key, b"v", name(kind=9))]
    extended = Combo(key, b"w", name(info=1, more=b"more"))
    produce(broker, topics, [good[0], *bad, good[1], *newer, good[2], extended, good[3]])
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: len(source.combos) == 5)
        source.run(lambda: sum(o for o in committed(broker, topics).values() if o > 0) == 14)
        assert source.state("refused_messages") == "9"
        assert program.stop() == 0
    assert source.values() == [m.value for m in (*good[:3], extended, good[3])]
    assert source.combos[3].header == extended.header
    found = counts(program.said())
    assert (found["done"], found["passed over"], found["of a later version"]) == (5, 7, 2)
    lines = [line for line in program.said().splitlines() if "passed over: " in line]
    assert len(lines) == 1 and re.search(f"topic {topics}.combos, partition [0-2], offset [0-9]+: passed over: ", lines[0])


def test_records_in_new_partitions(tmp_path, broker, topics, source):
    """get ends before it passes over a combo whose record is in a partition that it does not read."""
    produce_records(broker, topics, sensors=3)
    produce(broker, topics, combos(30, sensors=3))
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: len(source.combos) == 30)
        (grown,) = broker.admin().create_partitions([NewPartitions(f"{topics}.sensors", 9)]).values()
        grown.result(10)
        wait_for(lambda: len(broker.partitions(f"{topics}.sensors")) == 9)
        produce_records(broker, topics, sensors=30, info=2)
        sent = combos(60, sensors=30, first=30, info=2)
        produce(broker, topics, sent)
        source.run(lambda: program.process.poll() is not None)
        assert program.process.returncode == 1 and "has more partitions now" in program.said()
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: {m.value for m in source.combos} >= {m.value for m in sent})
        assert program.stop() == 0
    assert "messages without their record 0" in program.said()
    known = set()
    for m in source.order:
        if m.topic == SENSORS:
            known.add(m.key)
        elif m.value in {s.value for s in sent}:
            assert b"%s/%016x" % (m.key, 2) in known


def test_get_ends_while_a_broker_hangs(tmp_path, own_broker, prefix, source):
    make_topics(own_broker, prefix)
    produce_records(own_broker, prefix)
    produce(own_broker, prefix, combos(60))
    source.answers = False
    program = get(tmp_path, own_broker, prefix).start()
    source.run(lambda: len(source.combos) == 60)
    own_broker.suspend()
    source.say_done(*source.combos)
    assert program.stop(40) == 0
    assert counts(program.said())["done"] == 60


def test_a_batch_that_cannot_be_read_is_passed_over(tmp_path, broker, topics, source):
    """A stranger's batch that is small in the log, and larger than librdkafka allows when it is unpacked."""
    produce_records(broker, topics)
    producer = Producer(broker.quiet(compression_type="zstd", message_max_bytes=400_000_000))
    for topic in "combos", "sensors":
        producer.produce(f"{topics}.{topic}", bytes(150_000_000), b"sensor-1")
        producer.flush(60)
    small = Producer(broker.quiet(compression_type="zstd", message_max_bytes=400_000_000, linger_ms=500))
    for _ in range(3):
        small.produce(f"{topics}.combos", bytes(60_000_000), b"sensor-1")
    small.flush(60)
    produce(broker, topics, combos(60))
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: len(source.combos) == 60)
        source.run(lambda: sum(o for o in committed(broker, topics).values() if o > 0) == 64)
        assert program.stop() == 0
    assert by_key(source.combos) == by_key(combos(60))
    assert "passed over: librdkafka cannot read its batch" in program.said()
    assert counts(program.said())["passed over"] == 4


def test_a_broken_record_is_passed_over(tmp_path, broker, topics, source):
    producer = broker.producer()
    for key, value in ((b"k" * 65, b"x"), (b"sensor-0/0000000000000001", b"x" * 65537), (b"dictionary/1", b"\0zstd")):
        producer.produce(f"{topics}.sensors", value, key)
    producer.flush(30)
    produce_records(broker, topics, text=b"new\n")
    produce_records(broker, topics, text=b"newer\n")
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: len(source.records) >= 7)
        assert program.stop() == 0
    last = {m.key: m.value for m in source.records}
    assert last.pop(b"dictionary/1") == b"\0zstd" and len(last) == 6 and set(last.values()) == {b"newer\n"}


def test_two_members_divide_the_partitions(tmp_path, broker, topics, source):
    """Each message is read. A commit that meets a change of the group can cost a member its partitions, and then it reads
    the messages since its last commit again."""
    sent = combos(300)
    produce_records(broker, topics)
    produce(broker, topics, sent)
    with Source(tmp_path / "other") as other, get(tmp_path, broker, topics, "--instance", "a"):
        source.run(lambda: len(source.combos) == 300)
        with get(tmp_path, broker, topics, "--instance", "b", path="other") as second:
            def divided():
                other.step(0)
                return other.state("partitions") == source.state("partitions") == "1" \
                    or {s.state("partitions") for s in (source, other)} == {"1", "2"}
            source.run(divided)
            more = combos(300, first=300)
            produce(broker, topics, more)

            def all_there():
                other.step(0)
                return len({*source.values(), *other.values()}) >= 600
            source.run(all_there)
            assert second.stop() == 0
    assert {*source.values(), *other.values()} == {m.value for m in sent + more} and other.combos


def test_a_revoked_partition_waits_for_done(tmp_path, broker, topics, source):
    """The other member does not read again what this one has written."""
    source.answers = False
    sent = combos(60)
    produce_records(broker, topics)
    produce(broker, topics, sent)
    with Source(tmp_path / "other") as other, get(tmp_path, broker, topics, "--instance", "a") as first:
        source.run(lambda: len(source.combos) == 60)
        with get(tmp_path, broker, topics, "--instance", "b", path="other"):
            other.run(lambda: other.states)
            end = time.monotonic() + 3  # the first member has been told by now, and waits
            while time.monotonic() < end:
                source.step(), other.step()
            assert not other.combos
            source.say_done(*source.combos)
            other.run(lambda: other.state("partitions") != "0")
            assert not other.combos
        assert first.stop() == 0
    assert sum(committed(broker, topics).values()) == 60


def test_window_is_bounded(tmp_path, broker, topics, source):
    """A collector that writes nothing: 64 MiB are sent, and the group still has its member."""
    source.answers = False
    producer = broker.producer()
    produce_records(broker, topics)
    for n in range(1400):
        producer.produce(f"{topics}.combos", bytes(60000), b"sensor-%d" % (n % 6), headers={"saluki": name(count=n, info=1)})
        producer.poll(0)
    producer.flush(60)
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: sum(len(m.value) for m in source.combos) >= 64 << 20)
        begun = len(source.states)
        source.run(lambda: len(source.states) > begun + 3)
        assert sum(len(m.value) for m in source.combos) < (64 << 20) + 2 * 60000
        assert source.state("partitions") == str(PARTITIONS) and int(source.state("lag")) > 0
        source.answers = True
        source.say_done(*source.combos)
        source.run(lambda: len(source.combos) >= 1400)
        source.run(lambda: source.state("lag") == "0")
        assert program.stop() == 0
    assert sorted(m.header for m in source.combos) == sorted(name(count=n, info=1) for n in range(1400))


def test_killed_broker_loses_nothing(tmp_path, own_broker, prefix, source):
    make_topics(own_broker, prefix)
    produce_records(own_broker, prefix)
    produce(own_broker, prefix, combos(500))
    with get(tmp_path, own_broker, prefix) as program:
        source.run(lambda: len(source.combos) == 500)
        own_broker.kill()
        source.run(lambda: "cannot be reached" in (source.why() or ""))
        own_broker.start()
        produce(own_broker, prefix, combos(500, first=500))
        source.run(lambda: len(set(source.values())) == 1000, 60)
        source.run(lambda: source.why() is None)
        assert program.stop() == 0
    assert "brokers are reached again" in program.said()
    assert sum(committed(own_broker, prefix).values()) == 1000


def test_missing_topics_are_waited_for(tmp_path, broker, prefix, source):
    with get(tmp_path, broker, prefix) as program:
        line = f"topic {prefix}.combos is missing; create it with 'saluki-kafka topics --topic-prefix {prefix}'"
        wait_for(lambda: line in program.said())
        make_topics(broker, prefix)
        produce_records(broker, prefix)
        produce(broker, prefix, combos(10))
        source.run(lambda: len(source.combos) == 10)


def test_deleted_topic_is_waited_for(tmp_path, broker, topics, source):
    produce_records(broker, topics)
    produce(broker, topics, combos(10))
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: len(source.combos) == 10)
        broker.delete_topic(f"{topics}.combos")
        line = f"topic {topics}.combos is missing; create it with 'saluki-kafka topics --topic-prefix {topics}'"
        source.run(lambda: source.why() == line)
        broker.create_topic(f"{topics}.combos", PARTITIONS)
        produce(broker, topics, combos(10, first=10))
        source.run(lambda: len(source.combos) == 20)
        source.run(lambda: source.why() is None)
        assert program.stop() == 0
    assert program.said().count(line) == 1 and "messages are read again" in program.said()
    assert sorted(source.values()) == sorted(m.value for m in combos(20))


def test_deleted_topic_of_records(tmp_path, broker, topics, source):
    produce_records(broker, topics)
    produce(broker, topics, combos(10))
    with get(tmp_path, broker, topics) as program:
        source.run(lambda: len(source.combos) == 10)
        broker.delete_topic(f"{topics}.sensors")
        produce(broker, topics, combos(10, first=10, info=2))
        missing = f"topic {topics}.sensors is missing; create it with 'saluki-kafka topics --topic-prefix {topics}'"
        source.run(lambda: source.why() == missing)
        assert len(source.combos) == 10
        broker.create_topic(f"{topics}.sensors", 2, cleanup_policy="compact")
        produce_records(broker, topics, info=2)
        source.run(lambda: len(source.combos) == 20)
        source.run(lambda: source.why() is None)
        assert program.stop() == 0


def test_topic_that_may_not_be_read(tmp_path, broker, topics, source):
    produce_records(broker, topics)
    produce(broker, topics, combos(10))
    broker.deny(f"{topics}.combos", AclOperation.READ)
    with get(tmp_path, broker, topics) as program:
        line = f"topic {topics}.combos: the brokers forbid this user to read; allow the operation Read"
        source.run(lambda: source.why() == line)
        broker.allow(f"{topics}.combos")
        source.run(lambda: len(source.combos) == 10)
        source.run(lambda: source.why() is None)
        assert program.stop() == 0
    assert program.said().count(line) == 1


def test_same_instance_twice(tmp_path, broker, topics, source):
    with Source(tmp_path / "other") as other, get(tmp_path, broker, topics) as first:
        source.run(lambda: source.state("partitions") == str(PARTITIONS))
        with get(tmp_path, broker, topics, path="other"):
            other.run(lambda: other.state("partitions") == str(PARTITIONS))
            assert first.process.wait(15) == 1
    assert "give each saluki-kafka get a name of its own with --instance" in first.said()


def test_two_groups_have_all(tmp_path, broker, topics, source):
    produce_records(broker, topics)
    produce(broker, topics, combos(50))
    with Source(tmp_path / "other") as other, get(tmp_path, broker, topics), \
            get(tmp_path, broker, topics, path="other", group=topics + "-2"):
        source.run(lambda: len(source.combos) == 50)
        other.run(lambda: len(other.combos) == 50)
