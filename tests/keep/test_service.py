# SPDX-License-Identifier: GPL-2.0
"""saluki-keep: which files it compresses, what it leaves alone, what it deletes."""
import collections
import fcntl
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest
import zstandard

from keep import made
from keep.made import Capture, file_name, keep, make_series, read_index, unpacked, write
from netns import testbed
from netns.testbed import BUILD

HOUR = 3600


def stems(folder):
    """Stem -> its forms, of what is in a folder."""
    found = collections.defaultdict(set)
    for path in pathlib.Path(folder).iterdir():
        stem, _, form = path.name.partition(".")
        if stem:
            found[stem].add(form)
    return dict(found)


def stem(number, series="saluki"):
    return file_name(number, series).removesuffix(".pcapng")


def contents(folder):
    """What a reader finds: each capture file's bytes, compressed or not."""
    found = {}
    for path in folder.iterdir():
        if path.name.endswith(".pcapng"):
            found[path.name] = path.read_bytes()
        elif path.name.endswith(".pcapng.zst"):
            found[path.name.removesuffix(".zst")] = unpacked(path)
    return found


# ---- what is compressed ------------------------------------------------------------------------------------------

def test_closed_files_become_one_frame_each_with_an_index(folder, frames):
    captures = make_series(folder, 3, frames)
    keep("--once", folder)
    assert stems(folder) == {**{stem(n): {"pcapng.zst", "idx"} for n in (1, 2, 3)}, stem(4): {"pcapng"}}
    for name, data in captures.items():
        assert unpacked(folder / f"{name}.zst") == data


def test_a_second_look_changes_nothing(folder, frames):
    make_series(folder, 2, frames)
    keep("--once", folder)
    before = {p.name: (p.stat().st_mtime_ns, p.stat().st_ino) for p in folder.glob("[!.]*")}
    keep("--once", folder)
    assert before == {p.name: (p.stat().st_mtime_ns, p.stat().st_ino) for p in folder.glob("[!.]*")}


def test_time_mode_and_group_stay(folder, frames):
    make_series(folder, 1, frames)
    path = folder / file_name(1)
    os.utime(path, ns=(1_700_000_000_123_456_789,) * 2)
    path.chmod(0o640)
    os.chown(path, 0, 12345)
    keep("--once", folder)
    for form in (f"{path.name}.zst", f"{stem(1)}.idx"):
        state = (folder / form).stat()
        assert (state.st_mtime_ns, state.st_mode & 0o777, state.st_gid) == (1_700_000_000_123_456_789, 0o640, 12345)


def test_without_compression_only_the_index_is_made(folder, frames):
    captures = make_series(folder, 2, frames)
    keep("--once", "--compress", "none", folder)
    assert stems(folder) == {**{stem(n): {"pcapng", "idx"} for n in (1, 2)}, stem(3): {"pcapng"}}
    assert contents(folder).items() >= captures.items()
    assert read_index(folder / f"{stem(1)}.idx").file_bytes == 0


def test_series_are_apart(folder, frames):
    make_series(folder, 2, frames)
    make_series(folder, 1, frames, series="lib")
    keep("--once", folder)
    left = {name for name, forms in stems(folder).items() if forms == {"pcapng"}}
    assert left == {stem(3), stem(2, "lib")}


def test_times_in_the_prefix_belong_to_one_series(folder, frames):
    for n, day in ((7, 28), (8, 29), (9, 30)):
        (folder / f"lib-2026-11-{day}_{n:05}.pcapng").write_bytes(Capture().add(frames[:50]).bytes())
    keep("--once", folder)
    assert stems(folder) == {"lib-2026-11-28_00007": {"pcapng.zst", "idx"}, "lib-2026-11-29_00008": {"pcapng.zst", "idx"},
                             "lib-2026-11-30_00009": {"pcapng"}}


# ---- what is left alone ------------------------------------------------------------------------------------------

def test_a_file_is_closed_when_the_next_one_has_more_than_its_header(folder, frames):
    """The collector has then noted what the file has (state file)."""
    write(folder, 1, Capture().add(frames).bytes())
    write(folder, 2, made.section())
    keep("--once", folder)
    assert stems(folder)[stem(1)] == {"pcapng"}
    write(folder, 2, made.section() + made.interface())
    keep("--once", folder)
    assert stems(folder)[stem(1)] == {"pcapng.zst", "idx"}


