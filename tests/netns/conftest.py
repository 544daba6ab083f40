# SPDX-License-Identifier: GPL-2.0
"""Fixtures: namespaces and programs that are always cleaned up."""
import contextlib
import socket

import pytest

from netns import relay, testbed

SO_TIMESTAMPNS = 35  # asm-generic/socket.h


@pytest.fixture(scope="session", autouse=True)
def stamps():
    """Keeps the kernel's time stamping on, as a clock daemon does. It is switched on some time
    after the first socket requests it. Until then, frames of a socket without a ring are stamped
    when read."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        yield


@pytest.fixture
def bed(tmp_path):
    """A stack of things to close at the end."""
    tmp_path.chmod(0o755)  # programs under test drop their rights
    with contextlib.ExitStack() as stack:
        yield Bed(stack, tmp_path)


# Known to every collector of the tests, in this order: ids 1, 2, ...
RUNS_EACH = 4  # of Bed.many()
SENSORS = ("lib", "two", "room-0", "room-1", "room-2", "room-3")


class Bed:
    """One collector and any number of sensors, in namespaces joined by cables."""

    def __init__(self, stack, tmp_path):
        self.stack = stack
        self.tmp_path = tmp_path
        self.keys = testbed.Keys(tmp_path)
        for name in SENSORS:
            self.keys.sensor(name)
        self.ns = self.namespace()
        self.out = tmp_path / "out.pcapng"
        self.clocks = 0

    def namespace(self):
        ns = testbed.Namespace()
        self.stack.callback(ns.close)
        return ns

    def many(self, count):
        """Returns names of sensors for so many runs at once, known to the next collector. An
        interval has 32 slots for a sensor's handshakes, and frequent restarts use them up. These
        sensors may send all link types of the captures."""
        return [n for i in range(0, count, RUNS_EACH)
                if self.keys.sensor(n := f"many-{i}", words="linktypes=any")
                for _ in range(RUNS_EACH)][:count]

    def collector(self, write=None, **kwargs):
        c = testbed.Collector(self.ns, self.keys, write or self.out, **kwargs)
        self.stack.callback(c.kill)
        return c

    def sensor(self, name, interface, ns=None, key=None, **kwargs):
        s = testbed.Sensor(ns or self.ns, key or self.keys.sensor(name), interface, **kwargs)
        self.stack.callback(s.kill)
        return s

    def reader(self, name, file, key=None, options=(), ready=None, to="127.0.0.1:5600", **kwargs):
        """saluki run -r"""
        p = testbed.Process(self.ns, [testbed.BUILD / "saluki", "run", "-r", file, "--to", to,
                                      "--key", key or self.keys.sensor(name), *options], ready,
                            **kwargs)
        self.stack.callback(p.kill)
        return p

    def relay(self, **kwargs):
        """A simulated network to the collector at its usual address."""
        r = relay.Relay(self.ns, **kwargs)
        self.stack.callback(r.close)
        return r

    def clock(self, seconds=0):
        self.clocks += 1
        return relay.Clock(self.tmp_path / f"clock.{self.clocks}", seconds)

    def tun(self, name, arphrd, file, options=(), ns=None):
        p = testbed.Player.tun(ns or self.ns, name, arphrd, file, options)
        self.stack.callback(p.close)
        return p

    def sender(self, interface, file, options=(), ns=None):
        p = testbed.Player.send(ns or self.ns, interface, file, options)
        self.stack.callback(p.close)
        return p
