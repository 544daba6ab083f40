# SPDX-License-Identifier: GPL-2.0
"""Module events of a simulated sensor, in a real collector. The second implementation also sends
events that no real sensor would send."""
import json
import subprocess

import pytest
from netns import testbed
from reference import captures

from wire import saluki_combo as sc
from wire.test_dwells import events as dwell_events
from wire.test_dwells import in_file, made
from wire.test_interop import Spoken, expected, got, keys, ns, some  # noqa: F401 (fixtures)


def words(count, module="worm", first=0):
    return [sc.Said(n % 2, 1 + n % 2, 1792 * 10**15 + n, 3, module, n.to_bytes(4, "big"))
            for n in range(first, first + count)]


def events(said, at=0):
    return [sc.Event(at, sc.SAID, sc.said_write(s)) for s in said]


def as_json(said, interfaces=("mon0", "1")):
    return [{"sensor": "room-1", "interface": interfaces[s.interface], "module": s.name,
             "serial": s.serial, "time_ns": s.time_ns, "direction": ("in", "out")[s.direction == 2],
             "data": s.data.hex()} for s in said]


def without_id(lines):
    return [{k: v for k, v in line.items() if k != "id"} for line in lines]


def lines(folder, module):
    return [json.loads(line) for line in (folder / f"{module}.jsonl").read_text().splitlines()]


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    folder = tmp_path / "events"
    folder.mkdir()
    return folder


@pytest.fixture
def spoken(ns, keys, tmp_path, folder):  # noqa: F811
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng", options=["--events", folder])
    spoken.sensor.set_up()
    return spoken


def test_words_amid_frames_and_dwells(spoken, folder, bundled):
    s, frames, said, dwells = spoken.sensor, some(bundled, 100), words(60), made(9)
    other = words(5, "other")
    s.add_combo([], sc.ZSTD, events(said[:10]))
    s.add_combo(frames[:50], sc.ZSTD_DOT11,
                events(said[10:20]) + dwell_events(dwells[:5], 20) + events(said[20:30], 20) +
                events(other, 30) + events(said[30:40], 50))
    s.add_combo(frames[50:], sc.ZSTD_DOT11, dwell_events(dwells[5:], 0) + events(said[40:], 1))
    s.deliver()
    run = s.run
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert captures.dwells(spoken.out, "room-1:mon0") == in_file(dwells)
    in_capture = captures.said(spoken.out)
    assert lines(folder, "worm") == [x for x in in_capture if x["module"] == "worm"]
    assert without_id(lines(folder, "worm")) == as_json(said)
    assert without_id(lines(folder, "other")) == as_json(other)
    assert [x["id"] for x in in_capture[:12]] == [
        *(f"{run:016x}-0-{n}" for n in range(10)), f"{run:016x}-1-0", f"{run:016x}-1-1"]
    assert len({x["id"] for x in in_capture}) == 65
    assert stats["module_events"] == 65 and stats["bad_events"] == stats["unknown_events"] == 0
    assert stats["balance"] == 0


def test_what_cannot_be_is_counted(spoken, folder, bundled):
    s, frames, good = spoken.sensor, some(bundled, 10), words(2)
    whole = sc.said_write(good[0])
    wrong = [whole[:cut] for cut in range(len(whole) - len(good[0].data))]
    wrong += [sc.said_write(good[0]._replace(name=n)) for n in
              ("", ".", "../worm", "a/b", "a b", "w\n", 'w"', "\xe9", "x" * 32, "a\0b")]
    wrong += [sc.said_write(good[0]._replace(interface=8)),
              sc.said_write(good[0]._replace(data=bytes(65)))]
    s.add_combo(frames, sc.ZSTD_DOT11, events(good[:1]) + [sc.Event(3, sc.SAID, w) for w in wrong] +
                events(good[1:], 10))
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert without_id(lines(folder, "worm")) == as_json(good)
    assert [p.name for p in folder.iterdir()] == ["worm.jsonl"]
    assert stats["bad_events"] == len(wrong) and stats["module_events"] == 2 and stats["bad_combos"] == 0


