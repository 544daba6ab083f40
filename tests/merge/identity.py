# SPDX-License-Identifier: GPL-2.0
"""A frame's identity: which bytes tell receptions of one transmission from those of another. A second implementation
of the merge's, written from the design's table.

    beacon, probe response           MAC header, TSF, interval, capabilities: 36 bytes
    protected data                   MAC header, the 8 bytes of the CCMP or GCMP header
    unprotected data                 MAC header, LLC and SNAP, the first 20 bytes of an IP header
    management                       MAC header, and up to 40 bytes behind it
    block acknowledgement, request   whole
    any retry                        the same bytes as above
    null data                        MAC header
    ACK, CTS                         10 bytes
    other control, extension         whole, up to 16 bytes

The length on the air belongs to the identity, without radiotap, FCS and a driver's padding. Nothing behind byte 64
of the MAC frame is read, where padding does not count. Only what sensors with --keep headers keep is hashed (of WEP
4 bytes), so that a cut frame and a whole one have the same identity. A frame that
is shorter on the air than its row wants is hashed whole."""
import collections
import struct

from merge import kinds

READ_MOST, BEHIND_MOST, SHORT_MOST, LEAST = 64, 40, 16, 10
BEACON_MOST, CCMP, WEP, SNAP, IP = 36, 8, 4, 8, 20
IP_TYPES = (0x0800, 0x86dd)
MANAGEMENT, CONTROL, DATA, EXTENSION = range(4)
BEACONS, BLOCK_ACKS = (5, 8), (8, 9)
CONTROLS = {11: (kinds.RTS, SHORT_MOST), 12: (kinds.CTS, LEAST), 13: (kinds.ACK, LEAST)}
NO_DATA, QOS = 4, 8  # bits of data's subtypes
RETRY, PROTECTED, ORDER = 0x08, 0x40, 0x80
FCS_FLAG, PADDED_FLAG, BAD_FCS_FLAG = 0x10, 0x20, 0x40
WINDOW_NS = 10_000_000
PN_LEAST = 256  # below, packet numbers repeat after rekeying
TRACKING = (kinds.BEACON, kinds.MGMT, kinds.DATA)
NARROW = (kinds.RETRY, kinds.ACK, kinds.CTS, kinds.RTS, kinds.NULL)

# Radiotap's first fields: bit, name, form, alignment.
RADIOTAP = ((0, "tsft", "<Q", 8), (1, "flags", "B", 1), (2, "rate", "B", 1), (3, "mhz", "<HH", 2),
            (4, "fhss", "BB", 1), (5, "signal", "b", 1))


class Malformed(Exception):
    """A frame without an identity: malformed, or cut so short that it is not known."""


class Identity(collections.namedtuple("Identity", "kind hashed length pn")):
    """The key is `hashed` and `length`. `kind`: of kinds.py. `pn`: packet number of a protected first attempt."""

    @property
    def tracks(self):
        """Whether it is unique long enough to correct clocks."""
        return self.kind in TRACKING

    @property
    def finds(self):
        """Whether it is unique long enough to find a clock."""
        return self.kind == kinds.BEACON or (self.pn or 0) >= PN_LEAST

    def window_ns(self, narrow_ns):
        """Receptions with this key in this window are of one transmission. `narrow_ns`: W, by the clocks."""
        return narrow_ns if self.kind in NARROW else WINDOW_NS


def radiotap(frame):
    """(length of the header, its first fields by name)."""
    if len(frame) < 8 or frame[0]:
        raise Malformed("radiotap")
    size, at, words = struct.unpack_from("<H", frame, 2)[0], 4, []
    if not 8 <= size <= len(frame):
        raise Malformed("radiotap's length")
    while not words or words[-1] >> 31:
        if at + 4 > size:
            raise Malformed("radiotap's present words")
        words += struct.unpack_from("<I", frame, at)
        at += 4
    fields = {}
    for bit, name, form, align in RADIOTAP:
        if words[0] >> bit & 1:
            at = (at + align - 1) // align * align
            if at + struct.calcsize(form) > size:
                raise Malformed("radiotap's fields")
            fields[name] = struct.unpack_from(form, frame, at)[0]
            at += struct.calcsize(form)
    return size, fields


