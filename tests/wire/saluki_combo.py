# SPDX-License-Identifier: GPL-2.0
"""A second implementation of combos, dwells, module events, clock readings, totals, progress and info, written
from docs/wire.md alone. In: a combo's bytes. Out: its frames and events; and the reverse (combo_write).
"""
import collections
import pathlib
import re
import struct
import zlib

import zstandard

from wire import saluki_wired as sd
from wire.numbers import M64, Reader, unzigzag, varint, zigzag
from wire.saluki_wire import PROGRESS, TOTALS, Refused

MAGIC = 0x534c4b49
VERSION = 4
STORED, ZSTD, ZSTD_DOT11, DENSE = 0, 1, 2, 0x80
FRAMES_MAX, BODY_MAX, BYTES_MAX, KINDS_MAX = 4096, 33024, 262144, 16
EVENTS_MAX, EVENT_LEN_MAX = 256, 512
DWELL, SAID, CLOCK, UNSETTLED = 1, 2, 3, 0x80
READINGS_MAX = 16
FORM_LEN_MAX, FORMS_MAX, SIGNALS_MAX, WORDS_MAX = 512, 254, 6, 6
FORM_WHOLE, FORM_DIFFERENCE = 0, 255
HEAD_LEN, TAIL_MIN, BACK_MAX = 64, 72, 255
IN_BYTES, IN_RANDOMS, REPEATED = 0, 1, 2
WITH_FORMS, ETHERNET = (127, 105), 1
COLUMNS = ("kinds times kepts cuts forms clocks stamps aggregates signals sequences beacons "
           "packets").split() + sd.COLUMNS + ["events", "places", "randoms"]
DICTIONARY = pathlib.Path(__file__).resolve().parents[2] / "wire/dictionary_dot11.bin"


class Frame:
    def __init__(self, time_ns, orig_len, linktype, data, interface=0, direction=0):
        self.time_ns, self.orig_len, self.linktype, self.data = time_ns, orig_len, linktype, data
        self.interface, self.direction = interface, direction

    def key(self):
        return (self.time_ns, self.orig_len, self.linktype, self.interface, self.direction,
                self.data)


Event = collections.namedtuple("Event", "at type data")  # at: frames before it in its combo


# ---- places of a frame's fields ------------------------------------------------------------------

RADIOTAP = ((8, 8), (1, 1), (1, 1), (2, 4), (1, 2), (1, 1), (1, 1), (2, 2), (2, 2), (2, 2), (1, 1),
            (1, 1), (1, 1), (1, 1), (2, 2), (2, 2), (1, 1), (1, 1), (4, 8), (1, 3), (4, 8), (2, 12),
            (8, 12), (2, 12), (2, 12), (2, 6), (1, 1), (2, 4))
NAMED = {0: "clock", 1: "flags", 20: "aggregate", 22: "stamp"}


def le(data, at, n):
    return int.from_bytes(data[at:at + n], "little")


def _radiotap_fields(frame, end):
    """(bit, place) of each field; None where the present words do not fit."""
    words = [le(frame, 4, 4)]
    while words[-1] >> 31:
        at = 4 + 4 * len(words)
        if len(words) == WORDS_MAX or at + 4 > end:
            return None
        words.append(le(frame, at, 4))
    found, at = [], 4 + 4 * len(words)
    for word in words:
        for bit in range(29):
            if not word >> bit & 1:
                continue
            if bit == 28:
                return found
            align, size = RADIOTAP[bit]
            at = (at + align - 1) // align * align
            if at + size > end:
                return found
            found.append((bit, at))
            at += size
        if not word >> 29 & 1:
            break
    return found