def test_a_locked_file_is_left_alone(folder, frames):
    make_series(folder, 2, frames)
    with (folder / file_name(1)).open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        _, said = keep("--once", folder)
        assert stems(folder)[stem(1)] == {"pcapng"} and stems(folder)[stem(2)] == {"pcapng.zst", "idx"}
        assert file_name(1) not in said  # it is no error
    keep("--once", folder)
    assert stems(folder)[stem(1)] == {"pcapng.zst", "idx"}


@pytest.mark.parametrize("data, why", [
    (b"", "is not a pcapng file"),
    (b"\xd4\xc3\xb2\xa1" + bytes(100), "is not a pcapng file"),
    (made.section("dumpcap 4.0") + made.interface(), "was not written by saluki-collector or saluki-merge"),
], ids=["empty", "pcap", "dumpcap"])
def test_files_of_others_are_left_and_named_once(folder, frames, data, why):
    make_series(folder, 1, frames)
    write(folder, 1, data)
    _, said = keep("--once", folder)
    assert said.count(file_name(1)) == 1 and why in said
    assert (folder / file_name(1)).read_bytes() == data


@pytest.mark.parametrize("cut, why", [(-5, "ends inside a block"), (None, "malformed block")], ids=["truncated", "damaged"])
def test_a_file_that_does_not_walk_is_left_and_named(folder, frames, cut, why):
    data = Capture().add(frames[:100]).bytes()
    data = data[:cut] if cut else data + bytes(40)
    make_series(folder, 2, frames)
    write(folder, 1, data)
    _, said = keep("--once", folder, status=1)
    assert said.count(file_name(1)) == 1 and why in said and "byte" in said
    assert stems(folder)[stem(1)] == {"pcapng"} and stems(folder)[stem(2)] == {"pcapng.zst", "idx"}
    assert (folder / file_name(1)).read_bytes() == data


def test_links_and_folders_and_strange_names_are_left_alone(folder, frames, tmp_path):
    make_series(folder, 1, frames)
    outside = tmp_path / "outside.pcapng"
    outside.write_bytes(Capture().add(frames[:10]).bytes())
    (folder / file_name(0)).symlink_to(outside)
    (folder / f"{stem(0, 'dir')}.pcapng").mkdir()
    (folder / "saluki_00000_20261130000000.pcapng.zst.new.keep").write_bytes(b"x")
    for name in ("\x1b[2Jx_00001.pcapng", "x\n_00002.pcapng", "é\udcff_00003.pcapng"):
        (folder / name).write_bytes(made.section("dumpcap") + made.interface())
    _, said = keep("--once", folder)
    assert outside.exists() and (folder / file_name(0)).is_symlink()
    assert not any(c in said for c in "\x1b\x07")
    assert (folder / "saluki_00000_20261130000000.pcapng.zst.new.keep").exists()


def test_a_collector_with_w_keeps_its_files(folder, frames):
    ring = "in the ring of -w saluki.pcapng: the oldest files are deleted (-W)"
    make_series(folder, 2, frames, comments=[ring])
    _, said = keep("--once", folder, status=2)
    assert "-W" in said and file_name(3) in said
    assert all(forms == {"pcapng"} for forms in stems(folder).values())


def test_old_files_of_a_ring_are_left_alone(folder, frames):
    """The collector was started without -W later."""
    make_series(folder, 3, frames)
    write(folder, 1, Capture(comments=["in the ring of -w saluki.pcapng: the oldest files are deleted (-W)"]).bytes())
    _, said = keep("--once", folder)
    assert stems(folder)[stem(1)] == {"pcapng"} and file_name(1) in said


@pytest.mark.parametrize("own, theirs, status", [("5%", "--keep-free: 1073741824 bytes, 1 %", 0),
                                                  ("1M", "--keep-free: 1048576 bytes, 0 %", 2),
                                                  ("2M", "--keep-free: 1048576 bytes, 0 %", 0),
                                                  ("1%", "--keep-free: 18446744073709551615 bytes, 2 %", 2)])
