# SPDX-License-Identifier: GPL-2.0
"""--sink: combos go to a stand-in for `saluki-kafka put`, and are settled when it confirms them."""
import json
import pathlib
import random
import time

import pytest

from netns import put, testbed
from netns.compare import assert_same
from netns.live import long_trace
from netns.put import Put
from netns.test_one_way import ONE_WAY, allow
from netns.test_pipeline import as_seen
from netns.test_session import FIRST, SECOND, collector_at
from netns.test_swarm import COMBOS, COUNT, Swarm, balanced_sensors, listed
from reference import captures
from wire import saluki_combo as sc


@pytest.fixture
def sunk(bed):
    """Starts a collector with a sink."""
    def start(path=bed.tmp_path / "sink", **kwargs):
        return bed.collector(sink=path, **kwargs)
    start.path = bed.tmp_path / "sink"
    return start


@pytest.fixture
def connect(bed):
    """Connects a stand-in, which is closed at the end."""
    def connected(path=bed.tmp_path / "sink", **kwargs):
        peer = Put(path, **kwargs)
        bed.stack.callback(peer.close)
        return peer
    return connected


def test_every_frame_once_as_sent(bed, sunk, connect, bundled):
    """The combos have all frames of the file, in order, and their names count them."""
    collector = sunk()
    peer = connect()
    sensor = bed.reader("lib", bundled, options=["--keep", "all", "-s", "65535"])
    assert sensor.finish(signo=None)[0] == 0
    peer.wait(lambda p: any(sc.totals_read(m.value)[0]["final"] for m in p.of(put.COMBOS, put.TOTALS)))
    frames = [f for m in peer.combos for f in put.opened(m)]
    want = list(captures.frames(bundled))
    assert [(f.time_ns, f.data) for f in frames] == [(f.time_ns, f.data) for f in want]
    put.assert_in_order(peer.combos)
    at = 0
    for m in peer.combos:
        assert (m.key, m.name.first, m.name.frames) == ("lib", at, len(put.opened(m)))
        assert abs(m.time_ms / 1000 - time.time()) < 60  # not the frames', which are of another year
        at += m.name.frames
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert stats["written"] == at == len(want) and stats["balance"] == stats["in_flight"] == 0, stats
    last = json.loads(peer.of(put.LEDGER)[-1].value)
    assert last["collector"].endswith(":5600") and peer.of(put.LEDGER)[-1].key == "lib"
    assert {k: stats[k] for k in last if k in stats} == {k: last[k] for k in last if k in stats}, last


def test_the_record_comes_before_its_combos(bed, sunk, connect, bundled):
    """A sensor's first combo leaves when the brokers have what the combo names; the dictionary is first."""
    bed.keys.sensor("there", words="floor=2 x=1.5 linktypes=default")
    sunk()
    peer = connect(confirms=lambda m: m.topic != put.SENSORS)
    sensor = bed.reader("there", bundled)
    peer.wait(lambda p: len(p.of(put.SENSORS)) == 2)
    dictionary, record = peer.of(put.SENSORS)
    assert dictionary.key == "dictionary/2" and len(dictionary.value) == 4096
    text = record.value.decode()
    assert "name=there\n" in text and "floor=2\nx=1.5\nlinktypes=default\n" in text and "interface.0=" in text, text
    assert not peer.combos
    peer.done(dictionary.number, record.number)
    peer.wait(lambda p: p.combos)
    assert record.key == f"there/{peer.combos[0].name.info:016x}"
    assert sensor.finish(signo=None)[0] == 0


def test_settled_when_confirmed(bed, sunk, connect, bundled):
    """Without a confirmation the sensor does not end, and the collector counts its frames as in flight."""
    collector = sunk()
    held = connect(confirms=lambda m: m.topic == put.SENSORS)
    sensor = bed.reader("lib", bundled)
    testbed.wait_for(lambda: (s := collector.sensor_stats("lib")) and s["final"], "final totals")
    held.wait(lambda p: p.frames() == collector.sensor_stats("lib")["exported"])
    stats = collector.sensor_stats("lib")
    assert stats["written"] == 0 and stats["in_flight"] == stats["exported"] > 0 == stats["balance"], stats
    assert sensor.popen.poll() is None
    held.done(*[m.number for m in held.messages])
    assert sensor.finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert stats["written"] == stats["exported"] and stats["in_flight"] == stats["balance"] == 0, stats


def test_all_again_after_a_reconnect(bed, sunk, connect):
    """Another saluki-kafka gets all that the first one did not confirm, in the same order."""
    listed(bed)
    collector = sunk()
    first = connect(confirms=lambda m: m.topic != put.COMBOS or m.name.count == 1)
    swarm = Swarm(bed, "--combos", COMBOS)
    first.wait(lambda p: len(p.combos) == COUNT * COMBOS)
    first.close()
    second = connect()
    status, report = swarm.report()
    assert status == 0 and report["combos_settled"] == COUNT * COMBOS, report
    assert [m.key for m in second.of(put.SENSORS)].count("dictionary/2") == 1
    again = [m.number for m in second.combos]
    assert again == [m.number for m in first.combos if m.name.count != 1]
    put.assert_in_order([*first.combos, *second.combos])
    assert collector.finish()[0] == 0
    balanced_sensors(collector, COUNT, report["frames"])


