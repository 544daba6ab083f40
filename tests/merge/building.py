# SPDX-License-Identifier: GPL-2.0
"""A building: where access points, stations and sensors are, and how strongly each radio hears each of them.
In: the parameters. Out: channels of cells, and radios."""
import dataclasses

import numpy as np

from merge.random_numbers import Purpose, generator

CHANNELS = (1, 6, 11)
WIDTH_M, DEPTH_M = 60 / 2.2, 30 / 2.2  # of a cell, by the square root of their number
AWAY_M = 5000
# Power 18 dBm, 46 dB at 1 m, exponent 4, shadowing; a radio decodes half of the frames at -84 dBm.
POWER_DBM, LOSS_1M_DB, PER_DECADE_DB, SHADOW_DB = 18, 46, 40, 5
HALF_DBM, SLOPE_DB = -84, 2.5
FLOOR_M, CEILING_DB = 3.5, 15  # as ITU-R P.1238 has it for offices


@dataclasses.dataclass
class Radio:
    sensor: int
    interface: int  # number within the sensor
    number: int
    channel: int
    loss: float  # share of frames lost however strong
    gives_fcs: bool
    gives_tsft: bool
    signal_dbm: np.ndarray  # of each transmitter

    def chances(self):
        """The probability with which the radio receives each transmitter's frames."""
        return (1 - self.loss) / (1 + np.exp(-(self.signal_dbm - HALF_DBM) / SLOPE_DB))


class Building:
    def __init__(self, p):
        rng = generator(p.seed, Purpose.PLACES)
        size = np.sqrt(p.aps / max(p.floors, 1)) * np.array([WIDTH_M, DEPTH_M])
        aps, sensors = (rng.uniform(0, 1, (n, 2)) * size for n in (p.aps, p.sensors))
        home = np.arange(p.stas) % p.aps
        stations = aps[home] + rng.normal(0, 6, (p.stas, 2))
        if p.islands:
            away = np.array([AWAY_M, 0])
            aps[::4] += away
            sensors[::4] += away
            stations[home % 4 == 0] += away
        self.transmitters = np.vstack([aps, stations])
        self.channels = [CHANNELS[n % len(CHANNELS)] for n in range(p.aps)]
        self.open_aps = np.flatnonzero(rng.random(p.aps) < p.open)
        self.sensors = sensors
        self._floors(p, home)
        self.radios = list(self._radios(p))

    def _floors(self, p, home):
        """The floors of sensors and transmitters. Each floor has all channels."""
        by = lambda numbers: numbers * p.floors // max(p.aps, 1)
        aps = by(np.arange(p.aps))
        self.transmitter_floors = np.concatenate([aps, aps[home] if p.aps else home])
        each = np.arange(p.sensors) * max(p.floors, 1) // max(p.sensors, 1)
        self.sensor_floors = each
        self.floors = (each + 1).tolist() if p.floors else None

    def _radios(self, p):
        rng = generator(p.seed, Purpose.RADIOS)
        number = 0
        for sensor in range(p.sensors):
            loss, two, gives_tsft = rng.uniform(*p.loss), rng.random() < p.dual, rng.random() < p.tsft
            for interface, channel in enumerate(rng.permutation(CHANNELS)[:1 + two]):
                ceilings = np.abs(self.transmitter_floors - self.sensor_floors[sensor])
                distance = np.hypot(np.hypot(*(self.transmitters - self.sensors[sensor]).T), FLOOR_M * ceilings)
                distance = np.maximum(distance, 1)
                signal = POWER_DBM - LOSS_1M_DB - PER_DECADE_DB * np.log10(distance)
                signal += rng.normal(0, SHADOW_DB, len(signal)) - CEILING_DB * ceilings
                yield Radio(sensor, interface, number, int(channel), loss, rng.random() < .5, gives_tsft, signal)
                number += 1
