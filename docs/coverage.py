# SPDX-License-Identifier: GPL-2.0
"""coverage.py FILE...: how long the radios of a capture listened to each channel, what they heard there, and
what that lets one expect of the whole time (wifi.md). In: pcapng files of saluki-collector, the dwells of
which are Interface Statistics Blocks. Out: a line for each interface and channel. Exits 1 where a file has
no dwells."""
import collections
import re
import statistics
import struct
import sys

SECTION, INTERFACE, STATISTICS, PACKET = 0x0a0d0d0a, 1, 5, 6
COMMENT, IF_NAME, ISB_START, ISB_END, ISB_RECEIVED, COMBO_NAME = 1, 2, 2, 3, 4, 19373
SAID = re.compile(rb"channel (\S+) \(.*\), switch (\d+) ns, marked \d+(?:, up (\d+) ns)?(, error )?")
JOIN_NS = 10**7

# begin_ns by the clock that nobody sets, where the sensor tells it; part: of the dwell before.
Dwell = collections.namedtuple("Dwell", "channel run begin_ns end_ns frames failed part")


def blocks(data):
    """(kind, body), one after the other, as far as they are whole. Numbers are of little-endian machines."""
    if data[:4] + data[8:12] != struct.pack("<II", SECTION, 0x1a2b3c4d):
        raise ValueError("is not a pcapng file, or of a big-endian machine")
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


def number(value):
    high, low = struct.unpack("<II", value)
    return high << 32 | low


def dwell(told, run, own):
    """What a statistics block has told, as a list: one dwell, behind its interface's own; or none."""
    said = SAID.match(told.get(COMMENT, b""))
    if not said:
        return []
    channel, start_ns = said[1].decode(), number(told[ISB_START])
    begin_ns, failed = int(said[3] or start_ns), bool(said[4])
    part = bool(own and own[-1][:2] == (channel, run) and said[2] == b"0" and not failed and
                not own[-1].failed and abs(begin_ns - own[-1].end_ns) <= JOIN_NS)
    return [Dwell(channel, run, begin_ns, begin_ns + number(told[ISB_END]) - start_ns,
                  struct.unpack("<Q", told[ISB_RECEIVED])[0], failed, part)]


def dwells(data):
    """Name of the interface -> its dwells. The first block of each combo names the run of its sensor."""
    found, names, run = collections.defaultdict(list), [], None
    for kind, body in blocks(data):
        if kind == SECTION:
            names = []
        elif kind == INTERFACE:
            names.append(options(body, 8).get(IF_NAME, b"?").decode(errors="replace"))
        elif kind in (PACKET, STATISTICS):
            kept = struct.unpack_from("<I", body, 12)[0] if kind == PACKET else 0
            told = options(body, 20 + (kept + 3) // 4 * 4 if kind == PACKET else 12)
            run = told[COMBO_NAME][4:12] if COMBO_NAME in told else run
            if kind == STATISTICS:
                own = found[names[struct.unpack_from("<I", body)[0]]]
                own.extend(dwell(told, run, own))
    return found


def whole_ns(own):
    """From the first dwell to the last, of each run: between runs nobody knows what a clock did."""
    runs = collections.defaultdict(list)
    for d in own:
        runs[d.run].append(d)
    return sum(max(d.end_ns for d in one) - min(d.begin_ns for d in one) for one in runs.values())


def line(name, channel, own, all_ns):
    heard = []
    for d in own:
        if d.part:
            heard[-1] += d.frames
        elif not d.failed:
            heard.append(d.frames)
    share = min(1, sum(d.end_ns - d.begin_ns for d in own) / all_ns) if all_ns else 0
    said = (f"{name} channel {channel}: {share:.1%} of {all_ns / 1e9:.1f} s, {sum(heard)} frames in "
            f"{len(heard)} dwells")
    if share:
        error = 2 * statistics.pstdev(heard) * len(heard) ** 0.5 / share
        said += f"; in the whole time {sum(heard) / share:.0f}, give or take {error:.0f}"
    failed = sum(d.failed for d in own)
    return said + (f"; {failed} switches failed" if failed else "")


def lines(path):
    with open(path, "rb") as f:
        found = dwells(f.read())
    said = [line(name, channel, [d for d in own if d.channel == channel], whole_ns(own))
            for name, own in sorted(found.items()) for channel in sorted({d.channel for d in own})]
    if not said:
        raise ValueError("has no dwells: no radio sampled channels")
    return said


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    failed = False
    for path in sys.argv[1:]:
        try:
            print(*lines(path), sep="\n")
        except (OSError, ValueError) as e:
            print(f"coverage.py: {path}: {e}", file=sys.stderr)
            failed = True
    sys.exit(failed)


main()
