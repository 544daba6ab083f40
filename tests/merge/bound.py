# SPDX-License-Identifier: GPL-2.0
"""What an offline merge could reach at best with these stamps:

    python -m merge.bound NAME.npz RECEPTIONS.tsv

Corrects the merge's clocks by a piecewise line for each sensor, which least squares fit to all first attempts at
once. The truth says which receptions belong together and which stamps are late. Prints the clock's error as merged,
and with the correction."""
import argparse
import dataclasses

import numpy as np

from merge import assignment
from merge.judge import LATE_NS, Clock
from merge.kinds import BEACON, DATA, MGMT
from merge.truth import Truth

REFERENCES = (BEACON, MGMT, DATA)
KNOTS_S = 5.0
ITERATIONS, ENOUGH = 150, 1e-9


class Lines:
    """A piecewise line for each sensor. The variables are the values at the knots."""

    def __init__(self, truth):
        knots = int(truth.second.max() / KNOTS_S) + 2
        piece = np.minimum((truth.second / KNOTS_S).astype(np.int64), knots - 2)
        self.share = truth.second / KNOTS_S - piece
        self.first = truth.sensor.astype(np.int64) * knots + piece
        self.size = (int(truth.sensor.max()) + 1) * knots

    def values(self, x, rows):
        first, share = self.first[rows], self.share[rows]
        return x[first] * (1 - share) + x[first + 1] * share

    def spread(self, v, rows):
        """The transpose of values()."""
        first, share = self.first[rows], self.share[rows]
        at = lambda where, weights: np.bincount(where, weights, minlength=self.size)
        return at(first, v * (1 - share)) + at(first + 1, v * share)


def solve(apply, right, diagonal):
    """Conjugate gradients, preconditioned by the diagonal."""
    x, rest = np.zeros(len(right)), right.copy()
    z = rest / diagonal
    way, size = z.copy(), rest @ z
    least = ENOUGH * size
    for _ in range(ITERATIONS):
        if size <= least:
            break
        applied = apply(way)
        step = size / (way @ applied)
        x, rest = x + step * way, rest - step * applied
        z = rest / diagonal
        size, before = rest @ z, size
        way = z + size / before * way
    return x


def corrected(truth, a, clock):
    """The receptions' times as an offline merge would have them."""
    in_time = np.abs(truth.jitter_ns) < LATE_NS
    rows = np.flatnonzero(clock.inside & np.isin(truth.kind, REFERENCES) & in_time)
    off = (a.time_ns - truth.true_ns).astype(float)
    off -= np.median(off[clock.inside])
    group = np.unique(truth.transmission[rows], return_inverse=True)[1]
    weight = 1 / truth.sigma_ns[truth.sensor[rows]] ** 2
    weights, lines = np.bincount(group, weight), Lines(truth)
    centred = lambda v: v - (np.bincount(group, weight * v) / weights)[group]
    x = solve(lambda x: lines.spread(weight * centred(lines.values(x, rows)), rows),
              -lines.spread(weight * centred(off[rows]), rows), lines.spread(weight, rows) * .5 + 1e-9)
    return a.time_ns + np.rint(lines.values(x, slice(None))).astype(np.int64)


def bound(truth, a):
    """The figures of the clock as merged, and as an offline merge would have it, at first attempts."""
    merged, counted = Clock(truth, a), np.isin(truth.kind, REFERENCES)
    better = dataclasses.replace(a, time_ns=corrected(truth, a, merged))
    return merged.figures(counted), Clock(truth, better, part=merged.part).figures(counted)


def main():
    parser = argparse.ArgumentParser(prog="merge.bound", description=__doc__.split("\n")[0])
    parser.add_argument("truth")
    parser.add_argument("receptions")
    given = parser.parse_args()
    truth = Truth(given.truth)
    for name, figures in zip(("merged", "offline"), bound(truth, assignment.read(given.receptions, truth))):
        print(name, figures)


if __name__ == "__main__":
    main()
