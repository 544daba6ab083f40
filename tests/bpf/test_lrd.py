# SPDX-License-Identifier: GPL-2.0
"""Long-range dependence: the pyramid of bpf/modules/lrd/lrd.bpf.c against one in Python, and the
module's and consumer's Hurst parameter for noise with a known one."""
import collections
import itertools
import json
import math
import struct
import subprocess

import numpy
import pytest

from bpf import modules
from netns.testbed import BUILD
from wifi import figures

INTERVAL, OCTAVES, SAY = 10**6, 20, 32  # lrd.h
START = 1_700_000_000 * 10**9
OUT = "02:00:00:00:00:09"
FRAME = modules.ethernet(bytes(46), 0x88b5)
ENERGY = struct.Struct("<QQII")
EVENT = struct.Struct("<QQQBBB5x" + ENERGY.format[1:])


# ---- noise ---------------------------------------------------------------------------------------

def fgn(n, hurst, seed):
    """Exact fractional Gaussian noise of variance 1: circulant embedding (R. Davies, D. Harte,
    "Tests for Hurst Effect", 1987)."""
    k = numpy.arange(n + 1.0)
    covariance = (abs(k - 1)**(2 * hurst) - 2 * k**(2 * hurst) + (k + 1)**(2 * hurst)) / 2
    eigen = numpy.fft.fft(numpy.concatenate([covariance, covariance[-2:0:-1]])).real
    assert eigen.min() > -1e-6
    rng = numpy.random.default_rng(seed)
    z = rng.standard_normal(2 * n) + 1j * rng.standard_normal(2 * n)
    return numpy.fft.fft(z * numpy.sqrt(eigen.clip(0) / (2 * n))).real[:n]


def test_the_noise_is_what_it_should_be():
    """The noise is correct: the variance of its sums over m is m^2H, over many seeds. An error of H
    by 0.05 would change it by a factor of 1.7 for m = 256."""
    for hurst in .5, .6, .75, .9:
        sums = [(fgn(1024, hurst, seed).reshape(-1, m).sum(axis=1)**2).mean() / m**(2 * hurst)
                for seed in range(300) for m in (1, 16, 256)]
        for m in range(3):
            assert numpy.mean(sums[m::3]) == pytest.approx(1, abs=.25)


# ---- the pyramid ---------------------------------------------------------------------------------

def pyramid(series):
    """(count, sum of squares) of each octave, in integers."""
    found, values = [], list(map(int, series))
    while len(values) > 1:
        pairs = list(zip(values[::2], values[1::2]))
        sums, differences = [a + b for a, b in pairs], [a - b for a, b in pairs]
        details = [8 * d + after - before
                   for before, d, after in zip(sums, differences[1:], sums[2:])]
        found.append((len(details), sum(d * d for d in details)))
        values = sums
    return (found + [(0, 0)] * OCTAVES)[:OCTAVES]


def remembered(value):
    """From the map's value for a direction: (completed intervals, [energies of bytes, of
    packets])."""
    begin, end, intervals, now, _, _, _ = struct.unpack_from("<QQQQIIQ", value)
    size = (len(value) - 48) // OCTAVES // 2
    energies = [ENERGY.unpack_from(value, 48 + size * i)[:3] for i in range(2 * OCTAVES)]
    assert not begin or (end - begin) // INTERVAL == intervals + 1
    assert now >> 40 or not begin
    return intervals, [energies[:OCTAVES], energies[OCTAVES:]]


def assert_same_energies(got, wanted):
    for (count, total, shift), (n, square) in zip(got, wanted):
        assert count == n
        if shift:
            assert total * 4**shift == pytest.approx(square, rel=1e-5)
        else:
            assert total == square


def frames_of(counts, source=1):
    """A frame of so many bytes per interval, anywhere in it; 0 bytes: none."""
    rng = numpy.random.default_rng(len(counts))
    late = rng.integers(0, INTERVAL, len(counts))
    late[0] = 0
    frame = FRAME[:6] + struct.pack(">HI", 0x0200, source) + FRAME[12:]
    return [(START + i * INTERVAL + int(late[i]), frame, int(n)) for i, n in enumerate(counts) if n]


def silences():
    """Intervals with a frame, and between them 2^k empty ones, less or more one, in turn, or some
    thousands: silences begin and end at every place of a pair, at any octave."""
    rng = numpy.random.default_rng(7)
    counts = [1500]
    for gap in itertools.chain([0, 1, 2, 3, 4, 5, 6, 7], (2**k + d for k in range(3, 14) for d in (-1, 0, 1)),
                               rng.integers(0, 9, 500), rng.integers(0, 3000, 40)):
        counts += [0] * int(gap) + [int(rng.integers(60, 1515))]
    return counts


