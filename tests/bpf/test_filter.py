# SPDX-License-Identifier: GPL-2.0
"""Filters in the kernel: the verdict of the translated filter at XDP and at tc is that of libpcap's
bpf_filter(), for every filter of filters.py and every frame.

    python -m bpf.test_filter    all frames of all captures (make test-full)
"""
import collections
import os
import re
import subprocess
import sys
import tempfile
import time

from bpf import filters
from netns.testbed import ROOT
from reference import captures

FILTER_RUN = ROOT / "build/tests/filter_run"
FRAMES = 5000
FILTERS_MIN = 600
NO_SENSE = "expression rejects all packets|unsupported protocol over mpls"
# The verifier goes once through each instruction of both translations: in steps per classic one.
STEPS_XDP, STEPS_TC, STEPS_EXTRA = 14, 60, 250
# What is never run the kernel takes out one by one, and moves all that follows: 17,000 of a list's 94,000
# instructions took Linux 6.18 a second. Filters made by chance have some; lists, which are long, not.
LIST = 500

Outcome = collections.namedtuple("Outcome", "ok refused differ live pieces")


def run(directory, frames, chosen, seconds=300):
    """All filters on all frames; the work is shared among the CPUs."""
    filters.write_frames(f"{directory}/frames", frames)
    filters.write_filters(f"{directory}/filters", chosen)
    cpus = os.cpu_count()
    running = [subprocess.Popen([FILTER_RUN, f"{directory}/frames", f"{directory}/filters", str(i),
                                 str(cpus)], stdout=subprocess.PIPE, text=True)
               for i in range(cpus)]
    out = Outcome({}, {}, [], 0, 0)
    for p in running:
        said, _ = p.communicate(timeout=seconds)
        assert p.returncode == 0
        for line in said.splitlines():
            kind, rest = line.split(" ", 1)
            if kind == "ok":
                number, *numbers = map(int, rest.split())
                out.ok[number] = numbers
            elif kind == "refused":
                number, why = rest.split(" ", 1)
                out.refused[int(number)] = why
            elif kind == "differ":
                out.differ.append(rest)
            else:
                live, pieces = map(int, re.fullmatch(r"(\d+) pieces (\d+)", rest).groups())
                out = out._replace(live=out.live + live, pieces=out.pieces + pieces)
    return out


def check(directory, frames, seconds=300):
    chosen = filters.chosen(frames)
    began = time.monotonic()
    out = run(directory, frames, chosen, seconds)
    took = time.monotonic() - began
    for rest in out.differ[:20]:
        number, _, frame = rest.split()[:3]
        print(f"{rest}: {chosen[int(number)]} {frames[int(frame)][1][:200].hex()}")
    assert not out.differ
    # libpcap sees that some of those made by chance make no sense.
    assert [why for why in out.refused.values() if not re.search(NO_SENSE, why)] == []
    assert len(out.refused) < 20
    assert len(out.ok) + len(out.refused) == len(chosen) and len(out.ok) >= FILTERS_MIN
    for number, (length, xdp, tc, left_out, _, _) in out.ok.items():
        assert xdp < STEPS_XDP * length + STEPS_EXTRA, (chosen[number], length, xdp)
        assert tc < STEPS_TC * length + STEPS_EXTRA, (chosen[number], length, tc)
        assert not left_out or length < LIST, (chosen[number], left_out)
    compared = sum(n[5] for n in out.ok.values())
    accepted = sum(n[4] for n in out.ok.values())
    telling = sum(0 < n[4] < n[5] for n in out.ok.values())
    print(f"{len(out.ok)} filters, {len(frames)} distinct frames of {len(filters.files())} files: "
          f"{compared} verdicts compared, {accepted} of them yes, {out.live} over live interfaces, "
          f"{out.pieces} of frames in pieces; {telling} filters took some and refused some; "
          f"{took:.0f} s")
    # Otherwise the filters or the frames are not worth comparing.
    seen_twice = sum(len(data) < 65535 for _, data in frames)  # XDP sees no longer ones to the end
    assert compared >= len(out.ok) * (len(frames) + seen_twice) and compared // 20 < accepted
    assert telling > len(chosen) // (2 if captures.have() else 6)
    assert out.live > len(chosen) and out.pieces > (1000 if captures.have() else 0)


def test_verdicts(tmp_path):
    frames = filters.some_frames(FRAMES)
    if not captures.have():
        print(f"captures are absent: {len(frames)} frames of the bundled trace instead")
    else:
        assert len(frames) == FRAMES
    check(tmp_path, frames)


def test_refusals_say_what_to_do(tmp_path):
    chosen = [(1, e) for e in filters.REFUSED]
    out = run(tmp_path, filters.some_frames(3), chosen)
    assert not out.ok
    for number, (expression, hint) in enumerate(filters.REFUSED.items()):
        why = out.refused[number]
        assert hint in why and f"'{expression}'" in why, why


def main():
    with tempfile.TemporaryDirectory() as directory:
        frames = list(filters.every_frame())
        check(directory, frames, seconds=6 * 3600)


if __name__ == "__main__":
    sys.exit(main())
