# SPDX-License-Identifier: GPL-2.0
"""Files of one sensor each, or the stream of all sensors. In: items. Out: pcapng as saluki-collector writes it."""
import numpy as np

from merge import pcapng

READINGS_MOST = 16
BATCH = 200_000  # receptions whose blocks are made at once


def sensor_name(number):
    return f"s-{number + 1}"


class Section:
    """A file or stream with the items of some sensors. Interface blocks of a sensor come before its first item."""

    def __init__(self, packets, receptions, interfaces, floors):
        self.packets, self.receptions, self.interfaces, self.floors = packets, receptions, interfaces, floors
        self.ids, self.next_id = {}, 0

    def _interfaces(self, sensor):
        """Blocks of the sensor's interfaces, if it has none yet."""
        if sensor in self.ids:
            return b""
        count = self.interfaces[sensor]
        self.ids[sensor], self.next_id = self.next_id, self.next_id + count
        return b"".join(pcapng.interface(sensor_name(sensor), sensor + 1, f"wlan{n}", self.floors[sensor])
                        for n in range(count))

    def _batches(self, items):
        batch, frames = [], 0
        for item in items:
            batch.append(item)
            frames += item.last - item.first
            if frames >= BATCH:
                yield batch
                batch, frames = [], 0
        if batch:
            yield batch

    def _packets(self, batch):
        """All packet blocks of a batch."""
        combos = [i for i in batch if i.last > i.first]
        lengths = np.array([i.last - i.first for i in combos])
        begins = np.cumsum(lengths) - lengths
        rows = np.repeat(np.array([i.first for i in combos]) - begins, lengths) + np.arange(lengths.sum())
        r = self.receptions[rows]
        id_of = np.zeros(len(self.interfaces), np.int64)
        id_of[list(self.ids)] = list(self.ids.values())
        named = [n for n, i in enumerate(combos) if i.first not in i.inside]
        options = pcapng.names([combo_name(combos[n]) for n in named])
        return self.packets.blocks(r, id_of[r["sensor"]] + r["interface"], begins[named].astype(np.int64), options)

    def _combo(self, item, data, places, at):
        """The combo's blocks: frames, and readings between them. `at`: the place of its first frame in `places`."""
        pieces, begin, offset = [], item.first, at - item.first
        for place, triples in item.inside.items():
            pieces.append(data[places[begin + offset]:places[place + offset]])
            options = [pcapng.readings(triples[-READINGS_MOST:])]
            if place == item.first:
                options.append(pcapng.names([combo_name(item)]).tobytes())
            pieces.append(pcapng.statistics(self.ids[item.sensor], sum(triples[-1][:2]), *options))
            begin = place
        pieces.append(data[places[begin + offset]:places[item.last + offset]])
        return b"".join(pieces)

    def pieces(self, items):
        """(item, bytes), one after the other."""
        for batch in self._batches(items):
            heads = [self._interfaces(item.sensor) for item in batch]
            data, places = self._packets(batch) if any(i.last > i.first for i in batch) else (b"", [0])
            data, places, at = memoryview(data), list(map(int, places)), 0
            for item, head in zip(batch, heads):
                if item.report:
                    yield item, head + pcapng.statistics(self.ids[item.sensor], item.time_ns, item.report)
                elif item.last > item.first:
                    yield item, head + self._combo(item, data, places, at)
                    at += item.last - item.first

    def last_words(self, sensor, receptions):
        """The statistics at the end of a sensor's run."""
        total, out = len(receptions), []
        for n in range(self.interfaces[sensor]):
            own = receptions[receptions["interface"] == n]["stamp_ns"]
            if len(own):
                out.append(pcapng.last_statistics(self.ids[sensor] + n, int(own.min()), int(own.max()), len(own),
                                                  "" if out else ledger(sensor_name(sensor), total)))
        return b"".join(out)


def combo_name(item):
    return (*item.name, len(item.inside))


def ledger(name, n):
    return (f"{name}: seen {n} = filtered 0 + ring_full 0 + copy_failed 0 + captured {n}; captured = exported {n} "
            f"+ dropped 0 + in ring 0 + vanished 0; exported = written {n} + lost 0 (missing 0, disk 0) + earlier 0 "
            "+ in flight 0; balance 0")
