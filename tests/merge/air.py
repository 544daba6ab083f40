# SPDX-License-Identifier: GPL-2.0
"""What sensors hear of transmissions, and the files about it. In: parameters, transmissions with their bytes, and
radios. Out: pcapng of all sensors or of each sensor, and the truth."""
import dataclasses
import json
import pathlib

import numpy as np

from merge import clocks, truth
from merge.combos import Sensor
from merge.hearing import Hearing
from merge.kinds import NAMES
from merge.output import Section, sensor_name
from merge.pcapng import Packets, section
from merge.random_numbers import Purpose, generator


class Air:
    """`sent`: columns of the transmissions. `frames`: their MAC frames' first bytes, without and with the FCS.
    `limits`: how many bytes of each a sensor keeps at most. `floors`: the sensors', or None."""

    def __init__(self, parameters, sent, frames, limits, radios, floors=None):
        self.parameters, self.sent, self.radios = parameters, sent, radios
        p = parameters
        self.floors = [None] * p.sensors if floors is None else floors
        self.events = clocks.choose_events(p)
        self.clocks = [clocks.SensorClock(p, s, [e for e in self.events if e.sensor == s]) for s in range(p.sensors)]
        self.collector = clocks.CollectorClock(p)
        self.radio_clocks = self._radio_clocks()
        hearing = Hearing(p, sent, radios, self.clocks, self.radio_clocks)
        self.receptions, self.sigma_ns = hearing.receptions, hearing.sigma_ns
        self.packets = Packets(sent, *frames, limits, hearing.damage, radios)
        self.firsts = np.searchsorted(self.receptions["sensor"], np.arange(p.sensors + 1))
        self.interfaces = np.bincount([r.sensor for r in self.radios], minlength=p.sensors).tolist()

    def _radio_clocks(self):
        p, rng = self.parameters, generator(self.parameters.seed, Purpose.EVENTS, 1)
        radios = [r for r in self.radios if r.gives_tsft]
        resets = {}
        for n in rng.permutation(len(radios))[:p.tsft_resets].tolist():
            resets[radios[n].number] = int(rng.uniform(.4, .8) * p.seconds * 1e9)
            self.events.append(clocks.Event("tsft_reset", radios[n].sensor, resets[radios[n].number],
                                            radios[n].interface))
        return {r.number: clocks.RadioClock(p, r.number, resets.get(r.number)) for r in radios}

    def own(self, sensor):
        """A sensor's receptions."""
        return self.receptions[self.firsts[sensor]:self.firsts[sensor + 1]]

    def items(self, sensor):
        own = self.own(sensor)
        outage = next((e for e in self.events if e.kind == "outage" and e.sensor == sensor), None)
        kept = self.packets.kept_len(own)
        return Sensor(self.parameters, sensor, self.clocks[sensor], self.collector, own, kept,
                      int(self.firsts[sensor])).items(outage)

    def _section(self):
        return Section(self.packets, self.receptions, self.interfaces, self.floors)

    def arrivals(self):
        """All sensors' combos and reports, as they arrive."""
        items = [item for s in range(self.parameters.sensors) for item in self.items(s)]
        return sorted(items, key=lambda i: (i.arrival_ns, i.sensor))

    def stream(self, items=None):
        """(time of arrival in ns since the start, bytes), one combo or report after the other, in another order if
        given."""
        items = self.arrivals() if items is None else items
        out, arrival = self._section(), 0
        yield 0, section()
        for item, data in out.pieces(items):
            arrival = item.arrival_ns
            yield arrival, data
        for sensor in range(self.parameters.sensors):
            if sensor in out.ids:
                yield arrival, out.last_words(sensor, self.own(sensor))

    def write_stream(self, path):
        with open(path, "wb") as f:
            f.writelines(data for _, data in self.stream())

    def write_files(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for sensor in range(self.parameters.sensors):
            out = self._section()
            with open(folder / f"{sensor_name(sensor)}.pcapng", "wb") as f:
                f.write(section())
                f.writelines(data for _, data in out.pieces(i for i in self.items(sensor) if i.in_files))
                f.write(out.last_words(sensor, self.own(sensor)) if sensor in out.ids else b"")

    def write_truth(self, path):
        r, at = self.receptions, clocks.grid(self.parameters.seconds)
        truth.write(path, r, self.sent, base_ns=clocks.BASE_NS, sigma_ns=self.sigma_ns,
                    names=np.array([sensor_name(s) for s in range(self.parameters.sensors)]),
                    grid_ns=at, clock_ns=np.array([c.realtime(at) for c in self.clocks]) - at - clocks.BASE_NS,
                    events=json.dumps([e.as_dict() for e in self.events]),
                    parameters=json.dumps(dataclasses.asdict(self.parameters)))

    def summary(self):
        heard = np.bincount(self.receptions["transmission"], minlength=len(self.sent["kind"]))
        kinds = {name: int(n) for name, n in zip(NAMES, np.bincount(self.sent["kind"], minlength=len(NAMES))) if n}
        by = len(self.receptions) / max(np.count_nonzero(heard), 1)
        return (f"{len(heard)} transmissions, {len(self.receptions)} receptions, {len(self.radios)} radios, "
                f"heard by none {np.count_nonzero(heard == 0)}, others by {by:.2f} on average, "
                f"{len(self.receptions) / self.parameters.seconds:.0f} receptions/s\n  {kinds}\n"
                + "".join(f"  {event}\n" for event in self.events))
