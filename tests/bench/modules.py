# SPDX-License-Identifier: GPL-2.0
"""The cost of modules (modules_cost.c): FLAME's figure 6, for all frames of the wired captures. A
batch's cost is the best of some rounds. A program's place in the kernel's memory changes about ten
nanoseconds, so everything is loaded many times, and the median of the differences counts. A load's
differences are also divided by its time with an empty program."""
import statistics
import subprocess

from bench import cable as cables
from netns import testbed
from reference import captures

LOADS = 16
ROUNDS = 10
# FLAME's table: cycles of plain C, and the additions in per cent of its language, of that with
# protection, and of both optimised.
FLAME = {"trajectory": (381, 10.2, 20.2, 12.8), "rtt": (183, 12.4, 15.3, 15.3),
         "worm": (24, 83.3, 125, 83.3), "lrd": (143, 7.6, 10.4, 9)}
LENGTHS = range(14, 1515)


def frames():
    """All frames, in the order of their captures."""
    found = []
    for path in captures.more_real().folder("wired"):
        try:
            found += [f.data for f in captures.frames(path) if f.linktype == 1 and
                      f.orig_len == len(f.data) and len(f.data) in LENGTHS]
        except captures.Corrupt:
            pass
    return found


class Times:
    """Nanoseconds per frame, by way, of each load."""

    def __init__(self, outputs):
        loads = [{name: float(ns) for name, ns in map(str.split, out.splitlines())}
                 for out in outputs]
        self.ns = {name: [load[name] for load in loads] for name in loads[0]}

    def more(self, way, than):
        return statistics.median(a - b for a, b in zip(self.ns[way], self.ns[than], strict=True))

    def more_x_empty(self, way, than):
        return statistics.median((a - b) / e for a, b, e in
                                 zip(self.ns[way], self.ns[than], self.ns["empty"], strict=True))


def measured(ns, trace, names, rounds, loads=LOADS):
    return Times([ns.run("nice", "-n", "-10", *cables.on_cpu(
        cables.CONSUMER_CPU, testbed.BUILD / "tests/modules_cost", trace, rounds, *names),
        stdout=subprocess.PIPE, cwd=testbed.ROOT).stdout for _ in range(loads)])


def figures(times, names, say):
    out = {"module_ns_empty": statistics.median(times.ns["empty"]),
           "slot_ns": times.more("capture", "slotless"),
           "slot_x_empty": times.more_x_empty("capture", "slotless")}
    say(f"    an empty program: {out['module_ns_empty']:.1f} ns a frame")
    say("    ns a frame        plain C    inlined  protected   protection"
        "          FLAME: cycles, language, protection, optimised")
    for name in names:
        plain = times.more(f"{name}.plain", "feed")
        inlined = times.more(f"{name}.inlined", "capture")
        protected = times.more(f"{name}.protected", "capture")
        protection = times.more(f"{name}.protected", f"{name}.inlined")
        flame = FLAME.get(name)
        say(f"    {name:14} {plain:10.1f} {inlined:10.1f} {protected:10.1f} {protection:6.1f} "
            f"{protection / inlined:6.1%}" +
            (f"   {flame[0]:10} " + "".join(f"{p:6} %" for p in flame[1:]) if flame else ""))
        out |= {f"module_ns_plain_{name}": plain, f"module_ns_inlined_{name}": inlined,
                f"module_ns_protected_{name}": protected,
                f"module_protection_ns_{name}": protection,
                f"module_protection_share_{name}": protection / inlined}
        out |= {f"module_{way}_x_empty_{name}": times.more_x_empty(f"{name}.{way}", than)
                for way, than in (("plain", "feed"), ("inlined", "capture"),
                                  ("protected", "capture"))}
        out[f"module_protection_x_empty_{name}"] = times.more_x_empty(f"{name}.protected",
                                                                      f"{name}.inlined")
    out["module_ns_all"] = times.more("all.protected", "capture")
    out["module_all_x_empty"] = times.more_x_empty("all.protected", "capture")
    of_flame = [n for n in names if n in FLAME]
    if of_flame:
        for what in ("ns", "x_empty"):
            out[f"module_protection_{what}"] = max(out[f"module_protection_{what}_{n}"]
                                                   for n in of_flame)
        out["module_vs_userspace"] = max(out[f"module_ns_protected_{n}"] /
                                         out[f"module_ns_plain_{n}"] for n in of_flame)
    return out


def names():
    """The modules that the bench was built with."""
    have = sorted(p.name.removesuffix(".protected.o") for p in
                  (testbed.BUILD / "tests/bench/modules").glob("*.protected.o"))
    return [n for n in have if n in FLAME] + [n for n in have if n not in FLAME]


def measure(ns, trace, say):
    return figures(measured(ns, trace, names(), ROUNDS), names(), say)
