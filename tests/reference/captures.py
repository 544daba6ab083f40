# SPDX-License-Identifier: GPL-2.0
"""Capture files read in Python, independently of common/pcap_read.c."""
import collections
import gzip
import os
import pathlib
import json
import re
import struct

import zstandard

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUNDLED = ROOT / "tests/demo/hwsim.pcap.zst"

Frame = collections.namedtuple("Frame", "time_ns orig_len linktype data")
# Times in ns since 1970; a channel by its text and in MHz.
Dwell = collections.namedtuple("Dwell", "channel mhz width center from_ns to_ns frames switch_ns "
                                        "marked error up_ns", defaults=[0])


class Captures(collections.namedtuple("Captures", "name root")):
    """A folder of capture files in subfolders: hwsim, radiotap, dot11-other, wired, malformed."""

    def folder(self, name):
        return sorted(p for p in (self.root / name).glob("*") if p.is_file())

    def __str__(self):
        return self.name


# The project's own, and foreign ones, which are used as well if their folder is named.
OWN = Captures("own", ROOT / "tests/captures")
FOREIGN = Captures("foreign", pathlib.Path(os.environ.get("SALUKI_CAPTURES") or "/nonexistent"))


def have_foreign():
    return bool(os.environ.get("SALUKI_CAPTURES"))


def at_hand():
    return [OWN, FOREIGN] if have_foreign() else [OWN]


def more_real():
    """For measurements: foreign captures if available, which are more numerous and more varied."""
    return at_hand()[-1]


NO_LINKTYPE = 0xffff  # no link type has this number; in Saluki's rings it marks module events


class Corrupt(Exception):
    pass


def file_bytes(path):
    """The file's bytes, uncompressed if needed: the names do not always tell."""
    data = pathlib.Path(path).read_bytes()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return zstandard.ZstdDecompressor().stream_reader(data).read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


PCAP_MAGICS = {b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\x4d\x3c\xb2\xa1": ("<", 1),
               b"\xa1\xb2\xc3\xd4": (">", 1000), b"\xa1\xb2\x3c\x4d": (">", 1)}  # byte order, ns
SECTION_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
INTERFACES_MAX = 256  # per section: the limit of `saluki run -r`; a collector may write more


def _pcap(data):
    if len(data) < 24 or data[:4] not in PCAP_MAGICS:
        raise Corrupt("header")
    order, unit = PCAP_MAGICS[data[:4]]
    if struct.unpack(order + "H", data[4:6])[0] != 2:
        raise Corrupt("version")
    linktype = struct.unpack(order + "I", data[20:24])[0] & 0xffff
    if linktype == NO_LINKTYPE:
        raise Corrupt("link type")
    at = 24
    while at < len(data):
        if at + 16 > len(data):
            raise Corrupt("record header")
        sec, sub, cap, orig = struct.unpack(order + "IIII", data[at:at + 16])
        at += 16
        if at + cap > len(data):
            raise Corrupt("record")
        yield Frame(sec * 10**9 + sub * unit, max(orig, cap), linktype, data[at:at + cap])
        at += cap


def _options(body, order):
    at = 0
    while at + 4 <= len(body):
        code, size = struct.unpack(order + "HH", body[at:at + 4])
        if code == 0:
            return
        if at + 4 + size > len(body):
            raise Corrupt("option")
        yield code, body[at + 4:at + 4 + size]
        at += 4 + (size + 3) // 4 * 4


