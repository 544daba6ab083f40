# SPDX-License-Identifier: GPL-2.0
"""The Wi-Fi modules with hostapd and wpa_supplicant on the air: a flood of deauthentications, which
disconnects a station, and an open clone of an encrypted access point."""
import json
import subprocess

import pytest

from bpf.dot11 import leave
from netns.testbed import BUILD
from reference import captures
from wifi.topology import WHOLE, AccessPoint, Command, Frames, Pings, Sensor, Shout, Station, Topology

MODULES = ("airtime", "deauth", "rogueap")
FLOOD = 200


def address(at):
    """Of the radio at this place in a topology's list."""
    return bytes([2, 0, 0, 0, at, 0])


ONE, HOME, STATION = map(address, (0, 2, 3))
TRAFFIC = (Frames("phone", "home", 120, rate=40), Pings("phone", 10))


def topology(frames=(), clones=""):
    """Access points, one of them a clone if `clone` is set; a station; and frames on the air."""
    return Topology(
        access_points=(AccessPoint("one", 1, "wpa2"), AccessPoint("other", 1, clones=clones),
                       AccessPoint("home", 1, "wpa2")),
        stations=(Station("phone", "home"),),
        traffic=(*((Command(f"load-{m}", f"saluki module load -i ear1 /lib/saluki/{m}.o"),) for m in MODULES),
                 TRAFFIC,
                 *([(Shout("flood", 1, tuple(frames)),)] if frames else []),
                 # A disconnected station gets the message again from its access point for some
                 # seconds.
                 *([(Command("later", "sleep 20"),)] if frames else []),
                 (Command("stats", "saluki module stats --json -i ear1"),)),
        sensors=(Sensor("hall", f"-i ear1 --channel 1 {WHOLE}"),))


QUIET = topology()
ATTACKED = topology([leave(STATION, HOME, HOME, 7, sequence=n) for n in range(FLOOD)], "one")


def reports(air, name):
    """The module's consumer's output for the collector's file."""
    lines = "".join(json.dumps(s) + "\n" for s in captures.said(air.folder / "out.pcapng"))
    got = subprocess.run([BUILD / "modules" / name, "--json"], input=lines, capture_output=True, text=True,
                         check=True)
    assert not got.stderr
    return [json.loads(line) for line in got.stdout.splitlines()]


def assert_ran(air):
    for m in MODULES:
        assert air.said_by(f"load-{m}")[-1] == "ended 0", air.said_by(f"load-{m}")
    stats = json.loads("".join(air.said_by("stats")[:-1]))
    assert {s["name"] for s in stats if s["frames"] > 100 and not s["events_lost"]} >= set(MODULES)
    air.assert_balanced("hall", len(air.heard("hall", "ear1")))


@pytest.mark.topology(QUIET)
def test_nothing_is_told_of_a_quiet_network(air):
    """In a quiet network stations join and leave, access points begin and end: no event is
    reported."""
    assert_ran(air)
    assert not reports(air, "deauth") and not reports(air, "rogueap")


@pytest.mark.topology(QUIET)
def test_airtime(air):
    """Airtime of stations that sent, up to their last event: no more frames than on the air."""
    rows = {r["station"]: r for r in reports(air, "airtime") if r["event"] == "all"}
    sent = sum(f[10:16] == STATION for f in air.hearable(1))
    assert 0 < rows[STATION.hex(":")]["frames"] <= sent
    assert all(r["unknown"] == 0 and 0 < r["air_percent"] < 100 for r in rows.values())


@pytest.mark.topology(ATTACKED)
def test_a_flood(air):
    assert_ran(air)
    sent = sum(f[0] == 0xc0 and f[4:16] == STATION + HOME for f in air.hearable(1))
    assert sent >= FLOOD
    found = reports(air, "deauth")
    own = [r for r in found if r["by"] == "target" and r["target"] == STATION.hex(":")]
    assert [r["event"] for r in own] == ["begins", "ends"], found
    begins, ends = own
    assert begins["bssid"] == HOME.hex(":") and begins["reason"] == 7
    assert FLOOD <= ends["total"] <= sent
    assert {r["bssid"] for r in found} == {HOME.hex(":")}
    assert any("CTRL-EVENT-DISCONNECTED" in line for line in air.said_by("phone"))


@pytest.mark.topology(ATTACKED)
def test_a_clone(air):
    """A clone is open while the other is encrypted."""
    found = reports(air, "rogueap")
    assert {(r["event"], r["bssid"], r["ssid"]) for r in found} == {("two", ONE.hex(":"), "one")}
    assert "privacy" in found[0]["differs"]
