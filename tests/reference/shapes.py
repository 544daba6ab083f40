# SPDX-License-Identifier: GPL-2.0
"""802.11 and Ethernet frames of every shape for which trim has a rule, made by hand."""
import struct

PAYLOAD = bytes(range(1, 201))
MACS = bytes.fromhex("02aaaaaaaa01" "02bbbbbbbb02" "02cccccccc03")
SNAP = b"\xaa\xaa\x03\0\0\0"


def radiotap(fields=b"", present=(0,), extra=0):
    words = list(present)
    for i in range(len(words) - 1):
        words[i] |= 1 << 31
    chain = struct.pack(f"<{len(words)}I", *words)
    pad = b"\0" * extra
    return struct.pack("<BBH", 0, 0, 4 + len(chain) + len(fields) + extra) + chain + fields + pad


RADIOTAPS = {
    "short": radiotap(),
    "flags": radiotap(b"\x10", (2,)),
    "datapad": radiotap(b"\x20", (2,)),
    "tsft+datapad": radiotap(b"\x11" * 8 + b"\x20", (3,)),
    "chain, tsft misaligned": radiotap(b"\0" * 4 + b"\x11" * 8 + b"\x20", (3, 0)),
    "chain of 9": radiotap(b"\0" * 0 + b"\x20", (2,) + (0,) * 8),
    **{f"chain of {n}": radiotap(b"\x20", (2,) + (0,) * (n - 1)) for n in (127, 128, 129)},
    "long": radiotap(b"\x10", (2,), 150),
    "longer than the snaplen": radiotap(b"\x10", (2,), 400),
    "flags promised, not there": radiotap(b"", (2,)),
    "chain without end": struct.pack("<BBH", 0, 0, 16) + b"\xff" * 12,
    "length 4": struct.pack("<BBH", 0, 0, 4) + b"\0" * 4,
    "length 0": struct.pack("<BBH", 0, 0, 0) + b"\0" * 4,
    "length beyond the frame": struct.pack("<BBH", 0, 0, 5000) + b"\0" * 4,
    "version 1": struct.pack("<BBHI", 1, 0, 8, 0),
}


def tcp(options=b"", doff=None):
    words = 5 + len(options) // 4 if doff is None else doff
    return struct.pack(">HHIIBBHHH", 80, 1024, 1, 2, words << 4, 16, 512, 0, 0) + options


def udp():
    return struct.pack(">HHHH", 53, 1024, 8 + len(PAYLOAD), 0)


def ipv4(inner, proto, ihl=5, total=None, fragment=0, options=b""):
    total = 20 + len(options) + len(inner) if total is None else total
    return struct.pack(">BBHHHBBH4s4s", 0x40 | ihl, 0, total, 1, fragment, 64, proto, 0,
                       b"\x0a\0\0\1", b"\x0a\0\0\2") + options + inner


def ipv6(inner, proto, payload=None):
    return struct.pack(">IHBB16s16s", 6 << 28, len(inner) if payload is None else payload, proto,
                       64, b"\xfd" * 16, b"\xfe" * 16) + inner


def extension(following, size8=0):
    return bytes([following, size8]) + b"\0" * (6 + 8 * size8)


