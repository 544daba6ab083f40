# SPDX-License-Identifier: GPL-2.0
"""What filters cost in the kernel: ours that refuses everything against no program but one that passes
all, and one that takes everything against the same in tcpdump's socket. All at one load, each round all
of them one after the other; the generator's idle turns tell what receiving a frame took."""
import random
import statistics

from bench import consumers, rates

LOAD = 500_000  # frames a second; tcpdump bears it without loss
NOTHING = "ether proto 0x4242"  # none of the frames


def everything(rng):
    """Takes every frame, but not before it has looked at all of its conditions."""
    hosts = (f"203.0.113.{rng.randrange(1, 255)}" for _ in range(10))
    ports = (str(rng.randrange(20000, 60000)) for _ in range(5))
    return "not (" + " or ".join([*(f"host {h}" for h in hosts), *(f"tcp port {p}" for p in ports)]
                                 ) + ")"


ALL = everything(random.Random(1))


class Refusing(consumers.SalukiPass):
    options = ["--keep", "headers", NOTHING]


class Taking(consumers.Saluki):
    options = ["--keep", "headers", ALL]


class TcpdumpTaking(consumers.Tcpdump):
    command = [*consumers.Tcpdump.command, ALL]


KINDS = {"refuse": Refusing, "filter": Taking, "plain": consumers.Saluki,
         "tcpdump_filter": TcpdumpTaking, "tcpdump_plain": consumers.Tcpdump}


class Costs(rates.Ladder):
    """Nanoseconds a frame that the kernel's receiving side takes with each of them listening."""

    def passed(self):
        off = self.cable.attached(self.cable.sensor, "pass", "cap0")
        sent = self.cable.generate(self.trace, LOAD, self.seconds)
        off()
        return self._busy_s(sent) * 1e3

    def taken(self, name):
        consumer = KINDS[name](self.cable)
        consumer.listen()
        sent = self.cable.generate(self.trace, LOAD, self.seconds)
        consumers.settled(consumer.pids)
        count = consumer.stop()
        if name == "refuse" and count.captured:
            raise RuntimeError(f"'{NOTHING}' has taken {count.captured} frames")
        return self._busy_s(sent) * 1e3

    def rounds(self, count):
        out = {name: [] for name in ("pass", *KINDS)}
        for _ in range(count):
            self.idle_s = self._idle_s()
            out["pass"].append(self.passed())
            for name in KINDS:
                out[name].append(self.taken(name))
        return out


def difference(found, a, b):
    return statistics.median(x - y for x, y in zip(found[a], found[b]))


def measure(cable, trace, seconds, rounds, say):
    found = Costs(cable, trace, seconds, [], say).rounds(rounds)
    for name, ns in found.items():
        say(f"    {name:16} " + " ".join(f"{n:7.1f}" for n in ns) + " ns a frame")
    ours = difference(found, "filter", "plain")
    theirs = difference(found, "tcpdump_filter", "tcpdump_plain")
    out = {"filter_reject_ns": difference(found, "refuse", "pass"), "filter_ns": ours,
           "filter_ns_tcpdump": theirs}
    if theirs > 0:
        out["filter_cost_x_tcpdump"] = ours / theirs
    return out
