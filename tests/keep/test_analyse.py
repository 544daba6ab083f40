# SPDX-License-Identifier: GPL-2.0
"""docs/analyse.md: its SQL and its Python give the same answers, which are those that the original captures give by
tshark, by the tests' own readers and by the simulators' truth. ANALYSE_PLOTS=FOLDER writes the page's plots there."""
import collections
import contextlib
import math
import os
import pathlib

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.dataset
import pytest
from merge import program
from merge.frames import addresses
from merge.kinds import ACK, CTS
from merge.traffic import HT
from netns.conftest import Bed
from netns.testbed import ROOT
from reference import airtime, captures

from keep import analyse_page as page
from keep import archive as archives
from keep import walk as walks

GROUP_DIGITS, LOCAL_DIGITS = set("13579bdf"), set("2367abef")
TABLES = ("frames", "transmissions", "receptions", "events", "coverage")
MADE_OF = {"frames": "Columns of frames and transmissions", "transmissions": "Columns of frames and transmissions"}


@pytest.fixture(scope="module", name="archive")
def fixture_archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("analyse")
    folder.chmod(0o755)  # programs under test drop their rights
    with contextlib.ExitStack() as stack:
        yield archives.build(Bed(stack, folder))


@pytest.fixture(scope="module", name="answers")
def fixture_answers(archive):
    """Name -> answer of the page's Python; and what it defines."""
    with contextlib.chdir(archive.tables.parent):
        names = page.open_python()
        return {name: page.by_python(names, code, name) for name, code in page.named("python").items()}, names


@pytest.fixture(scope="module", name="trace")
def fixture_trace(archive, tmp_path_factory):
    """The unified trace, uncompressed."""
    path = tmp_path_factory.mktemp("trace") / "building.pcapng"
    path.write_bytes(captures.file_bytes(archive.folder / "building.pcapng.zst"))
    return path


def air_ns(frame):
    """None if the header does not tell it."""
    how = airtime.sent(frame.data)
    if not how.rate or not how.preamble:
        return None
    bits = 8 * (airtime.mpdu_len(frame.data) + frame.orig_len - len(frame.data))
    return int(1000 * (how.preamble + airtime.data_us(how, bits)))


def assert_page_says(*sentences):
    text = " ".join(page.PAGE.read_text().split())
    for sentence in sentences:
        assert sentence in text


def rows(answer):
    return answer.to_dict("records")


def ns(time):
    return pd.Timestamp(time).value


# ---- the tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
def test_the_page_has_each_column(archive, table):
    """Names, types, and which may be empty."""
    found = pyarrow.dataset.dataset(archive.tables / table, partitioning="hive").schema
    listed = {**page.columns()[table], **page.columns().get(MADE_OF.get(table), {})}
    assert {f.name: (str(f.type), f.nullable) for f in found if f.name != "day"} == listed


def test_three_programs_open_the_tables(archive, answers, monkeypatch):
    monkeypatch.chdir(archive.tables.parent)
    counts = collections.Counter({"air": len(list(captures.frames(archives.AIR)))})
    counts.update({sensor: len(archive.walk.heard(sensor)) for sensor in walks.SENSORS})
    counts["hopper"] = sum(d.frames + d.marked for d in archive.dwells)
    by_sql = page.open_sql().sql("select sensor, count(*) from frames group by all").fetchall()
    _, names = answers
    assert dict(by_sql) == counts == names["frames"].groupby("sensor").size().to_dict()
    assert dict(names["counted"].rows()) == counts


@pytest.mark.parametrize("name", ["stations", "access_points", "channels", "searches", "revealed", "paths", "hidden"])
def test_sql_and_python_agree(archive, answers, name, monkeypatch):
    monkeypatch.chdir(archive.tables.parent)
    by_python, _ = answers
    page.assert_equal(page.open_sql().sql(page.named("sql")[name]).df(), by_python[name])


def test_an_address_is_looked_up_in_two_queries(archive, monkeypatch):
    """DuckDB gives one comparison to the reader of the files, and keeps an `or` for itself."""
    monkeypatch.chdir(archive.tables.parent)
    db = page.open_sql()
    is_given = [" Filters: " in " ".join(db.sql(f"explain select time from frames where {condition}").fetchall()[0][1]
                                         .replace("\u2502", " ").split())
                for condition in ("transmitter = 'a'", "transmitter = 'a' or receiver = 'a'")]
    assert is_given == [True, False]


