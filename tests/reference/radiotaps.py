# SPDX-License-Identifier: GPL-2.0
"""Radiotap headers of every kind, built field by field by the rules of radiotap.org: those of
drivers, and malformed ones. Each records its content, and nothing here reads a header: all readers
are compared with these (bpf/parse_dot11.h, wire/fields.c, reference/trim.py, wire/saluki_combo.py,
tshark)."""
import collections
import random
import struct

from reference.shapes import CCMP, IP, PAYLOAD, dot11

# Alignment of each field, by its bit.
ALIGNED = {0: 8, 3: 2, 7: 2, 8: 2, 9: 2, 14: 2, 15: 2, 18: 4, 20: 4, 21: 2, 22: 8, 23: 2, 24: 2, 25: 2, 27: 2}
TLV, RESET, VENDOR, MORE = (1 << n for n in (28, 29, 30, 31))
PADDED, BAD_FCS = 0x20, 0x40

# length, and flags (0 without): from the header. lies: None, "length", or "fields". fields: (bit,
# place), as far as a reader without knowledge of vendors can follow.
Head = collections.namedtuple("Head", "bytes length flags lies fields")


class Own(dict):
    """Radiotap's own fields, once: {bit: bytes}. bits: further bits of the present word; reset: as
    drivers do, the next word describes the same fields again."""

    def __init__(self, fields, bits=0, reset=True):
        super().__init__(fields)
        self.bits, self.reset = bits, reset


class Vendor(collections.namedtuple("Vendor", "data skip word")):
    """A vendor's: its bytes, its stated length, its present word."""


def vendor(data=b"\xde\xad\xbe\xef\x05", skip=None, word=0x15):
    return Vendor(data, len(data) if skip is None else skip, word)


def present_words(spaces, tlvs):
    words = []
    for i, space in enumerate(spaces):
        word = space.word if isinstance(space, Vendor) else sum(1 << b for b in space) | space.bits
        if i + 1 < len(spaces):
            resets = RESET if getattr(space, "reset", True) else 0
            word |= MORE | (VENDOR if isinstance(spaces[i + 1], Vendor) else resets)
        words.append(word)
    words[-1] |= TLV if tlvs else 0
    return words


def head(*spaces, tlvs=(), rest=b"", length=None, version=0, lies=None):
    """A header: namespaces, then type-length-values, then junk. `length`: its stated length."""
    words = present_words(spaces, tlvs)
    out = bytearray(4) + b"".join(struct.pack("<I", w) for w in words)
    fields, known, flags = [], True, 0
    for i, space in enumerate(spaces):
        if isinstance(space, Vendor):
            known = False
            out += b"\0" * (len(out) % 2) + b"\0\x11\x22\x07" + struct.pack("<H", space.skip) + space.data
            continue
        for bit in sorted(space):
            out += b"\0" * (-len(out) % ALIGNED.get(bit, 1))
            if known:
                fields.append((bit, len(out)))
            if bit == 1 and i == 0:
                flags = space[bit][0]
            out += space[bit]
    for kind, data in tlvs:
        out += b"\0" * (-len(out) % 4) + struct.pack("<HH", kind, len(data)) + data
    out += b"\0" * (-len(out) % 4 if tlvs else 0) + rest
    size = len(out) if length is None else length
    out[:4] = struct.pack("<BBH", version, 0, size)
    return Head(bytes(out), size, 0 if lies else flags, lies, fields)


TSFT, CHANNEL, RATE = struct.pack("<Q", 0x1122334455667788), struct.pack("<HH", 2412, 0xa0), b"\x0c"
SENT = {15: b"\x08\0", 17: b"\x03"}
ANTENNA = {5: b"\xc4", 11: b"\1"}


def heard(flags=0x10, **more):
    """The fields that a driver gives for any frame, and more."""
    return Own({0: TSFT, 1: bytes([flags]), 2: RATE, 3: CHANNEL, 5: b"\xc5", 11: b"\0", 14: b"\0\0",
                **{int(bit[1:]): data for bit, data in more.items()}})


MCS, AMPDU = b"\x07\x04\x07", struct.pack("<IHBB", 0x12345678, 4, 0, 0)
VHT = struct.pack("<HBB4sBBH", 0x4, 1, 4, b"\x92\0\0\0", 1, 63, 0x123)
STAMP = struct.pack("<QHBB", 0x0102030405060708, 10, 1, 3)
HE = struct.pack("<6H", 0xffff, 1, 2, 3, 4, 5)
HE_MU, HE_OTHER = struct.pack("<HH4s4s", 0xff, 7, b"\1\2\3\4", b"\5\6\7\x08"), struct.pack("<HHBB", 1, 2, 3, 4)
L_SIG = struct.pack("<HH", 3, 0x1234)
S1G = (32, struct.pack("<3H", 0x3f, 0x1c0, 0x7f))
U_SIG = (33, struct.pack("<3I", 0x7f, 0x1234, 0xffff))
EHT = (34, struct.pack("<I9I2I", 0xfff, *range(9), 0x11, 0x22))
VENDOR_TLV = (30, b"\0\x11\x22\x07\1\0\0\0" + b"\x55" * 9)

