# SPDX-License-Identifier: GPL-2.0
"""How good saluki-merge's traces are: simulated airs, whose truth is known. The environment variable BENCH_SEED chooses
another air of the same kind (default 1)."""
import contextlib
import os
import sys

import numpy as np

from bench import merge_cost, mergecap
from merge import judge, sim
from merge.kinds import BAD_FCS
from merge.merged import Simulated, first_attempts, share

SECONDS = 60.0  # of an air
SECONDS_400 = 30.0
OUTAGE = {"seconds": 90.0, "outages": 3}  # three sensors are silent for 27 s
OTHER_DELAYS = (101, 102, 103)
NTP = {"offset": .005, "skew": .5}  # clocks that NTP keeps within 5 ms


def seed():
    try:
        return int(os.environ.get("BENCH_SEED") or 1)
    except ValueError:
        sys.exit(f"bench: BENCH_SEED={os.environ['BENCH_SEED']}: must be a whole number")


def air(**parameters):
    """A building with 100 sensors, whose late interrupts stamp whole batches; stamps have 1 to 20 us of jitter."""
    return sim.simulate(**{"seed": seed(), "seconds": SECONDS, "batch": True, **parameters})


@contextlib.contextmanager
def simulated(directory, made):
    """Its files are removed at the end, as they are large."""
    s = Simulated(directory, made)
    try:
        yield s
    finally:
        s.stream.unlink()


def figures(truth, a):
    """The judge's figures that have aims, without `merge_`."""
    found = judge.judge(truth, a)
    missed_first, false_first = first_attempts(judge.Merges(truth, a))
    missed_ack, false_ack = share(found["merges"], "ack")
    return {"clock_p50_us": found["clock"]["p50_us"], "clock_p99_us": found["clock"]["p99_us"],
            "missed_first": missed_first, "false_first": false_first, "missed_ack": missed_ack, "false_ack": false_ack,
            "calibration_68": found["calibration"]["within_1_sigma"],
            "calibration_95": found["calibration"]["within_2_sigma"]}


def said(found):
    return ", ".join(f"{name} {value:.4g}" for name, value in found.items())


def accuracy(directory, say):
    out = {}
    with simulated(directory, air()) as s:
        found = figures(s.truth, s.merge())
        say(f"    {len(s.truth):,} receptions: {said(found)}")
        out.update({f"merge_{name}": value for name, value in found.items()})
        out.update(merge_cost.rate(s.stream, len(s.truth), directory, say))
        out.update(order(s, say))
        out.update(mergecap.compare(s, "the clocks are off by up to 2 s", say))
    with simulated(directory, air(tsft=1.0)) as s:
        found = figures(s.truth, s.merge())
        say(f"    the same with TSFT: {said(found)}")
        out.update({f"merge_{name.removesuffix('_us')}_tsft{'_us' * name.endswith('_us')}": found[name] for name in
                    ("clock_p50_us", "clock_p99_us", "missed_ack", "false_ack")})
        out.update({"merge_missed_first_tsft": found["missed_first"], "merge_false_first_tsft": found["false_first"]})
    with simulated(directory, air(sensors=400, aps=160, stas=800, seconds=SECONDS_400)) as s:
        found = figures(s.truth, s.merge())
        say(f"    400 sensors, {len(s.truth) / SECONDS_400:,.0f} receptions/s: {said(found)}")
        out["merge_clock_p99_400_us"] = found["clock_p99_us"]
    with simulated(directory, air(seconds=20.0, **NTP)) as s:
        ntp = mergecap.compare(s, "NTP keeps the clocks within 5 ms", say)
        out.update({f"{name}_ntp": value for name, value in ntp.items() if name.startswith("mergecap")})
    return out


# ---- frames that arrive late -----------------------------------------------------------------------------------------


def sets(a, numbers):
    """A number for each reception, which two merges have in common if the reception's transmission has the same
    receptions in both."""
    sums = np.zeros(int(a.transmission.max()) + 2, np.uint64)
    np.add.at(sums, a.transmission, numbers)  # -1, not found, is the last one
    return sums[a.transmission]


def order(s, say):
    """The share of receptions that are in another set if the sensors' delays are others."""
    numbers = np.random.default_rng(0).integers(0, 1 << 63, len(s.truth), dtype=np.uint64)
    first, ppm = sets(s.merge_live(), numbers), []
    kept = s.air.parameters.delays_seed
    for delays in OTHER_DELAYS:
        s.air.parameters.delays_seed = delays
        s.air.write_stream(s.stream)
        ppm.append(1e6 * float(np.mean(sets(s.merge_live(), numbers) != first)))
    s.air.parameters.delays_seed = kept
    s.air.write_stream(s.stream)
    say(f"    in another set with other delays: {', '.join(f'{p:.1f}' for p in ppm)} ppm of the receptions")
    return {"merge_order_ppm": max(ppm)}


def with_others(truth, a, chosen):
    """Whether each chosen reception is in a transmission of the merge with another sensor's reception of the same true
    transmission."""
    pair = truth.transmission.astype(np.int64) << 32 | np.maximum(a.transmission, 0)
    sensor = truth.sensor.astype(np.int64)
    good = a.found & (truth.kind != BAD_FCS)
    by_pair = np.argsort(pair[good], kind="stable")
    p, own = pair[good][by_pair], sensor[good][by_pair]
    begin = np.flatnonzero(np.concatenate([[True], p[1:] != p[:-1]]))
    several = np.minimum.reduceat(own, begin) != np.maximum.reduceat(own, begin)
    return (good & np.isin(pair, p[begin[several]]))[chosen]


def outage(directory, say):
    """Three sensors' frames arrive late by up to 27 s. The share of these receptions that a live merge adds to their
    transmissions; and a merge of the same stream as a file. Those count that a merge finds where no frame is late."""
    with simulated(directory, air(**OUTAGE)) as s:
        events = {e["sensor"]: e for e in s.truth.events}
        at = s.truth.true_ns - s.truth.base_ns + s.truth.jitter_ns
        late = np.zeros(len(s.truth), bool)
        for sensor, e in events.items():
            late |= (s.truth.sensor == sensor) & (at > e["at_ns"]) & (at < e["amount"])
        files, live = s.merge(), s.merge_live()
        s.air.write_files(directory / "each")
        possible = with_others(s.truth, s.merge(directory / "each"), late)
        for f in (directory / "each").iterdir():
            f.unlink()
        found, found_live = (with_others(s.truth, a, late) for a in (files, live))
        out = {"merge_outage_found": np.mean(found_live[possible]), "merge_outage_found_files": np.mean(found[possible])}
        flagged = int(np.count_nonzero(live.flags[late] & 1))
        say(f"    {late.sum():,} receptions of 3 sensors are late by up to 27 s; {possible.sum():,} have company if "
            f"nothing is late, {found_live.sum():,} live ({flagged:,} of all are flagged late), {found.sum():,} from a file")
        return {name: float(value) for name, value in out.items()}


def measure(directory, say):
    out = {**accuracy(directory, say), **outage(directory, say)}
    return {**out, **merge_cost.memory(seed(), say)}
