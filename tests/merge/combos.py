# SPDX-License-Identifier: GPL-2.0
"""Combos and reports, as a sensor sends them. In: receptions and clocks. Out: for each sensor, items in the order in
which the collector writes them, with the time of their arrival."""
import dataclasses

import numpy as np

from merge import clocks, pcapng
from merge.random_numbers import Purpose, generator

WINDOW_NS = 250_000_000
COMBO_BYTES, RECORD_BYTES = 14_000, 8
DELAY_NS, DELAY_MORE_NS = 2_000_000, 10_000_000  # to the collector: least, mean of the rest
HEARTBEAT_NS, AHEAD_NS, AHEAD_IN_FILES = 500_000_000, 10**9, 10
ROUND_TRIP_NS = 4_000_000
CATCH_UP = .02  # after an outage combos arrive so much closer together


@dataclasses.dataclass
class Item:
    """Frames `first` to `last` (not included) of all receptions, or a report. `inside` has readings by the reception
    that they precede. `name` is the combo's."""
    sensor: int
    emitted_ns: float
    time_ns: int  # of a report's block, by the sensor's clock
    first: int = 0
    last: int = 0
    name: bytes = b""
    inside: dict = dataclasses.field(default_factory=dict)
    report: bytes = b""
    in_files: bool = True
    arrival_ns: int = 0


def boundaries(instants, runs, kept_len, phase):
    """The first frames of combos, and whether the combo was full. A combo has one run's frames of one
    window, up to its size."""
    window = np.floor((instants - phase) / WINDOW_NS).astype(np.int64)
    new = np.ones(len(instants), bool)
    new[1:] = (window[1:] != window[:-1]) | (runs[1:] != runs[:-1])
    size = np.cumsum(kept_len + RECORD_BYTES)
    begin = np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))
    part = (size - size[begin]) // COMBO_BYTES if len(size) else size
    full = np.zeros(len(new), bool)
    full[:-1] = ~new[1:] & (part[1:] != part[:-1])
    new[1:] |= full[:-1]
    return np.flatnonzero(new), full, window


class Sensor:
    """One sensor's items. `offset` is the number of its first reception among all."""

    def __init__(self, p, number, clock, collector, receptions, kept_len, offset):
        self.p, self.number, self.clock, self.collector = p, number, clock, collector
        self.receptions, self.kept_len, self.offset = receptions, kept_len, offset
        self.instants = receptions["true_ns"] + receptions["jitter_ns"]
        self.run_ids = generator(p.seed, Purpose.RUNS, number).integers(1, 1 << 62, 2)
        self.end_ns = int(p.seconds * 1e9)
        self.delays = generator(p.seed if p.delays_seed is None else p.delays_seed, Purpose.DELAYS, number)

    def combos(self):
        phase = generator(self.p.seed, Purpose.READINGS, 1 << 20 | self.number).uniform(0, WINDOW_NS)
        runs = self.receptions["run"].astype(np.int64)
        first, full, window = boundaries(self.instants, runs, self.kept_len, phase)
        last = np.append(first[1:], len(self.instants))
        end = (window[first] + 1) * WINDOW_NS + phase
        end = np.where(full[last - 1], self.instants[last - 1], end) if len(first) else end
        counts = {0: [0, 0], 1: [0, 0]}  # combos and frames of the run so far
        for a, b, emitted in zip(first.tolist(), last.tolist(), end.tolist()):
            run = int(runs[a])
            name = (int(self.run_ids[run]), *counts[run], b - a, self.number + 1)
            counts[run][0] += 1
            counts[run][1] += b - a
            yield Item(self.number, emitted, 0, self.offset + a, self.offset + b, name=name)

    def place_readings(self, combos):
        """Puts readings before the next frame, into its combo. A block has the last READINGS_MOST of them."""
        table = clocks.readings(self.clock, self.p.seed, self.number, self.end_ns)
        places = np.searchsorted(self.instants, table[:, 0])
        combo_of = np.searchsorted([c.last - self.offset for c in combos], places, side="right")
        for (at, mono, difference, raw), place, n in zip(table.tolist(), places.tolist(), combo_of.tolist()):
            if n < len(combos) and self.clock.run(at) == self.receptions["run"][place]:
                combos[n].inside.setdefault(place + self.offset, []).append((mono, difference, raw))

    def heartbeats(self, combos):
        """Nothing before the first frame of the open combo, or before now."""
        at = np.arange(generator(self.p.seed, Purpose.READINGS, 2 << 20 | self.number).uniform(0, HEARTBEAT_NS),
                       self.end_ns, HEARTBEAT_NS)
        at = at[self.clock.is_up(at)]
        emitted = np.array([c.emitted_ns for c in combos])
        now = self.clock.realtime(at)
        for when, stamp, n in zip(at.tolist(), now.tolist(), np.searchsorted(emitted, at).tolist()):
            if n < len(combos):
                a, b = combos[n].first - self.offset, combos[n].last - self.offset
                waiting = self.receptions["stamp_ns"][a:b][self.instants[a:b] < when]
                stamp = min(stamp, *waiting.tolist()) if len(waiting) else stamp
            yield Item(self.number, when, stamp, report=pcapng.nothing_before(stamp), in_files=False)

    def aheads(self):
        """The sensor's clock against the collector's, off by up to half of the round trip."""
        rng = generator(self.p.seed, Purpose.READINGS, 3 << 20 | self.number)
        at = np.arange(rng.uniform(0, AHEAD_NS), self.end_ns, AHEAD_NS)
        at = at[self.clock.is_up(at)]
        round_trip = np.rint(ROUND_TRIP_NS * rng.lognormal(0, .7, len(at))).astype(np.int64)
        collector = self.collector.realtime(at)
        error = np.rint(round_trip * rng.uniform(-.5, .5, len(at))).astype(np.int64)
        ahead = self.clock.realtime(at) - collector + error
        for n, (when, a, r, c) in enumerate(zip(*(x.tolist() for x in (at, ahead, round_trip, collector)))):
            yield Item(self.number, when, c + a, report=pcapng.ahead(a, r, c), in_files=n % AHEAD_IN_FILES == 0)

    def items(self, outage):
        combos = list(self.combos())
        if self.p.readings:
            self.place_readings(combos)
        reports = list(self.heartbeats(combos)) if self.p.hb else []
        reports += list(self.aheads()) if self.p.ahead else []
        if outage:  # only combos are sent again
            reports = [r for r in reports if not outage.at_ns < r.emitted_ns < outage.amount]
        items = sorted(combos + reports, key=lambda i: i.emitted_ns)
        arrival = np.array([i.emitted_ns for i in items]) + DELAY_NS
        arrival += self.delays.exponential(DELAY_MORE_NS, len(items))
        if outage:
            cut = (arrival > outage.at_ns) & (arrival < outage.amount)
            arrival[cut] = outage.amount + (arrival[cut] - outage.at_ns) * CATCH_UP
        for item, when in zip(items, np.maximum.accumulate(arrival).tolist()):
            item.arrival_ns = int(when)
        return items
