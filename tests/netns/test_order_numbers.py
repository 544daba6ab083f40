# SPDX-License-Identifier: GPL-2.0
"""Order numbers as seen by a test collector, made from docs/wire.md (tests/wire)."""
import base64
import ctypes
import os
import socket
import struct
import threading
import time

from wire import saluki_wire as wire
from netns import testbed

CLONE_NEWNET = 0x40000000
DONE, NOT_ALLOWED, UNKNOWN, FAILED, STALE = range(5)
SNAPLEN = "set snaplen 96"


def socket_in(ns):
    """A socket in a namespace; only the thread that made it was ever there."""
    made = []

    def make():
        with open(f"/proc/{ns.holder.pid}/ns/net", "rb") as f:
            assert ctypes.CDLL(None).setns(f.fileno(), CLONE_NEWNET) == 0
        made.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    t = threading.Thread(target=make)
    t.start()
    t.join()
    return made[0]


class OwnCollector:
    """Answers the handshake, acknowledges, and sends the test's messages."""

    def __init__(self, bed, name):
        self.sock = socket_in(bed.ns)
        self.sock.bind(("127.0.0.1", 0))
        self.to = f"127.0.0.1:{self.sock.getsockname()[1]}"
        self.secret = base64.b64decode(bed.keys.collector.read_text().split()[0])
        sensor = base64.b64decode(bed.keys.sensor(name).read_text().split()[0])
        self.sensor = wire.public(sensor)
        self.P = wire.pair(self.secret, self.sensor, False)
        self.up = self.down = self.address = None

    def _set_up(self, datagram, address):
        hello = wire.m1_open(self.P, datagram)
        e_c, _ = wire.keypair()
        welcome = wire.Welcome(b"", time.time_ns(), 1024, 0, 1)
        second, k2 = wire.m2(self.P, self.secret, self.sensor, datagram, e_c, welcome)
        keys = wire.session_keys(k2)
        self.up = wire.Receiver(keys.up_address, keys.up_seal, min(hello.window, 1024))
        self.down = wire.Sender(keys.down_address, keys.down_seal)
        self.address = address
        self.sock.sendto(second, address)

    def hear(self, seconds):
        """The next message; b"" if there was none, or it was a handshake."""
        self.sock.settimeout(seconds)
        try:
            datagram, address = self.sock.recvfrom(4096)
        except TimeoutError:
            return b""
        now = time.time_ns() // 120_000_000_000
        if any(datagram[:8] in wire.slots(self.P, now + n) for n in (-1, 0, 1)):
            self._set_up(datagram, address)
            return b""
        if not self.up:
            return b""
        number, message = self.up.open(datagram)
        self.up.keep(number)
        self.say(wire.ack_write(wire.Ack(self.up.highest, self.up.bits(), 0, 0, 0, 0)))
        return message

    def say(self, message):
        self.sock.sendto(self.down.seal(message), self.address)

    def order(self, number, text, seconds=60):
        """Repeated once a second, as collectors do; returns the answer's status and text."""
        until = time.monotonic() + seconds
        again = 0
        while time.monotonic() < until:
            if time.monotonic() >= again and self.down:
                again = time.monotonic() + 1
                self.say(struct.pack(">BQ", wire.ORDER, number) + text.encode())
            message = self.hear(0.1)
            if message[:1] == bytes([wire.ANSWER]) and message[1:9] == wire.be64(number):
                return message[9], message[10:].decode()
        raise TimeoutError(f"no answer to {text}")


def test_numbers(bed):
    """Each order is carried out once; the last one's answer is repeated; lower numbers are
    stale."""
    collector = OwnCollector(bed, "lib")
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    sensor = bed.sensor("lib", "tap0", to=collector.to,
                        options=["--source", "mmap", "--allow-control", "snaplen"])
    assert collector.order(10, SNAPLEN) == (DONE, "snaplen 96")
    for _ in range(3):
        assert collector.order(10, SNAPLEN) == (DONE, "snaplen 96")
    assert collector.order(9, "set snaplen 97")[0] == STALE
    assert collector.order(0, "set snaplen 97")[0] == STALE
    assert collector.order(11, "set filter tcp")[0] == NOT_ALLOWED
    assert collector.order(12, "set colour red")[0] == UNKNOWN
    assert collector.order(13, "set snaplen 1000000")[0] == FAILED
    assert collector.order(13, SNAPLEN)[0] == FAILED  # the number counts
    assert collector.order(2**64 - 1, "set snaplen 98") == (DONE, "snaplen 98")
    assert collector.order(14, SNAPLEN)[0] == STALE
    for bad in (b"", b"\0" * 7, struct.pack(">Q", 2**63) + b"set\nsnaplen", os.urandom(500),
                struct.pack(">Q", 2**63) + b"x" * 1200):
        collector.say(bytes([wire.ORDER]) + bad)
    assert collector.order(2**64 - 1, "set snaplen 98") == (DONE, "snaplen 98")
    status, said = sensor.finish(seconds=60)
    assert said.count("from now on") == 2, said
    assert status == 1  # the run's end was not confirmed
    assert "ended by signal" not in said and "Sanitizer" not in said
