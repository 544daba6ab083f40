# SPDX-License-Identifier: GPL-2.0
"""The export on bad networks, through a relay that is one: every frame is written once, in order, or the
ledger says exactly how many are not."""
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.relay import recorded
from netns.test_hostile import REFUSED, flood, udp
from netns.test_pipeline import as_seen
from reference import captures, trim
from reference.test_reference import write_pcap

COLLECTOR_KIB = 16 << 10  # of two processes, pool included
SENSOR_KIB = 10 << 10     # the store is 4 MiB of it
ALL = ("--keep", "all", "-s", "32768")
PLAIN = ("--compress", "none", "--combo-size", "4096", *ALL)  # many datagrams of few frames


def long_trace(bed, times):
    """The bundled trace again and again, later each time: no two frames are the same."""
    once = list(captures.frames(captures.BUNDLED))
    period = once[-1].time_ns - once[0].time_ns + 1000
    frames = [f._replace(time_ns=f.time_ns + n * period) for n in range(times) for f in once]
    path = bed.tmp_path / "long.pcap"
    write_pcap(path, 127, frames)
    return path, frames


def written(collector, name="lib"):
    return (collector.sensor_stats(name) or {}).get("written", 0)


def assert_whole(bed, collector, frames, stamps=True, whole=False):
    """Ends the collector; each frame (whole, or what is kept of it) is there once, in order, and nothing
    else."""
    kib = testbed.anonymous_kib(collector.pid())
    status, said = collector.finish()
    assert status == 0, said
    assert_same(frames if stamps else as_seen(frames), captures.frames(bed.out),
                *((32768, False) if whole else ()), stamps=stamps)
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(frames))
    assert "sanitize" in str(testbed.BUILD) or kib < COLLECTOR_KIB, kib
    return stats


def export_file(bed, path, relay, options=PLAIN, **kwargs):
    """saluki run -r to its end through the relay."""
    reader = bed.reader("lib", path, to=relay.address, options=options, **kwargs)
    status, said = reader.finish(signo=None, seconds=80)
    assert status == 0, said
    return said


# ---- live: outages, restarts, other addresses ------------------------------------------------------


class Live:
    """A long trace played through an interface to a sensor behind the relay."""

    def __init__(self, bed, times=4, rate=2000, options=(), **kwargs):
        self.bed = bed
        self.path, self.frames = long_trace(bed, times)
        self.collector = bed.collector(**kwargs)
        self.relay = bed.relay()
        self.player = bed.tun("mon0", 803, self.path, ["--rate", str(rate)])
        self.sensor = bed.sensor("lib", "mon0", to=self.relay.address, options=options)
        self.player.go()

    def until_written(self, count, seconds=40):
        testbed.wait_for(lambda: written(self.collector) >= count, f"{count} frames", seconds)

    def finish(self):
        assert self.player.played() == len(self.frames)
        self.until_written(len(self.frames))
        kib = testbed.anonymous_kib(self.sensor.pid())
        status, said = self.sensor.finish()
        assert status == 0, said
        assert "sanitize" in str(testbed.BUILD) or kib < SENSOR_KIB, kib
        return assert_whole(self.bed, self.collector, self.frames, stamps=False)


@pytest.mark.parametrize("seconds", [60, 10])  # the longest first: others go on beside it
def test_no_network_for_a_while(bed, seconds):
    live = Live(bed, 8)
    live.until_written(1000)
    live.relay("cut")
    time.sleep(seconds)  # the outage itself
    live.relay("mend")
    stats = live.finish()
    assert stats["runs"] == 1 and stats["dropped_store"] == 0


def test_a_collector_that_dies_again_and_again(bed):
    """SIGKILL to both its processes, at any moment, and another one in its place."""
    live = Live(bed, 12, rate=800)
    for _ in range(3):
        live.until_written(1)
        live.collector.kill_all()
        live.collector = bed.collector()
    assert live.player.played() == len(live.frames)
    testbed.wait_for(lambda: len(list(captures.frames(bed.out))) >= len(live.frames),
                     "all frames", 40, interval=0.5)
    status, said = live.sensor.finish()
    assert status == 0, said
    assert live.collector.finish()[0] == 0
    assert_same(as_seen(live.frames), captures.frames(bed.out), stamps=False)
    stats = live.collector.sensor_stats("lib")
    for name in ("balance", "lost_missing", "lost_disk", "in_flight", "bad_combos", "bad_pieces"):
        assert stats[name] == 0, (name, stats)
    assert stats["earlier"] + stats["written"] == len(live.frames)


