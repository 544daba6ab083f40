# SPDX-License-Identifier: GPL-2.0
"""Who hears what, and how it is stamped. In: transmissions, radios, clocks. Out: a table of receptions, each
sensor's in the order of its stamps' instants."""
import numpy as np

from merge.frames import FCS_LEN, KEPT
from merge.random_numbers import Purpose, generator

LATE_NS = (300_000, 2_000_000)
LATE_APART_NS = 3000
DAMAGED_MOST = 24  # bytes
SIGNAL_NOISE_DB = 2

RECEPTION = np.dtype([
    ("transmission", "<i4"), ("sensor", "<u2"), ("interface", "u1"), ("signal_dbm", "i1"),
    ("true_ns", "<i8"), ("stamp_ns", "<i8"), ("jitter_ns", "<i8"), ("tsft_us", "<i8"), ("tsft_error_ns", "<i4"),
    ("radio", "<u2"), ("run", "u1"), ("bad_fcs", "?"), ("damage", "<i4")])


def jitters(rng, true_ns, sigma_ns, share, batch):
    """By how much each stamp is too late: noise, and late interrupts. With `batch`, a late interrupt stamps all
    frames that have arrived until then, one after the other."""
    out = rng.normal(0, sigma_ns, len(true_ns))
    late = rng.uniform(*LATE_NS, len(true_ns))
    if not batch:
        return out + np.where(rng.random(len(true_ns)) < share, late, 0)
    for first in np.flatnonzero(rng.random(len(true_ns)) < share / 3):
        interrupt = true_ns[first] + late[first]
        behind = np.searchsorted(true_ns, interrupt)
        waited = interrupt - true_ns[first:behind] + LATE_APART_NS * np.arange(behind - first)
        out[first:behind] = np.maximum(out[first:behind], waited)
    return out


def make_distinct(stamps, interfaces):
    """Adds nanoseconds until no two stamps of an interface are equal. Returns what was added."""
    added = np.zeros(len(stamps), np.int64)
    while True:
        order = np.lexsort((stamps + added, interfaces))
        s, i = (stamps + added)[order], interfaces[order]
        equal = np.flatnonzero((s[1:] == s[:-1]) & (i[1:] == i[:-1])) + 1
        if not len(equal):
            return added
        added[order[equal]] += 1


class Hearing:
    """`damage`: bytes to be XORed to the frames with a wrong FCS, a row each."""

    def __init__(self, p, sent, radios, clocks, radio_clocks):
        self.p, self.sent, self.clocks, self.radio_clocks = p, sent, clocks, radio_clocks
        self.lengths = sent["length"] - FCS_LEN
        self.on_channel = {c: np.flatnonzero(sent["channel"] == c) for c in np.unique(sent["channel"])}
        low, high = p.jitter
        self.sigma_ns = generator(p.seed, Purpose.STAMPS, 1 << 20).uniform(low, high, p.sensors) * 1e3
        self._damage, self._damages = [], 0
        tables = [self._sensor(s, [r for r in radios if r.sensor == s]) for s in range(p.sensors)]
        self.receptions = np.concatenate(tables) if tables else np.zeros(0, RECEPTION)
        self.damage = np.concatenate(self._damage) if self._damage else np.zeros((0, KEPT), np.uint8)

    def _radio(self, radio):
        """The receptions of a radio, and the instants of their stamps."""
        rng, clock = generator(self.p.seed, Purpose.HEARING, radio.number), self.clocks[radio.sensor]
        sent = self.on_channel.get(radio.channel, np.zeros(0, np.int64))
        senders = self.sent["sender"][sent]
        heard = sent[rng.random(len(sent)) < radio.chances()[senders]]
        heard = heard[clock.is_up(self.sent["end_ns"][heard])]
        out = np.zeros(len(heard), RECEPTION)
        signal = radio.signal_dbm[self.sent["sender"][heard]]
        out["transmission"], out["true_ns"] = heard, self.sent["end_ns"][heard]
        out["sensor"], out["interface"], out["radio"] = radio.sensor, radio.interface, radio.number
        out["signal_dbm"] = np.clip(signal + rng.normal(0, SIGNAL_NOISE_DB, len(heard)), -100, -10)
        out["bad_fcs"] = rng.random(len(heard)) < self.p.bad * np.clip((-70 - signal) / 10, 0, 3)
        out["damage"] = -1
        self._damaged(radio, out)
        if radio.gives_tsft:
            out["tsft_us"], out["tsft_error_ns"] = self.radio_clocks[radio.number].read(out["true_ns"])
        stamps = generator(self.p.seed, Purpose.STAMPS, radio.number)
        late = jitters(stamps, out["true_ns"], self.sigma_ns[radio.sensor], self.p.outliers, self.p.batch)
        return out, out["true_ns"] + late

    def _damaged(self, radio, out):
        """Half of the frames with a wrong FCS differ within their first bytes. The others differ in the FCS."""
        rng, rows = generator(self.p.seed, Purpose.DAMAGE, radio.number), np.flatnonzero(out["bad_fcs"])
        damage = np.zeros((len(rows), KEPT), np.uint8)
        lengths = self.lengths[out["transmission"][rows]]
        for n, size in enumerate(lengths.tolist()):
            if rng.random() < .5:
                places = rng.integers(0, min(size, KEPT), rng.integers(1, DAMAGED_MOST + 1))
                damage[n, places] = rng.integers(1, 256, len(places))
            elif radio.gives_fcs and size < KEPT:
                damage[n, size] = 0x5a
        out["damage"][rows] = self._damages + np.arange(len(rows))
        self._damage.append(damage)
        self._damages += len(rows)

    def _sensor(self, sensor, radios):
        parts = [self._radio(radio) for radio in radios]
        out, instant = (np.concatenate(c) for c in zip(*parts))
        order = np.argsort(instant, kind="stable")
        out, instant = out[order], instant[order]
        return stamp(self.clocks[sensor], out, instant)


def stamp(clock, out, instant):
    """Sets stamps, and what they are off by. A frame whose stamp would fall into a restart is lost."""
    up = clock.is_up(instant)
    out, instant = out[up], instant[up]
    exact = clock.realtime(instant)
    out["stamp_ns"] = exact + make_distinct(exact, out["interface"])
    out["jitter_ns"] = np.rint(instant).astype(np.int64) - out["true_ns"] + out["stamp_ns"] - exact
    out["run"] = clock.run(instant)
    return out
