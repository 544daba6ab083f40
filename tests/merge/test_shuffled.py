# SPDX-License-Identifier: GPL-2.0
"""In which order combos arrive hardly matters, nor whether they come from a file or through a pipe."""
import numpy as np
import pytest

from merge import sim
from merge.merged import Simulated

PARAMETERS = {"seconds": 16.0, "sensors": 60, "aps": 25, "stas": 120, "batch": True, "steps": 2}
SHUFFLES = 10
MOST_PPM, STREAM_PPM = 50, 1000
LEARNED_S = 8  # from files, clocks first learn from so many seconds


def others(truth, one, two):
    """The share of receptions, in ppm, that are with other receptions in two merges of the same air, without the
    first seconds: there, clocks have learned from different frames."""
    both, late = one.found & two.found, truth.second > LEARNED_S
    pairs, inverse, size = np.unique(np.column_stack([one.transmission[both], two.transmission[both]]), axis=0,
                                     return_inverse=True, return_counts=True)
    sizes = [np.bincount(m.transmission[both].astype(np.int64)) for m in (one, two)]
    same = (size == sizes[0][pairs[:, 0].astype(np.int64)]) & (size == sizes[1][pairs[:, 1].astype(np.int64)])
    assert both.all()
    return 1e6 * np.mean(~same[inverse.ravel()][late])


@pytest.fixture(scope="module")
def merges(tmp_path_factory):
    """The usual order, from a file and through a pipe, and ten other orders of both."""
    folder, found = tmp_path_factory.mktemp("shuffled"), {}
    folder.chmod(0o755)
    for seed in range(SHUFFLES + 1):
        made = Simulated(folder, sim.simulate(**PARAMETERS, delays_seed=seed))
        found["file", seed], found["pipe", seed] = made.merge(), made.merge_live()
    return made.truth, found


def ppm(merges, one, way):
    truth, found = merges
    each = [others(truth, found[one], found[way, seed]) for seed in range(1, SHUFFLES + 1)]
    print(f"{way} against {one}: {np.mean(each):.1f} ppm in another set, at most {max(each):.1f}")
    return np.mean(each)


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_other_orders(merges, way):
    """On average: one late stamp at a step is some receptions in one order, and none in another."""
    assert ppm(merges, (way, 0), way) <= MOST_PPM


def test_a_stream_gives_nearly_what_files_give(merges):
    """Files let clocks learn from more frames before the sweep, so that some late ACKs are in another set."""
    assert ppm(merges, ("file", 0), "pipe") <= STREAM_PPM
