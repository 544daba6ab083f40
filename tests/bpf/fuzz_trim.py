# SPDX-License-Identifier: GPL-2.0
"""Differential fuzzing of trim: frames of every shape and real ones, mutated, run through the
capture programs (XDP and tc) and the Python reference. Length, bytes and the malformed flag must
agree for every frame.

    python -m bpf.fuzz_trim [--seconds N | --frames N] [--seed N]
    python -m bpf.fuzz_trim --frame LINKTYPE:HEX     one frame, as a find was printed

The seed is printed; the same seed and the same frames give the same mutations.
"""
import argparse
import collections
import itertools
import random
import struct
import sys
import time

from bpf import test_trim
from reference import captures, radiotaps, shapes, trim

ROUND = 1000  # frames per run of the program
FRAMES_A_FILE = 30
LINKTYPES = (1, 105, 119, 127, 163, 192)  # tests/fuzz/fuzz_parse.c's order
ETHERTYPES = (0x800, 0x86dd, 0x806, 0x8035, 0x8100, 0x88a8, 0x9100, 0x8847, 0x8848, 0x8863,
              0x8864, 0x888e, 0, 5, 1500, 1535, 1536, 0xffff)
PROTOCOLS = (0, 1, 2, 6, 17, 33, 43, 44, 47, 50, 51, 58, 59, 60, 132, 135, 136, 139, 140)
EDGES = (0, 1, 2, 3, 4, 7, 8, 15, 16, 20, 32, 0x40, 0x45, 0x60, 0x7f, 0x80, 0xaa, 0xff)
HEADERS = [
    b"\x81\0\0\5", b"\x88\xa8\0\5", b"\x88\x47\0\0\x10\x40", b"\0\0\x21\x40",
    b"\x88\x64\x11\0\0\1\0\x64\0\x21", shapes.SNAP, shapes.SNAP + b"\x08\0", shapes.CCMP,
    shapes.extension(6), shapes.extension(60, 1), shapes.extension(44), shapes.tcp(),
    shapes.tcp(b"\1" * 8), shapes.udp(), shapes.ipv4(b"", 6), shapes.ipv6(b"", 0),
    shapes.ipv4(b"", 51, 8, options=b"\1" * 12), shapes.ipv6(b"", 17), b"\x06\4" + b"\0" * 22,
    b"\x88\x64\x11\0\0\1\0\x64\0\x57", b"\x30\x81\x88\x0b", shapes.MACS[:14],
    b"\2\x1f\1\0\0\0", b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\0" * 64,
]

Find = collections.namedtuple("Find", "hook linktype snaplen keep frame got wanted")


def parser_corpus():
    """The frames kept by the coverage-guided fuzzer for the same code."""
    for path in (test_trim.ROOT / "tests/fuzz/corpus/parse").iterdir():
        data = path.read_bytes()
        if len(data) > 10:
            yield LINKTYPES[data[0] % len(LINKTYPES)], data[10:]


def long_radiotaps():
    """Chains of present words at the parser's limit."""
    for words in (127, 128, 129):
        yield shapes.radiotap(b"\x20", (2,) + (0,) * (words - 1)) + shapes.FRAMES["qos data padded"]


def pool(sets):
    """Initial frames by link type, also from these sets of captures: (bytes, end of the
    headers)."""
    found = collections.defaultdict(set)
    found[127].update(long_radiotaps())
    found[127].update(m.bytes for m in radiotaps.every())
    for _, linktype, frame in shapes.whole():
        found[linktype].add(frame)
    for linktype, frame in parser_corpus():
        found[linktype].add(frame)
    paths = [captures.BUNDLED]
    for traces in sets:
        paths += (p for folder in ("radiotap", "dot11-other", "wired", "malformed") for p in traces.folder(folder))
    for path in paths:
        try:
            for f in itertools.islice(captures.frames(path), FRAMES_A_FILE):
                found[f.linktype].add(f.data)
        except (captures.Corrupt, IndexError, struct.error):
            pass
    return {k: [(f, trim.keep(f, len(f), k, headers=True)[0]) for f in sorted(found[k])]
            for k in test_trim.CAPTURED}


