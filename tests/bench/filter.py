# SPDX-License-Identifier: GPL-2.0
"""The cost of filters in the kernel. A filter that refuses everything, over a program that passes
all: by the kernel's own timing (filter_cost.c). Filters that take everything, over no filter,
against the same in tcpdump's socket, at one load: by perf's samples of the receiving CPU. perf
separates compiled BPF from all else in the kernel, so a few nanoseconds show."""
import collections
import random
import statistics
import subprocess

from bench import cable as cables, consumers
from netns import testbed

LOAD = 500_000  # frames/s; tcpdump bears it without loss
SAMPLES = 20_000  # per second
NOTHING = "ether proto 0x4242"  # matches no frame
PCAP_HEADER_LEN = 24


def hosts(rng):
    return "not (" + " or ".join(f"host 251.99.77.{n}" for n in rng.sample(range(255), 120)) + ")"


def unused_port(trace):
    """The first port from 9 on that no frame has."""
    for port in range(9, 1 << 16):
        found = subprocess.run(["tcpdump", "-r", trace, "-c", "1", "-w", "-", f"port {port}"], check=True,
                               capture_output=True).stdout
        if len(found) == PCAP_HEADER_LEN:
            return port
    raise RuntimeError("frames with every port")


def accepting(trace):
    """Filters that take every frame, but not before they have looked at all of their conditions."""
    return {"hosts": hosts(random.Random(1)), "port": f"not port {unused_port(trace)}"}


def consumer(program, *expression):
    """Saluki or tcpdump with a filter, and the name by which perf knows its BPF: classic programs
    have none, and there are no others."""
    if program == "saluki":
        return type("Filtering", (consumers.Saluki,),
                    {"options": [*consumers.Saluki.options, *expression]}), "saluki_xdp"
    return type("Filtering", (consumers.Tcpdump,),
                {"command": [*consumers.Tcpdump.command, *expression]}), "[unknown]"


def kinds(accept):
    return {program + suffix: consumer(program, *expression) for program in ("saluki", "tcpdump")
            for suffix, *expression in [("",), *((f"_{name}", e) for name, e in accept.items())]}


class Profile:
    """The generator's CPU, with the kernel's receiving side."""

    def __init__(self, path):
        self.path = path

    def under(self):
        return ["perf", "record", "-q", "-C", str(cables.GENERATOR_CPU), "-e", "cpu-clock", "-F",
                str(SAMPLES), "-o", str(self.path), "--"]

    def nanoseconds(self):
        """By symbol; only the kernel's addresses."""
        out = subprocess.run(["perf", "script", "-i", self.path, "-F", "period,ip,sym"], check=True,
                             capture_output=True, text=True).stdout
        found = collections.Counter()
        for line in out.splitlines():
            period, at, symbol = line.split(maxsplit=2)
            if int(at, 16) >> 63:
                found[symbol] += int(period)
        return found


def taken(cable, trace, seconds, kind, symbol):
    """Nanoseconds per frame in a consumer's BPF."""
    listener = kind(cable)
    listener.listen()
    profile = Profile(cable.directory / "perf.data")
    sent = cable.generate(trace, LOAD, seconds, under=profile.under())
    consumers.settled(listener.pids)
    count = listener.stop()
    if count.captured + count.lost != sent.frames:
        raise RuntimeError(f"{kind.__name__} has taken {count} of {sent.frames} frames")
    found = profile.nanoseconds()
    if sum(found.values()) < seconds * 0.9e9:
        raise RuntimeError(f"perf saw {sum(found.values())} ns of {seconds} s")
    return sum(ns for name, ns in found.items() if name.endswith(symbol)) / sent.frames


def refusing(cable, trace):
    out = cable.sensor.run(*cables.on_cpu(cables.CONSUMER_CPU, testbed.BUILD / "tests/filter_cost",
                                          trace, NOTHING), stdout=subprocess.PIPE).stdout
    return map(float, out.split())


def measure(cable, trace, seconds, rounds, say):
    refused, passed = refusing(cable, trace)
    say(f"    refused {refused:.1f}, passed {passed:.1f} ns a frame")
    out = {"filter_reject_ns": refused - passed}
    accept = accepting(trace)
    found = collections.defaultdict(list)
    for _ in range(rounds):
        for name, kind in kinds(accept).items():
            found[name].append(taken(cable, trace, seconds, *kind))
    for name, ns in found.items():
        say(f"    {name:16} " + " ".join(f"{n:6.1f}" for n in ns) + " ns a frame")
    for name in accept:
        for program in ("saluki", "tcpdump"):
            more = [a - b for a, b in zip(found[f"{program}_{name}"], found[program])]
            out[f"filter_ns_{name}_{program}"] = max(statistics.median(more), 0)
    if out["filter_ns_hosts_tcpdump"]:
        out["filter_cost_x_tcpdump"] = (out["filter_ns_hosts_saluki"] /
                                        out["filter_ns_hosts_tcpdump"])
    return out
