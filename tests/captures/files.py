# SPDX-License-Identifier: GPL-2.0
"""Writes this folder's capture files, compressed as small as zstd can."""
import io
import pathlib
import struct

import zstandard

HERE = pathlib.Path(__file__).resolve().parent
LEVEL = 19


def pcap(linktype, frames, order="<", nanoseconds=True, snaplen=262144):
    out = io.BytesIO()
    magic, unit = (0xa1b23c4d, 1) if nanoseconds else (0xa1b2c3d4, 1000)
    out.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, linktype))
    for f in frames:
        out.write(struct.pack(order + "IIII", f.time_ns // 10**9, f.time_ns % 10**9 // unit, len(f.data),
                              f.orig_len) + f.data)
    return out.getvalue()


def forget(pattern):
    """Removes former files, which may not be made any more."""
    for path in HERE.glob(pattern):
        path.unlink()


def pack(name, data):
    path = HERE / f"{name}.zst"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zstandard.ZstdCompressor(level=LEVEL).compress(data))
    print(f"{path.relative_to(HERE)}: {len(data)} bytes, {path.stat().st_size} packed", flush=True)


def write(name, linktype, frames, **how):
    """Writes the frames as NAME.pcap.zst. There must be some."""
    frames = list(frames)
    assert frames, name
    pack(f"{name}.pcap", pcap(linktype, frames, **how))
