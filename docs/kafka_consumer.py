# SPDX-License-Identifier: GPL-2.0
"""A reader of Saluki's combos in Kafka: python3 kafka_consumer.py BROKERS PREFIX GROUP (docs/kafka.md). Prints time in ns,
sensor, interface and link type of each frame, and ends when no message has come for 10 s. PREFIX is that of the topics'
names, such as saluki. Needs the packages confluent-kafka and zstandard."""
import struct
import sys

import zstandard
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

BROKERS, PREFIX, GROUP = sys.argv[1:4]
COMBO, STORED, DOT11, DENSE = 1, 0, 2, 0x80
SETTINGS = {"bootstrap.servers": BROKERS, "group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False}


def dictionary(topic):
    """The zstd dictionary of the codec DOT11."""
    consumer = Consumer(SETTINGS)
    parts = consumer.list_topics(topic).topics[topic].partitions
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in parts])
    while (message := consumer.poll(10)) is not None:  # a message without a value is false
        if message.key() == b"dictionary/2":
            return zstandard.ZstdCompressionDict(message.value())


def body_of(combo, dot11):
    """A combo's body, decompressed (wire/combo.h)."""
    *_, size, _, codec = struct.unpack(">HHHHLLB", combo[:17])
    data, dense = combo[17:], b""
    if codec & DENSE:  # the body's end, which does not compress, is stored behind
        n = int.from_bytes(data[:2], "big")
        data, dense = data[2:len(data) - n], data[len(data) - n:]
    if codec == STORED:
        return data
    zstd = zstandard.ZstdDecompressor(dict_data=dot11 if codec & ~DENSE == DOT11 else None)
    return zstd.decompress(b"\x28\xb5\x2f\xfd" + data, max_output_size=size - len(dense)) + dense


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        byte = self.take(1)[0]
        return byte if byte < 0x80 else byte & 0x7f | self.varint() << 7


def frames_of(body, count):
    """(time, link type, interface) of each frame: the first two columns."""
    r = Reader(body)
    _, time_ns, unit, present = r.varint(), int.from_bytes(r.take(8), "big"), r.varint(), r.varint()
    lengths = [r.varint() if present >> column & 1 else 0 for column in range(present.bit_length())]
    kinds, times, left = Reader(r.take(lengths[0])), Reader(r.take(lengths[1])), 0
    for _ in range(count):
        if not left:
            left, linktype, interface, _ = kinds.varint(), kinds.varint(), *kinds.take(2)
        left, step = left - 1, times.varint()
        time_ns += (step >> 1 ^ -(step & 1)) * unit
        yield time_ns, linktype, interface


dot11, log, due = dictionary(f"{PREFIX}.sensors"), Consumer(SETTINGS), {}
log.subscribe([f"{PREFIX}.combos"])
while (message := log.poll(10)) is not None:
    try:
        header = dict(message.headers() or ()).get("saluki") or b""
        version, kind, frames, run, number = struct.unpack(">BB2xLQQ16x", header[:40])
        if (version, kind) == (1, COMBO) and number >= due.get((message.key(), run), 0):  # otherwise it is a repetition
            for time_ns, linktype, interface in list(frames_of(body_of(message.value(), dot11), frames)):
                print(time_ns, message.key().decode(), interface, linktype, sep="\t")
            due[message.key(), run] = number + 1
        log.commit(message)
    except Exception as error:  # a stranger's message, or one of librdkafka
        print("passed over:", message.partition(), message.offset(), message.error() or error, file=sys.stderr)
