# SPDX-License-Identifier: GPL-2.0
"""The capture programs on radiotap headers of every kind (reference/radiotaps.py): the kept part of
a frame is as computed when it was made, and wrong FCSs are counted, or dropped."""
import pytest

from bpf import filters
from bpf.test_filter import run as run_filters
from bpf.test_trim import HOOKS, REFUSED, TESTABLE, run_program
from reference import radiotaps

MADE = [m for m in radiotaps.every() if len(m.bytes) in TESTABLE]
# Every field in expressions: radiotap's length, and the fields after it.
EXPRESSIONS = """
type mgt|type ctl|type data|type mgt subtype beacon|type ctl subtype ack|type data subtype qos-data
wlan ta 02:bb:bb:bb:bb:02|wlan ra 02:aa:aa:aa:aa:01 and not type mgt|wlan addr3 02:cc:cc:cc:cc:03
wlan[1] & 0x40 != 0|wlan[0] = 0x88 and wlan[24:2] = 0x500|ip|tcp port 80|link[0] = 0xd4
radio[2:2] > 18|radio[4] & 2 != 0|radio[7] & 0x80 != 0|radio[radio[2]] = 0x80
"""


def ran(hook, keep, option=None, snaplen=32768):
    """(made, the program's result) for frames that the kernel tests."""
    results = run_program(hook, 127, snaplen, keep, [m.bytes for m in MADE], option)
    out = [(m, got) for m, got in zip(MADE, results) if got.verdict != REFUSED]
    assert len(out) > len(MADE) * 9 // 10
    return out


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("snaplen", [192, 32768, 60])
def test_what_is_kept(hook, snaplen):
    for made, got in ran(hook, "headers", snaplen=snaplen):
        assert got.data == made.bytes[:min(made.kept, snaplen)], made.name
        assert (got.malformed, got.bad_fcs, got.filtered) == (made.malformed, made.bad_fcs, False), made.name


@pytest.mark.parametrize("hook", ["xdp", "tc", "xdp-mapped"])
@pytest.mark.parametrize("keep", ["headers", "all"])
def test_frames_received_wrong_are_dropped(hook, keep):
    dropped = 0
    for made, got in ran(hook, keep, "drop"):
        assert (got.bad_fcs, got.filtered) == (made.bad_fcs, made.bad_fcs), made.name
        kept = 0 if made.bad_fcs else made.kept if keep == "headers" else len(made.bytes)
        assert got.data == made.bytes[:kept], made.name
        dropped += got.filtered
    assert dropped > 50


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_flags_are_radiotaps_alone(hook):
    """Flags exist only in radiotap, whatever bytes other link types have there."""
    for linktype in (1, 105, 119):
        results = run_program(hook, linktype, 32768, "all", [m.bytes for m in MADE], "drop")
        assert not any(r.bad_fcs or r.filtered for r in results)


def test_filters_find_the_frame_behind(tmp_path):
    """Filters find the frame after radiotap: libpcap's and the kernel's verdicts agree, and each
    expression takes some frames."""
    frames = [(127, m.bytes) for m in MADE]
    chosen = [(127, e) for e in filters.expressions(EXPRESSIONS)]
    out = run_filters(tmp_path, frames, chosen)
    assert not out.differ and not out.refused and len(out.ok) == len(chosen)
    for number, (*_, accepted, compared) in out.ok.items():
        assert 0 < accepted < compared, chosen[number]
