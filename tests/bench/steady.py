# SPDX-License-Identifier: GPL-2.0
"""Bytes that a sensor and its collector exchange each second at a steady rate, with IP and UDP headers: a table, no
results. The cases run at the same time, each in a namespace of its own, and tcpdump counts."""
import contextlib
import struct
import subprocess
import time

from bench import ap70, frames as wired_frames
from netns import testbed
from reference.test_reference import write_pcap

SETTLE_S, SECONDS = 6, 60
PORT = 5600
ETHERNET, IP = 14, 20
# Name: the sensor's options, frames per second, and whether the frames are wired.
CASES = {"idle": (["--source", "mmap"], 0, False), "air": (["--source", "mmap"], 100, False), "wired": ([], 1000, True)}


def datagrams(path):
    """Time in seconds, whether the sensor sent it, and bytes, for each datagram of tcpdump's file."""
    data, at = path.read_bytes(), 24
    while at + 16 <= len(data):
        seconds, us, kept, whole = struct.unpack_from("<IIII", data, at)
        source, = struct.unpack_from(">H", data, at + 16 + ETHERNET + IP)
        yield seconds + us / 1e6, source != PORT, whole - ETHERNET
        at += 16 + kept


class Case:
    def __init__(self, stack, directory, name):
        self.name, self.directory = name, directory
        options, self.rate, wired = CASES[name]
        keys = testbed.Keys(directory)
        key = keys.sensor("bench")
        ns = testbed.Namespace()
        stack.callback(ns.close)
        self.dump = ns.start("tcpdump", "-i", "lo", "-s", "64", "-U", "-w", directory / "lo.pcap", f"udp port {PORT}",
                             stderr=subprocess.PIPE)
        testbed.lines_until(self.dump.stderr, time.monotonic() + 10, "listening on")
        collector = testbed.Collector(ns, keys, directory / "out.pcapng")
        stack.callback(collector.kill)
        interface, player = self._player(ns, wired)
        stack.callback(player.close)
        self.sensor = testbed.Sensor(ns, key, interface, options=options)
        stack.callback(self.sensor.kill)
        if self.rate:
            player.go()

    def _player(self, ns, wired):
        trace, options = self.directory / "in.pcap", ["--loop", "--rate", str(self.rate or 1)]
        if wired:
            wired_frames.write_pcap(trace, wired_frames.real())
            testbed.veth(ns, "in0", ns, "wire0")
            return "wire0", testbed.Player.send(ns, "in0", trace, options)
        played = ap70.trace()
        write_pcap(trace, played[0].linktype, played)
        return "mon0", testbed.Player.tun(ns, "mon0", 803, trace, options)

    def tell(self, say):
        self.dump.terminate()
        self.dump.wait()
        rows = list(datagrams(self.directory / "lo.pcap"))
        begin = rows[0][0] + SETTLE_S
        rows = [(up, length) for at, up, length in rows if begin <= at < begin + SECONDS]
        sent, answers = ([length for up, length in rows if up == wanted] for wanted in (True, False))
        say(f"    {self.name}, {self.rate} frames/s: the sensor sends {sum(sent) / SECONDS:,.0f} bytes/s in "
            f"{len(sent) / SECONDS:.2f} datagrams, {sum(sent) / SECONDS * 86400 / 1e6:,.1f} MB a day; the collector "
            f"{sum(answers) / SECONDS:,.0f} bytes/s in {len(answers) / SECONDS:.2f} datagrams")


def measure(fresh, say):
    """`fresh` makes a folder."""
    with contextlib.ExitStack() as stack:
        cases = [Case(stack, fresh(), name) for name in CASES]
        time.sleep(SETTLE_S + SECONDS + 2)
        for case in cases:
            case.tell(say)
    return {}
