# SPDX-License-Identifier: GPL-2.0
"""Files as a collector writes them, of given frames: several sensors that have heard the same capture, or anything."""
import struct

from merge import pcapng
from reference import captures

BATCH = 50  # frames of one sensor, one after the other


def packet(interface, frame, *options):
    data = frame.data + bytes(-len(frame.data) % 4)
    stamp = frame.time_ns & 0xffffffff_ffffffff
    head = struct.pack("<IIIII", interface, stamp >> 32, stamp & 0xffffffff, len(frame.data), frame.orig_len)
    return pcapng.block(pcapng.PACKET, head + data, *options)


def interface(sensor, number, name, linktype=pcapng.RADIOTAP_LINKTYPE):
    return pcapng.block(pcapng.INTERFACE, struct.pack("<HHI", linktype, 0, 262144),
                        pcapng.option(2, f"{sensor}:{name}".encode()),
                        pcapng.option(3, f"sensor {sensor} (id {number}), interface {name} by file".encode()),
                        pcapng.option(9, b"\x09"))


def frames(path):
    """(interface's name, frame), the capture's in order"""
    data = captures.file_bytes(path)
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        yield from captures._pcapng(data)
    else:
        yield from (("air:wlan0", frame) for frame in captures.frames(path))


def heard(rows, offsets_ns):
    """A stream in which a sensor for each offset has heard all frames. Its clock is ahead by the offset."""
    names = sorted({name for name, _ in rows})
    linktype = {name: frame.linktype for name, frame in rows}
    ids, blocks = {}, [pcapng.section()]
    for n in range(len(offsets_ns)):
        for name in names:
            ids[n, name] = len(ids)
            sensor, _, own = name.partition(":")
            blocks.append(interface(f"{sensor}-{n + 1}", n + 1, own or "wlan0", linktype[name]))
    for at in range(0, len(rows), BATCH):
        for n, offset in enumerate(offsets_ns):
            blocks += [packet(ids[n, name], f._replace(time_ns=f.time_ns + offset)) for name, f in rows[at:at + BATCH]]
    return b"".join(blocks)
