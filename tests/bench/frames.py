# SPDX-License-Identifier: GPL-2.0
"""The bench's frames: real Ethernet frames, all different, in the order of their captures, so that
they follow each other as on a cable."""
import functools
import random
import struct

from reference import captures

FRAMES_MIN = 4096
PER_CAPTURE = 128  # no single protocol dominates the mix
LENGTH_MIN, LENGTH_MAX = 14, 1514


@functools.cache
def real():
    """Distinct frames."""
    chosen = {}
    for path in captures.more_real().folder("wired"):
        taken = 0
        try:
            for f in captures.frames(path):
                if taken == PER_CAPTURE:
                    break
                if (f.linktype == 1 and f.orig_len == len(f.data) and f.data not in chosen and
                        LENGTH_MIN <= len(f.data) <= LENGTH_MAX):
                    chosen[f.data] = None
                    taken += 1
        except captures.Corrupt:
            pass
    return list(chosen)


def sized(frames, size):
    """The same frames, truncated or filled up with random bytes to one size; unchanged for None."""
    if size is None:
        return frames
    r = random.Random(size)
    return [f[:size] + r.randbytes(max(0, size - len(f))) for f in frames]


def write_pcap(path, frames, linktype=1, kept=None):
    """Stamped as at a million frames/s: gaps are exponential, with all their nanoseconds. `kept`:
    returns how many bytes of a frame the file has."""
    r = random.Random(len(frames))
    now_ns = 0
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, linktype))
        for f in frames:
            now_ns += int(r.expovariate(1 / 1000))
            n = kept(f) if kept else len(f)
            out.write(struct.pack("<IIII", now_ns // 10**9, now_ns % 10**9, n, len(f)) + f[:n])
