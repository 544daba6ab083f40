# SPDX-License-Identifier: GPL-2.0
"""Frames into a VM, and what its kernel kept of them out of the console's log."""
import base64
import gzip
import pathlib
import re
import struct
import sys

from reference import captures, shapes, trim

LINKTYPES = (1, 105, 119, 127)


def frames(linktype):
    return [f for _, link, f in shapes.whole() if link == linktype and 60 <= len(f) < 3400]


def write(folder):
    for linktype in LINKTYPES:
        (pathlib.Path(folder) / f"in.{linktype}").write_bytes(
            b"".join(struct.pack("<I", len(f)) + f for f in frames(linktype)))


def check(log):
    text = pathlib.Path(log).read_text(errors="replace").replace("\r", "")
    compared = 0
    for hook in ("xdp", "tc", "xdp-mapped"):
        for linktype in LINKTYPES:
            body = re.search(rf"begin {hook} {linktype}\n(.*?)end\n", text, re.S)
            assert body, f"{hook} {linktype}: nothing came out"
            out = gzip.decompress(base64.b64decode(body[1]))
            at = 0
            for frame in frames(linktype):
                kept, lied = trim.keep(frame, len(frame), linktype, 192, True)
                want = struct.pack("<IIHBB", kept, len(frame), linktype, 1, lied) + frame[:kept]
                assert out[at + 4:at + 16 + kept] == want, (hook, linktype, frame)
                at += 16 + kept
                compared += 1
            assert at == len(out)
    count = len(list(captures.frames(captures.BUNDLED)))
    assert f"captured = exported {count} + dropped 0 + vanished 0; exported = written {count} " in text
    assert "sensor exit 0" in text and "balance 0" in text
    print(f"{compared} frames compared, {count} through sensor and collector")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2])
