# SPDX-License-Identifier: GPL-2.0
"""The relay and the moved clock work as other tests expect."""
import socket
import subprocess
import time

import pytest

from netns.relay import recorded
from netns.testbed import in_namespace


class Ends:
    """A sensor's socket and a collector's, with the relay between them."""

    def __init__(self, bed):
        self.relay = bed.relay()
        self.up = self.socket(bed)
        self.up.connect(("127.0.0.1", 5700))
        self.down = self.socket(bed)
        self.down.bind(("127.0.0.1", 5600))

    @staticmethod
    def socket(bed):
        s = in_namespace(bed.ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        s.settimeout(10)
        bed.stack.callback(s.close)
        return s

    def through(self, count):
        """Sends numbers up; returns those that arrive, until the relay holds none."""
        before = self.relay.counts()
        for n in range(count):
            self.up.send(n.to_bytes(4, "big"))
        while True:
            now = self.relay.counts()
            gone = sum(now[f"up_{k}"] - before[f"up_{k}"] for k in ("lost", "sent", "cut"))
            extra = now["up_duplicated"] - before["up_duplicated"]
            if now["up_received"] == before["up_received"] + count and gone == count + extra:
                break
        return [int.from_bytes(self.down.recv(2048), "big")
                for _ in range(now["up_sent"] - before["up_sent"])]


@pytest.fixture
def ends(bed):
    return Ends(bed)


def test_the_same_seed_has_the_same_fate(ends):
    ends.relay("loss 20", "duplicate 10", "seed 5")
    first = ends.through(200)
    assert 120 < len(set(first)) < 195 and len(first) > len(set(first))
    ends.relay("seed 5")
    assert ends.through(200) == first
    ends.relay("seed 6")
    assert ends.through(200) != first


def test_reordering_is_bounded(ends):
    ends.relay("reorder 50")
    got = ends.through(200)
    assert sorted(got) == list(range(200)) != got
    assert max(n - min(got[at:]) for at, n in enumerate(got)) in range(20, 51)


def test_cuts_delays_and_sizes(ends):
    ends.relay("cut")
    assert ends.through(5) == []
    ends.relay("mend", "mtu 1280", "delay 50")
    ends.up.send(bytes(1253))
    ends.up.send(bytes(1252))
    began = time.monotonic()
    data, back = ends.down.recvfrom(2048)
    assert len(data) == 1252 and time.monotonic() - began > 0.04
    ends.relay("delay 0", "down corrupt 100")
    ends.down.sendto(bytes(10), back)
    assert sum(b.bit_count() for b in ends.up.recv(100)) == 1


def test_another_port_and_a_recording(ends, tmp_path):
    record = tmp_path / "recording"
    ends.relay(f"record {record}")
    ends.up.send(b"one")
    _, first = ends.down.recvfrom(100)
    ends.relay("rebind 127.0.0.5")
    ends.up.send(b"two")
    _, second = ends.down.recvfrom(100)
    assert first[0] == "127.0.0.1" and second[0] == "127.0.0.5" and first[1] != second[1]
    ends.down.sendto(b"back", second)
    assert ends.up.recv(100) == b"back"
    ends.relay("record")
    assert [(r.down, r.data) for r in recorded(record)] == [(False, b"one"), (False, b"two"),
                                                            (True, b"back")]
    assert {r.port for r in recorded(record)} == {ends.up.getsockname()[1]}
    assert ends.relay.replay(record) == 2
    assert [ends.down.recv(100) for _ in range(2)] == [b"one", b"two"]


def test_a_clock_is_moved(bed):
    clock = bed.clock(-90.5)

    def off():
        said = subprocess.run(["date", "+%s.%N"], env=clock.env, capture_output=True, text=True,
                              check=True).stdout
        return float(said) - time.time()

    assert -91 < off() < -60
    clock.move(3600)
    assert 3599 < off() < 3630
