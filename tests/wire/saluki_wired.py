# SPDX-License-Identifier: GPL-2.0
"""The second implementation of wired templates, written from docs/wire.md, "Wired templates". In: an
Ethernet frame's columns. Out: the frame; and the reverse. Columns are objects of saluki_combo.py."""
import collections

from wire.numbers import Refused, unzigzag, varint, zigzag

HEAD_MAX, TEMPLATES_MAX, WHOLE, DIFFERENCE, NO_LIMIT, L3_MAX = 96, 254, 0, 255, 0xffffffff, 26
RAW, IP, ICMP, UDP, TCP, STAMPS = range(6)
COLUMNS = ("flows references masks rares totals ids seqs acks tcp_flags windows tcp_stamps "
           "originals differences heads").split()
# Bits of a mask and of the rare bits.
LENGTH, ID, SEQ, ACK, FLAGS, WINDOW, STAMP, RARE = (1 << i for i in range(8))
IP_CHECKSUM, ORIGINAL, BYTES, UDP_LENGTH, WIDE_ACK, WIDE_STAMPS, KEPT = (1 << i for i in range(7))
MASKS = {RAW: 0, IP: LENGTH | ID, ICMP: LENGTH | ID | SEQ, UDP: LENGTH | ID | SEQ,
         TCP: 0x3f, STAMPS: 0x7f}
RARES = {RAW: 0, IP: IP_CHECKSUM, ICMP: IP_CHECKSUM, UDP: IP_CHECKSUM | UDP_LENGTH,
         TCP: IP_CHECKSUM | WIDE_ACK, STAMPS: IP_CHECKSUM | WIDE_ACK | WIDE_STAMPS}
# Bytes behind l4 that are fields.
L4_FIELDS = {RAW: (), IP: (), ICMP: (2, 3, 6, 7), UDP: (4, 5, 6, 7),
             TCP: (*range(4, 12), 13, 14, 15, 16, 17),
             STAMPS: (*range(4, 12), 13, 14, 15, 16, 17, *range(24, 32))}


def be(data, at, n=2):
    return int.from_bytes(data[at:at + n], "big")


def put(head, at, v, n=2):
    head[at:at + n] = (v & (1 << 8 * n) - 1).to_bytes(n, "big")


class Shape(collections.namedtuple("Shape", "kind v6 l3 l4 length")):
    def fields(self):
        """The places that have fields of their own."""
        if self.kind == RAW:
            return set()
        ip = (4, 5) if self.v6 else (2, 3, 4, 5, 10, 11)
        return {self.l3 + i for i in ip} | {self.l4 + i for i in L4_FIELDS[self.kind]}

    def length_at(self):
        return self.l3 + (4 if self.v6 else 2)

    def header_length(self, head):
        if self.kind == RAW:
            return 0
        return self.l3 + be(head, self.length_at()) + (40 if self.v6 else 0)


def layer_3(data):
    """(EtherType, place) of what is behind the tags, labels and PPPoE headers that end by byte
    L3_MAX."""
    kind, at = be(data, 12), 14
    while True:
        if kind in (0x8100, 0x88a8) and at + 4 <= L3_MAX:
            kind, at = be(data, at + 2), at + 4
        elif kind in (0x8847, 0x8848) and at + 4 <= L3_MAX:
            if data[at + 2] & 1:
                kind = {4: 0x0800, 6: 0x86dd}.get(data[at + 4] >> 4)
            at += 4
        elif kind == 0x8864 and at + 8 <= L3_MAX:
            kind, at = {0x21: 0x0800, 0x57: 0x86dd}.get(be(data, at + 6)), at + 8
        else:
            return kind, at


