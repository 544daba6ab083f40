# SPDX-License-Identifier: GPL-2.0
"""--one-way: a link without a way back. The sensor receives nothing; losses are counted exactly."""
import os
import time

import pytest

from netns import testbed
from netns.compare import assert_same
from netns.relay import recorded
from netns.test_restart import numbered
from reference import captures
from reference.test_reference import write_pcap

ONE_WAY = ["--one-way"]


def allow(bed, *names):
    """Lists these sensors as one-way."""
    lines = [line + " one-way" if line.split()[0] in names else line
             for line in bed.keys.sensors.read_text().splitlines()]
    bed.keys.sensors.write_text("\n".join(lines) + "\n")


def assert_lost(stats, count):
    """Each of these frames is written or lost, and in no other counter."""
    assert stats["captured"] == stats["exported"] == count, stats
    assert stats["earlier"] + stats["written"] + stats["lost_missing"] == count, stats
    for name in ("balance", "in_flight", "bad_combos", "bad_pieces", "bad_messages", "dropped_send",
                 "dropped_shutdown", "dropped_store", "lost_disk"):
        assert stats[name] == 0, (name, stats)
    assert stats["final"] == 1


def is_over(collector, name="lib"):
    """The collector has the final totals, and waits for nothing more."""
    def over():
        s = collector.sensor_stats(name)
        return s and s["final"] and not s["in_flight"] and s
    return testbed.wait_for(over, "the end of the run", 60)


def part_of(wanted, got):
    """Frames in their order, some missing."""
    rest = iter([f.data for f in wanted])
    return all(any(f.data == data for data in rest) for f in got)


def test_nothing_goes_back(bed, bundled):
    allow(bed, "lib")
    collector = bed.collector()
    relay = bed.relay()
    relay("down cut", f"record {bed.tmp_path / 'recording'}")
    status, said = bed.reader("lib", bundled, to=relay.address, options=ONE_WAY).finish(signo=None)
    assert status == 0, said
    assert "nothing comes back" in said and "can open recordings" in said
    is_over(collector)
    relay("record")
    assert collector.finish()[0] == 0
    assert_same(captures.frames(bundled), captures.frames(bed.out))
    stats = collector.sensor_stats("lib")
    assert_lost(stats, 1171)
    assert stats["lost_missing"] == 0
    assert not [r for r in recorded(bed.tmp_path / "recording") if r.down]
    assert collector.stats()["sent"] == 0 and collector.stats()["announcements"] > 0


@pytest.mark.parametrize("worse", [["loss 10", "reorder 20"], ["loss 1", "duplicate 10", "corrupt 2"],
                                   ["reorder 50"]])
def test_bad_networks(bed, bundled, worse):
    """On bad networks, arrived frames are written in order, and missing ones counted exactly."""
    allow(bed, "lib")
    count = 6000
    frames = numbered(bundled, count)
    write_pcap(bed.tmp_path / "long.pcap", 1, frames)
    collector = bed.collector()
    relay = bed.relay()
    relay("down cut", *worse)
    status, said = bed.reader("lib", bed.tmp_path / "long.pcap", to=relay.address,
                              options=[*ONE_WAY, "--compress", "none", "--combo-size", "1024",
                                       "--keep", "all", "-s", "1500"]).finish(signo=None)
    assert status == 0, said
    is_over(collector)
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert_lost(stats, count)
    got = list(captures.frames(bed.out))
    assert len(got) == stats["written"] > count / 2
    assert part_of(frames, got)
    assert (stats["lost_missing"] > 0) == any("loss" in w for w in worse), stats


def live(bed, bundled, count, rate, to, options=()):
    """Captures frames that all differ, while they come; returns sensor, sender and frames."""
    frames = numbered(bundled, count)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    sensor = bed.sensor("lib", "tap0", to=to, options=[*ONE_WAY, "--combo-age", "100", *options])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", str(rate)])
    return sensor, sender, frames


def written(collector):
    return (collector.sensor_stats("lib") or {}).get("written", 0)


def test_a_collector_that_is_killed(bed, bundled):
    """A killed collector loses the datagrams of its absence, and some seconds: it finds the next
    announcement."""
    allow(bed, "lib")
    count = 9000
    collector = bed.collector(bed.tmp_path)
    sensor, sender, frames = live(bed, bundled, count, 500, "127.0.0.1:5600")
    sender.go()
    testbed.wait_for(lambda: written(collector) > 500, "frames", 60)
    collector.kill_all()
    collector = bed.collector(bed.tmp_path)
    testbed.wait_for(lambda: written(collector) > 500, "frames", 60)
    assert sender.played() == count
    status, said = sensor.finish()
    assert status == 0, said
    is_over(collector)
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert_lost(stats, count)
    assert stats["earlier"] > 500
    got = [f for p in sorted(bed.tmp_path.glob("saluki_*.pcapng")) for f in captures.frames(p)]
    assert len(got) == stats["earlier"] + stats["written"]
    assert part_of([f._replace(data=f.data[:192]) for f in frames], got)


