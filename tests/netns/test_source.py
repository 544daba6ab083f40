# SPDX-License-Identifier: GPL-2.0
"""The collector with --source: each combo of the log is in the files once, and DONE says so. The peer is a second
implementation of saluki-kafka's side, so no broker is needed."""
import contextlib
import os
import random
import signal
import socket
import struct
import time

import pytest

from netns import putter, testbed
from netns.compare import tshark_fields
from netns.test_live import Viewer
from netns.test_restart import numbered
from reference import captures, clocks
from wire import saluki_combo as sc
from wire import saluki_put as sp
from wire.test_interop import expected, got, some
from wire.test_refused import blocks

FRAMES = 1000


def frames_of(bundled, count, begin=0):
    return [sc.Frame(*f) for f in numbered(bundled, begin + count)[begin:]]


def numbers(path):
    """The numbers of a file's frames, in the file's order. The last ones may be half written."""
    found = []
    try:
        for f in captures.frames(path):
            found.append(int.from_bytes(f.data[6:12], "big"))
    except (captures.Corrupt, IndexError, struct.error):
        pass
    return found


def source_line(said):
    """The counters in the report's line about the source."""
    line = next(x for x in said.splitlines() if x.startswith("source: "))
    words = line.removeprefix("source: ").replace("=", "").replace("+", "").replace(",", "").replace(";", "").split()
    found, name = {}, []
    for word in words:
        if word.lstrip("-").isdigit():
            found[" ".join(name)] = int(word)
            name = []
        else:
            name.append(word)
    return found


class World:
    def __init__(self, bed):
        self.bed, self.out = bed, bed.tmp_path / "out.pcapng"
        self.record = putter.Record(words=["linktypes=any"])
        self.run = putter.Run(self.record, 1 << 63 | 5)

    def collector(self, write=None, options=(), **kwargs):
        c = putter.Collector(self.bed.ns, self.bed.tmp_path, write or self.out, options, **kwargs)
        self.bed.stack.callback(c.kill)
        self.now = c
        return c

    def get(self, **kwargs):
        g = self.now.get(**kwargs)
        self.bed.stack.callback(g.close)
        return g

    def finish(self):
        """Ends the collector. Returns the source's counters, whose sum is right, as is each sensor's."""
        status, said = self.now.finish()
        assert status == 0, said
        for line in said.splitlines():
            if "balance" in line:
                assert "balance 0" in line, said
            assert "runtime error" not in line and "Sanitizer" not in line, said
        return source_line(said)

    def sensor(self, name="lib"):
        return self.now.sensor_stats(name)


@pytest.fixture
def world(bed):
    return World(bed)


# ---- frames --------------------------------------------------------------------------------------

@pytest.mark.parametrize("codec", [sc.STORED, sc.ZSTD, sc.ZSTD_DOT11])
def test_frames_come_out(world, bundled, codec):
    """All frames of a capture are in the file, once, with their bytes, stamps and the sensor's interface."""
    frames = some(bundled, FRAMES)
    world.collector()
    g = world.get()
    g.send(world.record.message, *world.run.combos(frames, codec=codec), world.run.totals(final=1))
    g.await_done()
    assert got(captures.frames(world.out)) == expected(frames)
    counts = world.finish()
    assert counts["combos"] == FRAMES / 20 and counts["totals"] == 1 and counts["done"] == FRAMES / 20 + 2
    assert set(tshark_fields(world.out, "frame.interface_name")) == {("lib:mon0",)}
    assert len(tshark_fields(world.out, "frame.number")) == FRAMES
    assert not world.now.socket.exists()


def test_many_sensors(world, bundled):
    """Sensors have their own names, groups and places, on the board too."""
    world.collector()
    g = world.get()
    frames, sent = frames_of(bundled, FRAMES), 0
    for i in range(50):
        record = putter.Record(f"room-{i}", i + 1, [f"group=floor-{i % 2}", f"floor={i % 3}", "x=1.5"])
        run = putter.Run(record, i)
        g.send(record.message, *run.combos(frames[20 * i:20 * i + 20], each=5), run.totals(final=1))
        sent += 20
    g.await_done()
    names = [name for name, in tshark_fields(world.out, "frame.interface_name")]
    assert sorted(numbers(world.out)) == list(range(sent))
    assert {names.count(f"room-{i}:mon0") for i in range(50)} == {20}
    comments = [f"floor={i % 3} x=1.5, group floor-{i % 2}".encode() for i in range(50)]  # saluki-merge reads the floor
    written = world.out.read_bytes()
    assert all(written.count(comment) == comments.count(comment) for comment in comments)
    testbed.wait_for(lambda: world.sensor("room-49") and world.sensor("room-49")["written"] == 20, "statistics")
    stats = world.sensor("room-49")
    assert stats["group"] == "floor-1" and stats["balance"] == 0
    world.finish()


