# SPDX-License-Identifier: GPL-2.0
"""Unlinkability (docs/wire.md): from datagrams' bytes, no one can tell which have the same sensor,
which sensor, kind or direction; if padded, not from their lengths either.

Ten sensors' datagrams, 20,000 handshakes each followed by data of every kind, made by
tests/wire/traffic.c with the same functions as the programs, with easily recognised content. The
limits for findings let chance cause one in the whole test with 1e-6 (Bonferroni). Eight planted
leaks must be found. All results are printed."""
import ctypes
import dataclasses
import os
import pathlib
import subprocess

import numpy as np
import pytest

from wire import chance

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
TRAFFIC = BUILD / "tests/traffic"
REPEATED = ctypes.CDLL(BUILD / "tests/repeated.so").repeated
REPEATED.restype = ctypes.c_long
SET_UPS = 20000
SET_UPS_LEAKY = 4000
SENSORS = 10
LEAK_LENGTH = 6  # of traffic.c: in plain recordings lengths show kinds anyway
OVERALL = 1e-6
TESTS_MAX = 1_000_000  # of one recording and all its groups, positions and classifiers
RECORDINGS = 4  # two of them in netns/; planted leaks must be found, and not by chance
TAIL = OVERALL / RECORDINGS / TESTS_MAX
PADDED = 1232
GROUP_MIN = 256 * 20  # datagrams, so that each byte value is expected 20 times
CLASS_MIN = 400
EDGE = 64  # bytes at either end for classifiers, or half of the shortest datagram
LABELS = np.dtype([("sensor", "u1"), ("kind", "u1"), ("way", "u1"), ("zero", "u1"),
                   ("length", "<u2"), ("set_up", "<u2")])


