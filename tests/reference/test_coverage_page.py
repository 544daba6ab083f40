# SPDX-License-Identifier: GPL-2.0
"""docs/coverage.py, which docs/wifi.md has people use: what it makes of dwells in a pcapng."""
import re
import struct
import subprocess
import sys

from netns.testbed import ROOT

BEGIN = 1792000000 * 10**9
MS = 10**6


def block(kind, body):
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


def option(code, data):
    return struct.pack("<HH", code, len(data)) + data + b"\0" * (-len(data) % 4)


def stamp(ns):
    return struct.pack("<II", ns >> 32, ns & 0xffffffff)


def interface(name):
    return block(1, struct.pack("<HHI", 127, 0, 192) + option(2, name) + option(0, b""))


def statistics(number, comment, begin_ns, end_ns, frames):
    return block(5, struct.pack("<I", number) + stamp(end_ns) + option(2, stamp(begin_ns)) +
                 option(3, stamp(end_ns)) + option(4, struct.pack("<Q", frames)) + option(1, comment) +
                 option(0, b""))


def dwell(number, channel, begin_ms, ms, frames):
    return statistics(number, b"channel %s (2437 MHz, width 20, center 2437), switch 5 ns, marked 0" % channel,
                      BEGIN + begin_ms * MS, BEGIN + (begin_ms + ms) * MS, frames)


SECTION = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
FRAME = block(6, struct.pack("<IIIII", 0, 0, 0, 4, 4) + b"abcd")


def said(tmp_path, data):
    path = tmp_path / "out.pcapng"
    path.write_bytes(data)
    return subprocess.run([sys.executable, ROOT / "docs/coverage.py", path], capture_output=True, text=True,
                          check=True).stdout.splitlines()


def test_shares_sums_and_what_follows(tmp_path):
    """10 s of four dwells of 1 s on channel 6, and two on 36/80, of one interface; another has one."""
    dwells = [dwell(0, b"6", 0, 1000, 10), dwell(0, b"36/80", 1000, 3000, 7), dwell(0, b"6", 4000, 1000, 20),
              FRAME, dwell(0, b"6", 5000, 1000, 10), dwell(1, b"6", 0, 500, 3),
              dwell(0, b"36/80", 6000, 3000, 7), dwell(0, b"6", 9000, 1000, 20)]
    lines = said(tmp_path, SECTION + interface(b"lib:mon0") + interface(b"lib:mon1") + b"".join(dwells) +
                 statistics(0, b"balance 0", BEGIN, BEGIN + 60000 * MS, 99999))
    assert lines == [
        "lib:mon0 channel 36/80: 60.0% of 10.0 s, 14 frames in 2 dwells; in the whole time 23, give or take 0",
        # A standard deviation of 5 among 4: 2 * 5 * 2 / 0.4.
        "lib:mon0 channel 6: 40.0% of 10.0 s, 60 frames in 4 dwells; in the whole time 150, give or take 50",
        "lib:mon1 channel 6: 100.0% of 0.5 s, 3 frames in 1 dwells; in the whole time 3, give or take 0"]


def test_switches_that_failed_are_no_dwells(tmp_path):
    lines = said(tmp_path, SECTION + interface(b"lib:mon0") + dwell(0, b"1", 0, 1000, 5) +
                 dwell(0, b"144", 1000, 0, 0) + dwell(0, b"144", 2000, 0, 0))
    assert lines[1] == "lib:mon0 channel 144: 0.0% of 2.0 s, 0 frames in 0 dwells; 2 switches failed"


def test_other_captures_and_broken_ones(tmp_path):
    """Nothing is said of a file without dwells; one that is cut is read as far as it goes."""
    head = SECTION + interface(b"lib:mon0")
    assert said(tmp_path, head + FRAME + statistics(0, b"no dwell", BEGIN, BEGIN, 1)) == []
    whole = said(tmp_path, head + dwell(0, b"1", 0, 1000, 5))
    assert len(whole) == 1 and said(tmp_path, head + dwell(0, b"1", 0, 1000, 5) + FRAME[:9]) == whole


def test_the_page_shows_what_it_prints(tmp_path):
    """The example of the page has the shape of a line."""
    (shown,) = re.findall(r"^    (library-1:wlan0mon channel .*)$", (ROOT / "docs/wifi.md").read_text(), re.M)
    lines = said(tmp_path, SECTION + interface(b"library-1:wlan0mon") + dwell(0, b"6", 0, 250, 5) +
                 dwell(0, b"1", 250, 500, 5))
    assert re.sub(r"[\d.]+", "#", shown) == re.sub(r"[\d.]+", "#", lines[1])
