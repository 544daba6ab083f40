# SPDX-License-Identifier: GPL-2.0
"""What the programs tell a service manager (sd_notify(3)): ready, alive, reloading, stopping."""
import os
import pathlib
import signal
import socket
import time

import pytest

from netns import testbed
from netns.conftest import SENSORS


class Manager:
    """A service manager's socket. systemd gives a path or, with @, an abstract address."""

    def __init__(self, bed, abstract):
        self.address = f"@saluki-{os.getpid()}-{time.monotonic_ns()}" if abstract else str(bed.tmp_path / "notify")
        # An abstract address belongs to a network namespace.
        self.sock = testbed.in_namespace(bed.ns, lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.sock.bind(self.address.replace("@", "\0"))
        if not abstract:
            os.chmod(self.address, 0o777)
        bed.stack.callback(self.sock.close)
        self.env = {"NOTIFY_SOCKET": self.address}

    def take(self, seconds=20):
        """The next message's assignments and sender, or None."""
        self.sock.settimeout(seconds)
        try:
            text, control, *_ = self.sock.recvmsg(4096, socket.CMSG_SPACE(12))
        except TimeoutError:
            return None, None
        sender = int.from_bytes(control[0][2][:4], "little")
        return dict(line.split("=", 1) for line in text.decode().splitlines()), sender

    def until(self, name, value):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            said, sender = self.take()
            if said and said.get(name) == value:
                return said, sender
        raise AssertionError(f"no {name}={value}")


@pytest.fixture(name="manager", params=[False, True], ids=["path", "abstract"])
def fixture_manager(bed, request):
    return Manager(bed, request.param)


def assert_alive_while_it_runs(manager, pid):
    """The other process's signs of life are passed on, and end when it is stopped."""
    manager.until("WATCHDOG", "1")
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 20
    while manager.take(3)[0]:
        assert time.monotonic() < deadline
    os.kill(pid, signal.SIGCONT)
    manager.until("WATCHDOG", "1")


def test_collector(bed, bundled, manager):
    collector = bed.collector(ready=None, env=manager.env)
    said, sender = manager.take()
    assert said == {"READY": "1", "WATCHDOG": "1", "STATUS": f"0 of {len(SENSORS)} sensors up"}
    assert sender == collector.pid()
    collector.expect("listening on")
    assert pathlib.Path(f"/proc/{testbed.receiving(collector.pid())}/status").read_text().count("Seccomp:\t2")
    bed.tun("mon0", 803, bundled)
    bed.sensor("lib", "mon0")
    manager.until("STATUS", said["STATUS"].replace("0 of", "1 of"))
    collector.send_signal(signal.SIGHUP)
    manager.until("RELOADING", "1")
    assert "WATCHDOG" not in manager.until("READY", "1")[0]
    assert_alive_while_it_runs(manager, testbed.receiving(collector.pid()))
    collector.send_signal(signal.SIGTERM)
    manager.until("STOPPING", "1")
    assert collector.finish(None)[0] == 0


def test_sensor(bed, bundled, manager):
    bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", env=manager.env)
    said, sender = manager.take()
    assert said == {"READY": "1", "WATCHDOG": "1", "STATUS": "capturing, without a collector"}
    assert sender == sensor.pid()
    collector = bed.collector()
    manager.until("STATUS", "capturing, with a collector")
    assert_alive_while_it_runs(manager, testbed.with_children(sensor.pid())[1])
    sensor.send_signal(signal.SIGTERM)
    manager.until("STOPPING", "1")
    assert sensor.finish(None)[0] == 0
    collector.finish()


@pytest.mark.parametrize("address", ["/nowhere/notify", "@" + "x" * 200, ""])
def test_without_a_manager(bed, address):
    """The program works, and says why nobody is told."""
    collector = bed.collector(env={"NOTIFY_SOCKET": address})
    assert ("NOTIFY_SOCKET" in collector.finish()[1]) == bool(address)
