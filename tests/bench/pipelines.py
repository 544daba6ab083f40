# SPDX-License-Identifier: GPL-2.0
"""What a second pipeline on a second CPU adds (pipelines.c)."""
import contextlib
import statistics
import subprocess

from bench import cable
from netns import testbed

ROUNDS = 5
BOTH = f"{cable.GENERATOR_CPU},{cable.CONSUMER_CPU}"
ONE = str(cable.CONSUMER_CPU)
RUNS = {"1": (1, ONE), "same_cpu": (2, ONE), "2": (2, BOTH)}  # pipelines, CPUs


def _run(c, trace, pipelines, cpus, seconds):
    lines = c.sensor.run("taskset", "-c", cpus, testbed.BUILD / "tests/pipelines", trace,
                         *cable.COLLECTOR.split(":"), pipelines, seconds,
                         stdout=subprocess.PIPE).stdout
    return {name: float(value) for name, value in map(str.split, lines.splitlines())}


def measure(directory, trace, seconds, say):
    """The far end drops all datagrams."""
    rounds = []
    with contextlib.ExitStack() as stack:
        c = cable.Cable(stack, directory)
        c.attached(c.collector, "discard", "exp1")
        for _ in range(ROUNDS):
            rounds.append({name: _run(c, trace, *run, seconds) for name, run in RUNS.items()})
            say("pipelines, frames per second: " +
                ", ".join(f"{name} {run['frames_per_s']:,.0f}" for name, run in rounds[-1].items()))

    def median(value):
        return statistics.median(value(r) for r in rounds)

    out = {f"pipelines_{name}_x_1": median(lambda r, n=name: r[n]["frames_per_s"] / r["1"]["frames_per_s"])
           for name in ("2", "same_cpu")}
    out.update({f"pipelines_frames_per_s_{n}": median(lambda r, n=n: r[n]["frames_per_s"])
                for n in ("1", "2")})
    threads = {t: median(lambda r, t=t: r["2"][f"ns_{t}"]) for t in ("capture", "export", "cpu")}
    out["ns_pipelines_capture"], out["ns_pipelines_export"] = threads["capture"], threads["export"]
    out["ns_pipelines_fill"] = threads["cpu"] - threads["capture"] - threads["export"]
    return out
