# SPDX-License-Identifier: GPL-2.0
"""A simulated sensor's dwells, in a real collector: each is in the file and the statistics once,
and other programs read the file."""
import subprocess
import sys

import pytest
from netns import testbed
from reference import captures

from wire import saluki_combo as sc
from wire.test_interop import Spoken, expected, got, keys, ns, some  # noqa: F401 (fixtures)

BEGIN, MS = 1792 * 10**15, 10**6
CHANNELS = (2412, 20, 2412), (5180, 80, 5210), (5975, 20, 5975)
TEXTS = "1", "36/80", "6g:5"
NAME = "room-1:mon0"


def made(count, begin=BEGIN):
    """Dwells one after the other; the last channel cannot be tuned."""
    out, at = [], begin
    for n in range(count):
        failed = n % 3 == 2
        end = at + (0 if failed else 250 * MS)
        out.append(sc.Dwell(0, *CHANNELS[n % 3], at, end, 0 if failed else n, 35000 + n,
                            22 if failed else 0, n % 2))
        at = end
    return out


def events(dwells, at=0):
    return [sc.Event(at, sc.DWELL, sc.dwell_write(d)) for d in dwells]


def in_file(dwells):
    texts = dict(zip(CHANNELS, TEXTS))
    return [captures.Dwell(texts[d[1:4]], *d[1:8], d.marked, d.error, d.up_ns) for d in dwells]


def assert_covered(stats, dwells, interface=0):
    coverage = stats["interfaces"][interface]["coverage"]
    assert (coverage["from_ns"], coverage["to_ns"]) == (dwells[0].from_ns, dwells[-1].to_ns)
    assert coverage["other_dwells"] == 0
    whole = coverage["to_ns"] - coverage["from_ns"]
    for channel, text, c in zip(CHANNELS, TEXTS, coverage["channels"], strict=True):
        own = [d for d in dwells if d[1:4] == channel]
        listened = sum(d.to_ns - d.from_ns for d in own)
        assert (c["channel"], c["mhz"], c["width"], c["center"]) == (text, *channel)
        assert abs(c.pop("share") - listened / whole) < 1e-6
        assert c == c | {"dwells": sum(not d.error for d in own), "listened_ns": listened,
                         "frames": sum(d.frames for d in own), "marked": sum(d.marked for d in own),
                         "switch_ns": sum(d.switch_ns for d in own),
                         "failures": sum(d.error != 0 for d in own)}


@pytest.fixture
def spoken(ns, keys, tmp_path):  # noqa: F811
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    spoken.sensor.set_up()
    return spoken


def test_dwells_amid_frames(spoken, bundled):
    """Combos of dwells only, first, in between and last, and dwells with values that this collector
    does not know, are read."""
    s, frames, dwells = spoken.sensor, some(bundled, 200), made(60)
    frames[70].direction |= sc.UNSETTLED
    frames[71].direction |= sc.UNSETTLED | 1
    s.add_combo([], sc.ZSTD, events(dwells[:10]))
    s.add_combo(frames[:100], sc.ZSTD_DOT11,
                events(dwells[10:20], 0) + events(dwells[20:30], 50) + events(dwells[30:40], 100))
    s.add_combo([], sc.STORED, [sc.Event(0, 77, b"?")])
    s.add_combo(frames[100:], sc.ZSTD_DOT11, [sc.Event(3, sc.DWELL, b"?")])
    s.add_combo([], sc.ZSTD, events(dwells[40:]))
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert captures.dwells(spoken.out, NAME) == in_file(dwells)
    assert [n for n, is_so in enumerate(captures.unsettled(spoken.out, NAME)) if is_so] == [70, 71]
    assert stats["exported"] == stats["written"] == 200 and stats["balance"] == 0
    assert (stats["unknown_events"], stats["bad_events"], stats["bad_combos"]) == (1, 1, 0)
    assert_covered(stats, dwells)
    said = "channel 36/80: 50.0 % of 10.0 s, "
    lines = [line for line in spoken.collector.said.splitlines() if said in line]
    assert lines and all(line.startswith("room-1 mon0: ") for line in lines)
    ledger, coverage = captures.last_words(spoken.out, NAME)
    assert ledger.startswith("room-1: seen 200 = ") and said in coverage


def test_other_programs_read_the_file(spoken, bundled):
    s, frames = spoken.sensor, some(bundled, 50)
    frames[7].direction |= sc.UNSETTLED
    s.add_combo(frames, sc.ZSTD_DOT11, events(made(9), 20))
    s.add_combo([], sc.ZSTD, events([d._replace(interface=1) for d in made(9)]))
    s.deliver()
    s.finish()
    spoken.close()
    assert len(captures.dwells(spoken.out, NAME)) == 9
    assert len(captures.dwells(spoken.out, "room-1:1")) == 9
    info = subprocess.run(["capinfos", "-M", spoken.out], capture_output=True, text=True, check=True)
    assert "Number of packets:   50\n" in info.stdout and not info.stderr, info
    read = subprocess.run(["tshark", "-n", "-r", spoken.out, "-T", "fields", "-e", "frame.number",
                           "-e", "frame.comment"], capture_output=True, text=True, check=True)
    assert [line.split("\t") for line in read.stdout.splitlines()] == [
        [str(n + 1), captures.UNSETTLED.decode() if n == 7 else ""] for n in range(50)]
    assert "damaged" not in read.stderr and "cut short" not in read.stderr