def shape(data):
    raw = Shape(RAW, False, 0, 0, min(len(data), HEAD_MAX))
    if len(data) < 34:
        return raw
    kind, l3 = layer_3(data)
    if kind == 0x0800 and len(data) >= l3 + 20 and data[l3] == 0x45:
        l4, v6, protocol = l3 + 20, False, data[l3 + 9]
        if be(data, l3 + 6) & 0x3fff:
            protocol = None
    elif kind == 0x86dd and len(data) >= l3 + 40:
        l4, v6, protocol = l3 + 40, True, data[l3 + 6]
    else:
        return raw
    left = len(data) - l4
    if protocol == 6 and left >= 20:
        n = (data[l4 + 12] >> 4) * 4
        if 20 <= n <= left and l4 + n <= HEAD_MAX:
            stamps = n == 32 and data[l4 + 20:l4 + 24] == b"\1\1\x08\x0a"
            return Shape(STAMPS if stamps else TCP, v6, l3, l4, l4 + n)
    elif protocol == 17 and left >= 8:
        return Shape(UDP, v6, l3, l4, l4 + 8)
    elif protocol == (58 if v6 else 1) and left >= 8:
        return Shape(ICMP, v6, l3, l4, l4 + 8)
    return Shape(IP, v6, l3, l4, l4)


def ip_checksum(ip):
    total = sum(be(ip, i) for i in range(0, 20, 2) if i != 10)
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


class Template:
    def __init__(self, head, its_shape, slack=0, floor=0, limit=NO_LIMIT):
        self.head, self.shape = bytearray(head), its_shape
        self.slack, self.floor, self.limit = slack, floor, limit
        self.step, self.peer, self.next_seq = 1, 0, None

    def learn_seq(self):
        if self.shape.kind < TCP:
            return
        l4 = self.shape.l4
        payload = self.shape.header_length(self.head) - l4 - (self.head[l4 + 12] >> 4) * 4
        flags = self.head[l4 + 13]
        self.next_seq = be(self.head, l4 + 4, 4) + payload + (flags & 1) + (flags >> 1 & 1)
        self.next_seq &= 0xffffffff

    def expected_original(self):
        n = self.shape.header_length(self.head) + self.slack & 0xffffffff
        return max(n, self.floor)

    def learn_original(self, n):
        by_header = self.shape.header_length(self.head)
        if n == self.expected_original():
            return
        if n <= 64 and by_header + self.slack & 0xffffffff < n:
            self.floor = n
        else:
            self.floor, self.slack = 0, n - by_header & 0xffffffff

    def expected_kept(self, original):
        return min(original, self.limit)

    def learn_kept(self, original, kept):
        if kept != self.expected_kept(original):
            self.limit = kept if kept < original else NO_LIMIT


class Table:
    def __init__(self, most):
        self.most, self.list, self.last = most, {}, 0

    def new(self, template):
        self.last = 1 if self.last == self.most else self.last + 1
        self.list[self.last] = template
        return self.last

    def set_peer(self, n, peer):
        self.list[n].peer = peer
        if peer:
            self.list[peer].peer = n

    def peer_seq(self, m):
        peer = self.list.get(m.peer)
        if peer and peer.shape.kind >= TCP:
            return peer.next_seq
        return be(m.head, m.shape.l4 + 8, 4)

    def peer_stamp(self, m):
        peer = self.list.get(m.peer)
        if peer and peer.shape.kind == STAMPS:
            return be(peer.head, peer.shape.l4 + 24, 4)
        return be(m.head, m.shape.l4 + 28, 4)


# ---- reading -----------------------------------------------------------------------------------

