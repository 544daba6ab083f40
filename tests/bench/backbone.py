# SPDX-License-Identifier: GPL-2.0
"""Bytes on the backbone for the hwsim traces: what saluki sends, IP and UDP headers included, against
a datagram a frame (the paper's comparison) and against xz of the whole trace."""
import lzma
import re
import struct

from netns import testbed
from reference import captures, trim

SNAPLEN = 192
IP_UDP = 20 + 8
SEAL = 29  # wire/seal.h: SEAL_OVERHEAD, what the same seal adds to a datagram of the straw man

EXPORT = re.compile(r"export: \d+ bytes seen, \d+ kept, (\d+) sent in (\d+) combos, (\d+) datagrams")


def sent_bytes(bed, trace, options):
    """What `saluki run -r` sends for a trace, by its own closing lines, headers below UDP added."""
    collector = bed.collector()
    reader = bed.reader(trace, options)
    status, said = reader.finish(signo=None, seconds=300)
    if status or not bed.balanced(collector):
        raise RuntimeError(said)
    sent, _, datagrams = map(int, EXPORT.search(said).groups())
    return sent + datagrams * IP_UDP


def straw_man(lengths):
    """Each frame in a datagram of its own, nothing but its bytes inside."""
    return sum(IP_UDP + SEAL + n for n in lengths)


def kept_pcap(frames):
    """The trace as `--keep headers` leaves it, as a capture file."""
    out = [struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, frames[0].linktype)]
    for f in frames:
        n = trim.keep(f.data, f.orig_len, f.linktype, SNAPLEN, True)[0]
        out.append(struct.pack("<IIII", f.time_ns // 10**9, f.time_ns % 10**9, n, f.orig_len) +
                   f.data[:n])
    return b"".join(out)


def measure(bed, name, say):
    """`--pace`: combos close by age too, as they do live."""
    path = captures.CAPTURES / f"hwsim/{name}.pcap.zst"
    trace = bed.directory / f"{name}.pcap"
    trace.write_bytes(captures.file_bytes(path))
    frames = list(captures.frames(path))
    kept = [trim.keep(f.data, f.orig_len, f.linktype, SNAPLEN, True)[0] for f in frames]
    xz = len(lzma.compress(kept_pcap(frames), preset=9 | lzma.PRESET_EXTREME))
    short = name.replace("-", "_")
    live = sent_bytes(bed, trace, ["--pace"])
    full = sent_bytes(bed, trace, [])
    say(f"    {name}: {len(frames)} frames, {sum(kept) / len(frames):.1f} bytes kept a frame; sent "
        f"{live / len(frames):.2f} bytes a frame live, {full / len(frames):.2f} in full combos; "
        f"xz -9e {xz / len(frames):.2f}")
    return {
        f"backbone_bytes_{short}": live / len(frames),
        f"backbone_share_{short}": live / straw_man(min(len(f.data), SNAPLEN) for f in frames),
        f"backbone_share_kept_{short}": live / straw_man(kept),
        f"bytes_x_xz_{short}": full / xz,
        f"bytes_x_xz_live_{short}": live / xz,
    }