def test_another_address_and_port(bed):
    live = Live(bed, 8)
    live.until_written(1)
    for n, host in enumerate(("", "127.0.0.9", "", "127.0.0.10"), 1):
        live.relay(f"rebind {host}".strip())
        testbed.wait_for(lambda n=n: live.collector.stats()["moves"] >= n, "a move", 20)
    live.finish()
    stats = live.collector.stats()
    assert stats["moves"] == 4 and stats["sessions"] == 1


def test_a_renewal_loses_nothing(bed):
    """New keys and a new port while frames come, on a network that loses, too."""
    live = Live(bed, 16, options=["--renew", "5"])
    record = bed.tmp_path / "recording"
    live.relay("loss 5", f"record {record}")
    live.finish()
    live.relay("record")
    stats = live.collector.stats()
    assert stats["renewals"] >= 1 and stats["sessions"] == 1
    assert len({r.port for r in recorded(record)}) == stats["renewals"] + 1


def test_more_than_the_store_holds(bed):
    """The oldest give way, and the ledger says exactly how many frames those were."""
    path, frames = long_trace(bed, 12)
    collector = bed.collector()
    relay = bed.relay()
    player = bed.tun("mon0", 803, path, ["--rate", "20000"])
    sensor = bed.sensor("lib", "mon0", to=relay.address,
                        options=["--compress", "none", "--store-bytes", "64K", "-B", "64"])
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session", 20)
    relay("cut")
    player.play()
    relay("mend")
    testbed.wait_for(lambda: (s := collector.sensor_stats("lib"))["seen"] == len(frames) and
                     s["written"] + s["lost_missing"] == s["captured"], "the rest", 40)
    status, said = sensor.finish()
    collector.finish()
    got = list(captures.frames(bed.out))
    stats = collector.sensor_stats("lib")
    print(stats)
    assert status in (0, 1), said
    assert stats["seen"] == len(frames) and stats["balance"] == 0
    assert stats["written"] == len(got) < len(frames)
    assert stats["lost_missing"] > 0 and stats["bad_combos"] == stats["bad_pieces"] == 0
    assert stats["written"] + stats["lost_missing"] + stats["ring_full"] == len(frames)
    # The sensor also gives up what it does not know yet that the collector has.
    assert stats["dropped_store"] >= stats["lost_missing"]
    left = (f.data[:trim.keep(f.data, f.orig_len, f.linktype, 192)[0]] for f in as_seen(frames))
    assert all(g.data in left for g in got)  # what is there is in order


# ---- from a file -----------------------------------------------------------------------------------


@pytest.mark.parametrize("orders,counter", [
    (["loss 1"], "up_lost"), (["loss 5"], "up_lost"), (["loss 20"], "up_lost"),
    (["reorder 50"], None), (["duplicate 20"], "up_duplicated"), (["corrupt 5"], "up_corrupted"),
    (["loss 5", "reorder 50", "duplicate 5", "corrupt 2", "delay 20"], "up_lost"),
    (["up loss 5"], "up_lost"), (["down loss 50"], "down_lost")],
    ids=lambda x: ", ".join(x) if isinstance(x, list) else "")
def test_a_bad_network(bed, orders, counter):
    path, frames = long_trace(bed, 4)
    collector = bed.collector()
    relay = bed.relay()
    relay("seed 3", *orders)  # the first datagrams come through: a set-up may take many seconds
    export_file(bed, path, relay)
    counts = relay.counts()
    print(counts)
    assert counts["up_received"] > 500 and (not counter or counts[counter] > 3)
    assert counts["up_full"] == counts["down_full"] == 0
    assert_whole(bed, collector, frames, whole=True)


@pytest.mark.captures
def test_a_long_capture(bed):
    path = bed.tmp_path / "hwsim"
    path.write_bytes(captures.file_bytes(captures.CAPTURES / "hwsim/hwsim.pcap.zst"))
    frames = list(captures.frames(path))
    collector = bed.collector()
    relay = bed.relay()
    relay("loss 5", "reorder 20", "duplicate 1")
    export_file(bed, path, relay, options=())
    assert_whole(bed, collector, frames)


def test_a_path_with_a_small_mtu(bed):
    """What is larger is dropped, and nobody says so."""
    path, frames = long_trace(bed, 2)
    collector = bed.collector()
    relay = bed.relay()
    relay("mtu 1280")
    export_file(bed, path, relay)
    counts = relay.counts()
    print(counts)
    assert 0 < counts["up_too_large"] < counts["up_sent"] / 2
    assert_whole(bed, collector, frames, whole=True)


def test_a_path_that_takes_small_datagrams_only(bed):
    """Set-ups and totals come through, frames do not: they are tried seldom, and wait."""
    live = Live(bed, 4, options=PLAIN[:4])
    live.relay("mtu 1000")
    live.sensor.expect("takes no datagrams of 1232 bytes", 40)
    before = live.relay.counts()["up_too_large"]
    begun = time.monotonic()
    time.sleep(5)  # what is counted
    took = time.monotonic() - begun
    sent = live.relay.counts()["up_too_large"] - before
    print(f"{sent} datagrams in {took:.1f} s")
    assert sent < 16 * (took + 2)  # 60 each second, if nothing is made of it
    live.relay("mtu 0")
    stats = live.finish()
    assert stats["dropped_send"] == stats["dropped_store"] == 0


