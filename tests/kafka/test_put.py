# SPDX-License-Identifier: GPL-2.0
"""saluki-kafka put, between a stand-in for the collector and a real broker."""
import collections
import contextlib
import os
import struct
import time

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
import pytest

from kafka.broker import PASSWORD, USER, wait_for
from kafka.peer import COMBOS, LEDGER, SENSORS, Program, Put, Sink, name
from netns import relay

NOW_MS = int(time.time() * 1000) - 3_600_000
TOPICS = "combos", "sensors", "ledger"


def make_topics(broker, prefix, partitions=2, **config):
    for topic in TOPICS:
        broker.create_topic(f"{prefix}.{topic}", partitions, **config)


@pytest.fixture(name="topics")
def fixture_topics(broker, prefix):
    make_topics(broker, prefix)
    return prefix


@pytest.fixture(name="sink")
def fixture_sink(tmp_path):
    with Sink(tmp_path / "sink") as sink:
        yield sink


def put(tmp_path, broker, prefix, *more, listener="plain", path="sink"):
    return Program(tmp_path, "put", "--socket", tmp_path / path, "--brokers", f"127.0.0.1:{broker.ports[listener]}",
                   "--topic-prefix", prefix, "--allow-weak", *more)


def combos(count, sensors=10, first=0):
    """Messages of several sensors; the value has the number within the sensor."""
    return [Put(n, COMBOS, NOW_MS + n, b"sensor-%d" % (n % sensors), name(n % sensors, n // sensors),
                struct.pack(">Q", n // sensors) + b"." * 200) for n in range(first, first + count)]


def firsts(messages):
    """For each key, the values in the order in which each came first."""
    found = collections.defaultdict(dict)
    for m in messages:
        found[m.key].setdefault(m.value)
    return {key: list(values) for key, values in found.items()}


def check_all_there(broker, topic, sent):
    """Each at least once, a key in one partition, and the order of first occurrences is that of sending."""
    found = broker.messages(topic)
    assert firsts(found) == firsts(sent)
    places = collections.defaultdict(set)
    for m in found:
        places[m.key].add(m.partition)
    assert all(len(p) == 1 for p in places.values())
    return found


def counts(said):
    """The counters of the last report, which balance."""
    words = [line for line in said.splitlines() if "put: taken" in line][-1].split("put: ")[1]
    found = {part.rsplit(" ", 1)[0]: int(part.rsplit(" ", 1)[1]) for part in words.replace(" = ", " + ").split(" + ")}
    assert found["taken"] == sum(found.values()) - found["taken"]
    return found


def test_messages_are_in_the_log_as_sent(tmp_path, broker, topics, sink):
    sent = combos(2000)
    record = Put(5000, SENSORS, NOW_MS, b"sensor-1/0123456789abcdef", b"", b"boot=1\n")
    ledger = Put(5001, LEDGER, NOW_MS, b"sensor-1", b"", b"{}")
    with put(tmp_path, broker, topics) as program:
        sink.put(*sent, record, ledger)
        sink.settle()
        assert sorted(sink.done) == [*range(2000), 5000, 5001] and not sink.refused
        assert program.stop() == 0
    found = check_all_there(broker, f"{topics}.combos", sent)
    assert len(found) == len(sent)
    by_value = {(m.key, m.value): m for m in found}
    for m in sent:
        got = by_value[m.key, m.value]
        assert got.headers == {"saluki": m.header} and got.time_ms == m.time_ms
    assert [(m.key, m.headers, m.value) for m in broker.messages(f"{topics}.sensors")] == [(record.key, {}, record.value)]
    assert [(m.key, m.value) for m in broker.messages(f"{topics}.ledger")] == [(ledger.key, ledger.value)]
    assert counts(program.said()) == {"taken": 2002, "delivered": 2002, "refused": 0, "returned": 0, "in flight": 0}


def test_partitions_are_those_of_java_clients(tmp_path, broker, topics, sink):
    """murmur2, as org.apache.kafka.common.utils.Utils has it; its own test's values are among these."""
    def murmur2(data):
        h = 0x9747B28C ^ len(data)
        body = len(data) & ~3
        for (k,) in struct.iter_unpack("<I", data[:body]):
            k = k * 0x5BD1E995 & 0xFFFFFFFF
            k = (k ^ k >> 24) * 0x5BD1E995 & 0xFFFFFFFF
            h = h * 0x5BD1E995 & 0xFFFFFFFF ^ k
        for n in reversed(range(len(data) - body)):
            h ^= data[body + n] << 8 * n
        h = h * 0x5BD1E995 & 0xFFFFFFFF if len(data) > body else h
        h = (h ^ h >> 13) * 0x5BD1E995 & 0xFFFFFFFF
        return h ^ h >> 15
    assert murmur2(b"21") == -973932308 & 0xFFFFFFFF and murmur2(b"foobar") == -790332482 & 0xFFFFFFFF
    with put(tmp_path, broker, topics):
        sink.put(*combos(40, sensors=40))
        sink.settle()
    for m in broker.messages(f"{topics}.combos"):
        assert m.partition == (murmur2(m.key) & 0x7FFFFFFF) % 2


@pytest.mark.parametrize("age_days", [-10, 4, 1000])
def test_a_wrong_stamp_is_corrected(tmp_path, broker, topics, sink, age_days):
    """The broker refuses the batch of a message that is an hour ahead, and deletes what is older than 7 days."""
    before = int(time.time() * 1000)
    wrong, right = combos(2)
    with put(tmp_path, broker, topics):
        sink.put(wrong._replace(time_ms=before - age_days * 86_400_000), right)
        sink.settle()
    assert sorted(sink.done) == [0, 1]
    stamps = {m.key: m.time_ms for m in broker.messages(f"{topics}.combos")}
    assert before - 10 <= stamps[wrong.key] <= time.time() * 1000 and stamps[right.key] == right.time_ms


def test_large_messages_are_refused_alone(tmp_path, broker, prefix, sink):
    make_topics(broker, prefix, max_message_bytes=10000)
    sent = combos(300)
    for n in (100, 200):
        sent[n] = sent[n]._replace(value=b"x" * 20000)
    sent[150] = sent[150]._replace(value=b"x" * 9876)  # only the broker knows
    sent[151] = sent[151]._replace(key=b"")
    with put(tmp_path, broker, prefix) as program:
        sink.put(*sent)
        sink.settle()
        program.stop()
    assert set(sink.refused) == {100, 150, 151, 200}
    assert "max.message.bytes" in sink.refused[100] and "key" in sink.refused[151]
    taken = [m for m in sent if m.number not in sink.refused]
    assert sorted(sink.done) == [m.number for m in taken]
    check_all_there(broker, f"{prefix}.combos", taken)
    assert counts(program.said())["refused"] == 4


def test_killed_put_loses_nothing(tmp_path, broker, topics, sink):
    sent = combos(5000)
    sink.put(*sent)
    program = put(tmp_path, broker, topics).start()
    sink.run(lambda: len(sink.done) > 1000)
    program.kill()
    sink.run(lambda: not sink.connection)
    with put(tmp_path, broker, topics):
        sink.settle()
    assert sorted(sink.done) == list(range(5000)) and sink.connections == 2
    check_all_there(broker, f"{topics}.combos", sent)


def test_collector_that_reconnects_sends_again(tmp_path, broker, topics, sink):
    sent = combos(3000)
    sink.put(*sent)
    with put(tmp_path, broker, topics) as program:
        sink.run(lambda: len(sink.done) > 500)
        sink.disconnect()
        sink.settle()
        program.stop()
    assert sorted(sink.done) == list(range(3000)) and sink.connections == 2
    check_all_there(broker, f"{topics}.combos", sent)
    assert counts(program.said())["in flight"] == 0


def test_killed_broker_loses_nothing(tmp_path, own_broker, prefix, sink):
    make_topics(own_broker, prefix)
    sent = combos(4000)
    sink.put(*sent[:2000])
    with put(tmp_path, own_broker, prefix) as program, Sink(tmp_path / "late") as late, contextlib.ExitStack() as stack:
        sink.run(lambda: len(sink.done) > 500)
        own_broker.kill()
        second = stack.enter_context(put(tmp_path, own_broker, prefix, path="late"))
        sink.put(*sent[2000:])
        sink.run(lambda: sink.why())
        assert f"brokers {own_broker.address} cannot be reached" in sink.why()
        assert f"brokers {own_broker.address} cannot be reached" in program.said()
        wait_for(lambda: "cannot be reached" in second.said())
        own_broker.start()
        sink.settle(60)
        late.run(lambda: late.states)
        assert program.stop() == 0
    assert sorted(sink.done) == list(range(4000)) and not sink.refused and sink.connections == 1
    # A batch may be there twice, with the same sequence numbers: a broker can forget the last one's when it is killed.
    check_all_there(own_broker, f"{prefix}.combos", sent)
    assert counts(program.said())["returned"] == 0


def test_a_batch_is_not_refused_for_one_message(tmp_path, broker, topics, sink):
    """Brokers refuse all of a batch for one stamp. Here, the topic's limit is set when the program has read the topic."""
    sent = [m._replace(time_ms=int(time.time() * 1000)) for m in combos(400)]
    sent[170] = sent[170]._replace(time_ms=NOW_MS - 7_200_000)
    limit = ConfigEntry("message.timestamp.before.max.ms", "7200000", incremental_operation=AlterConfigOpType.SET)
    asked = ConfigResource(ResourceType.TOPIC, f"{topics}.combos", incremental_configs=[limit])
    with put(tmp_path, broker, topics) as program:
        sink.run(lambda: sink.connection)
        broker.admin().incremental_alter_configs([asked])[asked].result(10)
        wait_for(lambda: broker.admin().describe_configs([asked])[asked].result(10)[limit.name].value == limit.value)
        sink.put(*sent)
        sink.settle()
        assert "sending each message alone" in program.said()
        sink.put(*combos(1000, first=400))
        sink.settle()
        assert "sending many messages at a time again" in program.said()
        assert program.stop() == 0
    assert not sink.refused
    check_all_there(broker, f"{topics}.combos", sent + combos(1000, first=400))


def test_a_wrong_clock_loses_nothing(tmp_path, broker, topics, sink, monkeypatch):
    """Brokers refuse each message of a machine that is two hours ahead, until its clock is right."""
    clock = relay.Clock(tmp_path / "clock", seconds=7200)
    sent = [m._replace(time_ms=1 << 42) for m in combos(100)]
    program = put(tmp_path, broker, topics)
    with monkeypatch.context() as m:
        for key, value in clock.env.items():
            m.setenv(key, value)
        program.start()
    with contextlib.ExitStack() as stack:
        stack.push(program.__exit__)
        sink.put(*sent)
        sink.run(lambda: "brokers refuse the present time" in (sink.why() or ""))
        assert not sink.refused and not sink.done
        clock.move(0)
        sink.settle()
        assert program.said().count("brokers refuse the present time") == 1
    assert sorted(sink.done) == list(range(100)) and not sink.refused
    check_all_there(broker, f"{topics}.combos", sent)


def test_suspended_broker(tmp_path, broker, topics, sink):
    with put(tmp_path, broker, topics) as program:
        sink.put(*combos(100))
        sink.settle()
        broker.suspend()
        try:
            sink.put(*combos(100, first=100))
            sink.run(lambda: "brokers have not acknowledged a message for 5 s" in (sink.why() or ""))
        finally:
            broker.resume()
        sink.settle()
        sink.run(lambda: not sink.why())
        assert program.stop() == 0
    assert "messages are delivered again" in program.said()
    assert len(check_all_there(broker, f"{topics}.combos", combos(200))) == 200


def test_missing_topics_are_waited_for(tmp_path, broker, prefix, sink):
    with put(tmp_path, broker, prefix) as program:
        line = f"topic {prefix}.combos is missing; create it with 'saluki-kafka topics --topic-prefix {prefix}'"
        wait_for(lambda: line in program.said())
        assert not sink.step(0) and sink.connections == 0
        make_topics(broker, prefix)
        sink.put(*combos(10))
        sink.settle()
        assert program.said().count(line) == 1


def test_deleted_topic_is_waited_for(tmp_path, broker, topics, sink):
    with put(tmp_path, broker, topics) as program:
        sink.put(*combos(100))
        sink.settle()
        broker.delete_topic(f"{topics}.combos")
        sink.put(*combos(100, first=100))
        line = f"topic {topics}.combos is missing; create it with 'saluki-kafka topics --topic-prefix {topics}'"
        sink.run(lambda: not sink.connection)
        assert line in program.said() and line == sink.why()
        broker.create_topic(f"{topics}.combos", 2)
        sink.settle()
        assert "messages are delivered again" in wait_for(lambda: "again" in program.said() and program.said())
    assert sorted(sink.done) == list(range(200)) and not sink.refused
    check_all_there(broker, f"{topics}.combos", combos(100, first=100))


def test_weak_topics_are_not_used(tmp_path, broker, topics, sink):
    program = put(tmp_path, broker, topics)
    program.args.remove("--allow-weak")
    with program:
        line = f"topic {topics}.combos has 1 replica and min.insync.replicas 1, and needs 3 and 2; change the topic, or " \
               "accept that brokers can lose messages with --allow-weak"
        wait_for(lambda: line in program.said())
        assert not sink.step(0) and sink.connections == 0
        assert program.stop() == 0


def test_topic_that_may_not_be_written(tmp_path, broker, topics, sink):
    broker.deny(f"{topics}.combos")
    with put(tmp_path, broker, topics) as program:
        sink.put(*combos(10))
        sink.run(lambda: "forbid this user to write" in program.said())
        assert not sink.refused and not sink.done
        broker.allow(f"{topics}.combos")
        sink.settle()
    assert sorted(sink.done) == list(range(10))
    assert program.said().count("forbid this user to write") == 1


def config_file(folder, mode=0o600, **settings):
    """A `_` in the names of settings is a dot."""
    path = folder / "kafka.conf"
    path.write_text("# settings\n\n" + "".join(f"{k.replace('_', '.')} = {v}\n" for k, v in settings.items()))
    path.chmod(mode)
    return path


def sasl(broker, **more):
    return {k.replace(".", "_"): v for k, v in broker.client("sasl").items() if k != "bootstrap.servers"} | more


def test_tls_and_sasl(tmp_path, broker, topics, sink):
    settings = sasl(broker)
    os.chmod(os.path.dirname(settings["ssl_ca_location"]), 0o755)
    path = config_file(tmp_path, **settings)
    with put(tmp_path, broker, topics, "--kafka-config", path, listener="sasl") as program:
        sink.put(*combos(10))
        sink.settle()
    path = config_file(tmp_path, **sasl(broker, sasl_password="wrong horse"))
    with put(tmp_path, broker, topics, "--kafka-config", path, listener="sasl") as program:
        wait_for(lambda: "refuse the credentials" in program.said())
        assert program.stop() == 0
    assert program.said().count("refuse the credentials") == 1 and "sasl.password in --kafka-config" in program.said()
    assert "horse" not in program.said() and PASSWORD not in program.said() and USER


@pytest.mark.parametrize("listener,protocol,said", [
    ("tls", "SSL", "TLS to brokers fails: "),  # the system does not know the authority
    ("plain", "SSL", "TLS to brokers fails: "),
    ("tls", "PLAINTEXT", "end each connection at its first request; if they need TLS or SASL, correct security.protocol"),
])
def test_wrong_protocol(tmp_path, broker, listener, protocol, said):
    """In the command that does not try again: put says it after some seconds."""
    path = config_file(tmp_path, security_protocol=protocol)
    with Program(tmp_path, "topics", "--brokers", f"127.0.0.1:{broker.ports[listener]}", "--kafka-config", path) as program:
        assert program.process.wait(30) == 1
    assert said in program.said() and "--kafka-config" in program.said() and program.said().count("\n") == 1


def test_second_put(tmp_path, broker, topics, sink):
    """It waits, and says so; it goes on when the first one has ended."""
    with put(tmp_path, broker, topics) as first:
        sink.run(lambda: sink.states)
        with put(tmp_path, broker, topics) as second:
            wait_for(lambda: "the collector does not answer; it takes one saluki-kafka at a time" in second.said())
            assert first.stop() == 0
            sink.put(*combos(10))
            sink.settle()
            assert second.stop() == 0 and second.said().count("does not answer") == 1


@pytest.mark.parametrize("line,said", [
    ("bootstrap.servers=a:1", "bootstrap.servers cannot be set: the option --brokers of saluki-kafka gives it; remove the"),
    ("acks=1", "acks cannot be set: a message is done only if all brokers that must have it have it; remove the line"),
    ("request.required.acks = 1", "request.required.acks cannot be set"),
    ("enable.idempotence=false", "enable.idempotence cannot be set"),
    ("delivery.timeout.ms=5", "delivery.timeout.ms cannot be set"),
    ("transactional.id=x", "transactional.id cannot be set"),
    ("compression.codec=zstd", "compression.codec cannot be set: combos are compressed already"),
    ("no.such.setting=secret-word", 'no.such.setting: No such configuration property: "no.such.setting"'),
    ("security.protocol=secret-word", "security.protocol: librdkafka refuses this value"),
    ("secret-word", "must be key=value"),
    ("acks.cb=1", "acks.cb: No such configuration property"),
])
def test_wrong_settings(tmp_path, line, said):
    path = tmp_path / "kafka.conf"
    path.write_text("client.id=x\n" + line + "\n")
    path.chmod(0o600)
    with Program(tmp_path, "put", "--socket", "/nowhere", "--brokers", "127.0.0.1:1", "--kafka-config", path) as program:
        assert program.process.wait(10) == 1
    assert f"saluki-kafka: {path}:2: {said}" in program.said() and program.said().count("\n") == 1
    assert "secret-word" not in program.said()


@pytest.mark.parametrize("settings,said", [
    ({"security_protocol": "SSL", "ssl_ca_location": "/nowhere"}, "ssl.ca.location failed: "),
    ({"security_protocol": "SASL_SSL"}, "sasl.kerberos.keytab"),  # without sasl.mechanism, it is Kerberos
])
@pytest.mark.parametrize("command", ["put", "get", "topics"])
def test_settings_that_librdkafka_finds_wrong_when_it_starts(tmp_path, command, settings, said):
    """It has then destroyed half of them."""
    path = config_file(tmp_path, **settings)
    more = {"put": ["--socket", "/nowhere"], "get": ["--socket", "/nowhere", "--group", "g"], "topics": []}[command]
    with Program(tmp_path, command, *more, "--brokers", "127.0.0.1:1", "--kafka-config", path) as program:
        assert program.process.wait(10) == 1
    line = program.said().splitlines()[0]
    assert "librdkafka cannot start: " in line and said in line and line.endswith("; correct --kafka-config")


def test_settings_that_others_can_read(tmp_path):
    path = config_file(tmp_path, 0o644, sasl_password="x")
    with Program(tmp_path, "put", "--socket", "/nowhere", "--brokers", "127.0.0.1:1", "--kafka-config", path) as program:
        assert program.process.wait(10) == 1
    assert f"--kafka-config {path}: other users can read or change this file; chmod 600" in program.said()