def test_events_and_live(world, bundled):
    """Modules' events go to --events; a viewer sees frames and names."""
    folder = world.bed.tmp_path / "events"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    world.collector(options=["--events", folder])
    live = Viewer(world.bed)
    g = world.get()
    frames = frames_of(bundled, 40)
    said = sc.said_write(sc.Said(0, 0, 1792 * 10**15, 1, "deauth", b"\x01"))
    g.send(world.record.message, *world.run.combos(frames, events=[sc.Event(0, sc.SAID, said)]))
    g.await_done()
    assert len((folder / "deauth.jsonl").read_text().splitlines()) == 2
    testbed.wait_for(lambda: len(numbers(live.out)) == 40, "a viewer's frames")
    live.finish()
    assert set(tshark_fields(live.out, "frame.interface_name")) == {("lib:mon0",)}
    world.finish()


# ---- once ----------------------------------------------------------------------------------------

def test_repetitions_and_connections(world, bundled):
    """What is repeated, in a connection or in the next one, is not written again, and gets its DONE."""
    frames = frames_of(bundled, FRAMES)
    combos = world.run.combos(frames)
    world.collector()
    g = world.get()
    g.send(world.record.message, *combos[:30], *combos[10:30], *combos[:5])
    g.await_done()
    g.close()
    world.now.expect("not connected any more")
    g = world.get()
    g.send(world.record.message, *combos, *combos, world.run.totals(final=1))
    g.await_done()
    assert numbers(world.out) == list(range(FRAMES))
    counts = world.finish()
    assert counts["combos"] == 50 and counts["repeated"] == 25 + 30 + 50
    assert counts["repeated frames"] == 20 * counts["repeated"] and counts["bad"] == 0


def test_done_follows_the_file(world, bundled):
    """At each DONE, the combo's frames are in the file."""
    combos = world.run.combos(frames_of(bundled, 4000), each=5)
    world.collector()
    g = world.get()
    g.send(world.record.message)
    looks = 0
    for at in range(0, len(combos), 80):
        g.send(*combos[at:at + 80])
        while len(g.done) < at + 40:  # the others are in the socket meanwhile
            assert g.look(20)
            assert len(numbers(world.out)) >= 5 * (g.done[-1] - 1)
            looks += 1
    g.await_done()
    assert looks >= 10
    assert numbers(world.out) == list(range(4000))
    world.finish()


@pytest.mark.parametrize("state", [True, False], ids=["with the state", "without a state"])
def test_killed_amid(world, bundled, state):
    """SIGKILL at any moment; the peer sends again what has no DONE: each frame is in the file once."""
    chance = random.Random(5)
    messages = world.run.combos(frames_of(bundled, 6000), each=3)
    count = len(messages)
    kills = 0
    while messages:
        world.collector()
        g = world.get()
        g.send(world.record.message)
        for m in messages:
            g.send(m)
            g.look()
            if chance.random() < 0.004:
                break
        else:
            g.await_done()
        world.now.kill_all()
        kills += 1
        with contextlib.suppress(ConnectionError):
            while g.look():
                pass
        messages = messages[max(0, len(g.done) - 1):]
        g.close()
        if not state:
            world.out.with_name(world.out.name + ".state").unlink()
    assert kills > 3
    assert numbers(world.out) == list(range(6000))
    world.collector()
    g = world.get()
    again = putter.Run(world.record, world.run.run)
    g.send(world.record.message, *again.combos(frames_of(bundled, 6000), each=3))
    g.await_done()
    assert numbers(world.out) == list(range(6000))
    assert world.finish()["repeated"] == count


