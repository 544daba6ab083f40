# SPDX-License-Identifier: GPL-2.0
"""A simulated air in which somebody sends frames of others again. In: a simulation, and frames with the time and the
interfaces that hear them. Out: a stream as a collector writes it, with the frames in combos of their sensors."""
import numpy as np

from merge import clocks, pcapng, replay
from merge.identity import identify
from reference import captures

COMBO_NS = 250_000_000
LATER_NS = 1_500_000  # most stamps are late by less


class Attacked:
    """The frames of a simulation by interface, and those that were added."""

    def __init__(self, made):
        self.air = made.air
        self.heard = {}
        for name, frame in captures._pcapng(made.stream.read_bytes()):
            self.heard.setdefault(name, []).append((self.true_ns(name, frame.time_ns), frame))
        self.added = set()

    def sensor(self, name):
        return int(name.partition(":")[0][2:]) - 1

    def stamp_ns(self, name, true_ns):
        """What the sensor's clock says at a true time."""
        return int(self.air.clocks[self.sensor(name)].realtime(np.array([true_ns]))[0])

    def true_ns(self, name, stamp_ns):
        """About."""
        guess = stamp_ns - clocks.BASE_NS
        for _ in range(3):
            guess -= self.stamp_ns(name, guess) - stamp_ns
        return guess

    def beacons(self, name, kind):
        """(true time, frame) of the interface's frames of a kind, with a good FCS."""
        return [(t, f) for t, f in self.heard[name]
                if not f.data[8] & 0x40 and identify(f.data, f.orig_len).kind == kind]

    def send(self, frame, true_ns, names):
        for name in names:
            stamp = self.stamp_ns(name, true_ns)
            while (name, stamp) in self.added:
                stamp += 1
            self.added.add((name, stamp))
            self.heard[name].append((true_ns, frame._replace(time_ns=stamp)))

    def stream(self):
        names = sorted(self.heard)
        blocks = [pcapng.section(), *(replay.interface(n.partition(":")[0], self.sensor(n) + 1, n.partition(":")[2])
                                      for n in names)]
        combos = {}
        for number, name in enumerate(names):
            for true_ns, frame in sorted(self.heard[name], key=lambda row: row[0]):
                key = true_ns // COMBO_NS, self.sensor(name)
                combos.setdefault(key, []).append((frame.time_ns, number, frame))
        for _, frames in sorted(combos.items()):
            blocks += [replay.packet(number, f) for _, number, f in sorted(frames, key=lambda row: row[:2])]
        return b"".join(blocks)
