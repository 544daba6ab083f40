# SPDX-License-Identifier: GPL-2.0
"""Packets that no program of this machine sends, or not easily: DNS, echo requests, groups, IP
protocols without a port, and Ethernet protocols without IP."""
import contextlib
import socket
import struct

from captures.wraps import checksum

DOMAINS = ("www", "mail", "ftp", "news", "cache", "ntp", "long-name-of-a-host-in-a-domain")
A, MX, TXT, AAAA = 1, 15, 16, 28
INTERFACE = "eth0"
BROADCAST, STATION, ROUTER = b"\xff" * 6, bytes.fromhex("020000000001"), bytes.fromhex("020000000002")

# ---- DNS -------------------------------------------------------------------------------------------


def name(text):
    return b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\0"


def question(rng):
    kind = rng.choice((A, A, AAAA, MX, TXT))
    return (struct.pack(">HHHHHH", rng.randrange(65536), 0x100, 1, 0, 0, 0) +
            name(f"{rng.choice(DOMAINS)}{rng.randrange(40)}.example.org") + struct.pack(">HH", kind, 1))


def answer(asked):
    """As many answers as its number says; for every eighth name none, and an error."""
    number, = struct.unpack_from(">H", asked)
    kind, = struct.unpack_from(">H", asked, len(asked) - 4)
    count = 0 if number % 8 == 0 else 1 + number % 3
    data = {A: b"\x0a\0\0\2", AAAA: bytes.fromhex("20010db8000000000000000000000002"),
            MX: b"\0\x0a" + name("mail.example.org"), TXT: b"\x1fv=spf1 include:example.org -all  "}[kind]
    record = b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 300, len(data)) + data
    return (struct.pack(">HHHHHH", number, 0x8180 if count else 0x8183, 1, count, 0, 0) + asked[12:] +
            record * count)


# ---- IP --------------------------------------------------------------------------------------------


def raw(version, protocol, source):
    s = socket.socket(socket.AF_INET if version == 4 else socket.AF_INET6, socket.SOCK_RAW, protocol)
    s.bind((source, 0))
    s.settimeout(0.2)
    return s


def echo_request(version, number, body):
    """The kernel fills in the checksum of ICMPv6."""
    head = struct.pack(">BBHHH", 8 if version == 4 else 128, 0, 0, 7, number)
    return head[:2] + struct.pack(">H", checksum(head + body)) + head[4:] + body


def pings(rng, version, clients, servers, sizes=(0, 8, 56, 100, 1000)):
    for number in range(70):
        with raw(version, 1 if version == 4 else 58, rng.choice(clients[version])) as s:
            body = bytes((number + i) % 251 for i in range(rng.choice(sizes)))
            s.setsockopt(*((socket.IPPROTO_IP, socket.IP_TTL) if version == 4 else
                           (socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS)), rng.choice((1, 4, 64, 255)))
            s.sendto(echo_request(version, number, body), (rng.choice(servers[version]), 0))
            with contextlib.suppress(TimeoutError):
                s.recv(65536)


def groups(rng, version, clients):
    """Groups joined and left, and datagrams to them."""
    all_of = {4: ("224.0.0.251", "239.255.255.250", "224.0.0.5"), 6: ("ff02::fb", "ff02::c", "ff02::5")}[version]
    for group, port in zip(all_of, (5353, 1900, 4446)):
        if version == 4:
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            at = socket.inet_aton(group) + socket.inet_aton(clients[4][0])
            s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, at)
            s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(clients[4][0]))
        else:
            s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            index = struct.pack("=I", socket.if_nametoindex(INTERFACE))
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.inet_pton(socket.AF_INET6, group) + index)
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        with s:
            for _ in range(8):
                s.sendto(question(rng), (group, port))


PROTOCOLS = {  # their headers' first bytes
    2: b"\x16\0\xee\xff\xe0\0\0\x05", 9: bytes(12), 47: b"\0\0\x08\0" + bytes(8), 50: b"\0\0\1\0\0\0\0\1",
    51: b"\x3b\4\0\0\0\0\1\0\0\0\0\1" + bytes(12), 88: b"\2\5\0\0" + bytes(16), 89: b"\2\1\0\x2c" + bytes(40),
    103: b"\x20\0\xdf\xff\0\1\0\2\0\x69", 112: b"\x21\1\x64\1\0\1\0\0\x0a\0\0\1" + bytes(8),
    132: struct.pack(">HHII", 2905, 2905, 0, 0) + b"\1\0\0\x14" + bytes(16), 33: b"\x13\x88\x13\x89\5" + bytes(11),
    136: struct.pack(">HHHH", 5000, 5001, 8, 0), 253: b"experiment"}


def protocols(rng, version, clients, servers):
    for _ in range(5):
        for protocol, head in PROTOCOLS.items():
            with raw(version, protocol, rng.choice(clients[version])) as s:
                s.sendto(head + bytes(rng.randrange(40)), (rng.choice(servers[version]), 0))


