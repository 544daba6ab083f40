#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Makes wire/dictionary_dot11.bin:   make dictionary HWSIM=hwsim-all-groundtruth.pcap

It learns only from:

- frames of the project's own trace of virtual radios, except those on channel 1, with which sizes
  are measured;
- frames invented here from IEEE 802.11-2020, radiotap.org and known drivers: beacons, probes, data,
  control, with the radiotap headers of several drivers.

Both are put into many small worlds. In each, all addresses, network names, counters, clocks,
signals and times are random, so that none can be learnt: addresses, above all, are worthless in
another place. A world becomes one or two combos, split and closed as a sensor does. zstd's own
trainer (libzstd's ZDICT, by ctypes) picks their common parts. Same seed, same trace, same zstd:
same dictionary.
"""
import argparse
import ctypes
import ctypes.util
import pathlib
import random
import struct
import subprocess
import tempfile

BROADCAST = b"\xff" * 6
CHANNEL_1 = 2412
BODY_MAX = 8192  # as DICTIONARY_BODY_MAX in wire/compress.c
TSFT, FLAGS, RATE, CHANNEL, SIGNAL = 0, 1, 2, 3, 5

rng = random.Random(80211)


# ---- a world: random addresses, clocks, names -------------------------------------------------

def address():
    return bytes([rng.choice((0x00, 0x04, 0x3C, 0xA4, 0xDC, rng.randrange(64) * 4,
                              rng.randrange(64) * 4 + 2))]) + rng.randbytes(5)


def name():
    return bytes(rng.choice(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJ-_ 0123456789")
                 for _ in range(rng.randrange(0, 20)))


# Radiotap headers as drivers write them. Sources: radiotap.org, Linux net/mac80211/rx.c.

def freq(channel):
    return 2407 + 5 * channel if channel < 14 else 5000 + 5 * channel


def chan(f):
    return struct.pack("<HH", f, (0x00A0, 0x0480)[rng.random() < .6] if f < 3000 else 0x0140)


def radiotap(present, fields):
    words = b"".join(struct.pack("<I", w) for w in present)
    out = bytearray(4) + words
    for align, data in fields:
        out += b"\0" * (-len(out) % align) + data
    struct.pack_into("<BBH", out, 0, 0, 0, len(out))
    return bytes(out)


class Driver:
    """Radiotap headers of one card."""

    def __init__(self, channel):
        self.style = rng.choice(("mac80211",) * 3 + ("chains1", "chains2", "stamp", "old", "noise", "tiny"))
        self.fcs = 0x10 if rng.random() < .4 else 0
        self.chan = chan(freq(channel))
        self.clock = rng.getrandbits(rng.choice((32, 36, 40)))
        self.noise = bytes([rng.randrange(256 - 100, 256 - 85)])
        self.levels = {}

    def signal(self, station):
        level = self.levels.setdefault(station, rng.randrange(256 - 90, 256 - 30))
        return max(0, min(255, level + round(rng.gauss(0, 1.5))))

    def header(self, us, station, rate, mcs):
        tsft = struct.pack("<Q", (self.clock + us) & (1 << 64) - 1)
        s = self.signal(station)
        fields = [(8, tsft), (1, bytes([self.fcs]))]
        if mcs is None:
            fields += [(1, bytes([rate])), (2, self.chan), (1, bytes([s]))]
            rates, tail = 1 << RATE, []
        else:
            fields += [(2, self.chan), (1, bytes([s]))]
            rates, tail = 1 << 19, [(1, bytes([7, rng.choice((0, 4)), mcs]))]
        if self.style == "mac80211":
            return radiotap([0x482B | rates], fields + [(1, b"\0"), (2, b"\0\0")] + tail)
        if self.style == "stamp":
            stamp = tsft[:4].ljust(8, b"\0") + b"\0\0\x01\0"
            return radiotap([0x40482B | rates], fields + [(1, b"\0"), (2, b"\0\0")] + tail +
                            [(8, stamp)])
        if self.style in ("chains1", "chains2"):
            n = int(self.style[-1])
            present = [0xA000402B | rates] + [0xA0000820] * (n - 1) + [0x00000820]
            chains = [(1, bytes([max(0, s - rng.randrange(4)), i])) for i in range(n)]
            return radiotap(present, fields + [(2, b"\0\0")] + tail + chains)
        if self.style == "old":
            return radiotap([0x482E], [(1, bytes([self.fcs])), (1, bytes([rate])), (2, self.chan),
                                       (1, bytes([s])), (1, b"\0"), (2, b"\0\0")])
        if self.style == "noise":
            return radiotap([0x086F], [(8, tsft), (1, bytes([self.fcs])), (1, bytes([rate])),
                                       (2, self.chan), (1, bytes([s])), (1, self.noise),
                                       (1, b"\0")])
        return radiotap([0x0028], [(2, self.chan), (1, bytes([s]))])


# ---- invented frames ---------------------------------------------------------------------------

def ie(tag, data):
    return bytes([tag, len(data)]) + data


def x(text):
    return bytes.fromhex(text)


def some(p, data):
    return data if rng.random() < p else b""


def rates(channel):
    if channel > 14:
        return ie(1, x("8c129824b048606c")), b""
    return rng.choice(((ie(1, x("82848b960c121824")), ie(50, x("3048606c"))),
                       (ie(1, x("82848b962430486c")), ie(50, x("0c121860"))),
                       (ie(1, x("82848b96")), ie(50, x("0c12182430486 06c".replace(" ", ""))))))


def rsn():
    suite = rng.choice(("02",) * 5 + ("01", "08"))
    group = rng.choice(("04", "04", "04", "02"))
    return ie(48, x(f"0100000fac{group}0100000fac040100000fac{suite}"
                    + rng.choice(("0000", "0000", "0c00", "8c00", "c000"))))


def ht(channel):
    caps = rng.choice(("ef09", "6f00", "ef19", "2d00", "0c10", "ad01", "7e10"))
    ampdu = rng.choice(("17", "1b", "03", "1f"))
    streams = rng.choice(("ff", "ffff", "ffffff", "ffff0000", "ff00000001"))
    return ie(45, x(caps + ampdu + streams).ljust(26, b"\0")), \
        ie(61, bytes([channel]) + x(rng.choice(("00", "05", "07", "08"))
                                    + rng.choice(("00", "04", "13", "11"))).ljust(21, b"\0"))


def vht():
    return ie(191, x(rng.choice(("b2018033", "b2598203", "91598233", "3200800f"))
                     + rng.choice(("eaff0000eaff0000", "faff0000faff0000", "aaff0000aaff0000"))), ), \
        ie(192, x(rng.choice(("00000000 00", "012a000000", "019b000000", "000000fcff"))
                  .replace(" ", "")))


WMM = "0050f20201018{:x}0003a4000027a4000042435e0062322f00"
EXTENDED = ("0000000000000040", "0400080000000040", "0400080000000000", "01000800000000 40",
            "04000a0200000040", "0000080400000040", "040000000000 0040")
VENDOR = ("0010180200001c0000", "00101802010 01c0000", "000c4303000000", "000c4300000000",
          "00037f01010000ff7f", "8cfdf00101020100", "0050f2080000 00", "0017f20a000104000000 00",
          "506f9a16030103650101", "00904c0418bf0cb25982 0feaff0000eaff0000")
WPA = ie(221, x("0050f20101000050f20201000050f20201000050f202"))
WPS = ie(221, x("0050f204104a0001101044000102103b00010310470010"))


def vendors(n):
    return b"".join(ie(221, x(v.replace(" ", ""))) for v in rng.sample(VENDOR, rng.randrange(n)))


class Network:
    """An access point: one beacon, with an element or two that changes."""

    def __init__(self, channel):
        self.address = address()
        self.channel = channel
        self.epoch = rng.getrandbits(40)
        self.name = name()
        self.sequence = rng.randrange(4096)
        r, more = rates(channel)
        cap, operation = ht(channel)
        self.head = ie(0, some(.9, self.name)) + r + ie(3, bytes([channel]))
        self.dtim = rng.choice((1, 2, 3))
        self.load = rng.random() < .4
        country = rng.choice((b"US ", b"DE ", b"GB ", b"US\x04", b"EU ", b"CN "))
        self.tail = some(.5, ie(7, country + x(rng.choice(("010d14", "010b1e", "010d10")))
                                + b"\0" * 0)) + some(.8 * (channel < 15), ie(42, b"\0")) + more
        modern = rng.random() < .8
        secure = rng.random() < .8
        self.capability = x(rng.choice(("1104", "3104", "1114", "1111", "3114") if secure
                                       else ("0104", "2104", "0114")))
        if secure:
            self.tail += rsn()
        if self.load:
            self.tail += b"LOAD"
        if modern:
            self.tail += some(.4, ie(70, x(rng.choice(("7200000000", "73d000000c"))))) + cap + \
                operation + ie(127, x(rng.choice(EXTENDED).replace(" ", "")))
            if channel > 14 or rng.random() < .3:
                self.tail += b"".join(vht())
        self.tail += ie(221, x(WMM.format(rng.randrange(16)))) * modern + some(.2, WPA) + \
            some(.2, WPS) + vendors(3)

    def number(self):
        self.sequence = (self.sequence + 1) & 0xFFF
        return struct.pack("<H", self.sequence << 4)

    def body(self, us, tim):
        load = ie(11, struct.pack("<HBH", 3, rng.randrange(256), 0))
        return struct.pack("<Q", self.epoch + us) + x("6400") + self.capability + self.head + \
            tim + self.tail.replace(b"LOAD", load)

    def beacon(self, us):
        tim = ie(5, bytes([us // 102400 % self.dtim, self.dtim, 0, rng.choice((0, 0, 0, 2, 16))]))
        return x("80000000") + BROADCAST + self.address * 2 + self.number() + self.body(us, tim)

    def response(self, us, station):
        return x("50003a01") + station + self.address * 2 + self.number() + self.body(us, b"")


class Station:
    def __init__(self, network):
        self.address = address()
        self.network = network
        self.packets = [rng.getrandbits(rng.choice((8, 14, 20))) for _ in range(2)]
        self.numbers = [rng.randrange(4096) for _ in range(2)]
        self.mcs = rng.choice((None, 7, 15, 9))
        self.duration = rng.choice(("3000", "2c00", "3c00", "ca00"))
        self.rates = ie(1, x("02040b16")) + ie(50, x("0c12182430486 06c".replace(" ", "")))
        cap, _ = ht(network.channel)
        self.probe = self.rates + some(.6, ie(3, bytes([network.channel]))) + cap + \
            some(.8, ie(127, x(rng.choice(EXTENDED).replace(" ", "")))) + vendors(4)

    def request(self):
        self.numbers[0] = (self.numbers[0] + 1) & 0xFFF
        return x("40000000") + BROADCAST + self.address + BROADCAST + \
            struct.pack("<H", self.numbers[0] << 4) + ie(0, some(.2, name())) + self.probe

    def data(self, down, length):
        self.packets[down] += 1
        self.numbers[down] = (self.numbers[down] + 1) & 0xFFF
        a, b = self.network.address, self.address
        flags = (0x42 if down else 0x41) | (8 if rng.random() < .05 else 0)
        p = struct.pack("<Q", self.packets[down])
        return bytes([0x88, flags]) + x(self.duration) + (b + a if down else a + b) + a + \
            struct.pack("<H", self.numbers[down] << 4) + rng.choice((x("0000"), x("0000"),
                                                                    x("0600"))) + \
            p[:2] + x("0020") + p[2:6] + rng.randbytes(length)

    def null(self):
        self.numbers[0] = (self.numbers[0] + 1) & 0xFFF
        a = self.network.address
        return x("48") + rng.choice((b"\x11", b"\x01")) + x("3a01") + a + self.address + a + \
            struct.pack("<H", self.numbers[0] << 4)


def control(to, of, kind):
    if kind == "ack":
        return x("d4000000") + to
    if kind == "cts":
        return x("c400") + struct.pack("<H", rng.randrange(40, 400, 4)) + to
    if kind == "rts":
        return x("b400") + struct.pack("<H", rng.randrange(80, 600, 4)) + to + of
    return x("94000000") + to + of + x("0500") + struct.pack("<H", rng.randrange(4096) << 4) + \
        rng.choice((b"\xff" * 8, rng.randbytes(1).ljust(8, b"\0"), rng.randbytes(8)))


def made_up_world():
    """Yields (us, frame) of a second or so."""
    channel = rng.choice((1, 6, 11, 11, 36, 44, 149))
    driver = Driver(channel)
    networks = [Network(channel) for _ in range(rng.randrange(1, 9))]
    stations = [Station(rng.choice(networks)) for _ in range(rng.randrange(0, 7))]
    busy = rng.choice((0, 5, 20, 20, 60))
    todo = []
    for n in networks:
        us = rng.randrange(102400)
        while us < 1100000:
            todo.append((us, n.address, 2 if channel < 14 else 12, None, n.beacon(us)))
            us += 102400 + rng.randrange(0, 400)
    for s in stations:
        n = s.network
        for _ in range(rng.randrange(0, 4)):
            us = rng.randrange(1000000)
            todo.append((us, s.address, 2, None, s.request()))
            todo += [(us + 900 + 400 * i, m.address, 2, None, m.response(us, s.address))
                     for i, m in enumerate(networks) if rng.random() < .4]
        us = 0
        while busy and us < 1000000:
            us += int(rng.expovariate(busy * 2 / 1e6)) + 20
            down = rng.random() < .6
            to, of = (s.address, n.address) if down else (n.address, s.address)
            kind = rng.random()
            if kind < .25:
                todo.append((us, s.address, 12, None, s.null()))
            elif kind < .4:
                todo.append((us - 60, of, 48, None, control(to, of, "rts")))
            if kind >= .25:
                todo.append((us, of, rng.choice((48, 108)), s.mcs,
                             s.data(down, rng.choice((60, 90, 120, 300, 1500)))))
            todo.append((us + 50, to, 48, None,
                         control(of, to, "ba" if s.mcs is not None and rng.random() < .6
                                 else rng.choice(("ack", "ack", "cts")))))
    for us, station, rate, mcs, frame in sorted(todo, key=lambda t: t[0]):
        if driver.fcs:
            frame += rng.randbytes(4)
        yield us, driver.header(us, station, rate, mcs) + frame


# ---- frames of the trace -----------------------------------------------------------------------

def read_pcap(path):
    data = pathlib.Path(path).read_bytes()
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    at = 24
    while at + 16 <= len(data):
        seconds, us, kept, orig = struct.unpack_from(order + "IIII", data, at)
        yield seconds * 1000000 + us, orig, data[at + 16:at + 16 + kept]
        at += 16 + kept


def radiotap_places(frame):
    """The places of the first present word's fields (as many as needed here)."""
    present = at = 0
    words = 1
    while struct.unpack_from("<I", frame, 4 * words)[0] >> 31:
        words += 1
    present, = struct.unpack_from("<I", frame, 4)
    at = 4 + 4 * words
    places = {}
    for bit, (align, size) in enumerate(((8, 8), (1, 1), (1, 1), (2, 4), (1, 2), (1, 1))):
        if present >> bit & 1:
            at += -at % align
            places[bit] = at
            at += size
    return places


class Disguise:
    """One world's other addresses, names, clocks and counters for the frames of the trace."""

    def __init__(self):
        self.known = {}
        self.clock = rng.getrandbits(40)
        self.start = rng.randrange(4096)
        self.heard = rng.choice((1.0, .8, .5))
        self.signal = rng.randrange(100)

    def other(self, kind, value, make):
        if (kind, value) not in self.known:
            self.known[kind, value] = make()
        return self.known[kind, value]

    def address(self, a):
        return a if a[0] & 1 else self.other("address", a, address)

    def elements(self, body):
        out, at = b"", 0
        while at + 2 <= len(body):
            tag, size = body[at:at + 2]
            data = body[at + 2:at + 2 + size]
            out += ie(tag, self.other("name", data, name) if tag == 0 and data else data)
            at += 2 + size
        return out

    def counters(self, mac):
        kind = mac[0] >> 2 & 3
        if kind == 1 or len(mac) < 24:
            return
        number = struct.unpack_from("<H", mac, 22)[0]
        struct.pack_into("<H", mac, 22, number + (self.start << 4) & 0xFFFF)
        at = 26 if mac[0] & 0x8F == 0x88 else 24
        if mac[1] & 0x40 and kind == 2 and len(mac) >= at + 8:
            low, = struct.unpack_from("<H", mac, at)
            struct.pack_into("<H", mac, at, low + self.start & 0xFFFF)

    def frame(self, frame):
        f = bytearray(frame)
        places = radiotap_places(f)
        if TSFT in places:
            clock, = struct.unpack_from("<Q", f, places[TSFT])
            struct.pack_into("<Q", f, places[TSFT], clock + self.clock & (1 << 64) - 1)
        if SIGNAL in places:
            f[places[SIGNAL]] = (f[places[SIGNAL]] - self.signal) % 256
        at = struct.unpack_from("<H", f, 2)[0]
        mac = f[at:]
        for a in (4, 10, 16):
            if a + 6 <= len(mac):
                mac[a:a + 6] = self.address(bytes(mac[a:a + 6]))
        self.counters(mac)
        fixed = {0x80: 36, 0x50: 36, 0x40: 24, 0x00: 28}.get(mac[0])
        if fixed in (36,):
            clock, = struct.unpack_from("<Q", mac, 24)
            struct.pack_into("<Q", mac, 24, clock + 3 * self.clock & (1 << 64) - 1)
        if fixed:
            mac[fixed:] = self.elements(bytes(mac[fixed:]))
        return bytes(f[:at] + mac)


def trace_worlds(path, count):
    seconds = {}
    for us, _, frame in read_pcap(path):
        channel = radiotap_places(frame).get(CHANNEL)
        heard = channel and struct.unpack_from("<H", frame, channel)[0]
        if heard != CHANNEL_1:
            seconds.setdefault((us // 1000000, heard), []).append((us, frame))
    for _ in range(count):
        disguise = Disguise()
        yield [(us % 1000000, disguise.frame(frame))
               for us, frame in rng.choice(list(seconds.values()))
               if rng.random() < disguise.heard]


# ---- train ---------------------------------------------------------------------------------------

def write_pcap(path, worlds):
    """One world after the other; most cards' stamps have microseconds, some nanoseconds."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 127))
        for n, world in enumerate(worlds):
            fine = rng.random() < .5
            for us, frame in world:
                ns = us % 1000000 * 1000 + (rng.randrange(1000) if fine else 0)
                f.write(struct.pack("<IIII", 1700000000 + 10 * n + us // 1000000, ns, len(frame),
                                    len(frame)) + frame)


def bodies(tool, pcap):
    data = subprocess.run([tool, pcap], stdout=subprocess.PIPE, check=True).stdout
    out, at = [], 0
    while at < len(data):
        _, size = struct.unpack_from(">II", data, at)
        out.append(data[at + 8:at + 8 + size])
        at += 8 + size
    return out


class Parameters(ctypes.Structure):
    """ZDICT_params_t"""
    _fields_ = [("level", ctypes.c_int), ("notify", ctypes.c_uint), ("id", ctypes.c_uint)]


class CoverParameters(ctypes.Structure):
    """ZDICT_cover_params_t"""
    _fields_ = [("k", ctypes.c_uint), ("d", ctypes.c_uint), ("steps", ctypes.c_uint),
                ("threads", ctypes.c_uint), ("split", ctypes.c_double),
                ("shrink", ctypes.c_uint), ("regression", ctypes.c_uint), ("z", Parameters)]


def train(samples, size, level, identifier, k, d):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd"))
    lib.ZDICT_trainFromBuffer_cover.restype = ctypes.c_size_t
    sizes = (ctypes.c_size_t * len(samples))(*map(len, samples))
    parameters = CoverParameters(k=k, d=d, split=1.0,
                                 z=Parameters(level=level, id=identifier))
    out = ctypes.create_string_buffer(size)
    n = lib.ZDICT_trainFromBuffer_cover(out, ctypes.c_size_t(size), b"".join(samples), sizes,
                                        ctypes.c_uint(len(samples)), parameters)
    if lib.ZDICT_isError(ctypes.c_size_t(n)):
        raise SystemExit("training failed")
    return out.raw[:n]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    p.add_argument("--bodies", required=True, help="build/tests/bodies")
    p.add_argument("--hwsim", required=True, help="hwsim-all-groundtruth.pcap")
    p.add_argument("--out", required=True)
    p.add_argument("--size", type=int, default=4096)
    p.add_argument("--level", type=int, default=1)
    p.add_argument("--worlds", type=int, default=600)
    p.add_argument("-k", type=int, default=200)
    p.add_argument("-d", type=int, default=8)
    o = p.parse_args()
    worlds = [list(made_up_world()) for _ in range(o.worlds)]
    worlds += trace_worlds(o.hwsim, o.worlds // 2)
    rng.shuffle(worlds)
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        write_pcap(f.name, worlds)
        samples = [b for b in bodies(o.bodies, f.name) if len(b) <= BODY_MAX]
    dictionary = train(samples, o.size, o.level, 1, o.k, o.d)
    pathlib.Path(o.out).write_bytes(dictionary)
    print(f"{o.out}: {len(dictionary)} bytes from {len(samples)} combos, "
          f"{sum(map(len, samples))} bytes")


if __name__ == "__main__":
    main()