def test_no_answer_is_missing():
    assert set(page.named("sql")) | {"plot"} == set(page.named("python")) | {"plot"}


def test_each_plot_can_be_drawn(archive, answers, tmp_path):
    """ANALYSE_PLOTS=FOLDER keeps them."""
    by_python, names = answers
    folder = pathlib.Path(os.environ.get("ANALYSE_PLOTS") or tmp_path).absolute()
    assert len(page.plots()) == 5
    for file in page.plots():
        page.draw({**names, **by_python}, file, folder)
        assert (folder / file).stat().st_size > 5000 and f"]({file})" in page.PAGE.read_text()
    for file in page.plots():
        assert (ROOT / "docs" / file).read_bytes()[:4] == b"\x89PNG"


# ---- 1: air time and retries ------------------------------------------------------------------------------------------


def sent(path):
    """Of each frame with a good checksum: time, transmitter, BSSID, receiver, type, retry and air time, by tshark and
    by the tests' own reader of radiotap."""
    fields = ("wlan.ta", "wlan.bssid", "wlan.ra", "wlan.fc.type", "wlan.fc.retry", "radiotap.flags.badfcs")
    read = [frame for _, frame in captures._pcapng(path.read_bytes())]
    for frame, (*texts, kind, retry, bad) in zip(read, program.tshark(path, *fields), strict=True):
        if bad in ("1", "True"):
            continue
        ta, bssid, receiver = texts
        yield frame.time_ns, ta, bssid, receiver, int(kind), retry in ("1", "True"), air_ns(frame)


