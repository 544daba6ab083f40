# SPDX-License-Identifier: GPL-2.0
"""Clocks. True time is in ns since the simulation's start. A sensor's CLOCK_MONOTONIC_RAW runs freely, with a
skew that walks; slews change MONOTONIC's rate; steps and restarts change REALTIME - MONOTONIC. A radio's TSFT
runs freely and counts microseconds."""
import dataclasses

import numpy as np

from merge.random_numbers import Purpose, generator

BASE_NS = 1_795_694_400 * 10**9  # the true time of the start, since 1970
GRID_NS = 100_000_000
POLL_NS = 100_000_000  # a sensor reads its clocks together so often
SLEW_NS, SLEW_RATE = 20 * 10**9, 500e-6
STEP_NS = 10_000_000
RESTART_NS, RESTART_MOVES_NS = 5 * 10**9, 3 * 10**9
READING_NOISE_NS = 30
READING_BOUND_NS = 500  # by which extrapolation may be off
READING_EVERY_NS = 10**9
TSFT_SKEW = 20e-6


@dataclasses.dataclass
class Event:
    kind: str
    sensor: int
    at_ns: int
    amount: int = 0  # a step's ns, an outage's end, a slew's ppb, a reset radio's number

    def as_dict(self):
        return dataclasses.asdict(self)


def grid(seconds):
    return np.arange(0, int((seconds + 1) * 1e9) + GRID_NS, GRID_NS)


def _walked(rng, skew, walk_ppm, count):
    """A rate's deviation from 1 in each step of the grid."""
    return rng.uniform(-skew, skew) + np.cumsum(rng.normal(0, walk_ppm * 1e-6 * np.sqrt(GRID_NS / 1e9), count))


def _summed(rates):
    return np.concatenate([[0], np.cumsum(rates[:-1])]) * GRID_NS