# ---- without IP ------------------------------------------------------------------------------------

ARP = "".join(("0001080006040001", STATION.hex(), "0a000001", "000000000000", "0a000002"))
DHCP = struct.pack(">BBBBIHH", 1, 1, 6, 0, 0x3903f326, 0, 0x8000) + bytes(16) + STATION + bytes(202)


def ieee(to, body):
    """802.3: a length, and LLC after it."""
    return to + STATION + struct.pack(">H", len(body)) + body + bytes(max(0, 46 - len(body)))


def typed(to, kind, body):
    return to + STATION + kind.to_bytes(2, "big") + body + bytes(max(0, 46 - len(body)))


def dhcp(kind):
    body = DHCP + b"\x63\x82\x53\x63" + bytes([53, 1, kind]) + b"\x37\4\1\3\6\x0f\xff"
    head = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(body), 0, 0, 64, 17, 0, 0, 0xffffffff)
    return (head[:10] + struct.pack(">H", checksum(head)) + head[12:] +
            struct.pack(">HHHH", 68, 67, 8 + len(body), 0) + body)


def isis(kind):
    return b"\xfe\xfe\x03\x83\x1b\1\0" + bytes([kind, 1, 0, 0, 3]) + bytes(20)


GROUP = bytes.fromhex("0180c2000000")
LINKS = [
    ieee(GROUP, b"\x42\x42\x03" + bytes(35)), typed(GROUP[:5] + b"\x0e", 0x88cc, b"\2\7\4" + STATION + bytes(20)),
    *(ieee(GROUP[:5] + b"\x14", isis(kind)) for kind in (15, 16, 17, 18, 20, 24, 25, 26, 27)),
    ieee(GROUP[:5] + b"\x15", b"\xfe\xfe\x03\x82\x1a\1\0\2" + bytes(12)), ieee(ROUTER, b"\xfe\xfe\x03\x81" + bytes(30)),
    ieee(bytes.fromhex("01000ccccccc"), b"\xaa\xaa\x03\0\0\x0c\x20\0\2\xb4" + bytes(30)),
    ieee(ROUTER, b"\xf0\xf0\x03" + bytes(30)), ieee(ROUTER, b"\xe0\xe0\x03\xff\xff" + bytes(30)),
    ieee(BROADCAST, b"\xff\xff" + bytes(30)), ieee(ROUTER, b"\x06\x06\x03\x45" + bytes(30)),
    ieee(ROUTER, b"\xaa\xaa\x03\x08\0\x07\x80\x9b" + bytes(20)), ieee(ROUTER, b"\xaa\xaa\x03\0\0\0\x80\xf3" + bytes(28)),
    *(ieee(ROUTER, bytes([4, 4, control, 0]) + bytes(8)) for control in (0x00, 0x01, 0x05, 0x7f)),
    typed(BROADCAST, 0x0806, bytes.fromhex(ARP)), typed(BROADCAST, 0x8035, bytes.fromhex("0001080006040003") + bytes(20)),
    typed(ROUTER, 0x8035, bytes.fromhex("0001080006040004") + STATION + b"\x0a\0\0\1" + ROUTER + b"\x0a\0\0\2"),
    typed(ROUTER, 0x6001, bytes(20)), typed(ROUTER, 0x6002, bytes(20)), typed(ROUTER, 0x6003, bytes(20)),
    typed(ROUTER, 0x6004, bytes(20)), typed(ROUTER, 0x809b, bytes(30)), typed(ROUTER, 0x80f3, bytes(28)),
    typed(ROUTER, 0x8137, b"\xff\xff" + bytes(30)), typed(ROUTER, 0x88b5, b"experiment"),
    *(typed(BROADCAST if code in (9, 7) else ROUTER, 0x8863, bytes([0x11, code, 0, 0, 0, 4, 1, 1, 0, 0]))
      for code in (9, 7, 0x19, 0x65, 0xa7)),
    *(typed(ROUTER, 0x8864, bytes([0x11, 0, 0, 1, 0, 6]) + protocol.to_bytes(2, "big") + b"\1\1\0\4")
      for protocol in (0xc021, 0xc023, 0x8021, 0x8057)),
    typed(ROUTER, 0x888e, b"\2\1\0\0"), typed(ROUTER, 0x888e, b"\2\0\0\5\1\1\0\5\1"), typed(ROUTER, 0x9000, b"\0\0\1\0"),
    *(typed(BROADCAST, 0x0800, dhcp(kind)) for kind in (1, 3, 8)), typed(ROUTER, 0x8848, b"\0\0\x51\x40" + bytes(40)),
]


def links(rng):
    """In turn and at random, with the bytes after each header changed."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((INTERFACE, 0))
        for _ in range(6):
            for frame in LINKS:
                s.send(frame[:6] + frame[6:11] + bytes([rng.randrange(1, 9)]) + frame[12:-8] + rng.randbytes(8))
