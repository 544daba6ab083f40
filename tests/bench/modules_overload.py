# SPDX-License-Identifier: GPL-2.0
"""Modules in overload: a sensor with one CPU, where receiving goes first, as interrupts do, and the
agent gets the time that modules leave. At twice the rate at which no module is left out, the ring
fills and modules of low priority are left out. Frames and modules of high priority are not."""
import json

from bench import consumers, modules_rate
from bench.cable import GENERATOR_CPU
from netns import testbed

BUSY = testbed.BUILD / "tests/bench/busy.o"
PRIORITIES = {"rtt": 100, "trajectory": 100, "middle": 50, "low": 0}
FIRST, STEP, LAST = 100_000, 1.15, 1_000_000  # frames/s
SEARCH_S = 5  # the ring must fill sooner
FIRST_OF_ALL = ["chrt", "-f", "10"]


class Operator(modules_rate.Operator):
    def allow(self):
        head, section = self.policy.read_text().split("[Module *]")
        self.policy.write_text(head + "".join(
            f"[Module {name}]" + section.replace("Priority = 100", f"Priority = {priority}")
            for name, priority in PRIORITIES.items()))

    def load_all(self):
        for name in PRIORITIES:
            self.load(name, BUSY if name in ("middle", "low") else None)


def capture_with(operator):
    class Capture(consumers.Saluki):
        """Reports at its end how many frames its modules have seen."""
        cpu = GENERATOR_CPU
        modules = {}

        def listen(self):
            super().listen()
            operator.load_all()

        def stop(self):
            Capture.modules = operator.stats()
            return super().stop()
    return Capture


class Run:
    def __init__(self, cable, kind, trace, rate, seconds):
        consumer = kind(cable)
        consumer.listen()
        sent = cable.generate(trace, rate, seconds, "turns", under=FIRST_OF_ALL)
        consumers.settled(consumer.pids)
        self.count = consumer.stop()
        self.modules = kind.modules
        self.rate, self.late = sent.frames / sent.seconds, sent.late
        # Frames that never reached the capture: in no ledger.
        self.unheard = sent.frames - self.count.received
        for name, m in self.modules.items():
            if m["frames"] + m["skipped"] != self.count.received or m["missing"]:
                raise RuntimeError(f"of {self.count} {name} has seen {json.dumps(m)}")

    def skipped(self, name):
        return self.modules[name]["skipped"]

    def is_within(self):
        """No load was too high."""
        return not (self.count.lost or self.late or self.unheard or
                    any(self.skipped(name) for name in PRIORITIES))

    def __str__(self):
        return (f"{self.rate / 1e6:5.2f} M/s  lost {self.count.lost} in the ring, "
                f"{self.late + self.unheard} before  left out: " +
                ", ".join(f"{name} {self.skipped(name) / self.count.received:.1%}"
                          for name in PRIORITIES))


def measure(cable, trace, seconds, say):
    operator = Operator(cable)
    operator.allow()
    kind = capture_with(operator)
    capacity, rate = 0, FIRST
    while rate < LAST:
        run = Run(cable, kind, trace, rate, SEARCH_S)
        say(f"    {rate:>10,.0f} frames/s: {run}")
        if not run.is_within():
            break
        capacity, rate = rate, rate * STEP
    if not capacity:
        return {}
    run = Run(cable, kind, trace, 2 * capacity, seconds)
    say(f"    {2 * capacity:>10,.0f} frames/s: {run}")
    return {"overload_capacity_per_s": capacity, "overload_x_capacity": run.rate / capacity,
            "overload_lost": run.count.lost, "overload_before_capture": run.late + run.unheard,
            "overload_high_skipped": run.skipped("rtt") + run.skipped("trajectory"),
            "overload_low_skipped_share": run.skipped("low") / run.count.received,
            "overload_middle_skipped_share": run.skipped("middle") / run.count.received}
