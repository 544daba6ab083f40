# SPDX-License-Identifier: GPL-2.0
"""A frame's airtime, from its radiotap header: read and computed independently of bpf/view_phy.h
and bpf/modules/airtime/airtime.h, by the tables and equations of IEEE 802.11-2020 (802.11ax-2021
for HE)."""
import collections
import fractions
import math
import struct

from reference import radiotaps

F = fractions.Fraction
UNKNOWN, DSSS, OFDM, HT, VHT, HE = range(6)
SIZE = {0: 8, 1: 1, 2: 1, 3: 4, 4: 2, 5: 1, 6: 1, 7: 2, 8: 2, 9: 2, 10: 1, 11: 1, 12: 1, 13: 1, 14: 2, 15: 2,
        16: 1, 17: 1, 18: 8, 19: 3, 20: 8, 21: 12, 22: 12, 23: 12}

# rate in bit/s, a fraction, or 0; preamble in us, or 0; a symbol's us (two symbols with STBC), its
# data bits, and the bits besides the frame; round_to: the data's time in us is a multiple of this
Sent = collections.namedtuple("Sent", "phy mcs streams rate preamble symbol bits tail round_to ampdu mhz flags")
NOT_KNOWN = Sent(UNKNOWN, 0, 0, F(0), F(0), F(0), 0, 0, F(0), None, 0, 0)

# Coded bits per carrier, and coding rate, by MCS.
MCS = [(1, F(1, 2)), (2, F(1, 2)), (2, F(3, 4)), (4, F(1, 2)), (4, F(3, 4)), (6, F(2, 3)), (6, F(3, 4)),
       (6, F(5, 6)), (8, F(3, 4)), (8, F(5, 6)), (10, F(3, 4)), (10, F(5, 6))]
OFDM_BITS = {6: 24, 9: 36, 12: 48, 18: 72, 24: 96, 36: 144, 48: 192, 54: 216}  # table 17-4


# length of the header; found: {bit: bytes} of the first present word; reached: the first field that
# is incomplete
Fields = collections.namedtuple("Fields", "length found reached")


def fields(data):
    """Of a radiotap header, or None if there is none."""
    if len(data) < 8 or data[0]:
        return None
    length, word = struct.unpack_from("<HI", data, 2)
    if length < 8 or length > len(data):
        return None
    at, more, words = 8, word, 1
    while more & 1 << 31:
        if at + 4 > length or words == 128:
            return Fields(length, {}, 0)
        more, = struct.unpack_from("<I", data, at)
        at, words = at + 4, words + 1
    found = {}
    for bit in range(24):
        if not word & 1 << bit:
            continue
        at += -at % radiotaps.ALIGNED.get(bit, 1)
        if at + SIZE[bit] > length:
            return Fields(length, found, bit)
        found[bit] = data[at:at + SIZE[bit]]
        at += SIZE[bit]
    return Fields(length, found, 24)


def _bits(carriers, mcs, streams):
    coded, rate = MCS[mcs]
    return math.floor(carriers * coded * streams * rate)


def _symbols(sent, carriers_bits, base, stbc, tail):
    return sent._replace(rate=F(carriers_bits * 10**6) / base, symbol=base * (1 + bool(stbc)),
                         bits=carriers_bits * (1 + bool(stbc)), tail=16 + tail)


def _legacy(sent, rate, channel_flags):
    wide = 4 if channel_flags & 0x8000 else 2 if channel_flags & 0x4000 else 1
    sent = sent._replace(rate=F(rate * 500000))
    if rate * wide in (2, 4, 11, 22):
        short = sent.flags & 2 and rate != 2
        return sent._replace(phy=DSSS, preamble=F(96 if short else 192))
    bits = OFDM_BITS.get(F(rate * wide, 2))
    if not bits:
        return sent
    return sent._replace(phy=OFDM, preamble=F(20 * wide), symbol=F(4 * wide), bits=bits, tail=22)


def _begin(sent, phy, mcs, streams):
    return NOT_KNOWN._replace(phy=phy, mcs=mcs, streams=streams, ampdu=sent.ampdu, mhz=sent.mhz, flags=sent.flags)


def _training(streams):
    return {1: 1, 2: 2, 3: 4, 4: 4, 5: 6, 6: 6, 7: 8, 8: 8}[streams]


def _ht(sent, field):
    known, flags, mcs = field
    sent = _begin(sent, HT, mcs, 0)
    if not known & 2 or mcs > 32:
        return sent
    streams = 1 if mcs == 32 else mcs // 8 + 1
    carriers = 108 if known & 1 and flags & 3 == 1 else 52
    bits = 24 if mcs == 32 else _bits(carriers, mcs % 8, streams)
    stbc = flags >> 5 & 3 if known & 0x20 else 0
    ldpc = known & 0x10 and flags & 0x10
    base = F(36, 10) if known & 4 and flags & 4 else F(4)
    tail = 0 if ldpc else 6 * (2 if bits > 1200 else 1)  # 19.3.11: above 300 Mb/s
    extra = 2 * (known >> 7) + (flags >> 7) if known & 0x40 else 0
    green = known & 8 and flags & 8
    # 19.4.3: L-STF, L-LTF, L-SIG, HT-SIG, HT-STF; or HT-GF-STF, HT-LTF1 of twice the length, HT-SIG
    preamble = (8 + 8 + 8 - 4 if green else 8 + 8 + 4 + 8 + 4) + 4 * (_training(streams + stbc) + (0, 1, 2, 4)[extra])
    return _symbols(sent._replace(streams=streams, preamble=F(preamble), round_to=F(4)), bits, base, stbc, tail)