def test_killed_amid_late_combos(world, bundled):
    """The same, with combos that come behind later ones: the state and the files know the gaps."""
    chance = random.Random(7)
    combos = enumerate(world.run.combos(frames_of(bundled, 6000), each=3))
    messages = [m for _, m in sorted((at + chance.uniform(0, 8), m) for at, m in combos)]
    kills = 0
    while messages:
        world.collector()
        g = world.get()
        g.send(world.record.message)
        for m in messages:
            g.send(m)
            g.look()
            if chance.random() < 0.004:
                break
        else:
            g.await_done()
        world.now.kill_all()
        kills += 1
        with contextlib.suppress(ConnectionError):
            while g.look():
                pass
        messages = messages[max(0, len(g.done) - 1):]
        g.close()
    assert kills > 3
    found = numbers(world.out)
    assert sorted(found) == list(range(6000)) and found != sorted(found)


def test_a_slow_peer(world, bundled):
    """A peer that reads no DONE stops nothing but itself."""
    world.collector()
    g = world.get()
    g.socket.settimeout(0.5)
    g.send(world.record.message)
    frames = frames_of(bundled, 1)
    with pytest.raises(TimeoutError):
        while True:
            g.send(world.run.combo(frames, codec=sc.STORED))
    assert len(g.sent) > 1000
    other = time.monotonic()
    testbed.wait_for(lambda: world.sensor() and world.sensor()["written"] > 0, "statistics")
    assert time.monotonic() - other < 5
    g.await_done(60)
    world.finish()


# ---- runs ----------------------------------------------------------------------------------------

def test_runs_change(world, bundled):
    """A new run begins; late combos of the one before are written, repetitions of it are not."""
    frames = frames_of(bundled, 300)
    first, second = putter.Run(world.record, 7), putter.Run(world.record, 8)
    a, b = first.combos(frames[:100], each=10), second.combos(frames[100:200], each=10)
    world.collector()
    g = world.get()
    g.send(world.record.message, *a[:6], b[0], a[2], b[1], a[5], a[6], b[2], a[7], a[6], b[1], *b[3:], *a[8:],
           second.totals(final=1), *a, *b, first.totals())
    g.await_done()
    found = numbers(world.out)
    assert sorted(found) == list(range(200)) and len(found) == 200
    counts = world.finish()
    assert counts["combos"] == 20 and counts["bad"] == 0 and counts["repeated"] == 4 + 20


def test_a_stale_run_switches_nothing(world, bundled):
    """A repetition of an older run, also its totals, does not end the present run."""
    frames = frames_of(bundled, 200)
    first, second = putter.Run(world.record, 7), putter.Run(world.record, 8)
    a, end = first.combos(frames[:100], each=10), first.totals(final=1)
    b = second.combos(frames[100:], each=10)
    world.collector()
    g = world.get()
    g.send(world.record.message, *a, end, *b[:5], *a, end, *b[5:], second.totals(final=1))
    g.await_done()
    assert numbers(world.out) == list(range(200))
    testbed.wait_for(lambda: (world.sensor() or {}).get("written") == 200, "statistics")
    s = world.sensor()
    assert (s["runs"], s["balance"], s["lost_missing"], s["vanished"]) == (2, 0, 0, 0)
    assert world.finish()["repeated"] == 11


@pytest.mark.parametrize("totals", [False, True], ids=["a combo first", "totals first"])
def test_a_run_from_its_middle(world, bundled, totals):
    """A log that begins amid a run: the frames before are `earlier`, and no loss."""
    frames = frames_of(bundled, 200)
    combos = world.run.combos(frames[:100], each=10)
    middle = [world.run.totals()] * totals
    combos += world.run.combos(frames[100:], each=10)
    world.collector()
    g = world.get()
    g.send(world.record.message, *middle, *combos[10:], world.run.totals(final=1))
    g.await_done()
    testbed.wait_for(lambda: (world.sensor() or {}).get("written") == 100, "statistics")
    assert world.sensor()["earlier"] == 100 and world.sensor()["lost_missing"] == 0
    world.finish()


# ---- gaps ----------------------------------------------------------------------------------------

def test_a_gap_is_counted(world, bundled):
    combos = world.run.combos(frames_of(bundled, 200), each=10)
    world.collector()
    g = world.get()
    g.send(world.record.message, *combos[:5], *combos[8:-1], world.run.totals(final=1))
    g.await_done()
    testbed.wait_for(lambda: (world.sensor() or {}).get("lost_missing") == 40, "statistics")
    assert world.sensor()["written"] == 160 and world.sensor()["balance"] == 0
    world.finish()