@pytest.mark.parametrize("counts", [
    [60, 60], [1500] * 3, [1, 2, 3, 4, 5, 6, 7, 8, 9], silences(),
    numpy.random.default_rng(1).integers(60, 1514, 5000),
    [2**32 - 1 if i % 1024 == 5 else 60 for i in range(20000)],  # sums that make room for themselves
])
def test_energies(tmp_path, counts):
    """Energies equal Python's, for both series and both directions separately."""
    frames = sorted(frames_of(counts) + frames_of(counts[::-1], 9) * 2, key=lambda f: f[0])
    _, maps = modules.run("lrd", modules.write(tmp_path / "in.pcap", frames), "--out", OUT,
                          maps=["series"])
    incoming, outgoing = map(remembered, maps["series"])
    # The last interval has not ended.
    for (intervals, energies), series, each in ((incoming, counts, 1), (outgoing, counts[::-1], 2)):
        assert intervals == len(counts) - 1
        assert_same_energies(energies[0], pyramid([each * n for n in series[:-1]]))
        assert_same_energies(energies[1], pyramid([each * (n > 0) for n in series[:-1]]))


def test_years_of_silence(tmp_path):
    """Years of silence take no longer than any frame, and count completely."""
    years = 3 * 365 * 86400 * 1000 + 17
    ends = [(START, FRAME), (START + years * INTERVAL, FRAME), (START + (years + 1) * INTERVAL, FRAME)]
    _, maps = modules.run("lrd", modules.write(tmp_path / "in.pcap", ends), maps=["series"])
    intervals, energies = remembered(maps["series"][0])
    assert intervals == years + 1
    # One of 60 bytes, zeros, one of 60: only its ends are not 0.
    for j, (count, total, shift) in enumerate(energies[0]):
        assert count == max(0, (years + 1 >> j + 1) - 2), j
        assert total * 4**shift <= 4 * (8 * 120)**2


def test_what_it_says(tmp_path):
    """Each octave of each series is reported in turn, each 32 intervals; the last reports equal the
    map."""
    counts = numpy.random.default_rng(3).integers(60, 1514, 6000)
    lines = modules.run("lrd", modules.write(tmp_path / "in.pcap", frames_of(counts)))
    events = [EVENT.unpack(bytes.fromhex(json.loads(line)["data"])) for line in lines.splitlines()]
    assert len(events) == (len(counts) - 1) // SAY
    for i, (interval, intervals, _, direction, what, octave, count, total, shift, _) in \
            enumerate(events, 1):
        assert (interval, direction) == (INTERVAL, 1)
        assert intervals == i * SAY
        assert what * OCTAVES + octave - 1 == i % (2 * OCTAVES)
        series = counts[:intervals] if what == 0 else [1] * intervals
        n, square = pyramid(series)[octave - 1]
        assert (count, total * 4**shift) == (n, square)


# ---- the estimate --------------------------------------------------------------------------------

def traffic(noise):
    """Frame lengths: 800 bytes on average."""
    return numpy.rint(800 + 120 * noise).clip(64, 1514).astype(int)


def test_hurst_of_noise(tmp_path):
    """The kernel's half and the consumer find the Hurst parameter of 2^17 intervals."""
    errors = collections.defaultdict(list)
    for hurst, seed in itertools.product((.6, .75, .9), (1, 2, 3)):
        capture = modules.write(tmp_path / "in.pcap", frames_of(traffic(fgn(2**17, hurst, seed))))
        found = modules.consume_json("lrd", modules.run("lrd", capture))
        (said,) = [f for f in found if f["series"] == "bytes"]
        assert said["verdict"] == "long-range dependence"
        assert said["low"] < said["hurst"] < said["high"] < said["low"] + .05
        assert said["intervals"] > 2**17 - 2 * SAY
        errors[hurst].append(abs(said["hurst"] - hurst))
        # One frame per interval: a constant series has no parameter.
        (packets,) = [f for f in found if f["series"] == "packets"]
        assert "hurst" not in packets
    worst = max(map(max, errors.values()))
    figures.tell(lrd_error=worst)
    assert worst <= .05, errors


