# SPDX-License-Identifier: GPL-2.0
"""Export through a bad network, the relay: every frame is written once, in order, or the ledger has
the exact number of missing ones."""
import json
import time

import pytest

from netns import testbed
from netns.compare import assert_same
from netns.live import (PLAIN, Live, assert_whole, export_file, long_trace, small_store,
                        written)
from netns.relay import recorded
from netns.test_pipeline import as_seen
from reference import captures, trim

# ---- live: outages, restarts, other addresses ------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("seconds", [60, 10])  # the longest first: others run beside it
def test_no_network_for_a_while(bed, seconds):
    live = Live(bed, 8)
    live.until_written(1000)
    live.relay("cut")
    time.sleep(seconds)  # the outage itself
    live.relay("mend")
    stats = live.finish()
    assert stats["runs"] == 1 and stats["dropped_store"] == 0


def test_a_collector_that_dies_again_and_again(bed):
    """A collector that is killed at any moment and restarted, again and again, loses and repeats no
    frame."""
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
    """A renewal while frames come loses nothing, on a lossy network, too."""
    live = Live(bed, 16, options=["--renew", "5"])
    record = bed.tmp_path / "recording"
    live.relay("loss 5", f"record {record}")
    live.finish()
    live.relay("record")
    stats = live.collector.stats()
    assert stats["renewals"] >= 1 and stats["sessions"] == 1
    assert len({r.port for r in recorded(record)}) == stats["renewals"] + 1


def test_more_than_the_store_holds(bed):
    """The oldest combos are given up, and the ledger has their exact number of frames."""
    collector, relay, player, sensor, frames = small_store(bed)
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
    # The sensor also gives up combos whose arrival it does not know yet.
    assert stats["dropped_store"] >= stats["lost_missing"]
    left = (f.data[:trim.keep(f.data, f.orig_len, f.linktype, 192)[0]] for f in as_seen(frames))
    assert all(g.data in left for g in got)  # the remaining frames are in order


def compression(bed):
    got = bed.ns.run(testbed.BUILD / "saluki", "status", "--json", "-i", "mon0", capture_output=True)
    return json.loads(got.stdout)["interfaces"][0]["agent"]["compress"]


def test_a_full_store_is_compressed_more(bed):
    """While the network takes nothing, --compress auto takes stronger levels; then the usual one."""
    # For some seconds, and slowly: on a busy machine the CPU is the limit of a fast burst.
    collector, relay, player, sensor, frames = small_store(bed, "auto", times=20, rate=3000)
    assert compression(bed) == {"auto": True, "level": 1, "level_changes": 0, "combos_lowered": 0,
                                "combos_raised": 0}
    relay("cut")
    player.go()
    testbed.wait_for(lambda: compression(bed)["level"] == 6, "the strongest level", 20)
    relay("mend")
    player.played()
    testbed.wait_for(lambda: (s := collector.sensor_stats("lib"))["seen"] == len(frames) and
                     s["written"] + s["lost_missing"] == s["captured"], "the rest", 40)
    now = compression(bed)
    text = bed.ns.run(testbed.BUILD / "saluki", "status", "-i", "mon0", capture_output=True).stdout
    assert sensor.finish()[0] == 0
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert f"compress level {now['level']}, auto; changes {now['level_changes']}, combos " in text
    assert stats["level_changes"] >= now["level_changes"] >= 2
    assert 0 < stats["combos_raised"] < stats["combos"] and stats["combos_lowered"] == 0, stats
    assert stats["balance"] == 0


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
    relay("seed 3", *orders)  # the first datagrams pass: a handshake may take many seconds
    export_file(bed, path, relay)
    counts = relay.counts()
    print(counts)
    assert counts["up_received"] > 500 and (not counter or counts[counter] > 3)
    assert counts["up_full"] == counts["down_full"] == 0
    assert_whole(bed, collector, frames, whole=True)


def test_a_long_capture(bed, traces):
    path = bed.tmp_path / "hwsim"
    path.write_bytes(captures.file_bytes(traces.root / "hwsim/hwsim.pcap.zst"))
    frames = list(captures.frames(path))
    collector = bed.collector()
    relay = bed.relay()
    relay("loss 5", "reorder 20", "duplicate 1")
    export_file(bed, path, relay, options=())
    assert_whole(bed, collector, frames)


def test_a_path_with_a_small_mtu(bed):
    """All frames arrive over a path that drops larger datagrams without an ICMP message."""
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
    """On a path that passes short messages only, pieces are tried rarely, and wait."""
    live = Live(bed, 4, options=PLAIN[:4])
    live.until_written(500)
    live.relay("mtu 1000")
    live.sensor.expect("takes no datagrams of 1232 bytes", 40)
    before = live.relay.counts()["up_too_large"]
    begun = time.monotonic()
    time.sleep(5)  # the counted time
    took = time.monotonic() - begun
    sent = live.relay.counts()["up_too_large"] - before
    print(f"{sent} datagrams in {took:.1f} s")
    assert sent < 16 * (took + 2)  # 60 each second without a backoff
    live.relay("mtu 0")
    stats = live.finish()
    assert stats["dropped_send"] == stats["dropped_store"] == 0


def test_a_path_mtu_that_falls_for_a_while(bed):
    """Waiting combos are not lost while the kernel refuses all pieces for a while."""
    live = Live(bed, 4, options=PLAIN[:4])
    live.until_written(500)
    bed.ns.run("ip", "link", "set", "lo", "mtu", "1200")
    live.sensor.expect("takes no datagrams of 1232 bytes", 40)
    bed.ns.run("ip", "link", "set", "lo", "mtu", "65536")
    stats = live.finish()
    assert stats["dropped_send"] == stats["dropped_store"] == 0


def test_all_datagrams_alike(bed):
    """With --pad, all datagrams have one length in either direction."""
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
    """The session survives a clock change: only handshakes and stamps depend on the time."""
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