def test_a_partition_that_was_elsewhere(world, bundled):
    """After partitions have moved, another reader has the combos that are missing; later gaps are losses again. A sensor
    that is not heard afterwards is elsewhere, and not silent."""
    combos = world.run.combos(frames_of(bundled, 200), each=10)
    other = putter.Record("other", 2, words=["linktypes=any"])
    world.collector(options=["--silent-after", "3s"])
    g = world.get()
    g.say(moves=1)
    g.send(world.record.message, other.message, putter.Run(other, 4).combo(frames_of(bundled, 10)), *combos[:5])
    g.say(moves=2)
    g.send(*combos[8:12])
    g.await_done()
    g.send(*combos[13:-1], world.run.totals(final=1))
    g.await_done()
    testbed.wait_for(lambda: (world.sensor() or {}).get("lost_missing") == 20, "statistics")
    assert world.sensor()["written"] == 150 and world.sensor()["earlier"] == 30 and world.sensor()["balance"] == 0
    testbed.wait_for(lambda: world.sensor("other")["state"] == "ended", "the end")
    assert "silent" not in world.now.finish()[1].replace("--silent", "")


def test_late_combos_fill_gaps(world, bundled):
    """With two collectors, combos may come in any order: none is lost, none is twice."""
    combos = world.run.combos(frames_of(bundled, 400), each=10)
    head, late = combos[20:], combos[:20]
    held = [head.pop(i) for i in (15, 9, 8, 3)]
    random.Random(3).shuffle(late)
    world.collector()
    g = world.get()
    g.send(world.record.message, *head, world.run.totals(final=1), *late[:10], *held[:2], *combos[30:], *late, *held,
           *combos)
    g.await_done()
    found = numbers(world.out)
    assert sorted(found) == list(range(400)) and len(found) == 400
    testbed.wait_for(lambda: (world.sensor() or {}).get("written") == 400, "statistics")
    s = world.sensor()
    assert (s["lost_missing"], s["earlier"], s["balance"]) == (0, 0, 0)
    counts = world.finish()
    assert counts["combos"] == 40 and counts["late combos"] >= 20


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "ended"])
def test_late_combos_after_a_restart(world, bundled, kill):
    """A restart forgets no gap: late combos are written, repetitions are not."""
    frames = frames_of(bundled, 200)
    combos = world.run.combos(frames, each=10)
    # Before the run's first combo, and amid the run; then one gap is filled in part.
    for part in ([*combos[5:8], *combos[12:16]], [combos[9], combos[2], *combos[17:]], []):
        world.collector()
        g = world.get()
        g.send(world.record.message, *part)
        g.await_done()
        if kill:
            world.now.kill_all()
        else:
            world.finish()
        g.close()
    world.collector()
    g = world.get()
    g.send(world.record.message, *combos, *combos, world.run.totals(final=1))
    g.await_done()
    found = numbers(world.out)
    assert sorted(found) == list(range(200)) and len(found) == 200
    testbed.wait_for(lambda: (world.sensor() or {}).get("final") == 1, "statistics")
    s = world.sensor()
    assert (s["lost_missing"], s["written"], s["earlier"], s["balance"]) == (0, 80, 120, 0), s
    counts = world.finish()
    assert counts["combos"] == counts["late combos"] == 8 and counts["repeated"] == 32