NETWORK = {
    "ipv4 tcp": (0x800, ipv4(tcp() + PAYLOAD, 6)),
    "ipv4 tcp options": (0x800, ipv4(tcp(b"\1" * 12) + PAYLOAD, 6)),
    "ipv4 tcp doff 3": (0x800, ipv4(tcp(doff=3) + PAYLOAD, 6)),
    "ipv4 tcp doff 15": (0x800, ipv4(tcp(doff=15) + PAYLOAD, 6)),
    "ipv4 udp": (0x800, ipv4(udp() + PAYLOAD, 17)),
    "ipv4 options": (0x800, ipv4(udp() + PAYLOAD, 17, 8, options=b"\1" * 12)),
    "ipv4 ihl 3": (0x800, ipv4(udp() + PAYLOAD, 17, 3)),
    "ipv4 total 0": (0x800, ipv4(udp() + PAYLOAD, 17, total=0)),
    "ipv4 total 12": (0x800, ipv4(udp() + PAYLOAD, 17, total=12)),
    "ipv4 total 22": (0x800, ipv4(udp() + PAYLOAD, 17, total=22)),
    "ipv4 later fragment": (0x800, ipv4(PAYLOAD, 17, fragment=100)),
    "ipv4 first fragment": (0x800, ipv4(udp() + PAYLOAD, 17, fragment=0x2000)),
    "ipv4 icmp": (0x800, ipv4(b"\x08\0\0\0\0\0\0\0" + PAYLOAD, 1)),
    "ipv4 sctp": (0x800, ipv4(PAYLOAD, 132)),
    "ipv4 gre key": (0x800, ipv4(b"\x20\0\x08\0" + PAYLOAD, 47)),
    "ipv4 gre all": (0x800, ipv4(b"\xb0\0\x08\0" + PAYLOAD, 47)),
    "ipv4 gre pptp": (0x800, ipv4(b"\x30\x81\x88\x0b" + PAYLOAD, 47)),
    "ipv4 dccp": (0x800, ipv4(b"\0\1\0\2\4" + PAYLOAD, 33)),
    "ipv4 dccp lie": (0x800, ipv4(b"\0\1\0\2\1" + PAYLOAD, 33)),
    "ipv4 ah tcp": (0x800, ipv4(bytes([6, 4]) + b"\0" * 22 + tcp() + PAYLOAD, 51)),
    "ipv4 esp": (0x800, ipv4(PAYLOAD, 50)),
    "ipv4 ospf": (0x800, ipv4(PAYLOAD, 89)),
    "ipv4 says 6": (0x800, b"\x65" + PAYLOAD),
    "ipv6 tcp": (0x86dd, ipv6(tcp() + PAYLOAD, 6)),
    "ipv6 icmp": (0x86dd, ipv6(PAYLOAD, 58)),
    "ipv6 says 4": (0x86dd, b"\x45" + PAYLOAD),
    "ipv6 short payload": (0x86dd, ipv6(udp() + PAYLOAD, 17, payload=4)),
    "ipv6 jumbo": (0x86dd, ipv6(udp() + PAYLOAD, 17, payload=0)),
    "ipv6 hop-by-hop, routing, options": (0x86dd, ipv6(
        extension(43) + extension(60, 1) + extension(17) + udp() + PAYLOAD, 0)),
    "ipv6 first fragment": (0x86dd, ipv6(b"\x11\0\0\1\0\0\0\1" + udp() + PAYLOAD, 44)),
    "ipv6 later fragment": (0x86dd, ipv6(b"\x11\0\1\0\0\0\0\1" + PAYLOAD, 44)),
    "ipv6 ten extensions": (0x86dd, ipv6(extension(60) * 9 + extension(17) + udp() + PAYLOAD, 60)),
    "ipv6 extension of 2 KB": (0x86dd, ipv6(extension(17, 255) + udp() + PAYLOAD, 60)),
    "ipv6 extension beyond the frame": (0x86dd, ipv6(b"\x11\x31" + PAYLOAD, 0)),
    "ipv4 ah beyond the frame": (0x800, ipv4(b"\x06\xff" + PAYLOAD, 51)),
    "ipv4 tcp doff 15, nothing there": (0x800, ipv4(tcp(doff=15), 6)),
    "ipv4 ihl 15, nothing there": (0x800, ipv4(b"", 6, 15, total=0)),
    "ipv6 no next header": (0x86dd, ipv6(PAYLOAD, 59)),
    "arp": (0x806, bytes.fromhex("0001080006040001") + PAYLOAD),
    "arp lie": (0x806, bytes.fromhex("00010800ffff0001") + PAYLOAD),
    "eapol": (0x888e, b"\2\3\0\x5f" + PAYLOAD),
    "lldp": (0x88cc, PAYLOAD),
    "vlan": (0x8100, b"\0\5\x08\0" + ipv4(udp() + PAYLOAD, 17)),
    "qinq": (0x88a8, b"\0\5\x81\0\0\6\x86\xdd" + ipv6(tcp() + PAYLOAD, 6)),
    "ten vlans": (0x8100, b"\0\5\x81\0" * 9 + b"\0\5\x08\0" + ipv4(udp() + PAYLOAD, 17)),
    "mpls": (0x8847, b"\0\0\x10\x40" + b"\0\0\x21\x40" + ipv4(udp() + PAYLOAD, 17)),
    "mpls, not ip": (0x8847, b"\0\0\x21\x40" + b"\0" * 100),
    "pppoe": (0x8864, b"\x11\0\0\1\0\x64\0\x21" + ipv4(udp() + PAYLOAD, 17)),
    "pppoe lcp": (0x8864, b"\x11\0\0\1\0\x64\xc0\x21" + PAYLOAD),
    "pppoe discovery": (0x8863, b"\x11\x09\0\0\0\x64" + PAYLOAD),
}


