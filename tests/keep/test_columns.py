# SPDX-License-Identifier: GPL-2.0
"""The tables of saluki-keep: on every capture, each column of `frames` is what the dissection says (which tests/dissect
compares with tshark), and three readers read the same rows."""
import base64
import datetime
import json
import subprocess

import duckdb
import polars
import pyarrow.parquet as pq
import pytest

from dissect import dissected
from keep import made
from keep.made import Capture, file_name, keep, write
from merge import program, sim
from reference import captures

FOLDERS = ("hwsim", "radiotap", "dot11-other", "wired", "malformed")
PHYS = {"0": None, "1": "dsss", "2": "ofdm", "3": "ht", "4": "vht", "5": "he"}
NUMBERS = ("frequency", "signal", "noise", "rate_kbps", "mcs", "streams", "airtime_ns", "type", "subtype", "flags",
           "duration", "sequence", "fragment", "ethertype")
COLUMN = {"flags": "fc_flags"}  # the others are named alike
ADDRESSES = ("receiver", "transmitter", "bssid", "source", "destination")
BLOCK_FRAME_MAX = 262144


def text(data):
    """Bytes as the tables have them."""
    out, at = "", 0
    while at < len(data):
        for size in range(1, 5):
            try:
                c = data[at:at + size].decode()
            except UnicodeDecodeError:
                continue
            if len(c) == 1 and c != "\\" and c.isprintable() or (len(c) == 1 and ord(c) > 0x9f):
                out, at = out + c, at + size
                break
        else:
            out, at = out + f"\\x{data[at]:02x}", at + 1
    return out


def tables(folder, columns, table="frames"):
    files = sorted((columns / table).glob("day=*/*.parquet"))
    return [row for path in files for row in pq.read_table(path, partitioning=None).to_pylist()]


def columns_of(folder, *, finished=True):
    columns = folder.parent / "columns"
    columns.mkdir(exist_ok=True)
    keep("--once", *(["--finished"] if finished else []), "--columns", columns, folder)
    return columns


def ns(value):
    return value.value if hasattr(value, "value") else int(value)


@pytest.mark.parametrize("path", made.captures_in(*FOLDERS))
def test_each_column_of_each_capture(folder, tmp_path, path):
    want = [f for f in dissected.run(dissected.unpacked(path, tmp_path)) if int(f["cap_len"]) <= BLOCK_FRAME_MAX]
    if not want:
        return
    linktypes = sorted({int(f["linktype"]) for f in want})
    capture = Capture(sensors=())
    for number, linktype in enumerate(linktypes):
        capture.parts.append(made.interface(f"s{number}", number + 1, linktype=linktype))
        capture.combos[number] = 0
    for n, f in enumerate(want):
        on = linktypes.index(int(f["linktype"]))
        frame = captures.Frame(made.START_NS + n, max(int(f["orig_len"]), int(f["cap_len"])), 0, bytes.fromhex(f["data"]))
        capture.add([frame], on)
    write(folder, 1, capture.bytes())
    got = sorted(tables(folder, columns_of(folder)), key=lambda row: ns(row["time"]))
    assert len(got) == len(want)
    for row, f in zip(got, want, strict=True):
        for name in NUMBERS:
            assert row[COLUMN.get(name, name)] == (int(f[name]) if f[name] else None), name
        for name in ADDRESSES:
            assert row[name] == (bytes.fromhex(f[name]).hex(":") if f[name] else None), name
        assert row["retry"] == (bool(int(f["flags"]) & 8) if f["flags"] else None)
        assert row["to_group"] == (bool(bytes.fromhex(f["receiver"])[0] & 1) if f["receiver"] else None)
        assert row["bad_fcs"] == (bool(int(f["bad_fcs"])) if f["bad_fcs"] else None)
        assert row["phy"] == PHYS[f["phy"]] and row["linktype"] == int(f["linktype"])
        assert (row["kept"], row["length"]) == (int(f["cap_len"]), max(int(f["orig_len"]), int(f["cap_len"])))