def test_a_path_mtu_that_falls_for_a_while(bed):
    """The kernel refuses all of them: what waits is not lost by that."""
    live = Live(bed, 4, options=PLAIN[:4])
    live.until_written(500)
    bed.ns.run("ip", "link", "set", "lo", "mtu", "1200")
    live.sensor.expect("takes no datagrams of 1232 bytes", 40)
    bed.ns.run("ip", "link", "set", "lo", "mtu", "65536")
    stats = live.finish()
    assert stats["dropped_send"] == stats["dropped_store"] == 0


def test_all_datagrams_alike(bed):
    """--pad: there is one length, either way."""
    path, frames = long_trace(bed, 1)
    collector = bed.collector()
    relay = bed.relay()
    record = bed.tmp_path / "recording"
    relay(f"record {record}", "loss 5")
    export_file(bed, path, relay, options=(*PLAIN, "--pad"))
    assert_whole(bed, collector, frames, whole=True)
    relay("record")
    assert {len(r.data) for r in recorded(record)} == {1232}
    assert any(r.down for r in recorded(record))


# ---- clocks ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("sensor,collector", [
    (90, 0), (-90, 0), (0, 90), (0, -90), (90, -90), (-90, 90), ("1970", 0), (400 * 86400, 0)])
def test_clocks_that_differ(bed, bundled, sensor, collector):
    moved = f"{-time.time() + 1000:.0f}" if sensor == "1970" else sensor
    c = bed.collector(env=bed.clock(collector).env)
    relay = bed.relay()
    record = bed.tmp_path / "recording"
    relay(f"record {record}")
    export_file(bed, bundled, relay, options=(), env=bed.clock(moved).env)
    assert_whole(bed, c, list(captures.frames(bundled)))
    stats = c.stats()
    assert stats["sessions"] == 1
    if isinstance(sensor, str) or abs(sensor) > 240:
        assert stats["questions"] > 0  # the answer has set the protocol's clock right


@pytest.mark.parametrize("whose", ["sensor", "collector"])
def test_a_clock_is_set_while_it_runs(bed, whose):
    """The session lives on: only set-ups and stamps know the time."""
    path, frames = long_trace(bed, 4)
    clock = bed.clock()
    collector = bed.collector(env=clock.env if whose == "collector" else {})
    player = bed.tun("mon0", 803, path, ["--rate", "2000"])
    sensor = bed.sensor("lib", "mon0", env=clock.env if whose == "sensor" else {})
    player.go()
    for n, offset in enumerate((90, -90, -3600, 0), 1):
        testbed.wait_for(lambda n=n: written(collector) > n * 500, "frames", 30)
        clock.move(offset)
    assert player.played() == len(frames)
    status, said = sensor.finish()
    assert status == 0, said
    assert_whole(bed, collector, frames, stamps=False)
    assert collector.stats()["sessions"] == 1


# ---- what is played back ---------------------------------------------------------------------------


def record_session(bed, path):
    """A whole session, and the collector that heard it; returns it, the relay and the recording."""
    clock = bed.clock()
    collector = bed.collector(env=clock.env)
    relay = bed.relay()
    record = bed.tmp_path / "recording"
    relay(f"record {record}")
    export_file(bed, path, relay)
    relay("record")
    until_counted(collector, relay)
    return collector, relay, record, clock


def until_counted(collector, relay, replayed=0):
    """All that the relay has sent up is in the statistics, which are written once a second."""
    testbed.wait_for(collector.stats_file.exists, "statistics")
    count = relay.counts()["up_sent"] + replayed
    testbed.wait_for(lambda: collector.stats()["datagrams"] >= count, f"{count} datagrams", 20)


def assert_nothing_accepted(bed, collector, relay, record, restarted=False):
    """Every datagram of the recording is refused, and the file is as it was."""
    testbed.wait_for(collector.stats_file.exists, "statistics")
    before, file = collector.stats(), bed.out.read_bytes()
    sent = relay.replay(record)
    assert sent > 100
    after = testbed.wait_for(lambda: (s := collector.stats())["datagrams"] >=
                             before["datagrams"] + sent and s, "all datagrams", 20)
    assert after["datagrams"] == before["datagrams"] + sent
    # A collector that was started again answers a set-up whose interval is not over. Nobody but the
    # sensor can go on from there.
    assert sum(after[k] - before[k] for k in (*REFUSED, "set_ups")) == sent
    assert after["set_ups"] - before["set_ups"] <= (1 if restarted else 0)
    for name in ("sessions", "renewals", "moves"):
        assert after[name] == before[name], name
    assert bed.out.read_bytes() == file