def events_of(energies):
    """As the module's events at the collector."""
    for octave, (count, square) in enumerate(energies, 1):
        shift = max(0, (square.bit_length() - 60) // 2)
        data = EVENT.pack(INTERVAL, 1, 1, 1, 0, octave, count, square >> 2 * shift, shift, 0)
        yield json.dumps({"sensor": "s", "interface": "eth0", "module": "lrd", "serial": 1,
                          "time_ns": 1, "direction": "in", "data": data.hex()}) + "\n"


def estimate(series, *options):
    said, _ = modules.consume_json("lrd", "".join(events_of(fast_pyramid(series))), *options)
    return said


def fast_pyramid(series):
    """pyramid(), with numpy; for numbers whose squares fit."""
    found, values = [], numpy.asarray(series, dtype=numpy.int64)
    while len(values) > 1:
        pairs = values[:len(values) // 2 * 2].reshape(-1, 2)
        sums, differences = pairs.sum(axis=1), pairs[:, 0] - pairs[:, 1]
        details = 8 * differences[1:-1] + sums[2:] - sums[:-2]
        found.append((len(details), int((details**2).sum())))
        values = sums
    return found[:OCTAVES]


def test_pyramids_agree():
    series = numpy.random.default_rng(5).integers(0, 1514, 3001)
    wanted = pyramid(series)
    assert fast_pyramid(series) == wanted[:len(fast_pyramid(series))]


@pytest.mark.parametrize("hurst", [.5, .6, .75, .9])
def test_intervals_hold_what_they_say(hurst):
    """Of 200 95 % intervals, about 95 % have the true parameter: fewer than 180 have a chance of
    0.0015, more than 199 of 0.0004; and there is no bias."""
    said = [estimate(traffic(fgn(2**13, hurst, seed)), "--first", "1") for seed in range(200)]
    within = sum(s["low"] <= hurst <= s["high"] for s in said)
    assert 180 <= within <= 199, within
    middle = numpy.mean([s["hurst"] for s in said])
    spread = numpy.std([s["hurst"] for s in said])
    assert abs(middle - hurst) < 4 * spread / math.sqrt(len(said))


def test_white_noise_has_none():
    said = estimate(traffic(fgn(2**17, .5, 11)))
    assert abs(said["hurst"] - .5) < .01
    assert said["verdict"] == "no long-range dependence"


def test_a_trend_is_no_dependence():
    """A trend is no dependence: a parabolic load twenty times as high as the noise it hides, with
    three vanishing moments."""
    n = 2**16
    x = numpy.linspace(-1, 1, n)
    series = numpy.rint(100000 + 1000 * fgn(n, .5, 4) + 20000 * (x - x * x)).astype(int)
    said = estimate(series)
    assert abs(said["hurst"] - .5) < .02, said
    assert said["first_octave"] == 1


def test_onset_is_found():
    """The onset is found: below the scale of bursts traffic is smooth, above it white noise, and
    the fit begins above."""
    rng = numpy.random.default_rng(8)
    bursts = numpy.repeat(rng.integers(100, 1400, 2**12), 32)
    said = estimate(bursts, "--octaves")
    assert said["first_octave"] >= 5
    assert abs(said["hurst"] - .5) < .1
    assert said["octaves"][0]["log2_variance"] < said["octaves"][6]["log2_variance"] - 1
    assert [o["octave"] for o in said["octaves"]] == list(range(1, said["last_octave"] + 1))
    refuted = estimate(bursts, "--first", "1")
    assert refuted["first_octave"] == 1 and refuted["verdict"] == "no straight line fits"


def test_text(tmp_path):
    capture = modules.write(tmp_path / "in.pcap", frames_of(traffic(fgn(2**13, .8, 1))))
    lines = modules.run("lrd", capture, "--sensor", "near")
    said = modules.consume("lrd", lines, "--octaves").splitlines()
    assert said[0].startswith("near test0 in bytes: H 0.")
    assert said[0].endswith("long-range dependence")
    assert said[1].startswith("  octave  1        0.002 s         3")
    early = modules.consume("lrd", "".join(lines.splitlines(keepends=True)[:30]))
    assert early.splitlines()[0] == "near test0 in bytes: too little yet, 960 intervals of 0.001 s"


def test_each_few_seconds():
    """A report each second covers the time since the one before, and the last covers all: noise of
    0.5, and then as much of 0.9. (Wavelets across both belong to the later.)"""
    first, second = traffic(fgn(2**15, .5, 2)), traffic(fgn(2**15, .9, 1))
    both = fast_pyramid(numpy.concatenate([first, second]))
    with subprocess.Popen([BUILD / "modules/lrd", "--json", "--every", "1"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as lrd:
        lrd.stdin.write("".join(events_of(fast_pyramid(first))))
        lrd.stdin.flush()
        said = json.loads(lrd.stdout.readline())
        assert said["last_s"] == 1 and abs(said["hurst"] - .5) < .04, said
        assert "hurst" not in json.loads(lrd.stdout.readline())  # packets
        lrd.stdin.write("".join(events_of(both)))
        lrd.stdin.flush()
        reports = (json.loads(line) for line in lrd.stdout)
        said = next(r for r in reports if r["series"] == "bytes" and "hurst" in r)
        assert said["last_s"] == 1 and abs(said["hurst"] - .9) < .04, said
        lrd.stdin.close()
        *_, last, _ = reports
    assert "last_s" not in last
    assert .55 < last["hurst"] < said["hurst"] - .01, last


def test_loaded_anew(tmp_path):
    """After a new load, earlier events are forgotten."""
    first = list(events_of(fast_pyramid(traffic(fgn(2**15, .9, 1)))))
    second = [line.replace("0100000000000000" * 2, "01000000000000000200000000000000", 1)
              for line in events_of(fast_pyramid(traffic(fgn(2**13, .5, 1))))]
    assert first[0] != second[0]
    got, _ = modules.consume_json("lrd", "".join(first + second))
    assert abs(got["hurst"] - .5) < .05
