# SPDX-License-Identifier: GPL-2.0
"""The capture programs keep the same bytes of every frame as the Python reference."""
import collections
import struct
import subprocess

import pytest

from netns.testbed import ROOT
from reference import captures, shapes, trim

TRIM_RUN = ROOT / "build/tests/trim_run"
XDP_PASS, XDP_DROP, TC_UNSPEC, TC_SHOT = 2, 1, 0xffffffff, 2
REFUSED = 0xfffffffe
# The kernel tests frames of 14 bytes to a page without head and tail room; live interfaces take
# shorter and longer ones (tests/netns).
TESTABLE = range(14, 3400)

Result = collections.namedtuple("Result", "verdict orig_len linktype direction malformed data bad_fcs "
                                          "filtered")


def run_program(hook, linktype, snaplen, keep, frames, option=None):
    """Feeds frames to the program; returns a Result for each, or REFUSED if the kernel would not
    run it."""
    stream = b"".join(struct.pack("<I", len(f)) + f for f in frames)
    out = subprocess.run([TRIM_RUN, hook, str(linktype), str(snaplen), keep,
                          *([option] if option else [])],
                         input=stream, capture_output=True, check=False, timeout=120)
    assert out.returncode == 0, out.stderr.decode()
    results = []
    at = 0
    for _ in frames:
        verdict, kept, orig, link, direction, counted = struct.unpack_from("<IIIHBB",
                                                                             out.stdout, at)
        at += 16
        results.append(Result(verdict, orig, link, direction, counted & 1, out.stdout[at:at + kept],
                              bool(counted & 2), bool(counted & 4)))
        at += kept
    assert at == len(out.stdout)
    return results


def compare(hook, linktype, snaplen, keep, named):
    """Every frame's record must equal the reference's, byte by byte."""
    named = [(n, f) for n, f in named if len(f) in TESTABLE]
    results = run_program(hook, linktype, snaplen, keep, [f for _, f in named])
    passed = XDP_PASS if hook.startswith("xdp") else TC_UNSPEC
    refused = 0
    for (name, frame), got in zip(named, results):
        if got.verdict == REFUSED:
            # At tc, the kernel does not test IP frames without a whole IP header.
            assert hook.startswith("tc") and len(frame) < 54, name
            refused += 1
            continue
        kept, lied = trim.keep(frame, len(frame), linktype, snaplen, keep == "headers")
        assert got.data == frame[:kept], (name, len(got.data), kept)
        assert got.malformed == lied, name
        assert (got.verdict, got.orig_len, got.linktype, got.direction) == \
            (passed, len(frame), linktype, 1), name
    return len(named) - refused


CAPTURED = [1, 105, 119, 127]


HOOKS = ["xdp", "tc", "xdp-mapped", "tc-mapped", "xdp-exchange"]


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("linktype", CAPTURED)
def test_every_shape(hook, linktype):
    named = [(n, f) for n, link, f in shapes.whole() if link == linktype]
    assert len(named) > 40
    for snaplen in (192, 32768, 60):
        assert compare(hook, linktype, snaplen, "headers", named) > 40
    compare(hook, linktype, 192, "all", named)


@pytest.mark.parametrize("hook", ["xdp", "tc", "xdp-mapped"])
@pytest.mark.parametrize("linktype", [1, 105, 127])
def test_every_shape_cut_at_every_length(hook, linktype):
    named = [(n, f) for n, link, f in shapes.cut() if link == linktype]
    assert compare(hook, linktype, 32768, "headers", named) > 5000


@pytest.mark.parametrize("hook", ["xdp", "xdp-mapped", "tc-mapped"])
@pytest.mark.parametrize("snaplen", [1, 7, 8, 9, 13, 14, 15, 63, 64, 65, 128, 129, 193, 255, 256,
                                     257, 513, 1025, 2049, 3000])
def test_sizes(hook, snaplen):
    frame = bytes(i & 255 for i in range(3100))
    got, = run_program(hook, 1, snaplen, "all", [frame])
    assert got.data == frame[:snaplen] and got.orig_len == 3100


@pytest.mark.parametrize("hook,dropped", [("xdp", XDP_DROP), ("tc", TC_SHOT)])
def test_consume_drops_after_capture(hook, dropped):
    frame = shapes.ETHERNET["ipv4 tcp"]
    got, = run_program(hook, 1, 192, "all", [frame], "consume")
    assert got.verdict == dropped and got.data == frame[:192]


def distinct(traces, folder):
    """All distinct frames of the folder's captures by link type; malformed files up to the
    error."""
    found = collections.defaultdict(dict)
    for path in traces.folder(folder):
        try:
            for f in captures.frames(path):
                found[f.linktype][f.data] = path.name
        except (captures.Corrupt, IndexError, struct.error):
            pass
    return found


@pytest.mark.parametrize("folder", ["hwsim", "radiotap", "dot11-other", "wired", "malformed"])
def test_real_frames(traces, folder):
    compared = 0
    for linktype, frames in distinct(traces, folder).items():
        if linktype in CAPTURED:
            named = [(name, data) for data, name in frames.items()]
            compared += compare("xdp", linktype, 192, "headers", named)
            compared += compare("tc", linktype, 2048, "headers", named[::7])
            compared += compare("xdp-mapped", linktype, 192, "headers", named[::3])
    print(f"{folder}: {compared} frames compared")
    many = 40000 if traces is captures.FOREIGN else 20000
    assert compared > {"malformed": 500, "dot11-other": many}.get(folder, 20000)