def test_many_dwells_and_channels(spoken):
    """A combo with more dwells than a sensor makes is read, on more channels than are kept apart,
    and with an errno of another platform."""
    dwells = [sc.Dwell(7, 1 + n % 200, 20, 1 + n % 200, BEGIN + n * MS, BEGIN + (n + 1) * MS, 1, 5, 0, 0)
              for n in range(sc.EVENTS_MAX)]
    s = spoken.sensor
    s.add_combo([], sc.ZSTD, events(dwells))
    s.add_combo([], sc.ZSTD, events([dwells[0]._replace(to_ns=BEGIN, frames=0, error=2**32 - 1)]))
    s.add_combo([], sc.ZSTD, events([dwells[0]._replace(interface=8)]))
    s.deliver()
    s.finish()
    _, stats = spoken.close()
    found = captures.dwells(spoken.out, "room-1:7")
    assert [(d.mhz, d.from_ns) for d in found] == [(d.mhz, d.from_ns) for d in [*dwells, dwells[0]]]
    assert found[-1].error == 2**32 - 1
    _, coverage = captures.last_words(spoken.out, "room-1:7")
    *channels, others = coverage.splitlines()
    assert [line.partition(": ")[0] for line in channels] == [
        f"channel {d.mhz}" for d in dwells[:128]]  # no channel number
    assert others == "other channels: 72 dwells"
    assert stats["bad_events"] == 1 and stats["bad_combos"] == 0


def test_a_clock_that_is_set(spoken):
    """The clock is set by 6 h during dwells, and back by a day: shares, and the page's results from
    the file, cover the time that passed."""
    s, dwells = spoken.sensor, []
    for n, d in enumerate(d for d in made(60) if not d.error):
        set_by = (0, 6, -24)[n * 3 // 40] * 3600 * 10**9
        dwells.append(d._replace(from_ns=d.from_ns + set_by, to_ns=d.to_ns + set_by,
                                 up_ns=77 * MS + d.from_ns - BEGIN))
    s.add_combo([], sc.ZSTD, events(dwells))
    s.deliver()
    s.finish()
    _, stats = spoken.close()
    assert captures.dwells(spoken.out, NAME) == in_file(dwells)
    coverage = stats["interfaces"][0]["coverage"]
    assert [c["share"] for c in coverage["channels"]] == [0.5, 0.5]
    assert "channel 36/80: 50.0 % of 10.0 s, " in captures.last_words(spoken.out, NAME)[1]
    page = subprocess.run([sys.executable, testbed.ROOT / "docs/coverage.py", spoken.out],
                          capture_output=True, text=True, check=True)
    first, second = page.stdout.splitlines()
    heard = [sum(d.frames for d in dwells if d[1:4] == channel) for channel in CHANNELS[:2]]
    assert first.startswith(f"{NAME} channel 1: 50.0% of 10.0 s, {heard[0]} frames in 20 dwells; in the whole "
                            f"time {2 * heard[0]}, ")
    assert second.startswith(f"{NAME} channel 36/80: 50.0% of 10.0 s, {heard[1]} frames in 20 dwells; in the "
                             f"whole time {2 * heard[1]}, ")


def test_each_once_through_a_kill(ns, keys, bundled, tmp_path):  # noqa: F811
    """Combos written by a killed collector are not written again, and none is missing: combos of
    dwells only are known by their names, like those with frames."""
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    s, frames, dwells = spoken.sensor, some(bundled, 100), made(30)
    s.set_up()
    s.add_combo(frames[:50], sc.ZSTD_DOT11, events(dwells[:5]))
    s.add_combo([], sc.ZSTD, events(dwells[5:9]))
    s.deliver()
    spoken.collector.kill()
    (tmp_path / "out.pcapng.state").unlink(missing_ok=True)  # only the names in the file are left
    spoken.collector = testbed.Collector(ns, keys, spoken.out)
    s.add_combo([], sc.ZSTD, events(dwells[9:20]))
    s.add_combo(frames[50:], sc.ZSTD_DOT11, events(dwells[20:], 50))
    s.ack = None  # settled combos are sent again, too
    s.set_up()
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert captures.dwells(spoken.out, NAME) == in_file(dwells)
    assert stats["earlier"] == 50 and stats["balance"] == 0
    assert_covered(stats, dwells[9:])


def test_a_forwarded_spool_has_dwells(ns, keys, bundled, tmp_path):  # noqa: F811
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    s, frames, dwells = spoken.sensor, some(bundled, 40), made(12)
    s.set_up()
    s.add_combo([], sc.ZSTD, events(dwells[:6]))
    s.add_combo(frames, sc.ZSTD_DOT11, events(dwells[6:], 40))
    s.killed()
    s.set_up()
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert captures.dwells(spoken.out, NAME) == in_file(dwells)
    assert stats["balance"] == 0
