# SPDX-License-Identifier: GPL-2.0
"""Recorded or forged datagrams are never accepted, and real ones are written all the same."""
import subprocess
import time

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.live import Live, assert_whole, export_file, written
from netns.relay import recorded
from netns.test_hostile import REFUSED, flood, udp
from reference import captures

# ---- replayed recordings ---------------------------------------------------------------------------


def record_session(bed, path):
    """Records a whole session; returns its collector, the relay and the recording."""
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
    """Waits until the statistics, written once a second, have all datagrams that the relay sent
    up."""
    testbed.wait_for(collector.stats_file.exists, "statistics")
    count = relay.counts()["up_sent"] + replayed
    testbed.wait_for(lambda: collector.stats()["datagrams"] >= count, f"{count} datagrams", 20)


def assert_nothing_accepted(bed, collector, relay, record, restarted=False):
    """Every datagram of the recording is refused, and the file is unchanged."""
    testbed.wait_for(collector.stats_file.exists, "statistics")
    before, file = collector.stats(), bed.out.read_bytes()
    sent = relay.replay(record)
    assert sent > 100
    after = testbed.wait_for(lambda: (s := collector.stats())["datagrams"] >=
                             before["datagrams"] + sent and s, "all datagrams", 20)
    assert after["datagrams"] == before["datagrams"] + sent
    # A restarted collector answers a handshake whose interval is not over. Only the sensor can
    # continue from there.
    assert sum(after[k] - before[k] for k in (*REFUSED, "set_ups")) == sent
    assert after["set_ups"] - before["set_ups"] <= (1 if restarted else 0)
    for name in ("sessions", "renewals", "moves"):
        assert after[name] == before[name], name
    assert bed.out.read_bytes() == file


def test_a_session_is_played_back(bed, bundled):
    """A replayed session is refused at once, an hour later, after a restart, and after a restart
    with the clock an hour back."""
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
    export_file(bed, bundled, relay)  # and an honest sensor is heard
    collector.finish()
    assert_same(list(captures.frames(bundled)) * 2, captures.frames(bed.out), 32768, False)


def test_renewed_sessions_are_played_back(bed):
    """Renewed sessions are refused while the last of them lives, and after the sensor has ended."""
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
    """100,000 random datagrams/s, whether or not the collector keeps up. The kernel drops junk and
    real ones alike, and real ones are sent again."""
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
    testbed.wait_for(lambda: sum(map(collector.stats().get, (*REFUSED, "kernel_dropped")))
                     >= sent, "all junk", 30)
    assert collector.finish()[0] == 0
    assert_same(frames * runs, captures.frames(bed.out))
    assert_balanced(collector.sensor_stats("lib"), len(frames) * runs)
    stats = collector.stats()
    print(f"{runs} runs beside {sent} datagrams of junk, {sent / took_ms * 1000:.0f}/s; "
          f"{stats['kernel_dropped']} dropped by the kernel")


def test_floods_of_set_ups_and_questions(bed, bundled):
    """Tens of thousands of recorded handshakes and requests do not disturb a working sensor."""
    clock = bed.clock(f"{-time.time() + 1000:.0f}")
    collector = bed.collector()
    relay = bed.relay()
    record = bed.tmp_path / "recording"
    relay(f"record {record}")
    export_file(bed, bundled, relay, options=(), env=clock.env)
    relay("record")
    until_counted(collector, relay)
    assert collector.stats()["questions"]
    firsts, seen = [], set()  # handshakes and requests: before any answer to that port
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
    assert after["repeated_requests"] > before["repeated_requests"]
    assert after["limited_questions"] == 0, "recorded datagrams use up no sensor's budget"
    assert_balanced(collector.sensor_stats("lib"), 1171)
    assert_balanced(collector.sensor_stats("two"), 1171)
