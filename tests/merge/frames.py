# SPDX-License-Identifier: GPL-2.0
"""The first 64 bytes of each transmission's MAC frame, with and without the FCS. In: the table of
transmissions. Frames of one shape are written together, column by column."""
import numpy as np

from merge.kinds import ACK, BEACON, BLOCK_ACK, CTS, DATA, MGMT, NULL, RETRY, RTS
from merge.traffic import GROUP

KEPT = 64
FCS_LEN = 4
FROM_AP, TO_AP, RETRIED, POWER, PROTECTED = 2, 1, 0x08, 0x10, 0x40
ACK_US = 44
RATES_ELEMENT = bytes.fromhex("01088c129824b048606c")
HT_ELEMENT = bytes.fromhex("2d1aef1117ffff0000000000000000000000000000000000000000000000")[:28]
LLC_LEN, IP_LEN = 8, 20
UDP_FLOOD = bytes.fromhex("aaaa030000000800" "4500000000004000401100000a0000010a000002" "9c409c4100000000")
CRC = np.zeros(256, np.uint32)


def _crc_table():
    value = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        value = np.where(value & 1, value >> 1 ^ np.uint32(0xedb88320), value >> 1).astype(np.uint32)
    return value


CRC[:] = _crc_table()


def addresses(numbers, aps):
    """Six bytes each: locally administered; all ones for a group."""
    out = np.zeros((len(numbers), 6), np.uint8)
    out[:, 0] = 2
    out[:, 1] = np.where(numbers < aps, 0xa0, 0x50)
    out[:, 4], out[:, 5] = numbers >> 8 & 255, numbers & 255
    out[numbers == GROUP] = 0xff
    return out


def little(values, size):
    """The low `size` bytes of each value."""
    return np.ascontiguousarray(values.astype("<u8")).view(np.uint8).reshape(-1, 8)[:, :size]


