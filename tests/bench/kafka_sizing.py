# SPDX-License-Identifier: GPL-2.0
"""What each program of the whole way costs per combo and per frame, and how many CPUs the three cases of the sizing
table need. A swarm exports to one collector and to two, each with a put of its own, and all use one broker.

The costs of a combo are those of two captures: one with few frames in a combo, one with many. A cost is a line through
both: collector and source by frames, the others by bytes."""
import collections
import contextlib

from bench import kafka

CAPTURES = {"few": "dot11-other/192-school.pcap.zst", "many": "hwsim/hwsim-all-groundtruth.pcap.zst"}
SENSORS, ROUNDS = 1000, 3
EACH = {"few": 60, "many": 8}  # combos of a sensor
MANY_PARTITIONS = 240
PROGRAMS = {"collector": "frames", "put": "value_bytes", "broker_in": "log_bytes", "broker_out": "log_bytes",
            "get": "log_bytes", "source": "frames"}
DAY_S = 86_400

# Sensors, frames per second of each, frames and bytes of a combo. Combos of usual air are closed by their age.
Case = collections.namedtuple("Case", "name sensors rate frames bytes")
CASES = [Case("campus", 210, 5488, 281, 3100), Case("usual air", 10_000, 100, 100, 1100),
         Case("peak", 10_000, 5488, 281, 3100)]


def least(runs):
    """The smallest cost of each program: others' work only adds to it."""
    return {k: min(r[k] for r in runs) if k in PROGRAMS else runs[-1][k] for k in runs[0]}


def per_combo(carried, what):
    return carried[what] / carried["combos"]


def line(few, many, program):
    """CPU seconds of a combo: (at 0, per frame or byte). No cost falls with the size: noise may say so."""
    by = PROGRAMS[program]
    x, y = ([per_combo(c, k) for c in (few, many)] for k in (by, program))
    slope = max(0, (y[1] - y[0]) / (x[1] - x[0]))
    return max(0, y[0] - slope * x[0]), slope


def say_runs(runs, say):
    say(f"    {'CPU us a combo':34}" + "".join(f"{p:>12}" for p in PROGRAMS) + "   frames  log bytes")
    for name, r in runs.items():
        say(f"    {name:34}" + "".join(f"{per_combo(r, p) * 1e6:12.1f}" for p in PROGRAMS) +
            f"{per_combo(r, 'frames'):9.0f}{per_combo(r, 'log_bytes'):11,.0f}")


def sized(case, lines, log_more, pcapng_bytes):
    """CPUs of each program, and bytes a second, for a case."""
    frames = case.sensors * case.rate
    combos, log = frames / case.frames, case.bytes + log_more
    size = {"frames": case.frames, "value_bytes": case.bytes, "log_bytes": log}
    cpus = {p: combos * (lines[p][0] + lines[p][1] * size[PROGRAMS[p]]) for p in PROGRAMS}
    return {**cpus, "frames_per_s": frames, "combos_per_s": combos, "log": combos * log, "pcapng": frames * pcapng_bytes}


def say_cases(cases, say):
    say(f"    {'case':10}{'frames/s':>12}{'combos/s':>10}{'MB/s in':>9}" + "".join(f"{p:>11}" for p in PROGRAMS) +
        f"{'pcapng TB/d':>13}   (CPUs)")
    for case, c in cases.items():
        say(f"    {case.name:10}{c['frames_per_s']:12,.0f}{c['combos_per_s']:10,.0f}{c['log'] / 1e6:9.0f}" +
            "".join(f"{c[p]:11.2f}" for p in PROGRAMS) + f"{c['pcapng'] * DAY_S / 1e12:13.1f}")


def measure(directory, say):
    traces = {k: kafka.kept_capture(directory, name) for k, name in CAPTURES.items()}
    values = {k: kafka.combo_size(directory, trace)[0] for k, trace in traces.items()}
    found = collections.defaultdict(list)
    with contextlib.ExitStack() as stack:
        broker = kafka.started_broker(stack, directory, None)
        kafka.carry(directory, broker, "warm", traces["few"], each=EACH["few"])  # the broker's JIT compiler
        for n in range(ROUNDS):
            for name, kind, collectors, partitions in (
                    ("1 collector", "few", 1, kafka.PARTITIONS), ("2 collectors", "few", 2, kafka.PARTITIONS),
                    (f"1, {MANY_PARTITIONS} partitions", "few", 1, MANY_PARTITIONS),
                    ("1, many frames in a combo", "many", 1, kafka.PARTITIONS)):
                # A group goes on where it was in a topic, even if another one has its name.
                got = kafka.carry(directory, broker, f"sizing-{n}-{kind}-{collectors}-{partitions}", traces[kind],
                                  collectors, SENSORS, EACH[kind], partitions)
                found[name].append({**got, "value_bytes": values[kind] * got["combos"]})
    runs = {name: least(r) for name, r in found.items()}
    say_runs(runs, say)
    one, two, spread, many = runs.values()
    lines = {p: line(one, many, p) for p in PROGRAMS}
    log_more = per_combo(one, "log_bytes") - values["few"]
    cases = {case: sized(case, lines, log_more, one["pcapng_bytes"] / one["frames"]) for case in CASES}
    say_cases(cases, say)
    say(f"    fullest partition over the mean one: {one['fullest']:.2f} of {kafka.PARTITIONS}, {spread['fullest']:.2f} of "
        f"{MANY_PARTITIONS}")
    peak = cases[CASES[-1]]
    return {**{f"kafka_{p}_us_combo": per_combo(one, p) * 1e6 for p in PROGRAMS},
            **{f"kafka_{p}_2_x_1": per_combo(two, p) / per_combo(one, p) for p in PROGRAMS},
            **{f"kafka_{p}_{MANY_PARTITIONS}_partitions_x": per_combo(spread, p) / per_combo(one, p) for p in PROGRAMS},
            **{f"kafka_peak_{p}_cpus": peak[p] for p in PROGRAMS},
            "kafka_log_bytes_more": log_more, "kafka_fullest_partition": spread["fullest"],
            "kafka_pcapng_bytes_frame": one["pcapng_bytes"] / one["frames"]}
