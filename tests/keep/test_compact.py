# SPDX-License-Identifier: GPL-2.0
"""saluki-keep: the columns of closed days are joined, and deleted when they are too old."""
import datetime
import os
import random
import shutil
import signal
import subprocess
import time

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from keep import made
from keep.made import Capture, file_name, keep, make_series, write
from keep.test_service import stem, stems, wait_for
from netns.testbed import BUILD

KEY = b"saluki.sources"
OWNER = ".saluki-columns"  # without it, the columns are given to another folder's program


def day(days_ago):
    return f"day={datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days_ago):%Y-%m-%d}"


def files(columns, table="frames"):
    return {str(p.relative_to(columns / table)): p for p in (columns / table).rglob("*") if p.is_file()}


def rows(columns, table="frames"):
    """All rows of a table, sorted, as one reader has them."""
    found = [pq.ParquetFile(p).read() for p in files(columns, table).values() if p.name.endswith(".parquet")]
    return sorted(map(repr, pa.concat_tables(found).to_pylist()))


@pytest.fixture(name="columns")
def fixture_columns(tmp_path):
    (tmp_path / "columns").mkdir()
    return tmp_path / "columns"


def packed_day(folder, columns, frames, count=4, days_ago=3):
    """Frames of a day that is over, not joined yet. Returns its folder."""
    make_series(folder, count, frames)
    keep("--once", "--columns", columns, folder)
    (columns / OWNER).unlink()
    here, = {p.parent for p in files(columns).values()}
    return here.rename(here.parent / day(days_ago))


def idle(tmp_path):
    """A folder without captures."""
    (tmp_path / "none").mkdir(exist_ok=True)
    return tmp_path / "none"


# ---- joining -----------------------------------------------------------------------------------------------------

