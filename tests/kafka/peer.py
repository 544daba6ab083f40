# SPDX-License-Identifier: GPL-2.0
"""Stands in for saluki-collector at the socket of saluki-kafka: a second implementation of wire/put.h. And runs
saluki-kafka."""
import collections
import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
import time

from netns.testbed import BUILD
from wire import saluki_put as sp
from wire.saluki_put import COMBOS, DONE, LEDGER, REFUSED, SENSORS, SINK, SOURCE, STATE, Put

__all__ = ["COMBOS", "LEDGER", "RECORD", "SENSORS", "Peer", "Program", "Put", "Sink", "Source", "name"]

RECORD = 1 << 63


def name(sensor=1, count=0, kind=1, frames=10, run=7, first=0, info=0, version=1, more=b""):
    """The header of a combo."""
    return sp.name_write(sp.Name(kind, sensor, frames, run, count, first, info, version), more)


class Peer:
    """Listens. step() takes what has come; run() does so until something holds."""

    def __init__(self, path, role):
        self.path, self.role, self.connection = str(path), role, None
        self.states, self.connections = [], 0
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        self.listener.listen(1)
        os.chmod(self.path, 0o666)  # saluki-kafka gives up root
        os.chmod(os.path.dirname(self.path), 0o755)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.disconnect()
        self.listener.close()

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def accept(self):
        self.connection, _ = self.listener.accept()
        self.connections += 1
        self.connection.send(sp.hello(self.role))
        self.greeted = False

    def take(self, packet):
        if not self.greeted:
            assert packet == sp.hello(self.role)
            self.greeted = True
            self.begin()
        elif packet[0] == STATE:
            lines = packet[1:].decode().splitlines()
            self.states.append(dict(line.split("=", 1) for line in lines))
        else:
            self.message(packet)

    def step(self, seconds=0.1):
        """Returns whether anything has come."""
        ready, _, _ = select.select([s for s in (self.listener, self.connection) if s], [], [], seconds)
        if self.connection in ready:
            self.read()
        elif self.listener in ready:
            self.disconnect()
            self.accept()
        return bool(ready)

    def read(self):
        """All packets that are there."""
        while self.connection:
            try:
                packet = self.connection.recv(1 << 17, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except ConnectionResetError:
                packet = b""
            if not packet:
                self.disconnect()
                return
            self.take(packet)

    def run(self, until, seconds=30):
        """Raises AssertionError if it does not hold in time."""
        end = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < end, f"not within {seconds} s; the last state: {self.states[-1:]}"
            self.step()

    def state(self, key):
        """In the last state; None: there is none."""
        return self.states[-1].get(key) if self.states else None

    def why(self):
        """Why nothing is carried, in the last state."""
        return self.state("why")

    def begin(self):
        """A connection has begun."""

    def message(self, packet):
        """A packet that is neither HELLO nor STATE."""


class Sink(Peer):
    """As --sink: sends messages, and again in their order those without an answer in each connection."""

    def __init__(self, path, window=1000):
        super().__init__(path, SINK)
        self.window = window
        self.undone, self.unsent = collections.OrderedDict(), collections.deque()
        self.done, self.refused = [], {}

    def put(self, *messages):
        self.unsent.extend(messages)

    def begin(self):
        self.unsent.extendleft(reversed(self.undone.values()))
        self.undone.clear()
        self.send()

    def send(self):
        while self.unsent and len(self.undone) < self.window:
            m = self.unsent[0]
            try:
                self.connection.send(sp.put_write(m), socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except (BrokenPipeError, ConnectionResetError):
                self.disconnect()
                return
            self.undone[m.number] = self.unsent.popleft()

    def step(self, seconds=0.1):
        if self.connection and self.greeted:
            self.send()
        return super().step(0.005 if self.unsent else seconds)

    def message(self, packet):
        if packet[0] == DONE:
            for number in sp.done_read(packet):
                del self.undone[number]  # fails if it has DONE twice, or is not of this connection
                self.done.append(number)
        else:
            assert packet[0] == REFUSED
            (number,) = struct.unpack_from(">Q", packet, 1)
            del self.undone[number]
            self.refused[number] = packet[9:].decode()

    def settle(self, seconds=30):
        """Until each message has an answer."""
        self.run(lambda: not self.undone and not self.unsent, seconds)


class Source(Peer):
    """As --source: takes messages. `answers`: whether each has DONE at once."""

    def __init__(self, path, answers=True):
        super().__init__(path, SOURCE)
        self.answers = answers
        self.combos, self.records, self.order = [], [], []

    def message(self, packet):
        m = sp.put_read(packet)
        (self.records if m.topic == SENSORS else self.combos).append(m)
        self.order.append(m)
        if self.answers:
            self.say_done(m)

    def say_done(self, *messages):
        for m in messages:
            self.connection.send(sp.done(m.number))

    def say_refused(self, m, reason):
        self.connection.send(sp.refused(m.number, reason))

    def values(self):
        return [m.value for m in self.combos]


class Program:
    """saluki-kafka with these arguments, until the context ends."""

    def __init__(self, folder, *args):
        self.args, self.log = [str(a) for a in args], folder / f"{args[0]}-{time.monotonic_ns()}.log"
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([BUILD / "saluki-kafka", *self.args], stdout=log, stderr=log)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=15):
        """Returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def said(self):
        return self.log.read_text()

    def __enter__(self):
        return self.start()

    def __exit__(self, wrong, *_):
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self.process.poll() is None:
                self.stop()
        if self.process.poll() is None:
            self.kill()
        assert wrong or "Sanitizer" not in self.said()
