# SPDX-License-Identifier: GPL-2.0
"""Judges a merge by the truth:

    python -m merge.judge NAME.npz RECEPTIONS.tsv [OPTION]...

The clock's error is a reception's time minus its true time, without the stamp's error, and without the error that all
sensors share. For each transmission, the merges missed are the transmissions that the merge made of it, less one. A
reception is false if most receptions of its merged transmission come from another one."""
import argparse
import json

import numpy as np

from merge import assignment
from merge.kinds import BAD_FCS, BEACON, DATA, FLAGS, MGMT, NAMES
from merge.truth import Truth

SKIP_S = 5.0
TSFT_DOWN_NS = 500
LATE_NS = 100_000  # a stamp with more jitter is late
ALL = "all"


def medians(groups, values):
    """The median of each group's values, by ascending group."""
    order = np.lexsort((values, groups))
    g, v = groups[order], values[order]
    begin = np.flatnonzero(np.concatenate([[True], g[1:] != g[:-1]]))
    count = np.diff(np.append(begin, len(g)))
    return g[begin], (v[begin + (count - 1) // 2] + v[begin + count // 2]) / 2


def along(at, middles, values):
    """Interpolates, and goes on in a straight line before the first and after the last middle."""
    out = np.interp(at, middles, values)
    if len(middles) > 1:
        for end, inner, outside in ((0, 1, at < middles[0]), (-1, -2, at > middles[-1])):
            slope = (values[end] - values[inner]) / (middles[end] - middles[inner])
            out[outside] += slope * (at[outside] - middles[end])
    return out


def main_part(a, chosen=True):
    """The part with most receptions, of all or of those chosen."""
    return int(np.bincount(a.part[a.found & chosen]).argmax())


class Clock:
    """Errors in microseconds, for each reception of the truth. `counted`: those that count."""

    def __init__(self, truth, a, skip=SKIP_S, part=None):
        self.truth, self.a = truth, a
        self.part = main_part(a) if part is None else part
        self.inside = a.found & (a.part == self.part)
        self.counted = self.inside & (truth.second > skip)
        self.second = truth.second
        off = (a.time_ns - truth.true_ns - self.stamp_errors()).astype(float)
        self.common = np.zeros(0)
        for _ in range(2):  # frames come in bursts, so that a drift within the second counts, too
            middles, common = self._common(off)
            self.common = self.common + common if len(self.common) else common
            off -= along(self.second, middles, common)
        self.error_us = off / 1e3

    def stamp_errors(self):
        """The errors of kernel stamps, or of TSFT for radios whose times fit TSFT better. A TSFT is rounded down: by half a
        microsecond on average, which nobody can tell from the clock's offset."""
        t, out = self.truth, self.truth.jitter_ns.copy()
        if not t.tsft_us.any():
            return out
        radio = t.sensor.astype(np.int64) << 3 | t.interface
        off = self.a.time_ns - t.true_ns
        for r in np.unique(radio[(t.tsft_us != 0) & self.inside]):
            own = np.flatnonzero((radio == r) & self.inside)
            moves = [np.median(np.abs(np.diff(off[own] - e[own]))) if len(own) > 1 else 0
                     for e in (t.jitter_ns, t.tsft_error_ns)]
            if moves[1] < moves[0]:
                out[radio == r] = t.tsft_error_ns[radio == r] + TSFT_DOWN_NS
        return out

    def _common(self, off):
        """What all sensors are off by, each second: the median of the sensors' medians, at the receptions' mean time.
        Seconds with few sensors do not count."""
        second = self.second[self.inside].astype(np.int64)
        groups, each = medians(second << 16 | self.truth.sensor[self.inside], off[self.inside])
        sensors = np.bincount(groups >> 16)[groups >> 16]
        many = sensors >= sensors.max(initial=0) / 2
        seconds, common = medians(groups[many] >> 16, each[many])
        count, total = np.bincount(second), np.bincount(second, self.second[self.inside])
        return total[seconds] / count[seconds], common

    def figures(self, chosen=None):
        counted = self.counted if chosen is None else self.counted & chosen
        e = np.abs(self.error_us[counted])
        early = np.abs(self.error_us[self.inside & (self.second < SKIP_S)])
        percentiles = lambda v, *q: [round(float(x), 3) for x in np.percentile(v, q)] if len(v) else [None] * len(q)
        p50, p90, p99, p999 = percentiles(e, 50, 90, 99, 99.9)
        return {"receptions": len(e), "p50_us": p50, "p90_us": p90, "p99_us": p99, "p99.9_us": p999,
                "max_us": round(float(e.max(initial=0)), 1), "first_p99_us": percentiles(early, 99)[0],
                "common_drift_us": round(float(np.ptp(self.common) / 1e3), 1) if len(self.common) else None,
                "in_main_part": round(float(np.mean(self.a.part[self.a.found] == self.part)), 4)}

    def calibration(self):
        """The share of clock errors within one and two stated sigmas; late stamps are left out."""
        chosen = self.counted & (np.abs(self.truth.jitter_ns) < LATE_NS) & (self.a.flags & FLAGS["unaligned"] == 0)
        e, sigma = np.abs(self.error_us[chosen]) * 1e3, self.a.sigma_ns[chosen]
        share = lambda times: round(float(np.mean(e <= times * sigma)), 4) if len(e) else None
        return {"receptions": len(e), "within_1_sigma": share(1), "within_2_sigma": share(2),
                "median_sigma_us": round(float(np.median(sigma)) / 1e3, 3) if len(e) else None}


class Merges:
    """Receptions with a good FCS, in pairs of a true transmission and one of the merge."""

    def __init__(self, truth, a, chosen=None):
        counted = a.found & (truth.kind != BAD_FCS)
        counted &= chosen if chosen is not None else True
        self.true, self.made, kind = (v[counted].astype(np.int64)
                                      for v in (truth.transmission, a.transmission, truth.kind))
        pairs, each = np.unique(self.true << 32 | self.made, return_counts=True)
        pair_true, pair_made = pairs >> 32, pairs & 0xffffffff
        size = int(self.true.max(initial=-1)) + 1, int(self.made.max(initial=-1)) + 1
        self.heard, self.split = np.bincount(self.true, minlength=size[0]), np.bincount(pair_true, minlength=size[0])
        self.total, self.mixed = np.bincount(self.made, minlength=size[1]), np.bincount(pair_made, minlength=size[1])
        self.most = np.zeros(size[1], np.int64)
        np.maximum.at(self.most, pair_made, each)
        self.true_kind, self.made_kind = np.zeros(size[0], np.uint8), np.zeros(size[1], np.uint8)
        self.true_kind[self.true], self.made_kind[self.made] = kind, kind

    def of(self, kind=None):
        """The figures of a class, or of all."""
        true = (self.heard > 0) & (True if kind is None else self.true_kind == kind)
        made = (self.total > 0) & (True if kind is None else self.made_kind == kind)
        heard, possible = int(self.heard[true].sum()), int((self.heard[true] - 1).sum())
        missed, false = int((self.split[true] - 1).sum()), int((self.total[made] - self.most[made]).sum())
        return {"transmissions": int(true.sum()), "receptions": heard, "missed": missed,
                "missed_percent": round(100 * missed / max(possible, 1), 4),
                "false_transmissions": int((self.mixed[made] > 1).sum()), "false": false,
                "false_ppm": round(1e6 * false / max(heard, 1), 1)}

    def figures(self):
        present = set(self.true_kind[self.heard > 0].tolist())
        out = {name: self.of(kind) for kind, name in enumerate(NAMES) if kind in present}
        return {**out, ALL: self.of()}


def dispersion_us(truth, a):
    """Between the first and the last reception of one transmission of the merge."""
    chosen = a.found & (a.flags == 0) & np.isin(truth.kind, (BEACON, MGMT, DATA))
    made, time = a.transmission[chosen], a.time_ns[chosen]
    if not len(made):
        return [None] * 3
    least, most = np.full(made.max() + 1, 1 << 62), np.full(made.max() + 1, -(1 << 62))
    np.minimum.at(least, made, time)
    np.maximum.at(most, made, time)
    several = np.bincount(made) > 1
    spans = (most - least)[several] / 1e3
    return [round(float(x), 1) for x in np.percentile(spans, [50, 90, 99])] if len(spans) else [None] * 3


def bad_ones(truth, a):
    """Where the receptions with a wrong FCS went."""
    pair = lambda rows: truth.transmission[rows].astype(np.int64) << 32 | a.transmission[rows]
    bad, good = (np.flatnonzero(a.found & ((truth.kind == BAD_FCS) == b)) for b in (True, False))
    right = np.isin(pair(bad), pair(good))
    with_good = np.isin(a.transmission[bad], a.transmission[good])
    return {"receptions": len(bad), "right": int(right.sum()), "wrong": int((with_good & ~right).sum()),
            "alone": int((~with_good).sum())}


def twice(truth, a):
    """Receptions of a radio that is in one transmission of the merge already."""
    radio = truth.sensor.astype(np.int64) << 3 | truth.interface
    keys = (a.transmission << 20 | radio)[a.found]
    return len(keys) - len(np.unique(keys))


def judge(truth, a, skip=SKIP_S):
    """All figures."""
    clock, in_time = Clock(truth, a, skip), np.abs(truth.jitter_ns) < LATE_NS
    troubled = np.isin(truth.sensor, [e["sensor"] for e in truth.events])
    out = {"rows": {"expected": len(truth), "absent": int((~a.found).sum()), "unknown": a.unknown,
                    "repeated": a.repeated, "radio_twice": twice(truth, a)},
           "clock": clock.figures(), "calibration": clock.calibration(), "dispersion_us": dispersion_us(truth, a),
           "merges": Merges(truth, a).figures(), "in_time": Merges(truth, a, in_time).figures(),
           "bad_fcs": bad_ones(truth, a)}
    if troubled.any():
        out["clock_without_events"] = clock.figures(~troubled)
    return out


def text(figures):
    line = lambda title, values: f"{title}: " + ", ".join(f"{k} {v}" for k, v in values.items())
    lines = [line(name.replace("_", " "), figures[name]) for name in
             ("rows", "clock", "clock_without_events", "calibration", "bad_fcs") if name in figures]
    lines.append(f"dispersion us p50/p90/p99: {figures['dispersion_us']}")
    for name in ("merges", "in_time"):
        lines.append(name.replace("_", " ") + ":")
        lines += ["  " + line(f"{kind:6}", values) for kind, values in figures[name].items()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="merge.judge", description=__doc__.split("\n")[0])
    parser.add_argument("truth")
    parser.add_argument("receptions")
    parser.add_argument("--skip", type=float, default=SKIP_S, help="s at the start that do not count for the clock")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    truth = Truth(given.truth)
    figures = judge(truth, assignment.read(given.receptions, truth), given.skip)
    print(json.dumps(figures, indent=1) if given.json else text(figures))


if __name__ == "__main__":
    main()