def test_a_closed_day_becomes_one_file(folder, columns, frames, tmp_path):
    where = packed_day(folder, columns, frames)
    before = rows(columns)
    newest = max(p.stat().st_mtime_ns // 10**9 for p in where.iterdir())
    _, said = keep("--once", "--columns", columns, idle(tmp_path))
    part, = where.iterdir()
    assert part.name == "part-00001.parquet" and f"frames/{where.name}: joined 4 files into part-00001.parquet" in said
    assert rows(columns) == before
    f = pq.ParquetFile(part)
    assert [line.split()[2] for line in f.metadata.metadata[KEY].decode().splitlines()] == [
        f"{stem(n)}.parquet" for n in (1, 2, 3, 4)]
    assert f.metadata.created_by.startswith("saluki-keep ")
    assert f.metadata.num_row_groups == 4 and part.stat().st_mtime_ns // 10**9 == newest
    names = duckdb.execute("select file from read_parquet(?)", [str(part)]).fetchall()
    assert [n for n, in names] == sorted(n for n, in names) and len(names) == len(before)
    assert polars.read_parquet(part).height == len(before)


def test_recent_days_are_not_closed(folder, columns, frames, tmp_path):
    where = packed_day(folder, columns, frames, days_ago=1)
    keep("--once", "--columns", columns, idle(tmp_path))
    assert len(list(where.iterdir())) == 4
    where.rename(where.parent / day(2))
    keep("--once", "--columns", columns, idle(tmp_path))
    assert len(list((where.parent / day(2)).iterdir())) == 1


def test_a_late_capture_file_is_joined_next_time(folder, columns, frames, tmp_path):
    where = packed_day(folder, columns, frames)
    keep("--once", "--columns", columns, idle(tmp_path))
    (columns / OWNER).unlink()
    late = folder.parent / "late"
    late.mkdir()
    write(late, 1, Capture().add(frames[:70]).bytes(), "late", age_s=3 * 86400)
    write(late, 2, Capture().add(frames[:1]).bytes(), "late")
    _, said = keep("--once", "--columns", columns, late)
    assert "joined 2 files into part-00002.parquet" in said
    part, = where.iterdir()
    sources = [line.split()[2] for line in pq.ParquetFile(part).metadata.metadata[KEY].decode().splitlines()]
    assert set(sources) == {"part-00001.parquet", f"{stem(1, 'late')}.parquet",
                            *(f"{stem(n)}.parquet" for n in (1, 2, 3, 4))}
    assert len(rows(columns)) == len(frames) // 4 * 4 + 70


def test_a_second_look_changes_nothing(folder, columns, frames, tmp_path):
    packed_day(folder, columns, frames)
    keep("--once", "--columns", columns, idle(tmp_path))
    state = {name: (p.stat().st_ino, p.stat().st_mtime_ns) for name, p in files(columns).items()}
    keep("--once", "--columns", columns, idle(tmp_path))
    assert state == {name: (p.stat().st_ino, p.stat().st_mtime_ns) for name, p in files(columns).items()}


def test_the_service_joins_too(folder, columns, frames, tmp_path):
    where = packed_day(folder, columns, frames)
    with subprocess.Popen([made.PROGRAM, "--columns", columns, idle(tmp_path)], stderr=subprocess.PIPE) as service:
        try:
            wait_for(lambda: [p.name for p in where.iterdir()] == ["part-00001.parquet"])
        finally:
            service.send_signal(signal.SIGTERM)
            service.communicate(timeout=20)
    assert service.returncode == 0


# ---- what is interrupted -----------------------------------------------------------------------------------------

def test_killed_at_any_moment_nothing_is_lost_or_twice(folder, columns, frames, tmp_path):
    """50 times: each second time as soon as the part has its name. A whole run then has all rows once."""
    r = random.Random(2)
    where = packed_day(folder, columns, frames * 10, 40)
    spare = tmp_path / "spare"
    shutil.copytree(where, spare)
    before, partly = rows(columns), 0
    for n in range(50):
        with subprocess.Popen([made.PROGRAM, "--once", "--columns", columns, idle(tmp_path)],
                              stderr=subprocess.DEVNULL) as one:
            if n % 2:
                while one.poll() is None and not (where / "part-00001.parquet").exists():
                    pass
            else:
                time.sleep(r.uniform(0.003, 0.02)) # the moment is random: nothing is awaited
            one.kill()
        names = {p.name for p in where.iterdir()}
        partly += len(names) > 1 and "part-00001.parquet" in names
        assert set(before) == set(rows(columns))
        keep("--once", "--columns", columns, idle(tmp_path))
        assert [p.name for p in where.iterdir()] == ["part-00001.parquet"]
        assert rows(columns) == before
        shutil.rmtree(where)
        shutil.copytree(spare, where)
    assert partly # some were killed while they deleted sources


def test_a_service_that_is_told_to_stop_ends_at_once(folder, columns, frames, tmp_path):
    where = packed_day(folder, columns, frames * 10, 40)
    before = rows(columns)
    with subprocess.Popen([made.PROGRAM, "--columns", columns, idle(tmp_path)], stderr=subprocess.DEVNULL) as service:
        while not any(p.name.startswith("part-") for p in where.iterdir()):
            assert service.poll() is None
        service.send_signal(signal.SIGTERM)
        assert service.wait(timeout=20) == 0
    assert not list(where.glob(".*")) and rows(columns) == before


@pytest.mark.parametrize("left", [(1,), (2, 4), (1, 2, 3, 4)])
def test_sources_that_a_killed_program_left_are_deleted(folder, columns, frames, tmp_path, left):
    """So is a capture file's table that was written again."""
    where = packed_day(folder, columns, frames)
    before, spare = rows(columns), tmp_path / "spare"
    shutil.copytree(where, spare)
    keep("--once", "--columns", columns, idle(tmp_path))
    for n in left:
        shutil.copy2(spare / f"{stem(n)}.parquet", where)
    (where / ".saluki-keep.parquet.new").write_bytes(b"half")
    keep("--once", "--columns", columns, idle(tmp_path))
    assert [p.name for p in where.iterdir()] == ["part-00001.parquet"] and rows(columns) == before


def test_columns_that_are_made_again_are_not_twice(folder, columns, frames):
    """The index of a capture file is lost, whose columns were joined long ago."""
    make_series(folder, 3, frames)
    for n in (1, 2, 3):
        path = folder / file_name(n)
        os.utime(path, (path.stat().st_mtime - 3 * 86400,) * 2)
    keep("--once", "--columns", columns, folder)
    before = rows(columns)
    assert list(files(columns)) == [f"{day(3)}/part-00001.parquet"]
    (folder / f"{stem(2)}.idx").unlink()
    keep("--once", "--columns", columns, folder)
    assert stems(folder)[stem(2)] == {"pcapng.zst", "idx"}
    assert list(files(columns)) == [f"{day(3)}/part-00001.parquet"] and rows(columns) == before


def test_joined_tables_that_are_made_again_after_a_move(folder, columns, frames, tmp_path):
    """tar keeps times in whole seconds."""
    make_series(folder, 3, frames)
    for n in (1, 2, 3):
        os.utime(folder / file_name(n), (time.time() - 3 * 86400,) * 2)
    keep("--once", "--columns", columns, folder)
    before, moved = rows(columns), tmp_path / "moved"
    moved.mkdir()
    subprocess.run(f"tar -C {folder} -cf - . | tar -C {moved} -xf -", shell=True, check=True)
    shutil.rmtree(folder)
    (columns / OWNER).unlink()
    keep("--once", "--columns", columns, moved)
    assert rows(columns) == before


def test_another_capture_of_the_same_name_is_joined(folder, columns, frames, tmp_path):
    where = packed_day(folder, columns, frames)
    spare = tmp_path / "spare"
    shutil.copytree(where, spare)
    keep("--once", "--columns", columns, idle(tmp_path))
    count = len(rows(columns))
    shutil.copy(spare / f"{stem(2)}.parquet", where)
    os.utime(where / f"{stem(2)}.parquet", (time.time() + 2,) * 2)  # of another time
    more = len(rows(columns)) - count
    assert more
    keep("--once", "--columns", columns, idle(tmp_path))
    assert [p.name for p in where.iterdir()] == ["part-00002.parquet"] and len(rows(columns)) == count + more


# ---- what cannot be joined ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("damage", ["cut", "empty", "footer"])
def test_a_damaged_file_is_left_and_named_once(folder, columns, frames, tmp_path, damage):
    where = packed_day(folder, columns, frames)
    bad = where / f"{stem(2)}.parquet"
    data = bad.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data = {"cut": data[:-9], "empty": b"", "footer": data[:footer] + bytes(9) + data[footer + 9:]}[damage]
    bad.write_bytes(data)
    _, said = keep("--once", "--columns", columns, idle(tmp_path))
    assert {p.name for p in where.iterdir()} == {bad.name, "part-00001.parquet"} and bad.read_bytes() == data
    assert said.count(f"{bad.name}: malformed") == 1
    assert pq.ParquetFile(where / "part-00001.parquet").metadata.num_rows == len(frames) // 4 * 3


def test_foreign_files_stay(folder, columns, frames, tmp_path):
    """Those of other programs, of other versions, and links."""
    where = packed_day(folder, columns, frames)
    table = pq.read_table(where / f"{stem(1)}.parquet")
    for name in ("mine.parquet", "yours.parquet"):
        pq.write_table(table, where / name)
    (where / "notes.txt").write_text("x")
    (where / "link.parquet").symlink_to(where / f"{stem(3)}.parquet")
    os.mkfifo(where / "pipe.parquet")
    keep("--once", "--columns", columns, idle(tmp_path))
    assert {p.name for p in where.iterdir()} == {"mine.parquet", "yours.parquet", "notes.txt", "link.parquet",
                                                 "pipe.parquet", "part-00001.parquet"}


def test_a_full_disk_is_tried_again(folder, columns, frames, tmp_path):
    where = packed_day(folder, columns, frames * 20)
    small = tmp_path / "small"
    small.mkdir()
    size = sum(p.stat().st_size for p in where.iterdir())
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size * 3 // 2 // 4096 * 4096}", "none", small], check=True)
    try:
        shutil.copytree(columns, small, dirs_exist_ok=True)
        before = rows(small)
        _, said = keep("--once", "--columns", small, idle(tmp_path))
        there = small / "frames" / where.name
        assert sorted(p.name for p in there.iterdir()) == [f"{stem(n)}.parquet" for n in (1, 2, 3, 4)], said
        subprocess.run(["mount", "-o", f"remount,size={size * 4 // 4096 * 4096}", small], check=True)
        keep("--once", "--columns", small, idle(tmp_path))
        assert [p.name for p in there.iterdir()] == ["part-00001.parquet"] and rows(small) == before
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_part_with_the_highest_number(folder, columns, frames, tmp_path):
    """The number of the next part could wrap around, and a part replace itself."""
    where = packed_day(folder, columns, frames)
    before = rows(columns)
    (where / f"{stem(1)}.parquet").rename(where / "part-4294967295.parquet")
    for _ in range(2):
        keep("--once", "--columns", columns, idle(tmp_path))
    assert rows(columns) == before


def test_a_disk_that_is_kept_full_has_room_for_a_join(folder, columns, frames):
    """--min-free leaves nothing for a part: some more capture files are deleted for it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", folder.parent], check=True)
    try:
        folder.mkdir()
        columns.mkdir()
        make_series(folder, 40, frames * 5)
        keep("--once", "--columns", columns, folder)
        here, = {p.parent for p in files(columns).values()}
        for path in list(here.iterdir())[4:]:
            path.unlink()
        here.rename(here.parent / day(3))
        before = rows(columns)
        room = os.statvfs(folder)
        _, said = keep("--once", "--columns", columns, "--min-free", room.f_bavail * room.f_frsize - 4096, folder)
        assert "joined 4 files into part-00001.parquet" in said and rows(columns) == before
        assert 36 < len(stems(folder)) < 41
    finally:
        subprocess.run(["umount", folder.parent], check=True)


# ---- age ---------------------------------------------------------------------------------------------------------

def test_old_days_are_deleted(folder, columns, frames, tmp_path):
    old = packed_day(folder, columns, frames, days_ago=30)
    for name in (day(14), day(13), day(1), "day=other"):
        shutil.copytree(old, old.parent / name)
    mixed, foreign = old.parent / day(31), columns / "others" / day(50)
    shutil.copytree(old, mixed)
    (mixed / "notes.txt").write_text("x")
    shutil.copytree(old, foreign)
    _, said = keep("--once", "--columns", columns, "--columns-age", "14d", idle(tmp_path))
    assert "deleted 8 files of columns" in said
    assert {p.name for p in old.parent.iterdir()} == {day(14), day(13), day(1), "day=other", mixed.name}
    assert [p.name for p in mixed.iterdir()] == ["notes.txt"] and len(list(foreign.iterdir())) == 4


def test_columns_live_for_ever_unless_told(folder, columns, frames, tmp_path):
    packed_day(folder, columns, frames, days_ago=3000)
    before = rows(columns)
    keep("--once", "--columns", columns, "--max-age", "1h", idle(tmp_path))
    assert rows(columns) == before


@pytest.mark.parametrize("arguments, why", [
    (["--columns-age", "14d"], "--columns-age needs --columns"),
    (["--columns", ".", "--columns-age", "1y"], "--columns-age 1y: must be"),
])
def test_bad_ages(folder, arguments, why):
    _, said = keep("--once", *arguments, folder, status=2)
    assert why in said


def test_a_clock_that_jumps_deletes_no_columns(folder, columns, frames, tmp_path):
    where = packed_day(folder, columns, frames, days_ago=1)
    other = folder.parent / "other"
    other.mkdir()
    make_series(other, 1, frames)
    ahead = tmp_path / "ahead"
    ahead.write_text("0")
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "tests/clock.so"), "SALUKI_CLOCK": str(ahead)}
    with subprocess.Popen([made.PROGRAM, "--columns", columns, "--columns-age", "14d", other], stderr=subprocess.PIPE,
                          env=environment) as service:
        try:
            wait_for(lambda: stems(other).get(stem(1)) == {"pcapng.zst", "idx"})
            ahead.write_text(str(2 * 365 * 86400))
            write(other, 3, Capture().add(frames[:1]).bytes()) # which it looks at
            for line in service.stderr:
                if b"the clock was set forward" in line:
                    break
        finally:
            service.send_signal(signal.SIGTERM)
            service.communicate(timeout=20)
    assert len(list(where.iterdir())) == 4