def llc(kind, body):
    return SNAP + struct.pack(">H", kind) + body


def dot11(subtype=0, flags=0, qos=None, body=b"", kind=2, fragment=0, version=0, pad=0):
    frame = bytes([version | kind << 2 | subtype << 4, flags]) + b"\0\0" + MACS
    frame += bytes([fragment, 0])
    if flags & 3 == 3:
        frame += b"\x02\xdd\xdd\xdd\xdd\x04"
    if qos is not None:
        frame += struct.pack("<H", qos)
        if flags & 0x80:
            frame += b"\x03\0\0\0"
    return frame + b"\0" * pad + body


def amsdu(length=None, inner=None):
    inner = llc(0x800, ipv4(udp() + PAYLOAD, 17)) if inner is None else inner
    first = MACS[:12] + struct.pack(">H", len(inner) if length is None else length) + inner
    return first + b"\0" * (-len(first) % 4) + MACS[:12] + struct.pack(">H", 8) + SNAP + b"\x08\0"


IP = llc(0x800, ipv4(tcp() + PAYLOAD, 6))
CCMP = b"\1\2\0\x20\3\4\5\6"
TKIP = b"\1\x21\2\x20\3\4\5\6"
WEP = b"\1\2\3\0"
FRAMES = {
    "beacon": dot11(8, 0, body=PAYLOAD, kind=0),
    "protected management": dot11(13, 0x40, body=CCMP + PAYLOAD, kind=0),
    "ack": dot11(13, 0, kind=1)[:10],
    "cts": dot11(12, 0, kind=1)[:10],
    "rts": dot11(11, 0, kind=1)[:16],
    "block ack": dot11(9, 0, kind=1, body=PAYLOAD[:12])[:32],
    "control wrapper": dot11(7, 0, kind=1, body=PAYLOAD),
    "extension (dmg beacon)": dot11(0, 0, kind=3, body=PAYLOAD),
    "version 1": dot11(0, 0, body=IP, version=1),
    "data": dot11(0, 2, body=IP),
    "data to ds": dot11(0, 1, body=IP),
    "data, four addresses": dot11(0, 3, body=IP),
    "data, order bit": dot11(0, 0x82, body=IP),
    "null": dot11(4, 1, body=PAYLOAD[:4]),
    "qos null": dot11(12, 1, qos=0, body=PAYLOAD[:4]),
    "qos null ht": dot11(12, 0x81, qos=0, body=PAYLOAD[:4]),
    "qos data": dot11(8, 2, qos=5, body=IP),
    "qos data ht": dot11(8, 0x82, qos=5, body=IP),
    "qos data, four addresses": dot11(8, 3, qos=5, body=IP),
    "qos data, four addresses, ht": dot11(8, 0x83, qos=5, body=IP),
    "qos data padded": dot11(8, 2, qos=5, body=IP, pad=2),
    "qos protected padded": dot11(8, 0x42, qos=5, body=CCMP + PAYLOAD, pad=2),
    "later fragment": dot11(0, 2, body=PAYLOAD, fragment=1),
    "protected ccmp": dot11(0, 0x42, body=CCMP + PAYLOAD),
    "protected tkip": dot11(0, 0x42, body=TKIP + PAYLOAD),
    "protected wep": dot11(0, 0x42, body=WEP + PAYLOAD),
    "qos protected": dot11(8, 0x42, qos=5, body=CCMP + PAYLOAD),
    "qos protected ht, four addresses": dot11(8, 0xc3, qos=5, body=CCMP + PAYLOAD),
    "qos protected a-msdu": dot11(8, 0x42, qos=0x80, body=CCMP + PAYLOAD),
    "a-msdu": dot11(8, 2, qos=0x80, body=amsdu()),
    "a-msdu, subframe of 8": dot11(8, 2, qos=0x80, body=amsdu(8)),
    "a-msdu, subframe of 30": dot11(8, 2, qos=0x80, body=amsdu(30)),
    "a-msdu, subframe of 0": dot11(8, 2, qos=0x80, body=amsdu(0)),
    "a-msdu, subframe of 65535": dot11(8, 2, qos=0x80, body=amsdu(65535)),
    "a-msdu, lying ip": dot11(8, 2, qos=0x80, body=amsdu(
        inner=llc(0x800, ipv4(udp(), 17, 3)))),
    "mesh": dot11(8, 3, qos=0x100, body=b"\0\x1f\1\0\0\0" + IP),
    "mesh, two more addresses": dot11(8, 3, qos=0x100, body=b"\2\x1f\1\0\0\0" + MACS[:12] + IP),
    "mesh bit, but llc": dot11(8, 2, qos=0x100, body=IP),
    "mesh bit to ds": dot11(8, 1, qos=0x100, body=IP),
    "stp": dot11(0, 2, body=b"\x42\x42\x03" + PAYLOAD),
    "llc, supervisory": dot11(0, 2, body=b"\xf0\xf0\x01\x01" + PAYLOAD),
    "snap, other oui": dot11(0, 2, body=b"\xaa\xaa\x03\0\0\x0c\x20\0" + PAYLOAD),
    "snap, bridge tunnel": dot11(0, 2, body=b"\xaa\xaa\x03\0\0\xf8\x08\0"
                                 + ipv4(udp() + PAYLOAD, 17)),
    "snap, length for a type": dot11(0, 2, body=SNAP + b"\0\x20" + PAYLOAD),
    **{f"data {name}": dot11(0, 2, body=llc(*n)) for name, n in NETWORK.items()},
}