def test_air_time_and_retries(trace, answers):
    expected, each_second = collections.defaultdict(collections.Counter), collections.Counter()
    for time_ns, ta, bssid, receiver, kind, again, ns_of_air in sent(trace):
        is_attempt = kind != 1 and receiver[1] not in GROUP_DIGITS
        expected[ta].update(frames=1, ns=ns_of_air or 0, without=ns_of_air is None, attempts=is_attempt,
                            retries=is_attempt and again)
        if bssid and bssid[1] not in GROUP_DIGITS:
            each_second[bssid, time_ns // 10**9] += ns_of_air or 0
    del expected[""]
    stations = rows(answers[0]["stations"])
    assert {r["transmitter"] for r in stations} == set(expected)
    for r in stations:
        e = expected[r["transmitter"]]
        assert (r["frames"], r["without_airtime"], r["attempts"], r["retries"]) == tuple(
            e[n] for n in ("frames", "without", "attempts", "retries"))
        assert r["airtime_ms"] == pytest.approx(e["ns"] / 1e6, rel=1e-3)
    assert sum(r["retries"] for r in stations) > 500
    top = max(stations, key=lambda r: r["airtime_ms"])
    attempts, retries = (sum(r[name] for r in stations) for name in ("attempts", "retries"))
    assert_page_says(
        f"{len(stations)} transmitters used {sum(r['airtime_ms'] for r in stations):,.0f} ms of air time",
        f"{top['transmitter']}, used {top['airtime_ms']:.0f} ms, and {100 * top['retries'] / top['attempts']:.0f} % of its "
        f"{top['attempts']:,} attempts were retries. Of all attempts, {100 * retries / attempts:.1f} % were retries.")
    found = {(r["bssid"], ns(r["second"]) // 10**9): r["percent"] for r in rows(answers[0]["access_points"])}
    assert found == pytest.approx({key: n / 1e7 for key, n in each_second.items()}, rel=1e-3)


# ---- 2: channel utilisation -------------------------------------------------------------------------------------------


def air():
    """(time, MHz, ns of air time or None) of the bundled capture."""
    for f in captures.frames(archives.AIR):
        yield f.time_ns, archives.mhz(f), air_ns(f)


def test_utilisation(archive, answers):
    """The answer is what the dwells heard of the whole capture, and the whole is within its error."""
    dwells = [d for d in archive.dwells if not d.error]
    heard, whole, count, span = collections.Counter(), collections.Counter(), collections.Counter(), []
    for time_ns, mhz, ns_of_air in air():
        span = [*span[:1], time_ns]
        whole[mhz] += ns_of_air or 0
        if any(d.mhz == mhz and d.from_ns + archives.LATE_NS <= time_ns < d.to_ns for d in dwells):
            heard[mhz] += ns_of_air or 0
            count[mhz] += 1
    answer = rows(answers[0]["channels"])
    said = {r["frequency"]: f"{r['percent']:.1f} ± {r['error_percent']:.1f} %" for r in answer}
    true = {mhz: f"{100 * n / (span[1] - span[0]):.1f} %" for mhz, n in whole.items()}
    assert_page_says(f"{said[2437]} air time at 2437 MHz, and {said[2412]} at 2412 MHz", f"{true[2437]} and {true[2412]}",
                     f"Of {sum(r['frames'] for r in answer):,.0f} frames, {sum(r['without_airtime'] for r in answer):,.0f} "
                     "had no air time.")
    assert [r["frequency"] for r in answer] == sorted({d.mhz for d in dwells})
    for r in answer:
        listened = sum(d.to_ns - d.from_ns for d in dwells if d.mhz == r["frequency"])
        assert r["listened_s"] == pytest.approx(listened / 1e9)
        assert r["frames"] == count[r["frequency"]] == sum(d.frames for d in dwells if d.mhz == r["frequency"])
        assert r["percent"] == pytest.approx(100 * heard[r["frequency"]] / listened, rel=1e-3)
        truth = 100 * whole[r["frequency"]] / (span[1] - span[0])
        print(f"{r['frequency']} MHz: {r['percent']:.2f} +- {r['error_percent']:.2f} %, in truth {truth:.2f} %")
        assert abs(r["percent"] - truth) < 1.5 * r["error_percent"] and r["error_percent"] > 0


# ---- 3: addresses in probe requests -----------------------------------------------------------------------------------


def searched(archive):
    """(minute, transmitter, SSID) of all probe requests that a sensor of the corridor heard, by tshark."""
    for sensor in walks.SENSORS:
        path = archive.folder.parent / f"{sensor}.pcap"
        for *row, bad in program.tshark(path, "frame.time_epoch", "wlan.ta", "wlan.seq", "wlan.ssid", "wlan.fc.type_subtype",
                                        "radiotap.flags.badfcs"):
            time, ta, number, ssid, kind = row
            if int(kind, 16) == 4 and bad not in ("1", "True"):
                name = "" if ssid == "<MISSING>" else bytes.fromhex(ssid).decode()
                yield int(float(time)) // 60, ta, number, name


def test_searches(archive, answers):
    probes = list(searched(archive))
    seen, expected = set(), {}
    for minute, is_local in sorted({(m, ta[1] in LOCAL_DIGITS) for m, ta, _, _ in probes}):
        own = {(ta, n) for m, ta, n, _ in probes if m == minute and (ta[1] in LOCAL_DIGITS) == is_local}
        addresses = {ta for ta, _ in own}
        expected[minute, is_local] = (len(addresses), len(addresses - seen), len(own))
        seen |= addresses
    found = {(ns(r["minute"]) // 60_000_000_000, r["is_local"]): (r["addresses"], r["new_addresses"], r["requests"])
             for r in rows(answers[0]["searches"])}
    assert found == expected
    names = collections.defaultdict(set)
    for _, ta, _, name in probes:
        names[name].add(ta)
    assert {r["ssid"]: r["addresses"] for r in rows(answers[0]["revealed"])} == {
        name: len(own) for name, own in names.items() if name}
    truth = {(ta, name) for _, ta, name in archive.walk.searched if name}
    assert {(ta, name) for name, own in names.items() if name for ta in own} == truth


# ---- 4: roaming -------------------------------------------------------------------------------------------------------


def test_bad_checksums_make_addresses(answers):
    """Why the query leaves them out."""
    frames = answers[1]["frames"]
    probes = frames[(frames.type == 0) & (frames.subtype == 4) & frames.sensor.str.startswith("hall-")]
    assert probes.transmitter.nunique() > probes[~probes.bad_fcs].transmitter.nunique()


def test_roaming(archive, answers):
    """The phone's path is the walk's, and the nearest sensor is that of the place."""
    by_station = collections.defaultdict(list)
    for r in rows(answers[0]["paths"]):
        by_station[r["station"]].append(r)
    assert set(by_station) == {walks.PHONE, walks.LAPTOP}
    phone, truth = by_station[walks.PHONE], archive.walk.path
    assert [r["bssid"] for r in phone] == [ap for _, ap in truth] and len(truth) == 5
    for r, (at_s, _) in zip(phone, truth, strict=True):
        assert 0 <= ns(r["first"]) - walks.BEGIN_NS - at_s * 1e9 < 1e9
    assert [r["sensor"] for r in phone] == ["hall-1", "hall-2", "hall-3", "hall-2", "hall-1"]
    (laptop,) = by_station[walks.LAPTOP]
    assert laptop["sensor"] == "hall-2" and laptop["bssid"] == list(walks.APS)[1]
    own = walks.octets(walks.LAPTOP)
    heard = {f.time_ns for sensor in walks.SENSORS for f in archive.walk.heard(sensor)
             if not f.data[8] & 0x40 and own in (f.data[19:25], f.data[25:31])}
    assert laptop["frames"] == len(heard)


# ---- 5: hidden terminals ----------------------------------------------------------------------------------------------


def receptions(trace):
    """(frequency, transmitter) -> how often it was heard, and by sensor: numbers of its transmissions, and signals; by
    `saluki-merge receptions` and tshark."""
    frames, heard, signals = {}, collections.defaultdict(set), collections.defaultdict(list)
    fields = ("frame.packet_id", "radiotap.channel.freq", "wlan.ta", "radiotap.flags.badfcs", "frame.interface_id")
    for number, mhz, ta, bad, _ in program.tshark(trace, *fields):
        if ta and bad not in ("1", "True"):
            frames[int(number, 0)] = (int(mhz), ta)
    for row in program.rows(trace):
        number, flags = int(row["transmission"]), int(row["flags"])
        if number in frames and not flags & 2:
            heard[frames[number], row["sensor"]].add(number)
            signals[frames[number], row["sensor"]].append(int(row["signal_dbm"]))
    return collections.Counter(frames.values()), heard, signals


def test_candidates_for_hidden_terminals(trace, answers):
    counts, heard, signals = receptions(trace)
    often = sorted(key for key, n in counts.items() if n >= 50)
    sensors = {key: {s for k, s in heard if k == key} for key in often}
    share = {(key, s): len(heard[key, s]) / counts[key] for key in often for s in sensors[key]}
    near = {key: min(sensors[key], key=lambda s: (-np.mean(signals[key, s]), s)) for key in often}
    expected = {}
    for x in often:
        for y in often:
            if x[0] == y[0] and x[1] < y[1]:
                both = {s: min(share[x, s], share[y, s]) for s in sensors[x] & sensors[y] if s not in (near[x], near[y])}
                if (max(both.values(), default=0) >= .2 and share.get((y, near[x]), 0) < .02
                        and share.get((x, near[y]), 0) < .02):
                    expected[x[0], x[1], y[1]] = (near[x], near[y], max(both.values()))
    found = {(r["frequency"], r["a"], r["b"]): (r["near_a"], r["near_b"], r["witness_share"])
             for r in rows(answers[0]["hidden"])}
    assert set(found) == set(expected) and len(found) > 3
    for key, (a, b, best) in expected.items():
        assert found[key] == (a, b, pytest.approx(best))


def places(archive):
    number = range(len(archive.building.transmitters))
    return {":".join(f"{b:02x}" for b in row): archive.building.transmitters[n]
            for n, row in zip(number, addresses(np.array(number), archives.BUILDING["aps"]))}


def test_candidates_are_far_apart(archive, answers):
    """In the simulated building, candidates are farther apart than other pairs."""
    hidden, place = answers[0]["hidden"], places(archive)
    apart = [np.hypot(*(place[r.a] - place[r.b])) for r in hidden.itertuples()]
    others = [np.hypot(*(a - b)) for n, a in enumerate(place.values()) for b in list(place.values())[:n]]
    print(f"{len(hidden)} candidates, {np.median(apart):.0f} m apart at the median, {min(apart):.0f} m at least; all pairs: "
          f"{np.median(others):.0f} m")
    assert_page_says(f"{np.median(apart):.0f} m apart at the median, and any two transmitters {np.median(others):.0f} m")
    assert min(apart) > 10 and np.median(apart) > 1.2 * np.median(others)


@pytest.fixture(scope="module", name="true_air")
def fixture_true_air(archive):
    """Address -> its intervals on the air, by the simulator's times, of transmissions that a sensor heard. Subframes of
    an A-MPDU, which end together, are one: the longest."""
    sent, r = archive.air.sent, archive.air.receptions
    heard = np.zeros(len(sent["kind"]), bool)
    heard[r["transmission"][~r["bad_fcs"]]] = True
    names, longest = list(places(archive)), {}
    for n in np.flatnonzero(heard & ~np.isin(sent["kind"], (ACK, CTS))).tolist():
        key = names[sent["sender"][n]], int(sent["end_ns"][n])
        longest[key] = max(longest.get(key, 0), frame_us(int(sent["length"][n]), int(sent["rate"][n])))
    out = collections.defaultdict(list)
    for (name, end), us in longest.items():
        out[name].append((end - 1000 * us, end))
    return {name: np.array(own) for name, own in out.items()}


def overlapped_ns(ones, others):
    return sum(np.clip(np.minimum(end, others[:, 1]) - np.maximum(begin, others[:, 0]), 0, None).sum()
               for begin, end in ones)


def frame_us(length, rate):
    """By clauses 17 and 19 of 802.11, at 2.4 GHz; the simulator's HT frames are MCS 15 at 20 MHz."""
    bits = 22 + 8 * length
    return 6 + (40 + 4 * math.ceil(bits / 520) if rate == HT else 20 + 4 * math.ceil(bits / (4 * rate)))


def test_overlaps(answers, true_air):
    """The trace's times give nearly the overlaps that the simulator's times give."""
    hidden = answers[0]["hidden"]
    truth = [overlapped_ns(true_air[r.a], true_air[r.b]) / 1e6 for r in hidden.itertuples()]
    print(f"overlaps: {hidden.overlap_ms.sum():.1f} ms, in truth {sum(truth):.1f} ms, by chance "
          f"{hidden.chance_ms.sum():.1f} ms")
    assert hidden.overlap_ms.sum() == pytest.approx(sum(truth), rel=.05)
    assert_page_says(f"finds {len(hidden)} candidates", f"overlap for {hidden.overlap_ms.sum():.1f} ms, and by chance it "
                     f"would be {hidden.chance_ms.sum():.1f} ms")
    assert max(abs(r.overlap_ms - t) for r, t in zip(hidden.itertuples(), truth, strict=True)) < 1


def ratio(busy, whole_ns, pairs):
    """Overlap by overlap by chance, of all pairs."""
    overlapped = chance = 0
    for a, b in pairs:
        one, other = busy[a], busy[b]
        overlapped += overlapped_ns(one, other)
        chance += float((one[:, 1] - one[:, 0]).sum()) * float((other[:, 1] - other[:, 0]).sum()) / whole_ns
    return overlapped / chance


def test_overlaps_tell_who_waits(archive, answers, true_air):
    """Members of a cell wait for each other; cells do not hear each other."""
    names, busy = list(places(archive)), answers[1]["busy"]
    cell = {name: n % archives.BUILDING["aps"] for n, name in enumerate(names)}
    pairs = [(x, y) for n, x in enumerate(busy) for y in list(busy)[:n] if x[1] == y[1]]
    same, other = ([(x, y) for x, y in pairs if (cell[x[0]] == cell[y[0]]) == is_same] for is_same in (True, False))
    by_trace = [ratio(busy, answers[1]["whole_ns"], some) for some in (same, other)]
    truly = ratio({(name, 0): own for name, own in true_air.items()}, answers[1]["whole_ns"],
                  [((x[0], 0), (y[0], 0)) for x, y in same])
    print(f"overlap / chance: {by_trace[0]:.2f} in cells (in truth {truly:.2f}), {by_trace[1]:.2f} between cells")
    assert truly < .005 and by_trace[0] < .3 and .7 < by_trace[1] < 1.4
    assert_page_says(f"Between cells, which never wait for each other in this simulation, it is {by_trace[1]:.2f}",
                     f"Within cells, it is {by_trace[0]:.2f}", f"true times, the ratio is {truly:.2f}")
