# SPDX-License-Identifier: GPL-2.0
"""The traffic of cells: an access point and its stations. In: the parameters. Out: a table of transmissions
in order of time. Cells do not hear each other, so their transmissions may overlap."""
import math
import random

import numpy as np

from merge.kinds import ACK, BEACON, BLOCK_ACK, CTS, DATA, MGMT, NULL, RETRY, RTS

US = 1000
SIFS, DIFS, SLOT, TIMEOUT = 16 * US, 34 * US, 9 * US, 50 * US
BEACON_NS = 102_400_000
RATES = (6, 12, 24, 54, 130)  # Mbit/s; 130 is the HT rate of MCS 15
HT = 130
SUBFRAMES_MAX = 25
OPEN_LEAST = 66  # bytes: room for the headers of UDP
SEQUENCES = 4096
GROUP = -1  # a receiver
BURSTS_AHEAD = 1 << 62

# length: on the air, with the FCS. extra: a beacon's TSF, the duration of RTS and CTS, a block
# acknowledgement's first sequence number, a null frame's power bit.
COLUMNS = ("end_ns", "sender", "receiver", "kind", "length", "rate", "sequence", "pn", "extra", "channel")


def air_ns(length, rate):
    """Preamble and bytes, in ns."""
    return int(20 * US + length * 8 * US / rate)


class Cell:
    """An access point with its stations. `now` is the end of the last transmission."""

    def __init__(self, seed, ap, stations, channel, is_open=False):
        self.rng = random.Random(f"{seed} cell {ap}")
        self.ap, self.stations, self.channel = ap, stations, channel
        self.least = OPEN_LEAST if is_open else 0
        members = [ap, *stations]
        self.sequence = dict.fromkeys(members, 0)
        self.pn = {m: self.rng.randrange(1, 10**9) for m in members}
        self.tsf_us = self.rng.randrange(10**9, 10**12)
        self.tsf_rate = 1 + self.rng.uniform(-20e-6, 20e-6)
        self.now = 0
        self.sent = []

    def contend(self, least_us=34, most_us=180):
        self.now += self.rng.randrange(least_us, most_us) * US

    def send(self, kind, sender, receiver, length, rate, sequence=0, pn=0, extra=0, air=True):
        if air:
            self.now += air_ns(length, rate)
        self.sent.append((self.now, sender, receiver, kind, length, rate, sequence, pn, extra, self.channel))

    def answer(self, kind, sender, receiver, length, extra=0):
        self.now += SIFS
        self.send(kind, sender, receiver, length, 24, extra=extra)

    def next_sequence(self, sender):
        self.sequence[sender] = (self.sequence[sender] + 1) % SEQUENCES
        return self.sequence[sender]

    def next_pn(self, sender):
        self.pn[sender] += 1
        return self.pn[sender]

    def beacon(self):
        self.contend(34, 200)
        self.send(BEACON, self.ap, GROUP, 280, 6, self.next_sequence(self.ap))
        row = self.sent.pop()
        tsf = int(self.tsf_us + self.now * self.tsf_rate / US)
        self.sent.append((*row[:8], tsf, row[9]))

    def probe(self, station):
        self.contend()
        self.send(MGMT, station, GROUP, 120, 6, self.next_sequence(station))

    def null(self, station):
        """Many stations do not count null frames, so these have no sequence number."""
        self.contend()
        self.send(NULL, station, self.ap, 30, 24, extra=self.rng.randrange(2))
        self.answer(ACK, self.ap, station, 14)

    def group(self):
        length = max(self.rng.randrange(60, 400), self.least)
        self.contend()
        self.send(DATA, self.ap, GROUP, length, 6, self.next_sequence(self.ap), self.next_pn(self.ap))

    def ampdu(self, sender, receiver, count):
        """Subframes end together: a radio reports them when the whole has arrived."""
        length = self.rng.randrange(80, 1500)
        self.contend()
        self.now += air_ns(length * count, HT)
        for _ in range(count):
            self.send(DATA, sender, receiver, length, HT, self.next_sequence(sender), self.next_pn(sender), air=False)
        first = (self.sequence[sender] - count + 1) % SEQUENCES
        self.answer(BLOCK_ACK, receiver, sender, 32, extra=first)

    def exchange(self, sender, receiver, rate):
        """A frame, until it is acknowledged or given up."""
        length = self.rng.randrange(60, 200) if self.rng.random() < .5 else self.rng.randrange(900, 1540)
        length = max(length, self.least)
        sequence, pn = self.next_sequence(sender), self.next_pn(sender)
        reserve = self.rng.random() < .1
        for attempt in range(7):
            self.now += DIFS + SLOT * self.rng.randrange(min(16 << attempt, 1024))
            if reserve:
                duration = int(length * 8 / rate) + 100
                self.send(RTS, sender, receiver, 20, 24, extra=duration)
                self.answer(CTS, receiver, sender, 14, extra=duration - 44)
                self.now += SIFS
            self.send(RETRY if attempt else DATA, sender, receiver, length, rate, sequence, pn)
            if self.rng.random() > .14:
                self.answer(ACK, receiver, sender, 14)
                return
            self.now += TIMEOUT

    def burst(self):
        station = self.rng.choice(self.stations)
        pair = (self.ap, station) if self.rng.random() < .6 else (station, self.ap)
        which, rate = self.rng.random(), self.rng.choice(RATES)
        if which < .04:
            return self.probe(station)
        if which < .10:
            return self.null(station)
        if which < .14:
            return self.group()
        count = min(2 + int(math.log(1 - self.rng.random()) / math.log(1 - .18)), SUBFRAMES_MAX)
        if which < .36:
            for _ in range(2):
                self.ampdu(*pair, count)
            return None
        for _ in range(count):
            self.exchange(*pair, rate)
        return None

    def run(self, end_ns, load):
        """Sends until `end_ns`, with `load` bursts per second."""
        gap = lambda: self.rng.expovariate(load / 1e9) if load and self.stations else BURSTS_AHEAD
        beacon_ns = self.now = int(self.rng.uniform(0, BEACON_NS))
        burst_ns = int(gap())
        while True:
            if beacon_ns <= burst_ns:
                self.now = max(self.now, beacon_ns)
                beacon_ns += BEACON_NS
                step = self.beacon
            else:
                self.now = max(self.now, burst_ns)
                burst_ns += int(gap())
                step = self.burst
            if self.now > end_ns:
                return self.sent
            step()


def transmissions(parameters, channels, open_aps=()):
    """The columns of all cells' transmissions, as a dict of arrays. `channels` has one for each AP."""
    p, rows = parameters, []
    for ap in range(p.aps):
        stations = [p.aps + s for s in range(ap, p.stas, p.aps)]
        rows += Cell(p.seed, ap, stations, channels[ap], ap in open_aps).run(int(p.seconds * 1e9), p.load)
    table = np.array(rows, np.int64).reshape(-1, len(COLUMNS))
    table = table[np.argsort(table[:, 0], kind="stable")]
    columns = {name: np.ascontiguousarray(table[:, n]) for n, name in enumerate(COLUMNS)}
    return {**columns, "mhz": 2407 + 5 * columns["channel"]}
