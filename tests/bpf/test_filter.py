# SPDX-License-Identifier: GPL-2.0
"""Filters in the kernel: the translated filter's verdict at XDP and at tc equals that of libpcap's
bpf_filter(), for every filter of filters.py and every frame.

    python -m bpf.test_filter    all frames of all captures (make test-full)
"""
import collections
import ctypes
import errno
import os
import re
import socket
import struct
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
SO_ATTACH_FILTER = 26
TCPDUMP_NAMES = {filters.ETHERNET: "EN10MB", filters.DOT11: "IEEE802_11", filters.PRISM: "PRISM_HEADER",
                 filters.RADIOTAP: "IEEE802_11_RADIO"}
# The verifier visits each instruction of both translations once: steps per classic instruction.
STEPS_XDP, STEPS_TC, STEPS_EXTRA = 14, 60, 250
# The kernel removes dead instructions one by one, and moves all that follow: 17,000 of a list's
# 94,000 instructions took Linux 6.18 a second. Random filters have some; lists, which are long,
# have none.
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


def libpcap_says(linktype, expression):
    """Why libpcap alone refuses an expression; None if it accepts it."""
    got = subprocess.run(["tcpdump", "-y", TCPDUMP_NAMES[linktype], "-d", expression], capture_output=True, text=True,
                         check=False)
    return got.stderr.partition("tcpdump: ")[2].strip() if got.returncode else None


def kernel_refuses(linktype, expression):
    """Whether the kernel refuses libpcap's code for a socket: libpcap's optimizer sometimes leaves
    a read of unwritten memory."""
    code = subprocess.run(["tcpdump", "-y", TCPDUMP_NAMES[linktype], "-ddd", expression], capture_output=True, text=True,
                          check=True).stdout.split("\n")
    code = b"".join(struct.pack("=HBBI", *map(int, line.split())) for line in code[1:] if line)
    memory = ctypes.create_string_buffer(code)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                         struct.pack("@HP", len(code) // 8, ctypes.addressof(memory)))
        except OSError as e:
            return e.errno == errno.EINVAL
    return False


def assert_refused_rightly(chosen, refused):
    """Only random filters are refused, and for libpcap's reason in libpcap's words, or the
    kernel's."""
    chance = set(filters.by_chance())
    for number, why in refused.items():
        assert chosen[number] in chance, (chosen[number], why)
        said = libpcap_says(*chosen[number])
        if said is None:
            assert "reads scratch memory" in why and kernel_refuses(*chosen[number]), (chosen[number], why)
        else:
            assert said in why, (chosen[number], said, why)


def check(directory, frames, seconds=300):
    chosen = filters.chosen(frames)
    began = time.monotonic()
    out = run(directory, frames, chosen, seconds)
    took = time.monotonic() - began
    for rest in out.differ[:20]:
        number, _, frame = rest.split()[:3]
        print(f"{rest}: {chosen[int(number)]} {frames[int(frame)][1][:200].hex()}")
    assert not out.differ
    assert_refused_rightly(chosen, out.refused)
    assert len(out.refused) < 20
    assert len(out.ok) + len(out.refused) == len(chosen) and len(out.ok) >= FILTERS_MIN
    for number, (length, xdp, tc, left_out, _, _) in out.ok.items():
        assert xdp < STEPS_XDP * length + STEPS_EXTRA, (chosen[number], length, xdp)
        assert tc < STEPS_TC * length + STEPS_EXTRA, (chosen[number], length, tc)
        assert not left_out or length < LIST, (chosen[number], left_out)
    compared = sum(n[5] for n in out.ok.values())
    accepted = sum(n[4] for n in out.ok.values())
    telling = sum(0 < n[4] < n[5] for n in out.ok.values())
    print(f"{len(out.ok)} filters, {len(frames)} distinct frames: "
          f"{compared} verdicts compared, {accepted} of them yes, {out.live} over live interfaces, "
          f"{out.pieces} of frames in pieces; {telling} filters took some and refused some; "
          f"{took:.0f} s")
    # Otherwise the filters or the frames are not worth comparing.
    seen_twice = sum(len(data) < 65535 for _, data in frames)  # XDP sees longer ones only in part
    assert compared >= len(out.ok) * (len(frames) + seen_twice) and compared // 20 < accepted
    assert telling > len(chosen) // 2
    assert out.live > len(chosen) and out.pieces > 1000


def test_verdicts(traces, tmp_path):
    frames = filters.some_frames(traces, FRAMES)
    assert len(frames) == FRAMES
    check(tmp_path, frames)


def test_the_same_filters_whatever_the_frames():
    frames = filters.some_frames(captures.OWN, 300)
    assert filters.chosen(frames) == filters.chosen(frames)
    assert set(filters.by_chance()) < set(filters.chosen([])) & set(filters.chosen(frames))


def test_expressions_that_libpcap_refuses(tmp_path):
    """Expressions that libpcap refuses give libpcap's error, also when written by hand."""
    chosen = [(filters.ETHERNET, "pppoes and llc"), (filters.ETHERNET, "not ()"),
              (filters.ETHERNET, "mpls and arp")]
    out = run(tmp_path, filters.some_frames(captures.OWN, 3), chosen)
    assert not out.ok and sorted(out.refused) == list(range(len(chosen)))
    for number, why in out.refused.items():
        said = libpcap_says(*chosen[number])
        assert said and said in why


def test_refusals_say_what_to_do(tmp_path):
    chosen = [(1, e) for e in filters.REFUSED]
    out = run(tmp_path, filters.some_frames(captures.OWN, 3), chosen)
    assert not out.ok
    for number, (expression, hint) in enumerate(filters.REFUSED.items()):
        why = out.refused[number]
        assert hint in why and f"'{expression}'" in why, why


def main():
    with tempfile.TemporaryDirectory() as directory:
        frames = list(filters.every_frame(captures.at_hand()))
        check(directory, frames, seconds=6 * 3600)


if __name__ == "__main__":
    sys.exit(main())