class Places:
    """The fields' places, None: absent; and their owners: station, counter, pair."""

    def __init__(self, frame, linktype):
        self.clock = self.stamp = self.aggregate = self.flags = None
        self.sequence = self.beacon = self.packet = None
        self.signals, self.retry = [], False
        self.station = self.counter = self.pair = 0
        mac = 0
        if linktype == 127:
            mac = self._radiotap(frame)
            if mac is None:
                return
        self._dot11(frame, mac)
        self._slots(frame[mac:])

    def _radiotap(self, frame):
        if len(frame) < 8 or frame[0]:
            return None
        end = le(frame, 2, 2)
        if not 8 <= end <= min(255, len(frame)):
            return None
        fields = _radiotap_fields(frame, end)
        if fields is None:
            return None
        for bit, at in fields:
            if bit in (5, 7, 12):
                self.signals = (self.signals + [at])[:SIGNALS_MAX]
            elif bit in NAMED and getattr(self, NAMED[bit]) is None:
                setattr(self, NAMED[bit], at)
        if self.stamp is not None and frame[self.stamp + 10] & 0x0f != 1:
            self.stamp = None
        return end

    def _dot11(self, frame, mac):
        header = frame[mac:]
        if len(header) < 24 or header[0] & 0x0f not in (0, 8):
            return
        self.sequence, self.retry = mac + 22, bool(header[1] & 8)
        body, data, qos = 24, header[0] & 0x0f == 8, bool(header[0] & 0x80)
        if data and header[1] & 3 == 3:
            body += 6
        if data and qos:
            body += 2
        if header[1] & 0x80 and (qos or not data):
            body += 4
        if self.flags is not None and frame[self.flags] & 0x20:
            body = (body + 3) // 4 * 4
        if len(header) < body + 8:
            return
        if header[0] in (0x80, 0x50):
            self.beacon = mac + body
        elif header[1] & 0x40 and header[body + 2] == 0 and header[body + 3] & 0x20:
            self.packet = mac + body

    def _slots(self, header):
        if len(header) < 10:
            return
        receiver = le(header, 6, 4)
        self.station = slot(receiver, 0)
        if len(header) < 16:
            return
        transmitter = le(header, 12, 4)
        self.station = self.counter = slot(transmitter, 0)
        self.pair = slot(transmitter, receiver)
        tid = 30 if header[1] & 3 == 3 else 24
        if header[0] & 0x8f == 0x88 and tid < len(header):
            self.counter = slot(transmitter + (header[tid] & 0x0f), receiver)

    def spans(self):
        """(name, places of its bytes, the lowest first)"""
        for name, size in (("clock", 8), ("stamp", 8), ("aggregate", 4), ("sequence", 2),
                           ("beacon", 8)):
            at = getattr(self, name)
            if at is not None:
                yield name, range(at, at + size)
        if self.packet is not None:
            yield "packet", [self.packet + i for i in (0, 1, 4, 5, 6, 7)]
        for i, at in enumerate(self.signals):
            yield i, [at]


def slot(a, b):
    rotated = (b << 16 | b >> 16) & 0xffffffff
    return ((((a & 0xffffffff) ^ rotated) * 0x9e3779b1) & 0xffffffff) >> 25


class Form:
    def __init__(self, data, linktype, ahead):
        self.data, self.linktype, self.ahead, self.cut = data, linktype, ahead, 0
        self.places = Places(data, linktype)


class Learnt:
    """The frames' state so far in a combo, with sums and differences."""

    def __init__(self):
        self.forms = []
        self.ahead = self.stamp_ahead = self.aggregate = 0
        self.signals = [[0] * SIGNALS_MAX for _ in range(128)]
        self.sequences, self.beacons, self.packets = [0] * 128, [0] * 128, [0] * 128

    def new(self, data, linktype):
        form = Form(data, linktype, self.ahead)
        if len(self.forms) < FORMS_MAX:
            self.forms.append(form)
        return form

    def expected(self, form, time_us, clock):
        """Each field's prediction; `clock` is the frame's own, if it has one."""
        p = form.places
        out = {"clock": time_us + form.ahead, "stamp": time_us + self.stamp_ahead,
               "aggregate": self.aggregate, "packet": self.packets[p.pair] + 1,
               "beacon": (time_us if clock is None else clock) + self.beacons[p.station]}
        out.update(enumerate(self.signals[p.station]))
        return {name: v & M64 for name, v in out.items()}

    def learn(self, form, time_us, fields):
        p = form.places
        now = fields.get("clock", time_us)
        if "clock" in fields:
            form.ahead = self.ahead = now - time_us & M64
        if "stamp" in fields:
            self.stamp_ahead = fields["stamp"] - time_us & M64
        self.aggregate = fields.get("aggregate", self.aggregate)
        for i in range(len(p.signals)):
            self.signals[p.station][i] = fields[i]
        if "sequence" in fields:
            self.sequences[p.counter] = fields["sequence"]
        if "beacon" in fields:
            self.beacons[p.station] = fields["beacon"] - now & M64
        if "packet" in fields:
            self.packets[p.pair] = fields["packet"]

    def next_number(self, form):
        p = form.places
        return (self.sequences[p.counter] >> 4) + (0 if p.retry else 1)


