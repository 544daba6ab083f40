# SPDX-License-Identifier: GPL-2.0
"""A stream of beacons that some sensors hear. One sensor may restart again and again, so that it has many runs; or
there are many sensors. In: numbers. Out: bytes as saluki-collector writes them. All blocks are made at once."""
import numpy as np

from merge import pcapng

BASE_NS = 1_790_000_000 * 10**9
SECOND_NS = 10**9
OFFSET_NS = 7_000_000  # of the clock of a sensor or run from that of the one before
OFFSETS = 100
AWAY = 1 << 32  # number of the first beacon that one sensor alone hears
BEACON_TSFT = 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 11
BEACON = np.dtype([("begin", "u1", 4), ("to", "u1", 6), ("sender", "u1", 6), ("network", "u1", 6), ("sequence", "<u2"),
                   ("tsf", "<u8"), ("interval", "<u2"), ("capabilities", "<u2"), ("name", "u1", 4)])


def packet(tsft):
    """The block of a beacon with its radiotap header and the name of a combo."""
    radiotap = pcapng.RADIOTAPS[tsft, False]
    return np.dtype([("kind", "<u4"), ("length", "<u4"), ("interface", "<u4"), ("high", "<u4"), ("low", "<u4"),
                     ("kept", "<u4"), ("whole", "<u4"), ("radiotap", radiotap), ("beacon", BEACON),
                     ("combo", pcapng.NAME), ("end", "<u4"), ("again", "<u4")])


def packets(interface, run, stamp_ns, number, tsft_us=None):
    """Blocks of beacons: a row for each number. `run`: the sensor's, from 1."""
    out = np.zeros(len(stamp_ns), packet(tsft_us is not None))
    out["kind"], out["length"], out["again"] = pcapng.PACKET, out.itemsize, out.itemsize
    out["interface"], out["high"], out["low"] = interface, stamp_ns >> 32, stamp_ns & 0xffffffff
    radiotap, beacon = out["radiotap"], out["beacon"]
    out["kept"] = out["whole"] = radiotap.itemsize + beacon.itemsize
    radiotap["length"], radiotap["rate"], radiotap["mhz"] = radiotap.itemsize, 12, 2412
    radiotap["channel"], radiotap["signal"] = pcapng.OFDM | pcapng.GHZ_2, -50
    radiotap["present"] = BEACON_TSFT & ~(tsft_us is None)
    if tsft_us is not None:
        radiotap["tsft"] = tsft_us
    beacon["begin"], beacon["to"], beacon["interval"], beacon["name"] = (0x80, 0, 0, 0), 0xff, 100, (0, 2, 65, 66)
    beacon["sender"] = beacon["network"] = (2, 0, 0, 0, 0, 1)
    beacon["sequence"], beacon["tsf"] = number % 4096 << 4, number * 102_400
    combo = out["combo"]
    combo["code"], combo["length"], combo["enterprise"] = pcapng.OPT_COMBO_NAME, pcapng.NAME_LEN, pcapng.ENTERPRISE
    combo["run"], combo["frames"] = run, 1
    return out


def interfaces(sensors):
    return pcapng.section() + b"".join(pcapng.interface(f"s-{n + 1}", n + 1, "wlan0") for n in range(sensors))


def restarting(runs, every_s=4.32, up_s=1.0, beacons=10, others=2, alone=False, tsft=False, first=0):
    """The first sensor begins a run each `every_s`, and hears `beacons` a second for `up_s`. `others` hear all beacons,
    and are never restarted. `alone`: the first sensor hears beacons of its own. `first`: so many runs came before, in
    another piece of the stream."""
    number = np.arange(int(first * every_s * beacons), int((first + runs) * every_s * beacons))
    at = number * SECOND_NS // beacons
    run, since = at // int(every_s * SECOND_NS), at % int(every_s * SECOND_NS)
    up = since < up_s * SECOND_NS
    own = packets(0, run[up] + 1, BASE_NS + at[up] + run[up] % OFFSETS * OFFSET_NS, number[up] + alone * AWAY,
                  since[up] // 1000 + 5_000_000 if tsft else None)
    rows = [(at[up], own.view("u1").reshape(-1, own.itemsize))]
    for n in range(1, others + 1):
        other = packets(n, np.ones_like(run), BASE_NS + at + n * OFFSET_NS, number)
        rows.append((at, other.view("u1").reshape(-1, other.itemsize)))
    return (b"" if first else interfaces(1 + others)) + in_order(rows)


def in_order(rows):
    """Blocks of several sizes, by time: (times, a matrix of bytes with a row for each block)."""
    times, sizes = np.concatenate([t for t, _ in rows]), np.concatenate([np.full(*b.shape) for _, b in rows])
    order = np.argsort(times, kind="stable")
    begins = np.empty_like(sizes)
    begins[order] = np.cumsum(sizes[order]) - sizes[order]
    out, first = np.empty(sizes.sum(), np.uint8), 0
    for t, blocks in rows:
        at = begins[first:first + len(t)]
        out[at[:, None] + np.arange(blocks.shape[1])] = blocks
        first += len(t)
    return out.tobytes()


def many(sensors, seconds, every_s=1.0, heard_by=4):
    """Each sensor hears a beacon each `every_s`, and gives a heartbeat each 0.5 s. A beacon is heard by about
    `heard_by` sensors, which are neighbours, at the same time."""
    rng = np.random.default_rng(1)
    number = np.arange(int(sensors * seconds / every_s / heard_by))
    at = (number * seconds * SECOND_NS / len(number)).astype(np.int64)
    first = rng.integers(0, sensors, len(number))
    sensor = (first[:, None] + np.arange(heard_by)).reshape(-1) % sensors
    number, at = np.repeat(number, heard_by), np.repeat(at, heard_by)
    offset = sensor % OFFSETS * OFFSET_NS
    blocks = packets(sensor, np.ones_like(at), BASE_NS + at + offset, number)
    beats = heartbeats(sensors, seconds, rng)
    return interfaces(sensors) + in_order([(at, blocks.view("u1").reshape(-1, blocks.itemsize)), beats])


def heartbeats(sensors, seconds, rng):
    """(times, rows of bytes)"""
    count = int(2 * seconds)
    sensor = np.tile(np.arange(sensors), count)
    at = (np.repeat(np.arange(count), sensors) + np.tile(rng.random(sensors), count)) * SECOND_NS / 2
    stamp = BASE_NS + at.astype(np.int64) + sensor % OFFSETS * OFFSET_NS
    one = np.frombuffer(pcapng.statistics(0, 0, pcapng.nothing_before(0)), np.uint8)
    out = np.tile(one, (len(at), 1))
    out[:, 8:12] = sensor.astype("<u4").view("u1").reshape(-1, 4)
    out[:, 12:20] = np.column_stack([stamp >> 32, stamp & 0xffffffff]).astype("<u4").view("u1").reshape(-1, 8)
    out[:, 29:37] = stamp.astype(">u8").view("u1").reshape(-1, 8)
    return at.astype(np.int64), out