def test_a_sensor_makes_up_names(spoken, folder):
    """A sensor that invents module names gets no more than its share of files, and all its events
    are in the capture."""
    s, said = spoken.sensor, [w for n in range(200) for w in words(1, f"m{n}")]
    s.add_combo([], sc.ZSTD, events(said))
    s.add_combo([], sc.ZSTD, events(words(5, "m3", 1)))
    s.deliver()
    s.finish()
    spoken.close()
    stats = spoken.collector.stats()
    assert sorted(p.name for p in folder.iterdir()) == sorted(f"m{n}.jsonl" for n in range(32))
    assert (stats["lines_written"], stats["lines_refused"], stats["lines_lost"]) == (32 + 5, 168, 0)
    assert without_id(captures.said(spoken.out)) == as_json(said + words(5, "m3", 1))
    assert len(lines(folder, "m3")) == 6
    assert "has named 32 new modules" in spoken.collector.said


def test_as_many_as_fit_into_a_combo(spoken, folder):
    """The longest events are all written, though more come than can wait at once."""
    said = [sc.Said(7, 2, 2**64 - 1 - n, 2**64 - 1, "x" * 31, n.to_bytes(64, "big"))
            for n in range(sc.EVENTS_MAX)]
    for _ in range(30):
        spoken.sensor.add_combo([], sc.ZSTD, events(said))
    spoken.sensor.deliver()
    spoken.sensor.finish()
    _, stats = spoken.close()
    assert without_id(lines(folder, "x" * 31)) == 30 * as_json(said, "01234567")
    assert stats["module_events"] == 30 * sc.EVENTS_MAX == spoken.collector.stats()["lines_written"]
    assert lines(folder, "x" * 31) == captures.said(spoken.out)


def test_other_programs_read_the_file(spoken, bundled):
    """Wireshark shows each event in its own row, after its frame."""
    s, frames = spoken.sensor, some(bundled, 50)
    s.add_combo(frames, sc.ZSTD_DOT11, events(words(9), 20))
    s.add_combo([], sc.ZSTD, events(words(9)))
    s.deliver()
    s.finish()
    spoken.close()
    info = subprocess.run(["capinfos", "-M", spoken.out], capture_output=True, text=True, check=True)
    assert "Number of packets:   50\n" in info.stdout and not info.stderr, info
    read = subprocess.run(["tshark", "-n", "-r", spoken.out, "-T", "fields", "-e", "frame.number",
                           "-e", "frame.time_epoch"], capture_output=True, text=True, check=True)
    times = [str(f.time_ns) for f in frames]
    assert [line.split("\t")[1].replace(".", "") for line in read.stdout.splitlines()] == [
        *times[:20], *[""] * 9, *times[20:], *[""] * 9]
    assert "damaged" not in read.stderr and "cut short" not in read.stderr


def test_each_once_through_a_kill(ns, keys, bundled, tmp_path, folder):  # noqa: F811
    """Without the state, the names in the file show which combos are there."""
    options = ["--events", folder]
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng", options=options)
    s, frames, said = spoken.sensor, some(bundled, 100), words(30)
    s.set_up()
    s.add_combo(frames[:50], sc.ZSTD_DOT11, events(said[:5]))
    s.add_combo([], sc.ZSTD, events(said[5:9]))
    s.deliver()
    spoken.collector.kill()
    (tmp_path / "out.pcapng.state").unlink()
    spoken.collector = testbed.Collector(ns, keys, spoken.out, options=options)
    s.add_combo([], sc.ZSTD, events(said[9:20]))
    s.add_combo(frames[50:], sc.ZSTD_DOT11, events(said[20:], 50))
    s.ack = None  # settled combos are sent again, too
    s.set_up()
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert without_id(lines(folder, "worm")) == as_json(said)
    assert stats["earlier"] == 50 and stats["balance"] == 0


def test_a_forwarded_spool_has_words(ns, keys, bundled, tmp_path, folder):  # noqa: F811
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng", options=["--events", folder])
    s, frames, said = spoken.sensor, some(bundled, 40), words(12)
    s.set_up()
    s.add_combo([], sc.ZSTD, events(said[:6]))
    s.add_combo(frames, sc.ZSTD_DOT11, events(said[6:], 40))
    s.killed()
    s.set_up()
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert without_id(lines(folder, "worm")) == as_json(said)
    assert stats["balance"] == 0
