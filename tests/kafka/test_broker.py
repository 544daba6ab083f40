# SPDX-License-Identifier: GPL-2.0
"""The broker of the tests: whether it does what the tests of saluki-kafka rely on."""


def put(broker, topic, values, **more):
    """Produces; returns (producer, {value: error})."""
    reports = {}
    producer = broker.producer(**more)
    for value in values:
        producer.produce(topic, value, value[:1], on_delivery=lambda error, m: reports.update({m.value(): error}))
    return producer, reports


def test_killed(own_broker, prefix):
    own_broker.create_topic(prefix, partitions=2)
    values = [b"%d" % n for n in range(2000)]
    producer, reports = put(own_broker, prefix, values)
    while not reports:
        producer.poll(1)
    own_broker.restart()
    assert producer.flush(60) == 0
    assert len(reports) == len(values) and not any(reports.values())
    assert sorted(m.value for m in own_broker.messages(prefix)) == sorted(values)