# ---- reading -----------------------------------------------------------------------------------

BITS = {"clock": 64, "stamp": 64, "aggregate": 32, "beacon": 64, "packet": 48}
COLUMN = {"clock": "clocks", "stamp": "stamps", "aggregate": "aggregates", "beacon": "beacons",
          "packet": "packets"}


class TailReader:
    """Takes tails from the frames' bytes, from `randoms`, or from earlier tails."""

    def __init__(self, columns, frames_bytes):
        self.columns, self.bytes, self.random = columns, frames_bytes, []
        self.places, self.has_places = [], columns["places"].left() > 0

    def _place(self):
        if not self.places:
            byte = self.columns["places"].byte()
            self.places = [byte >> i & 3 for i in (0, 2, 4, 6)]
        return self.places.pop(0)

    def take(self, n):
        place = self._place() if n >= TAIL_MIN and self.has_places else IN_BYTES
        if place == IN_BYTES:
            return self.bytes.take(n)
        if place == IN_RANDOMS:
            self.random.append(self.columns["randoms"].take(n))
            return self.random[-1]
        if place != REPEATED:
            raise Refused("a place that is none")
        back = self.columns["references"].byte()
        if not 1 <= back <= len(self.random) or len(self.random[-back]) != n:
            raise Refused("a tail that is none")
        return self.random[-back]


