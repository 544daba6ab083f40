# SPDX-License-Identifier: GPL-2.0
"""Floods of deauthentication frames: in captures, against tshark and a count in Python; and on made
frames, with and without floods."""
import collections
import json
import struct
import subprocess

import pytest

from bpf.dot11 import ALL, DISASSOCIATION, MS, SECOND, Bench, beacon, leave, mac, read, stamped
from reference import captures, radiotaps
from reference.test_reference import write_pcap

# Captures of attacks by aireplay-ng: 64 frames to a station and 64 to the access point, or to all.
ATTACKS = {captures.OWN: ("105-attack.pcap.zst", "attack.pcap.zst"),
           captures.FOREIGN: ("dlt105-aircrack-ng__pmkid-not-recognized.cap.zst",
                              "dlt105-aircrack-ng__wep_64_ptw.cap.zst",
                              "dlt105-jpaulmora__wpapsk-virgin_broadband.dump.gz")}
WINDOW_NS, TARGET, REPEATED = 10 * SECOND, 30, 8
TOTALS = struct.Struct("<9Q68Q")
Totals = collections.namedtuple("Totals", "deauthentications disassociations broadcast retries jumps protected "
                                          "malformed floods untold reasons")
AP, STATION = mac(1), mac(100)


@pytest.fixture(name="bench")
def fixture_bench(tmp_path):
    return Bench(tmp_path)


def totals(maps):
    v = TOTALS.unpack_from(maps["state"][0])
    return Totals(*v[:9], {n: c for n, c in enumerate(v[9:]) if c})


def run(bench, frames):
    """(totals, reports)"""
    _, maps = bench.run("deauth", frames, "state")
    return totals(maps), [json.loads(line) for line in bench.consumer("deauth", "--json").splitlines()]


# ---- captures --------------------------------------------------------------------------------------

Leave = collections.namedtuple("Leave", "time_ns retry protected sequence reason target source bssid subtype")


