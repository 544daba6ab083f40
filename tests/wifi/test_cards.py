# SPDX-License-Identifier: GPL-2.0
"""Cards: all of a card's channels, with nl80211 and without; one channel that goes deaf; two
interfaces of one radio."""
import collections
import errno
import itertools
import json
import re
import statistics

import pytest

from wifi.outcome import ACK
from wifi.test_sampling import APART_NS, assert_heard_within_dwells
from wifi.topology import (WHOLE, AccessPoint, Await, Card, Command, Frames, Reach, Sensor, Station,
                           Topology, frequency)


# ---- all channels ----------------------------------------------------------------------------------

# In the US no device may be the first to send on channels of 6 GHz, and 12 to 14 are closed.
ALL = Topology(
    country="US",
    access_points=(AccessPoint("one", 1), AccessPoint("high", 36)),
    stations=(Station("a", "one"), Station("c", "high")),
    traffic=((Card("channels", "mon"),),
             (Frames("a", "one", 400, rate=80), Frames("c", "high", 400, rate=80))),
    sensors=(Sensor("every", f"-i mon --channels 36x10,all,1x10 --dwell 30ms {WHOLE}"),
             Sensor("old", f"-i mono --channels all@40ms --strategy proportional {WHOLE}",
                    lacks="nl80211")))
NAMED = {frequency(1), frequency(36)}


def card(air):
    """{MHz: iw's text for that channel}, in its order, without 900 MHz."""
    found = {}
    for line in air.said_by("channels"):
        match = re.match(r"\* (\d+) MHz ", line)
        if match:
            found[int(match[1])] = its = []
        if found:
            its.append(line)
    return {f: " ".join(lines) for f, lines in found.items() if f > 1000}


def open_channels(air):
    return [f for f, said in card(air).items() if "(disabled)" not in said]


def assert_in_turn(visited, channels):
    """All of them again and again, none left out."""
    follows = dict(zip(channels, [*channels[1:], channels[0]]))
    assert set(visited) == set(channels) and len(visited) > 2 * len(channels)
    assert all(b == follows[a] for a, b in zip(visited, visited[1:]))


@pytest.mark.topology(ALL)
def test_all_is_what_the_card_may_listen_to(air):
    """"all" leaves out closed channels, and listens on those where it must not send first."""
    all_of_it, allowed = card(air), open_channels(air)
    closed = all_of_it.keys() - set(allowed)
    assert {frequency(c) for c in (12, 13, 14)} <= closed
    silent = [f for f in allowed if "No IR" in all_of_it[f]]
    assert frequency(5, "6") in silent and frequency(1) not in silent
    radar = [f for f in allowed if "Radar detection" in all_of_it[f]]
    assert frequency(52) in radar
    dwells = air.dwells("every", "mon")
    assert_in_turn([d.mhz for d in dwells],
                   [frequency(36), *(f for f in allowed if f not in NAMED), frequency(1)])
    assert not any(d.error or d.width != 20 for d in dwells)


@pytest.mark.topology(ALL)
def test_coverage_tells_of_each_channel(air):
    dwells, coverage = air.dwells("every", "mon"), air.coverage("every", "mon")
    assert len(coverage) == len(open_channels(air))
    heard, listened = collections.Counter(), collections.Counter()
    for d in dwells:
        heard[d.channel] += d.frames
        listened[d.channel] += d.to_ns - d.from_ns
    assert {c: v["frames"] for c, v in coverage.items()} == {c: heard[c] for c in coverage}
    assert heard["1"] > 5 and heard["36"] > 5
    assert {d.mhz for d in dwells if d.frames} <= {a.mhz for a in air.truth()}
    whole = dwells[-1].to_ns - dwells[0].from_ns
    assert all(v["share"] == pytest.approx(listened[c] / whole, abs=1e-5) for c, v in coverage.items())
    shares = {c: v["share"] for c, v in coverage.items()}
    assert min(shares["1"], shares["36"]) > 5 * statistics.median(shares.values())