def _pcapng(data, interfaces_max=None):
    """(interface's name, frame), one after the other."""
    at = 0
    order = "<"
    interfaces = []
    while at < len(data):
        if at + 12 > len(data):
            raise Corrupt("block header")
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            if data[at + 8:at + 12] not in SECTION_ORDERS:
                raise Corrupt("byte order")
            order = SECTION_ORDERS[data[at + 8:at + 12]]
            if struct.unpack(order + "H", data[at + 12:at + 14]) != (1,):
                raise Corrupt("version")
            interfaces = []
        kind, size = struct.unpack(order + "II", data[at:at + 8])
        if size < 12 or at + size > len(data):
            raise Corrupt("block")
        body = data[at + 8:at + size - 4]
        at += (size + 3) // 4 * 4
        if kind == 1:
            linktype, _, snaplen = struct.unpack(order + "HHI", body[:8])
            if linktype == NO_LINKTYPE or len(interfaces) == interfaces_max:
                raise Corrupt("interface")
            ticks = 10**6
            offset = 0
            name = ""
            for code, value in _options(body[8:], order):
                if code == 2:
                    name = value.decode()
                elif code == 9 and len(value) == 1:
                    ticks = 2**(value[0] & 127) if value[0] & 128 else 10**value[0]
                elif code == 14 and len(value) == 8:
                    offset = struct.unpack(order + "q", value)[0]
            if ticks >= 2**64:
                raise Corrupt("resolution")
            interfaces.append((linktype, snaplen, ticks, offset, name))
        elif kind in (2, 6):
            if kind == 6:
                i, high, low, cap, orig = struct.unpack(order + "IIIII", body[:20])
            else:
                i, _, high, low, cap, orig = struct.unpack(order + "HHIIII", body[:20])
            linktype, _, ticks, offset, name = interfaces[i]
            if cap > len(body) - 20:
                raise Corrupt("packet")
            t = high << 32 | low
            ns = (t // ticks + offset) * 10**9 + t % ticks * 10**9 // ticks
            yield name, Frame(ns % 2**64, max(orig, cap), linktype, body[20:20 + cap])
        elif kind == 3:
            linktype, snaplen, _, _, name = interfaces[0]
            orig = struct.unpack(order + "I", body[:4])[0]
            cap = min(orig, snaplen or orig, len(body) - 4)
            yield name, Frame(0, max(orig, cap), linktype, body[4:4 + cap])


def frames(path, interfaces_max=None):
    """All frames of a pcap or pcapng file, compressed or not. Raises Corrupt at a malformed or
    truncated block."""
    data = file_bytes(path)
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        yield from (frame for _, frame in _pcapng(data, interfaces_max))
    else:
        yield from _pcap(data)


def of_interface(path, name):
    """The frames of one interface of a pcapng file."""
    return [frame for its, frame in _pcapng(file_bytes(path)) if its == name]


# ---- the collector's other blocks ---------------------------------------------------------------

DWELL = re.compile(r"channel (\S+) \((\d+) MHz, width (\d+), center (\d+)\), switch (\d+) ns, "
                   r"marked (\d+)(?:, up (\d+) ns)?(?:, error (\d+).*)?")
UNSETTLED = b"heard while the radio was changing channel"


def _blocks(path, cut=False):
    """(kind, interface's name, the part before the options, options) of a file in host byte order,
    for frames and statistics. With `cut`, the last block may be incomplete."""
    data, at, names = file_bytes(path), 0, []
    while at < len(data):
        if cut and (at + 8 > len(data) or at + struct.unpack_from("<I", data, at + 4)[0] > len(data)):
            return
        kind, size = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + size - 4]
        at += size
        if kind == 0x0a0d0d0a:
            names = []
        elif kind == 1:
            names.append(dict(_options(body[8:], "<"))[2].decode())
        elif kind in (5, 6):
            head = 12 if kind == 5 else 20 + (struct.unpack_from("<I", body, 12)[0] + 3) // 4 * 4
            yield (kind, names[struct.unpack_from("<I", body)[0]], body[:head],
                   list(_options(body[head:], "<")))


def whole_blocks(path):
    """The same of a file that is being written."""
    return _blocks(path, cut=True)


def dwells(path, name):
    """One interface's dwells, in file order."""
    found = []
    for kind, its, _, options in _blocks(path):
        said = dict(options)
        match = kind == 5 and its == name and DWELL.fullmatch(said.get(1, b"").decode())
        if not match:
            continue
        assert set(said) <= {1, 2, 3, 4, 19373}, said
        start, end = (high << 32 | low for high, low in
                      (struct.unpack("<II", said[code]) for code in (2, 3)))
        channel, mhz, width, center, switch, marked, up, error = match.groups("0")
        found.append(Dwell(channel, int(mhz), int(width), int(center), start, end,
                           struct.unpack("<Q", said[4])[0], int(switch), int(marked), int(error),
                           int(up)))
    return found


def unsettled(path, name):
    """For each of an interface's frames, whether it was received during a channel switch."""
    return [(1, UNSETTLED) in options for kind, its, _, options in _blocks(path)
            if kind == 6 and its == name]


def last_words(path, name):
    """The comments of an interface's last statistics that belong to no dwell."""
    found = [[text.decode() for code, text in options if code == 1]
             for kind, its, _, options in _blocks(path) if kind == 5 and its == name]
    return next((texts for texts in reversed(found) if not any(map(DWELL.fullmatch, texts))), None)


def said(path):
    """The modules' events: lines of JSON in custom blocks of our enterprise's number."""
    data, at, found = file_bytes(path), 0, []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0xbad and struct.unpack_from("<I", data, at + 8)[0] == 32473:
            length = struct.unpack_from(">I", data, at + 12)[0]
            found.append(json.loads(data[at + 16:at + 16 + length]))
        at += size
    return found
