# SPDX-License-Identifier: GPL-2.0
"""saluki-kafka topics, with a real broker."""
import subprocess

from confluent_kafka.admin import ConfigResource, ResourceType
import pytest

from netns.testbed import BUILD


def topics(broker, prefix, *more, address=None):
    """(exit status, the table's rows, log)"""
    got = subprocess.run([BUILD / "saluki-kafka", "topics", "--brokers", address or broker.address, "--topic-prefix", prefix,
                          *more], capture_output=True, text=True, check=False, timeout=30)
    return got.returncode, [line.split(None, 4) for line in got.stdout.splitlines()], got.stderr


def settings(broker, topic):
    asked = ConfigResource(ResourceType.TOPIC, topic)
    return {name: entry.value for name, entry in broker.admin().describe_configs([asked])[asked].result(10).items()}


def test_missing_topics_are_created(broker, prefix):
    status, rows, said = topics(broker, prefix, "--partitions", "4", "--replicas", "1", "--allow-weak", "--retention", "48h")
    assert (status, said) == (0, "")
    assert rows == [["topic", "partitions", "replicas", "min.insync", "retention"],
                    [f"{prefix}.combos", "4", "1", "1", "2 days"], [f"{prefix}.sensors", "4", "1", "1", "compacted"],
                    [f"{prefix}.ledger", "4", "1", "1", "2 days"]]
    for topic, policy in (("combos", "delete"), ("sensors", "compact"), ("ledger", "delete")):
        found = settings(broker, f"{prefix}.{topic}")
        assert found["cleanup.policy"] == policy and found["compression.type"] == "producer"
        assert int(found["max.message.bytes"]) >= 131072
    again = topics(broker, prefix, "--partitions", "8", "--retention", "1h", "--allow-weak")
    assert again == (0, rows, "")  # nothing is changed


def test_too_few_brokers(broker, prefix):
    status, rows, said = topics(broker, prefix)
    assert status == 1 and rows == [] and said.count("\n") == 3
    assert f"topic {prefix}.combos cannot be created: " in said and "3" in said


def test_faults_are_named(broker, prefix):
    broker.create_topic(f"{prefix}.combos", max_message_bytes=100000)
    broker.create_topic(f"{prefix}.sensors")
    broker.create_topic(f"{prefix}.ledger", cleanup_policy="compact")
    status, rows, said = topics(broker, prefix, "--allow-weak")
    assert status == 1 and len(rows) == 4
    assert said.splitlines() == [
        f"saluki-kafka: topic {prefix}.combos: max.message.bytes is below 131072: the brokers refuse large messages",
        f"saluki-kafka: topic {prefix}.sensors: cleanup.policy is not compact: records of sensors are deleted",
        f"saluki-kafka: topic {prefix}.ledger: cleanup.policy is compact: all but a sensor's last message are deleted"]
    assert "has 1 replica and min.insync.replicas 1, and needs 3 and 2" in topics(broker, prefix)[2]


@pytest.mark.parametrize("setting,advice", [
    ({"compression_type": "zstd"}, "compression.type is not producer: the brokers compress again"),
])
def test_advice(broker, prefix, setting, advice):
    broker.create_topic(f"{prefix}.combos", **setting)
    status, _, said = topics(broker, prefix, "--replicas", "1", "--allow-weak")
    assert status == 1 and said == f"saluki-kafka: topic {prefix}.combos: {advice}\n"


def test_no_brokers(broker, prefix):
    status, rows, said = topics(broker, prefix, address="127.0.0.1:1")
    assert status == 1 and rows == [] and said.count("\n") == 1
    assert said.startswith("saluki-kafka: brokers 127.0.0.1:1 cannot be reached: ") and "Connection refused" in said
