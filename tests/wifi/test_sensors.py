# SPDX-License-Identifier: GPL-2.0
"""Sensors write the frames that were on the air by hwsim0."""
import json

import pytest

from wifi import topology
from wifi.topology import WHOLE, AccessPoint, Command, Frames, Pings, Sensor, Station, Topology

THREE = Topology(
    access_points=(AccessPoint("one", 1), AccessPoint("six", 6, "wpa2"),
                   AccessPoint("high", 36, "wpa3")),
    stations=(Station("a", "one"), Station("b", "six"), Station("c", "high")),
    traffic=((Frames("a", "one", 40), Frames("b", "six", 60), Frames("high", "c", 80)),
             (Pings("b", 10), Pings("c", 10)),
             (Command("told", "saluki status -i mon6 --json"),)),
    sensors=(Sensor("library", f"-i mon1 --channel 1 {WHOLE}"),
             Sensor("hall", f"-i mon6 --channel 6 {WHOLE}"),
             Sensor("roof", f"-i mon36 --channel 36 -i mon2 --channel 2 {WHOLE}")))


def sent_on(channel):
    """The number of numbered frames; other frames, as beacons, depend on the test's duration."""
    return sum(row.count for row in THREE.traffic[0] for a in THREE.access_points
               if a.channel == channel and a.name in (row.by, row.to))


@pytest.mark.topology(THREE)
@pytest.mark.parametrize("sensor", THREE.sensors, ids=lambda s: s.name)
def test_a_sensor_hears_its_channels_alone(air, sensor):
    """A sensor receives every frame on its channels and none of another, in order, from the first
    mark to the last."""
    frames = 0
    for interface, channel in zip(sensor.interfaces(), sensor.channels()):
        want = air.hearable(channel)
        assert b"mark begin" in want[0] and b"mark end" in want[-1]
        # Next to channel 1, with much traffic, no frame was received.
        assert len(want) == 2 if channel == 2 else len(want) > 2 + sent_on(channel) > 2
        assert air.heard(sensor.name, interface) == want
        frames += len(want)
    air.assert_balanced(sensor.name, frames)


@pytest.mark.topology(THREE)
def test_what_was_sent_was_on_the_air(air):
    """The traffic itself was on the air: numbered frames on an open network, and answered pings."""
    sent = [f.data[14:] for f in topology.numbered(THREE, THREE.traffic[0][0])]
    assert [f[-200:] for f in air.hearable(1) if f[-200:] in sent] == sent
    assert air.pings("b") == air.pings("c") == 10


@pytest.mark.topology(THREE)
def test_it_tells_its_channel(air):
    told = "\n".join(air.said_by("told")[:-1])
    assert json.loads(told)["interfaces"][0]["channel"] == 6
