# SPDX-License-Identifier: GPL-2.0
"""The archive that docs/analyse.md asks: captures that the real programs have sent, merged and kept. In: a bed of
netns. Out: a folder of capture files, and a folder `tables` with their Parquet files.

sensors.pcapng, which a collector has written:
  air                     all frames of the bundled capture hwsim-all-groundtruth
  hopper                  the same air, as a radio hears it that dwells on one channel after the other; an event
  hall-1, hall-2, hall-3  the corridor of walk.py
building.pcapng           a unified trace of the sensors of a simulated building (tests/merge)"""
import dataclasses
import pathlib
import subprocess

from merge import sim
from merge.building import Building
from netns import testbed
from reference import airtime, captures
from wire import ends
from wire import saluki_combo as sc
from wire.test_interop import key, secret_of

from keep.walk import SENSORS, Walk

AIR = captures.OWN.root / "hwsim/hwsim-all-groundtruth.pcap.zst"
CHANNELS = ((2412, 20, 2412), (2437, 20, 2437), (2462, 20, 2462), (5180, 80, 5210), (5500, 20, 5500), (5975, 20, 5975))
FORBIDDEN_MHZ, EINVAL = 5500, 22
DWELL_NS, SWITCH_NS, LATE_NS = 250_000_000, 5_000_000, 2_000_000
COMBO_FRAMES = 40
CHANNEL = 3  # radiotap's bit
BUILDING = {"seconds": 20.0, "sensors": 24, "aps": 16, "stas": 32, "load": 16.0}


@dataclasses.dataclass
class Archive:
    folder: pathlib.Path  # of the capture files
    tables: pathlib.Path
    walk: Walk
    building: Building
    air: object  # of the building
    dwells: list  # of the hopper


def mhz(frame):
    return int.from_bytes(airtime.fields(frame.data).found[CHANNEL][:2], "little")


def hopped(frames):
    """Dwells one after the other, with the frames that a radio hears in each: (dwell, frames). Frames that arrive while
    the radio changes its channel are unsettled. Some are stamped late: after the dwell's begin."""
    begin, end, n, at = frames[0].time_ns, frames[-1].time_ns, 0, 0
    while begin < end:
        channel = CHANNELS[n % len(CHANNELS)]
        n += 1
        if channel[0] == FORBIDDEN_MHZ:
            yield sc.Dwell(0, *channel, begin, begin, 0, 0, EINVAL, 0), []
            continue
        settled, until, heard = begin + SWITCH_NS, begin + DWELL_NS, []
        is_settled = lambda f: f.time_ns >= settled + LATE_NS
        while at < len(frames) and frames[at].time_ns < until:
            f, at = frames[at], at + 1
            if mhz(f) == channel[0]:
                heard.append(sc.Frame(*f))
                heard[-1].direction |= 0 if is_settled(f) else sc.UNSETTLED
        marked = sum(not is_settled(f) for f in heard)
        yield sc.Dwell(0, *channel, settled, until, len(heard) - marked, SWITCH_NS, 0, marked), heard
        begin = until


def hop(bed, sensor_key, dwells):
    """Sends a hopping sensor's frames and dwells."""
    sensor = ends.Sensor(bed.ns, ("127.0.0.1", 5600), secret_of(sensor_key), key(bed.keys.collector_public))
    sensor.set_up()
    said = sc.Said(0, 1, dwells[0][0].from_ns, 3, "worm", b"\0\0\0\1")
    sensor.add_combo([], sc.ZSTD, [sc.Event(0, sc.SAID, sc.said_write(said))])
    for dwell, frames in dwells:
        parts = [frames[n:n + COMBO_FRAMES] for n in range(0, len(frames), COMBO_FRAMES)] or [[]]
        for part in parts[:-1]:
            sensor.add_combo(part, sc.ZSTD_DOT11)
        sensor.add_combo(parts[-1], sc.ZSTD_DOT11, [sc.Event(len(parts[-1]), sc.DWELL, sc.dwell_write(dwell))])
    sensor.deliver()
    sensor.finish()
    sensor.close()


def collect(bed, out, walk):
    """Several sensors send to a collector. Returns the hopping sensor's dwells."""
    work = bed.tmp_path
    (work / "air.pcap").write_bytes(captures.file_bytes(AIR))
    walk.write(work)
    dwells = list(hopped(list(captures.frames(AIR))))
    keys = {name: bed.keys.sensor(name) for name in ("air", *SENSORS, "hopper")}
    collector = bed.collector(write=out)
    readers = [bed.reader(name, work / f"{name}.pcap") for name in ("air", *SENSORS)]
    for reader in readers:
        status, said = reader.finish(signo=None, seconds=60)
        assert status == 0, said
    hop(bed, keys["hopper"], dwells)
    status, said = collector.finish()
    assert status == 0, said
    return [dwell for dwell, _ in dwells]


def build(bed):
    folder, tables = bed.tmp_path / "captures", bed.tmp_path / "tables"
    for f in (folder, tables):
        f.mkdir()
        f.chmod(0o777)  # programs under test drop their rights
    walk, air = Walk(), sim.simulate(**BUILDING)
    dwells = collect(bed, folder / "sensors.pcapng", walk)
    air.write_stream(bed.tmp_path / "building.pcapng")
    subprocess.run([testbed.BUILD / "saluki-merge", "-q", "-w", folder / "building.pcapng",
                    bed.tmp_path / "building.pcapng"], check=True)
    subprocess.run([testbed.BUILD / "saluki-keep", "-q", "--once", "--finished", "--columns", tables, folder],
                   check=True)
    return Archive(folder, tables, walk, Building(sim.Parameters(**BUILDING)), air, dwells)
