# SPDX-License-Identifier: GPL-2.0
"""A group of two sensors over two channels: together they hear both; focused they are on one. Also
a sensor with two cards in a group, and a card's refusals."""
import collections
import json
import statistics

import pytest

from wifi import figures, topology
from wifi.outcome import ACK
from wifi.topology import (ETHERTYPE, WHOLE, AccessPoint, Await, Command, Frames, Sensor, Shout,
                           Station, Topology, frequency)

SECOND = 10**9
REFOCUS_S = 3
FOCUSED = (11, 3, 9, 13, 4)  # not in the plan, so that each is a change
OPTIONS = f"--allow-control channels {WHOLE}"
LOADED = Frames("a", "one", 600, rate=150), Frames("b", "six", 600, rate=150)


def _focus(n, channel):
    return Command(f"focus-{n}", "env LD_PRELOAD=/bin/asks_at.so saluki-collector ctl focus "
                                 f"--group lib --channel {channel} --for 500ms"),


PAIR = Topology(
    access_points=(AccessPoint("one", 1), AccessPoint("six", 6)),
    stations=(Station("a", "one"), Station("b", "six")),
    sensors=(Sensor("left", f"-i monl {OPTIONS}", group="lib"),
             Sensor("right", f"-i monr {OPTIONS}", group="lib")),
    groups=("group lib channels 1,6 dwell 250ms",
            f"refocus lib for {REFOCUS_S}s wlan type mgt subtype deauth and wlan addr2 "
            + topology.MARK_SENDER.hex(":")),
    traffic=((Await("left", "share 0/2"), Await("right", "share 1/2")),
             LOADED,
             *(_focus(n, c) for n, c in enumerate(FOCUSED)),
             (Frames("one", "a", 200),),  # until the last focus is over
             (Shout("shouted", 6), Frames("one", "a", 800, rate=200))))
RADIOS = [(s.name, s.interfaces()[0]) for s in PAIR.sensors]


def on_air(air, rows):
    """The frames on both channels by hwsim0, from the first of these frames to the last."""
    senders = {PAIR.mac(r.by) for r in rows}
    truth = [t for t in air.truth() if t.mhz in (frequency(1), frequency(6)) and t.frame[0] != ACK]
    times = [t.time_ns for t in truth if t.frame[10:16] in senders and ETHERTYPE in t.frame]
    assert times[-1] - times[0] > 3 * SECOND
    return [t.frame for t in truth if times[0] <= t.time_ns <= times[-1]]


@pytest.mark.topology(PAIR)
def test_coordinated_sensors_hear_both_channels(air):
    truth = collections.Counter(on_air(air, LOADED))
    heard = [collections.Counter(air.heard(*r)) for r in RADIOS]
    alone = [(truth & h).total() / truth.total() for h in heard]
    share = (truth & (heard[0] + heard[1])).total() / truth.total()
    figures.tell(coordinated_share=share)
    assert truth.total() > 1200 and share >= 0.95
    assert all(0.4 < a < 0.6 for a in alone), alone  # neither of them has all of it


@pytest.mark.topology(PAIR)
def test_a_focus_takes_effect(air):
    took = []
    for n, channel in enumerate(FOCUSED):
        when, *said = air.said_by(f"focus-{n}")
        assert sorted(said) == [
            "2 of 2 sensors have done it", "ended 0",
            *(f"{s}: focus {channel} 500" for s in ("left", "right"))]
        begins = [next(d.from_ns for d in air.dwells(*r) if d.mhz == frequency(channel) and not d.error)
                  for r in RADIOS]
        took.append((max(begins) - int(when)) / 1e6)
    print("each:", *(f"{t:.0f}" for t in took))
    figures.tell(focus_ms=statistics.median(took))
    assert min(took) > 0 and statistics.median(took) <= 300


def stretches(dwells):
    """(MHz, from, to): parts, or dwells in a row on the same channel, are one."""
    found = []
    for d in dwells:
        if found and found[-1][0] == d.mhz:
            found[-1][2] = d.to_ns
        else:
            found.append([d.mhz, d.from_ns, d.to_ns])
    return found