def test_min_free_must_be_more_than_the_collectors(folder, frames, own, theirs, status):
    make_series(folder, 1, frames[:80], comments=[theirs])
    _, said = keep("--once", "--min-free", own, folder, status=status)
    assert ("--min-free" in said and "--keep-free" in said) == bool(status)


@pytest.mark.parametrize("start", ["first", "later"])
@pytest.mark.parametrize("days, known", [(9, True), (39, True), (41, False)])
def test_a_clock_that_may_be_wrong_at_the_start_deletes_nothing(folder, frames, days, known, start):
    """Without a clock that runs on, a machine can start with any time."""
    make_series(folder, 1, frames)
    keep("--once", folder)
    lock, then = folder / ".saluki-keep", time.time() - days * 86400
    for path in folder.glob(f"{stem(1)}*"):
        os.utime(path, (then, then))
    if start == "first":
        lock.unlink()
    os.utime(folder if start == "first" else lock, (then, then))
    _, said = keep("--once", "--max-age", "1d", folder)
    assert ("worked here 41 days ago; this one deletes no file" in said) != known
    assert (stem(1) in stems(folder)) != known
    keep("--once", "--max-age", "1d", folder)
    assert stem(1) not in stems(folder)


def test_a_unified_trace_is_closed_when_its_merge_has_ended(folder, frames):
    path = folder / "unified.pcapng"
    path.write_bytes(made.section("saluki-merge 1.0") + made.interface())
    with open(path, "rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        keep("--once", folder)
        assert stems(folder) == {"unified": {"pcapng"}}
    keep("--once", folder)
    assert stems(folder) == {"unified": {"pcapng.zst", "idx"}}


@pytest.mark.parametrize("theirs, said", [("--keep-free: 1073741824 bytes, 50 %", "must be more than the collector's"),
                                          ("in the ring of -w saluki.pcapng: the oldest files are deleted (-W)",
                                           "its collector deletes files itself")])
def test_a_collector_that_comes_later_is_seen(folder, frames, theirs, said):
    make_series(folder, 1, frames)
    with subprocess.Popen([made.PROGRAM, "--min-free", "1M", folder], stderr=subprocess.PIPE) as service:
        try:
            wait_for(lambda: stems(folder).get(stem(1)) == {"pcapng.zst", "idx"})
            write(folder, 3, Capture(comments=[theirs]).add(frames[:1]).bytes())
            assert service.wait(20) == 2
        finally:
            service.kill()
        assert said in service.stderr.read().decode()


def test_one_program_a_folder(folder, frames):
    make_series(folder, 1, frames)
    with subprocess.Popen([made.PROGRAM, folder], stderr=subprocess.PIPE) as first:
        try:
            wait_for(lambda: stems(folder).get(stem(1)) == {"pcapng.zst", "idx"})
            _, said = keep("--once", folder, status=1)
            assert "another saluki-keep" in said
        finally:
            first.send_signal(signal.SIGTERM)
            _, text = first.communicate(timeout=20)
        assert first.returncode == 0, text


# ---- the service -------------------------------------------------------------------------------------------------

def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_service_packs_files_as_they_are_closed(folder, frames):
    with subprocess.Popen([made.PROGRAM, "-v", folder], stderr=subprocess.PIPE) as service:
        try:
            for n in range(1, 4):
                write(folder, n, Capture().add(frames).bytes())
            wait_for(lambda: stems(folder).get(stem(2)) == {"pcapng.zst", "idx"})
            assert stems(folder)[stem(3)] == {"pcapng"}
        finally:
            service.send_signal(signal.SIGTERM)
            _, said = service.communicate(timeout=20)
    assert service.returncode == 0 and b"packed 2 files" in said


def test_a_signal_to_stop_ends_the_packing_of_a_large_file(folder, frames):
    """The file is left as it was."""
    data = Capture().add(frames).bytes()
    path = write(folder, 1, data + data[data.index(made.interface()) + len(made.interface()):] * 300)
    write(folder, 2, Capture().add(frames[:1]).bytes())
    size = path.stat().st_size
    with subprocess.Popen([made.PROGRAM, "--once", folder], stderr=subprocess.PIPE) as one:
        wait_for((folder / ".saluki-keep.zst.new").exists)
        one.send_signal(signal.SIGTERM)
        _, said = one.communicate(timeout=20)
    assert one.returncode == 1 and b"packed 0 files" in said
    assert stems(folder)[stem(1)] == {"pcapng"} and path.stat().st_size == size


def test_killed_at_any_moment_nothing_is_lost(folder, frames):
    """50 times, at random moments; what a killed one leaves is removed, and the rest is done again."""
    r = random.Random(1)
    captures = make_series(folder, 25, frames * 40)
    columns = folder.parent / "columns"
    columns.mkdir()
    last = contents(folder)[file_name(26)]
    for _ in range(50):
        with subprocess.Popen([made.PROGRAM, "--once", "--columns", columns, folder], stderr=subprocess.DEVNULL) as one:
            try:
                one.wait(timeout=r.uniform(0.001, 0.06))
            except subprocess.TimeoutExpired:
                one.kill()
        assert contents(folder) == {**captures, file_name(26): last}
    keep("--once", "--columns", columns, folder)
    assert stems(folder) == {**{stem(n): {"pcapng.zst", "idx"} for n in range(1, 26)}, stem(26): {"pcapng"}}
    assert sorted(p.name for p in columns.rglob("*.parquet")) == [f"{stem(n)}.parquet" for n in range(1, 26)]


def test_an_interrupted_file_is_begun_anew(folder, frames):
    make_series(folder, 1, frames)
    for name in (".saluki-keep.zst.new", ".saluki-keep.idx.new"):
        (folder / name).write_bytes(b"half")
    _, said = keep("--once", folder)
    assert "removed 2 unfinished files" in said
    assert stems(folder)[stem(1)] == {"pcapng.zst", "idx"}


def test_a_capture_beside_its_compressed_form_is_packed_again(folder, frames):
    """Killed after the compressed form got its name."""
    captures = make_series(folder, 1, frames)
    state = (folder / file_name(1)).stat()
    keep("--once", folder)
    (folder / file_name(1)).write_bytes(captures[file_name(1)])
    os.utime(folder / file_name(1), ns=(state.st_mtime_ns,) * 2)
    keep("--once", folder)
    assert unpacked(folder / f"{file_name(1)}.zst") == captures[file_name(1)]
    assert not (folder / file_name(1)).exists()


@pytest.mark.parametrize("index", ["its own", "missing"])
def test_a_compressed_file_of_another_capture_is_not_replaced(folder, frames, index):
    """As when a program begins its numbers anew."""
    make_series(folder, 1, frames)
    keep("--once", folder)
    compressed = (folder / f"{file_name(1)}.zst").read_bytes()
    if index == "missing":
        (folder / f"{stem(1)}.idx").unlink()
    other = Capture().add(frames[:100]).bytes()
    write(folder, 1, other)
    _, said = keep("--once", folder, status=1)
    assert said.count(file_name(1)) == 1 and "of another capture" in said
    assert (folder / f"{file_name(1)}.zst").read_bytes() == compressed and (folder / file_name(1)).read_bytes() == other


@pytest.mark.parametrize("damage", ["missing", "older", "newer", "other", "short", "list", "flag"])
def test_an_index_that_does_not_fit_is_made_again(folder, frames, damage):
    make_series(folder, 2, frames)
    keep("--once", folder)
    index = folder / f"{stem(1)}.idx"
    right = index.read_bytes()
    if damage == "missing":
        index.unlink()
    else:
        index.write_bytes({"older": right[:8] + b"\x01" + right[9:], "newer": right[:8] + b"\x03" + right[9:],
                           "other": (folder / f"{stem(2)}.idx").read_bytes(), "short": right[:30],
                           "list": right[:-1] + bytes([right[-1] ^ 1]),
                           "flag": right[:20] + bytes([right[20] ^ 4]) + right[21:]}[damage])
    _, said = keep("--once", folder)
    assert index.read_bytes() == right
    assert (f"{index.name}: is damaged; it is made again" in said) == (damage in ("list", "flag"))


def test_a_full_disk_leaves_all_as_it_was(folder, frames):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", folder], check=True)
    try:
        captures = make_series(folder, 2, frames * 3)
        room = os.statvfs(folder)
        (folder / "ballast").write_bytes(bytes(room.f_bavail * room.f_frsize - 8192))
        _, said = keep("--once", folder, status=1)
        assert said.count("no space is left on the disk; files wait to be packed") == 1 and "packed 0 files" in said
        assert contents(folder).items() >= captures.items()
        assert all("pcapng.zst" not in forms for forms in stems(folder).values())
        (folder / "ballast").unlink()
        keep("--once", folder)
        assert stems(folder)[stem(2)] == {"pcapng.zst", "idx"}
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("options", [["--min-free", "5M"], ["--max-bytes", "8M"], ["--max-age", "1h"]])
def test_a_disk_that_is_full_already_is_freed(folder, frames, options):
    """A file is deleted only with an index, and there is room for that alone."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", folder], check=True)
    r = random.Random(1)
    try:
        noise = [f._replace(data=f.data[:40] + r.randbytes(3000), orig_len=3040 + f.orig_len) for f in frames[:1000]]
        for n in range(1, 7):
            write(folder, n, Capture().add(noise).bytes(), age_s=(10 - n) * HOUR if n < 5 else 0)
        write(folder, 7, Capture().add(frames[:1]).bytes())
        room = os.statvfs(folder)
        assert room.f_bavail * room.f_frsize < 2.7e6
        _, said = keep("--once", *options, folder)
        assert "deleted" in said and stem(1) not in stems(folder) and stems(folder)[stem(6)] == {"pcapng.zst", "idx"}
    finally:
        subprocess.run(["umount", folder], check=True)


# ---- what is deleted ---------------------------------------------------------------------------------------------

def test_files_go_by_age(folder, frames):
    for n, age in ((1, 50), (2, 30), (3, 20)):
        write(folder, n, Capture().add(frames[:100]).bytes(), age_s=age * HOUR)
    write(folder, 4, Capture().add(frames[:100]).bytes())
    keep("--once", folder)
    _, said = keep("--once", "--max-age", "25h", folder)
    assert set(stems(folder)) == {stem(3), stem(4)} and "deleted 2 files" in said


def test_a_file_of_the_far_future_is_not_old(folder, frames):
    """Its nanoseconds do not fit into 64 bits."""
    make_series(folder, 1, frames)
    os.utime(folder / file_name(1), (13_600_000_000, 13_600_000_000))
    keep("--once", folder)
    keep("--once", "--max-age", "1d", folder)
    assert stem(1) in stems(folder)


def test_an_old_file_that_is_not_packed_stays(folder, frames):
    """A newer one is not there, or it is damaged: nobody has it otherwise."""
    write(folder, 1, Capture().add(frames[:100]).bytes()[:-3], age_s=50 * HOUR)
    write(folder, 2, Capture().add(frames[:100]).bytes(), age_s=50 * HOUR)
    keep("--once", "--max-age", "1h", folder, status=1)
    assert set(stems(folder)) == {stem(1), stem(2)}


def test_the_oldest_go_if_all_have_more_bytes(folder, frames):
    make_series(folder, 5, frames * 5)
    for n in range(1, 6):
        os.utime(folder / file_name(n), (1e9 + n, 1e9 + n))
    keep("--once", folder)
    total = sum(p.stat().st_size for p in folder.iterdir())
    keep("--once", "--max-bytes", total - 1, folder)
    assert set(stems(folder)) == {stem(n) for n in range(2, 7)}


def test_the_oldest_go_if_less_is_free(folder, frames):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], check=True)
    try:
        make_series(folder, 4, frames * 3)
        keep("--once", folder)
        room = os.statvfs(folder)
        (folder / "ballast").write_bytes(bytes(room.f_bavail * room.f_frsize - (1 << 20)))
        keep("--once", "--min-free", str((1 << 20) + 65536), folder)
        assert set(stems(folder)) == {stem(n) for n in (2, 3, 4, 5)} | {"ballast"}
    finally:
        subprocess.run(["umount", folder], check=True)


def test_foreign_files_are_never_deleted(folder, frames):
    make_series(folder, 2, frames)
    foreign = ["notes.txt", "other.pcapng.zst", "x_00001.pcapng", "saluki_00001_20261130000001.parquet", "saluki.state"]
    for name in foreign:
        (folder / name).write_bytes(made.section("dumpcap") if name.endswith("pcapng") else b"foreign")
        os.utime(folder / name, (1e9, 1e9))
    keep("--once", folder, status=1)
    keep("--once", "--max-bytes", "1", folder, status=1)
    assert {p.name for p in folder.iterdir()} - {".saluki-keep"} == {*foreign, file_name(3)}


@pytest.mark.parametrize("options", [["--max-age", "1h"], ["--max-bytes", "1"]])
@pytest.mark.parametrize("what", ["foreign", "own", "another capture"])
def test_a_file_that_has_the_name_of_an_index_permits_no_deletion(folder, frames, what, options):
    data = Capture().add(frames[:100]).bytes()
    if what == "another capture":
        write(folder, 1, Capture().add(frames[100:200]).bytes())
        write(folder, 2, data)
        keep("--once", folder)
    else:
        write(folder, 2, data)
        (folder / f"{stem(1)}.idx").write_bytes(b"hello")
    write(folder, 1, made.section("Dumpcap") + made.interface() if what == "foreign" else data, age_s=50 * HOUR)
    before = contents(folder)
    keep("--once", *options, folder, status=0 if what == "foreign" else 1)
    assert contents(folder) == before
    assert what == "another capture" or (folder / f"{stem(1)}.idx").read_bytes() == b"hello"


def test_a_large_file_of_another_program_takes_no_space_of_ours(folder, frames):
    make_series(folder, 3, frames)
    (folder / "big.pcapng").write_bytes(made.section("Dumpcap") + bytes(2**22))
    keep("--once", "--max-bytes", "2M", folder)
    assert stems(folder).keys() >= {stem(n) for n in (1, 2, 3)}


def test_compressed_files_and_indexes_of_others_stay(folder, frames):
    """Also if nothing else is left to delete."""
    make_series(folder, 1, frames)
    (folder / "theirs_00001.pcapng.zst").write_bytes(zstandard.compress(made.section("dumpcap") + made.interface()))
    (folder / "pack-1234.idx").write_bytes(b"\xfftOc" + bytes(100))
    others = ("others.pcapng.new", "others.idx.new", "others.pcapng.zst.new")
    for name in others:
        (folder / name).write_bytes(b"x")
    for _ in range(2):
        _, said = keep("--once", "--max-bytes", "1", folder, status=1)
    assert "theirs_00001.pcapng.zst: was not written by saluki-collector" in said
    assert {"theirs_00001.pcapng.zst", "pack-1234.idx", *others, file_name(2)} <= {
        p.name for p in folder.iterdir()}


def test_a_capture_that_may_not_be_read_is_named(folder, frames):
    for path in (folder.parent, folder):
        path.chmod(0o777)
    write(folder, 1, Capture().add(frames[:100]).bytes()).chmod(0)
    program = testbed.for_anybody(made.PROGRAM, folder.parent)
    done = subprocess.run([program, "--once", "--finished", folder], stderr=subprocess.PIPE, check=False, user="nobody")
    assert done.returncode == 1 and f"{file_name(1)}: Permission denied; it is left as it is" in done.stderr.decode()


@pytest.mark.parametrize("content", [b"mine", None], ids=["file", "folder"])
def test_a_file_that_has_the_name_of_an_index_stays(folder, frames, content):
    captures, mine = make_series(folder, 1, frames), folder / f"{stem(1)}.idx"
    if content:
        mine.write_bytes(content)
    else:
        mine.mkdir()
    _, said = keep("--once", folder, status=1)
    assert said.count(f"{mine.name}: is not an index; the capture file of this name is left as it is") == 1
    assert (folder / file_name(1)).read_bytes() == captures[file_name(1)]
    assert not content or mine.read_bytes() == content


def test_an_uncompressed_archive_that_is_finished_is_deleted_too(folder, frames):
    make_series(folder, 2, frames)
    keep("--once", "--finished", "--compress", "none", folder)
    keep("--once", "--finished", "--compress", "none", "--max-bytes", "1", folder)
    assert not stems(folder)


@pytest.mark.parametrize("age", ["20000w", "30502w", "100000w"])
def test_ages_of_many_years(folder, frames, age):
    make_series(folder, 1, frames)
    keep("--once", folder)
    _, said = keep("--once", "--max-age", age, folder, status=2)
    assert "--max-age" in said and stems(folder)[stem(1)] == {"pcapng.zst", "idx"}


def test_a_file_that_cannot_be_deleted_is_named_and_the_others_go(folder, frames):
    make_series(folder, 3, frames)
    keep("--once", folder)
    stuck = folder / f"{file_name(1)}.zst"
    subprocess.run(["chattr", "+i", stuck], check=True)
    try:
        _, said = keep("--once", "--max-bytes", "1", folder)
        assert said.count(stuck.name) == 1 and "cannot be deleted" in said
        assert set(stems(folder)) == {stem(1), stem(4)}
    finally:
        subprocess.run(["chattr", "-i", stuck], check=True)


def test_series_that_differ_in_a_digit_are_apart(folder, frames):
    for name in ("lab1_00001_20261130000001", "lab2_00002_20261130000002", "floor_1", "floor_2"):
        (folder / f"{name}.pcapng").write_bytes(Capture().add(frames[:50]).bytes())
    keep("--once", folder)
    assert all(forms == {"pcapng"} for forms in stems(folder).values())


def test_an_index_without_its_file_goes(folder, frames):
    make_series(folder, 1, frames)
    keep("--once", folder)
    (folder / f"{file_name(1)}.zst").unlink()
    keep("--once", folder)
    assert set(stems(folder)) == {stem(2)}


def test_a_clock_that_jumps_deletes_nothing(folder, frames, tmp_path):
    """The clock goes two years forward while the service runs."""
    make_series(folder, 3, frames)
    ahead = tmp_path / "ahead"
    ahead.write_text("0")
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "tests/clock.so"), "SALUKI_CLOCK": str(ahead)}
    with subprocess.Popen([made.PROGRAM, "--max-age", "14d", folder], stderr=subprocess.PIPE, env=environment) as service:
        try:
            wait_for(lambda: stems(folder).get(stem(3)) == {"pcapng.zst", "idx"})
            ahead.write_text(str(2 * 365 * 86400))
            for line in service.stderr:
                if b"the clock was set forward" in line:
                    break
        finally:
            service.send_signal(signal.SIGTERM)
            service.communicate(timeout=20)
    assert set(stems(folder)) == {stem(n) for n in (1, 2, 3, 4)}


# ---- the index ---------------------------------------------------------------------------------------------------

def test_the_index_says_what_the_file_has(folder, frames):
    capture = Capture(sensors=("lib-1", "lib-2"))
    capture.add(frames * 12, on=0).add(frames[:200], on=1, shift_ns=10**12)
    data = capture.bytes()
    write(folder, 1, data)
    write(folder, 2, Capture().add(frames[:1]).bytes())
    keep("--once", folder)
    x = read_index(folder / f"{stem(1)}.idx")
    packed = (folder / f"{file_name(1)}.zst").read_bytes()
    assert (x.pcapng_bytes, x.file_bytes, x.end) == (len(data), len(packed), int.from_bytes(packed[-4:], "little"))
    assert x.frames == len(frames) * 12 + 200
    assert [(s.id, s.name, s.frames) for s in x.sensors] == [(1, "lib-1", len(frames) * 12), (2, "lib-2", 200)]
    assert (x.first_ns, x.last_ns) == (frames[0].time_ns, max(f.time_ns for f in frames[:200]) + 10**12)
    combos = -(-len(frames) * 12 // 40)
    assert x.runs == [(1, 7, combos, len(frames) * 12), (2, 8, 5, 200)]
    assert len(x.chunks) > 2 and all(b[0] - a[0] >= made.CHUNK for a, b in zip(x.chunks, x.chunks[1:], strict=False))
    assert x.describing == [0]


def test_an_address_is_in_the_chunks_that_have_it(folder, frames):
    data = Capture().add(frames * 12).bytes()
    write(folder, 1, data)
    write(folder, 2, Capture().add(frames[:1]).bytes())
    keep("--once", folder)
    x = read_index(folder / f"{stem(1)}.idx")
    for n, (begin, _, _) in enumerate(x.chunks):
        end = x.chunks[n + 1][0] if n + 1 < len(x.chunks) else len(data)
        for address, chunks in x.addresses.items():
            assert n not in chunks or address in data[begin:end]
    transmitters = {f.data[f.data[2] + 10:f.data[2] + 16] for f in frames if f.data[f.data[2]] & 0x0c in (0, 8)}
    assert transmitters <= set(x.addresses) and len(transmitters) > 5