@pytest.mark.long
def test_keys_are_renewed(bed, bundled):
    """Each session is announced before it begins: no frame is lost."""
    allow(bed, "lib")
    count = 9000
    collector = bed.collector()
    relay = bed.relay()
    relay("down cut", f"record {bed.tmp_path / 'recording'}")
    sensor, sender, frames = live(bed, bundled, count, 300, relay.address, ["--renew", "5"])
    assert sender.play() == count
    status, said = sensor.finish()
    assert status == 0, said
    is_over(collector)
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert_lost(stats, count)
    assert stats["lost_missing"] == 0
    assert_same(frames, captures.frames(bed.out), stamps=False)
    assert collector.stats()["sessions"] >= 2 and stats["runs"] == 1
    relay("record")
    assert len({r.port for r in recorded(bed.tmp_path / "recording")}) >= 2


def test_recordings(bed, bundled):
    """Recordings have no effect at once, at a restarted collector, or at one whose clock was set
    back."""
    allow(bed, "lib")
    clock = bed.clock()
    record = bed.tmp_path / "recording"
    collector = bed.collector(bed.tmp_path, env=clock.env)
    relay = bed.relay()
    relay(f"record {record}")
    for _ in range(2):  # one after the other, each in its own slots
        status, said = bed.reader("lib", bundled, to=relay.address, options=ONE_WAY).finish(signo=None)
        assert status == 0, said
    is_over(collector)
    relay("record")

    def replayed():
        had = collector.stats()["datagrams"] if collector.stats_file.exists() else 0
        count = relay.replay(record)
        testbed.wait_for(lambda: collector.stats_file.exists() and
                         collector.stats()["datagrams"] >= had + count, "all of it", 60)
        return collector.stats()

    assert replayed()["sessions"] == 2
    assert collector.sensor_stats("lib")["written"] == 2 * 1171
    for seconds in (1, -100, -3600):
        assert collector.finish()[0] == 0
        clock.move(seconds)
        collector = bed.collector(bed.tmp_path, env=clock.env)
        stats = replayed()
        assert stats["sessions"] == stats["announcements"] == 0, stats
        assert written(collector) == 0
    assert collector.finish()[0] == 0
    got = [f for p in sorted(bed.tmp_path.glob("saluki_*.pcapng")) for f in captures.frames(p)]
    assert len(got) == 2 * 1171


def test_who_is_not_listed_so(bed, bundled):
    """A one-way session needs the mark in the list: a thief of the collector's key could claim to
    be such a sensor."""
    collector = bed.collector()
    status, said = bed.reader("lib", bundled, options=ONE_WAY).finish(signo=None)
    assert status == 0, said
    collector.expect("sensor lib: has --one-way, and its line in --sensors does not say so")
    status, said = collector.finish()
    assert status == 0 and said.count("does not say so") == 1
    assert collector.stats()["sessions"] == 0 and not list(captures.frames(bed.out))


def test_a_listed_one_may_go_both_ways(bed, bundled):
    allow(bed, "lib")
    collector = bed.collector()
    for options in ([], ONE_WAY, []):
        status, said = bed.reader("lib", bundled, options=options).finish(signo=None)
        assert status == 0, said
        is_over(collector)
    assert collector.finish()[0] == 0
    assert len(list(captures.frames(bed.out))) == 3 * 1171


def test_it_needs_a_clock(bed, bundled):
    clock = bed.clock(-int(time.time()) + 1000)
    status, said = bed.reader("lib", bundled, options=ONE_WAY, env=clock.env).finish(signo=None)
    assert status == 1 and "clock is not set" in said


def test_padded(bed, bundled):
    allow(bed, "lib")
    collector = bed.collector()
    relay = bed.relay()
    relay("down cut", f"record {bed.tmp_path / 'recording'}")
    status, said = bed.reader("lib", bundled, to=relay.address,
                              options=[*ONE_WAY, "--pad"]).finish(signo=None)
    assert status == 0, said
    is_over(collector)
    relay("record")
    assert collector.finish()[0] == 0
    assert_same(captures.frames(bundled), captures.frames(bed.out))
    assert {len(r.data) for r in recorded(bed.tmp_path / "recording")} == {1232}


def test_path_mtu_below_all_datagrams(bed, bundled):
    """Datagrams that our own interface refused do not count as sent, or as delivered."""
    allow(bed, "lib")
    bed.ns.run("ip", "link", "set", "lo", "mtu", "1200")
    collector = bed.collector()
    status, said = bed.reader("lib", bundled, options=ONE_WAY).finish(signo=None)
    assert status == 1 and said.count("path MTU") == 1, said
    assert "did not take all frames before the end; dropped_store 1171" in said
    assert collector.finish()[0] == 0
    assert not collector.sensor_stats("lib"), "handshake messages are as long as the longest datagrams"


def test_a_collector_without_state(bed):
    """A collector on a pipe needs --state with one-way sensors: with its clock set back it could
    not tell recorded sessions from new ones."""
    allow(bed, "lib")
    read_end, write_end = os.pipe()
    collector = bed.collector(write="-", stdout=write_end, ready="takes a state file; add --state")
    assert collector.finish(signo=None)[0] == 1
    collector = bed.collector(write="-", stdout=write_end,
                              options=["--state", bed.tmp_path / "state"])
    assert collector.finish()[0] == 0
    os.close(read_end)
    os.close(write_end)
