# SPDX-License-Identifier: GPL-2.0
"""The simulated radios' frames (air.py), with other drivers' headers and trailers:
radiotap/as-DRIVER, and dot11-other/ with the other link types of 802.11. The frames are real, and
so are their FCS; the headers are made as the drivers make them."""
import random
import struct
import zlib

from captures import files
from reference import captures
from reference.radiotaps import Own, Vendor, head

EACH = 1300  # frames per driver
FCS, PADDED, BAD = 0x10, 0x20, 0x40
CCK, OFDM, GHZ_2, GHZ_5 = 0x20, 0x40, 0x80, 0x100
QOS_DATA = 0x88
DRIVERS = {}


def driver(make):
    DRIVERS[make.__name__.replace("_", "-")] = make
    return make


class Air:
    """A driver's knowledge of a frame: its time and reception. Chosen at random, as on a radio."""

    def __init__(self, rng, frame):
        self.rng, self.time_ns, self.frame = rng, frame.time_ns, frame.data
        self.tsft = struct.pack("<Q", frame.time_ns // 1000)
        self.signal = struct.pack("b", -rng.randrange(30, 90))
        self.is_data = frame.data[0] & 0x0c == 8

    def legacy(self, high=False):
        """Rate and channel."""
        if high:
            return bytes([self.rng.choice((12, 24, 48, 96, 108))]), struct.pack("<HH", 5180, GHZ_5 | OFDM)
        if self.rng.random() < 0.5:
            return bytes([self.rng.choice((2, 4, 11, 22))]), struct.pack("<HH", 2412, GHZ_2 | CCK)
        return bytes([self.rng.choice((12, 24, 48, 96, 108))]), struct.pack("<HH", 2437, GHZ_2 | OFDM)


@driver
def ath9k(air):
    """With an FCS; the MCS for HT frames; and the signal of each antenna."""
    rate, channel = air.legacy()
    how = {19: bytes([0x07, air.rng.choice((0, 4)), air.rng.randrange(16)])} if air.is_data else {2: rate}
    antennas = [Own({5: air.signal, 11: bytes([n])}, reset=False) for n in range(2)]
    return head(Own({0: air.tsft, 1: bytes([FCS]), 3: channel, 5: air.signal, 11: b"\0", 14: b"\0\0", **how}), *antennas)


@driver
def ath5k_padded(air):
    """Headers of QoS data frames are padded to a multiple of four bytes."""
    rate, channel = air.legacy()
    return head(Own({0: air.tsft, 1: bytes([FCS | PADDED]), 2: rate, 3: channel, 5: air.signal, 6: b"\xa0", 11: b"\1"}))


@driver
def iwlwifi(air):
    """VHT and its own clock."""
    rate, channel = air.legacy(high=True)
    vht = {21: struct.pack("<HBB4sBBH", 0x44, air.rng.choice((0, 4)), air.rng.choice((0, 4)),
                           bytes([air.rng.randrange(10) << 4 | air.rng.randrange(1, 3), 0, 0, 0]), 0, 0, 0)}
    return head(Own({0: air.tsft, 1: bytes([FCS]), 3: channel, 5: air.signal, 11: b"\0", 14: b"\0\0",
                     22: air.tsft + struct.pack("<HBB", 0, 0x10, 3), **(vht if air.is_data else {2: rate})}))


@driver
def mt76(air):
    """HE, and A-MPDUs."""
    rate, channel = air.legacy(high=True)
    he = {20: struct.pack("<IHBB", air.time_ns // 10**8 % 1000, 0, 0, 0),
          23: struct.pack("<6H", 0x4220, 2, air.rng.randrange(12) << 8, 0, air.rng.randrange(3), air.rng.randrange(1, 3))}
    return head(Own({0: air.tsft, 1: b"\0", 3: channel, 5: air.signal, 14: b"\0\0", **(he if air.is_data else {2: rate})}))


@driver
def rt2x00(air):
    """No clock."""
    rate, channel = air.legacy()
    return head(Own({1: b"\0", 2: rate, 3: channel, 5: air.signal, 11: b"\1", 14: b"\0\0"}))


@driver
def brcmfmac(air):
    """Fields of a vendor after its own, and an antenna after those."""
    _, channel = air.legacy()
    return head(Own({0: air.tsft, 1: b"\0", 3: channel, 5: air.signal}), Vendor(b"\1\2\3\4\5\6", 6, 0x15),
                Own({11: b"\2"}))


@driver
def bsd(air):
    """XChannel; and one frame in ten has a wrong FCS."""
    rate, _ = air.legacy(high=True)
    flags = FCS | BAD * (air.rng.random() < 0.1)
    return head(Own({0: air.tsft, 1: bytes([flags]), 2: rate, 12: b"\x30", 13: b"\x10",
                     18: struct.pack("<IHBB", 0x140, 5180, 36, 20)}))


@driver
def sent(air):
    """Frames sent by the card itself: no channel, no signal, no clock."""
    return head(Own({15: struct.pack("<H", 8 * (air.rng.random() < 0.3)), 17: bytes([air.rng.randrange(4)])}))


@driver
def phone(air):
    """Almost nothing, padded to a fixed length."""
    _, channel = air.legacy()
    return head(Own({1: b"\0", 3: channel}), rest=bytes(18))


def bare(frame):
    return frame._replace(data=frame.data[struct.unpack_from("<H", frame.data, 2)[0]:])


def with_fcs(data, good=True):
    return data + struct.pack("<I", zlib.crc32(data) ^ (0 if good else 0xdeadbeef))


def padded(data):
    """A QoS data frame as a card gives it: its header, and the rest at a multiple of four."""
    if data[0] != QOS_DATA or data[1] & 3 == 3:
        return data
    return data[:26] + bytes(2) + data[26:]


def as_driver(make, frames, rng):
    for f in frames:
        h = make(Air(rng, f))
        data = padded(f.data) if h.flags & PADDED else f.data
        data = with_fcs(data, not h.flags & BAD) if h.flags & FCS else data
        yield captures.Frame(f.time_ns, len(h.bytes) + len(data), 127, h.bytes + data)


# ---- other link types ------------------------------------------------------------------------------


def prism(air):
    """As wlan-ng's: a message with ten items, each with its number, presence, and length."""
    values = (air.time_ns // 10**6 & 0xffffffff, air.time_ns // 1000 & 0xffffffff, 6, 40, 0, air.signal[0], 0,
              air.rng.choice((2, 4, 11, 22)), 0, len(air.frame))
    items = b"".join(struct.pack("<IHHI", 0x44 | (n + 1) << 12, 0, 4, v) for n, v in enumerate(values))
    return struct.pack("<II16s", 0x44, 144, b"wlan0") + items


def avs(air):
    return struct.pack(">IIQQIIIIIIiiII", 0x80211001, 64, air.time_ns // 1000, air.time_ns // 10**6, 5, 6,
                       air.rng.choice((10, 20, 55, 110)), 0, 0, 1, -air.rng.randrange(30, 90), -95, 0, 1)


def ppi(air):
    """The common 802.11 field, and an FCS after the frame, as its flags say."""
    _, channel = air.legacy()
    field = air.tsft + struct.pack("<HH", 1, 0) + channel + bytes([0, 0]) + air.signal + b"\xa0"
    return struct.pack("<BBHIHH", 0, 0, 8 + 4 + len(field), 105, 2, len(field)) + field


def other(name, linktype, make, frames, rng, fcs=False, snaplen=65535):
    def one(f):
        data = make(Air(rng, f)) + (with_fcs(f.data) if fcs else f.data)
        return captures.Frame(f.time_ns, len(data), linktype, data[:snaplen])
    files.write(f"dot11-other/{name}", linktype, map(one, frames), snaplen=snaplen)


def make():
    rng = random.Random(127)
    files.forget("radiotap/as-*")
    files.forget("dot11-other/*")
    town = list(map(bare, captures.frames(files.HERE / "hwsim/hwsim-all-groundtruth.pcap.zst")))
    school = list(map(bare, captures.frames(files.HERE / "radiotap/school-air.pcap.zst")))
    for n, (name, driver_) in enumerate(DRIVERS.items()):
        files.write(f"radiotap/as-{name}", 127, as_driver(driver_, town[n * EACH:(n + 1) * EACH], rng))
    attack = list(map(bare, captures.frames(files.HERE / "radiotap/attack.pcap.zst")))
    nothing = lambda _: b""
    other("105-town", 105, nothing, town[3000:], rng, snaplen=128)
    other("105-school-fcs", 105, nothing, school[500:], rng, fcs=True)
    other("105-attack", 105, nothing, attack, rng)
    other("119-school", 119, prism, school[500:], rng)
    other("119-town", 119, prism, town[6000:8500], rng, snaplen=250)
    other("163-school", 163, avs, school[800:2300], rng)
    other("192-school", 192, ppi, school[2300:3800], rng, fcs=True)