class FlowReader:
    """columns: name to Reader. tails: has take(n), which returns the next tail of n bytes."""

    def __init__(self, columns, tails):
        self.columns, self.tails = columns, tails
        most = self._number("flows", 1)
        if not 1 <= most <= TEMPLATES_MAX:
            raise Refused("a table of no size")
        self.table = Table(most)

    def _number(self, column, n):
        return int.from_bytes(self.columns[column].take(n), "big")

    def frame(self):
        """Returns bytes and how many were cut off."""
        flow = self._number("flows", 1)
        if flow == WHOLE:
            data, original = self._whole()
        elif flow == DIFFERENCE:
            data, original = self._difference()
        else:
            data, original = self._known(flow)
        return data, original - len(data)

    def _get(self, n):
        if n not in self.table.list:
            raise Refused("a template that is none")
        return self.table.list[n]

    def _new_peer(self, m, n):
        if m.shape.kind >= TCP:
            peer = self._number("references", 1)
            if peer:
                self._get(peer)
            self.table.set_peer(n, peer)
        m.learn_seq()

    def _whole(self):
        kept = self.columns["kepts"].varint(262144)
        original = kept + self.columns["cuts"].varint(0xffffffff - kept)
        data = self.columns["heads"].take(min(kept, HEAD_MAX))
        data += self.tails.take(kept - len(data))
        m = Template(data[:shape(data).length], shape(data))
        m.learn_original(original)
        m.learn_kept(original, kept)
        self._new_peer(m, self.table.new(m))
        return data, original

    def _difference(self):
        of = self._get(self._number("references", 1))
        m = Template(of.head, of.shape, of.slack, of.floor, of.limit)
        n = self.table.new(m)
        self._differences(m, set())
        rare = self._number("rares", 1)
        if rare & ~(ORIGINAL | KEPT):
            raise Refused("bits")
        frame = self._lengths(m, rare)
        self._new_peer(m, n)
        return frame

    def _differences(self, m, fields):
        c, size = self.columns["differences"], m.shape.length
        words = self._number("differences", 2)
        if not words or words >> (size + 7) // 8:
            raise Refused("differences")
        for i in range(12):
            if not words >> i & 1:
                continue
            bits = c.byte()
            if not bits:
                raise Refused("no differences")
            for j in range(8):
                if bits >> j & 1:
                    at = 8 * i + j
                    if at >= size or at in fields:
                        raise Refused("a difference in a field")
                    m.head[at] = c.byte()

    def _lengths(self, m, rare):
        original = m.expected_original()
        if rare & ORIGINAL:
            original = self.columns["originals"].varint(0xffffffff)
        m.learn_original(original)
        kept = m.expected_kept(original)
        if rare & KEPT:
            kept = self.columns["kepts"].varint(0xffffffff)
        if not m.shape.length <= kept <= original:
            raise Refused("lengths")
        m.learn_kept(original, kept)
        return bytes(m.head) + self.tails.take(kept - m.shape.length), original

    def _known(self, n):
        m = self._get(n)
        kind, v6, l3, _, _ = m.shape
        mask, rare = self._number("masks", 1), 0
        if mask & RARE:
            rare = self._number("rares", 1)
        if (mask & ~(MASKS[kind] & (~ID if v6 else 0xff) | RARE) or
                rare & ~(RARES[kind] & (~IP_CHECKSUM if v6 else 0xff) | ORIGINAL | BYTES | KEPT)):
            raise Refused("bits")
        if kind != RAW:
            self._ip(m, mask)
        (self._tcp if kind >= TCP else {UDP: self._udp, ICMP: self._icmp}.get(kind, lambda *_: None))(
            m, mask, rare)
        if rare & BYTES:
            self._differences(m, m.shape.fields())
        if kind != RAW and not v6:
            self._checksum(m, l3, rare)
        frame = self._lengths(m, rare)
        m.learn_seq()
        return frame

    def _ip(self, m, mask):
        if mask & LENGTH:
            put(m.head, m.shape.length_at(), self._number("totals", 2))
        if m.shape.v6:
            return
        step = self._number("ids", 2) if mask & ID else m.step
        put(m.head, m.shape.l3 + 4, be(m.head, m.shape.l3 + 4) + step)
        m.step = step if step in (0, 1, 256) else m.step

    def _checksum(self, m, l3, rare):
        if rare & IP_CHECKSUM:
            put(m.head, l3 + 10, self._number("randoms", 2))
        elif be(m.head, l3 + 10):
            put(m.head, l3 + 10, ip_checksum(m.head[l3:]))

    def _icmp(self, m, mask, _):
        at = m.shape.l4 + 6
        put(m.head, at, be(m.head, at) + (self._number("ids", 2) if mask & SEQ else 1))
        put(m.head, m.shape.l4 + 2, self._number("randoms", 2))

    def _udp(self, m, mask, rare):
        length = be(m.head, m.shape.length_at()) - (0 if m.shape.v6 else 20)
        put(m.head, m.shape.l4 + 4, self._number("totals", 2) if rare & UDP_LENGTH else length)
        if mask & SEQ:
            put(m.head, m.shape.l4 + 6, self._number("randoms", 2))

    def _tcp(self, m, mask, rare):
        l4, head = m.shape.l4, m.head
        if mask & ACK:
            d = self._number("acks", 4 if rare & WIDE_ACK else 2)
            put(head, l4 + 8, self.table.peer_seq(m) + unzigzag(d), 4)
        put(head, l4 + 4, m.next_seq + (self._number("seqs", 4) if mask & SEQ else 0), 4)
        if mask & FLAGS:
            head[l4 + 13] = self._number("tcp_flags", 1)
        if mask & WINDOW:
            put(head, l4 + 14, self._number("windows", 2))
        if mask & STAMP:
            n = 4 if rare & WIDE_STAMPS else 2
            value, reply = (unzigzag(self._number("tcp_stamps", n)) for _ in range(2))
            reply += self.table.peer_stamp(m)
            put(head, l4 + 24, be(head, l4 + 24, 4) + value, 4)
            put(head, l4 + 28, reply, 4)
        put(head, l4 + 16, self._number("randoms", 2))