@dataclasses.dataclass
class Recording:
    labels: np.ndarray
    data: np.ndarray
    starts: np.ndarray

    @classmethod
    def make(cls, directory, set_ups, mode, leak=0):
        out = directory / f"{mode}{leak}"
        subprocess.run([TRAFFIC, out, str(set_ups), mode, str(leak)], check=True)
        labels = np.fromfile(f"{out}.labels", LABELS)
        data = np.fromfile(f"{out}.bytes", np.uint8)
        for suffix in ("labels", "bytes"):
            os.unlink(f"{out}.{suffix}")
        lengths = labels["length"].astype(np.int64)
        return cls(labels, data, np.cumsum(lengths) - lengths)

    def column(self, position):
        """Which datagrams are long enough, and their byte there."""
        rows = np.nonzero(self.labels["length"] > position)[0]
        return rows, self.data[self.starts[rows] + position]

    def edges(self):
        """The first and the last bytes of each datagram, none of them twice: that would show
        lengths."""
        at = np.arange(min(EDGE, int(self.labels["length"].min()) // 2))
        first = self.data[self.starts[:, None] + at]
        ends = self.starts + self.labels["length"]
        return np.concatenate([first, self.data[ends[:, None] - 1 - at]], axis=1)


@dataclasses.dataclass
class Findings:
    """Findings that chance does not explain, and how much was tested."""
    tests: int = 0
    found: list = dataclasses.field(default_factory=list)

    def check(self, significant, text):
        self.tests += 1
        if significant:
            self.found.append(text)


def byte_positions(recording, findings):
    """Chi-square of a byte's 256 values at each position: for all datagrams, and for each
    direction, kind and sensor."""
    limit = chance.chi_square_limit(255, TAIL)
    labels = recording.labels
    kinds, kind = np.unique(labels["kind"], return_inverse=True)
    group = labels["sensor"].astype(np.int64) * len(kinds) + kind
    way_of = np.array([labels["way"][kind == k][0] for k in range(len(kinds))])
    worst = 0.0
    for position in range(int(labels["length"].max())):
        rows, values = recording.column(position)
        counts = np.bincount(group[rows] * 256 + values, minlength=SENSORS * len(kinds) * 256)
        counts = counts.reshape(SENSORS, len(kinds), 256)
        by_kind = counts.sum(0)
        groups = np.concatenate([by_kind.sum(0)[None], by_kind, counts.sum(1),
                                 [by_kind[way_of == way].sum(0) for way in (0, 1)]])
        sizes = groups.sum(1)
        groups, sizes = groups[sizes >= GROUP_MIN], sizes[sizes >= GROUP_MIN]
        expected = sizes[:, None] / 256
        values = ((groups - expected) ** 2 / expected).sum(1)
        worst = max(worst, values.max(initial=0))
        for value in values:
            findings.check(value > limit, f"byte {position}: chi-square {value:.0f}")
    return f"bytes: largest chi-square {worst:.0f}, limit {limit:.0f} at 255 degrees of freedom"


def repeated_strings(recording, findings):
    """No 8 bytes occur twice, anywhere in any datagram."""
    data = np.ascontiguousarray(recording.data)
    lengths = np.ascontiguousarray(recording.labels["length"])
    total = ctypes.c_size_t()
    repeated = REPEATED(data.ctypes.data_as(ctypes.c_void_p), lengths.ctypes.data_as(ctypes.c_void_p),
                        ctypes.c_size_t(len(lengths)), ctypes.byref(total))
    assert repeated >= 0, "no memory"
    count = total.value
    expected = count * (count - 1) / 2 / 2.0**64
    limit = chance.poisson_limit(expected, TAIL)
    findings.check(repeated >= limit, f"{repeated} strings of 8 bytes come twice")
    return f"strings: {count} of 8 bytes, {repeated} come twice ({expected:.4f} expected)"


def balanced(classes, random):
    """As many datagrams of each class, in any order, and their classes as 0, 1, ..."""
    values, index, counts = np.unique(classes, return_inverse=True, return_counts=True)
    large = np.nonzero(counts >= CLASS_MIN)[0]
    least = counts[large].min()
    rows = np.concatenate([random.permutation(np.nonzero(index == c)[0])[:least] for c in large])
    random.shuffle(rows)
    place = np.zeros(len(values), np.int64)
    place[large] = np.arange(len(large))
    return rows, place[index[rows]], len(large)


def bayes(train, train_classes, test, count, values=256):
    """Naive Bayes: sums up each byte's evidence for each class, at each position."""
    positions = train.shape[1]
    scores = np.zeros((len(test), count))
    for position in range(positions):
        table = np.bincount(train_classes * values + train[:, position],
                            minlength=count * values).reshape(count, values) + 1.0
        table = np.log(table / table.sum(1, keepdims=True))
        scores += table[:, test[:, position]].T
    return scores.argmax(1)


def linear(train, train_classes, test, count):
    """Least squares of the bits, regularised: the bits' combined evidence in sums."""
    def bits(a):
        return np.unpackbits(a, axis=1).astype(np.float32) * 2 - 1

    x = bits(train)
    y = np.eye(count, dtype=np.float32)[train_classes] - 1 / count
    weights = np.linalg.solve(x.T @ x + np.eye(x.shape[1], dtype=np.float32) * 10, x.T @ y)
    return (bits(test) @ weights).argmax(1)


def classify(findings, name, features, classes, random, ways):
    rows, wanted, count = balanced(classes, random)
    rows, wanted = rows[:120000], wanted[:120000]
    half = len(rows) // 2
    features = features[rows]
    lines = []
    for way in ways:
        right = int((way(features[:half], wanted[:half], features[half:], count) ==
                     wanted[half:]).sum())
        n = len(rows) - half
        limit = chance.binomial_limit(n, 1 / count, TAIL)
        findings.check(right >= limit, f"{name}: {way.__name__} is right {right} times of {n}")
        lines.append(f"{name}, {way.__name__}: {right / n:.4f} right, chance {1 / count:.4f}, "
                     f"limit {limit / n:.4f}")
    return lines


def pairs_of(edges, labels, random):
    """Two datagrams side by side, and whether they have the same sensor."""
    a, b = random.integers(0, len(labels), (2, 200000))
    same = labels["sensor"][a] == labels["sensor"][b]
    rows = np.concatenate([np.nonzero(same)[0], np.nonzero(~same)[0][:same.sum()]])
    return edges[a[rows]] ^ edges[b[rows]], same[rows]


def classifiers(recording, findings, padded, names):
    random = np.random.default_rng(1)
    labels, edges = recording.labels, recording.edges()
    lines = []
    for name in names:
        lines += classify(findings, f"{name} by bytes", edges, labels[name], random,
                          [bayes, linear])
        if padded:
            lengths = (labels["length"].astype(np.int64) - PADDED + 128).clip(0, 255)
            lines += classify(findings, f"{name} by length", lengths[:, None], labels[name],
                              random, [bayes])
    different, same = pairs_of(edges, labels, random)
    return lines + classify(findings, "same sensor by bytes", different, same, random,
                            [bayes, linear])


def examine(recording, padded, names=("sensor", "kind", "way")):
    findings = Findings()
    lines = [byte_positions(recording, findings), repeated_strings(recording, findings),
             *classifiers(recording, findings, padded, names)]
    if padded:
        findings.check((recording.labels["length"] != PADDED).any(), "not all are of one length")
    assert findings.tests <= TESTS_MAX
    return findings, lines


@pytest.mark.parametrize("mode", ["pad", "plain"])
def test_nothing_links_datagrams(tmp_path, mode):
    recording = Recording.make(tmp_path, SET_UPS, mode)
    labels = recording.labels
    findings, lines = examine(recording, mode == "pad")
    print(f"\n{mode}: {len(labels)} datagrams of {len(np.unique(labels['sensor']))} sensors, "
          f"{int((labels['kind'] == 100).sum())} set-ups, {len(np.unique(labels['kind']))} kinds; "
          f"{findings.tests} tests, {len(findings.found)} significant at {OVERALL} overall")
    for line in lines:
        print("  " + line)
    assert len(labels) >= 200000 and (labels["kind"] == 100).sum() >= 20000
    assert not findings.found, findings.found[:10]


@pytest.mark.parametrize("leak", range(1, 9))
def test_a_planted_leak_is_found(tmp_path, leak):
    padded = leak == LEAK_LENGTH
    mode = "pad" if padded else "plain"
    findings, _ = examine(Recording.make(tmp_path, SET_UPS_LEAKY, mode, leak), padded)
    print(f"\nleak {leak}: {len(findings.found)} findings: {findings.found[0:1]}")
    assert findings.found