def test_ssids_of_any_bytes(folder):
    """All 256 bytes, in beacons: the text is valid UTF-8, and its bytes can be had back."""
    names = [bytes(range(at, at + 32)) for at in range(0, 256, 32)] + ["日本語 ü".encode(), b"a\\x41", b"\xc3", b""]
    radiotap = bytes([0, 0, 8, 0, 0, 0, 0, 0])
    header = bytes([0x80, 0, 0, 0]) + b"\xff" * 6 + bytes.fromhex("020000000001") * 2 + bytes(2) + bytes(12)
    frames = [captures.Frame(made.START_NS + n, len(radiotap + header) + 2 + len(s), 127,
                             radiotap + header + bytes([0, len(s)]) + s) for n, s in enumerate(names)]
    write(folder, 1, Capture().add(frames).bytes())
    columns = columns_of(folder)
    path, = (columns / "frames").glob("day=*/*.parquet")
    by_arrow = pq.read_table(path, partitioning=None)["ssid"].to_pylist()
    by_duckdb = [row[0] for row in duckdb.sql(f"select ssid from '{path}' order by time").fetchall()]
    by_polars = polars.read_parquet(path)["ssid"].to_list()
    assert by_arrow == by_duckdb == by_polars == [text(s) for s in names]
    for s, shown in zip(names, by_arrow, strict=True):
        assert shown.encode().decode("unicode_escape").encode("latin1") == s or "\\x" not in shown