@pytest.mark.topology(ALL)
def test_by_wireless_extensions_all_is_32_channels(air):
    """With wireless extensions, "all" is 32 channels: the kernel reports no more
    (IW_MAX_FREQUENCIES)."""
    assert_in_turn([d.mhz for d in air.dwells("old", "mono")], open_channels(air)[:32])
    air.assert_balanced("old", len(air.heard("old", "mono")))


@pytest.mark.topology(ALL)
def test_too_many_channels_to_follow_the_traffic(air):
    """With too many channels the floors use up the whole cycle: this is logged, once."""
    said, = (s for s in air.said_by("old") if "--floor" in s)
    assert said.endswith(": mono: 32 channels of --floor 5 leave nothing to --strategy proportional")


# ---- deaf, and without nl80211 -----------------------------------------------------------------------

DEAF = Topology(
    access_points=(AccessPoint("one", 1), AccessPoint("eleven", 11)),
    stations=(Station("b", "eleven"),),
    traffic=((Reach("far", 3), Reach("mono", 3)),
             (Frames("b", "eleven", 200, rate=100),),
             (Reach("eleven", 2), Reach("b", 2)),
             (Await("hall", "mon: channel 11: heard nothing"),),
             (Command("then", "saluki status -i mon --json"),
              Command("far-then", "saluki status -i far --json")),
             (Reach("eleven", 1), Reach("b", 1)),
             (Await("hall", "mon: channel 11: hears frames"),),
             (Command("again", "saluki status -i mon --json"),)),
    sensors=(Sensor("hall", f"-i mon --channels 1,11 -i far --channels 1,11 --deaf-after 2 {WHOLE}"),
             Sensor("old", f"-i mono --channels 1,11/40-,6g:5@50ms,11 {WHOLE}", lacks="nl80211")))


def is_deaf(air, command, interface):
    told = json.loads("\n".join(air.said_by(command)[:-1]))["interfaces"]
    its, = (i for i in told if i["interface"] == interface)
    return its["plan"]["deaf"]


@pytest.mark.topology(DEAF)
def test_a_channel_that_one_card_does_not_hear_any_more(air):
    """Deafness of one card on one channel is logged once, and so is its end."""
    lines = air.said.splitlines()
    begins, ends = (next(n for n, line in enumerate(lines) if step in line)
                    for step in (" reach eleven 2", " stop TERM b"))
    said = [line for line in lines[begins:ends] if line.startswith("hall: ") and "hear" in line]
    assert said == [
        "hall: saluki: mon: channel 11: heard nothing in 2 s of listening, and did before",
        "hall: saluki: mon: channel 11: hears frames again"]
    assert is_deaf(air, "then", "mon") and not is_deaf(air, "far-then", "far")
    assert not is_deaf(air, "again", "mon")


@pytest.mark.topology(DEAF)
def test_it_was_deaf_while_there_was_something_to_hear(air):
    """The other card received frames there, and this one did on its other channel."""
    times = [a.time_ns for a in air.truth() if a.mhz == frequency(11) and a.frame[0] != ACK]

    def dwells(interface, channel):
        return [d for d in air.dwells("hall", interface) if d.channel == channel]

    missed = [d for d in dwells("mon", "11") if not d.frames and
              any(d.from_ns + APART_NS < t < d.to_ns - APART_NS for t in times)]
    assert sum(d.to_ns - d.from_ns for d in missed) > 1.5e9
    for interface, channel in ("far", "11"), ("mon", "1"):
        meanwhile = [d for d in dwells(interface, channel)
                     if missed[0].from_ns < d.from_ns and d.to_ns < missed[-1].to_ns]
        assert len(meanwhile) > 3 and all(d.frames for d in meanwhile)