@pytest.mark.topology(PAIR)
def test_a_frame_refocuses_both(air):
    """Soon after the frame both are on its channel for a while, and then sample again."""
    begins, = (t.time_ns for t in air.truth()
               if t.frame[0] == 0xc0 and t.frame[10:16] == topology.MARK_SENDER)
    for radio in RADIOS:
        after = [x for x in stretches(air.dwells(*radio)) if x[2] > begins]
        mhz, since, to = max(after, key=lambda x: x[2] - x[1])
        assert mhz == frequency(6)
        # The frame waits in its combo for a second at most, and the stretch may have begun before.
        assert since < begins + 2.5 * SECOND
        assert -0.1 <= (to - since) / SECOND - REFOCUS_S <= 1.5
        assert {x[0] for x in after if x[1] >= to} == {frequency(1), frequency(6)}
    said = "\n".join(air.said_by("collector"))
    assert f"group lib: to channel 6 for {REFOCUS_S} s, by a frame that sensor" in said


# ---- a card's refusals, and two cards ----------------------------------------------------------------

CTL = "saluki-collector ctl"
CARDS = Topology(
    access_points=(AccessPoint("one", 1),),
    stations=(Station("a", "one"),),
    sensors=(Sensor("left", f"-i monl --channels 1,6 {OPTIONS}", group="lib"),
             Sensor("both", f"-i ra --channels 1 -i rb --channels 6 {OPTIONS}", group="hall")),
    groups=("group lib", "group hall channels 1,6 dwell 250ms"),
    traffic=((Await("both", "share 0/1"),),
             (Command("list", f"{CTL} left set channels 14"),),
             (Command("focus", f"{CTL} focus --group lib --channel 14 --for 3s"),),
             (Command("before", "saluki status -i monl --json"),),
             (Command("some", f"{CTL} left set channels 14,6"),),
             (Command("after", "saluki status -i monl --json"),),
             (Frames("a", "one", 600, rate=150),)))


def plan(air, command):
    told, = json.loads("\n".join(air.said_by(command)[:-1]))["interfaces"]
    return {key: told["plan"][key] for key in ("channels", "by", "list", "focused")}


@pytest.mark.topology(CARDS)
def test_what_the_card_refuses_is_not_done(air):
    refused = ("monl: cannot set channel 14: the card does not have this channel, or the country's rules "
               "forbid it ('iw phy' lists them)")
    said, ended = air.said_by("list")
    assert refused in said and ended == "ended 1"
    said = air.said_by("focus")
    assert any(refused in line for line in said) and said[-1] == "ended 1"
    assert any("0 of 1 sensors have done it" in line for line in said)
    assert plan(air, "before") == {"channels": 2, "by": "options", "list": "1,6", "focused": False}


@pytest.mark.topology(CARDS)
def test_a_list_of_which_the_card_has_some_is_sampled(air):
    assert air.said_by("some")[-1] == "ended 0"
    assert plan(air, "after") == {"channels": 2, "by": "collector", "list": None, "focused": False}
    assert {d.mhz for d in air.dwells("left", "monl")[-3:] if not d.error} == {frequency(6)}


@pytest.mark.topology(CARDS)
def test_two_cards_of_a_sensor_are_on_two_channels(air):
    since = min(t.time_ns for t in air.truth() if ETHERTYPE in t.frame)
    cards = [[d for d in air.dwells("both", i) if d.to_ns > since] for i in ("ra", "rb")]
    listened = sum(d.to_ns - d.from_ns for d in cards[0])
    same = sum(max(0, min(a.to_ns, b.to_ns) - max(a.from_ns, b.from_ns))
               for a in cards[0] for b in cards[1] if a.mhz == b.mhz)
    assert listened > 3 * SECOND and {d.mhz for d in cards[0]} == {frequency(1), frequency(6)}
    assert same / listened <= 0.05