def test_a_killed_collector(bed, sunk, connect):
    """SIGKILL under load: sensors send again what was not confirmed. Each combo is there, and in order."""
    listed(bed)
    collector = sunk()
    first = connect()
    swarm = Swarm(bed, "--combos", COMBOS, "--seconds", 600, "--rate", 400)
    first.wait(lambda p: len(p.combos) > COUNT, 60)
    collector.kill_all()
    collector = sunk()
    second = connect()
    swarm.expect(f"all {COUNT * COMBOS} combos are settled", 60)
    status, report = swarm.report(testbed.signal.SIGINT)
    assert status == 0, report
    both = [*first.combos, *second.combos]
    put.assert_in_order(both)
    assert len({(m.name.run, m.name.count) for m in both}) == COUNT * COMBOS
    assert collector.finish()[0] == 0
    balanced_sensors(collector, COUNT, report["frames"])


def stop(collector, signo):
    for pid in testbed.with_children(collector.pid()):
        testbed.os.kill(pid, signo)


@pytest.mark.long
def test_a_sensor_that_moves_and_comes_back(bed, connect):
    """The first collector hangs, and the sensor goes to the second one; later it returns. The log has each frame, in
    order. Frames that the other collector had are not lost: both ledgers say `earlier`."""
    path, frames = long_trace(bed, 16)
    sinks = {to: bed.tmp_path / f"sink-{n}" for n, to in enumerate((FIRST, SECOND))}
    first, second = (collector_at(bed, to, f"at-{n}", sink=sinks[to]) for n, to in enumerate((FIRST, SECOND)))
    both = []  # messages of both collectors, in the order in which they came
    peers = [connect(sinks[to], confirms=lambda m: both.append(m) or True) for to in (FIRST, SECOND)]
    player = bed.tun("mon0", 803, path, ["--rate", "400"])
    sensor = bed.sensor("lib", "mon0", options=["--to", SECOND])
    player.go()
    peers[0].wait(lambda p: len(p.combos) >= 3)
    stop(first, testbed.signal.SIGSTOP)
    peers[1].wait(lambda p: len(p.combos) >= 3, 60)
    stop(first, testbed.signal.SIGCONT)
    before = len(peers[0].combos)
    peers[0].wait(lambda p: len(p.combos) >= before + 3, 60)
    assert player.played() == len(frames)
    assert sensor.finish()[0] == 0
    combos = [m for m in both if m.topic == put.COMBOS and m.name.kind == put.COMBO]
    put.assert_in_order(combos)
    once = {m.name.count: m for m in reversed(combos)}
    got = [captures.Frame(f.time_ns, f.orig_len, f.linktype, f.data) for n in sorted(once) for f in put.opened(once[n])]
    assert_same(as_seen(frames), got, stamps=False)
    for collector in (first, second):
        assert collector.finish()[0] == 0
        stats = collector.sensor_stats("lib")
        assert stats["lost_missing"] == stats["balance"] == 0 < stats["earlier"], stats
        assert stats["written"] + stats["earlier"] + stats["in_flight"] == stats["exported"], stats


def test_refused_by_the_brokers(bed, sunk, connect, bundled):
    """A combo that the brokers never take counts as refused, and its sensor goes on."""
    collector = sunk()
    peer = connect(confirms=lambda m: m.topic != put.COMBOS or m.name.count != 1)
    sensor = bed.reader("lib", bundled, options=["--combo-size", "1024"])
    peer.wait(lambda p: any(m.name.count == 1 for m in p.combos))
    refused = next(m for m in peer.combos if m.name.count == 1)
    peer.refuse(refused.number, "Broker: Message size too large")
    assert sensor.finish(signo=None)[0] == 0
    status, said = collector.finish()
    assert status == 0 and "refuse a message of sensor lib" in said and "Message size too large" in said
    stats = collector.sensor_stats("lib")
    assert stats["lost_refused"] == refused.name.frames > 0 and stats["balance"] == 0, stats
    assert stats["written"] + stats["lost_refused"] == stats["exported"]


@pytest.mark.parametrize("what", ["garbage", "get", "later"])
def test_others_are_turned_away(bed, sunk, connect, what):
    collector = sunk()
    first = {"garbage": b"GET / HTTP/1.0\r\n", "get": put.hello(put.SOURCE),
             "later": put.hello(put.SINK, version=9)}[what]
    for _ in range(2):
        with put.socket.socket(put.socket.AF_UNIX, put.socket.SOCK_SEQPACKET) as s:
            s.connect(str(sunk.path))
            s.send(first)
            while s.recv(put.PACKET_MAX):
                pass
    connect()
    said = collector.finish()[1]
    wanted = {"garbage": "a program that is not saluki-kafka", "get": "'saluki-kafka get' connected",
              "later": "another version"}[what]
    assert said.count(wanted) == 1, said