HONEST = {
    "no fields": head(Own({})),
    "sent": head(Own(SENT)),
    "sent, with a rate": head(Own({2: RATE, **SENT})),
    "sent, HT": head(Own({**SENT, 19: MCS})),
    "sent, VHT": head(Own({**SENT, 21: VHT})),
    "heard": head(heard()),
    "without a clock": head(Own({1: b"\0", 3: CHANNEL, 5: b"\xc1"})),
    "with noise, quality and power": head(Own({
        **heard(), 6: b"\xa0", 7: b"\x40\0", 8: b"\1\0", 9: b"\2\0", 10: b"\3", 12: b"\x30", 13: b"\x10"})),
    "XChannel": head(Own({1: b"\0", 18: struct.pack("<IHBB", 0x140, 5180, 36, 20)})),
    "HT": head(heard(_19=MCS)),
    "HT, A-MPDU": head(heard(_19=MCS, _20=AMPDU)),
    "VHT": head(heard(_21=VHT)),
    "VHT, A-MPDU, time stamp": head(heard(_20=AMPDU, _21=VHT, _22=STAMP)),
    "HE": head(heard(_20=AMPDU, _23=HE)),
    "HE-MU": head(heard(_23=HE, _24=HE_MU)),
    "HE-MU, other users": head(heard(_23=HE, _24=HE_MU, _25=HE_OTHER)),
    "L-SIG": head(heard(_23=HE, _27=L_SIG)),
    "0-length PSDU": head(heard(_23=HE, _26=b"\0", _27=L_SIG)),
    "EHT": head(heard(), tlvs=(U_SIG, EHT)),
    "EHT, two antennas": head(heard(), Own(ANTENNA), Own(ANTENNA), tlvs=(U_SIG, EHT)),
    "S1G": head(heard(), tlvs=(S1G,)),
    "a vendor's TLV": head(heard(), tlvs=(VENDOR_TLV,)),
    "TLV of no length": head(heard(), tlvs=((99, b""),)),
    "two antennas": head(heard(), Own(ANTENNA), Own(ANTENNA)),
    "four antennas": head(heard(), *[Own(ANTENNA)] * 4),
    "eight antennas": head(heard(), *[Own(ANTENNA)] * 8),
    "a vendor behind": head(heard(), vendor()),
    "a vendor in the middle": head(heard(), vendor(), Own(ANTENNA)),
    "a vendor of nothing": head(heard(), vendor(b""), Own(ANTENNA)),
    "two vendors": head(heard(), vendor(), vendor(b"\x77" * 20), Own(ANTENNA)),
    "a vendor of two words": head(heard(), vendor(b"", word=MORE | 7), vendor(b"\x33" * 6)),
    "reset, and nothing": head(heard(), Own({})),
    "twice all": head(heard(), heard()),
    "127 words": head(heard(), *[Own({})] * 126),
    "128 words": head(heard(), *[Own({})] * 127),
    "longer than its fields": head(heard(), rest=b"\x99" * 40),
    "300 bytes": head(heard(), rest=b"\x99" * 268),
    **{f"flags {n:#x}": head(heard(n)) for n in (0, 0x02, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0xff)},
    "padded, two antennas": head(heard(PADDED), Own(ANTENNA), Own(ANTENNA)),
    "padded, no clock, a vendor in the middle": head(Own({1: b"\x20"}), vendor(), Own(ANTENNA)),
    "bad FCS, no clock": head(Own({1: b"\x50", 3: CHANNEL})),
    "bad FCS, EHT": head(heard(0x50), Own(ANTENNA), tlvs=(U_SIG, EHT)),
    "bad FCS, four antennas": head(heard(BAD_FCS), *[Own(ANTENNA)] * 4),
}
# A reader that jumps by the length is not misled; their content is another matter.
CROOKED = {
    "a vendor that skips beyond": head(heard(), vendor(skip=200), Own(ANTENNA)),
    "a vendor that skips 65535": head(heard(), vendor(skip=65535), Own(ANTENNA)),
    "a vendor that skips too little": head(heard(), vendor(b"\x77" * 30, skip=3), Own(ANTENNA)),
    "a vendor without its header": head(heard(), Own({}, VENDOR | MORE), Own(ANTENNA), Own(ANTENNA)),
    "own and a vendor's at once": head(Own(heard(), VENDOR), Own(ANTENNA)),
    "more than 31 bits, no reset": head(Own(heard(), reset=False), Own(ANTENNA)),
    "a TLV beyond": head(heard(), tlvs=((34, b"\1" * 8),), rest=struct.pack("<HH", 33, 500)),
    "fields beyond": head(heard(_23=HE), length=30),
    "antennas beyond": head(heard(), Own(ANTENNA), Own(ANTENNA), length=35),
}
LYING = {
    "129 words": head(heard(BAD_FCS), *[Own({})] * 128, lies="fields"),
    "words without end": head(Own(heard(BAD_FCS), MORE), Own({}, MORE), length=16, lies="fields"),
    "words into the frame": head(Own({}, MORE), length=8, lies="fields"),
    "flags behind the end": head(heard(BAD_FCS), length=16, lies="fields"),
    "flags promised, nothing there": head(Own({1: b"\x40"}), length=8, lies="fields"),
    "length 0": head(heard(BAD_FCS), length=0, lies="length"),
    "length 7": head(heard(BAD_FCS), length=7, lies="length"),
    "length beyond the frame": head(heard(BAD_FCS), length=9000, lies="length"),
    "version 1": head(heard(BAD_FCS), version=1, lies="length"),
}
HEADS = {**HONEST, **CROOKED, **LYING}