ETHERNET = {
    **{name: MACS[:12] + struct.pack(">H", kind) + body for name, (kind, body) in NETWORK.items()},
    "802.3 stp": MACS[:12] + b"\0\x26\x42\x42\x03" + PAYLOAD,
    "802.3 snap": MACS[:12] + b"\0\x20" + SNAP + b"\x08\0" + ipv4(udp() + PAYLOAD, 17),
    "802.3 length 2": MACS[:12] + b"\0\x02" + SNAP + PAYLOAD,
}


def prism(frame):
    return struct.pack("<II16s", 0x44, 144, b"wlan0") + b"\0" * 120 + frame


def avs(frame):
    return struct.pack(">II", 0x80211001, 64) + b"\0" * 56 + frame


def ppi(frame, dlt=105):
    return struct.pack("<BBHI", 0, 0, 16, dlt) + b"\0" * 8 + frame


def whole():
    """(name, link type, bytes) of every shape."""
    for name, frame in ETHERNET.items():
        yield name, 1, frame
    for name, frame in FRAMES.items():
        yield name, 105, frame
        yield f"prism {name}", 119, prism(frame)
        yield f"avs {name}", 119, avs(frame)
        yield f"avs {name}", 163, avs(frame)
        yield f"ppi {name}", 192, ppi(frame)
        for kind, head in RADIOTAPS.items():
            yield f"{kind}: {name}", 127, head + frame
    yield "prism, length 4", 119, struct.pack("<II", 0x44, 4) + PAYLOAD
    yield "prism, length beyond", 119, struct.pack("<II", 0x44, 40000) + PAYLOAD
    yield "ppi of ethernet", 192, ppi(PAYLOAD, 1)


def cut():
    """Every shape truncated at every length, once per link type."""
    for name, frame in ETHERNET.items():
        yield from ((f"{name} cut at {n}", 1, frame[:n]) for n in range(14, len(frame)))
    for name, frame in FRAMES.items():
        whole_frame = RADIOTAPS["tsft+datapad"] + frame
        yield from ((f"{name} cut at {n}", 127, whole_frame[:n])
                    for n in range(14, len(whole_frame)))
        yield from ((f"{name} cut at {n}", 105, frame[:n]) for n in range(14, len(frame)))
