# SPDX-License-Identifier: GPL-2.0
"""The figures that `saluki-merge stats --json` prints, as arrays. In: JSON, untrusted."""
import json

import numpy as np

VERSION = 1


class Malformed(ValueError):
    pass


def channel_name(mhz):
    if mhz == 2484:
        return "channel 14"
    for base, low, high in ((2407, 2412, 2472), (5950, 5951, 7125), (5000, 5001, 5950)):
        if low <= mhz <= high:
            return f"channel {(mhz - base) // 5}" + (" (6 GHz)" if base == 5950 else "")
    return f"{mhz} MHz" if mhz else "unknown channel"


def numbers(values):
    """A list with null for what is not known."""
    return np.array([np.nan if v is None else v for v in values], float)


def text(value):
    if not isinstance(value, str):
        raise Malformed("a name is not text")
    return value[:64]


class Channel:
    def __init__(self, given, points):
        self.mhz = int(given["mhz"])
        self.name = channel_name(self.mhz)
        for column in ("airtime_us", "transmissions", "several", "listening", "attempts", "retries"):
            setattr(self, column, sized(numbers(given[column]), points))


class Sensor:
    def __init__(self, given):
        self.name, self.part = text(given["name"]), int(given["part"])
        self.receptions = int(given["receptions"])
        self.alone = {text(k): int(v) for k, v in given["alone"].items()}
        self.residual_us = {text(k): float(v) / 1e3 for k, v in given["residual_ns"].items()}


class Series:
    """A sensor over time."""

    def __init__(self, given, points):
        self.receptions = sized(numbers(given["receptions"]), points)
        self.drift_us = drift(given["offset_ns"], points)
        for name in ("p10", "p50", "p90"):
            setattr(self, name, sized(numbers(given[f"residual_{name}_ns"]), points) / 1e3)
        self.sigma_us = sized(numbers(given["sigma_ns"]), points) / 1e3 if "sigma_ns" in given else None
        self.rate_ppm = sized(numbers(given["rate_ppb"]), points) / 1e3 if "rate_ppb" in given else None


def drift(offsets, points):
    """Offsets since the first one. They are subtracted as whole numbers: nanoseconds since 1970 are no floats."""
    first = next((v for v in offsets if v is not None), 0)
    return sized(numbers([None if v is None else v - first for v in offsets]), points) / 1e3


def sized(array, *shape):
    if array.shape != shape:
        raise Malformed(f"a list has the shape {array.shape} instead of {shape}")
    return array


class Transmitter:
    def __init__(self, given):
        self.address = text(given["address"])
        self.transmissions, self.attempts, self.retries = (
            int(given[name]) for name in ("transmissions", "attempts", "retries"))
        if not 0 <= self.retries <= self.attempts:
            raise Malformed("a transmitter has more retransmissions than frames")

    @property
    def label(self):
        """The end of its address."""
        return self.address[-8:]


class Stats:
    def __init__(self, given):
        if given["version"] != VERSION:
            raise Malformed(f"its version is {given['version']}, and not {VERSION}")
        self.transmissions, self.receptions = int(given["transmissions"]), int(given["receptions"])
        self.points, self.begin_ns = int(given["points"]), int(given["begin_ns"])
        self.step_s = int(given["step_ns"]) / 1e9
        if not 1 <= self.points <= 10000 or self.step_s <= 0:
            raise Malformed("the time has no points")
        self.sensors = [Sensor(s) for s in given["sensors"]]
        self.series = [Series(s, self.points) for s in given["series"]]
        self.channels = sorted((Channel(c, self.points) for c in given["channels"]), key=lambda c: c.mhz)
        self.parts = [{k: int(v) for k, v in p.items()} for p in given["parts"]]
        self.classes = {text(c["class"]): sized(numbers(c["heard_by"]), 65) for c in given["classes"]}
        self.without_rate = {text(c["class"]): int(c["without_rate"]) for c in given["classes"]}
        self.transmitters = [Transmitter(t) for t in given["transmitters"]]
        if len(self.series) > len(self.sensors):
            raise Malformed("has more sensors over time than sensors")
        self.transmitters_count = int(given["transmitters_count"])
        self.left_out = {text(k): int(v) for k, v in given["left_out"].items()}
        self._matrices(given)
        clocks = given.get("clocks")
        self.events = [(int(e["time_ns"]), text(e["sensor"]), text(e["event"])) for e in clocks["events"]] if clocks else []

    def _matrices(self, given):
        n, m = len(self.series), len(self.transmitters)
        self.together = sized(np.array(given["together"], float).reshape(n, -1) if n else np.zeros((0, 0)), n, n)
        self.heard = sized(np.array(given["heard"], float).reshape(n, -1) if n and m else np.zeros((n, m)), n, m)

    @property
    def seconds(self):
        """The middles of the points."""
        return (np.arange(self.points) + .5) * self.step_s

    @property
    def duration_s(self):
        return self.points * self.step_s

    @property
    def busiest(self):
        """The sensors that have values over time, in their order."""
        return self.sensors[:len(self.series)]


def read(file):
    try:
        return Stats(json.load(file))
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as e:
        raise Malformed(f"is not complete ({type(e).__name__}: {e})") from e
    except ValueError as e:
        raise e if isinstance(e, Malformed) else Malformed(f"is not JSON of numbers ({e})") from e
