# SPDX-License-Identifier: GPL-2.0
"""How frames were sent, and their airtime, as modules see them in the kernel (module_run), against
an independent calculation and tshark."""
import collections
import json
import random
import struct
import subprocess

import pytest

from bpf.dot11 import Bench, read
from reference import airtime, captures, radiotaps
from reference.test_reference import write_pcap

SENT = struct.Struct("<4BBxHIIHHIQ")


def whole(f):
    """Not truncated: the test needs the original length."""
    return f.linktype == 127 and len(f.data) == f.orig_len and has_dot11(f.data)


def from_all(traces, most):
    """Frames of all captures, one after the other."""
    return [f for folder in ("radiotap", "hwsim") for p in traces.folder(folder) for f in read(p, most)
            if whole(f)]


@pytest.fixture(name="bench")
def fixture_bench(tmp_path):
    return Bench(tmp_path)


# ---- how frames were sent --------------------------------------------------------------------------


def has_dot11(data):
    got = airtime.fields(data)
    return got and len(data) >= got.length + 10 and not data[got.length] & 3


def expected(data):
    s = airtime.sent(data)
    flags = airtime.fields(data).found.get(1, b"\0")[0]
    timed = s.preamble and s.symbol or s.rate and s.symbol
    return (s.phy, s.mcs, s.streams, int(s.ampdu is not None), int(bool(flags & 0x40)), airtime.mpdu_len(data),
            round(s.rate / 1000), round(s.preamble * 1000), round(s.symbol * 1000) if timed else 0,
            s.tail if timed else 0, s.ampdu or 0)


def assert_sent(bench, frames):
    frames = [f for f in frames if has_dot11(f.data)]
    if not frames:
        return 0
    events, _ = bench.run("sent", frames)
    assert len(events) == len(frames)
    for f, e in zip(frames, events):
        got = SENT.unpack(bytes.fromhex(e["data"]))[:11]
        want = expected(f.data)
        assert abs(got[6] - want[6]) <= 1, (got, want, f.data[:60].hex())
        assert got[:6] + got[7:] == want[:6] + want[7:], (got, want, f.data[:60].hex())
    return len(frames)


def test_how_frames_were_sent(bench, traces):
    assert assert_sent(bench, from_all(traces, 3000)) > 10000


def test_headers_of_every_kind(bench):
    made = [captures.Frame(n, len(m.bytes), 127, m.bytes) for n, m in enumerate(radiotaps.every())]
    assert assert_sent(bench, made) > 300


def mutated_frames(seed):
    return [captures.Frame(n, len(d), 127, d) for n, d in enumerate(radiotaps.mutated(seed, 5000))]


@pytest.mark.parametrize("seed", [1, 2])
def test_headers_that_are_changed_by_chance(bench, seed):
    assert assert_sent(bench, mutated_frames(seed)) > 2000


DATA = bytes([0x88, 0x02, 0, 0]) + bytes.fromhex("020000000001 020000000002 020000000003") + b"\x10\0\0\0"


def radio(rng):
    """Fields of a header that describes how a frame was sent, valid or not."""
    kind = rng.choice(("legacy", "ht", "vht", "he"))
    mhz, flags = rng.choice(((2412, 0x480), (2472, 0xa0), (5180, 0x140), (5745, 0x4140), (5180, 0x8140)))
    fields = {1: bytes([rng.choice((0, 2, 0x10, 0x12, 0x50))]), 3: struct.pack("<HH", mhz, flags)}
    if kind == "legacy":
        fields[2] = bytes([rng.choice((2, 4, 11, 22, 44, 66, 3, 6, 9, 12, 18, 24, 27, 36, 48, 72, 96, 108, 0, 78))])
    elif kind == "ht":
        fields[19] = bytes([rng.choice((0x07, 0x0f, 0x3f, 0x7f, 0xff, 0x05)), rng.randrange(256),
                            rng.randrange(36)])
    elif kind == "vht":
        fields[21] = struct.pack("<HBB4sBBH", rng.choice((0x44, 0x45, 0x4, 0xff)), rng.randrange(256),
                                 rng.randrange(26), bytes([rng.randrange(11) << 4 | rng.randrange(9), 0, 0, 0]),
                                 rng.randrange(2), 0, 0)
    else:
        fields[23] = struct.pack("<6H", rng.choice((0x4220, 0x4260, 0x4261, 0x4262, 0x0020, 0xffff)),
                                 rng.choice((2, 6, 4, 7)), rng.randrange(13) << 8 | rng.randrange(8) << 12 |
                                 rng.randrange(2) << 15, 0, rng.randrange(1 << 11), rng.randrange(10))
    if rng.random() < 0.2:
        fields[20] = struct.pack("<IHBB", rng.randrange(4), 0, 0, 0)
    return fields


