# SPDX-License-Identifier: GPL-2.0
"""What saluki-keep costs, and how soon an archive answers. The frames are those of simulated airs (tests/merge/sim.py): a
building with 100 sensors, and different frames with each seed."""
import bisect
import os
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import time

import duckdb
import pyarrow.parquet as pq

from merge import sim
from netns import testbed

PROGRAM = testbed.BUILD / "saluki-keep"
SECONDS = 60.0  # of an air: 1.7 M frames
WEEK, HOLDERS = 700, 10  # files, and how many of them have the address
AIRS = 7  # of the tables: more than 10 M rows
MONTH = 3000  # files
MONTH_ROWS = 3333  # of each
ROUNDS = 5
ABSENT, SOUGHT = "de:ad:be:ef:00:01", "02:fe:ed:00:00:01"
SQLITE_ROWS = 1_000_000


def cpu(*arguments):
    """Runs saluki-keep. Its CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROGRAM, "-q", *map(str, arguments)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best(action, rounds=ROUNDS):
    """The least of several times, in seconds, and what the action gave."""
    found, got = [], None
    for _ in range(rounds):
        begun = time.perf_counter()
        got = action()
        found.append(time.perf_counter() - begun)
    return min(found), got


def write_air(path, seed):
    sim.simulate(seed=seed, seconds=SECONDS, batch=True).write_stream(path)


def pack(folder, air, name, columns=None):
    """Packs a copy of an air's capture. CPU seconds."""
    shutil.copy(air, folder / f"{name}.pcapng")
    return cpu("--once", "--finished", *(["--columns", columns] if columns else []), folder)


# ---- packing -----------------------------------------------------------------------------------------------------

def packing(directory, air, say):
    with_columns, without = [], []
    for n in range(3):
        for name, found, columns in (("with", with_columns, directory / f"columns-{n}"), ("without", without, None)):
            folder = directory / f"{name}-{n}"
            for f in filter(None, (folder, columns)):
                f.mkdir()
            found.append(pack(folder, air, "air", columns))
    folder, columns = directory / "with-0", directory / "columns-0"
    rows = sum(pq.ParquetFile(p).metadata.num_rows for p in columns.rglob("*.parquet"))
    size = sum(p.stat().st_size for p in columns.rglob("*.parquet"))
    packed, index = ((folder / f"air{end}").stat().st_size for end in (".pcapng.zst", ".idx"))
    out = {"keep_cpu_s_per_m": min(with_columns) / rows * 1e6,
           "columns_ns_row": (min(with_columns) - min(without)) / rows * 1e9,
           "columns_bytes_row": size / rows, "index_share": index / packed,
           "keep_pcapng_bytes_frame": air.stat().st_size / rows, "keep_zst_bytes_frame": packed / rows}
    say(f"    {rows:,} frames: {out['keep_cpu_s_per_m']:.2f} CPU seconds a million, of which columns "
        f"{out['columns_ns_row']:.0f} ns a row; {out['keep_pcapng_bytes_frame']:.1f} bytes a frame as pcapng, "
        f"{out['keep_zst_bytes_frame']:.1f} compressed, index {100 * out['index_share']:.2f} %, columns "
        f"{out['columns_bytes_row']:.1f}")
    return out


# ---- searching ---------------------------------------------------------------------------------------------------

def addresses_of(columns):
    """Transmitters with their frames, the fewest first."""
    return duckdb.sql(f"select transmitter, count(*) as n from read_parquet('{columns}/frames/*/*.parquet') "
                      "where transmitter is not null group by 1 order by n").fetchall()


def some_transmitter(directory, air):
    """One with some hundred frames."""
    folder, columns = directory / "some", directory / "some-columns"
    for f in (folder, columns):
        f.mkdir()
    pack(folder, air, "air", columns)
    return next(a for a, frames in addresses_of(columns) if frames >= 300)


def renamed(data, old, new):
    """A capture with another address in its frames."""
    out, at = bytearray(data), data.find(old)
    begins, place = [], 0
    while place < len(data):
        kind, size, = int.from_bytes(data[place:place + 4], "little"), int.from_bytes(data[place + 4:place + 8], "little")
        if kind == 6:
            begins.append(place)
        place += size
    while at >= 0:
        block = begins[bisect.bisect(begins, at) - 1]
        if at - block >= 28 and at + 6 <= block + int.from_bytes(data[block + 4:block + 8], "little") - 4:
            out[at:at + 6] = new
        at = data.find(old, at + 1)
    return bytes(out)


