# SPDX-License-Identifier: GPL-2.0
"""docs/coverage.py, which docs/wifi.md recommends: its results for dwells in a pcapng."""
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


def combo_name(run):
    return option(19373, struct.pack(">IQQQIHH", 32473, run, 0, 0, 0, 2, 1)) if run else b""


def statistics(number, comment, begin_ns, end_ns, frames, run=None):
    return block(5, struct.pack("<I", number) + stamp(end_ns) + option(2, stamp(begin_ns)) +
                 option(3, stamp(end_ns)) + option(4, struct.pack("<Q", frames)) + option(1, comment) +
                 combo_name(run) + option(0, b""))


def dwell(number, channel, begin_ms, ms, frames, up_ms=None, switch=5, error=b"", run=None, marked=0):
    """In its own combo if a run is given."""
    up = b"" if up_ms is None else b", up %d ns" % (up_ms * MS)
    comment = b"channel %s (2437 MHz, width 20, center 2437), switch %d ns, marked %d%s%s" % (
        channel, switch, marked, up, error)
    return statistics(number, comment, BEGIN + begin_ms * MS, BEGIN + (begin_ms + ms) * MS, frames, run)


FAILED = b", error 22: Invalid argument"
SECTION = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
FRAME = block(6, struct.pack("<IIIII", 0, 0, 0, 4, 4) + b"abcd")


def run_page(tmp_path, data):
    path = tmp_path / "out.pcapng"
    path.write_bytes(data)
    return subprocess.run([sys.executable, ROOT / "docs/coverage.py", path], capture_output=True, text=True)


def said(tmp_path, data):
    done = run_page(tmp_path, data)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_shares_sums_and_what_follows(tmp_path):
    """Shares and sums are right for 10 s of four dwells of 1 s on channel 6, and two on 36/80, on
    one interface; another has one."""
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
    """A failed switch is no dwell, but a dwell of no time with marked frames is not a failed
    switch."""
    lines = said(tmp_path, SECTION + interface(b"lib:mon0") + dwell(0, b"1", 0, 1000, 5) +
                 dwell(0, b"144", 1000, 0, 0, error=FAILED) + dwell(0, b"144", 2000, 0, 0, error=FAILED) +
                 dwell(0, b"6", 2000, 0, 0, marked=4))
    assert lines[1:] == [
        "lib:mon0 channel 144: 0.0% of 2.0 s, 0 frames in 0 dwells; 2 switches failed",
        "lib:mon0 channel 6: 0.0% of 2.0 s, 0 frames in 1 dwells"]


def test_a_dwell_behind_a_switch_that_failed(tmp_path):
    """A dwell after a failed switch is where the radio was already: it is no part of that
    switch."""
    assert said(tmp_path, SECTION + interface(b"lib:mon0") + dwell(0, b"6", 0, 0, 0, 100, error=FAILED) +
                dwell(0, b"6", 0, 1000, 5, 100, switch=0)) == [
        "lib:mon0 channel 6: 100.0% of 1.0 s, 5 frames in 1 dwells; in the whole time 5, give or take 0; "
        "1 switches failed"]


def test_a_clock_that_is_set_is_no_time(tmp_path):
    """Setting the clock by six hours, or back to before all, counts as no time, nor does a restart
    with a clock of 1970 at first."""
    hours = 6 * 3600 * 1000
    dwells = [dwell(0, b"1", 0, 1000, 10, 5000, run=7), dwell(0, b"6", 1000, 1000, 1, 6000),
              dwell(0, b"1", hours, 1000, 10, 7000), dwell(0, b"6", hours + 1000, 1000, 1, 8000),
              dwell(0, b"1", -hours, 1000, 10, 9000), dwell(0, b"6", 1000 - hours, 1000, 1, 10000),
              dwell(0, b"1", -BEGIN // MS + 500, 1000, 10, 500, run=8), dwell(0, b"6", 0, 1000, 1, 1500)]
    lines = said(tmp_path, SECTION + interface(b"lib:mon0") + b"".join(dwells))
    assert [line.partition(", give")[0] for line in lines] == [
        "lib:mon0 channel 1: 50.0% of 8.0 s, 40 frames in 4 dwells; in the whole time 80",
        "lib:mon0 channel 6: 50.0% of 8.0 s, 4 frames in 4 dwells; in the whole time 8"]


def test_the_run_is_in_the_first_block_of_a_combo(tmp_path):
    """The run is in a combo's first block, also if that is a frame's. Uptimes of two runs do not
    count from one machine start."""
    frames = [block(6, struct.pack("<IIIII", 0, 0, 0, 5, 5) + b"abcde\0\0\0" + combo_name(run) + option(0, b""))
              for run in (7, 8)]
    lines = said(tmp_path, SECTION + interface(b"lib:mon0") + frames[0] + dwell(0, b"1", 0, 1000, 10, 900000) +
                 frames[1] + dwell(0, b"1", 9000, 1000, 10, 5000))
    assert lines == ["lib:mon0 channel 1: 100.0% of 2.0 s, 20 frames in 2 dwells; in the whole time 20, "
                     "give or take 0"]


def test_parts_are_one_dwell(tmp_path):
    """Parts count as one dwell, as in the collector, and have no error of their own, also if the
    clock is set in between."""
    head = SECTION + interface(b"lib:mon0")
    parts = [dwell(0, b"1", 0, 5000, 9, 100), dwell(0, b"1", 5000, 5000, 0, 5100, 0),
             dwell(0, b"1", 999000, 5000, 2, 10100, 0)]
    others = [dwell(0, b"6", 1004000, 5000, 4, 15100), dwell(0, b"1", 1009000, 5000, 11, 20100)]
    assert said(tmp_path, head + b"".join(parts)) == [
        "lib:mon0 channel 1: 100.0% of 15.0 s, 11 frames in 1 dwells; in the whole time 11, give or take 0"]
    assert said(tmp_path, head + b"".join(parts + others))[0] == (
        "lib:mon0 channel 1: 80.0% of 25.0 s, 22 frames in 2 dwells; in the whole time 28, give or take 0")


def test_other_captures_and_broken_ones(tmp_path):
    """No file, or one without dwells, is an error; a truncated one is read up to its end."""
    head = SECTION + interface(b"lib:mon0")
    for data, why in ((head + FRAME + statistics(0, b"no dwell", BEGIN, BEGIN, 1), "has no dwells: "),
                      (b"\xd4\xc3\xb2\xa1" + bytes(20), "is not a pcapng file"), (b"", "is not a pcapng file")):
        done = run_page(tmp_path, data)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"coverage.py: {tmp_path / 'out.pcapng'}: {why}")
    whole = said(tmp_path, head + dwell(0, b"1", 0, 1000, 5))
    assert len(whole) == 1 and said(tmp_path, head + dwell(0, b"1", 0, 1000, 5) + FRAME[:9]) == whole


def test_the_page_shows_what_it_prints(tmp_path):
    """The page's example has the shape of an output line."""
    (shown,) = re.findall(r"^    (library-1:wlan0mon channel .*)$", (ROOT / "docs/wifi.md").read_text(), re.M)
    lines = said(tmp_path, SECTION + interface(b"library-1:wlan0mon") + dwell(0, b"6", 0, 250, 5) +
                 dwell(0, b"1", 250, 500, 5))
    assert re.sub(r"[\d.]+", "#", shown) == re.sub(r"[\d.]+", "#", lines[1])
