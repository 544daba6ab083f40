# SPDX-License-Identifier: GPL-2.0
"""The test bed itself: every kind of access point comes up, and its stations pass traffic by air."""
import pytest

from wifi.topology import AccessPoint, Frames, Pings, Station, Topology

KINDS = {
    "open": AccessPoint("cafe", 6),
    "wpa2": AccessPoint("home", 1, "wpa2"),
    "wpa3": AccessPoint("lab", 11, "wpa3"),
    "hidden": AccessPoint("secret", 6, "wpa2", hidden=True),
    "5 GHz": AccessPoint("upstairs", 36, "wpa2"),
    "6 GHz": AccessPoint("newest", 5, "wpa3", band="6"),
}
PINGS = 20
ALL = Topology(
    access_points=tuple(KINDS.values()),
    stations=tuple(Station(f"at-{a.name}", a.name) for a in KINDS.values()),
    traffic=(tuple(Pings(f"at-{a.name}", PINGS) for a in KINDS.values()),))


@pytest.mark.topology(ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_station_joins_and_is_answered(air, kind):
    assert air.pings(f"at-{KINDS[kind].name}") == PINGS