def test_a_tail_behind_the_final_totals(world, bundled):
    """Combos that come behind their run's final totals are written, and the run stays ended."""
    combos = world.run.combos(frames_of(bundled, 200), each=10)
    world.collector()
    g = world.get()
    g.send(world.record.message, *combos[:10], world.run.totals(final=1), *combos[10:])
    g.await_done()
    testbed.wait_for(lambda: (world.sensor() or {}).get("written") == 200, "statistics")
    s = world.sensor()
    assert (s["lost_missing"], s["balance"], s["final"]) == (0, 0, 1)
    world.now.expect("sensor lib: ended")
    world.finish()


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_two_collectors(world, bundled, seed):
    """Two collectors put the combos of some sensors' runs, some of them both. A collector's own combos come in their
    order, and may come again. Whatever the log's order is, each combo is in the file once."""
    chance = random.Random(seed)
    frames, lanes, records, at = frames_of(bundled, 1800), [], [], 0
    for sensor in range(3):
        record = putter.Record(f"s{sensor}", sensor + 1)
        records.append(record.message)
        for _ in range(3):
            run = putter.Run(record, chance.getrandbits(64))
            combos = run.combos(frames[at:at + 200], each=20)
            cut, both = sorted(chance.sample(range(11), 2))
            lanes += [combos[:both], combos[cut:] + [run.totals(final=1)]]
            at += 200
    # Of each sensor, the runs begin one after the other at each collector.
    ways = [sum(lanes[begin + 6 * s:6 * s + 6:2], []) for s in range(3) for begin in (0, 1)]
    world.collector()
    g = world.get()
    g.send(*records)
    while any(ways):
        way = chance.choice([w for w in ways if w])
        g.send(way[0])
        if chance.random() < 0.8:  # or it comes again
            del way[0]
    g.await_done()
    found = numbers(world.out)
    assert sorted(found) == list(range(1800)), (len(found), len(set(found)))
    testbed.wait_for(lambda: sum((world.sensor(f"s{i}") or {"written": 0})["written"] for i in range(3)) == 1800,
                     "statistics")
    for i in range(3):
        s = world.sensor(f"s{i}")
        assert (s["balance"], s["lost_missing"], s["earlier"], s["vanished"]) == (0, 0, 0, 0), s
    counts = world.finish()
    assert counts["combos"] == 90 and counts["bad"] == 0


# ---- records -------------------------------------------------------------------------------------

def test_another_record(world, bundled):
    """From the combo on that names another record, frames have the new description, link types too."""
    frames = frames_of(bundled, 40)
    other = putter.Record(interface="mon1", words=["linktypes=127"], change=2)
    world.collector()
    g = world.get()
    g.send(world.record.message, *world.run.combos(frames[:20]))
    world.run.record = other
    g.send(other.message, world.run.combo(frames[20:]))
    again = putter.Record(interface="mon1", change=3)
    world.run.record = again
    g.send(again.message, world.run.combo(frames[20:]))
    g.await_done()
    assert tshark_fields(world.out, "frame.interface_name") == [("lib:mon0",)] * 20 + [("lib:mon1",)] * 20
    testbed.wait_for(lambda: (world.sensor() or {}).get("written") == 40, "statistics")
    assert world.sensor()["lost_refused"] == 20
    world.finish()


def test_a_new_name(world, bundled):
    """A sensor gets another name amid its run: its combos are written once, and all of them."""
    combos = world.run.combos(frames_of(bundled, 100), each=10)
    world.run.count = world.run.first = 0
    world.run.record = putter.Record("roof")
    renamed = world.run.combos(frames_of(bundled, 100), each=10)
    world.collector()
    g = world.get()
    g.send(world.record.message, world.run.record.message, *combos[:6], *renamed[4:], *combos[:6])
    g.await_done()
    assert numbers(world.out) == list(range(100))
    assert tshark_fields(world.out, "frame.interface_name") == [("lib:mon0",)] * 60 + [("roof:mon0",)] * 40
    counts = world.finish()
    assert counts["combos"] == 10 and counts["repeated"] == 8


def test_records_that_take_turns(world, bundled):
    """Two collectors with different sensors files: the interface blocks stay few."""
    other = putter.Record(words=["linktypes=any", "group=roof"])
    world.collector()
    g = world.get()
    g.send(world.record.message, other.message)
    for i, f in enumerate(frames_of(bundled, 400)):
        world.run.record = other if i % 2 else world.record
        g.send(world.run.combo([f]))
    g.await_done()
    assert numbers(world.out) == list(range(400))
    assert blocks(world.out)[1] == 2
    world.finish()


def test_an_unknown_record(world, bundled):
    """A combo whose record is not in the log is counted, and the log goes on."""
    world.collector()
    g = world.get()
    frames = frames_of(bundled, 60)
    g.send(world.run.combo(frames[:20]))
    world.now.expect("its record")
    g.send(world.record.message, world.run.combo(frames[20:40]))
    known, world.run.record = world.run.record, putter.Record(change=9)
    lost = world.run.combo(frames[:20])
    world.run.record = known
    g.send(lost, world.run.combo(frames[40:]))
    g.await_done()
    assert numbers(world.out) == list(range(20, 60))
    counts = world.finish()
    assert counts["unknown record"] == 2 and counts["combos"] == 2


# ---- output ------------------------------------------------------------------------------------

