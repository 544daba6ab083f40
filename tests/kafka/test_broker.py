# SPDX-License-Identifier: GPL-2.0
"""The broker of the tests does what the tests of saluki-kafka rely on. And what an idempotent producer sees of it, with
Debian's librdkafka 2.0.2, message.timeout.ms=0 and Kafka 4.1.2 (errors by their names in rdkafka.h):

what happens                         what the producer is told
broker killed                        error callback _TRANSPORT, _ALL_BROKERS_DOWN; no report until it is back
broker stopped (SIGSTOP)             nothing for socket.timeout.ms (60 s), then error callback _TIMED_OUT
disk full                            as killed: a broker whose only log.dirs is full ends with status 1
wrong password                       error callback _AUTHENTICATION, twice; identical ones are not repeated for 30 s
TLS at one end only, unknown CA      error callback _TRANSPORT, then _SSL; plain to a TLS port: _TRANSPORT alone
topic missing at the start           nothing for topic.metadata.propagation.max.ms (30 s), then UNKNOWN_TOPIC_OR_PART
topic deleted                        _UNKNOWN_PARTITION in reports, _UNKNOWN_TOPIC from produce() until the next
                                     metadata (1 s); then as missing at the start
topic deleted and made again         nothing
TOPIC_AUTHORIZATION_FAILED           in reports, and from produce() until the next metadata (1 s)
message > topic's max.message.bytes  MSG_SIZE_TOO_LARGE; the limit is for a batch too, which librdkafka does not split
stamp > 1 h ahead                    INVALID_TIMESTAMP (message.timestamp.after.max.ms)
no key in a compacted topic          INVALID_RECORD
fewer copies than min.insync.replicas, or KAFKA_STORAGE_ERROR
                                     nothing at all: librdkafka tries again
no right to get a producer's id      CLUSTER_AUTHORIZATION_FAILED, fatal; queued messages: _PURGE_QUEUE
OUT_OF_ORDER_SEQUENCE_NUMBER         in a report, fatal; UNKNOWN_PRODUCER_ID is not, and not reported

One message that is refused takes its whole batch with it: all of them get the error. Only the last two are fatal:
error callback and produce() say _FATAL. The first producer of a new broker gets its id after 0.5 to 1 s ("Coordinator
load in progress", a log line and no error). min.insync.replicas above a topic's number of copies counts as that number.
"""
import pytest
from confluent_kafka import KafkaError, KafkaException


def put(broker, topic, values, **more):
    """Produces; returns (producer, {value: error}), before the reports are there."""
    reports, producer = {}, broker.producer(**more)
    for value in values:
        producer.produce(topic, value, value[:1], on_delivery=lambda error, m: reports.update({m.value(): error}))
    return producer, reports


def refused(broker, topic, value=b"value", **more):
    with pytest.raises(KafkaException) as raised:
        broker.produce(topic, value, **more)
    return raised.value.args[0].code()


def first_error(broker, listener, **more):
    """What a client is told that cannot connect."""
    said = []
    producer = broker.producer(listener=listener, error__cb=lambda error: said.append(error.code()), **more)
    while not said:
        producer.poll(1)
    return said[0]


def settled(producer, reports, values):
    """All is acknowledged in the end."""
    assert producer.flush(60) == 0 and reports == dict.fromkeys(values)
    return list(values)


def test_lives_again(make_broker, prefix):
    """A broker that is killed, suspended, or ends as its disk is full: what is acknowledged is in the topic."""
    broker = make_broker(disk_mb=32)
    broker.create_topic(prefix, partitions=2)
    values = [b"%d" % n for n in range(2000)]
    producer, reports = put(broker, prefix, values)
    while not reports:
        producer.poll(1)
    broker.restart()
    expected = settled(producer, reports, values)

    broker.suspend()
    producer, reports = put(broker, prefix, [b"slow"])
    assert producer.flush(1) == 1 and not reports
    broker.resume()
    expected += settled(producer, reports, [b"slow"])

    broker.fill_disk()
    values = [b"full %d" % n for n in range(200)]
    producer, reports = put(broker, prefix, values)
    assert broker.ended() == 1
    broker.free_disk()
    broker.start()
    expected += settled(producer, reports, values)
    assert sorted(m.value for m in broker.messages(prefix)) == sorted(expected)


def test_message_as_produced(broker, prefix):
    broker.create_topic(prefix, partitions=2)
    where = broker.produce(prefix, b"value", b"key", {"saluki": b"\0\1"}, partition=1, timestamp=1_700_000_000_000)
    assert broker.messages(prefix) == [(*where, b"key", {"saluki": b"\0\1"}, b"value", 1_700_000_000_000)]
    assert where == (1, 0)


def test_refused(broker, prefix):
    broker.create_topic(prefix, max_message_bytes=1000)
    broker.deny(prefix)
    assert refused(broker, prefix) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    broker.allow(prefix)
    assert refused(broker, prefix, bytes(2000)) == KafkaError.MSG_SIZE_TOO_LARGE
    broker.produce(prefix, b"value")
    assert [m.value for m in broker.messages(prefix)] == [b"value"]
    broker.delete_topic(prefix)
    assert refused(broker, prefix, topic_metadata_propagation_max_ms=1) == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_listeners(broker, prefix):
    broker.create_topic(prefix)
    for listener in broker.ports:
        broker.produce(prefix, listener.encode(), listener=listener)
    assert len(broker.messages(prefix)) == len(broker.ports)
    assert first_error(broker, "sasl", sasl_password="wrong") == KafkaError._AUTHENTICATION


def test_cluster(cluster, prefix):
    """A broker of three is lost, and nothing else."""
    one, *others = cluster.brokers
    one.create_topic(prefix, copies=3, min_insync_replicas=2)
    producer, reports = put(one, prefix, [b"before"], bootstrap_servers=cluster.address)
    assert producer.flush(60) == 0
    leader = cluster.leader(prefix)
    leader.kill()
    producer.produce(prefix, b"after", on_delivery=lambda error, m: reports.update({m.value(): error}))
    assert producer.flush(60) == 0 and reports == {b"before": None, b"after": None}
    left = others[0] if leader is one else one
    assert [m.value for m in left.messages(prefix)] == [b"before", b"after"]
