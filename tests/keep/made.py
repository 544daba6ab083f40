# SPDX-License-Identifier: GPL-2.0
"""Capture files as saluki-collector writes them, made in Python from other captures' frames, and saluki-keep's files read
back independently of its sources (saluki-files(5))."""
import collections
import os
import pathlib
import struct
import subprocess

import pytest
import xxhash
import zstandard

from netns.testbed import BUILD
from reference import captures

PROGRAM = BUILD / "saluki-keep"
ENTERPRISE = 32473
SECTION, INTERFACE, STATISTICS, PACKET, CUSTOM = 0x0A0D0D0A, 1, 5, 6, 0xBAD
COLLECTOR, MERGE = "saluki-collector 0.1.0", "saluki-merge 0.1.0"
CHUNK = 1 << 20
START_NS = 1_795_000_000 * 10**9

Name = collections.namedtuple("Name", "run count first frames sensor")


def option(code, value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def block(kind, body, options=()):
    body = body + b"".join(options) + (bytes(4) if options else b"")
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def section(application=COLLECTOR, comments=()):
    return block(SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1),
                 [*(option(1, c) for c in comments), option(4, application)])


def interface(sensor="lib", number=1, name="wlan0", linktype=127, comment=""):
    return block(INTERFACE, struct.pack("<HHI", linktype, 0, 192),
                 [option(2, f"{sensor}:{name}"), option(3, f"sensor {sensor} (id {number}), interface {name} by xdp"),
                  option(9, b"\x09"), *([option(1, comment)] if comment else [])])


def combo_name(name):
    return option(19373, struct.pack(">IQQQIH", ENTERPRISE, *name))


def packet(ns, data, whole=None, on=0, options=()):
    return block(PACKET, struct.pack("<IIIII", on, ns >> 32, ns & 0xffffffff, len(data), whole or len(data)) + data
                 + bytes(-len(data) % 4), options)


def transmission(number, data, sensors):
    """A packet of a unified trace, and the sensors that have heard it."""
    heard = b"".join(struct.pack(">HBBbiIHq", sensor, 0, 0, -50, 0, 1, 1, 0) for sensor in sensors)
    return packet(START_NS + number, data, options=[option(5, struct.pack("<Q", number)),
                                                    option(2989, struct.pack(">IB", ENTERPRISE, 1) + heard)])


def bundled():
    """The frames of the short trace."""
    return list(captures.frames(captures.BUNDLED))


def two_sections(data):
    """A unified trace. Each section describes one sensor, and has a transmission that both sensors have heard."""
    return b"".join(section(MERGE) + interface(f"s-{n}", n) + transmission(n, data, (1, 2)) for n in (1, 2))


class Capture:
    """A capture file. Frames of each sensor come in combos of 40."""

    def __init__(self, application=COLLECTOR, comments=(), sensors=("lib",), linktype=127, first_combo=0):
        self.parts = [section(application, comments)]
        self.sensors = list(sensors)
        for number, sensor in enumerate(self.sensors, 1):
            self.parts.append(interface(sensor, number, linktype=linktype))
        self.combos = dict.fromkeys(range(len(self.sensors)), first_combo)

    def add(self, frames, on=0, shift_ns=0):
        """`frames`: of reference.captures."""
        frames = list(frames)
        for at in range(0, len(frames), 40):
            some = frames[at:at + 40]
            count = self.combos[on]
            name = combo_name(Name(7 + on, count, 40 * count, len(some), on + 1))
            for n, f in enumerate(some):
                self.parts.append(packet(f.time_ns + shift_ns, f.data, f.orig_len, on, [] if n else [name]))
            self.combos[on] += 1
        return self

    def bytes(self):
        return b"".join(self.parts)


def file_name(number, series="saluki"):
    return f"{series}_{number:05}_{20261130000000 + number}.pcapng"


def write(folder, number, data, series="saluki", age_s=0):
    """A file of a series, written last `age_s` ago."""
    path = pathlib.Path(folder) / file_name(number, series)
    path.write_bytes(data)
    if age_s:
        now = path.stat().st_mtime
        os.utime(path, (now - age_s, now - age_s))
    return path