# ---- writing -----------------------------------------------------------------------------------

class FlowWriter:
    """add: called with a column's name and bytes; a tail's name is tails."""

    def __init__(self, add, most=TEMPLATES_MAX):
        self.add, self.table = add, Table(most)
        self.flows, self.classes = {}, {}
        add("flows", bytes([most]))

    @staticmethod
    def _key(s, data):
        if s.kind == RAW:
            return s, data[:12]
        addresses = data[s.l3 + 8:s.l3 + 40] if s.v6 else data[s.l3 + 12:s.l3 + 20]
        ports = data[s.l4:s.l4 + 4] if s.kind >= UDP else b""
        return s, addresses, ports

    def _reverse(self, s, data):
        """The key of the other direction, whatever its options are."""
        if s.kind < TCP:
            return 0
        half = 16 if s.v6 else 4
        at = s.l3 + (8 if s.v6 else 12)
        wanted = (data[at + half:at + 2 * half] + data[at:at + half],
                  data[s.l4 + 2:s.l4 + 4] + data[s.l4:s.l4 + 2])
        return next((n for key, n in self.flows.items() if key[0].kind >= TCP and key[1:] == wanted), 0)

    def frame(self, data, original):
        s = shape(data)
        key = self._key(s, data)
        n = self.flows.get(key)
        if n and self._known(n, data, original):
            return
        peer = self._reverse(s, data)
        m = Template(data[:s.length], s)
        number = 1 if self.table.last == self.table.most else self.table.last + 1
        of = self.classes.get((s, data[6:14]))
        reference = self.table.list[of] if of else None
        self.flows = {k: v for k, v in self.flows.items() if v != number}
        self.classes = {k: v for k, v in self.classes.items() if v != number}
        assert self.table.new(m) == number
        changes = self._changes(reference.head, m.head, set()) if reference else b""
        if changes and 2 * len(changes) <= s.length:
            m.slack, m.floor, m.limit = reference.slack, reference.floor, reference.limit
            self.add("flows", bytes([DIFFERENCE]))
            self.add("references", bytes([of]))
            self.add("differences", changes)
            self.add("rares", bytes([self._lengths(m, original, len(data))]))
            self.add("tails", data[s.length:])
        else:
            self.add("flows", bytes([WHOLE]))
            self.add("kepts", varint(len(data)))
            self.add("cuts", varint(original - len(data)))
            self.add("heads", data[:HEAD_MAX])
            self.add("tails", data[HEAD_MAX:])
            m.learn_original(original)
            m.learn_kept(original, len(data))
        if s.kind >= TCP:
            peer = 0 if peer == number else peer
            self.add("references", bytes([peer]))
            self.table.set_peer(number, peer)
        m.learn_seq()
        self.flows[key] = self.classes[s, data[6:14]] = number

    @staticmethod
    def _changes(old, new, fields):
        words, out = 0, b""
        for i in range(0, len(new), 8):
            differ = [at for at in range(i, min(i + 8, len(new)))
                      if at not in fields and old[at] != new[at]]
            if differ:
                words |= 1 << i // 8
                out += bytes([sum(1 << at - i for at in differ)]) + bytes(new[at] for at in differ)
        return words.to_bytes(2, "big") + out if words else b""

    def _lengths(self, m, original, kept):
        rare = 0
        if original != m.expected_original():
            rare |= ORIGINAL
            self.add("originals", varint(original))
            m.learn_original(original)
        if kept != m.expected_kept(original):
            rare |= KEPT
            self.add("kepts", varint(kept))
            m.learn_kept(original, kept)
        return rare

    def _number(self, column, v, n):
        self.add(column, (v & (1 << 8 * n) - 1).to_bytes(n, "big"))

    def _known(self, n, data, original):
        """Returns whether the frame was written."""
        m = self.table.list[n]
        s, new = m.shape, data[:m.shape.length]
        changes = self._changes(m.head, new, s.fields())
        if 2 * len(changes) > s.length:
            return False
        mask = rare = 0
        if s.kind != RAW:
            mask |= self._ip(m, new)
        if s.kind >= TCP:
            mask, rare = self._tcp(m, new, mask)
        elif s.kind == UDP:
            length, at = be(new, s.length_at()) - (0 if s.v6 else 20) & 0xffff, s.l4
            if be(new, at + 4) != length:
                rare |= UDP_LENGTH
                self._number("totals", be(new, at + 4), 2)
            if be(new, at + 6) != be(m.head, at + 6):
                mask |= SEQ
                self._number("randoms", be(new, at + 6), 2)
        elif s.kind == ICMP:
            step = be(new, s.l4 + 6) - be(m.head, s.l4 + 6) & 0xffff
            if step != 1:
                mask |= SEQ
                self._number("ids", step, 2)
            self._number("randoms", be(new, s.l4 + 2), 2)
        if s.kind != RAW and not s.v6:
            expected = ip_checksum(new[s.l3:]) if be(m.head, s.l3 + 10) else 0
            if be(new, s.l3 + 10) != expected:
                rare |= IP_CHECKSUM
                self._number("randoms", be(new, s.l3 + 10), 2)
        m.head = bytearray(new)
        m.learn_seq()
        rare |= self._lengths(m, original, len(data)) | (BYTES if changes else 0)
        self.add("differences", changes)
        self.add("flows", bytes([n]))
        self.add("masks", bytes([mask | (RARE if rare else 0)]))
        self.add("rares", bytes([rare]) if rare else b"")
        self.add("tails", data[s.length:])
        return True

    def _ip(self, m, new):
        mask, at = 0, m.shape.length_at()
        if be(new, at) != be(m.head, at):
            mask |= LENGTH
            self._number("totals", be(new, at), 2)
        if m.shape.v6:
            return mask
        step = be(new, m.shape.l3 + 4) - be(m.head, m.shape.l3 + 4) & 0xffff
        if step != m.step:
            mask |= ID
            self._number("ids", step, 2)
            m.step = step if step in (0, 1, 256) else m.step
        return mask

    def _tcp(self, m, new, mask):
        l4, old, rare = m.shape.l4, m.head, 0
        if be(new, l4 + 4, 4) != m.next_seq:
            mask |= SEQ
            self._number("seqs", be(new, l4 + 4, 4) - m.next_seq, 4)
        if new[l4 + 8:l4 + 12] != old[l4 + 8:l4 + 12]:
            d = zigzag(be(new, l4 + 8, 4) - self.table.peer_seq(m), 32)
            mask |= ACK
            rare |= WIDE_ACK if d > 0xffff else 0
            self._number("acks", d, 4 if d > 0xffff else 2)
        if new[l4 + 13] != old[l4 + 13]:
            mask |= FLAGS
            self._number("tcp_flags", new[l4 + 13], 1)
        if new[l4 + 14:l4 + 16] != old[l4 + 14:l4 + 16]:
            mask |= WINDOW
            self._number("windows", be(new, l4 + 14), 2)
        if m.shape.kind == STAMPS and new[l4 + 24:l4 + 32] != old[l4 + 24:l4 + 32]:
            value = zigzag(be(new, l4 + 24, 4) - be(old, l4 + 24, 4), 32)
            reply = zigzag(be(new, l4 + 28, 4) - self.table.peer_stamp(m), 32)
            wide = max(value, reply) > 0xffff
            mask |= STAMP
            rare |= WIDE_STAMPS if wide else 0
            self._number("tcp_stamps", value, 4 if wide else 2)
            self._number("tcp_stamps", reply, 4 if wide else 2)
        self._number("randoms", be(new, l4 + 16), 2)
        return mask, rare
