# SPDX-License-Identifier: GPL-2.0
"""The part of a frame that `--keep headers` keeps, in Python: written from the standards and docs,
not from bpf/parse.h, and checked against tshark's offsets (test_reference.py). The BPF programs and
`saluki run -r` are compared with it.

The rules:
  * management, control and extension frames: everything (up to the snaplen)
  * protected data: through the cipher header; null data: the MAC header
  * other data: through the transport header, LLC/SNAP, VLAN, MPLS and PPPoE before it; ARP
    whole; EAPOL's own 4-byte header
  * A-MSDU: the first subframe's headers, within that subframe
  * a header with a malformed length is kept up to its fixed part, a truncated frame up to the
    fixed part of the header in which it ends
"""
import struct

ETHERNET, IEEE80211, PRISM, RADIOTAP, AVS, PPI = 1, 105, 119, 127, 163, 192
TRIMMED = {ETHERNET, IEEE80211, PRISM, RADIOTAP, AVS, PPI}
DOT11 = TRIMMED - {ETHERNET}
DEEPEST = 16384  # headers beyond this are ignored
EVERYTHING = 1 << 32


class Cut(Exception):
    """A header is incomplete; its fixed part counts as kept."""

    def __init__(self, end):
        super().__init__(end)
        self.end = end


class Lie(Cut):
    """A header contradicts itself or the frame."""


class View:
    def __init__(self, data, orig_len):
        self.data = data
        self.orig_len = orig_len

    def take(self, at, size):
        if at > DEEPEST or at + size > len(self.data):
            raise Cut(at + size)
        return self.data[at:at + size]


    def said(self, at, size, fixed):
        """The end of a header whose length field says `size` bytes, with a minimum of `fixed`."""
        if size < fixed or at + size > self.orig_len:
            raise Lie(at + fixed)
        return at + size


def be16(b, at=0):
    return struct.unpack_from(">H", b, at)[0]


def le16(b, at=0):
    return struct.unpack_from("<H", b, at)[0]


def transport(v, at, proto):
    fixed = {1: 8, 2: 8, 17: 8, 58: 8, 136: 8, 50: 8, 132: 12}
    if proto in fixed:
        return at + fixed[proto]
    if proto == 6:
        return v.said(at, 4 * (v.take(at, 20)[12] >> 4), 20)
    if proto == 33:
        return v.said(at, 4 * v.take(at, 12)[4], 12)
    if proto == 47:
        h = v.take(at, 4)
        words = [h[0] & 0xc0, h[0] & 0x20, h[0] & 0x10, h[1] & 7 == 1 and h[1] & 0x80]
        return at + 4 + 4 * sum(map(bool, words))
    return at


def extensions(v, at, proto, v6):
    for _ in range(8):
        if proto == 51:
            h = v.take(at, 8)
            at = v.said(at, 4 * (h[1] + 2), 8)
        elif v6 and proto == 44:
            h = v.take(at, 8)
            at += 8
            if be16(h, 2) >> 3:
                return at
        elif v6 and proto in (0, 43, 60, 135, 139, 140):
            h = v.take(at, 8)
            at = v.said(at, 8 * (h[1] + 1), 8)
        else:
            return transport(v, at, proto)
        proto = h[0]
    return at


def bounded(parse, limit):
    """The end found by `parse`, at most `limit`, also for malformed and truncated headers."""
    try:
        return min(parse(), limit)
    except Lie as lie:
        raise Lie(min(lie.end, limit)) from None
    except Cut as cut:
        raise Cut(min(cut.end, limit)) from None


def ipv4(v, at):
    h = v.take(at, 20)
    size, total = 4 * (h[0] & 15), be16(h, 2)
    if h[0] >> 4 != 4 or size < 20 or 0 < total < size or at + size > v.orig_len:
        raise Lie(at + 20)
    if be16(h, 6) & 0x1fff:
        return at + size
    return bounded(lambda: extensions(v, at + size, h[9], False),
                   at + total if total else EVERYTHING)


def ipv6(v, at):
    h = v.take(at, 40)
    if h[0] >> 4 != 6:
        raise Lie(at + 40)
    payload = be16(h, 4)
    return bounded(lambda: extensions(v, at + 40, h[6], True),
                   at + 40 + payload if payload else EVERYTHING)