def test_a_pipe(world, bundled):
    """With -w -, DONE follows the write. When the reader ends, so does the collector, and the rest has no DONE."""
    reader, writer = os.pipe()
    world.collector(write="-", stdout=writer)
    os.close(writer)
    g = world.get()
    g.send(world.record.message, *world.run.combos(frames_of(bundled, 100)))
    g.await_done()
    os.set_blocking(reader, False)
    copy = world.bed.tmp_path / "copy.pcapng"
    copy.write_bytes(os.read(reader, 1 << 20))
    assert numbers(copy) == list(range(100))
    os.close(reader)
    g.send(world.run.combo(frames_of(bundled, 20)))
    with pytest.raises(ConnectionError):
        g.await_done()
    assert len(g.done) == 6
    assert world.now.finish(signo=None)[0] == 0


def test_what_cannot_be_written_stays_in_the_log(world, bundled):
    """After any error of a write nothing has DONE, and the collector tries again."""
    world.collector(write="/dev/full")
    g = world.get()
    g.send(world.record.message, *world.run.combos(frames_of(bundled, 100)))
    world.now.expect("/dev/full: No space left on device; nothing is written until that is over, and the brokers keep")
    assert not g.look(2) or g.done == [1], g.done  # the record is known
    status, said = world.now.finish()
    assert status == 1 and source_line(said)["combos"] == 0, said


def test_progress(world, bundled):
    """In a pipe, a sensor's progress becomes a watermark behind its frames, and the offset of its clock. A stale one, or
    one of another run, is passed over."""
    reader, writer = os.pipe()
    world.collector(write="-", stdout=writer)
    os.close(writer)
    g = world.get()
    early, combo, after = world.run.progress(900), world.run.combo(frames_of(bundled, 20)), world.run.progress(1000, 7, 5)
    ahead = after._replace(value=sc.progress_write(sc.Progress(40, 2000, 0, 0)))  # holds for frames that come later
    other = putter.Run(world.record, 9)
    g.send(world.record.message, early, combo, after, ahead, early, other.progress(3000), after._replace(value=b"\x0b"))
    g.await_done()
    g.send(world.run.combo(frames_of(bundled, 20, 20)))
    g.await_done()
    counts = world.finish()
    copy = world.bed.tmp_path / "copy.pcapng"
    copy.write_bytes(os.read(reader, 1 << 20))
    os.close(reader)
    assert clocks.of_kind(copy, clocks.WATERMARK) == [1000, 2000]
    assert [o[:2] for o in clocks.of_kind(copy, clocks.OFFSET)] == [(7, 5)]
    assert counts["totals"] == 2 and counts["repeated"] == 3 and counts["bad"] == 1, counts


def test_a_series_of_files(world, bundled):
    """With -C, and over a restart, each frame is in one of the files."""
    folder = world.bed.tmp_path / "files"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    frames = frames_of(bundled, 8000)
    combos = world.run.combos(frames, each=40)
    for part in (combos[:120], combos[100:]):
        world.collector(write=folder, options=["-C", "1"])
        g = world.get()
        g.send(world.record.message, *part)
        g.await_done()
        world.finish()
    files = sorted(folder.glob("*.pcapng"))
    assert len(files) >= 3
    assert sorted(n for f in files for n in numbers(f)) == list(range(8000))


def test_the_board(world, bundled):
    """`saluki-collector status` and `check` show the sensors of the log."""
    world.record = world.run.record = putter.Record(words=["group=roof", "linktypes=any"])
    world.collector()
    g = world.get()
    g.send(world.record.message, *world.run.combos(frames_of(bundled, 100)), world.run.totals())
    g.await_done()
    testbed.wait_for(lambda: (world.sensor() or {}).get("written") == 100, "statistics")
    for command, said in (("status", "lib"), ("status --json roof", '"written": 100'), ("check", "OK")):
        r = world.bed.ns.run(testbed.BUILD / "saluki-collector", *command.split(), capture_output=True)
        assert r.returncode == 0 and said in r.stdout, (command, r)
    world.finish()


# ---- disk ----------------------------------------------------------------------------------------