def sent_at_random(seed, count):
    rng = random.Random(seed)
    for n in range(count):
        head = radiotaps.head(radiotaps.Own(radio(rng)))
        yield captures.Frame(10**9 + n * 10**7, 0, 127, head.bytes + DATA + bytes(rng.randrange(1, 2000)))


def sized(frames):
    return [f._replace(orig_len=len(f.data)) for f in frames]


def test_every_way_to_send(bench):
    frames = sized(sent_at_random(3, 6000))
    assert assert_sent(bench, frames) == len(frames)
    known = collections.Counter(airtime.sent(f.data).phy for f in frames if airtime.sent(f.data).preamble)
    assert min(known[phy] for phy in range(1, 6)) > 100, known


def test_the_clock_of_beacons(bench, traces):
    """The clock in beacons equals tshark's."""
    path = bench.folder / "hwsim.pcap"
    path.write_bytes(captures.file_bytes(traces.root / "hwsim/hwsim.pcap.zst"))
    out = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "wlan.fixed.timestamp"],
                         capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    frames = read(path)
    assert len(out) == len(frames)
    events, _ = bench.run("sent", frames)
    got = [SENT.unpack(bytes.fromhex(e["data"]))[11] for e in events]
    want = [int(t) if t else 0 for t, f in zip(out, frames) if has_dot11(f.data)]
    assert got == want and sum(map(bool, got)) > 500


# ---- airtime ---------------------------------------------------------------------------------------


def with_fcs(f):
    """The same frame with an FCS, and a header that says so: without one tshark leaves it out. None
    if the header has no flags, so that tshark guesses."""
    got = airtime.fields(f.data)
    if not got or 1 not in got.found:
        return None
    if got.found[1][0] & 0x10:
        return f
    data = bytearray(f.data)
    at = 8
    while struct.unpack_from("<I", data, at - 4)[0] & 1 << 31:
        at += 4
    if struct.unpack_from("<I", data, 4)[0] & 1:
        at += -at % 8 + 8
    data[at] |= 0x10
    return f._replace(data=bytes(data) + b"\0" * 4, orig_len=len(data) + 4)


def is_padded(f):
    """Whether there are padding bytes between header and body, which tshark counts as sent."""
    got = airtime.fields(f.data)
    return got.found[1][0] & 0x20 and f.data[got.length] & 0x8c == 0x88


def tshark_us(folder, frames):
    path = folder / "tshark.pcap"
    write_pcap(path, 127, frames)
    out = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "wlan_radio.duration"],
                         capture_output=True, text=True, check=True).stdout.split("\n")
    return [float(line) if line else None for line in out[:len(frames)]]


def tshark_slack(s):
    """The standard's parts that tshark lacks: the signal extension at 2.4 GHz; for VHT the SIG-B
    field, the delimiter, tail bits and whole symbols; the whole symbols of short guard
    intervals."""
    extension = 6 if s.phy != airtime.DSSS and 2400 < s.mhz < 2500 else 0
    if s.phy == airtime.VHT:
        return extension, extension + 4 + float(38 / s.rate * 10**6) + 2 * float(s.round_to) + 1
    return extension, extension + (4 if s.phy == airtime.HT and s.symbol % 4 else 0)


def test_durations_against_tshark(bench, traces):
    """Durations equal tshark's, except at 40 MHz, where tshark is wrong (104 carriers), and for HE,
    which it does not know."""
    forty = (54, 108, 162, 216, 324, 432, 486, 540)
    frames = list(filter(None, map(with_fcs, from_all(traces, 2000))))
    compared = collections.Counter()
    for f, us in zip(frames, tshark_us(bench.folder, frames)):
        s = airtime.sent(f.data)
        if (us is None or not s.preamble or s.ampdu is not None or s.phy == airtime.HT and s.bits in forty or
                is_padded(f)):
            continue
        low, high = tshark_slack(s)
        assert us + low - 0.5 <= airtime.Air().us(f.data) <= us + high + 0.5, (s, us, f.data[:60].hex())
        compared[s.phy] += 1
    assert min(compared[phy] for phy in (airtime.DSSS, airtime.OFDM, airtime.HT, airtime.VHT)) > 250, compared


AIRTIME = struct.Struct("<QQQQQQQQQHb5x")
Counted = collections.namedtuple("Counted", "frames unicast retries bytes unknown air_ns")


def counted(value):
    v = AIRTIME.unpack(value)
    return Counted(*v[3:7], v[7], v[8])