def header_len(mac):
    """Of management and data frames."""
    kind, qos = mac[0] >> 2 & 3, mac[0] >> 4 & QOS
    if kind == MANAGEMENT:
        return 24 + (4 if mac[1] & ORDER else 0)
    return 24 + (6 if mac[1] & 3 == 3 else 0) + (2 if qos else 0) + (4 if qos and mac[1] & ORDER else 0)


def packet_number(header):
    return int.from_bytes(header[:2] + header[4:8], "little")


def control(mac):
    """(kind, bytes to be hashed)."""
    subtype = mac[0] >> 4
    if subtype in BLOCK_ACKS:
        return kinds.BLOCK_ACK, READ_MOST
    return CONTROLS.get(subtype, (kinds.NULL, SHORT_MOST))


def management(mac):
    if mac[0] >> 4 in BEACONS:
        return kinds.BEACON, BEACON_MOST
    return kinds.MGMT, header_len(mac) + BEHIND_MOST


def is_part(mac):
    """A later fragment, or an A-MSDU: its body does not begin with LLC, and --keep headers keeps none of it."""
    qos = header_len(mac) - (6 if mac[1] & ORDER else 2)
    return mac[22:23] and mac[22] & 15 or mac[0] >> 4 & QOS and mac[qos:qos + 1] and mac[qos] & 0x80


def plain(body):
    """The bytes of an unprotected body that --keep headers always keeps, if they are there."""
    if len(body) < SNAP or body[:6] != bytes.fromhex("aaaa03000000"):
        return 0
    return SNAP + (IP if int.from_bytes(body[6:8], "big") in IP_TYPES else 0)


def data(mac):
    header = header_len(mac)
    if mac[0] >> 4 & NO_DATA:
        return kinds.NULL, header
    if not mac[1] & PROTECTED:
        return kinds.DATA, header + (0 if is_part(mac) else plain(mac[header:READ_MOST]))
    has_pn = len(mac) < header + WEP or mac[header + 3] & 0x20
    return kinds.DATA, header + (CCMP if has_pn else WEP)


KINDS = {MANAGEMENT: management, CONTROL: control, DATA: data, EXTENSION: lambda _: (kinds.NULL, SHORT_MOST)}


def unpadded(mac):
    """Without what a driver puts behind the header, so that its length is a multiple of four."""
    if mac[0] >> 2 & 3 in (CONTROL, EXTENSION):
        return mac, 0
    header = header_len(mac)
    size = -header % 4
    return mac[:header] + mac[header + size:], size


def identify(frame, orig_len):
    """The identity of a frame with its radiotap header, of which some bytes may have been cut off."""
    size, fields = radiotap(frame)
    flags = fields.get("flags", 0)
    length = orig_len - size - (4 if flags & FCS_FLAG else 0)
    mac = frame[size:][:max(length, 0)]
    if len(mac) < LEAST or mac[0] & 3:
        raise Malformed("frame control")
    if flags & PADDED_FLAG:
        mac, padding = unpadded(mac)
        length -= padding
    which = mac[0] >> 2 & 3
    kind, most = KINDS[which](mac)
    most = min(most, READ_MOST, length)
    if flags & BAD_FCS_FLAG:
        return Identity(kinds.BAD_FCS, mac[:most], length, None)
    if most > len(mac):
        raise Malformed("the frame is too short")
    if which in (MANAGEMENT, DATA) and kind != kinds.NULL and mac[1] & RETRY:
        kind = kinds.RETRY
    header = header_len(mac) if which == DATA else 0
    has_pn = kind == kinds.DATA and mac[1] & PROTECTED and most == header + CCMP
    return Identity(kind, mac[:most], length, packet_number(mac[header:]) if has_pn else None)
