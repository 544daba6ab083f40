# SPDX-License-Identifier: GPL-2.0
"""The wraps of frames on the trunk (relay.py), and their removal. A wrap that does not apply to a
frame, as MPLS for ARP, leaves it unchanged; so does unwrap() if there is no wrap."""
import struct

IPV4, IPV6, TAG, SERVICE_TAG = b"\x08\0", b"\x86\xdd", b"\x81\0", b"\x88\xa8"
OUTER = bytes.fromhex("02000000ff02" "02000000ff01")
PPP = {IPV4: b"\0\x21", IPV6: b"\0\x57"}


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv4(body, protocol, number=1, source=b"\x0a\xc8\0\1", to=b"\x0a\xc8\0\2", options=b"", ttl=64):
    head = struct.pack(">BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, 20 + len(options) + len(body),
                       number & 0xffff, 0, ttl, protocol, 0, source, to) + options
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + body


class Wrap:
    """The frame itself."""
    name = "plain"

    def wrap(self, frame):
        return frame

    def unwrap(self, frame):
        return frame


class Tags(Wrap):
    """VLAN tags. The kernel removes the outer one from received frames."""

    def __init__(self, *tags):
        self.tags = b"".join(kind + struct.pack(">H", number) for kind, number in tags)
        self.name = "-".join(["vlan", *(str(number) for _, number in tags)])

    def wrap(self, frame):
        return frame[:12] + self.tags + frame[12:]

    def unwrap(self, frame):
        while frame[12:14] in (TAG, SERVICE_TAG):
            frame = frame[:12] + frame[16:]
        return frame


class Mpls(Wrap):
    def __init__(self, *labels):
        last = len(labels) - 1
        self.stack = b"".join(struct.pack(">I", label << 12 | (n == last) << 8 | 64)
                              for n, label in enumerate(labels))
        self.name = "-".join(["mpls", *map(str, labels)])

    def wrap(self, frame):
        return frame[:12] + b"\x88\x47" + self.stack + frame[14:] if frame[12:14] in PPP else frame

    def unwrap(self, frame):
        if frame[12:14] != b"\x88\x47":
            return frame
        body = frame[14 + len(self.stack):]
        return frame[:12] + (IPV4 if body[0] >> 4 == 4 else IPV6) + body


class Pppoe(Wrap):
    name = "pppoe"

    def wrap(self, frame):
        inner = PPP.get(frame[12:14])
        return (frame[:12] + b"\x88\x64\x11\0\0\1" + struct.pack(">H", len(frame) - 12) + inner + frame[14:]
                if inner else frame)

    def unwrap(self, frame):
        if frame[12:14] != b"\x88\x64":
            return frame
        return frame[:12] + (IPV4 if frame[20:22] == PPP[IPV4] else IPV6) + frame[22:]


class Snap(Wrap):
    """An 802.3 frame: a length, and the type after an LLC header."""
    name = "snap"

    def wrap(self, frame):
        return frame[:12] + struct.pack(">H", len(frame) - 6) + b"\xaa\xaa\x03\0\0\0" + frame[12:]

    def unwrap(self, frame):
        return frame[:12] + frame[20:] if frame[14:17] == b"\xaa\xaa\x03" else frame


class Tunnel(Wrap):
    """After outer Ethernet, IPv4 and a tunnel's header."""

    def __init__(self, name, protocol, head, whole=False):
        self.name, self.protocol, self.head, self.whole, self.count = name, protocol, head, whole, 0

    def wrap(self, frame):
        if not self.whole and frame[12:14] not in PPP:
            return frame
        self.count += 1
        body = self.head(frame) + (frame if self.whole else frame[14:])
        if self.protocol == 17:
            body = struct.pack(">HHHH", 49152 + self.count % 1000, self.port(), 8 + len(body), 0) + body
        addresses = (frame[:6], frame[6:12]) if not self.whole else (OUTER[:6], OUTER[6:])
        return b"".join(addresses) + IPV4 + ipv4(body, self.protocol, self.count)

    def port(self):
        return {"vxlan": 4789, "geneve": 6081}[self.name]

    def unwrap(self, frame):
        if frame[12:14] != IPV4 or frame[26:34] != b"\x0a\xc8\0\1\x0a\xc8\0\2":
            return frame
        body = frame[34 + (8 if self.protocol == 17 else 0) + len(self.head(frame)):]
        if self.whole:
            return body
        return frame[:12] + (IPV4 if body[0] >> 4 == 4 else IPV6) + body