def choose_events(p):
    """Each event happens to a sensor of its own."""
    rng = generator(p.seed, Purpose.EVENTS)
    free, end = list(rng.permutation(p.sensors)), p.seconds * 1e9
    at = lambda low, high: int(rng.uniform(low, high) * end)
    sign = lambda: int(rng.choice([-1, 1]))
    makers = ((p.steps, lambda s: Event("step", s, at(.4, .8), sign() * STEP_NS)),
              (p.slews, lambda s: Event("slew", s, at(.35, .5) // GRID_NS * GRID_NS, sign() * int(SLEW_RATE * 1e9))),
              (p.restarts, lambda s: Event("restart", s, at(.4, .6), int(rng.uniform(-1, 1) * RESTART_MOVES_NS))),
              (p.outages, lambda s: Event("outage", s, int(.4 * end), int(.4 * end + min(30e9, .3 * end)))))
    return [make(int(free.pop())) for count, make in makers for _ in range(count)]


class SensorClock:
    """`segments`: (since, uptime, REALTIME - MONOTONIC, run), one after the other."""

    def __init__(self, p, sensor, events):
        rng = generator(p.seed, Purpose.CLOCK, sensor)
        self.grid = grid(p.seconds)
        rates = _walked(rng, p.skew * 1e-6, p.walk, len(self.grid))
        offset, self.poll_phase = int(rng.uniform(-p.offset, p.offset) * 1e9), int(rng.uniform(0, POLL_NS))
        uptime = int(rng.uniform(1e12, 1e14))
        self.slewed = np.zeros(len(self.grid))
        self.segments = [(-(1 << 62), uptime, BASE_NS + offset - uptime, 0)]
        self.restart_ns = None
        for event in events:
            if event.kind == "slew":
                during = (self.grid >= event.at_ns) & (self.grid < event.at_ns + SLEW_NS)
                self.slewed = _summed(np.where(during, event.amount * 1e-9, 0))
            elif event.kind == "step":
                # The sensor's stamps change when it next reads its clocks.
                event.at_ns = int(self._poll_after(event.at_ns))
                self.segments.append((event.at_ns, uptime, self.segments[0][2] + event.amount, 0))
            elif event.kind == "restart":
                self.restart_ns = event.at_ns
                booted = 20 * 10**9 - event.at_ns
                self.segments.append((event.at_ns, booted, BASE_NS + offset + event.amount - booted, 1))
        self.free = _summed(rates)
        self._since = np.array([s[0] for s in self.segments])
        self._uptime, self._difference, self._run = (np.array([s[n] for s in self.segments]) for n in (1, 2, 3))

    def _poll_after(self, at_ns):
        return self.poll_phase + -(-(at_ns - self.poll_phase) // POLL_NS) * POLL_NS

    def _segment(self, at_ns):
        return np.searchsorted(self._since, at_ns, side="right") - 1

    def run(self, at_ns):
        return self._run[self._segment(at_ns)]

    def difference(self, at_ns):
        """REALTIME - MONOTONIC, with which stamps are made."""
        return self._difference[self._segment(at_ns)]

    def monotonic(self, at_ns):
        run = np.interp(at_ns, self.grid, self.free) + np.interp(at_ns, self.grid, self.slewed)
        return np.rint(at_ns + run).astype(np.int64) + self._uptime[self._segment(at_ns)]

    def realtime(self, at_ns):
        return self.monotonic(at_ns) + self.difference(at_ns)

    def raw_ahead(self, at_ns):
        """RAW - MONOTONIC."""
        return -np.interp(at_ns, self.grid, self.slewed)

    def is_up(self, at_ns):
        if self.restart_ns is None:
            return np.ones(np.shape(at_ns), bool)
        return (at_ns < self.restart_ns) | (at_ns >= self.restart_ns + RESTART_NS)


def readings(clock, seed, sensor, end_ns):
    """The readings that a sensor records: (true time, MONOTONIC, REALTIME - MONOTONIC, RAW - MONOTONIC), each
    a column of integers. Records one a second, one after each step, and two where the rate has changed."""
    at = np.arange(clock.poll_phase, end_ns, POLL_NS)
    at = at[clock.is_up(at)]
    noise = generator(seed, Purpose.READINGS, sensor).normal(0, READING_NOISE_NS, len(at))
    raw = np.rint(clock.raw_ahead(at) + noise).astype(np.int64)
    table = np.column_stack([at, clock.monotonic(at), clock.difference(at), raw])
    runs = clock.run(at)
    chosen = []
    for n, (row, run) in enumerate(zip(table.tolist(), runs.tolist())):
        if not chosen or run != runs[chosen[-1]]:
            chosen.append(n)
            continue
        last = table[chosen[-1]].tolist()
        if _unexpected(table, runs, chosen, row):
            chosen += [n - 1, n] if chosen[-1] != n - 1 else [n]
        elif row[2] != last[2] or row[0] - last[0] >= READING_EVERY_NS:
            chosen.append(n)
    return table[chosen]


def _unexpected(table, runs, chosen, row):
    """Whether the line through the two last readings misses this one."""
    if len(chosen) < 2 or runs[chosen[-2]] != runs[chosen[-1]]:
        return False
    (_, x0, _, y0), (_, x1, _, y1) = (table[c].tolist() for c in chosen[-2:])
    return abs(y1 + (y1 - y0) * (row[1] - x1) / (x1 - x0) - row[3]) > READING_BOUND_NS


class RadioClock:
    """A radio's TSFT. A reset sets it to nearly 0."""

    def __init__(self, p, radio, reset_ns=None):
        rng = generator(p.seed, Purpose.TSFT, radio)
        self.noise_ns = p.tsft_noise * 1e3
        self.grid = grid(p.seconds)
        self.free = _summed(_walked(rng, TSFT_SKEW, p.walk, len(self.grid)))
        self.start_us = int(rng.uniform(1e9, 1e12))
        self.reset_ns, self.rng = reset_ns, rng

    def read(self, at_ns):
        """(microseconds, by how many ns these differ from the exact value)."""
        exact = at_ns + np.interp(at_ns, self.grid, self.free)
        micros = np.floor((exact + self.rng.normal(0, self.noise_ns, len(exact))) / 1000).astype(np.int64)
        error = np.rint(micros * 1000 - exact).astype(np.int64)
        if self.reset_ns is None:
            return micros + self.start_us, error
        return np.where(at_ns < self.reset_ns, micros + self.start_us, micros - self.reset_ns // 1000), error


class CollectorClock:
    def __init__(self, p):
        rng = generator(p.seed, Purpose.CLOCK, 1 << 20)
        self.offset_ns, self.rate = int(rng.uniform(-1e8, 1e8)), rng.uniform(-10e-6, 10e-6)

    def realtime(self, at_ns):
        return BASE_NS + self.offset_ns + np.rint(at_ns * (1 + self.rate)).astype(np.int64)