def test_a_full_disk(world, bundled):
    """On a full disk the log waits; DONE comes only for what is in the file. Then all goes on."""
    disk = world.bed.tmp_path / "disk"
    disk.mkdir()
    world.bed.ns.run("mount", "-t", "tmpfs", "-o", "size=1m", "none", disk)
    world.collector(write=disk / "out.pcapng", options=["--keep-free", "0"])
    g = world.get()
    g.socket.settimeout(0.5)
    combos = world.run.combos(frames_of(bundled, 6000))
    g.send(world.record.message)
    g.send(*combos[:50])
    g.await_done()
    with pytest.raises(TimeoutError):
        g.send(*combos[50:])
    world.now.expect("nothing is written until that is over")
    while g.look(1):
        pass
    done = len(g.done) - 1
    copy = world.bed.tmp_path / "copy.pcapng"
    world.bed.ns.run("cp", disk / "out.pcapng", copy)
    assert 50 <= done < len(g.sent) - 1 and numbers(copy)[:20 * done] == list(range(20 * done))
    assert world.now.stats()["holding"]
    world.bed.ns.run("mount", "-o", "remount,size=64m", disk)
    g.socket.settimeout(20)
    g.send(*combos[len(g.sent) - 1:], world.run.totals(final=1))
    g.await_done()
    world.bed.ns.run("cp", disk / "out.pcapng", copy)
    assert numbers(copy) == list(range(6000))
    assert world.finish()["combos"] == len(combos)


def test_a_stop_while_a_message_waits(world, bundled):
    """The report balances, and the next collector takes what waited."""
    disk = world.bed.tmp_path / "disk"
    disk.mkdir()
    world.bed.ns.run("mount", "-t", "tmpfs", "-o", "size=1m", "none", disk)
    world.collector(write=disk / "out.pcapng", options=["--keep-free", "0"])
    g = world.get()
    g.socket.settimeout(0.5)
    combos = world.run.combos(frames_of(bundled, 6000))
    g.send(world.record.message)
    with pytest.raises(TimeoutError):
        g.send(*combos)
    world.now.expect("nothing is written until that is over")
    status, said = world.now.finish()
    assert status == 1 and source_line(said)["waiting"] == 1 and source_line(said)["balance"] == 0, said
    world.bed.ns.run("mount", "-o", "remount,size=64m", disk)
    world.collector(write=disk / "out.pcapng", options=["--keep-free", "0"])
    g = world.get()
    g.send(world.record.message, *combos)
    g.await_done()
    copy = world.bed.tmp_path / "copy.pcapng"
    world.bed.ns.run("cp", disk / "out.pcapng", copy)
    assert numbers(copy) == list(range(6000))
    world.finish()


# ---- strangers -----------------------------------------------------------------------------------

def mutated(chance, m):
    """A message with some bytes or lengths changed."""
    parts = [bytearray(m.key), bytearray(m.header), bytearray(m.value)]
    for _ in range(chance.randrange(1, 4)):
        part = chance.choice(parts)
        what = chance.randrange(4)
        if what == 0 and part:
            part[chance.randrange(len(part))] = chance.randrange(256)
        elif what == 1 and part:
            del part[chance.randrange(len(part)):]
        elif what == 2:
            part += chance.randbytes(chance.randrange(1, 40))
        elif part:
            at = chance.randrange(len(part))
            part[at:at + 8] = chance.choice([b"\xff" * 8, bytes(8), chance.randbytes(8)])
    key, header, value = map(bytes, parts)
    return putter.Message(chance.randrange(3) if chance.random() < 0.1 else m.topic, key[:64], header[:255], value)


@pytest.mark.parametrize("seed", range(3))
def test_hostile_log(world, bundled, seed):
    """The log may have anything. What is malformed is counted, and nothing of the other sensors is lost."""
    chance = random.Random(seed)
    world.collector()
    g = world.get()
    honest = putter.Record("honest", 2)
    run = putter.Run(honest, 99)
    frames = frames_of(bundled, 1000)
    victim = some(bundled, 600)
    base = [world.record.message, *world.run.combos(victim, codec=sc.STORED), world.run.totals(final=1)]
    bad = putter.Run(world.record, 1)
    base += [*bad.combos(victim[:100]), bad.totals()]
    g.send(honest.message, world.record.message)
    for at in range(0, 1000, 5):
        g.send(run.combo(frames[at:at + 5]), *(mutated(chance, chance.choice(base)) for _ in range(8)))
        g.look()
    g.send(run.totals(final=1))
    g.await_done()
    g.socket.send(chance.randbytes(300))
    for kind in range(256):
        g.socket.send(bytes([kind]) + chance.randbytes(chance.randrange(200)) if kind != sp.PUT else b"\x07")
    g.send(run.totals(final=1))
    testbed.wait_for(lambda: g.look(0.1) or g.next - 1 in g.done, "DONE")
    names = [name for name, in tshark_fields(world.out, "frame.interface_name")]
    assert names.count("honest:mon0") == 1000
    testbed.wait_for(lambda: (world.sensor("honest") or {}).get("written") == 1000, "statistics")
    s = world.sensor("honest")
    assert (s["balance"], s["lost_missing"], s["lost_refused"]) == (0, 0, 0)
    status, said = world.now.finish()
    assert status == 0 and source_line(said)["balance"] == 0 and source_line(said)["bad"] > 0, said
    assert "runtime error" not in said and "Sanitizer" not in said


