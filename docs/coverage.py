# SPDX-License-Identifier: GPL-2.0
"""coverage.py FILE...: how long the radios of a capture listened to each channel, what they heard there, and
what that lets one expect of the whole time (wifi.md). In: pcapng files of saluki-collector, the dwells of
which are Interface Statistics Blocks. Out: a line for each interface and channel."""
import collections
import re
import statistics
import struct
import sys

SECTION, INTERFACE, STATISTICS = 0x0a0d0d0a, 1, 5
COMMENT, IF_NAME, ISB_START, ISB_END, ISB_RECEIVED = 1, 2, 2, 3, 4

Dwell = collections.namedtuple("Dwell", "begin_ns end_ns frames")


def blocks(data):
    """(kind, body), one after the other, as far as they are whole. Numbers are of little-endian machines."""
    at = 0
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 12 or at + size > len(data):
            return
        yield kind, data[at + 8:at + size - 4]
        at += size


def options(body, at):
    """The first of each code."""
    found = {}
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            break
        found.setdefault(code, body[at + 4:at + 4 + length])
        at += 4 + (length + 3) // 4 * 4
    return found


def time_ns(value):
    high, low = struct.unpack("<II", value)
    return high << 32 | low


def dwells(data):
    """(name of the interface, channel) -> its dwells."""
    found, names = collections.defaultdict(list), []
    for kind, body in blocks(data):
        if kind == SECTION:
            names = []
        elif kind == INTERFACE:
            names.append(options(body, 8).get(IF_NAME, b"?").decode(errors="replace"))
        elif kind == STATISTICS:
            told = options(body, 12)
            channel = re.match(rb"channel (\S+) \(", told.get(COMMENT, b""))
            if channel:
                found[names[struct.unpack_from("<I", body)[0]], channel[1].decode()].append(
                    Dwell(time_ns(told[ISB_START]), time_ns(told[ISB_END]),
                          struct.unpack("<Q", told[ISB_RECEIVED])[0]))
    return found


def line(name, channel, own, whole_ns):
    listened = [d for d in own if d.end_ns > d.begin_ns]
    share = sum(d.end_ns - d.begin_ns for d in listened) / whole_ns if listened else 0
    heard = [d.frames for d in listened]
    said = (f"{name} channel {channel}: {share:.1%} of {whole_ns / 1e9:.1f} s, {sum(heard)} frames in "
            f"{len(listened)} dwells")
    if share:
        error = 2 * statistics.pstdev(heard) * len(heard) ** 0.5 / share
        said += f"; in the whole time {sum(heard) / share:.0f}, give or take {error:.0f}"
    failed = len(own) - len(listened)
    return said + (f"; {failed} switches failed" if failed else "")


def main():
    for path in sys.argv[1:]:
        with open(path, "rb") as f:
            found = dwells(f.read())
        for (name, channel), own in sorted(found.items()):
            of_all = [d for (other, _), those in found.items() if other == name for d in those]
            whole_ns = max(d.end_ns for d in of_all) - min(d.begin_ns for d in of_all)
            print(line(name, channel, own, whole_ns))


main()