def test_rows_say_where_a_frame_is(folder, frames):
    data = Capture(sensors=("lib-1", "lib-2")).add(frames[:90], on=0).add(frames[:90], on=1).bytes()
    write(folder, 1, data)
    rows = tables(folder, columns_of(folder))
    assert [r["sensor"] for r in rows] == ["lib-1"] * 90 + ["lib-2"] * 90
    for sensor in (0, 1):
        own = rows[90 * sensor:90 * sensor + 90]
        assert [ns(r["time"]) for r in own] == sorted(f.time_ns for f in frames[:90])
        assert {(r["run"], r["file"], r["interface"]) for r in own} == {(7 + sensor, file_name(1), "wlan0")}
        assert sorted((r["combo"], r["number"]) for r in own) == [(n // 40, n % 40) for n in range(90)]
    for r in rows:
        begin = r["file_offset"] + 28
        assert data[begin:begin + r["kept"]] in [f.data for f in frames[:90]]


def test_frames_that_were_heard_while_the_channel_changed(folder, frames):
    capture = Capture()
    for n, f in enumerate(frames[:4]):
        capture.parts.append(made.packet(f.time_ns + n, f.data, f.orig_len,
                                         options=[made.option(1, "heard while the radio was changing channel")][:n % 2]))
    write(folder, 1, capture.bytes())
    assert [r["unsettled"] for r in tables(folder, columns_of(folder))] == [False, True, False, True]


def test_the_day_is_that_of_the_last_write(folder, frames):
    write(folder, 1, Capture().add(frames[:10]).bytes(), age_s=3 * 86400)
    columns = columns_of(folder)
    day = datetime.datetime.fromtimestamp((folder / f"{file_name(1)}.zst").stat().st_mtime, datetime.UTC).date()
    assert [str(p.relative_to(columns).parent) for p in columns.rglob("*.parquet")] == [f"frames/day={day}"]


@pytest.mark.parametrize("seconds", [-86400, 1 << 33, 1 << 36, 1 << 55])
def test_a_files_time_can_be_any(folder, frames, seconds):
    """Days are from 1970-01-01 to 2200-01-01. File systems that cannot have such a time have their nearest one."""
    path = write(folder, 1, Capture().add(frames[:10]).bytes())
    made.os.utime(path, (seconds, seconds))
    stamp = min(max(path.stat().st_mtime_ns // 10**9, 0), 7258118400)
    day = datetime.datetime.fromtimestamp(stamp, datetime.UTC).date()
    columns = columns_of(folder)
    assert [str(p.relative_to(columns).parent) for p in columns.rglob("*.parquet")] == [f"frames/day={day}"]


EVENT = {"sensor": "lib", "interface": "eth0", "module": "worm", "serial": 3, "time_ns": made.START_NS + 5,
         "direction": "in", "data": "0a0b0c", "id": "aad942a85eae87d0-4-46"}


def event(line):
    body = line.encode()
    return made.block(made.CUSTOM, made.struct.pack("<I", made.ENTERPRISE) + made.struct.pack(">I", len(body)) + body
                      + bytes(-len(body) % 4))


def events_of(folder, frames, lines):
    """Packs a capture file with these events. Returns their rows and what the program says."""
    capture = Capture().add(frames[:3])
    capture.parts.extend(map(event, lines))
    write(folder, 1, capture.bytes())
    columns = folder.parent / "columns"
    columns.mkdir()
    _, said = keep("--once", "--finished", "--columns", columns, folder)
    return tables(folder, columns, "events"), said


def test_events(folder, frames):
    lines = [json.dumps(EVENT), json.dumps({**EVENT, "interface": "w\\\"\x01"}).replace("\\\\", "\\u005c"), "{}", "no", ""]
    (first, second), said = events_of(folder, frames, lines)
    assert {**first, "time_ns": ns(first["time"])}.items() >= EVENT.items()
    assert second["interface"] == 'w\\x5c"\\x01' and first["file"] == file_name(1)
    assert said.count(f"{file_name(1)}: 3 module events are malformed; they are not in the table") == 1


@pytest.mark.parametrize(("written", "means"), [
    (r"a\"\\\/\b\f\n\r\t", b'a"\\/\b\f\n\r\t'), (r"\u0041\u007e", b"A~"),
    (r"\u20ac\u07ff\uFFFD\ud83d\ude00", "€\u07ff\ufffd😀".encode()),
    (r"\u00c3\u00bc\u00ff", b"\xc3\xbc\xff"), ("ü€😀", "ü€😀".encode()), ("", b"")])
def test_escapes_in_events(folder, frames, written, means):
    """Those of RFC 8259. The collector writes bytes of names as \u0000 to \u00ff (saluki-files(5))."""
    (row,), said = events_of(folder, frames, [json.dumps(EVENT).replace("eth0", written)])
    assert row["interface"] == text(means) and "malformed" not in said


def test_an_interface_has_one_name(folder, frames):
    """In the tables of frames and of events."""
    capture = Capture(sensors=())
    capture.parts.append(made.interface("lib", 1, "wü\\"))
    capture.combos[0] = 0
    capture.add(frames[:3]).parts.append(event(json.dumps(EVENT).replace("eth0", r"w\u00c3\u00bc\u005c")))
    write(folder, 1, capture.bytes())
    columns = columns_of(folder)
    assert {r["interface"] for name in ("frames", "events") for r in tables(folder, columns, name)} == {"wü\\x5c"}


BAD = {name: {**EVENT, **change} for name, change in {
    "late": {"time_ns": 2**63}, "later": {"time_ns": 2**64 - 1}, "latest": {"time_ns": 2**64}, "early": {"time_ns": -1},
    "part": {"time_ns": 1.5}, "text": {"time_ns": "5"}, "null": {"time_ns": None}, "large": {"serial": 2**64},
    "serial": {"serial": "3"}, "long": {"interface": "x" * 4096}}.items()}
BAD |= {f"no-{gone}": {key: v for key, v in EVENT.items() if key != gone} for gone in ("time_ns", "sensor", "module")}
BAD = {name: json.dumps(event) for name, event in BAD.items()}
BAD |= {f"text-{n}": json.dumps(EVENT).replace("eth0", bad) for n, bad in enumerate([
    r"\a", r"\x41", r"\U0041", r"\u", r"\u12", r"\u 041", r"\u+041", r"\u0x4", r"\u00g1", r"\ud83d", r"\ud83dx", r"\ud83d\n",
    r"\ud83d\u0041", r"\ud83d\ud83d", r"\ude00", "\x01", "\n", "\0", "\\"])}
BAD |= {"behind": json.dumps(EVENT) + "x", "end": json.dumps(EVENT)[:-1], "begin": json.dumps(EVENT)[1:],
        "commas": json.dumps(EVENT).replace(",", ",,", 1), "list": "[]"}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_malformed_events_have_no_row_and_no_file(folder, frames, line):
    rows, said = events_of(folder, frames, [line])
    assert not rows and not (folder.parent / "columns/events").exists()
    assert said.count(f"{file_name(1)}: 1 module event is malformed; it is not in the table\n") == 1
    assert len(tables(folder, folder.parent / "columns")) == 3


def test_events_of_the_last_moment(folder, frames):
    """Also with members that are not known, and blanks."""
    line = json.dumps({"a member with a long name": "x", **EVENT, "more": 7, "time_ns": 2**63 - 1, "serial": 2**64 - 1},
                      separators=(" ,\t", "\r: ")) + " \n"
    (row,), said = events_of(folder, frames, [line])
    assert ns(row["time"]) == 2**63 - 1 and row["serial"] == 2**64 - 1 and "malformed" not in said


def test_coverage(folder, frames):
    capture = Capture().add(frames[:3])
    begin, end = made.START_NS, made.START_NS + 250_000_000

    def time(code, value):
        return made.option(code, made.struct.pack("<II", value >> 32, value & 0xffffffff))
    for comment in ("channel 36/80 (5180 MHz, width 80, center 5210), switch 35000 ns, marked 2, up 86400000000000 ns",
                    "channel 1 (2412 MHz, width 20, center 2412), switch 0 ns, marked 0, error 16: busy", "something else"):
        capture.parts.append(made.block(made.STATISTICS, made.struct.pack("<III", 0, end >> 32, end & 0xffffffff),
                                        [time(2, begin), time(3, end), made.option(4, made.struct.pack("<Q", 17)),
                                         made.option(1, comment)]))
    write(folder, 1, capture.bytes())
    rows = tables(folder, columns_of(folder), "coverage")
    assert [(ns(r["start"]), ns(r["stop"]), r["frequency"], r["width"], r["center"], r["switch_ns"], r["marked"], r["error"],
             r["frames"], r["sensor"]) for r in rows] == [
        (begin, end, 5180, 80, 5210, 35000, 2, None, 17, "lib"), (begin, end, 2412, 20, 2412, 0, 0, 16, 17, "lib")]


def test_a_unified_trace(folder, tmp_path):
    """Transmissions and receptions are those that saluki-merge prints, in one trace of several files."""
    sim.simulate(seconds=8.0, sensors=12, aps=9, stas=40).write_stream(tmp_path / "air.pcapng")
    program.run("-q", "-w", folder, "-C", "1", tmp_path / "air.pcapng")
    parts = sorted(folder.glob("*.pcapng"))
    want = [row for part in parts for row in program.rows(part)]
    columns = columns_of(folder)
    receptions = tables(folder, columns, "receptions")
    transmissions = tables(folder, columns, "transmissions")
    assert len(parts) > 1 and len({t["trace"] for t in transmissions}) == 1
    assert len(receptions) == len(want) and {r["trace"] for r in receptions} == {t["trace"] for t in transmissions}
    heard = sorted((r["transmission"], r["sensor"], r["off_ns"], r["sigma_ns"], r["reception_flags"], r["part"])
                   for r in receptions)
    assert [h[0] for h in heard] == sorted(int(w["transmission"]) for w in want)
    numbers = [t["transmission"] for t in transmissions]
    assert len(numbers) == len(set(numbers)) and set(numbers) == {h[0] for h in heard}
    late = sum(1 for r in receptions if r["reception_flags"] & 1)
    assert sum(t["receptions"] for t in transmissions) + late == len(receptions)
    assert made.read_index(folder / f"{parts[0].name.removesuffix('.pcapng')}.idx").flags & 2


def test_a_section_has_its_own_sensors(folder, frames):
    """A reception of a sensor that an earlier section has described has no name."""
    write(folder, 1, made.two_sections(frames[0].data))
    receptions = tables(folder, columns_of(folder), "receptions")
    assert sorted((r["transmission"], r["sensor"]) for r in receptions) == [(1, ""), (1, "s-1"), (2, ""), (2, "s-2")]
    index, = folder.glob("*.idx")
    assert [(s.name, s.frames) for s in made.read_index(index).sensors] == [("s-1", 1), ("s-2", 1)]


def test_late_receptions_alone(folder, frames):
    """They are of transmissions in earlier files, so that there is no table of transmissions."""
    late = made.struct.pack(">HBBbiIHq", 1, 0, 1, -50, 5, 7, 0, 9)
    late = made.struct.pack(">IB", made.ENTERPRISE, 1) + late
    options = [made.option(5, made.struct.pack("<Q", 77)), made.option(2989, late)]
    f = frames[0]
    write(folder, 1, made.section("saluki-merge 1.0") + made.interface()
          + made.packet(f.time_ns, f.data, f.orig_len, options=options))
    columns = columns_of(folder)
    (row,) = tables(folder, columns, "receptions")
    assert (row["transmission"], row["sensor"], row["reception_flags"]) == (77, "lib", 1)
    assert {p.name for p in columns.iterdir() if not p.name.startswith(".")} == {"receptions"}


@pytest.mark.parametrize("pseudonyms", [False, True])
def test_what_is_found_in_a_unified_trace(folder, tmp_path, pseudonyms):
    """It is a part of the trace: its receptions name the sensors, and its number is the trace's."""
    sim.simulate(seconds=4.0, sensors=6, aps=4, stas=9).write_stream(tmp_path / "air.pcapng")
    program.run("-q", "-w", folder, "-C", "1", tmp_path / "air.pcapng")
    key = tmp_path / "key"
    key.write_bytes(base64.b64encode(bytes(range(32))) + b"\n")
    key.chmod(0o600)
    study = tmp_path / "study/captures"
    study.mkdir(parents=True)
    found = study.parent / "columns"
    found.mkdir()
    keep("find", *(["--pseudonyms", key] if pseudonyms else []), "--sensor", "s-2", "-w", study / "found.pcapng",
         "--columns", found, folder, "type", "mgt")
    columns = columns_of(folder)
    heard = [r for r in tables(folder, columns, "receptions")]
    management = {t["transmission"] for t in tables(folder, columns, "transmissions") if t["type"] == 0}
    by_s2 = {r["transmission"] for r in heard if r["sensor"] == "s-2"} & management
    assert {t["transmission"] for t in tables(study, found, "transmissions")} == by_s2 and by_s2
    assert not tables(study, found, "frames")
    assert (sorted((r["trace"], r["transmission"], r["sensor"], r["stamp"]) for r in tables(study, found, "receptions"))
            == sorted((r["trace"], r["transmission"], r["sensor"], r["stamp"]) for r in heard
                      if r["transmission"] in by_s2))


def test_two_traces_in_one_file_are_said(folder, tmp_path):
    for seed in (1, 2):
        sim.simulate(seconds=1.0, sensors=3, aps=2, stas=4, seed=seed).write_stream(tmp_path / "air.pcapng")
        program.run("-q", "-w", folder / f"{seed}.pcapng", tmp_path / "air.pcapng")
    _, said = keep("find", "-w", tmp_path / "found.pcapng", folder)
    assert said.count("several unified traces") == 1


def test_tables_of_two_traces_are_not_written(folder, tmp_path):
    """Their transmissions have the same numbers."""
    found = tmp_path / "tables"
    found.mkdir()
    for seed in (1, 2):
        sim.simulate(seconds=1.0, sensors=3, aps=2, stas=4, seed=seed).write_stream(tmp_path / "air.pcapng")
        program.run("-q", "-w", folder / f"{seed}.pcapng", tmp_path / "air.pcapng")
    _, said = keep("find", "-w", tmp_path / "x.pcapng", "--columns", found, folder, status=1)
    assert "tables of several unified traces cannot be joined" in said and not list(found.rglob("*.parquet"))


def test_found_tables_replace_those_of_the_same_name(folder, frames, tmp_path):
    """Also those of another day, and also if nothing is found: they had real addresses."""
    write(folder, 1, Capture().add(frames).bytes())
    found = tmp_path / "tables"
    found.mkdir()
    keep("find", "-w", tmp_path / "x.pcapng", "--columns", found, folder)
    day, = (found / "frames").iterdir()
    assert len(tables(folder, found)) == len(frames)
    day.rename(day.parent / "day=2026-01-01")
    keep("find", "-w", tmp_path / "x.pcapng", "--columns", found, folder)
    assert len(tables(folder, found)) == len(frames)
    keep("find", "--mac", "00:00:00:00:00:01", "-w", tmp_path / "x.pcapng", "--columns", found, folder)
    assert not list(found.rglob("*.parquet")) and (found / ".saluki-columns").read_bytes() == b""


def test_readers_read_an_archive_as_one_table(folder, frames):
    made.make_series(folder, 3, frames)
    columns = columns_of(folder)
    files = sorted((columns / "frames").glob("day=*/*.parquet"))
    for path in files:
        pq.ParquetFile(path).read().validate(full=True)
    count = len(frames) // 3 * 3 + 1
    everything = f"read_parquet('{columns}/frames/*/*.parquet', hive_partitioning=true)"
    assert duckdb.sql(f"select count(*) from {everything}").fetchall() == [(count,)]
    assert polars.scan_parquet(columns / "frames/**/*.parquet").select(polars.len()).collect().item() == count
    assert pq.read_table(columns / "frames").num_rows == count
    by_duckdb = duckdb.sql(f"select transmitter, count(*) from {everything} group by 1 order by 1").fetchall()
    by_polars = (polars.scan_parquet(columns / "frames/**/*.parquet").group_by("transmitter").len().collect().rows())
    assert dict(by_duckdb) == dict(by_polars) and len(by_duckdb) > 5


def test_killed_again_with_columns_there_is_one_row_a_frame(folder, frames):
    """Columns of a file that is packed again replace those before."""
    made.make_series(folder, 1, frames)
    data = (folder / file_name(1)).read_bytes()
    stamp = (folder / file_name(1)).stat().st_mtime_ns
    columns = columns_of(folder, finished=False)
    (folder / file_name(1)).write_bytes(data)
    made.os.utime(folder / file_name(1), ns=(stamp, stamp))
    assert columns_of(folder, finished=False) == columns
    assert len(tables(folder, columns)) == len(frames)


@pytest.mark.parametrize("compress", ["zstd", "none"])
def test_files_that_were_packed_before_get_their_tables(folder, frames, compress):
    made.make_series(folder, 2, frames)
    keep("--once", "--compress", compress, folder)
    columns = folder.parent / "columns"
    columns.mkdir()
    for _ in range(2):  # and only once
        keep("--once", "--compress", compress, "--columns", columns, folder)
        assert len(tables(folder, columns)) == len(frames) // 2 * 2
        stamps = {path: path.stat().st_ino for path in columns.rglob("*.parquet")}
    keep("--once", "--compress", compress, "--columns", columns, folder)
    assert stamps == {path: path.stat().st_ino for path in columns.rglob("*.parquet")}


def test_tables_of_pseudonyms(folder, frames, tmp_path):
    """Of what find has written: no original address or SSID is there, and each station has one name."""
    write(folder, 1, Capture().add(frames).bytes())
    write(folder, 2, made.section() + made.interface())
    keep("--once", folder)
    study = tmp_path / "study"
    (study / "captures").mkdir(parents=True)
    key = tmp_path / "key"
    key.write_bytes(base64.b64encode(bytes(range(32))) + b"\n")
    key.chmod(0o600)
    (study / "columns").mkdir()
    keep("find", "--to", "@9000000000", "--pseudonyms", key, "-w", study / "captures/study.pcapng", "--columns",
         study / "columns", folder)
    real = tables(folder, columns_of(folder))
    shown = tables(study / "captures", study / "columns")
    assert len(shown) == len(real) and {row["file"] for row in shown} == {"study.pcapng"}
    data = (study / "captures/study.pcapng").read_bytes()
    assert all(data[row["file_offset"]:][:4] == b"\x06\0\0\0" for row in shown)
    kept = {"ff:ff:ff:ff:ff:ff", None}
    secret = {row[name] for row in real for name in ADDRESSES} - kept
    secret = {a for a in secret if not a.startswith(("33:33:00:00:00", "01:00:5e:00:00", "01:80:c2:00:00"))}
    ssids = {row["ssid"] for row in real} - {None, ""}
    assert len(secret) > 5 and len(ssids) > 2
    assert not secret & {row[name] for row in shown for name in ADDRESSES}
    assert not ssids & {row["ssid"] for row in shown}
    names = {}
    for one, other in zip(sorted(real, key=lambda r: ns(r["time"])), sorted(shown, key=lambda r: ns(r["time"])),
                          strict=True):
        for name in ADDRESSES:
            assert names.setdefault(one[name], other[name]) == other[name]
    assert len(set(names.values())) == len(names)


def test_a_columns_folder_of_other_captures(folder, frames, tmp_path):
    """Files of the same name would replace each other."""
    tables, other = tmp_path / "tables", tmp_path / "other"
    tables.mkdir()
    other.mkdir()
    for captured in (folder, other):
        made.make_series(captured, 1, frames)
    keep("--once", "--finished", "--columns", tables, folder)
    before = sorted(tables.rglob("*"))
    _, said = keep("--once", "--finished", "--columns", tables, other, status=1)
    assert f"{tables}: has the tables of {folder}; use another folder" in said
    assert sorted(tables.rglob("*")) == before and not list(other.glob("*.zst"))
    keep("--once", "--finished", "--columns", tables, f"{folder}/../{folder.name}")
    (tables / ".saluki-columns").unlink()
    keep("--once", "--finished", "--columns", tables, other)


def test_captures_that_were_moved_keep_their_tables(folder, frames, tmp_path):
    made.make_series(folder, 2, frames)
    found, moved = tmp_path / "tables", tmp_path / "moved"
    found.mkdir()
    keep("--once", "--columns", found, folder)
    state = {p: p.stat().st_ino for p in found.rglob("*.parquet")}
    folder.rename(moved)
    _, said = keep("--once", "--columns", found, moved)
    assert f"{found}: the captures were moved from {folder}" in said
    assert state == {p: p.stat().st_ino for p in found.rglob("*.parquet")}
    assert "moved" not in keep("--once", "--columns", found, moved)[1]
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    moved.rename(tmp_path / "gone")
    assert "has the tables of" in keep("--once", "--columns", found, stranger, status=1)[1]


def test_another_folder_of_tables_gets_all_tables(folder, frames, tmp_path):
    made.make_series(folder, 2, frames)
    one, other = tmp_path / "one", tmp_path / "other"
    for tables_folder in (one, other):
        tables_folder.mkdir()
        keep("--once", "--finished", "--columns", tables_folder, folder)
    assert len(tables(folder, one)) == len(tables(folder, other)) == len(frames) // 2 * 2 + 1
    state = {p: p.stat().st_ino for p in other.rglob("*.parquet")}
    keep("--once", "--finished", "--columns", other, folder)
    assert state == {p: p.stat().st_ino for p in other.rglob("*.parquet")}


@pytest.mark.parametrize("name, why", [("part-00001", "joined tables have such names"), ("a\udcff", "it is not UTF-8"),
                                       ("b\x1bc", "control characters"), ("_d", "pandas and Spark"),
                                       (".e", "pandas and Spark")])
def test_names_that_tables_cannot_have(folder, frames, name, why):
    """A joined table would be replaced, and DuckDB reads no folder with such a name."""
    path = folder / f"{name}.pcapng"
    path.write_bytes(Capture().add(frames[:10]).bytes())
    columns = folder.parent / "columns"
    columns.mkdir()
    _, said = keep("--once", "--finished", "--columns", columns, folder, status=1)
    assert "tables cannot have this name: " in said and why in said and "\x1b" not in said
    assert path.exists() and not list(columns.rglob("*.parquet"))
    keep("--once", "--finished", folder)
    assert not path.exists()


def test_a_columns_folder_that_is_not_there(folder, frames):
    made.make_series(folder, 1, frames)
    _, said = keep("--once", "--columns", folder / "nowhere", folder, status=1)
    assert "--columns" in said and "No such file" in said
    assert subprocess.run(["ls", folder], capture_output=True, text=True, check=True).stdout.count(".zst") == 0