def stations_expected(frames):
    """{transmitter: Counted}, for frames received correctly, and {MHz: ns} of all."""
    air, stations, channels = airtime.Air(), collections.defaultdict(collections.Counter), collections.Counter()
    for f in frames:
        at = airtime.fields(f.data).length
        frame = f.data[at:]
        us = air.us(f.data)
        channels[airtime.sent(f.data).mhz] += round(us * 1000) if us else 0
        if airtime.fields(f.data).found.get(1, b"\0")[0] & 0x40:
            continue
        kind = frame[0] & 0x0c
        has_transmitter = len(frame) >= 16 and frame[0] & 0xfc not in (0xc4, 0xd4)
        c = stations[frame[10:16] if has_transmitter else bytes(6)]
        unicast = kind != 4 and not frame[4] & 1
        c.update(frames=1, bytes=airtime.mpdu_len(f.data), unicast=int(unicast),
                 retries=int(unicast and bool(frame[1] & 8)), unknown=int(us is None),
                 air_ns=round(us * 1000) if us else 0)
    return {k: Counted(*(c[n] for n in Counted._fields)) for k, c in stations.items()}, channels


def assert_airtime(bench, frames):
    frames = [f for f in frames if has_dot11(f.data)]
    if not frames:
        return 0
    _, maps = bench.run("airtime", frames, "stations", "channels")
    want, channels = stations_expected(frames)
    got = {v[:6]: counted(v[8:]) for v in maps["stations"]}
    if len(want) > 2000:  # the kernel has forgotten some
        want = {k: c for k, c in want.items() if k in got and got[k].frames == c.frames}
        got = {k: got[k] for k in want}
        assert len(got) > 1000
    assert got == want
    assert {struct.unpack("<I", v[:4])[0]: counted(v[4:]).air_ns for v in maps["channels"]} == channels
    return len(frames)


def test_airtime_of_stations(bench, traces):
    assert assert_airtime(bench, from_all(traces, 1000)) > 10000


def test_airtime_of_every_way_to_send(bench):
    frames = sized(sent_at_random(4, 6000))
    assert assert_airtime(bench, frames) == len(frames)


def ampdu(number, count, sender=2, size=1500):
    head = radiotaps.head(radiotaps.Own({1: b"\x10", 3: struct.pack("<HH", 5180, 0x140),
                                         20: struct.pack("<IHBB", number, 0, 0, 0),
                                         21: struct.pack("<HBB4sBBH", 0x44, 0, 4, b"\x92\0\0\0", 0, 0, 0)}))
    frame = DATA[:10] + bytes([2, 0, 0, 0, 0, sender]) + DATA[16:]
    return [head.bytes + frame + bytes(size - len(frame))] * count


def test_an_ampdu_is_one_transmission(bench):
    """An A-MPDU is one transmission. By hand: 1,500 bytes and a delimiter each at 780 Mb/s, 3,120
    bits per symbol, 44 us before."""
    frames = [*ampdu(1, 10), *ampdu(2, 10), *ampdu(2, 10, sender=4)]
    frames = [captures.Frame(10**9 + n, len(d), 127, d) for n, d in enumerate(frames)]
    _, maps = bench.run("airtime", frames, "stations")
    one = 44 + 4 * -(-(10 * 1504 * 8 + 16 + 6 * 2) // 3120)
    took = {v[5]: counted(v[8:]).air_ns for v in maps["stations"]}
    assert took == {2: 2 * one * 1000, 4: one * 1000}
    assert assert_airtime(bench, frames) == 30


def test_numbers_that_stand_still(bench):
    """With a card that gives all A-MPDUs one number, none is longer than the standard allows."""
    frames = [captures.Frame(10**9 + n, len(d), 127, d) for n, d in enumerate(ampdu(0, 2000))]
    assert assert_airtime(bench, frames) == 2000
    _, maps = bench.run("airtime", frames, "stations")
    took = counted(maps["stations"][0][8:]).air_ns
    alone = 44 + 4 * -(-(1504 * 8 + 28) // 3120)
    assert 2000 * 12000 * 10**9 / 780e6 < took < 2000 * alone * 1000 * 0.75


def test_the_table_from_events(bench, traces):
    """The collector's table from events has all of a station except its last seconds."""
    frames = read(traces.root / "hwsim/hwsim.pcap.zst")
    events, maps = bench.run("airtime", frames, "stations")
    rows = [json.loads(line) for line in bench.consumer("airtime", "--json").splitlines()]
    rows = {r["station"]: r for r in rows if r["event"] == "all"}
    want = {v[:6].hex(":"): counted(v[8:]) for v in maps["stations"]}
    assert len(rows) == len({e["data"][:12] for e in events}) > 5
    for station, row in rows.items():
        assert 0 < row["frames"] <= want[station].frames
        assert row["air_us"] * 1000 <= want[station].air_ns
    busiest = max(rows, key=lambda s: rows[s]["frames"])
    assert rows[busiest]["frames"] > 0.7 * want[busiest].frames
    text = bench.consumer("airtime")
    assert f"all: {rows[busiest]['seconds']:.1f} s" in text and busiest in text