def make_series(folder, count, frames, series="saluki", **kwargs):
    """`count` files with a share of the frames each, and one more that is being written. Their contents, by name."""
    made, share = {}, len(frames) // count
    for n in range(count):
        data = Capture(**kwargs).add(frames[n * share:(n + 1) * share]).bytes()
        made[write(folder, n + 1, data, series).name] = data
    write(folder, count + 1, Capture(**kwargs).add(frames[:1]).bytes(), series)
    return made


def captures_in(*folders):
    """The paths of captures, for pytest's parameters."""
    return [pytest.param(path, id=f"{path.parent.name}-{path.name}",
                         marks=[pytest.mark.foreign] if of is captures.FOREIGN else [])
            for of in captures.at_hand() for name in folders for path in of.folder(name)]


def keep(*arguments, status=0, **kwargs):
    """Runs saluki-keep. Returns standard output and standard error."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=120, check=False, **kwargs)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout, done.stderr.decode(errors="replace")


def unpacked(path):
    """A compressed file's bytes. It must be exactly one zstd frame that tells its content's size."""
    data = pathlib.Path(path).read_bytes()
    parameters = zstandard.get_frame_parameters(data)
    assert parameters.has_checksum
    d = zstandard.ZstdDecompressor().decompressobj()
    content = d.decompress(data)
    assert d.eof and not d.unused_data and parameters.content_size == len(content)
    return content


# ---- the index ---------------------------------------------------------------------------------------------------

Sensor = collections.namedtuple("Sensor", "id name group frames first_ns last_ns chunks")
Index = collections.namedtuple("Index", "flags tables pcapng_bytes file_bytes end first_ns last_ns frames chunks describing "
                                        "sensors runs addresses")


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        assert self.at + size <= len(self.data)
        self.at += size
        return self.data[self.at - size:self.at]

    def unpack(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def number(self):
        value = shift = 0
        while True:
            byte, = self.take(1)
            value |= (byte & 0x7f) << shift
            shift += 7
            if not byte & 0x80:
                return value

    def text(self):
        return self.take(self.number()).decode()

    def ranges(self):
        inside, found, to = _Reader(self.take(self.number())), [], 0
        while inside.at < len(inside.data):
            begin = to + inside.number()
            to = begin + inside.number()
            found.extend(range(begin, to))
        return found


def signed(value):
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def read_index(path):
    data = pathlib.Path(path).read_bytes()
    r = _Reader(data)
    assert r.take(8) == b"salukidx"
    version, digest = r.unpack("<IQ")
    assert version == 2 and digest == xxhash.xxh64(data[20:], 0).intdigest()
    flags, tables, pcapng_bytes, file_bytes, end, first_ns, last_ns, frames = r.unpack("<IQQQIqqQ")
    chunks, at = [], 0
    for _ in range(r.number()):
        at += r.number()
        span = r.number()
        begin = first_ns + r.number() if span else None
        chunks.append((at, begin, begin + span - 1 if span else None))
    describing = r.ranges()
    sensors = []
    for _ in range(r.number()):
        number, name, group, count, since, span = r.number(), r.text(), r.text(), r.number(), r.number(), r.number()
        sensors.append(Sensor(number, name, group, count, first_ns + since, first_ns + since + span, r.ranges()))
    runs = [(r.number(), r.number(), r.number(), r.number()) for _ in range(r.number())]
    names = [r.take(6) for _ in range(r.number())]
    assert names == sorted(set(names))
    begins = [r.unpack("<I")[0] for _ in range(0, len(names), 64)]
    lists, addresses = r.at, {}
    for n, name in enumerate(names):
        assert n % 64 or begins[n // 64] == r.at - lists
        addresses[name] = r.ranges()
    assert r.at == len(data)
    return Index(flags, tables, pcapng_bytes, file_bytes, end, first_ns, last_ns, frames, chunks, describing, sensors, runs,
                 addresses)
