# SPDX-License-Identifier: GPL-2.0
"""What filters cost in the kernel. One that refuses everything, over a program that passes all: by the
kernel's own timing (filter_cost.c), for it is a few nanoseconds. One that takes everything, over none, against
the same in tcpdump's socket, which nothing but frames makes run: at one load, each round all of them one after
the other; the generator's idle turns tell what receiving a frame took."""
import random
import statistics
import subprocess

from bench import cable as cables, consumers, rates
from netns import testbed

LOAD = 500_000  # frames a second; tcpdump bears it without loss
NOTHING = "ether proto 0x4242"  # none of the frames


def everything(rng):
    """Takes every frame, but not before it has looked at all of its conditions."""
    return "not (" + " or ".join(f"host 251.99.77.{n}" for n in rng.sample(range(255), 120)) + ")"


ALL = everything(random.Random(1))


class Taking(consumers.Saluki):
    options = ["--keep", "headers", ALL]


class TcpdumpTaking(consumers.Tcpdump):
    command = [*consumers.Tcpdump.command, ALL]


KINDS = {"filter": Taking, "plain": consumers.Saluki,
         "tcpdump_filter": TcpdumpTaking, "tcpdump_plain": consumers.Tcpdump}


class Costs(rates.Ladder):
    """Nanoseconds a frame that the kernel's receiving side takes with each of them listening."""

    def taken(self, name):
        consumer = KINDS[name](self.cable)
        consumer.listen()
        sent = self.cable.generate(self.trace, LOAD, self.seconds)
        consumers.settled(consumer.pids)
        count = consumer.stop()
        if count.captured + count.lost != sent.frames:
            raise RuntimeError(f"{name} has taken {count} of {sent.frames} frames")
        return self._busy_s(sent) * 1e3

    def rounds(self, count):
        out = {name: [] for name in KINDS}
        for _ in range(count):
            self.idle_s = self._idle_s()
            for name in KINDS:
                out[name].append(self.taken(name))
        return out


def difference(found, a, b):
    return statistics.median(x - y for x, y in zip(found[a], found[b]))


def refusing(cable, trace):
    out = cable.sensor.run(*cables.on_cpu(cables.CONSUMER_CPU, testbed.BUILD / "tests/filter_cost",
                                          trace, NOTHING), stdout=subprocess.PIPE).stdout
    return map(float, out.split())


def measure(cable, trace, seconds, rounds, say):
    refused, passed = refusing(cable, trace)
    say(f"    refused {refused:.1f}, passed {passed:.1f} ns a frame")
    out = {"filter_reject_ns": refused - passed}
    found = Costs(cable, trace, seconds, [], say).rounds(rounds)
    for name, ns in found.items():
        say(f"    {name:16} " + " ".join(f"{n:7.1f}" for n in ns) + " ns a frame")
    ours = difference(found, "filter", "plain")
    theirs = difference(found, "tcpdump_filter", "tcpdump_plain")
    if ours <= 0 or theirs <= 0:
        return out  # lost in the noise: not measured
    return {**out, "filter_ns": ours, "filter_ns_tcpdump": theirs,
            "filter_cost_x_tcpdump": ours / theirs}