class BodyReader:
    def __init__(self, body, frames):
        r = Reader(body)
        self.first = r.varint()
        self.time_ns = int.from_bytes(r.take(8), "big")
        self.unit = r.varint()
        if self.unit not in (1, 1000):
            raise Refused("unit")
        present = r.varint((1 << len(COLUMNS)) - 1)
        lengths = [r.varint() if present >> i & 1 else 0 for i in range(len(COLUMNS))]
        if sum(lengths) > r.left():
            raise Refused("columns")
        lengths = dict(zip(COLUMNS, lengths))
        last = lengths.pop("randoms")
        self.columns = {name: Reader(r.take(n)) for name, n in lengths.items()}
        self.bytes = Reader(r.take(r.left() - last))
        self.columns["randoms"], self.flows = Reader(r.take(last)), None
        self.tails = TailReader(self.columns, self.bytes)
        self.learnt, self.run, self.kinds, self.all = Learnt(), 0, set(), 0
        self.frames = [self._frame() for _ in range(frames)]
        self.events = list(self._events())
        if not frames and not self.events or len(self.events) > EVENTS_MAX:
            raise Refused("events")
        if (self.run or self.bytes.left() or any(c.left() for c in self.columns.values()) or
                any(self.tails.places)):
            raise Refused("more than its frames")

    def _events(self):
        c, at = self.columns["events"], 0
        while c.left():
            at += c.varint(len(self.frames) - at)
            kind = c.varint(0xffffffff)
            yield Event(at, kind, c.take(c.varint(EVENT_LEN_MAX)))

    def _kind(self):
        c = self.columns["kinds"]
        if not self.run:
            self.run = c.varint()
            self.linktype = c.varint(0xffff)
            self.interface, self.direction = c.byte(), c.byte()
            self.kinds.add((self.linktype, self.interface))
            if not self.run or len(self.kinds) > KINDS_MAX:
                raise Refused("kinds")
        self.run -= 1

    def _frame(self):
        self._kind()
        step = unzigzag(self.columns["times"].varint()) * self.unit
        self.time_ns = self.time_ns + step & M64
        if self.linktype in WITH_FORMS:
            data, cut = self._formed()
        elif self.linktype == ETHERNET:
            self.flows = self.flows or sd.FlowReader(self.columns, self.tails)
            data, cut = self.flows.frame()
        else:
            data, cut = self._stored()
        self.all += len(data)
        if self.all > BYTES_MAX or len(data) + cut > 0xffffffff:
            raise Refused("too many bytes")
        return Frame(self.time_ns, len(data) + cut, self.linktype, data, self.interface,
                     self.direction)

    def _bytes(self):
        kept = self.columns["kepts"].varint()
        return self.bytes.take(min(kept, HEAD_LEN)) + self.tails.take(max(0, kept - HEAD_LEN))

    def _stored(self, data=None):
        data = self._bytes() if data is None else data
        return data, self.columns["cuts"].varint(0xffffffff)

    def _formed(self):
        n = self.columns["forms"].byte()
        if n == FORM_DIFFERENCE:
            form = self.learnt.new(self._differing(), self.linktype)
        elif n:
            if n > len(self.learnt.forms) or self.learnt.forms[n - 1].linktype != self.linktype:
                raise Refused("a form that is none")
            form = self.learnt.forms[n - 1]
        else:
            data = self._bytes()
            if len(data) > FORM_LEN_MAX:
                return self._stored(data)
            form = self.learnt.new(data, self.linktype)
        form.cut = form.cut + unzigzag(self.columns["cuts"].varint(0xffffffff)) & 0xffffffff
        return self._fill(form), form.cut

    def _differing(self):
        back = self.columns["forms"].byte()
        if back >= len(self.learnt.forms):
            raise Refused("differences from no form")
        base = self.learnt.forms[-1 - back]
        if base.linktype != self.linktype:
            raise Refused("differences from a form of another link type")
        out, c = bytearray(base.data), self.columns["forms"]
        for _, places in base.places.spans():
            for at in places:
                out[at] = 0
        groups = le(c.take(-(-len(out) // 64)), 0, 8)
        for group in range(64):
            if groups >> group & 1:
                bits = c.byte()
                if not bits:
                    raise Refused("a group without differences")
                for at in (8 * group + i for i in range(8) if bits >> i & 1):
                    if at >= len(out):
                        raise Refused("a difference behind the form")
                    out[at] = self.bytes.byte()
        return bytes(out)

    def _fields(self, form):
        fields, time_us = {}, self.time_ns // 1000
        for name, _ in form.places.spans():
            expected = self.learnt.expected(form, time_us, fields.get("clock"))
            if name == "sequence":
                d = self.columns["sequences"].varint(0xffff)
                n = self.learnt.next_number(form) + unzigzag(d & 0xfff)
                fields[name] = (n & 0xfff) << 4 | d >> 12
            elif name in BITS:
                mask = (1 << BITS[name]) - 1
                d = unzigzag(self.columns[COLUMN[name]].varint(mask))
                fields[name] = expected[name] + d & mask
            else:
                fields[name] = expected[name] + self.columns["signals"].byte() & 0xff
        self.learnt.learn(form, time_us, fields)
        return fields

    def _fill(self, form):
        out = bytearray(form.data)
        fields = self._fields(form)
        for name, places in form.places.spans():
            for i, at in enumerate(places):
                out[at] = fields[name] >> 8 * i & 0xff
        return bytes(out)


def _dictionary():
    return zstandard.ZstdCompressionDict(DICTIONARY.read_bytes())


def _decompress(data, dsz, codec):
    if codec == STORED:
        return data
    dense = b""
    if codec & DENSE:
        n = int.from_bytes(data[:2], "big")
        if n > min(len(data) - 2, dsz):
            raise Refused("dense bytes")
        data, dense = data[2:len(data) - n], data[len(data) - n:]
    codec &= ~DENSE
    # zstandard does not read a frame without its magic number: it gets one.
    d = zstandard.ZstdDecompressor(dict_data=_dictionary() if codec == ZSTD_DOT11 else None)
    try:
        return d.decompress(b"\x28\xb5\x2f\xfd" + data, max_output_size=dsz - len(dense)) + dense
    except zstandard.ZstdError as e:
        raise Refused(str(e)) from e


class Combo:
    """A parsed combo: sensor, seqn, codec, first, frames, events."""

    def __init__(self, data, sensor=None):
        if len(data) < 17:
            raise Refused("a header that is cut")
        version, self.sensor, self.seqn, frames, dsz, magic, self.codec = struct.unpack(
            ">HHHHLLB", data[:17])
        if (version, magic) != (VERSION, MAGIC) or sensor not in (None, self.sensor):
            raise Refused("no combo of this sensor's")
        if frames > FRAMES_MAX or dsz > BODY_MAX or self.codec not in (
                STORED, ZSTD, ZSTD_DOT11, DENSE | ZSTD, DENSE | ZSTD_DOT11):
            raise Refused("limits")
        self.body = _decompress(data[17:], dsz, self.codec)
        if len(self.body) != dsz:
            raise Refused("not as long as it says")
        body = BodyReader(self.body, frames)
        self.first, self.frames, self.events = body.first, body.frames, body.events


# ---- writing -----------------------------------------------------------------------------------

class BodyWriter:
    def __init__(self, frames, first, events):
        self.columns = {name: b"" for name in COLUMNS}
        self.bytes, self.learnt, self.known, self.flows = b"", Learnt(), {}, None
        self.places, self.random = [], []
        self.unit = 1000 if all((f.time_ns - frames[0].time_ns) % 1000 == 0 for f in frames) else 1
        base = frames[0].time_ns if frames else 0
        last, run = frames[0] if frames else None, []
        for f in frames:
            if run and self._alike(run[0]) != self._alike(f):
                self._kinds(run)
                run = []
            run.append(f)
            self._add("times", varint(zigzag((f.time_ns - last.time_ns) // self.unit)))
            last = f
            self._frame(f)
        if run:
            self._kinds(run)
        at = 0
        for e in events:
            self._add("events", varint(e.at - at) + varint(e.type) + varint(len(e.data)) + e.data)
            at = e.at
        if any(self.places):
            for i in range(0, len(self.places), 4):
                four = self.places[i:i + 4]
                self._add("places", bytes([sum(p << 2 * j for j, p in enumerate(four))]))
        head = varint(first) + struct.pack(">Q", base) + varint(self.unit)
        head += varint(sum(bool(c) << i for i, c in enumerate(self.columns.values())))
        head += b"".join(varint(len(c)) for c in self.columns.values() if c)
        randoms = self.columns.pop("randoms")
        self.body = head + b"".join(self.columns.values()) + self.bytes + randoms
        self.dense = len(randoms)

    def _add(self, column, data):
        if column == "tails":
            self._tail(data)
        else:
            self.columns[column] += data

    def _tail(self, data):
        place = IN_BYTES
        if len(data) >= TAIL_MIN:
            last = self.random[:-BACK_MAX - 1:-1]
            if data in last:
                place = REPEATED
                self._add("references", bytes([last.index(data) + 1]))
            elif len(zlib.compress(data)) >= len(data):
                place = IN_RANDOMS
                self.random.append(data)
            self.places.append(place)
        if place == IN_BYTES:
            self.bytes += data
        elif place == IN_RANDOMS:
            self._add("randoms", data)

    def _head_and_tail(self, data):
        self.bytes += data[:HEAD_LEN]
        self._tail(bytes(data[HEAD_LEN:]))

    @staticmethod
    def _alike(f):
        return f.linktype, f.interface, f.direction

    def _kinds(self, run):
        self._add("kinds", varint(len(run)) + varint(run[0].linktype) +
                  bytes([run[0].interface, run[0].direction]))

    def _frame(self, f):
        formed = f.linktype in WITH_FORMS
        if formed and len(f.data) <= FORM_LEN_MAX:
            self._formed(f)
            return
        if f.linktype == ETHERNET:
            self.flows = self.flows or sd.FlowWriter(self._add)
            self.flows.frame(f.data, f.orig_len)
            return
        if formed:
            self._add("forms", b"\0")
        self._add("kepts", varint(len(f.data)))
        self._add("cuts", varint(f.orig_len - len(f.data)))
        self._head_and_tail(f.data)

    def _formed(self, f):
        zeros, fields = bytearray(f.data), {}
        for name, places in Places(f.data, f.linktype).spans():
            fields[name] = sum(zeros[at] << 8 * i for i, at in enumerate(places))
            for at in places:
                zeros[at] = 0
        key = (bytes(zeros), f.linktype)
        if key in self.known:
            form = self.known[key]
            self._add("forms", bytes([self.learnt.forms.index(form) + 1]))
        else:
            self._new_form(bytes(zeros), f.linktype)
            form = self.learnt.new(bytes(zeros), f.linktype)
            if form in self.learnt.forms:
                self.known[key] = form
        cut = f.orig_len - len(f.data)
        self._add("cuts", varint(zigzag(cut - form.cut, 32)))
        form.cut = cut
        self._differences(form, f.time_ns // 1000, fields)

    def _new_form(self, data, linktype):
        """Whole, or as differences from the form of the same length that is most like it."""
        changes = [([i for i, (a, b) in enumerate(zip(data, form.data)) if a != b], back)
                   for back, form in enumerate(reversed(self.learnt.forms))
                   if form.linktype == linktype and len(form.data) == len(data)]
        changed, back = min(changes, key=lambda c: len(c[0]), default=(data, 0))
        if len(changed) > len(data) // 2 or not data:
            self._add("forms", bytes([FORM_WHOLE]))
            self._add("kepts", varint(len(data)))
            self._head_and_tail(data)
            return
        bits = bytearray(-(-len(data) // 8))
        for at in changed:
            bits[at // 8] |= 1 << at % 8
        groups = sum(bool(b) << i for i, b in enumerate(bits))
        self._add("forms", bytes([FORM_DIFFERENCE, back]))
        self._add("forms", groups.to_bytes(-(-len(data) // 64), "little"))
        self._add("forms", bytes(filter(None, bits)))
        self.bytes += bytes(data[at] for at in changed)

    def _differences(self, form, time_us, fields):
        expected = self.learnt.expected(form, time_us, fields.get("clock"))
        for name, v in fields.items():
            if name == "sequence":
                d = zigzag((v >> 4) - self.learnt.next_number(form), 12)
                self._add("sequences", varint((v & 0xf) << 12 | d))
            elif name in BITS:
                self._add(COLUMN[name], varint(zigzag(v - expected[name], BITS[name])))
            else:
                self._add("signals", bytes([v - expected[name] & 0xff]))
        self.learnt.learn(form, time_us, fields)


def combo_write(frames, first, seqn, sensor, codec=STORED, events=()):
    """With DENSE in the codec, checksums and random tails are stored behind the zstd frame."""
    writer = BodyWriter(frames, first, events)
    body = packed = writer.body
    if codec != STORED:
        n = writer.dense if codec & DENSE else 0
        parameters = zstandard.ZstdCompressionParameters.from_level(
            1, format=zstandard.FORMAT_ZSTD1_MAGICLESS, write_content_size=0, write_checksum=0,
            write_dict_id=0)
        packed = zstandard.ZstdCompressor(
            compression_params=parameters,
            dict_data=_dictionary() if codec & ~DENSE == ZSTD_DOT11 else None).compress(
                body[:len(body) - n])
        if codec & DENSE:
            packed = struct.pack(">H", n) + packed + body[len(body) - n:]
    return struct.pack(">HHHHLLB", VERSION, sensor, seqn & 0xffff, len(frames), len(body), MAGIC,
                       codec) + packed


# ---- dwells ------------------------------------------------------------------------------------

Dwell = collections.namedtuple(
    "Dwell", "interface mhz width center from_ns to_ns frames switch_ns error marked up_ns", defaults=[0])


def dwell_write(d):
    out = bytes([d.interface]) + varint(d.mhz) + varint(d.width) + varint(d.center)
    out += struct.pack(">Q", d.from_ns)
    said = d[6:] if d.up_ns else d[6:-1]
    return out + b"".join(map(varint, (d.to_ns - d.from_ns, *said)))


def dwell_read(data):
    """Bytes after it belong to a later version; an earlier one has no up."""
    r = Reader(data)
    channel = [r.byte()] + [r.varint(0xffff) for _ in range(3)]
    start = int.from_bytes(r.take(8), "big")
    end = start + r.varint()
    d = Dwell(*channel, start, end, r.varint(), r.varint(), r.varint(0xffffffff), r.varint())
    d = d._replace(up_ns=r.varint()) if r.left() else d
    if not d.mhz or max(d.to_ns, d.up_ns + end - start) > M64 or d.error and (d.to_ns > d.from_ns or d.frames):
        raise Refused("a dwell that cannot be")
    return d


# ---- modules -------------------------------------------------------------------------------------

# A module's event on a frame.
Said = collections.namedtuple("Said", "interface direction time_ns serial name data")
NAME = re.compile(r"[A-Za-z0-9_-]{1,31}", re.ASCII)
SAID_LEN_MAX = 64


def said_write(s):
    name = s.name.encode("latin-1")
    return (struct.pack(">BBQ", s.interface, s.direction, s.time_ns) + varint(s.serial) +
            varint(len(name)) + name + s.data)


def said_read(data):
    r = Reader(data)
    s = Said(r.byte(), r.byte(), int.from_bytes(r.take(8), "big"), r.varint(),
             r.take(r.varint()).decode("latin-1"), r.take(r.left()))
    if not NAME.fullmatch(s.name) or len(s.data) > SAID_LEN_MAX:
        raise Refused("an event that cannot be")
    return s


# ---- clocks --------------------------------------------------------------------------------------

Reading = collections.namedtuple("Reading", "monotonic_ns realtime_ns raw_ns")  # the last two: minus the first


def readings_write(readings):
    out, before = b"", Reading(0, 0, 0)
    for r in readings:
        out += varint(r.monotonic_ns - before.monotonic_ns & M64)
        out += varint(zigzag(r.realtime_ns - before.realtime_ns)) + varint(zigzag(r.raw_ns - before.raw_ns))
        before = r
    return out


def signed(v):
    v &= M64
    return v - 2**64 if v >> 63 else v


def readings_read(data):
    r, out, last = Reader(data), [], Reading(0, 0, 0)
    while r.left():
        last = Reading(last.monotonic_ns + r.varint() & M64, signed(last.realtime_ns + unzigzag(r.varint())),
                       signed(last.raw_ns + unzigzag(r.varint())))
        out.append(last)
    if not 0 < len(out) <= READINGS_MAX:
        raise Refused("no readings, or too many")
    return out


# ---- totals, progress and info -----------------------------------------------------------------

TOTALS_NAMES = ("seen filtered ring_full copy_failed captured malformed exported dropped_send "
                "dropped_shutdown combos datagrams seen_bytes kept_bytes body_bytes sent_bytes "
                "final in_ring dropped_store bad_fcs level_changes combos_lowered "
                "combos_raised store store_limit").split()
INTERFACE_NAMES = TOTALS_NAMES[:5] + ["bad_fcs"]


def totals_write(totals, interfaces=()):
    out = bytes([TOTALS, len(TOTALS_NAMES)])
    out += b"".join(varint(totals.get(name, 0)) for name in TOTALS_NAMES)
    if interfaces:
        out += bytes([len(interfaces), len(INTERFACE_NAMES)])
        out += b"".join(varint(i.get(name, 0)) for i in interfaces for name in INTERFACE_NAMES)
    return out


def totals_read(message):
    r = Reader(message)
    r.byte()
    values = [r.varint() for _ in range(r.byte())]
    interfaces = []
    if r.left():
        n, fields = r.take(2)
        interfaces = [dict(zip(INTERFACE_NAMES, [r.varint() for _ in range(fields)]))
                      for _ in range(n)]
    if r.left():
        raise Refused("totals that go on")
    return dict(zip(TOTALS_NAMES, values + [0] * len(TOTALS_NAMES))), interfaces


Progress = collections.namedtuple("Progress", "exported before_ns ahead_ns round_trip_ns")


def progress_write(p):
    return (bytes([PROGRESS]) + varint(p.exported) + struct.pack(">Q", p.before_ns) + varint(zigzag(p.ahead_ns)) +
            varint(p.round_trip_ns))


def progress_read(message):
    """Bytes after it belong to a later version."""
    r = Reader(message)
    r.byte()
    return Progress(r.varint(), int.from_bytes(r.take(8), "big"), unzigzag(r.varint()), r.varint())


def info_write(lines):
    return "".join(f"{k}={v}\n" for k, v in lines.items() if v).encode("ascii")


def info_read(data):
    lines = data.decode("ascii", "replace").split("\n")
    return dict(line.split("=", 1) for line in lines if "=" in line)
