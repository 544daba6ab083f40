# SPDX-License-Identifier: GPL-2.0
"""Runs continued by another agent, and changes of a sensor's interfaces: the collector's half,
against a simulated sensor (pretend.c)."""
import struct
import subprocess

import pytest

from netns import testbed
from netns.compare import tshark_fields
from reference import captures

A_INTERFACE = "interface.0=wlan0"
BLOCKS_MAX = 512  # collector/output/interfaces.h: blocks per section, and one more each 10 s
CHANGES = 600


class Pretend:
    """Each order is done when its call returns."""

    def __init__(self, bed, name="lib"):
        self.popen = bed.ns.start(testbed.ROOT / "build/tests/pretend", bed.keys.sensor(name),
                                  "5600", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        bed.stack.callback(self.kill)

    def __call__(self, *orders):
        for order in orders:
            self.popen.stdin.write(order + "\n")
            self.popen.stdin.flush()
            assert self.popen.stdout.readline() == "done\n", order

    def kill(self):
        self.popen.kill()
        self.popen.communicate()


def carried_on(bed, before):
    """SIGKILL, and another process continues the run."""
    before.kill()
    return Pretend(bed)


def words(path):
    """The frames written, one word per frame."""
    return [f.data.rstrip(b".").decode() for f in captures.frames(path)]


def finish(collector):
    status, said = collector.finish()
    assert status == 0, said
    return collector.sensor_stats("lib")


def assert_zero(stats, *names):
    for name in ("balance", "in_flight", "bad_combos", "bad_pieces", "bad_messages", *names):
        assert stats[name] == 0, (name, stats)


def totals(n, **others):
    """The totals of a run without losses."""
    counts = {"seen": n, "captured": n, "exported": n, **others}
    return "totals " + " ".join(f"{k}={v}" for k, v in counts.items())


# ---- runs ----------------------------------------------------------------------------------------

def test_the_last_combo_comes_again(bed):
    """The last combo may come again with its frames in another order, and so with other bytes and
    another length."""
    collector = bed.collector()
    one = Pretend(bed)
    one(f"session 5 {A_INTERFACE}", "combo 0 0 0 a b", "combo 1 2 0 c d*40 e", totals(5))
    two = carried_on(bed, one)
    two(f"session 5 {A_INTERFACE}|exported=2", "combo 1 2 0 e d*40 c", "combo 2 5 0 f", totals(6),
        totals(6, final=1))
    stats = finish(collector)
    assert words(bed.out) == ["a", "b", "c", "d", "e", "f"]
    assert stats["written"] == stats["seen"] == 6 and stats["runs"] == 1
    assert stats["duplicate_pieces"] == 1 and stats["final"] == 1
    assert_zero(stats, "lost_missing", "earlier", "vanished")


@pytest.mark.parametrize("size", (2000, 100))
def test_half_a_combo_comes_again(bed, size):
    """The dead agent sent part of a combo long before; the next agent splits it differently."""
    collector = bed.collector()
    one = Pretend(bed)
    one(f"session 5 {A_INTERFACE}", "combo 0 0 0 a", f"part 1 1 0 b*2000 c*{size}", totals(1))
    now = collector.stats()["time"] if collector.stats_file.exists() else 0
    testbed.wait_for(lambda: collector.stats_file.exists() and collector.stats()["time"] > now + 1,
                     "the end of the wait for combos")
    two = carried_on(bed, one)
    two(f"session 5 {A_INTERFACE}|exported=1", f"combo 1 1 0 c*{size} b*2000", "combo 2 3 0 d",
        totals(4, final=1))
    stats = finish(collector)
    assert words(bed.out) == ["a", "c", "b", "d"]
    assert stats["written"] == 4
    assert_zero(stats, "lost_missing", "earlier", "duplicate_pieces")


def test_frames_that_are_left_to_the_next_agent(bed):
    collector = bed.collector()
    one = Pretend(bed)
    one(f"session 5 {A_INTERFACE}", "combo 0 0 0 a b",
        totals(5, exported=2, in_ring=3, final=1))
    left = testbed.wait_for(lambda: (s := collector.sensor_stats("lib")) and s["final"] and s,
                            "the final totals")
    assert left["in_ring"] == 3 and left["captured"] == 5
    assert_zero(left, "vanished", "lost_missing")
    two = carried_on(bed, one)
    two(f"session 5 {A_INTERFACE}|exported=2", totals(7, exported=2), "combo 1 2 0 c d e")
    live = testbed.wait_for(lambda: (s := collector.sensor_stats("lib"))["written"] == 5 and s,
                            "frames of the next agent")
    assert live["final"] == live["in_ring"] == 0
    two("combo 2 5 0 f g", totals(7, final=1))
    stats = finish(collector)
    assert words(bed.out) == list("abcdefg")
    assert stats["final"] == 1 and stats["written"] == 7 and stats["runs"] == 1
    assert_zero(stats, "in_ring", "vanished", "lost_missing", "earlier")


def test_a_next_agent_that_never_came(bed):
    """After an orderly end, frames left in the ring stay counted there. After a kill, they are
    lost."""
    collector = bed.collector()
    one = Pretend(bed)
    one(f"session 5 {A_INTERFACE}", "combo 0 0 0 a", totals(3, exported=1, in_ring=2, final=1),
        f"session 6 {A_INTERFACE}", "combo 0 0 0 b", totals(4, exported=1),
        f"session 7 {A_INTERFACE}", "combo 0 0 0 c", totals(1, final=1))
    stats = finish(collector)
    assert stats["in_ring"] == 2 and stats["vanished"] == 3 and stats["captured"] == 8
    assert_zero(stats, "lost_missing")


def test_another_run_came_between(bed):
    """After another run in between, the collector still knows where the first run ended, and counts
    each frame once."""
    collector = bed.collector()
    one = Pretend(bed)
    one(f"session 5 {A_INTERFACE}", "combo 0 0 0 a b", "combo 1 2 0 c", totals(3),
        f"session 6 {A_INTERFACE}", "combo 0 0 0 x", totals(1, final=1),
        f"session 5 {A_INTERFACE}|exported=2", "combo 1 2 0 c", "combo 2 3 0 d",
        totals(4, final=1))
    stats = finish(collector)
    assert words(bed.out) == ["a", "b", "c", "x", "d"]
    assert stats["written"] == stats["seen"] == 5 and stats["runs"] == 2
    assert_zero(stats, "earlier", "lost_missing", "vanished")


def test_the_collector_was_started_again_too(bed):
    """A restarted collector knows from its state which combos are written, and does not write them
    again."""
    state = ["--state", bed.tmp_path / "state"]
    first = bed.collector(bed.tmp_path / "one.pcapng", options=state)
    one = Pretend(bed)
    one(f"session 5 {A_INTERFACE}", "combo 0 0 0 a b", "combo 1 2 0 c", totals(3))
    finish(first)
    second = bed.collector(bed.tmp_path / "two.pcapng", options=state)
    two = carried_on(bed, one)
    two(f"session 5 {A_INTERFACE}|exported=2", "combo 1 2 0 c", "combo 2 3 0 d", totals(4, final=1))
    stats = finish(second)
    assert words(bed.tmp_path / "one.pcapng") == ["a", "b", "c"]
    assert words(bed.tmp_path / "two.pcapng") == ["d"]
    assert stats["earlier"] == 3 and stats["written"] == 1 and stats["duplicate_pieces"] == 1
    assert_zero(stats, "lost_missing")


def test_another_collector_took_its_place(bed):
    """A collector without the state cannot know: the last combo is there twice, in two files."""
    first = bed.collector(bed.tmp_path / "one.pcapng")
    one = Pretend(bed)
    one(f"session 5 {A_INTERFACE}", "combo 0 0 0 a b", "combo 1 2 0 c", totals(3))
    finish(first)
    second = bed.collector(bed.tmp_path / "two.pcapng")
    two = carried_on(bed, one)
    two(f"session 5 {A_INTERFACE}|exported=2", "floor 1 2", "combo 1 2 0 c", "combo 2 3 0 d",
        totals(4, final=1))
    stats = finish(second)
    assert words(bed.tmp_path / "one.pcapng") == ["a", "b", "c"]
    assert words(bed.tmp_path / "two.pcapng") == ["c", "d"]
    assert stats["earlier"] == 2 and stats["written"] == 2
    assert_zero(stats, "lost_missing", "duplicate_pieces")


def test_a_session_that_dies_at_its_last_word(bed):
    """The same agent repeats its final totals in another session."""
    collector = bed.collector()
    one = Pretend(bed)
    one(f"session 5 {A_INTERFACE}", "combo 0 0 0 a", totals(1, final=1),
        f"session 5 {A_INTERFACE}|exported=1", totals(1, final=1))
    stats = finish(collector)
    assert stats["final"] == 1 and stats["written"] == 1 and collector.stats()["sessions"] == 2
    assert_zero(stats)


# ---- interfaces ----------------------------------------------------------------------------------

def blocks(path):
    """(type, body) of each block."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8:at + size - 4]
        at += size


def options(body):
    at, found = 0, {}
    while at + 4 <= len(body):
        code, size = struct.unpack_from("<HH", body, at)
        if code == 0:
            break
        found[code] = body[at + 4:at + 4 + size]
        at += 4 + size + -size % 4
    return found


def interfaces(path):
    """The last section's interfaces: name, description, snaplen, filter, frames, statistics."""
    found = []
    for kind, body in blocks(path):
        if kind == 0x0a0d0d0a:
            found = []
        elif kind == 1:
            o = options(body[8:])
            found.append({"name": o[2].decode(), "snaplen": struct.unpack_from("<I", body, 4)[0],
                          "description": o[3].decode(), "filter": o.get(11, b"\0")[1:].decode(),
                          "frames": []})
        elif kind == 6:
            n, kept = struct.unpack_from("<I8xI", body)
            found[n]["frames"].append(body[20:20 + kept].decode())
        elif kind == 5:
            o = options(body[12:])
            found[struct.unpack_from("<I", body)[0]]["statistics"] = [
                struct.unpack("<Q", o[code])[0] for code in (4, 5, 6, 7, 8)]
    return found


EIGHT = "|".join(f"interface.{n}=eth{n}|source.{n}=xdp native|snaplen.{n}={90 + n}|keep.{n}=all|"
                 f"filter.{n}=port {n}" for n in range(8))


def test_eight_interfaces(bed):
    collector = bed.collector()
    own = {n: {"seen": 10 * n + 4, "filtered": n, "ring_full": 2, "copy_failed": 1,
               "captured": 9 * n + 1, "bad_fcs": 3 * n} for n in range(8)}
    sums = {k: sum(own[n][k] for n in own) for k in own[0]}
    said = " ".join(f"{n}.{k}={v}" for n in own for k, v in own[n].items())
    Pretend(bed)(f"session 5 {EIGHT}", *(f"combo {n} {n} {n} w{n}" for n in range(8)),
                 totals(8, **sums, dropped_shutdown=sums["captured"] - 8, final=1) + " " + said)
    stats = finish(collector)
    assert_zero(stats)
    found = interfaces(bed.out)
    assert len(found) == len(stats["interfaces"]) == 8
    for n, (i, s) in enumerate(zip(found, stats["interfaces"])):
        assert i["name"] == f"lib:eth{n}" and i["snaplen"] == 90 + n
        assert i["description"] == f"sensor lib (id 1), interface eth{n} by xdp native"
        assert i["filter"] == f"port {n}" and i["frames"] == [f"w{n}"]
        assert i["statistics"] == [10 * n + 4, 3, 9 * n + 4, 2, 1]
        own_of = {"number": n, "name": f"eth{n}", "source": "xdp native", "filter": f"port {n}", **own[n]}
        assert s == {**s, **own_of}
    for name, total in sums.items():
        assert stats[name] == sum(s[name] for s in stats["interfaces"]) == total
    assert tshark_fields(bed.out, "frame.interface_name") == [(f"lib:eth{n}",) for n in range(8)]


def test_a_filter_is_replaced_and_a_hook_changes(bed):
    collector = bed.collector()
    info = "interface.0=a|source.0={0}|filter.0={1}|interface.1=b|change={2}"
    p = Pretend(bed)
    p("session 5 " + info.format("tc", "arp", 3), "combo 0 0 0 one", "combo 1 1 1 other",
      "info " + info.format("tc", "port 53", 4), "combo 2 2 0 two", "combo 3 3 1 other",
      "info " + info.format("tc", "port 53", 4), "info " + info.format("overtaken", "by", 2),
      "combo 4 4 0 two",
      "info " + info.format("xdp native", "port 53", 5), "combo 5 5 0 three", totals(6))
    current = testbed.wait_for(lambda: (s := collector.sensor_stats("lib")) and s["written"] == 6
                               and s, "the frames")["interfaces"]
    assert [(i["name"], i["source"], i["filter"]) for i in current] == [
        ("a", "xdp native", "port 53"), ("b", "", "")]
    # A session of the same run, by an agent that counts its changes from 0.
    p("session 5 " + info.format("tc", "arp", 0), "combo 6 6 0 one", totals(7, final=1))
    stats = finish(collector)
    assert_zero(stats)
    assert [(i["name"], i["filter"], i["frames"]) for i in interfaces(bed.out)] == [
        ("lib:a", "arp", ["one", "one"]), ("lib:b", "", ["other", "other"]),
        ("lib:a", "port 53", ["two", "two"]), ("lib:a", "port 53", ["three"])]


def test_a_sensor_that_changes_its_mind_for_ever(bed):
    collector = bed.collector()
    p = Pretend(bed)
    p("session 5 interface.0=a")
    for n in range(1, CHANGES + 1):
        p(f"info interface.0=a|filter.0={'x' * 200}{n}|change={n}", f"combo {n - 1} {n - 1} 0 w{n}")
        if n % 5 == 0:  # waits, so that the collector does not lag by more
            p(totals(n))
    p(totals(CHANGES, final=1))
    stats = finish(collector)
    assert_zero(stats)
    found = interfaces(bed.out)
    assert len(found) == BLOCKS_MAX and sum(len(i["frames"]) for i in found) == CHANGES
    # A collector that lags describes waiting combos by a later info, so some blocks have two frames.
    last = found[-1]["frames"]
    first = int(last[0].removeprefix("w"))
    assert first >= BLOCKS_MAX and last == [f"w{n}" for n in range(first, CHANGES + 1)]
    assert bed.out.stat().st_size < CHANGES * 100 + BLOCKS_MAX * 1000


def test_a_new_file_has_blocks_that_are_true(bed):
    """A new file describes the interfaces correctly, however many the file before had."""
    collector = bed.collector(bed.tmp_path, options=("-C", "1"))
    p = Pretend(bed)
    p("session 5 interface.0=a")
    for n in range(1, 100):
        p(f"info interface.0=a|filter.0=port {n}|change={n}", f"combo {n - 1} {n - 1} 0 w")
    p(totals(99), *(f"combo {n} {n} 0 big*30000" for n in range(99, 139)), totals(139, final=1))
    assert_zero(finish(collector))
    one, two = sorted(bed.tmp_path.glob("saluki_*.pcapng"))
    assert len(interfaces(one)) == 99
    assert [i["filter"] for i in interfaces(two)] == ["port 99"]


def test_more_interfaces_than_there_are(bed):
    """Unknown interface numbers, more kinds than are remembered, and false counters do no harm."""
    collector = bed.collector()
    p = Pretend(bed)
    huge = 2 ** 64 - 1
    p(f"session 5 {EIGHT}|interface.8=no|interface.-1=no|filter.99=no", "combo 0 0 200 w",
      *(f"combo {n} {n} {n % 100} w" for n in range(1, 200)),
      totals(200, final=1) + f" 0.seen={huge} 0.filtered=5 7.ring_full={huge} 7.copy_failed=2")
    stats = finish(collector)
    assert_zero(stats)
    assert len(stats["interfaces"]) == 8 and stats["interfaces"][0]["seen"] == huge
    found = interfaces(bed.out)
    assert sum(len(i["frames"]) for i in found) == 200 and len(found) <= 200
    assert found[0]["name"] == "lib:200" and found[1]["name"] == "lib:eth1"
    assert found[0]["description"] == "sensor lib (id 1), interface 200"
    assert len(tshark_fields(bed.out, "frame.number")) == 200


def test_text_of_any_kind_is_harmless(bed):
    """Text of any kind is harmless in JSON and in the file. The bed parses the statistics as
    JSON."""
    collector = bed.collector()
    p = Pretend(bed)
    evil = 'a"\\\x01\x1b[31m\x7f<&>'
    p(f"session 5 interface.0={evil}|source.0={evil}|filter.0={evil}|snaplen.0=99999999999|x=y|=|",
      "combo 0 0 0 w", "info " + "z" * 900, "info interface.0=" + "z" * 1000,
      totals(1, final=1))
    stats = finish(collector)
    assert stats["bad_messages"] == 2 and stats["balance"] == 0
    assert stats["interfaces"][0]["name"] == 'a"\\??[31m?<&>'
    assert interfaces(bed.out)[0]["name"] == 'lib:a"\\??[31m?<&>'
    assert len(tshark_fields(bed.out, "frame.number")) == 1
