# SPDX-License-Identifier: GPL-2.0
"""Radios that other programs tune, rename, or keep busy during a capture: no channel's coverage has
time in which its radio was elsewhere."""
import errno

import pytest

from wifi.topology import (WHOLE, AccessPoint, Await, Command, Frames, Sensor, Station, Topology)

ON_AIR = {"access_points": (AccessPoint("one", 1), AccessPoint("six", 6)),
          "stations": (Station("a", "one"), Station("b", "six"))}
TRAFFIC = (Frames("a", "one", 30), Frames("b", "six", 30))

# ---- tuned by others -------------------------------------------------------------------------------

OUTSIDE = Topology(
    **ON_AIR,
    traffic=(TRAFFIC,
             (Command("outside", "iw dev still set channel 6"),),
             TRAFFIC,
             (Await("sits", "something else has tuned"),),
             (Command("now", "iw dev still info"),),
             TRAFFIC),
    sensors=(Sensor("sits", f"-i still --channel 1 {WHOLE}"),))


@pytest.mark.topology(OUTSIDE)
def test_a_radio_that_others_tune_is_set_back(air):
    said = [line for line in air.said_by("sits") if "something else has tuned" in line]
    assert said == ["saluki: still: was on channel 6 and not on 1: something else has tuned its "
                    "radio; what it heard meanwhile counts for no channel"]
    assert any("channel 1 (2412 MHz)" in line for line in air.said_by("now"))


@pytest.mark.topology(OUTSIDE)
def test_what_it_heard_meanwhile_counts_for_no_channel(air):
    dwells = air.dwells("sits", "still")
    strayed, = (d for d in dwells if d.error)
    assert (strayed.mhz, strayed.error, strayed.frames) == (2412, errno.EXDEV, 0)
    assert strayed.marked >= 30  # of the other channel, at least
    covered = air.coverage("sits", "still")["1"]
    assert covered["failures"] == 1 and 0.1 < covered["share"] < 0.99
    heard = air.heard("sits", "still")
    assert sum(d.frames + d.marked for d in dwells) == len(heard)
    air.assert_balanced("sits", len(heard))


# ---- another name ----------------------------------------------------------------------------------

RENAMED = Topology(
    **ON_AIR,
    traffic=(TRAFFIC,
             (Command("down", "ip link set elk down"),),
             (Command("renamed", "ip link set elk name moose"),),
             (Command("up", "ip link set moose up"),),
             (Await("hops", "elk: disappeared"),),
             (Command("tuned", "iw dev moose set channel 11"),),
             TRAFFIC,
             (Command("where", "iw dev moose info"),)),
    sensors=(Sensor("hops", f"-i elk --channels 1,6@100ms {WHOLE}"),))


@pytest.mark.topology(RENAMED)
def test_an_interface_that_has_another_name_is_left_alone(air):
    assert any("channel 11 (2462 MHz)" in line for line in air.said_by("where"))
    dwells = air.dwells("hops", "elk")
    away = next(n for n, d in enumerate(dwells) if d.error in (errno.ENODEV, errno.ENETDOWN))
    assert away > 5
    assert all(d.error for d in dwells[away:])


# ---- kept busy -------------------------------------------------------------------------------------

BUSY = Topology(
    **ON_AIR,
    traffic=(TRAFFIC,
             (Command("down", "ip link set radiomon down"),),
             (Command("busy", "ip link set radio up"),),
             (Command("up", "ip link set radiomon up"),),
             # Logged first when attaching, and then by the sampler, for which there is a dwell.
             (Await("sole", "cannot set channel 6", lines=2),),
             (Command("free", "ip link set radio down"),),
             TRAFFIC, TRAFFIC,
             (Command("status", "saluki status --json -i radiomon"),)),
    sensors=(Sensor("sole", f"-i radio --monitor --channel 6 {WHOLE}"),))


@pytest.mark.topology(BUSY)
def test_one_channel_that_cannot_be_had_is_tried_again(air):
    assert any('"channel": 6' in line for line in air.said_by("status"))
    dwells = air.dwells("sole", "radiomon")
    refused = max(n for n, d in enumerate(dwells) if d.error)
    assert sum(d.frames for d in dwells[refused:]) > 50
