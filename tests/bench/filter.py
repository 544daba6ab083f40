# SPDX-License-Identifier: GPL-2.0
"""The cost of filters in the kernel. A filter that refuses everything, over a program that passes
all: by the kernel's own timing (filter_cost.c). Filters that take everything, over no filter,
against the same in tcpdump's socket, at one load: by perf's samples of the receiving CPU. perf
separates compiled BPF from all else, so a few nanoseconds show. Where a hypervisor takes a share of
the CPU, perf sees less time than has passed."""
import collections
import random
import statistics
import subprocess

from bench import cable as cables, consumers, stolen
from netns import testbed

LOAD = 500_000  # frames/s; tcpdump bears it without loss
SAMPLES = 20_000  # per second
NOTHING = "ether proto 0x4242"  # matches no frame
PCAP_HEADER_LEN = 24
GENERATOR = "_generate"  # its BPF program, by the end of its name in perf

# Sampled nanoseconds by symbol while the generator runs, and how long that was.
Sampled = collections.namedtuple("Sampled", "ns wall_ns")


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

    def sampled(self):
        out = subprocess.run(["perf", "script", "--ns", "-i", self.path, "-F", "time,period,ip,sym"],
                             check=True, capture_output=True, text=True).stdout
        return sampled(out)


def sampled(script):
    """Reads perf's samples with their times in nanoseconds. Before and after the generator, the CPU
    is idle, where perf misses samples."""
    lines = [line.split(maxsplit=3) for line in script.splitlines()]
    of_generator = [n for n, line in enumerate(lines) if line[3].endswith(GENERATOR)]
    if len(of_generator) < 2:
        raise RuntimeError("perf has not seen the generator")
    lines = lines[of_generator[0]:of_generator[-1] + 1]
    found = collections.Counter()
    for _, period, at, symbol in lines:
        found[symbol if int(at, 16) >> 63 else "user space"] += int(period)
    first, last = (int(lines[n][0].rstrip(":").replace(".", "")) for n in (0, -1))
    return Sampled(found, last - first)


def unseen(found, stolen_ns):
    """The factor by which the sampled times are too small: the time that the CPU had, which is
    without the time that a hypervisor took, over the time that perf saw."""
    return max((found.wall_ns - stolen_ns) / sum(found.ns.values()), 1)


def taken(cable, trace, seconds, kind, symbol):
    """Nanoseconds per frame in a consumer's BPF."""
    listener = kind(cable)
    listener.listen()
    profile = Profile(cable.directory / "perf.data")
    before = stolen.ticks(cables.GENERATOR_CPU)
    sent = cable.generate(trace, LOAD, seconds, under=profile.under())
    stolen_ns = stolen.nanoseconds(before, stolen.ticks(cables.GENERATOR_CPU))
    consumers.settled(listener.pids)
    count = listener.stop()
    if count.captured + count.lost != sent.frames:
        raise RuntimeError(f"{kind.__name__} has taken {count} of {sent.frames} frames")
    found = profile.sampled()
    in_bpf = sum(ns for name, ns in found.ns.items() if name.endswith(symbol))
    return in_bpf * unseen(found, stolen_ns) / sent.frames


def refusing(cable, trace):
    out = cable.sensor.run(*cables.on_cpu(cables.CONSUMER_CPU, testbed.BUILD / "tests/filter_cost",
                                          trace, NOTHING), stdout=subprocess.PIPE).stdout
    return map(float, out.split())


def measure(cable, trace, seconds, rounds, say):
    refused, passed = refusing(cable, trace)
    say(f"    refused {refused:.1f}, passed {passed:.1f} ns a frame")
    out = {"filter_reject_ns": refused - passed,
           "filter_reject_x_empty": (refused - passed) / passed}
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
