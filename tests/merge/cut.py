# SPDX-License-Identifier: GPL-2.0
"""Cuts a capture that heard every channel into sensors with clocks of their own:

    python -m merge.cut NAME CAPTURE [OPTION]...

Writes the same files as merge.sim. The frames are real, cut as `-s 192 --keep headers` cuts them, and at 64 bytes.
The truth is the capture: its frames are the transmissions, with their times. A third of the sensors have two radios.
All frames are equally strong, and no radio gives a TSFT."""
import argparse
import collections
import dataclasses

import numpy as np

from merge import sim
from merge.air import Air
from merge.building import Radio
from merge.frames import FCS_LEN, KEPT, with_fcs
from merge.identity import Malformed, identify, radiotap
from merge.random_numbers import Purpose, generator
from reference import captures, trim

CHANNELS = 4
SNAPLEN = 192
SIGNAL_DBM = -50

# limit: bytes of the MAC frame that a sensor keeps. length: on the air, with an FCS.
Sent = collections.namedtuple("Sent", "time_ns mac limit length kind mhz rate identity")


def sent(frame):
    """A frame of the capture as a transmission, or None if it has no identity or no channel."""
    try:
        size, fields = radiotap(frame.data)
        identity = identify(frame.data, frame.orig_len)
    except Malformed:
        return None
    if "mhz" not in fields:
        return None
    kept, _ = trim.keep(frame.data, frame.orig_len, trim.RADIOTAP, SNAPLEN)
    length = frame.orig_len - size - (FCS_LEN if fields.get("flags", 0) & 0x10 else 0)
    mac = frame.data[size:][:min(length, KEPT)]
    return Sent(frame.time_ns, mac, min(kept - size, KEPT), length + FCS_LEN, identity.kind,
                fields["mhz"], fields.get("rate", 2) / 2, identity)


def transmissions(path):
    """The capture's frames on its busiest channels, in order of time."""
    rows = sorted(filter(None, map(sent, captures.frames(path))), key=lambda s: s.time_ns)
    busiest = {mhz for mhz, _ in collections.Counter(s.mhz for s in rows).most_common(CHANNELS)}
    return [s for s in rows if s.mhz in busiest]


def columns(rows):
    """The same columns as those of simulated traffic, and the matrix of the frames' bytes."""
    matrix = np.zeros((len(rows), KEPT), np.uint8)
    for n, row in enumerate(rows):
        matrix[n, :len(row.mac)] = np.frombuffer(row.mac, np.uint8)
    get = lambda name, kind=np.int64: np.array([getattr(row, name) for row in rows], kind)
    mhz, nobody = get("mhz"), np.zeros(len(rows), np.int64)
    return {"end_ns": get("time_ns") - rows[0].time_ns, "sender": nobody, "receiver": nobody, "kind": get("kind"),
            "length": get("length"), "rate": get("rate", float), "channel": mhz, "mhz": mhz}, matrix


def radios(p, channels):
    """The first two thirds of the sensors have one radio, the others two."""
    rng, number = generator(p.seed, Purpose.RADIOS), 0
    for sensor in range(p.sensors):
        loss, own = rng.uniform(*p.loss), [channels[sensor % len(channels)]]
        if sensor >= p.sensors * 2 // 3:
            own.append(channels[(sensor + 1) % len(channels)])
        for interface, mhz in enumerate(own):
            yield Radio(sensor, interface, number, mhz, loss, False, False, np.array([float(SIGNAL_DBM)]))
            number += 1


def cut(rows, **parameters):
    """The transmissions, as heard by sensors."""
    channels = sorted({s.mhz for s in rows})
    table, matrix = columns(rows)
    p = sim.Parameters(**{"sensors": 12, **parameters, "seconds": float(table["end_ns"][-1] / 1e9)})
    limits = np.array([s.limit for s in rows])
    return Air(p, table, (matrix, with_fcs(matrix, table["length"] - FCS_LEN)), limits, list(radios(p, channels)))


def main():
    parser = argparse.ArgumentParser(prog="merge.cut", description=__doc__.split("\n")[0])
    parser.add_argument("name")
    parser.add_argument("capture")
    parser.add_argument("--files", action="store_true", help="a file for each sensor instead of a stream")
    fields = {f.name: f for f in dataclasses.fields(sim.Parameters)}
    for name in ("seed", "sensors", "jitter", "outliers", "loss", "skew", "walk", "offset"):
        f = fields[name]
        parser.add_argument(f"--{name}", type=f.metadata.get("type", f.type), help=f.metadata.get("help"))
    given = {k: v for k, v in vars(parser.parse_args()).items() if v is not None}
    name, path, files = (given.pop(k) for k in ("name", "capture", "files"))
    sim.write(cut(transmissions(path), **given), name, files)


if __name__ == "__main__":
    main()
