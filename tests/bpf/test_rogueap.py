# SPDX-License-Identifier: GPL-2.0
"""New and cloned access points: on made frames, and in captures, which have neither unless stated
here."""
import collections
import json
import struct
import subprocess

import pytest

from bpf.dot11 import MS, PROBE_RESPONSE, SECOND, STATION, Bench, beacon, mac, read, stamped
from reference import captures, radiotaps
from reference.test_reference import write_pcap

INTERVAL = 102400 * 1000  # ns, of 100 units
LEARN = 60
AP, OTHER, HIDDEN = mac(1), mac(2), mac(3)
TOTALS = struct.Struct("<10Q")


@pytest.fixture(name="bench")
def fixture_bench(tmp_path):
    return Bench(tmp_path)


def reports(bench, frames):
    bench.run("rogueap", frames)
    return [json.loads(line) for line in bench.consumer("rogueap", "--json").splitlines()]


def beacons(bssid, ssid, from_s, to_s, clock_us=0, sequence=0, **more):
    """clock_us: the sender's clock at 0."""
    begin, end = int(from_s * SECOND), int(to_s * SECOND)
    return [(at, beacon(bssid, ssid, at // 1000 + clock_us, sequence=sequence + n, **more))
            for n, at in enumerate(range(begin, end, INTERVAL))]


HOME = beacons(AP, b"home", 0, 120)


def kinds(found):
    return [r["event"] for r in found]


# ---- new access points -----------------------------------------------------------------------------


def test_what_is_there_by_right(bench):
    frames = [*HOME, *beacons(OTHER, b"home", 20, 120, channel=6), *beacons(HIDDEN, b"", 59, 120)]
    assert not reports(bench, stamped(frames))
    text = bench.consumer("rogueap")
    assert text == ""


def test_new_ones(bench):
    found = reports(bench, stamped([*HOME, *beacons(OTHER, b"cafe", 70, 120, channel=11, mhz=2462),
                                    *beacons(HIDDEN, b"", 80, 120, privacy=False)]))
    assert kinds(found) == ["new", "new"]
    assert [(r["bssid"], r["ssid"], r["hidden"], r["channel"], r["privacy"], r["mhz"]) for r in found] == [
        (OTHER.hex(":"), "cafe", False, 11, True, 2462), (HIDDEN.hex(":"), "", True, 1, False, 2412)]
    assert found[0]["time_ns"] == 71 * SECOND


@pytest.mark.parametrize("privacy", [True, False])
def test_a_known_name(bench, privacy):
    """An evil twin with its own address is reported as unencrypted if the known access point is
    encrypted."""
    found = reports(bench, stamped([*HOME, *beacons(OTHER, b"home", 70, 120, privacy=privacy)]))
    assert kinds(found) == ["known-name"] and found[0]["bssid"] == OTHER.hex(":")
    assert found[0]["differs"] == ([] if privacy else ["privacy"]) and found[0]["other_privacy"]
    assert ("the known is encrypted" in bench.consumer("rogueap")) == (not privacy)


@pytest.mark.parametrize("hidden", [b"", b"\0" * 7])
def test_a_hidden_name_that_is_told(bench, hidden):
    answer = [(90 * SECOND, beacon(HIDDEN, b"secret\x01", 0, subtype=PROBE_RESPONSE, to=STATION)),
              (91 * SECOND, beacon(HIDDEN, b"secret\x01", 0, subtype=PROBE_RESPONSE, to=STATION))]
    found = reports(bench, stamped([*HOME, *beacons(HIDDEN, hidden, 10, 120), *answer]))
    assert kinds(found) == ["revealed"] and found[0]["ssid"] == "secret\x01"


def test_one_that_answers_to_any_name(bench):
    answers = [(70 * SECOND + n * MS, beacon(OTHER, b"name %d" % (n % 6), n, subtype=PROBE_RESPONSE, to=STATION))
               for n in range(30)]
    found = reports(bench, stamped([*HOME, *answers]))
    assert kinds(found) == ["new", "any-name"] and found[1]["bssid"] == OTHER.hex(":")


def test_a_flood_of_beacons(bench):
    frames = [(70 * SECOND + n * 10 * MS, beacon(mac(1000 + n), b"free %d" % n, n)) for n in range(250)]
    found = reports(bench, stamped([*HOME, *frames]))
    count = collections.Counter(kinds(found))
    assert count["beacon-flood"] == 3 and count["new"] == 3 * 20


# ---- two with one address --------------------------------------------------------------------------

CLONES = {
    "another channel": ({"channel": 6}, ["channel"]),
    "open": ({"privacy": False}, ["privacy"]),
    "another interval": ({"interval": 200}, ["interval"]),
    "another clock": ({"clock_us": -50 * 10**6}, ["tsf"]),
    "other numbers": ({"sequence": 1500}, ["sequence"]),
    "all of it": ({"channel": 6, "interval": 50, "privacy": False, "clock_us": -3600 * 10**6, "sequence": 999},
                  ["channel", "interval", "privacy"]),
}


@pytest.mark.parametrize("name", CLONES)
@pytest.mark.parametrize("begin_s", [5, 70])
def test_clones(bench, name, begin_s):
    """A clone is reported, also while learning: within some beacons, and again while it
    continues."""
    differs, said = CLONES[name]
    clock_us = 7200 * 10**6
    own = beacons(AP, b"home", 0, 200, clock_us)
    clone = beacons(AP, b"home", begin_s + 0.05, 200, **{**differs, "clock_us": clock_us + differs.get("clock_us", 0)})
    found = reports(bench, stamped([*own, *clone]))
    assert set(kinds(found)) == {"two"} and {r["bssid"] for r in found} == {AP.hex(":")}
    assert set(said) <= set(found[0]["differs"]) <= {*said, "sequence", "tsf"}
    assert found[0]["time_ns"] - SECOND < (begin_s + 2) * SECOND
    assert 2 <= len(found) <= 4
    if "channel" in said:
        assert {found[0]["channel"], found[0]["other_channel"]} == {1, 6}
    assert "two access points with one address" in bench.consumer("rogueap")


def test_a_clone_with_another_name(bench):
    found = reports(bench, stamped([*HOME, *beacons(AP, b"free wifi", 70.05, 120)]))
    assert set(kinds(found)) == {"two"} and found[0]["differs"][0] == "ssid"


# ---- no rogue access points ------------------------------------------------------------------------


def hops():
    """Heard 0.3 s of every 3, as by a radio that changes channels."""
    return [f for f in beacons(AP, b"home", 0, 600) if f[0] % (3 * SECOND) < 300 * MS]


def busy():
    """Between beacons there are up to 500 other numbered frames."""
    return [(at, beacon(AP, b"home", at // 1000, sequence=n * 487)) for n, (at, _) in enumerate(HOME)]


def other_senders():
    """Stations without an access point share one address for all of them."""
    return [(n * INTERVAL, beacon(AP, b"adhoc", n * 102400, sequence=n % 3 * 1300 + n, capability=2, privacy=False))
            for n in range(900)]


QUIET = {
    "a restart": [*beacons(AP, b"home", 0, 50, 10**9), *beacons(AP, b"home", 65, 120, -65 * 10**6, sequence=77)],
    "another channel, once": [*beacons(AP, b"home", 0, 50), *beacons(AP, b"home", 50, 120, channel=11, sequence=500)],
    "a name that changes, once": [*beacons(AP, b"old", 0, 50), *beacons(AP, b"new", 50, 120, sequence=500)],
    "hops": hops(),
    "busy": busy(),
    "stations among themselves": other_senders(),
    "received wrong": [*HOME, *[(70 * SECOND + n * 10 * MS, beacon(mac(1000 + n), b"x", n, radio_flags=0x40))
                                for n in range(400)]],
    "cut": [*HOME, *[(70 * SECOND + n * 10 * MS, beacon(mac(1000 + n), b"x", n)[:-30]) for n in range(400)]],
}


@pytest.mark.parametrize("name", QUIET)
def test_nothing_to_tell(bench, name):
    assert not reports(bench, stamped(QUIET[name]))


@pytest.mark.parametrize("seed", [7, 8])
def test_whatever_comes(bench, seed):
    """With malformed headers and truncated frames it continues, and counts the unreadable ones."""
    made = list(radiotaps.mutated(seed, 5000))
    _, maps = bench.run("rogueap", [captures.Frame(SECOND + n * MS, len(d), 127, d) for n, d in enumerate(made)],
                        "totals")
    _, read_, _, malformed, *_ = TOTALS.unpack(maps["totals"][0])
    assert read_ + malformed > 30


# ---- captures --------------------------------------------------------------------------------------


def bssids(folder, frames):
    """Access points found by tshark."""
    path = folder / "tshark.pcap"
    write_pcap(path, frames[0].linktype, frames)
    out = subprocess.run(["tshark", "-r", path, "-Y",
                          "wlan.fc.type_subtype in {5, 8} && wlan.fixed.capabilities.ibss == 0 && !_ws.malformed",
                          "-T", "fields", "-e", "wlan.bssid"], capture_output=True, text=True, check=True).stdout
    return set(out.split())


@pytest.mark.parametrize("name", ["hwsim.pcap.zst", "hwsim-ch1.pcap.zst", "hwsim-all-groundtruth.pcap.zst"])
def test_quiet_captures(bench, traces, name):
    """In quiet captures all access points are there from the first seconds on, and no event is
    reported."""
    frames = read(traces.root / "hwsim" / name)
    events, maps = bench.run("rogueap", frames, "totals", "bssids")
    assert not events
    want = bssids(bench.folder, frames)
    assert {v[:6].hex(":") for v in maps["bssids"]} == want
    assert TOTALS.unpack(maps["totals"][0])[4] == len(want) > 0


def test_captures_without_clones(bench, traces):
    """In captures without clones, two access points with one address are never reported."""
    for path in (p for folder in ("radiotap", "hwsim", "dot11-other", "malformed") for p in traces.folder(folder)):
        frames = [f for f in read(path) if f.linktype in (105, 127)]
        if frames:
            found = reports(bench, [f for f in frames if f.linktype == frames[0].linktype])
            assert "two" not in kinds(found), (path, found)
