# SPDX-License-Identifier: GPL-2.0
"""Sessions with preshared keys, several collectors, and their own ports, end to end. test_export.py
has bad networks and clocks, tests/unit/test_session.c every step."""
import copy

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.live import long_trace
from netns.relay import recorded
from netns.test_pipeline import as_seen
from reference import captures

FIRST, SECOND = "127.0.0.1:5600", "127.0.0.1:5601"


def psk():
    return testbed.saluki("genpsk", check=True).stdout.strip()


def share(bed, name, sensors, collectors):
    """Gives a sensor its own preshared key, and the collector's line for it."""
    key = bed.keys.sensor(name)
    lines = key.read_text().splitlines()
    public = testbed.saluki("pubkey", input=lines[0] + "\n", check=True).stdout.strip()
    if sensors:
        key.write_text("\n".join([*lines, f"preshared {sensors}"]) + "\n")
    text = bed.keys.sensors.read_text()
    assert public in text
    if collectors:
        bed.keys.sensors.write_text(text.replace(public, f"{public} {collectors}"))


def test_preshared_keys(bed, bundled):
    one, other = psk(), psk()
    assert one != other
    share(bed, "lib", one, one)
    share(bed, "two", one, other)
    share(bed, "room-0", None, one)
    share(bed, "room-1", one, None)
    collector = bed.collector()
    readers = {name: bed.reader(name, bundled) for name in ("lib", "two", "room-0", "room-1")}
    for name, reader in readers.items():
        status, said = reader.finish(signo=None)
        assert status == (0 if name == "lib" else 1), (name, said)
        assert ("gave no session" in said) == (name != "lib")
    assert collector.finish()[0] == 0
    assert_same(captures.frames(bundled), captures.frames(bed.out))
    assert_balanced(collector.sensor_stats("lib"), 1171)


def test_keys_that_do_not_go_with_collectors(bed, bundled):
    key = bed.keys.sensor("lib")
    key.write_text(key.read_text() + bed.keys.collector_public + "\n")
    status, said = bed.reader("lib", bundled).finish(signo=None)
    assert status == 1
    assert "--key has public keys of 2 collectors, but --to is given 1 times" in said


# ---- several collectors ----------------------------------------------------------------------------


def collector_at(bed, listen, write, **kwargs):
    """One of several collectors, with its own files."""
    keys = copy.copy(bed.keys)
    keys.directory = bed.tmp_path / write
    keys.directory.mkdir()
    c = testbed.Collector(bed.ns, keys, keys.directory / "out.pcapng", listen=listen, **kwargs)
    c.out = keys.directory / "out.pcapng"
    bed.stack.callback(c.kill)
    return c


def test_each_collector_has_its_own_fault(bed, bundled):
    """Three collectors have three faults: each is logged once when found and once at the end, with
    the right address."""
    third = "10.99.0.1:5602"
    collector_at(bed, FIRST, "first")
    reader = bed.reader("late", bundled, to=FIRST, options=["--to", SECOND, "--to", third])
    status, said = reader.finish(signo=None)
    assert status == 1
    assert "collectors: did not take all frames before the end; dropped_store 1171" in said
    faults = {FIRST: "it answers, but sets no session up; ", SECOND: "nothing listens there; ",
              third: "no route there at present: Network is unreachable; "}
    for at, fault in faults.items():
        assert f"collector {at}: gave no session: {fault}" in said, said
    for at, after in ((FIRST, SECOND), (SECOND, third)):
        line = next(l for l in said.splitlines() if f"Trying collector {after}" in l)
        assert f"collector {at}: {faults[at]}" in line, said
    assert "no answer" not in said, said


def test_a_fault_at_the_first_is_said_where_the_second_is_good(bed, bundled):
    collector_at(bed, FIRST, "first")
    key = bed.keys.sensor("late")  # the first has read its list by now
    second = collector_at(bed, SECOND, "second")
    status, said = bed.reader("late", bundled, key=key, options=["--to", SECOND]).finish(signo=None)
    assert status == 0 and second.finish()[0] == 0
    line = next(l for l in said.splitlines() if f"Trying collector {SECOND}" in l)
    assert f"collector {FIRST}: it answers, but sets no session up; " in line, said
    assert f"collector {SECOND}: connected; it did not answer before" in said