def told_to_leave(folder, frames):
    """As tshark reads them."""
    path = folder / "tshark.pcap"
    write_pcap(path, frames[0].linktype, frames)
    names = ("frame.time_epoch", "wlan.fc.retry", "wlan.fc.protected", "wlan.seq", "wlan.fixed.reason_code",
             "wlan.ra", "wlan.ta", "wlan.bssid", "wlan.fc.type_subtype")
    out = subprocess.run(["tshark", "-r", path, "-Y", "wlan.fc.type_subtype in {10, 12}", "-T", "fields",
                          *(word for n in names for word in ("-e", n))],
                         capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        when, retry, protected, sequence, reason, target, source, bssid, subtype = line.split("\t")
        second, part = when.split(".")
        yield Leave(int(second) * SECOND + int(part.ljust(9, "0")), retry == "1", protected == "1", int(sequence),
                    int(reason, 0) if reason else None, target, source, bssid, int(subtype, 0))


def counted(found):
    """Without protected frames and retransmissions."""
    last = {}
    for f in found:
        if f.protected:
            continue
        again = f.retry and last.get(f.source) == f.sequence
        last[f.source] = f.sequence
        if not again:
            yield f


def most(times):
    """The highest number in any window."""
    recent, best = collections.deque(), 0
    for t in times:
        recent.append(t)
        while recent[0] <= t - WINDOW_NS:
            recent.popleft()
        best = max(best, len(recent))
    return best


def together(paths):
    """Captures of one link type, one after the other, an hour apart."""
    end = SECOND
    for path in paths:
        frames = read(path)
        for f in frames:
            yield f._replace(time_ns=f.time_ns - frames[0].time_ns + end)
        end += 3600 * SECOND + (max(f.time_ns for f in frames) - frames[0].time_ns if frames else 0)


def of_link(linktype, paths):
    return [p for p in paths if (frames := read(p, 1)) and frames[0].linktype == linktype]


def of_air(traces):
    return [p for folder in ("radiotap", "hwsim", "dot11-other") for p in traces.folder(folder)]


@pytest.mark.parametrize("linktype", [127, 105])
def test_captures_without_a_flood(bench, traces, linktype):
    """Captures without a flood have one or a few deauthentications: no event is reported."""
    frames = list(together(of_link(linktype, [p for p in of_air(traces) if p.name not in ATTACKS[traces]])))
    want = list(counted(told_to_leave(bench.folder, frames)))
    by_target = collections.defaultdict(list)
    for f in want:
        by_target[f.target].append(f.time_ns)
    assert max(map(most, by_target.values())) < TARGET / 2
    got, reports = run(bench, frames)
    assert not reports
    assert got.deauthentications + got.disassociations + got.malformed == len(want) > 5
    assert got.reasons == collections.Counter(f.reason for f in want if f.reason is not None)


@pytest.mark.parametrize("traces,name", [
    *((captures.OWN, name) for name in ATTACKS[captures.OWN]),
    *(pytest.param(captures.FOREIGN, name, marks=pytest.mark.foreign) for name in ATTACKS[captures.FOREIGN])], ids=str)
def test_captures_of_attacks(bench, traces, name):
    path, = (p for p in of_air(traces) if p.name == name)
    frames = read(path)
    want = list(counted(told_to_leave(bench.folder, frames)))
    got, reports = run(bench, frames)
    assert got.deauthentications + got.disassociations == len(want) > 300
    assert got.reasons == collections.Counter(f.reason for f in want)
    by_target = collections.defaultdict(list)
    for f in want:
        by_target[f.target].append(f.time_ns)
    floods = [r for r in reports if r["by"] == "target" and r["event"] == "begins"]
    assert {r["target"] for r in floods} == {t for t, times in by_target.items() if most(times) >= TARGET}
    assert {r["reason"] for r in floods} == {7}  # aireplay-ng's reason
    for r in floods:  # at the beginning, the window has as many, to its precision
        recent = sum(r["time_ns"] - 2 * WINDOW_NS < t <= r["time_ns"] for t in by_target[r["target"]])
        assert recent >= TARGET <= r["recent"]
    assert any(r["by"] == "bssid" and r["event"] == "begins" for r in reports)
    ended = [r for r in reports if r["by"] == "target" and r["event"] == "ends"]
    assert ended and sum(r["total"] for r in ended) > 0.8 * sum(
        len(times) for t, times in by_target.items() if most(times) >= TARGET) - 400


# ---- made floods -----------------------------------------------------------------------------------


def quiet(seconds, begin_s=0):
    """An access point's beacons, which advance the time."""
    return [(begin_s * SECOND + n * 100 * MS, beacon(AP, b"home", n * 102400, sequence=n))
            for n in range(seconds * 10)]


def kinds(reports):
    return [(r["event"], r["by"]) for r in reports]


def test_one_station(bench):
    flood = [(5 * SECOND + n * 10 * MS, leave(STATION, AP, AP, 7, sequence=n)) for n in range(500)]
    got, reports = run(bench, stamped([*quiet(30), *flood]))
    assert sorted(kinds(reports)) == [("begins", "bssid"), ("begins", "target"), ("ends", "bssid"),
                                      ("ends", "target")]
    begins = reports[0]
    assert begins["by"] == "target" and begins["target"] == STATION.hex(":")
    assert begins["bssid"] == begins["source"] == AP.hex(":")
    assert begins["total"] == begins["recent"] == TARGET and begins["reason"] == 7
    assert begins["time_ns"] == SECOND + 5 * SECOND + (TARGET - 1) * 10 * MS
    ends = {r["by"]: r for r in reports if r["event"] == "ends"}
    assert ends["target"]["total"] == 500 and ends["target"]["broadcast"] == 0
    assert ends["bssid"]["total"] == 500 - REPEATED + 1
    # Half of a flood takes some time to leave the window; then 5 s are quiet.
    assert 4700 <= ends["target"]["lasted_ms"] <= 4710
    assert 15 * SECOND <= ends["target"]["time_ns"] - SECOND <= 17 * SECOND
    assert got.floods == 2 and got.deauthentications == 500 and got.untold == 0


def test_all_at_once(bench):
    """A continuing broadcast flood is reported again, and its end too."""
    flood = [(n * 20 * MS, leave(ALL, AP, AP, 6, subtype=DISASSOCIATION)) for n in range(1500)]
    got, reports = run(bench, stamped([*quiet(60), *flood]))
    assert kinds(r for r in reports if r["by"] == "target") == [
        ("begins", "target"), ("goes on", "target"), ("goes on", "target"), ("ends", "target")]
    last = reports[-1] if reports[-1]["by"] == "target" else reports[-2]
    assert last["target"] == ALL.hex(":") and last["total"] == last["broadcast"] == 1500
    assert got.disassociations == got.broadcast == 1500
    assert "against all" in bench.consumer("deauth")


def test_many_stations_in_turn(bench):
    """With many stations in turn, none has many frames of its own; their access point's name
    has."""
    flood = [(n * 50 * MS, leave(mac(1000 + n % 20), AP, AP, 7)) for n in range(1200)]
    _, reports = run(bench, stamped([*quiet(90), *flood]))
    assert kinds(reports) == [("begins", "bssid"), *[("goes on", "bssid")] * (len(reports) - 2), ("ends", "bssid")]


def test_many_floods_at_once(bench):
    """With more floods than places, the unreported ones are counted."""
    flood = [(n * MS, leave(mac(1000 + n % 40), mac(n % 40), mac(n % 40), 7)) for n in range(40 * 50)]
    got, reports = run(bench, stamped([*quiet(30), *flood]))
    begun = [r for r in reports if r["event"] == "begins"]
    assert len(begun) == len([r for r in reports if r["event"] == "ends"]) == got.floods == 16
    assert got.untold > 0


def test_frames_out_of_order(bench):
    """An attacker's sequence numbers differ from those of the station it imitates."""
    flood = [(5 * SECOND + n * 20 * MS + 7 * MS, leave(STATION, AP, AP, 7, sequence=2000 + n)) for n in range(200)]
    got, reports = run(bench, stamped([*quiet(30), *flood]))
    assert got.jumps == 200
    assert [r["jumps"] for r in reports if r["event"] == "ends" and r["by"] == "target"] == [200 - TARGET + 1]
    own = [(5 * SECOND + n * 20 * MS + 7 * MS, leave(STATION, AP, AP, 7, sequence=50 + n // 5)) for n in range(200)]
    assert run(bench, stamped([*quiet(30), *own]))[0].jumps == 0


# ---- no floods -------------------------------------------------------------------------------------


def churn():
    """An hour of 200 roaming stations: each leaves its access point about every half minute."""
    for n in range(24000):
        yield n * 150 * MS, leave(mac(n % 7), mac(100 + n % 200), mac(n % 7), 8, subtype=DISASSOCIATION)


def restart(count):
    """A restarting access point sends its leave to all, and three times to each of its stations,
    when it goes and when it returns."""
    for at in 10 * SECOND, 14 * SECOND:
        yield at, leave(ALL, AP, AP, 3)
        for n in range(3 * count):
            yield at + (1 + n) * MS, leave(mac(1000 + n // 3), AP, AP, 3, sequence=n)


QUIET = {
    "one station": [(SECOND, leave(STATION, AP, AP))],
    "roaming": list(churn()),
    "a restart": list(restart(200)),
    "sent again by the card": [(n * MS, leave(STATION, AP, AP, sequence=7, flags=8 if n else 0))
                               for n in range(500)],
    "protected": [(n * MS, leave(STATION, AP, AP, sequence=n, flags=0x40)) for n in range(500)],
    "received wrong": [(n * MS, leave(STATION, AP, AP, sequence=n, radio_flags=0x40)) for n in range(500)],
    "without a reason": [(n * MS, leave(STATION, AP, AP, sequence=n)[:-2]) for n in range(500)],
}


@pytest.mark.parametrize("name", QUIET)
def test_no_flood(bench, name):
    frames = QUIET[name]
    got, reports = run(bench, stamped([*quiet(60), *frames]))
    assert not reports
    assert got.floods == 0 and len(frames) == (got.deauthentications + got.disassociations + got.retries +
                                               got.protected + got.malformed)


@pytest.mark.parametrize("seed", [5, 6])
def test_whatever_comes(bench, seed):
    """Malformed headers and truncated frames are no flood."""
    made = list(radiotaps.mutated(seed, 5000))
    got, reports = run(bench, [captures.Frame(SECOND + n * MS, len(d), 127, d) for n, d in enumerate(made)])
    assert not reports and got.floods == 0


def test_malformed_captures(bench, traces):
    for path in traces.folder("malformed"):
        frames = [f for f in read(path) if f.linktype in (105, 127)]
        if frames:
            assert not run(bench, frames)[1], path