@pytest.mark.topology(DEAF)
def test_by_wireless_extensions_channels_are_sampled(air):
    """Wireless extensions sample channels and receive their frames. An unknown width is refused,
    and logged once."""
    dwells = air.dwells("old", "mono")
    refused = [d for d in dwells if d.error]
    good = [d.mhz for d in dwells if not d.error]
    assert len(refused) > 3 and {(d.channel, d.error) for d in refused} == {
        ("11/40-", errno.EPROTONOSUPPORT)}
    assert_in_turn([f for f, _ in itertools.groupby(good)],
                   [frequency(1), frequency(5, "6"), frequency(11)])
    assert len([s for s in air.said_by("old") if "cannot set channel 11/40-: its driver has wireless "
                "extensions alone, which know channels of 20 MHz" in s]) == 1
    assert_heard_within_dwells(air, "old", "mono", 50)
    air.assert_balanced("old", len(air.heard("old", "mono")))


# ---- two interfaces of one radio -------------------------------------------------------------------

def in_vain(name, options):
    """It ends when it reads its key, after it has begun to capture."""
    return Command(name, f"saluki run --to 127.0.0.1:1 --key /dev/null --source mmap {options}")


TOO_MANY = (in_vain("both", "-i bell --channels 1,6 -i third --channels 1,6"),
            in_vain("fixed", "-i bell --channel 1 -i third --channels 1,6"),
            in_vain("ordered", "-i bell -i third --allow-control channels"))
# One command in each round: two on the same interface would find it locked.
SHARED = Topology(
    traffic=tuple((row,) for row in (
        Command("makes", "iw dev mon interface add second type monitor"),
        Command("makes-too", "iw dev bell interface add third type monitor"),
        Command("ups", "ip link set second up"), Command("ups-too", "ip link set third up"),
        Command("listed", "iw dev"),
        in_vain("sampled", "-i second --channels 1,6"),
        in_vain("steered", "-i second --allow-control channels"),
        *TOO_MANY,
        in_vain("same", "-i bell --channel 6 -i third --channel 6"))),
    sensors=(Sensor("hall", f"-i mon --channels 1,6 {WHOLE}"),),
    after=(in_vain("later", "-i second --channels 1,6"), Command("left", "ls /run/saluki")))


def phy(air, interface):
    """From iw's list: phy#3, and its interfaces below."""
    said = air.said_by("listed")
    at = said.index(f"Interface {interface}")
    return next(s for s in reversed(said[:at]) if s.startswith("phy#")).replace("#", "")


@pytest.mark.topology(SHARED)
@pytest.mark.parametrize("command", [c.name for c in TOO_MANY])
def test_one_radio_is_not_sampled_for_two_interfaces(air, command):
    """One radio is not sampled for two interfaces: this is reported before any capture, and is the
    only message."""
    assert air.said_by(command) == [
        f"saluki: bell and third are interfaces of one radio, {phy(air, 'bell')}, which is on one channel "
        "at a time: give channels to one of them", "ended 1"]


@pytest.mark.topology(SHARED)
@pytest.mark.parametrize("command", ["sampled", "steered"])
def test_one_radio_is_not_sampled_by_two_runs(air, command):
    line, end = air.said_by(command)
    assert re.fullmatch(rf"saluki: {phy(air, 'mon')}: another saluki changes its channels, process \d+; "
                        r"stop it first \('fuser -v /run/saluki/\d+\.phy\d+\.radio' shows it\)", line)
    assert end == "ended 1"
    assert phy(air, "mon") == phy(air, "second")


@pytest.mark.topology(SHARED)
def test_where_they_do_not_quarrel_both_are_captured(air):
    """On one channel, or after the other run has ended, both are captured; no lock is left."""
    for command, interfaces in ("same", ("bell", "third")), ("later", ("second",)):
        said = air.said_by(command)
        for i in interfaces:
            assert any(s.startswith(f"saluki: {i}: capturing by") for s in said), said
    assert not any(".radio" in s for s in air.said_by("left"))