def part(collector):
    """Its share of the run: the first and the last number."""
    stats = collector.sensor_stats("lib")
    return stats["earlier"], stats["earlier"] + stats["written"]


def writes(collector):
    return lambda: (collector.sensor_stats("lib") or {}).get("written", 0) > 0


@pytest.mark.long
def test_another_collector_and_back(bed):
    """The first collector dies and returns; no frame between the two is missing."""
    path, frames = long_trace(bed, 16)
    first, second = collector_at(bed, FIRST, "first"), collector_at(bed, SECOND, "second")
    player = bed.tun("mon0", 803, path, ["--rate", "400"])
    sensor = bed.sensor("lib", "mon0", options=["--to", SECOND])
    player.go()
    testbed.wait_for(writes(first), "the first", 20)
    first.kill_all()
    said = sensor.expect(f"Trying collector {SECOND}", 30)
    assert f"collector {FIRST}: nothing listens there; " in said, said
    testbed.wait_for(writes(second), "the second", 20)
    again = collector_at(bed, FIRST, "again")
    sensor.expect(f"collector {FIRST}: connected; it did not answer before", 60)
    testbed.wait_for(writes(again), "the first again", 20)
    assert player.played() == len(frames)
    status, said = sensor.finish()
    assert status == 0, said
    assert again.finish()[0] == 0 and second.finish()[0] == 0
    seen = as_seen(frames)
    at = len(list(captures.frames(bed.tmp_path / "first/out.pcapng")))
    assert_same(seen[:at], captures.frames(bed.tmp_path / "first/out.pcapng"), stamps=False)
    for c in (second, again):
        begin, end = part(c)
        assert begin <= at < end
        assert_same(seen[begin:end], captures.frames(c.out), stamps=False)
        at = end
    assert at == len(frames)


@pytest.mark.parametrize("options", [[], ["--pad"]])
def test_datagrams_of_a_session_have_its_port(bed, bundled, options):
    """No two handshakes, and no two sessions, come from one port."""
    ports = set()
    for _ in range(3):
        collector = bed.collector()
        relay = bed.relay()
        record = bed.tmp_path / "recording"
        relay(f"record {record}")
        status, said = bed.reader("lib", bundled, to=relay.address, options=options).finish(
            signo=None)
        assert status == 0, said
        relay("record")
        seen = list(recorded(record))
        assert {r.port for r in seen}.isdisjoint(ports)
        ports |= {r.port for r in seen}
        assert not options or {len(r.data) for r in seen} == {1232}
        relay.close()
        assert collector.finish()[0] == 0
        record.unlink()


def test_by_ipv6(bed, bundled):
    """IPv6 works, without flow labels, which would identify a sensor's datagrams."""
    bed.ns.run("sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/lo/disable_ipv6; "
               "echo 1 > /proc/sys/net/ipv6/auto_flowlabels")
    bed.ns.run("ip", "addr", "add", "::1/128", "dev", "lo", check=False, capture_output=True)
    collector = bed.collector(listen="[::1]:5600")
    seen = testbed.Process(bed.ns, ["tcpdump", "-i", "lo", "-n", "-U", "--immediate-mode", "-w",
                                    bed.tmp_path / "lo.pcap", "udp dst port 5600"], "listening on")
    bed.stack.callback(seen.kill)
    reader = bed.reader("lib", bundled, to="[::1]:5600", options=["--to", "127.0.0.1:5601"])
    status, said = reader.finish(signo=None)
    assert status == 0, said
    assert collector.finish()[0] == 0
    assert_same(captures.frames(bundled), captures.frames(bed.out))
    seen.finish()
    headers = [f.data[14:18] for f in captures.frames(bed.tmp_path / "lo.pcap")]
    assert headers and set(headers) == {b"\x60\0\0\0"}


def test_round_trip_and_clock_are_recorded(bed, bundled):
    clock = bed.clock("-45")
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", env=clock.env)
    player.play()

    def told():
        stats = collector.sensor_stats("lib")
        return stats if stats and stats["round_trip_us"] else None
    stats = testbed.wait_for(told, "the probes' measurement", 60)
    assert stats["ahead_us"] == 0 and abs(stats["behind_us"] - 45e6) < 1e6
    assert stats["round_trip_us"] < 1e6
    assert sensor.finish()[0] == 0 and collector.finish()[0] == 0
    assert b", clock 4" in bed.out.read_bytes() and b" us behind" in bed.out.read_bytes()
