# SPDX-License-Identifier: GPL-2.0
"""Datagrams from strangers and bad sensors only raise the collector's counters."""
import contextlib
import os
import signal
import socket
import threading
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from reference import captures


def receiver_pid(collector):
    """The receiving process's id."""
    return testbed.receiving(collector.pid())


def receiver_kib(collector):
    """The unprivileged process's resident memory."""
    with open(f"/proc/{receiver_pid(collector)}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def udp(ns):
    def make():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.connect(("127.0.0.1", 5600))
        return s
    return testbed.in_namespace(ns, make)


def heard(collector, count):
    """Waits until the collector has counted `count` datagrams."""
    return testbed.wait_for(lambda: (s := collector.stats())["datagrams"] >= count and s,
                            f"{count} datagrams", 20)


def flood(collector, sock, datagrams):
    """Sends at the collector's pace: datagrams that the kernel drops cannot be counted."""
    base = collector.stats()["datagrams"]
    for n, d in enumerate(datagrams, 1):
        sock.send(d)
        if n % 20000 == 0:
            heard(collector, base + n)
    return heard(collector, base + n)


# Datagrams without an effect count here.
REFUSED = ("not_ours", "not_authentic", "limited_set_ups", "ignored_set_ups", "limited_questions")


@pytest.mark.alone
def test_a_million_random_datagrams(bed):
    collector = bed.collector()
    key = bed.keys.sensor("lib")

    def random_datagrams(count):
        out = bed.ns.run(testbed.ROOT / "build/tests/hostile", key, "5600", count,
                         capture_output=True, timeout=120).stdout
        return map(int, out.split())

    first, own_first, asked_first = random_datagrams(20000)
    before = receiver_kib(collector)
    began = time.monotonic()
    sent, own, asked = random_datagrams(1000000)
    seconds = time.monotonic() - began
    after = receiver_kib(collector)
    assert collector.finish()[0] == 0
    stats = collector.stats()
    sent, own, asked = sent + first, own + own_first, asked + asked_first
    print(f"{sent} random datagrams, {sent / seconds:.0f}/s, {stats['kernel_dropped']} dropped by "
          f"the kernel; {before} KiB before, {after} KiB after")
    assert sent == 1020000 and after - before < 256
    # Every datagram is in exactly one counter, the collector's or the kernel's.
    assert stats["datagrams"] + stats["kernel_dropped"] == sent + own
    # A handshake in a used slot was refused too, and repeated in another one.
    refused = sent - stats["kernel_dropped"] + asked - stats["set_ups"]
    assert sum(stats[k] for k in REFUSED) == refused
    assert stats["not_authentic"] > 100000 and stats["not_ours"] > 100000
    lib = collector.sensor_stats("lib")
    assert lib["written"] == lib["bad_messages"] == 0 and stats["sessions"] == 2
    assert not list(captures.frames(bed.out))


def test_what_the_kernel_drops_is_counted(bed):
    """A stopped receiver gets more than its buffer holds, and counts what the kernel dropped."""
    collector = bed.collector()
    testbed.wait_for(collector.stats_file.exists, "statistics")
    sock = udp(bed.ns)
    os.kill(receiver_pid(collector), signal.SIGSTOP)
    for _ in range(200000):
        sock.send(b"\3")
    os.kill(receiver_pid(collector), signal.SIGCONT)
    testbed.wait_for(lambda: (s := collector.stats())["datagrams"] + s["kernel_dropped"] >= 200000,
                     "all datagrams", 20)
    assert collector.finish()[0] == 0
    stats = collector.stats()
    print(f"{stats['datagrams']} received, {stats['kernel_dropped']} dropped by the kernel")
    assert stats["datagrams"] + stats["kernel_dropped"] == 200000
    assert stats["kernel_dropped"] > 1000 and stats["not_ours"] == stats["datagrams"]


UDP_SEGMENT = 103  # linux/udp.h


@pytest.mark.parametrize("segment, last", [(1, 1), (100, 50), (1400, 1400), (1000, 1)])
def test_merged_datagrams_are_counted_one_by_one(bed, segment, last):
    """The kernel gives the collector many datagrams as one buffer; an empty one is a datagram."""
    collector = bed.collector()
    testbed.wait_for(collector.stats_file.exists, "statistics")
    sock = udp(bed.ns)
    sock.send(b"")
    sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, segment)
    for _ in range(100):  # more than one system call receives
        sock.send(os.urandom(segment * 39 + last))
    heard(collector, 1 + 100 * 40)
    collector.finish()
    stats = collector.stats()
    assert stats["kernel_dropped"] == 0
    assert stats["datagrams"] == stats["not_ours"] == 1 + 100 * 40
    assert stats["bytes"] == 100 * (segment * 39 + last)