def _vht(sent, field):
    known, flags, bandwidth, users, coding = struct.unpack_from("<HBB4sB", field)
    mcs, streams = users[0] >> 4, users[0] & 15
    sent = _begin(sent, VHT, mcs, streams)
    if mcs > 9 or not 1 <= streams <= 8:
        return sent
    bandwidth = bandwidth & 31 if known & 0x40 else 0
    carriers = 52 if bandwidth == 0 else 108 if bandwidth < 4 else 234 if bandwidth < 11 else 468
    bits = _bits(carriers, mcs, streams)
    stbc = known & 1 and flags & 1
    base = F(36, 10) if known & 4 and flags & 4 else F(4)
    tail = 0 if coding & 1 else 6 * math.ceil(F(bits, 2160))
    preamble = 8 + 8 + 4 + 8 + 4 + 4 * _training(streams * (2 if stbc else 1)) + 4 if streams * (
        2 if stbc else 1) <= 8 else 36 + 4 * streams * 2
    return _symbols(sent._replace(preamble=F(preamble), round_to=F(4)), bits, base, stbc, tail)


def _he(sent, field):
    d1, d2, d3, _, d5, d6 = struct.unpack("<6H", field)
    mcs, nsts = d3 >> 8 & 15, d6 & 15
    stbc = d1 & 0x200 and d3 & 0x8000
    streams = nsts // 2 if stbc else nsts
    carriers = {0: 234, 7: 234, 1: 468, 8: 468, 2: 980, 9: 980, 3: 1960, 10: 1960, 4: 24, 5: 48, 6: 102}.get(d5 & 15)
    sent = _begin(sent, HE, mcs, streams)
    gi = (F(8, 10), F(16, 10), F(32, 10), None)[d5 >> 4 & 3]
    if not (d1 & 0x20 and d1 & 0x4000 and d2 & 2) or gi is None or not carriers or mcs > 11 or not (
            streams and nsts <= 8):
        return sent
    bits = _bits(carriers, mcs, streams)
    bits = bits // 2 if d1 & 0x40 and d3 & 0x1000 else bits
    sent = _symbols(sent, bits, F(128, 10) + gi, stbc, 0 if d3 & 0x2000 else 6)
    size = (None, F(32, 10), F(64, 10), F(128, 10))[d5 >> 6 & 3]
    if d1 & 3 > 1 or size is None:
        return sent  # several users, or not specified
    count = (1, 2, 4, 6, 8, 10, 12, 14)[d5 >> 8 & 7] if d2 & 4 else _training(nsts)
    # 27.4.3: L-STF, L-LTF, L-SIG, RL-SIG, HE-SIG-A (repeated to reach far), HE-STF
    return sent._replace(preamble=8 + 8 + 4 + 4 + (16 if d1 & 3 else 8) + 4 + count * (size + gi))


def sent(data):
    """How the frame after this radiotap header was sent."""
    got = fields(data)
    if not got:
        return NOT_KNOWN
    f = got.found
    mhz, channel_flags = struct.unpack("<HH", f.get(3, bytes(4)))
    s = NOT_KNOWN._replace(mhz=mhz, flags=f.get(1, b"\0")[0],
                           ampdu=struct.unpack_from("<I", f[20])[0] if 20 in f else None)
    if got.reached <= 2:
        return s
    if got.reached <= 3:
        return s._replace(rate=F(f.get(2, b"\0")[0] * 500000))
    s = _legacy(s, f.get(2, b"\0")[0], channel_flags)
    extended = False
    for bit, how in ((19, _ht), (21, _vht), (23, _he)):
        if bit in f:
            s, extended = how(s, f[bit]), True
    if (s.phy == OFDM or extended) and s.preamble and 2400 < s.mhz < 2500:
        s = s._replace(preamble=s.preamble + 6)  # 18.5.3, 19.4.3: signal extension
    return s


def mpdu_len(data):
    """Bytes on the air: with the FCS, without padding after the header."""
    length, f, _ = fields(data)
    flags = f.get(1, b"\0")[0]
    size = len(data) - length + (0 if flags & 0x10 else 4)
    fc = data[length:length + 2]
    header = 24 + 6 * (fc[1] & 3 == 3) + bool(fc[0] & 0x80) * (2 + 4 * (fc[1] >> 7))
    if flags & 0x20 and fc[0] & 0x0c == 8 and len(data) >= length + header:
        size -= -header % 4
    return size


def data_us(s, bits):
    """Time for `bits` of frames after the preamble."""
    if s.phy == DSSS:
        return F(math.ceil(F(bits * 10**6) / s.rate))
    us = math.ceil(F(bits + s.tail, s.bits)) * s.symbol
    return math.ceil(us / s.round_to) * s.round_to if s.round_to else us


class Air:
    """Consecutive frames. Those of an A-MPDU are one transmission."""

    def __init__(self):
        self.last, self.bits, self.taken = None, 0, F(0)

    def us(self, data):
        """Adds a frame; returns its us, or None if not known."""
        s = sent(data)
        if not s.rate or not s.preamble:
            return None
        size = mpdu_len(data)
        if s.ampdu is None:
            return s.preamble + data_us(s, 8 * (size + (4 if s.phy in (VHT, HE) else 0)))
        at = fields(data).length
        key = (data[at + 10:at + 16], s.ampdu)
        bits = 8 * (math.ceil(F(size, 4)) * 4 + 4)
        if key == self.last and self.taken <= data_us(s, self.bits + bits) < 6000:
            self.bits += bits
            now = data_us(s, self.bits)
            more, self.taken = now - self.taken, now
            return more
        self.last, self.bits, self.taken = key, bits, data_us(s, bits)
        return s.preamble + self.taken