def searching(directory, airs, say):
    """A week: copies of one file, and some of another one, that alone have the address."""
    week, single = directory / "week", [directory / f"single-{n}" for n in (0, 1)]
    for f in (week, *single):
        f.mkdir()
    pack(single[0], airs[0], "air")
    old = bytes.fromhex(some_transmitter(directory, airs[1]).replace(":", ""))
    other = directory / "other.pcapng"
    other.write_bytes(renamed(airs[1].read_bytes(), old, bytes.fromhex(SOUGHT.replace(":", ""))))
    pack(single[1], other, "air")
    address = SOUGHT
    for n in range(WEEK):
        of = single[n % (WEEK // HOLDERS) == 7]
        for end in (".pcapng.zst", ".idx"):
            os.link(of / f"air{end}", week / f"saluki_{n + 1:05}_{20261101000000 + n}{end}")

    def find(mac):
        out = subprocess.run([PROGRAM, "find", "-q", "--mac", mac, week], capture_output=True, text=True, check=True)
        return int(out.stdout.split("\n")[-2].split()[1])
    found_s, frames = best(lambda: find(address))
    absent_s, none = best(lambda: find(ABSENT))
    assert frames and frames % HOLDERS == 0 and none == 0
    one = next(week.glob("*_00008_*.zst"))
    filtering = ["tshark", "-n", "-r", one, "-Y", f"wlan.addr == {address}"]
    tshark_s, matched = best(lambda: subprocess.run(filtering, capture_output=True, check=True).stdout.count(b"\n"), 1)
    assert matched * HOLDERS == frames
    out = {"find_address_s": found_s, "find_absent_s": absent_s, "tshark_week_s": tshark_s * WEEK}
    say(f"    {WEEK} files of {airs[0].stat().st_size >> 20} MiB, {HOLDERS} with the address: {found_s:.2f} s; an absent "
        f"address {absent_s:.2f} s; tshark {tshark_s:.1f} s for one file, so {tshark_s * WEEK:,.0f} s for all")
    return out


# ---- tables ------------------------------------------------------------------------------------------------------

def query(files, address):
    """The frames that an address has sent."""
    return duckdb.sql(f"select count(*), min(time), max(time) from read_parquet('{files}') "
                      f"where transmitter = '{address}'").fetchall()[0][0]


def tables(directory, airs, say):
    columns, captures = directory / "tables", directory / "tables-captures"
    for f in (columns, captures):
        f.mkdir()
    for n, air in enumerate(airs):
        pack(captures, air, f"air-{n}", columns)
        for path in captures.glob("*.zst"):
            path.unlink()
    files = columns / "frames/*/*.parquet"
    everyone = addresses_of(columns)
    rows = duckdb.sql(f"select count(*) from '{files}'").fetchall()[0][0]
    address = next(a for a, frames in everyone if frames >= 1000)
    present_s, frames = best(lambda: query(files, address))
    absent_s, none = best(lambda: query(files, ABSENT))
    assert frames and not none
    say(f"    {rows:,} rows in DuckDB: frames that one address has sent ({frames:,}) {1000 * present_s:.0f} ms, an absent "
        f"address {1000 * absent_s:.0f} ms")
    return {"duckdb_address_ms": 1000 * present_s, "duckdb_absent_ms": 1000 * absent_s,
            **month(directory, airs, say), **sqlite(directory, columns, say)}


def month(directory, airs, say):
    """Small files of 30 days: 30 different ones, a hundred times each."""
    captures, columns, whole = (directory / f"month-{n}" for n in ("captures", "columns", "whole"))
    for f in (captures, columns, whole):
        f.mkdir()
    made = pathlib.Path(airs[0]).read_bytes()
    for day in range(30):
        (captures / f"day-{day:02}.pcapng").write_bytes(some_blocks(made, day * MONTH_ROWS, MONTH_ROWS))
    cpu("--once", "--finished", "--columns", columns, captures)
    for day in range(30):
        (whole / f"day=2026-11-{day + 1:02}").mkdir()
        source, = columns.glob(f"frames/*/day-{day:02}.parquet")
        for n in range(MONTH // 30):
            os.link(source, whole / f"day=2026-11-{day + 1:02}/saluki_{n:05}.parquet")
    files = whole / "*/*.parquet"
    address = addresses_of(columns)[0][0]
    took_s, frames = best(lambda: query(files, address), 3)
    assert frames
    say(f"    {MONTH:,} files of {MONTH_ROWS:,} rows: {1000 * took_s:.0f} ms")
    return {"duckdb_month_ms": 1000 * took_s}


def some_blocks(data, first, count):
    """A capture file with a run of another one's frames, and all of its interfaces."""
    out, at, frames = [], 0, 0
    while at < len(data) and frames < first + count:
        kind, size = int.from_bytes(data[at:at + 4], "little"), int.from_bytes(data[at + 4:at + 8], "little")
        frames += kind == 6
        if kind in (0x0a0d0d0a, 1) or (kind == 6 and frames > first):
            out.append(data[at:at + size])
        at += size
    return b"".join(out)


def sqlite(directory, columns, say):
    """The same rows in SQLite, with an index of the column that is asked for."""
    source = next(iter(sorted(columns.rglob("*.parquet"))))
    table = pq.read_table(source, partitioning=None).slice(0, SQLITE_ROWS)
    path, names = directory / "frames.sqlite", table.column_names
    rows = list(zip(*(c.cast("int64").to_pylist() if str(c.type).startswith("timestamp") else c.to_pylist()
                      for c in table.columns), strict=True))
    begun = time.perf_counter()
    with sqlite3.connect(path) as db:
        db.execute(f"create table frames ({', '.join(names)})")
        db.executemany(f"insert into frames values ({','.join('?' * len(names))})",
                       ([v if not isinstance(v, int) or v < 2**63 else v - 2**64 for v in row] for row in rows))
        db.execute("create index by_transmitter on frames (transmitter)")
    took_s, size = time.perf_counter() - begun, path.stat().st_size
    out = {"sqlite_bytes_row": size / len(rows), "sqlite_rows_s": len(rows) / took_s}
    say(f"    SQLite: {out['sqlite_bytes_row']:.0f} bytes a row, {out['sqlite_rows_s']:,.0f} rows a second")
    return out


def measure(directory, say):
    directory = pathlib.Path(directory)
    airs = [directory / f"air-{n}.pcapng" for n in range(AIRS)]
    for n, air in enumerate(airs):
        write_air(air, n + 1)
    return {**packing(directory, airs[0], say), **searching(directory, airs, say), **tables(directory, airs, say)}
