# SPDX-License-Identifier: GPL-2.0
"""The cost of Tryst and Shroud for collector and sensor, and how fast many sensors reconnect."""
import contextlib
import re
import signal
import statistics
import subprocess
import time

from bench import cable
from netns import testbed

SENSORS = 10_000
ROUNDS = 5  # of the collector's rates: one sensor and many, in turn
COMBOS = 200
KEYS = [10, 100, 1000, 10_000]
BACK_SECONDS = 120  # before it is given up
OUTAGE_S = 20
WRONG_S = 86_400  # a day: datagrams dated by such a clock are refused


def _lines(*command):
    out = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: float(value) for name, value in map(str.split, out.splitlines())}


# ---- rates -----------------------------------------------------------------------------------------


def _rate(sensors, trace):
    """The fastest of the program's rounds counts: the others were disturbed."""
    return _lines(*cable.on_cpu(cable.CONSUMER_CPU, testbed.BUILD / "tests/collector_rate", sensors,
                                trace))


def rates(trace, say):
    """The ratios are medians over rounds that measure both, one right after the other."""
    ones, many = [], []
    for n in range(ROUNDS):
        ones.append(_rate(1, trace))
        many.append(_rate(SENSORS, trace))
        say(f"    round {n + 1}: 1 sensor {ones[-1]['one_per_s']:,.0f} datagrams/s; {SENSORS:,}: "
            f"{many[-1]['one_per_s']:,.0f} of one, {many[-1]['all_per_s']:,.0f} of all, with junk "
            f"{many[-1]['one_junk_per_s']:,.0f} and {many[-1]['all_junk_per_s']:,.0f}")

    def ratio(name, base="one_per_s"):
        return statistics.median(m[name] / o[base] for m, o in zip(many, ones))

    first = many[0]
    return {
        "collector_datagrams_per_s": max(o["one_per_s"] for o in ones),
        "collector_ahead_x_1": statistics.median(o["one_ahead_per_s"] / o["one_per_s"] for o in ones),
        "collector_10000_x_1": ratio("one_per_s"),
        "collector_10000_x_1_junk": ratio("one_junk_per_s", "one_junk_per_s"),
        "collector_10000_junk_x_1": ratio("one_junk_per_s"),
        "collector_10000_all_x_1": ratio("all_per_s"),
        "collector_10000_all_junk_x_1": ratio("all_junk_per_s"),
        "junk_ns": min(m["junk_ns"] for m in many),
        "receive_ns": min(m["empty_ns"] for m in many),
        "junk_x_empty": statistics.median(m["junk_ns"] / m["empty_ns"] for m in many),
        "setup_ms": min(m["setup_us"] for m in many) / 1000,
        "sensor_memory_kib": max(m["memory_kib"] for m in many),
        "overhead_bytes": (first["wire_bytes"] - first["plain_bytes"]) / first["datagrams"],
    }


def straw_man(say):
    got = _lines(*cable.on_cpu(cable.CONSUMER_CPU, testbed.BUILD / "tests/straw_man", *KEYS))
    out = {}
    for keys in KEYS:
        table, every = got[f"table_{keys}"], got[f"every_key_{keys}"]
        say(f"    {keys:6,} keys: by the table {table:.2f} us a datagram, trying every key "
            f"{every:,.1f} us, {got[f'every_key_junk_{keys}']:,.1f} us for junk")
        out[f"open_us_{keys}"] = table
        out[f"straw_man_us_{keys}"] = every
        out[f"straw_man_junk_us_{keys}"] = got[f"every_key_junk_{keys}"]
    return out


# ---- instructions ----------------------------------------------------------------------------------


def _instructions(header, combos, trace):
    said = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           testbed.BUILD / "tests/shroud_plain", header, str(combos), trace],
                          stderr=subprocess.PIPE, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


def instructions(trace, say):
    """Without the reading of the capture: the cost without a combo is subtracted."""
    a_combo = {header: (_instructions(header, COMBOS, trace) - _instructions(header, 0, trace)) / COMBOS
               for header in ("shroud", "plain")}
    say(f"    instructions a combo: {a_combo['shroud']:,.0f} with Shroud, {a_combo['plain']:,.0f} with "
        "the plain header")
    return {"shroud_insns_x_plain": a_combo["shroud"] / a_combo["plain"],
            "shroud_insns_per_combo": a_combo["shroud"]}


# ---- reconnecting ----------------------------------------------------------------------------------


class Many:
    """A collector and its swarm, in one namespace, on one CPU each."""

    def __init__(self, stack, directory, count):
        self.stack, self.count = stack, count
        self.keys = testbed.Keys(directory)
        self.out = directory / "out.pcapng"
        testbed.saluki("--count", count, "--sensors-file", self.keys.sensors, program="saluki-swarm",
                       check=True)
        self.ns = testbed.Namespace()
        stack.callback(self.ns.close)

    def collector(self, options=(), stats=True):
        c = testbed.Collector(self.ns, self.keys, self.out, options=options, stats=stats,
                              before=cable.on_cpu(cable.CONSUMER_CPU))
        self.stack.callback(c.kill)
        return c

    def idle_kib(self):
        """Memory of a collector that has the list and has heard no sensor."""
        c = self.collector()
        kib = testbed.proportional_kib(c.pid())
        c.finish()
        return kib

    def swarm(self, *options):
        p = testbed.Process(self.ns, [testbed.BUILD / "saluki-swarm", "--to", "127.0.0.1:5600",
                                      "--collector-key", self.keys.collector_public, "--count",
                                      self.count, *options], None, stdout=subprocess.PIPE)
        self.stack.callback(p.kill)
        return p


def _again(swarm):
    """From now on the swarm reports when all have a new session."""
    swarm.said = ""
    swarm.send_signal(signal.SIGUSR1)
    swarm.expect("counting sessions from now on")
    swarm.said = ""


def _back(many, swarm, collector, outage):
    """Seconds from the collector's start to the last sensor's session."""
    _again(swarm)
    collector.kill_all()
    time.sleep(outage)  # the outage to measure
    before = time.monotonic()
    collector = many.collector()
    swarm.expect("have set up a session", BACK_SECONDS)
    return time.monotonic() - before, collector


def all_up(many, *options):
    """A swarm whose sensors all have a session, and seconds from its start to the last one's."""
    before = time.monotonic()
    swarm = many.swarm("--seconds", "3600", *options)
    swarm.expect("have set up a session", BACK_SECONDS)
    return swarm, time.monotonic() - before


def back(directory, say):
    with contextlib.ExitStack() as stack:
        many = Many(stack, directory, SENSORS)
        idle = many.idle_kib()
        say(f"    {SENSORS:,} sensors listed: {idle:,} KiB of memory")
        collector = many.collector()
        swarm, wrong = all_up(many, "--combos", "0", "--clock-ahead", WRONG_S)
        swarm.kill()
        say(f"    {SENSORS:,} sensors whose clocks are {WRONG_S} s wrong have a session after {wrong:.1f} s")
        swarm, _ = all_up(many, "--combos", "2", "--rate", "2000")
        at_once, collector = _back(many, swarm, collector, 0)
        later, collector = _back(many, swarm, collector, OUTAGE_S)
        say(f"    {SENSORS:,} sensors back after {at_once:.1f} s, after {OUTAGE_S} s without a "
            f"collector {later:.1f} s")
        return {"return_10000_s": at_once, "return_10000_outage_s": later,
                "start_10000_wrong_clock_s": wrong, "collector_10000_listed_kib": idle}


def measure(directory, trace, say):
    return {**rates(trace, say), **straw_man(say), **instructions(trace, say), **back(directory, say)}