class Mutator:
    """Mutations of frames, all from one seed."""

    def __init__(self, seed, frames):
        self.rng = random.Random(seed)
        self.frames = frames
        self.end = 0  # of the headers, before the first mutation
        self.ways = (self.flip, self.edge, self.ethertype, self.protocol, self.lie, self.splice,
                     self.cut, self.nest, self.remove, self.grow)

    def place(self, frame, room=1):
        """Headers come first, and the last ones decide, so most changes are made there."""
        last = max(len(frame) - room, 0)
        way = self.rng.random()
        if way < 0.1:
            return self.rng.randint(0, last)
        first = self.end - 40 if way < 0.6 else 0
        return max(min(self.rng.randint(first, self.end + 8), last), 0)

    def flip(self, frame):
        for _ in range(self.rng.randint(1, 4)):
            frame[self.place(frame)] ^= 1 << self.rng.randrange(8)

    def edge(self, frame):
        frame[self.place(frame)] = self.rng.choice(EDGES)

    def ethertype(self, frame):
        at = self.place(frame, 2)
        frame[at:at + 2] = struct.pack(">H", self.rng.choice(ETHERTYPES))

    def protocol(self, frame):
        frame[self.place(frame)] = self.rng.choice(PROTOCOLS)

    def lie(self, frame):
        """A length near the true one, or far from it, in either byte order."""
        at = self.place(frame, 2)
        left = len(frame) - at
        value = self.rng.choice((left, left - 1, left + 1, at, at + 8, self.rng.randrange(64),
                                 self.rng.randrange(65536), 0xffff))
        frame[at:at + 2] = struct.pack(self.rng.choice("<>") + "H", value & 0xffff)

    def splice(self, frame):
        other, end = self.rng.choice(self.frames[self.rng.choice(list(self.frames))])
        frame[self.place(frame):] = other[self.rng.randint(0, end):]

    def cut(self, frame):
        del frame[max(self.place(frame), 14):]

    def nest(self, frame):
        at = self.place(frame)
        header = self.rng.choice(HEADERS) * self.rng.choice((1, 1, 1, 2, 3, 9))
        frame[at:at] = header

    def remove(self, frame):
        at = self.place(frame)
        del frame[at:at + self.rng.choice((1, 2, 4, 8, self.rng.randint(1, 40)))]

    def grow(self, frame):
        frame += bytes(self.rng.randrange(1, 600))

    def mutated(self, linktype):
        frame, self.end = self.rng.choice(self.frames[linktype])
        frame = bytearray(frame)
        for _ in range(self.rng.choice((1, 1, 2, 2, 3, 5, 8))):
            if not frame:
                break
            self.rng.choice(self.ways)(frame)
        return bytes(frame[:test_trim.TESTABLE.stop - 1])

    def round(self):
        """A setting, and the frames for one run of the program."""
        linktype = self.rng.choice(list(self.frames))
        snaplen = self.rng.choice((32768, 32768, 192, 60, self.rng.randint(1, 300)))
        keep = self.rng.choice(("headers",) * 7 + ("all",))
        frames = []
        while len(frames) < ROUND:
            frame = self.mutated(linktype)
            if len(frame) in test_trim.TESTABLE:
                frames.append(frame)
        return linktype, snaplen, keep, frames


def differences(hook, linktype, snaplen, keep, frames):
    """The program's deviations from the reference."""
    for frame, got in zip(frames, test_trim.run_program(hook, linktype, snaplen, keep, frames)):
        if got.verdict == test_trim.REFUSED and hook == "tc" and len(frame) < 54:
            continue  # IP without a whole IP header: the kernel does not test it
        kept, lied = trim.keep(frame, len(frame), linktype, snaplen, keep == "headers")
        if (got.data, got.malformed, got.orig_len) != (frame[:kept], lied, len(frame)):
            yield Find(hook, linktype, snaplen, keep, frame, (len(got.data), got.malformed),
                       (kept, int(lied)))


def smaller(find):
    """The find, truncated as far as it still differs."""
    def still(frame):
        return next(differences(*find[:4], [frame]), None)

    frame = find.frame
    for size in (256, 64, 16, 4, 1):
        while len(frame) - size >= 14 and still(frame[:-size]):
            frame = frame[:-size]
    return still(frame) or find


def fuzz(seed, enough, sets):
    """Runs until `enough(frames so far)`; returns (frames, finds)."""
    mutator = Mutator(seed, pool(sets))
    done, finds = 0, []
    while not enough(done) and len(finds) < 10:
        linktype, snaplen, keep, frames = mutator.round()
        for hook in ("xdp", "tc"):
            finds += itertools.islice(differences(hook, linktype, snaplen, keep, frames), 10)
        done += len(frames)
    return done, [smaller(f) for f in finds]


def report(find):
    return (f"{find.hook} --snaplen {find.snaplen} --keep {find.keep}: kept, malformed = "
            f"{find.got}, the reference {find.wanted}; again with "
            f"--frame {find.linktype}:{find.frame.hex()}")


def one_frame(text):
    linktype, data = text.split(":")
    for hook in ("xdp", "tc"):
        yield from differences(hook, int(linktype), 32768, "headers", [bytes.fromhex(data)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--frames", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--frame", help="LINKTYPE:HEX")
    o = parser.parse_args()
    end = time.monotonic() + o.seconds
    if o.frame:
        finds = list(one_frame(o.frame))
    else:
        print(f"seed {o.seed}", flush=True)
        done, finds = fuzz(o.seed, lambda n: n >= o.frames if o.frames else time.monotonic() > end,
                           captures.at_hand())
        print(f"{done} mutated frames, each by XDP and tc; {len(finds)} differences")
    for find in finds:
        print(report(find))
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