def test_short_runs_have_final_totals(bed, sunk, connect, bundled):
    """Also if a run ends soon after the one before it."""
    collector, key = sunk(), bed.keys.sensor("lib")
    peer = connect()
    for _ in range(3):
        assert bed.reader("lib", bundled, key=key).finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0
    runs = {m.name.run for m in peer.combos}
    finals = {m.name.run for m in peer.of(put.COMBOS, put.TOTALS) if sc.totals_read(m.value)[0]["final"]}
    assert len(runs) == 3 and finals == runs


def test_one_way_runs_do_not_wait_for_the_brokers(bed, sunk, connect, bundled):
    """A one-way sensor is started again while nothing is confirmed."""
    key = bed.keys.sensor("lib")
    allow(bed, "lib")
    collector = sunk(options=["--state", bed.tmp_path / "state"])
    peer = connect(confirms=lambda m: m.topic != put.COMBOS)
    for _ in range(3):
        assert bed.reader("lib", bundled, key=key, options=ONE_WAY).finish(signo=None)[0] == 0
    frames = 3 * len(list(captures.frames(bundled)))
    peer.wait(lambda p: p.frames() == frames)
    peer.done(*[m.number for m in peer.messages])
    testbed.wait_for(lambda: collector.sensor_stats("lib")["written"] == frames, "statistics")
    stats = collector.sensor_stats("lib")
    assert stats["exported"] == frames and stats["balance"] == stats["lost_missing"] == 0, stats
    assert collector.finish()[0] == 0


def test_a_mute_program_is_turned_away(bed, sunk, connect, bundled):
    """saluki-kafka, which waits behind it, has its turn after 5 s."""
    collector = sunk()
    with put.socket.socket(put.socket.AF_UNIX, put.socket.SOCK_SEQPACKET) as mute:
        mute.connect(str(sunk.path))
        peer = connect()
        sensor = bed.reader("lib", bundled)
        assert sensor.finish(signo=None)[0] == 0
    status, said = collector.finish()
    assert status == 0 and said.count("does not say what it is") == 1, said
    assert collector.sensor_stats("lib")["written"] == peer.frames() > 0


def test_trouble_that_comes_and_goes_is_logged_once(bed, sunk, connect):
    """saluki-kafka ends the connection each second while it may not write."""
    collector = sunk()
    for _ in range(8):
        peer = connect()
        peer.state(topic="t")
        peer.state(topic="t", why="a reason")
        peer.close()
    peer = connect()
    collector.expect("a reason")
    for _ in range(50):
        peer.state(topic="t")
        time.sleep(0.1)
    said = collector.finish()[1]
    assert said.count("a reason") == said.count("combos go to the brokers again") == 1, said
    assert said.count("has gone") <= 1 and said.count("saluki-kafka is connected") <= 2, said


def test_viewers_socket_is_left_to_others(sunk):
    """A collector with --source on the same machine listens there."""
    listening = pathlib.Path(f"/proc/{sunk().pid()}/net/unix").read_text()
    assert str(sunk.path) in listening
    assert "/run/saluki-collector/live" not in listening


def test_nonsense_of_saluki_kafka(bed, sunk, connect, bundled):
    """Malformed packets and numbers that were never sent change nothing."""
    collector = sunk()
    chance = random.Random(1)
    peer = connect(confirms=lambda m: False)
    for _ in range(2000):
        peer.sock.send(bytes([chance.randrange(6)]) + chance.randbytes(chance.randrange(300)))
    sensor = bed.reader("lib", bundled)
    peer.wait(lambda p: p.of(put.SENSORS))
    peer.sock.send(bytes(put.PACKET_MAX // 2))
    peer.confirms = lambda m: True
    peer.done(*[m.number for m in peer.messages], *[m.number + 1 for m in peer.messages])
    assert sensor.finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert stats["written"] == stats["exported"] == peer.frames() and stats["balance"] == 0, stats


def test_usage(bed):
    for options, wanted in ((["-w", bed.out], "--sink goes without -w"), (["--live", bed.tmp_path / "l"], "--live"),
                            (["--events", bed.tmp_path], "--events"), (["-C", "1M"], "-C"),
                            (["--source", bed.tmp_path / "s"], "--sink and --source: a collector has one of them\n")):
        done = testbed.saluki("--listen", ":5600", "--key", bed.keys.collector, "--sensors", bed.keys.sensors,
                              "--sink", bed.tmp_path / "sink", *options, program="saluki-collector")
        assert done.returncode == 2 and wanted in done.stderr and done.stderr.count("\n") == 1, done.stderr
