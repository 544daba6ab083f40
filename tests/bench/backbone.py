# SPDX-License-Identifier: GPL-2.0
"""Bytes on the backbone for the hwsim traces: saluki's, with IP and UDP headers, against one
datagram per frame (the paper's comparison) and against xz of the whole trace. And for wired frames, with
templates and without."""
import lzma
import re
import struct

from bench import frames as wired_frames
from bench.worst import OTHER_LINKTYPE
from reference import captures, trim

SNAPLEN = 192
IP_UDP = 20 + 8
SEAL = 24  # wire/shroud.h: SHROUD_OVERHEAD, added to a straw man's datagram by the same seal

TRACES = ["hwsim-ch1", "hwsim", "hwsim-all-groundtruth"]
EXPORT = re.compile(r"export: \d+ bytes seen, \d+ kept, (\d+) sent in (\d+) combos, (\d+) datagrams")


def backbone_bytes(said):
    """Bytes sent by a run's own closing lines, with the headers below UDP."""
    sent, _, datagrams = map(int, EXPORT.search(said).groups())
    return sent + datagrams * IP_UDP


def straw_man(lengths):
    """Each frame in its own datagram, with nothing else."""
    return sum(IP_UDP + SEAL + n for n in lengths)


def kept_pcap(frames):
    """The trace as left by `--keep headers`, as a capture file."""
    out = [struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, frames[0].linktype)]
    for f in frames:
        n = trim.keep(f.data, f.orig_len, f.linktype, SNAPLEN, True)[0]
        out.append(struct.pack("<IIII", f.time_ns // 10**9, f.time_ns % 10**9, n, f.orig_len) +
                   f.data[:n])
    return b"".join(out)


class Trace:
    def __init__(self, bed, name):
        path = captures.more_real().root / f"hwsim/{name}.pcap.zst"
        self.bed, self.name = bed, name
        self.file = bed.directory / f"{name}.pcap"
        self.file.write_bytes(captures.file_bytes(path))
        self.frames = list(captures.frames(path))
        self.kept = [trim.keep(f.data, f.orig_len, f.linktype, SNAPLEN, True)[0]
                     for f in self.frames]

    def listen(self):
        self.collector = self.bed.collector()
        self.player = self.bed.tun(self.file)
        self.sensor = self.bed.sensor("mon0")
        self.player.go()

    def heard(self):
        """Bytes on the backbone of the live run."""
        played = self.player.played()
        _, said = self.sensor.finish()
        self.player.close()
        if played != len(self.frames) or not self.bed.balanced(self.collector):
            raise RuntimeError(said)
        return backbone_bytes(said)

    def read(self):
        """The same with `-r`, which fills its combos."""
        collector = self.bed.collector()
        status, said = self.bed.reader(self.file, []).finish(signo=None, seconds=300)
        if status or not self.bed.balanced(collector):
            raise RuntimeError(said)
        return backbone_bytes(said)

    def figures(self, say):
        live, full, count = self.heard(), self.read(), len(self.frames)
        xz = len(lzma.compress(kept_pcap(self.frames), preset=9 | lzma.PRESET_EXTREME))
        short = self.name.replace("-", "_")
        say(f"    {self.name}: {count} frames, {sum(self.kept) / count:.1f} bytes kept a frame; sent "
            f"{live / count:.2f} bytes a frame live, {full / count:.2f} in full combos; xz -9e of "
            f"the trace {xz / count:.2f}")
        return {
            f"backbone_bytes_{short}": live / count,
            f"backbone_share_{short}":
                live / straw_man(min(len(f.data), SNAPLEN) for f in self.frames),
            f"backbone_share_kept_{short}": live / straw_man(self.kept),
            f"bytes_x_xz_{short}": live / xz,
            f"bytes_x_xz_full_{short}": full / xz,
        }


def measure(beds, say):
    """All traces at once, each over its own monitor interface at its own speed, so that combos
    close by age as in the field, and stamps have all their nanoseconds."""
    traces = [Trace(bed, name) for bed, name in zip(beds, TRACES)]
    for trace in traces:
        trace.listen()
    return {k: v for trace in traces for k, v in trace.figures(say).items()}


def wired(directory, stages, say):
    """Headers of the bench's wired frames, against combos of version 2 at its default level, 1:
    these had no templates, as the combos of other link types today. `stages`: runs the stages over
    a trace at a level, and returns their figures."""
    sent = {}
    for linktype, level in ((1, "auto"), (1, "1"), (OTHER_LINKTYPE, "1")):
        trace = directory / f"headers{linktype}.pcap"
        wired_frames.write_pcap(trace, wired_frames.real(), linktype,
                                lambda f: trim.keep(f, len(f), 1, SNAPLEN, True)[0])
        sent[linktype, level] = stages(trace, level)["bytes_sent"]
    plain = sent.pop((OTHER_LINKTYPE, "1"))
    now, strong = sent.values()
    say(f"    wired: sent {now:.2f} bytes a frame, {strong:.2f} at level 1; without templates "
        f"{plain:.2f}")
    return {"backbone_bytes_wired": now, "backbone_wired_x_plain": now / plain,
            "backbone_wired_1_x_plain": strong / plain}
