# SPDX-License-Identifier: GPL-2.0
"""Simulates a building with many sensors, whose truth is known:

    python -m merge.sim NAME [OPTION]...

NAME.pcapng has the frames of all sensors as `saluki-collector -w -` would write them. With --files, NAME/ has a file
for each sensor instead. NAME.npz has the truth (truth.py). The same options give the same bytes."""
import argparse
import dataclasses

import numpy as np

from merge.air import Air
from merge.building import Building
from merge.frames import KEPT, header_ends, mac_frames
from merge.traffic import transmissions


def pair(text):
    low, _, high = str(text).partition(",")
    return float(low), float(high or low)


def _say(default, text, **more):
    return dataclasses.field(default=default, metadata={"help": text, **more})


@dataclasses.dataclass
class Parameters:
    seed: int = 1
    seconds: float = _say(60.0, "duration", names=("-T", "--seconds"))
    sensors: int = 100
    aps: int = 40
    stas: int = 200
    load: float = _say(9.0, "bursts per second and cell")
    jitter: tuple = _say((1.0, 20.0), "us: sigma of stamps, or LOW,HIGH for sensors between these", type=pair)
    outliers: float = _say(.01, "share of late stamps")
    batch: bool = _say(False, "late interrupts stamp all frames that have arrived until then")
    loss: tuple = _say((.05, .40), "share of frames lost, LOW,HIGH", type=pair)
    skew: float = _say(50.0, "ppm")
    walk: float = _say(.02, "ppm per square root of a second")
    offset: float = _say(2.0, "s")
    steps: int = _say(0, "sensors whose clock steps by 10 ms")
    slews: int = _say(0, "sensors whose clock slews by 500 ppm for 20 s")
    restarts: int = _say(0, "sensors that restart, with another clock")
    outages: int = _say(0, "sensors whose frames arrive late by up to 30 s")
    dual: float = _say(.4, "share of sensors with two radios")
    bad: float = _say(.02, "share of frames with a wrong FCS, at -80 dBm")
    islands: int = _say(0, "1: a fourth of all is in a building out of reach")
    floors: int = _say(0, "of the building; 0: sensors have no floor")
    tsft: float = _say(0.0, "share of sensors whose radios give a TSFT")
    tsft_noise: float = _say(.3, "us: sigma, before the TSFT is rounded down")
    tsft_resets: int = _say(0, "radios whose TSFT is reset")
    open: float = _say(0.0, "share of access points without encryption")
    readings: bool = _say(False, "write the sensors' readings of their clocks")
    ahead: bool = _say(False, "write by how much sensors' clocks are ahead of the collector's")
    hb: int = _say(1, "0: no heartbeats in the stream (files have none)")
    keep_headers: bool = _say(False, "cut protected data behind the CCMP header")
    delays_seed: int = _say(None, "another seed for the delays to the collector")


def simulate(**parameters):
    p = Parameters(**parameters)
    building = Building(p)
    sent = transmissions(p, building.channels, set(building.open_aps.tolist()))
    frames = mac_frames(sent, p.aps, building.open_aps)
    limits = header_ends(frames[0]) if p.keep_headers else np.full(len(sent["kind"]), KEPT)
    return Air(p, sent, frames, limits, building.radios, building.floors)


def write(air, name, files):
    """NAME.pcapng or the folder NAME, and NAME.npz."""
    if files:
        air.write_files(name)
    else:
        air.write_stream(f"{name}.pcapng")
    air.write_truth(f"{name}.npz")
    print(f"{name}: {air.summary()}", end="")


def arguments():
    parser = argparse.ArgumentParser(prog="merge.sim", description=__doc__.split("\n")[0])
    parser.add_argument("name")
    parser.add_argument("--files", action="store_true", help="a file for each sensor instead of a stream")
    for f in dataclasses.fields(Parameters):
        names = f.metadata.get("names", ("--" + f.name.replace("_", "-"),))
        how = {"help": f.metadata.get("help", f"(default {f.default})"), "dest": f.name}
        if f.type is bool:
            parser.add_argument(*names, action="store_true", **how)
        else:
            parser.add_argument(*names, type=f.metadata.get("type", f.type), default=f.default, **how)
    return parser


def main():
    given = vars(arguments().parse_args())
    name, files = given.pop("name"), given.pop("files")
    write(simulate(**given), name, files)


if __name__ == "__main__":
    main()
