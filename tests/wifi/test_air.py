# SPDX-License-Identifier: GPL-2.0
"""The test bed itself: every kind of access point comes up as configured, and its station passes
traffic over the air."""
import struct

import pytest

from wifi.topology import AccessPoint, Pings, Station, Topology

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

BEACON, PROBE_RESPONSE, AUTHENTICATION, PROTECTED = 0x80, 0x50, 0xb0, 0x40
OPEN_SYSTEM, SAE = 0, 3


def is_data(frame):
    return frame[0] & 0x0c == 0x08


@pytest.mark.topology(ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_station_joins_and_is_answered(air, kind):
    a = KINDS[kind]
    assert air.pings(f"at-{a.name}") == PINGS
    station, network = ALL.mac(f"at-{a.name}"), ALL.mac(a.name)
    between = [f for f in air.hearable(a.channel, a.band)
               if len(f) >= 24 and {f[4:10], f[10:16]} == {station, network}]
    ways = {struct.unpack_from("<H", f, 24)[0] for f in between if f[0] == AUTHENTICATION}
    assert ways == {SAE if a.security == "wpa3" else OPEN_SYSTEM}
    protected = sum(1 for f in between if is_data(f) and f[1] & PROTECTED)
    assert protected == 0 if a.security == "open" else protected >= 2 * PINGS


@pytest.mark.topology(ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hidden_network_is_named_only_when_asked_for(air, kind):
    a = KINDS[kind]
    sent = [f for f in air.hearable(a.channel, a.band) if f[10:16] == ALL.mac(a.name)]
    beacons = [f for f in sent if f[0] == BEACON]
    assert len(beacons) > 10
    assert all((a.name.encode() in f) != a.hidden for f in beacons)
    assert any(a.name.encode() in f for f in sent if f[0] == PROBE_RESPONSE)