ALL = None
# bytes, and the end of their headers, by hand; padded: only after a header with that flag.
Dot11 = collections.namedtuple("Dot11", "bytes end")
FRAMES = {
    "beacon": Dot11(dot11(8, 0, body=PAYLOAD, kind=0), ALL),
    "ack": Dot11(dot11(13, 0, kind=1)[:10], ALL),
    "block ack": Dot11(dot11(9, 0, kind=1, body=PAYLOAD[:12])[:32], ALL),
    "data": Dot11(dot11(0, 2, body=IP), 24 + 8 + 20 + 20),
    "qos null": Dot11(dot11(12, 1, qos=0, body=PAYLOAD[:4]), 26),
    "four addresses, protected": Dot11(dot11(8, 0x43, qos=5, body=CCMP + PAYLOAD), 32 + 8),
}
UNPADDED = {
    "qos protected": Dot11(dot11(8, 0x42, qos=5, body=CCMP + PAYLOAD), 26 + 8),
    "qos data": Dot11(dot11(8, 2, qos=5, body=IP), 26 + 8 + 20 + 20),
}
PADDED_TO_4 = {
    "qos protected, padded": Dot11(dot11(8, 0x42, qos=5, body=CCMP + PAYLOAD, pad=2), 28 + 8),
    "qos data, padded": Dot11(dot11(8, 2, qos=5, body=IP, pad=2), 28 + 8 + 20 + 20),
}

# kept, malformed: for `bytes` with --keep headers and no snaplen. bad_fcs: from the header.
Made = collections.namedtuple("Made", "name bytes head kept malformed bad_fcs")


def make(name, h, frame):
    data = h.bytes + frame.bytes
    if h.lies == "length":
        kept, malformed = 8, True
    elif frame.end is ALL:
        kept, malformed = len(data), False
    elif h.lies:
        kept, malformed = 8, True
    else:
        kept, malformed = len(data) - len(frame.bytes) + frame.end, False
    return Made(name, data, h, kept, malformed, not h.lies and bool(h.flags & BAD_FCS))


def every():
    """Each header before each frame that fits it, and alone."""
    for kind, h in HEADS.items():
        if h.length < len(h.bytes) and h.lies != "length":
            h = h._replace(bytes=h.bytes[:h.length])  # it ends at its stated length, within its fields
        yield Made(f"{kind}: nothing", h.bytes, h, 8 if h.lies == "length" else len(h.bytes),
                   h.lies == "length", not h.lies and bool(h.flags & BAD_FCS))
        frames = {**FRAMES, **(PADDED_TO_4 if h.flags & PADDED else UNPADDED)}
        for name, frame in frames.items():
            yield make(f"{kind}: {name}", h, frame)


def mutated(seed, count):
    """Frames with those headers, changed in some bytes: mostly in lengths and present words."""
    rng = random.Random(seed)
    whole = list(every())
    for _ in range(count):
        made = rng.choice(whole)
        data = bytearray(made.bytes)
        for _ in range(rng.randint(1, 4)):
            most = min(len(data), rng.choice((4, 12, 64, 400))) - 1
            at = rng.randint(0, most)
            data[at] = rng.choice((0, 1, 0x10, 0x7f, 0x80, 0xff, data[at] ^ 1 << rng.randrange(8),
                                   rng.randrange(256)))
        yield bytes(data[:rng.randint(1, len(data))] if rng.random() < 0.2 else data)