def network(v, at, kind):
    for _ in range(8):
        if kind in (0x8100, 0x88a8, 0x9100):
            kind = be16(v.take(at, 4), 2)
            at += 4
        elif kind in (0x8847, 0x8848):
            try:
                h = v.take(at, 5)
            except Cut:
                raise Cut(at + 4) from None
            at += 4
            if h[2] & 1:
                kind = {4: 0x800, 6: 0x86dd}.get(h[4] >> 4, 0)
        elif kind == 0x8864:
            kind = {0x21: 0x800, 0x57: 0x86dd}.get(be16(v.take(at, 8), 6), 0)
            at += 8
        else:
            break
    if kind == 0x800:
        return ipv4(v, at)
    if kind == 0x86dd:
        return ipv6(v, at)
    if kind in (0x806, 0x8035):
        h = v.take(at, 8)
        if h[4] > 8 or h[5] > 16:
            raise Lie(at + 8)
        return v.said(at, 8 + 2 * (h[4] + h[5]), 8)
    return at + {0x888e: 4, 0x8863: 6}.get(kind, 0)


def llc(v, at):
    h = v.take(at, 3)
    if h != b"\xaa\xaa\x03":
        return at + (3 if h[2] & 3 == 3 else 4)
    h = v.take(at, 8)
    if h[3:6] in (b"\0\0\0", b"\0\0\xf8") and be16(h, 6) >= 1536:
        return network(v, at + 8, be16(h, 6))
    return at + 8


def ethernet(v):
    kind = be16(v.take(0, 14), 12)
    if kind >= 1536:
        return network(v, 14, kind)
    return bounded(lambda: llc(v, 14), 14 + kind)


def radiotap_padded(v, size):
    """Whether the driver aligned the 802.11 header (flag 0x20 of the flags field)."""
    at = 4
    words = []
    while True:
        if at + 4 > size and words or len(words) == 128:
            raise Lie(8)
        words.append(struct.unpack("<I", v.take(at, 4))[0])
        at += 4
        if not words[-1] & 1 << 31:
            break
    if not words[0] & 2:
        return False
    if words[0] & 1:
        at = (at + 7) // 8 * 8 + 8
    if at >= size:
        raise Lie(8)
    return bool(v.take(at, 1)[0] & 0x20)


def dot11(v, at, radiotap=0):
    if at > DEEPEST:
        return at
    fc = v.take(at, 2)
    if fc[0] & 3:
        raise Lie(at + 2)
    if fc[0] >> 2 & 3 != 2:
        return EVERYTHING
    size = 30 if fc[1] & 3 == 3 else 24
    try:
        fragment = v.take(at, 24)[22] & 15
    except Cut:
        raise Cut(at + size) from None
    qos = 0
    if fc[0] & 0x80:
        qos = le16(v.take(at + size, 2))
        size += 6 if fc[1] & 0x80 else 2
    padded = radiotap and radiotap_padded(v, radiotap)
    if fc[0] & 0x40:
        return at + size
    if padded:
        size = (size + 3) // 4 * 4
    at += size
    if fc[1] & 0x40:
        try:
            return at + (8 if v.take(at, 4)[3] & 0x20 else 4)
        except Cut:
            raise Cut(at + 8) from None
    if fragment:
        return at
    if qos & 0x80:
        length = be16(v.take(at, 14), 12)
        return bounded(lambda: llc(v, at + 14), at + 14 + length)
    if qos & 0x100 and fc[1] & 2:
        try:
            mesh = v.take(at, 1)[0]
        except Cut:
            raise Cut(at + 6) from None
        if mesh < 3:
            at += 6 + 6 * mesh
    return llc(v, at)


def prefixed(v, length, valid):
    if not valid or length < 8 or length > v.orig_len:
        raise Lie(8)
    return length


def headers_end(v, linktype):
    if linktype == ETHERNET:
        return ethernet(v)
    if linktype == IEEE80211:
        return dot11(v, 0)
    h = v.take(0, 8)
    if linktype == RADIOTAP:
        size = prefixed(v, le16(h, 2), h[0] == 0)
        return dot11(v, size, size)
    if linktype == PPI:
        return dot11(v, prefixed(v, le16(h, 2), h[0] == 0 and h[4:8] == b"\x69\0\0\0"))
    code = h[:4]
    big = code[:2] == b"\x80\x21" and code[2] >> 4 == 1 or code in (b"\0\0\0\x44", b"\0\0\0\x41")
    return dot11(v, prefixed(v, struct.unpack(">I" if big else "<I", h[4:8])[0], True))


def keep(data, orig_len, linktype, snaplen=192, headers=None):
    """Returns (bytes kept, whether a header was malformed). `headers`: True, False or None, the
    default of the link type."""
    kept = min(len(data), snaplen)
    if headers is None:
        headers = linktype in DOT11
    if not headers or linktype not in TRIMMED:
        return kept, False
    lied = False
    try:
        end = headers_end(View(data, orig_len), linktype)
    except Cut as cut:
        end = cut.end
        lied = isinstance(cut, Lie)
    return min(kept, end), lied