def tunnels():
    return (Tunnel("vxlan", 17, lambda _: b"\x08\0\0\0\0\0\x2a\0", whole=True),
            Tunnel("geneve", 17, lambda _: b"\0\0\x65\x58\0\0\5\0", whole=True),
            Tunnel("gre", 47, lambda frame: b"\x20\0" + frame[12:14] + b"\0\0\0\7"),
            Tunnel("ip-in-ip", 4, lambda _: b""), Tunnel("6in4", 41, lambda _: b""))


class Inside(Wrap):
    """Between the IP header and the next one: IPv4 options and AH; IPv6 extension headers. Packets
    with their own, as IGMP and MLD have, stay unchanged."""
    name = "extensions"
    options = b"\x94\4\0\0" + b"\x44\x0c\5\0" + bytes(8) + b"\1" * 4
    head = 24  # for an AH with a check value of 12 bytes

    def wrap(self, frame):
        if frame[12:15] == IPV4 + b"\x45":
            return frame[:14] + self.into_4(frame[14:])
        return frame[:14] + self.into_6(frame[14:]) if frame[12:14] == IPV6 and frame[20] else frame

    def into_4(self, packet):
        total = struct.unpack_from(">H", packet, 2)[0] + len(self.options)
        first = not struct.unpack_from(">H", packet, 6)[0] & 0x1fff
        ah = bytes([packet[9], 4, 0, 0]) + b"\0\0\1\0" + packet[4:6] * 2 + bytes(12) if first else b""
        head = (bytes([0x45 + len(self.options) // 4, packet[1]]) + struct.pack(">H", total + len(ah)) +
                packet[4:9] + bytes([51 if first else packet[9]]) + b"\0\0" + packet[12:20] + self.options)
        return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + ah + packet[20:]

    @staticmethod
    def into_6(packet):
        chain = bytes([60, 0, 5, 2, 0, 0, 1, 0]) + bytes([43, 1, 1, 12]) + bytes(12) + bytes(
            [packet[6], 0, 0, 0, 0, 0, 0, 0])
        length, = struct.unpack_from(">H", packet, 4)
        return packet[:4] + struct.pack(">H", length + len(chain)) + bytes([0]) + packet[7:40] + chain + packet[40:]

    def unwrap(self, frame):
        packet = frame[14:]
        if frame[12:14] == IPV6 and packet[6] == 0 and packet[40] == 60:
            inner = packet[40 + 24]
            length, = struct.unpack_from(">H", packet, 4)
            return frame[:14] + packet[:4] + struct.pack(">H", length - 32) + bytes(
                [inner]) + packet[7:40] + packet[72:]
        if frame[12:14] != IPV4 or packet[0] != 0x45 + len(self.options) // 4:
            return frame
        at = 20 + len(self.options)
        total = struct.unpack_from(">H", packet, 2)[0] - len(self.options)
        protocol, rest = packet[9], packet[at:]
        if protocol == 51:
            protocol, rest, total = rest[0], rest[self.head:], total - self.head
        head = (b"\x45" + packet[1:2] + struct.pack(">H", total) + packet[4:9] + bytes([protocol]) + b"\0\0" +
                packet[12:20])
        return frame[:14] + head[:10] + struct.pack(">H", checksum(head)) + head[12:] + rest


WRAPS = {w.name: w for w in (
    Wrap(), Tags((TAG, 1)), Tags((TAG, 100)), Tags((SERVICE_TAG, 3), (TAG, 4)), Tags((TAG, 10), (TAG, 20)),
    Mpls(100), Mpls(100000, 1024), Pppoe(), Snap(), Inside(), *tunnels())}
