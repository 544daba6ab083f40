# SPDX-License-Identifier: GPL-2.0
"""A second implementation of the messages between saluki-collector and saluki-kafka (wire/put.h). Keys are bytes."""
import collections
import struct

MAGIC, VERSION, DONE_MAX, PACKET_MAX = 0x534C4B49, 1, 256, 1 << 17
HELLO, PUT, DONE, REFUSED, STATE = range(5)
SINK, SOURCE = range(2)
COMBOS, SENSORS, LEDGER = range(3)
COMBO, TOTALS, PROGRESS = 1, 2, 3

Put = collections.namedtuple("Put", "number topic time_ms key header value")
Name = collections.namedtuple("Name", "kind sensor frames run count first info version", defaults=[1])


def hello(role, version=VERSION, magic=MAGIC):
    return struct.pack(">BLBB", HELLO, magic, version, role)


def put_write(m):
    return (struct.pack(">BQBQBB", PUT, m.number, m.topic, m.time_ms, len(m.key), len(m.header)) + m.key + m.header +
            m.value)


def put_read(packet):
    kind, number, topic, time_ms, key, header = struct.unpack_from(">BQBQBB", packet)
    assert kind == PUT and topic <= LEDGER and key <= 64 and len(packet) >= 20 + key + header
    at = 20 + key
    return Put(number, topic, time_ms, packet[20:at], packet[at:at + header], packet[at + header:])


def name_write(n, more=b""):
    """The header of a message in the topic of combos."""
    return struct.pack(">BBHLQQQQ", n.version, *n[:-1]) + more


def name_read(header):
    version, *rest = struct.unpack_from(">BBHLQQQQ", header)
    return Name(*rest, version)


def done(*numbers):
    return struct.pack(f">B{len(numbers)}Q", DONE, *numbers)


def done_read(packet):
    assert packet[0] == DONE and len(packet) % 8 == 1 and 9 <= len(packet) <= 1 + 8 * DONE_MAX, packet[:20]
    return [n for n, in struct.iter_unpack(">Q", packet[1:])]


def refused(number, reason):
    return struct.pack(">BQ", REFUSED, number) + reason.encode()


def state(**lines):
    return bytes([STATE]) + "".join(f"{k}={v}\n" for k, v in lines.items()).encode()