def test_a_session_is_played_back(bed, bundled):
    """At once; an hour later; after a restart; after a restart with the clock an hour back."""
    collector, relay, record, clock = record_session(bed, bundled)
    assert written(collector) == 1171
    for _ in range(2):
        assert_nothing_accepted(bed, collector, relay, record)
    clock.move(3600)
    assert_nothing_accepted(bed, collector, relay, record)
    clock.move(0)
    assert collector.finish()[0] == 0
    collector = bed.collector(env=clock.env)
    assert_nothing_accepted(bed, collector, relay, record, restarted=True)
    collector.kill_all()
    clock.move(-3600)
    collector = bed.collector(env=clock.env)
    assert_nothing_accepted(bed, collector, relay, record, restarted=True)
    assert collector.finish()[0] == 0
    clock.move(0)
    collector = bed.collector(env=clock.env)
    export_file(bed, bundled, relay)  # and who is honest is heard
    collector.finish()
    assert_same(list(captures.frames(bundled)) * 2, captures.frames(bed.out), 32768, False)


def test_renewed_sessions_are_played_back(bed):
    """While the last of them lives, and when the sensor has ended."""
    live = Live(bed, 16, options=["--renew", "5"])
    record = bed.tmp_path / "recording"
    live.relay(f"record {record}")
    assert live.player.played() == len(live.frames)
    live.until_written(len(live.frames))
    assert live.collector.stats()["renewals"] >= 1
    live.relay("record")
    sent = live.relay.replay(record)
    assert sent == sum(not r.down for r in recorded(record))
    assert live.sensor.finish()[0] == 0
    until_counted(live.collector, live.relay, sent)
    stats = live.collector.stats()
    assert stats["moves"] == 0 and stats["sessions"] == 1 and stats["not_ours"] >= sent
    assert_nothing_accepted(bed, live.collector, live.relay, record)
    assert_whole(bed, live.collector, live.frames, stamps=False)


# ---- junk ------------------------------------------------------------------------------------------


def test_junk_beside_real_traffic(bed, bundled):
    """100,000 random datagrams a second, whether or not the collector gets to them: what the kernel has
    no room for is junk and real ones alike, and real ones are sent again."""
    collector = bed.collector()
    hostile = bed.ns.start(testbed.ROOT / "build/tests/hostile", bed.keys.sensor("two"), "5600",
                           "500000", "100000", stdout=subprocess.PIPE)
    bed.stack.callback(hostile.stdout.close)
    bed.stack.callback(hostile.kill)
    frames = list(captures.frames(bundled))
    runs = 0
    while hostile.poll() is None or not runs:
        assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
        runs += 1
    assert hostile.wait(60) == 0
    sent, took_ms = map(int, hostile.stdout.read().split())
    assert sent == 500000
    testbed.wait_for(lambda: sum((s := collector.stats())[k] for k in (*REFUSED, "kernel_dropped"))
                     >= sent, "all junk", 30)
    assert collector.finish()[0] == 0
    assert_same(frames * runs, captures.frames(bed.out))
    assert_balanced(collector.sensor_stats("lib"), len(frames) * runs)
    stats = collector.stats()
    print(f"{runs} runs beside {sent} datagrams of junk, {sent / took_ms * 1000:.0f}/s; "
          f"{stats['kernel_dropped']} dropped by the kernel")


def test_floods_of_set_ups_and_questions(bed, bundled):
    """Recorded ones, tens of thousands, beside a sensor at work."""
    clock = bed.clock(f"{-time.time() + 1000:.0f}")
    collector = bed.collector()
    relay = bed.relay()
    record = bed.tmp_path / "recording"
    relay(f"record {record}")
    export_file(bed, bundled, relay, options=(), env=clock.env)
    relay("record")
    until_counted(collector, relay)
    assert collector.stats()["questions"]
    firsts, seen = [], set()  # set-ups and questions: before anything came back to that port
    for r in recorded(record):
        if r.down:
            seen.add(r.port)
        elif r.port not in seen:
            firsts.append(r.data)
    sock = udp(bed.ns)
    before = collector.stats()
    reader = bed.reader("two", bundled)
    flood(collector, sock, [d for _ in range(40000 // len(firsts)) for d in firsts])
    status, said = reader.finish(signo=None)
    assert status == 0, said
    collector.finish()
    after = collector.stats()
    assert after["sessions"] == before["sessions"] + 1
    assert after["limited_questions"] > 0
    assert_balanced(collector.sensor_stats("lib"), 1171)
    assert_balanced(collector.sensor_stats("two"), 1171)