class Relay:
    """A relay between sensor and collector. `attack` gets every datagram to the collector and
    returns the replacement."""

    def __init__(self, bed, attack):
        self.attack = attack
        self.down = testbed.in_namespace(bed.ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.down.bind(("127.0.0.1", 5700))
        self.down.settimeout(0.05)
        self.up = udp(bed.ns)
        self.up.settimeout(0.001)
        self.sensor = None
        self.stop = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        bed.stack.callback(self.close)

    def run(self):
        while not self.stop:
            try:
                data, self.sensor = self.down.recvfrom(65536)
                for d in self.attack(data):
                    self.up.send(d)
            except TimeoutError:
                pass
            try:
                while True:
                    self.down.sendto(self.up.recv(65536), self.sensor)
            except TimeoutError:
                pass

    def close(self):
        self.stop = True
        self.thread.join()


def attacked_run(bed, bundled, attack):
    """A short capture through the relay; returns the collector."""
    frames = list(captures.frames(bundled))[:150]
    small = bed.tmp_path / "small.pcap"
    from reference.test_reference import write_pcap
    write_pcap(small, 127, frames)
    collector = bed.collector()
    testbed.wait_for(collector.stats_file.exists, "statistics")
    relay = Relay(bed, attack)
    reader = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", "-r", small, "--to",
                                      "127.0.0.1:5700", "--key", bed.keys.sensor("lib")], None)
    bed.stack.callback(reader.kill)
    status, said = reader.finish(signo=None, seconds=60)
    assert status == 0, said
    relay.close()  # it may still process the sensor's retransmissions
    assert collector.finish()[0] == 0
    assert_same(frames, captures.frames(bed.out))
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(frames))
    assert stats["bad_messages"] == stats["bad_combos"] == stats["bad_pieces"] == 0
    return collector.stats()


def test_each_datagram_with_each_byte_changed(bed, bundled):
    sent = []

    def attack(data):
        for at in range(len(data)):
            changed = bytearray(data)
            changed[at] ^= 1 << at % 8
            sent.append(1)
            yield bytes(changed)
            if at % 100 == 0:
                time.sleep(0.001)  # an attacker's pace, not a wait for anything
        yield data

    stats = attacked_run(bed, bundled, attack)
    refused = sum(stats[k] for k in REFUSED)
    print(f"{len(sent)} changed datagrams, {refused} refused")
    assert stats["not_authentic"] > 1000
    assert refused == len(sent) > 1500


def test_each_datagram_cut_at_each_length(bed, bundled):
    sent = []

    def attack(data):
        for n in range(len(data)):
            sent.append(1)
            yield data[:n]
            if n % 100 == 0:
                time.sleep(0.001)  # an attacker's pace, not a wait for anything
        yield data

    stats = attacked_run(bed, bundled, attack)
    refused = sum(stats[k] for k in REFUSED)
    assert refused == len(sent) > 1500


def test_everything_replayed(bed, bundled):
    """Datagrams replayed within the session and at the end of the run change nothing."""
    said = []

    def attack(data):
        said.append(data)
        yield data
        yield data
        yield from said

    stats = attacked_run(bed, bundled, attack)
    assert stats["not_ours"] > 10 and stats["set_ups"] == stats["sessions"] == 1


def test_a_recording_is_refused_by_the_next_collector(bed, bundled):
    """A new collector has forgotten all sessions; a recording of one still opens nothing."""
    said = []
    attacked_run(bed, bundled, lambda data: said.append(data) or [data])
    bed.out = bed.tmp_path / "second.pcapng"
    collector = bed.collector()
    testbed.wait_for(collector.stats_file.exists, "statistics")
    flood(collector, udp(bed.ns), said)
    assert collector.finish()[0] == 0
    stats = collector.stats()
    # The handshake is answered if its interval is not over; only the sensor can continue.
    assert stats["sessions"] == 0 and stats["set_ups"] <= 1
    assert stats["not_ours"] >= len(said) - 1
    assert not list(captures.frames(bed.out))


def test_recorded_set_ups_spend_no_budget(bed, bundled):
    """Recorded handshakes of unlisted and listed sensors cost a table lookup each."""
    collector = bed.collector()
    tap = testbed.in_namespace(bed.ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    tap.bind(("127.0.0.1", 5777))
    tap.settimeout(10)
    recorded = []
    for name, listed in (("stranger", False), ("two", True)):
        asks = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", "-r", bundled, "--to",
                                        "127.0.0.1:5777", "--key",
                                        bed.keys.sensor(name, listed=listed)], None)
        bed.stack.callback(asks.kill)
        recorded.append(tap.recv(2048))
        asks.kill_all()  # the other process would wait for an answer
        tap.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:  # and its answers since then do not belong to the next one
                tap.recv(2048)
        tap.settimeout(10)
    sock = udp(bed.ns)
    testbed.wait_for(collector.stats_file.exists, "the statistics")
    flood(collector, sock, recorded * 3000)
    count = len(list(captures.frames(bundled)))
    assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
    collector.finish()
    stats = collector.stats()
    assert stats["set_ups"] == 2 and stats["sessions"] == 1
    assert stats["not_ours"] == 5999 and stats["limited_set_ups"] == 0
    assert_balanced(collector.sensor_stats("lib"), count)


def test_a_sensor_gone_bad(bed):
    """A sensor gone bad has valid keys and sends malformed combos: one that claims 4 GB, bombs,
    contradictions."""
    collector = bed.collector()
    before = receiver_kib(collector)
    out = bed.ns.run(testbed.ROOT / "build/tests/hostile", bed.keys.sensor("lib"), "5600",
                     capture_output=True, timeout=60).stdout
    after = receiver_kib(collector)
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    words = out.split()
    sent = dict(zip(words[::2], map(int, words[1::2])))
    print(f"sent {sent}; {before} KiB before, {after} KiB after")
    assert {name: stats[name] for name in sent} == sent
    assert sent["bad_combos"] >= 41 and sent["bad_pieces"] == 4 and sent["bad_messages"] == 15
    assert sent["duplicate_pieces"] == 2
    assert after - before < 1024
    assert [f.data for f in captures.frames(bed.out)] == [b"honest"] * 2
    assert stats["written"] == 2 and stats["balance"] == 0