def mixed(*values):
    """64 bits that look random, by the values (splitmix64)."""
    z = np.zeros(len(values[0]), np.uint64)
    for v in values:
        z = z + v.astype(np.uint64) * np.uint64(0x9e3779b97f4a7c15) + np.uint64(0x9e3779b97f4a7c15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
        z = z ^ z >> np.uint64(31)
    return z


def crc32(rows, length):
    """The CRC of the first `length` bytes of each row."""
    value = np.full(len(rows), 0xffffffff, np.uint32)
    for column in range(length):
        value = CRC[(value ^ rows[:, column]) & 255] ^ value >> np.uint32(8)
    return ~value


class Writer:
    """Writes frames of one kind after another into `bytes`."""

    def __init__(self, sent, aps, open_aps):
        self.sent, self.aps = sent, aps
        self.bytes = np.zeros((len(sent["kind"]), KEPT), np.uint8)
        self.is_open = np.isin(np.minimum(sent["sender"], sent["receiver"]), open_aps)
        group = sent["receiver"] == GROUP
        self.is_open |= group & np.isin(sent["sender"], open_aps)

    def rows(self, kind):
        return np.flatnonzero(self.sent["kind"] == kind)

    def column(self, name, rows):
        return self.sent[name][rows]

    def address(self, name, rows):
        return addresses(self.sent[name][rows], self.aps)

    def head(self, rows, control, flags=0, duration=0):
        self.bytes[rows, 0], self.bytes[rows, 1] = control, flags
        self.bytes[rows, 2:4] = little(np.broadcast_to(np.asarray(duration), len(rows)), 2)

    def number(self, rows):
        self.bytes[rows, 22:24] = little(self.column("sequence", rows) << 4, 2)

    def put(self, rows, at, data):
        self.bytes[rows, at:at + len(data)] = np.frombuffer(data, np.uint8)

    def beacons(self):
        rows = self.rows(BEACON)
        sender = self.address("sender", rows)
        self.head(rows, 0x80)
        self.bytes[rows, 4:10], self.bytes[rows, 10:16], self.bytes[rows, 16:22] = 0xff, sender, sender
        self.number(rows)
        self.bytes[rows, 24:32] = little(self.column("extra", rows), 8)
        self.put(rows, 32, b"\x64\x00\x11\x04" b"\x00\x08cell")
        name = self.column("sender", rows)
        for n in range(4):
            self.bytes[rows, 42 + n] = ord("0") + name // 10 ** (3 - n) % 10
        self.put(rows, 46, RATES_ELEMENT + b"\x03\x01")
        self.bytes[rows, 58] = self.column("channel", rows)
        self.put(rows, 59, b"\x05\x04\x00\x01\x00")

    def probes(self):
        rows = self.rows(MGMT)
        self.head(rows, 0x40)
        self.bytes[rows, 4:10], self.bytes[rows, 16:22] = 0xff, 0xff
        self.bytes[rows, 10:16] = self.address("sender", rows)
        self.number(rows)
        self.put(rows, 24, b"\x00\x00" + RATES_ELEMENT + HT_ELEMENT)

    def nulls(self):
        rows = self.rows(NULL)
        ap = self.address("receiver", rows)
        self.head(rows, 0xc8, TO_AP | self.column("extra", rows) * POWER, ACK_US)
        self.bytes[rows, 4:10], self.bytes[rows, 10:16] = ap, self.address("sender", rows)
        self.bytes[rows, 16:22] = ap

    def controls(self):
        for kind, control in ((ACK, 0xd4), (CTS, 0xc4), (RTS, 0xb4), (BLOCK_ACK, 0x94)):
            rows = self.rows(kind)
            timed = kind in (CTS, RTS)
            self.head(rows, control, 0, self.column("extra", rows) if timed else 0)
            self.bytes[rows, 4:10] = self.address("receiver", rows)
            if kind in (RTS, BLOCK_ACK):
                self.bytes[rows, 10:16] = self.address("sender", rows)
            if kind == BLOCK_ACK:
                self.put(rows, 16, b"\x05\x00")
                self.bytes[rows, 18:20] = little(self.column("extra", rows) << 4, 2)
                self.put(rows, 20, b"\xff" * 8)

    def data(self, rows, group):
        sender, receiver = self.column("sender", rows), self.column("receiver", rows)
        down, is_open = sender < self.aps, self.is_open[rows]
        retried = np.where(self.column("kind", rows) == RETRY, RETRIED, 0)
        flags = np.where(down, FROM_AP, TO_AP) | retried | np.where(is_open, 0, PROTECTED)
        self.head(rows, 0x08 if group else 0x88, flags, 0 if group else ACK_US)
        self.bytes[rows, 4:10], self.bytes[rows, 10:16] = (self.address(n, rows) for n in ("receiver", "sender"))
        self.bytes[rows, 16:22] = addresses(sender if group else np.minimum(sender, receiver), self.aps)
        self.number(rows)
        header = 24 if group else 26
        self.ciphered(rows[~is_open], header, 0x60 if group else 0x20)
        self.flood(rows[is_open], header)

    def ciphered(self, rows, at, key):
        """The CCMP header, and bytes that look random but are the same in all attempts."""
        sender, pn = self.column("sender", rows), self.column("pn", rows)
        self.bytes[rows, at:at + 2] = little(pn, 2)
        self.bytes[rows, at + 3] = key
        self.bytes[rows, at + 4:at + 8] = little(pn >> 16, 4)
        for begin in range(at + 8, KEPT, 8):
            size = min(8, KEPT - begin)
            self.bytes[rows, begin:begin + size] = little(mixed(sender, pn, np.full(len(rows), begin)), size)

    def flood(self, rows, at):
        """UDP whose headers are all alike, as those of a flood."""
        self.put(rows, at, UDP_FLOOD[:KEPT - at])
        size = self.column("length", rows) - FCS_LEN - at - LLC_LEN
        for place, value in ((at + LLC_LEN + 2, size), (at + LLC_LEN + IP_LEN + 4, size - IP_LEN)):
            self.bytes[rows, place], self.bytes[rows, place + 1] = value >> 8, value & 255

    def write(self):
        self.beacons()
        self.probes()
        self.nulls()
        self.controls()
        is_data = np.isin(self.sent["kind"], (DATA, RETRY))
        group = self.sent["receiver"] == GROUP
        self.data(np.flatnonzero(is_data & group), True)
        self.data(np.flatnonzero(is_data & ~group), False)
        beyond = np.arange(KEPT) >= (self.sent["length"] - FCS_LEN)[:, None]
        self.bytes[beyond] = 0
        return self.bytes


def with_fcs(plain, lengths):
    """A copy of the rows, with the FCS of those that end within them. `lengths` are without the FCS."""
    out = plain.copy()
    for length in np.unique(lengths[lengths < KEPT]):
        rows = np.flatnonzero(lengths == length)
        size = min(FCS_LEN, KEPT - length)
        out[rows, length:length + size] = little(crc32(plain[rows], length), size)
    return out


def mac_frames(sent, aps, open_aps):
    """Returns two matrices of 64 bytes a transmission: without the FCS, and with it."""
    plain = Writer(sent, aps, open_aps).write()
    return plain, with_fcs(plain, sent["length"] - FCS_LEN)


def header_ends(plain):
    """How many bytes of each MAC frame --keep headers keeps. Protected data are kept through the CCMP header."""
    control, flags = plain[:, 0], plain[:, 1]
    is_data = control >> 2 & 3 == 2
    header = 24 + np.where(control & 0x80, 2, 0)
    behind = np.where(control & 0x40, 0, np.where(flags & 0x40, 8, KEPT))
    return np.where(is_data, np.minimum(header + behind, KEPT), KEPT)