def test_hostile_messages_do_not_end_a_run(world, bundled):
    """A malformed combo with a huge count does not make the run's next combos repetitions."""
    world.collector()
    g = world.get()
    combos = world.run.combos(frames_of(bundled, 100), each=10)
    r = world.record
    name = sp.Name(sp.COMBO, r.ident, 10, world.run.run, 0, 0, r.hash)
    huge = putter.Message(sp.COMBOS, b"lib", sp.name_write(name._replace(count=1 << 60, first=100)), combos[3].value)
    other_first = putter.Message(sp.COMBOS, b"lib", sp.name_write(name._replace(count=5, first=51)), combos[5].value)
    g.send(r.message, *combos[:5], huge, other_first, *combos[5:], world.run.totals(final=1))
    g.await_done()
    assert numbers(world.out) == list(range(100))
    assert world.finish()["bad"] == 2


def said_after(world, hello):
    """What the collector logs about a connection that it closes."""
    g = world.get(greet=False)
    assert g.socket.recv(100) == sp.hello(sp.SOURCE)
    g.socket.send(hello)
    assert g.socket.recv(100) == b""
    world.now.expect("refused a connection")
    said = world.now.said
    g.close()
    return said


@pytest.mark.parametrize("hello,why", [
    (sp.hello(sp.SOURCE, version=2), "another version"), (sp.hello(sp.SINK), "connects to --sink"),
    (sp.hello(sp.SOURCE, magic=7), "it is not saluki-kafka"), (b"x", "it is not saluki-kafka")])
def test_hello(world, bundled, hello, why):
    """Another program is refused, and that is logged once. The next connection works."""
    world.collector()
    assert why in said_after(world, hello)
    said_after(world, hello)
    g = world.get()
    g.send(world.record.message, *world.run.combos(frames_of(bundled, 20)))
    g.await_done()
    world.finish()
    assert world.now.said.count("refused a connection") == 1


def test_one_connection(world, bundled):
    world.collector()
    g = world.get()
    second = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with second:
        second.settimeout(20)
        second.connect(str(world.now.socket))
        assert second.recv(100) == b""
    world.now.expect("as there is one")
    g.send(world.record.message, *world.run.combos(frames_of(bundled, 20)))
    g.await_done()
    world.finish()


def test_what_kafka_says(world):
    """The reason why nothing comes is logged when it begins and when it is over."""
    world.collector()
    g = world.get()
    for _ in range(3):
        g.say(why="no broker answers\x1b[31m", lag=7, topic="saluki.combos")
    world.now.expect("saluki-kafka: no broker answers [31m")
    g.say(lag=0)
    world.now.expect("combos come again")
    world.finish()
    assert world.now.said.count("no broker answers") == 1


def test_signals(world, bundled):
    """SIGHUP needs no sensors file; SIGUSR1 prints the source's line."""
    world.collector()
    g = world.get()
    world.now.send_signal(signal.SIGHUP)
    g.send(world.record.message, *world.run.combos(frames_of(bundled, 20)))
    g.await_done()
    world.now.expect_again(signal.SIGUSR1, "source: messages 2 = combos 1")
    world.finish()
    assert "--sensors" not in world.now.said


@pytest.mark.parametrize("more", [["--listen", ":5600"], ["--key", "k"], ["--sensors", "s"], ["--control", "c"], []])
def test_options(tmp_path, more):
    """Options of the network do not go with --source, and -w must be there."""
    write = ["-w", tmp_path / "out"] if more else []
    r = testbed.saluki("--source", tmp_path / "s", *write, *more, program="saluki-collector")
    assert r.returncode == 2 and len(r.stderr.splitlines()) == 1, r.stderr
    assert (more[0] if more else "-w") in r.stderr
