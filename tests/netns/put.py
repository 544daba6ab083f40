# SPDX-License-Identifier: GPL-2.0
"""Stands in for `saluki-kafka put`: takes what a collector's --sink has, and confirms it (wire/put.h)."""
import collections
import socket
import threading

from wire import saluki_combo as sc
from wire.saluki_put import (COMBO, COMBOS, DONE_MAX, LEDGER, PACKET_MAX, PROGRESS, SENSORS, SINK, SOURCE, TOTALS, Name,
                             done, hello, name_read, put_read, refused, state)

__all__ = ["COMBO", "COMBOS", "LEDGER", "PACKET_MAX", "PROGRESS", "SENSORS", "SINK", "SOURCE", "TOTALS", "Message", "Name",
           "Put", "assert_in_order", "hello", "named", "opened"]
Message = collections.namedtuple("Message", "number topic time_ms key name value")


def named(m):
    """A PUT with its name read; None: it has none."""
    return Message(m.number, m.topic, m.time_ms, m.key.decode(), name_read(m.header) if m.header else None, m.value)


class Put:
    """Connects, and confirms each message if `confirms` says so. A thread of its own takes messages."""

    def __init__(self, path, confirms=lambda m: True):
        self.messages, self.confirms, self.ended = [], confirms, threading.Event()
        self.arrived = threading.Condition()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(str(path))
        self.sock.send(hello(SINK))
        first = self.sock.recv(PACKET_MAX)
        assert first == hello(SINK), first
        self.thread = threading.Thread(target=self._take)
        self.thread.start()

    def _take(self):
        try:
            while packet := self.sock.recv(PACKET_MAX):
                message = named(put_read(packet))
                with self.arrived:
                    self.messages.append(message)
                    self.arrived.notify_all()
                if self.confirms(message):
                    self.done(message.number)
        except OSError:
            pass  # either end has gone
        with self.arrived:
            self.ended.set()
            self.arrived.notify_all()

    def done(self, *numbers):
        for at in range(0, len(numbers), DONE_MAX):
            self.sock.send(done(*numbers[at:at + DONE_MAX]))

    def refuse(self, number, why):
        self.sock.send(refused(number, why))

    def state(self, **lines):
        self.sock.send(state(**lines))

    def wait(self, condition, seconds=20):
        """Until the condition on this object holds."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: condition(self) or self.ended.is_set(), seconds), \
                f"of {len(self.messages)} messages"
        assert condition(self)

    def of(self, topic, kind=None):
        return [m for m in self.messages if m.topic == topic and (kind is None or m.name.kind == kind)]

    @property
    def combos(self):
        return self.of(COMBOS, COMBO)

    def frames(self):
        """How many frames there are in the combos, each combo once."""
        return sum({(m.name.run, m.name.count): m.name.frames for m in self.combos}.values())

    def close(self):
        if self.sock.fileno() < 0:
            return
        self.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.sock.close()


def opened(message):
    """The frames of a combo, decoded by the second implementation."""
    return sc.Combo(message.value, message.name.sensor).frames


def assert_in_order(messages):
    """Each combo of a run comes first after the one before it."""
    seen = {}
    for m in messages:
        before = seen.get(m.name.run, -1)
        assert m.name.count <= before + 1, (m.name, before)
        seen[m.name.run] = max(before, m.name.count)
