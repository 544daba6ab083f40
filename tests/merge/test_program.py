# SPDX-License-Identifier: GPL-2.0
"""saluki-merge on simulated files: what it writes, refuses, and does when it is ended."""
import contextlib
import fcntl
import os
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import termios
import time

import pytest

from merge import pcapng
from merge.program import PROGRAM, check, ledger, rows, run, tshark

EQUATIONS = {"frames": ("receptions", "malformed"), "transmissions": ("several", "alone"),
             "alone": ("only_one", "ambiguous", "bad_fcs", "unaligned", "late_new")}


@pytest.fixture(name="trace")
def fixture_trace(plain, folder):
    run("-w", folder / "unified.pcapng", plain.stream)
    return folder / "unified.pcapng"


def same_files(one, other):
    names = sorted(p.name for p in one.iterdir())
    assert names == sorted(p.name for p in other.iterdir())
    assert [n for n in names if (one / n).read_bytes() != (other / n).read_bytes()] == []


# ---- what is written -------------------------------------------------------------------------------


def test_the_ledger_balances_and_is_what_is_printed(plain, folder):
    said = ledger(run("-w", folder / "u.pcapng", plain.stream))
    found = check(folder / "u.pcapng")
    assert found == said and found["balance"] == 0
    assert found["frames"] == len(plain.truth)
    for whole, parts in EQUATIONS.items():
        assert found[whole] == sum(found[part] for part in parts)
    assert found["receptions"] == found["transmissions"] + found["merged"]


def test_tools_read_it(trace):
    found, packets = check(trace), tshark(trace, "frame.number", "frame.packet_id", "frame.time_epoch",
                                          "frame.interface_name")
    assert len(packets) == found["transmissions"]
    assert all(number == packet_id for number, packet_id, *_ in packets)
    stamps = [float(p[2]) for p in packets]
    assert stamps == sorted(stamps)
    assert {p[3] for p in packets} <= {"channel 1", "channel 6", "channel 11"}
    said = subprocess.run(["capinfos", trace], capture_output=True, text=True, check=True).stdout
    assert re.search(r"Strict time order: +True", said)


def test_receptions_are_those_of_the_input(plain, trace):
    table = rows(trace)
    assert len(table) == len(plain.truth)
    heard = {(r["sensor"], r["interface"], r["stamp_ns"]) for r in table}
    names = plain.truth.names[plain.truth.sensor]
    assert heard == {(n, str(i), str(s)) for n, i, s in zip(names, plain.truth.interface, plain.truth.stamp_ns,
                                                          strict=True)}


def test_check_finds_what_was_changed(trace, folder):
    data = trace.read_bytes()
    blocks = pcapng_blocks(data)
    at, length = next((at, length) for at, length, kind in blocks[40:] if kind == pcapng.PACKET)
    (folder / "less.pcapng").write_bytes(data[:at] + data[at + length:])
    (folder / "cut.pcapng").write_bytes(data[:blocks[-20][0]])
    (folder / "torn.pcapng").write_bytes(data[:-3])
    done = subprocess.run([PROGRAM, "check", folder / "less.pcapng"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "differs       transmissions" in done.stdout
    for name, said in (("cut", "has no ledger at its end"), ("torn", "ends inside a block")):
        done = subprocess.run([PROGRAM, "check", folder / f"{name}.pcapng"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and said in done.stderr


def pcapng_blocks(data):
    """(at, length, kind) of all blocks"""
    found, at = [], 0
    while at + 12 <= len(data):
        kind, length = (int.from_bytes(data[i:i + 4], "little") for i in (at, at + 4))
        found.append((at, length, kind))
        at += length
    return found


def test_all_keeps_every_reception(plain, trace, folder):
    run("--all", "-w", folder / "all.pcapng", plain.stream)
    found = check(folder / "all.pcapng")
    assert found == check(trace)
    packets = tshark(folder / "all.pcapng", "frame.packet_id", "frame.interface_name", "frame.time_epoch")
    assert len(packets) == found["receptions"]
    stamps = [float(p[2]) for p in packets]
    assert stamps == sorted(stamps)
    expected = sorted((r["transmission"], int(r["time_ns"])) for r in rows(trace))
    assert sorted((p[0], int(p[2].replace(".", ""))) for p in packets) == expected
    assert {p[1] for p in packets} == {i[0] for i in tshark(plain.stream, "frame.interface_name")}
    original = interface_texts(plain.stream)
    assert interface_texts(folder / "all.pcapng") == original


def interface_texts(path):
    """capinfos' description of all interfaces, without what counts packets"""
    said = subprocess.run(["capinfos", "-I", path], capture_output=True, text=True, check=True).stdout
    return sorted(re.findall(r"Name = (.*)\n +Description = (.*)", said))


def test_clocks_are_in_a_table_beside_it(plain, trace):
    head, *lines = (line.split("\t") for line in trace.with_suffix("").with_suffix(".clocks.tsv").read_text()
                    .splitlines())
    assert head == ["time", "sensor", "offset_ns", "rate_ppb", "sigma_ns", "jitter_ns", "part", "references",
                    "outliers", "event", "clock"]
    assert all(len(line) == len(head) for line in lines)
    seconds = [line for line in lines if not line[9]]
    assert {line[1] for line in seconds} <= set(plain.truth.names)
    # A line a second: 8 s, and about 16 sensors.
    for name in {line[1] for line in seconds}:
        assert 8 <= sum(line[1] == name for line in seconds) <= 9
    assert {line[9] for line in lines} >= {"join", "part"}
    assert all(float(line[4]) < 1e5 for line in seconds[-8:])


def test_a_series_of_files_is_one_trace(plain, trace, folder):
    (folder / "out").mkdir()
    run("-C", "1", "-w", folder / "out", plain.stream)
    files = sorted((folder / "out").glob("*.pcapng"))
    assert [f.name for f in files] == ["unified_00001.pcapng", "unified_00002.pcapng"]
    assert check(*files) == check(trace)
    assert [n for f in files for n, in tshark(f, "frame.packet_id")] == [n for n, in tshark(trace, "frame.packet_id")]
    assert all(f.stat().st_size < 1_200_000 for f in files)


# ---- inputs ----------------------------------------------------------------------------------------


def test_a_folder_stands_for_its_files(plain, folder):
    files = sorted(plain.files.iterdir())
    run("-w", folder / "a.pcapng", *files)
    run("-w", folder / "b.pcapng", plain.files)
    assert (folder / "a.pcapng").read_bytes() == (folder / "b.pcapng").read_bytes()


def test_traces_in_a_folder_are_left_out(plain, folder):
    shutil.copytree(plain.files, folder / "in")
    run("-w", folder / "in", folder / "in")
    before = (folder / "in/unified.pcapng").read_bytes()
    assert "unified.pcapng: is left out" in run("-w", folder / "in", folder / "in")
    assert (folder / "in/unified.pcapng").read_bytes() == before


def test_inputs_are_not_overwritten(plain, folder):
    mine = folder / "mine.pcapng"
    shutil.copy(plain.stream, mine)
    (folder / "other.pcapng").symlink_to(mine)
    for name in ("mine.pcapng", "other.pcapng"):
        assert "is one of the files to be read" in run("-w", folder / name, mine, status=1)
    with mine.open("r+b") as out:
        assert "is one of the files to be read" in run(mine, status=1, stdout=out)
    assert mine.read_bytes() == plain.stream.read_bytes()


def test_no_other_output_is_an_input(plain, folder):
    """Neither a later file of a series nor the table of the clocks overwrites what is to be read."""
    later, table = folder / "x_00002.pcapng", folder / "y.clocks.tsv"
    for path, out in ((later, ("-C", "1", "-w", folder / "x")), (table, ("-w", folder / "y.pcapng"))):
        shutil.copy(plain.stream, path)
        assert f"{path}: is one of the files to be read" in run(*out, path, status=1)
        assert path.read_bytes() == plain.stream.read_bytes()
    (folder / "z.clocks.tsv").symlink_to(later)
    assert "is one of the files to be read" in run("-w", folder / "z.pcapng", later, status=1)
    assert later.read_bytes() == plain.stream.read_bytes()


def test_a_named_pipe_gets_the_trace(plain, trace, folder):
    os.mkfifo(folder / "fifo.pcapng")
    with subprocess.Popen([PROGRAM, "-q", "-w", folder / "fifo.pcapng", plain.stream]) as merge:
        assert (folder / "fifo.pcapng").read_bytes() == trace.read_bytes()
        assert merge.wait(20) == 0
    assert not (folder / "fifo.clocks.tsv").exists()


def test_files_with_long_names_are_sensors_of_their_own(plain, folder):
    """A sensor's name is the end of a long path."""
    anonymous = plain.stream.read_bytes()
    for n in range(1, 17):
        anonymous = anonymous.replace(f"s-{n}:".encode(), b":" * len(f"s-{n}:"))
    deep = folder / ("x" * 100)
    deep.mkdir(mode=0o755)
    for name in ("one", "two"):
        (deep / f"{name}.pcapng").write_bytes(anonymous)
    run("-w", folder / "u.pcapng", deep)
    assert {row["sensor"][-11:] for row in rows(folder / "u.pcapng")} == {"/one.pcapng", "/two.pcapng"}


def test_wrong_inputs_are_named(plain, trace, folder):
    (folder / "text.pcapng").write_text("no capture" * 10)
    (folder / "empty").mkdir()
    os.mkfifo(folder / "fifo")
    out = ("-w", folder / "o.pcapng")
    for arguments, said in (((plain.stream, plain.stream), "is given twice"), ((trace,), "is a trace of saluki-merge"),
                            ((folder / "text.pcapng",), "is not a pcapng file"),
                            ((folder / "nothing",), "No such file"), ((folder / "empty",), "has no file that ends in"),
                            ((folder / "fifo",), "to read a pipe, use -r -")):
        assert said in run(*out, *arguments, status=1)


def test_a_file_that_is_being_written_counts_up_to_its_last_whole_block(plain, folder):
    """Merged again when it has grown, it gives what the whole file gives."""
    data = plain.stream.read_bytes()
    (folder / "part.pcapng").write_bytes(data[:len(data) // 2 + 3])
    said = run("-w", folder / "u.pcapng", folder / "part.pcapng")
    assert 0 < check(folder / "u.pcapng")["frames"] < len(plain.truth)
    assert "part.pcapng: ends inside a block" in said
    with (folder / "part.pcapng").open("ab") as out:
        out.write(data[len(data) // 2 + 3:])
    assert "ends inside" not in run("-w", folder / "u.pcapng", folder / "part.pcapng")
    run("-w", folder / "whole.pcapng", plain.stream)
    assert (folder / "u.pcapng").read_bytes() == (folder / "whole.pcapng").read_bytes()


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_damage_is_counted_and_balances(plain, folder, way):
    """Bytes of the capture are replaced at random places."""
    picked, data = random.Random(7), plain.stream.read_bytes()[:300_000]
    for _ in range(30):
        hurt = bytearray(data)
        for _ in range(picked.choice((1, 5, 50))):
            hurt[picked.randrange(len(hurt))] = picked.randrange(256)
        (folder / "hurt.pcapng").write_bytes(hurt)
        (folder / "u.pcapng").unlink(missing_ok=True)
        where = [folder / "hurt.pcapng"] if way == "file" else ["-r", "-"]
        done = subprocess.run([PROGRAM, "-w", folder / "u.pcapng", *where], capture_output=True, check=False,
                              input=bytes(hurt) if way == "pipe" else None)
        assert done.returncode in (0, 1), done.stderr
        if done.returncode == 0 or b"is not " not in done.stderr:
            found = check(folder / "u.pcapng")
            assert (found["bad_blocks"] > 0) == done.returncode


def test_other_link_types_are_counted(plain, folder):
    data = plain.stream.read_bytes()
    ethernet = pcapng.block(pcapng.INTERFACE, b"\1\0\0\0\0\0\4\0", pcapng.option(2, b"eth:eth0"))
    count = sum(kind == pcapng.INTERFACE for _, _, kind in pcapng_blocks(data))
    packet = pcapng.block(pcapng.PACKET, b"".join(n.to_bytes(4, "little") for n in (count, 0, 0, 4, 4)) + b"abcd")
    (folder / "mixed.pcapng").write_bytes(data + ethernet + packet * 3)
    run("-w", folder / "u.pcapng", folder / "mixed.pcapng")
    found = check(folder / "u.pcapng")
    assert found["other"] == 3 and found["frames"] == len(plain.truth)


# ---- the live stream -------------------------------------------------------------------------------


def test_a_pipe_gives_what_files_give(plain, trace, folder):
    with plain.stream.open("rb") as stream:
        run("-r", "-", "-w", folder / "p.pcapng", stdin=stream)
    one, other = check(folder / "p.pcapng"), check(trace)
    assert one["frames"] == other["frames"] and one["receptions"] == other["receptions"]
    assert abs(one["transmissions"] - other["transmissions"]) <= one["transmissions"] / 1000  # as test_shuffled.py


def test_two_equal_streams_give_equal_traces(plain, folder):
    for name in ("one", "two"):
        with plain.stream.open("rb") as stream:
            run("-r", "-", "-w", folder / name, stdin=stream)
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


def test_receptions_of_what_is_no_unified_trace(plain, folder):
    run("-q", "--all", "-w", folder / "all.pcapng", plain.stream)
    for path in (folder / "all.pcapng", plain.stream):
        assert f"{path.name}: has no receptions" in run("receptions", path, status=1)


@pytest.mark.parametrize("size", [1, 1000, 70_000])
def test_blocks_may_come_in_any_pieces(plain, folder, size):
    data = plain.stream.read_bytes()[:20_000 if size == 1 else None]
    with (folder / "u.pcapng").open("wb") as out:
        merge = subprocess.Popen([PROGRAM, "-q", "-r", "-"], stdin=subprocess.PIPE, stdout=out)
        for at in range(0, len(data), size):
            merge.stdin.write(data[at:at + size])
            merge.stdin.flush()
        merge.stdin.close()
        assert merge.wait(30) == 0
    whole = sum(at + length <= len(data) for at, length, kind in pcapng_blocks(data) if kind == pcapng.PACKET)
    assert check(folder / "u.pcapng")["frames"] == whole


def test_a_stream_may_have_several_sections(plain, folder):
    data = plain.stream.read_bytes()
    run("-r", "-", "-w", folder / "u.pcapng", input=data + data)
    found = check(folder / "u.pcapng")
    assert found["frames"] == 2 * len(plain.truth)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_stream(plain, folder, number):
    """All that was read is written."""
    merge = subprocess.Popen([PROGRAM, "-q", "-r", "-", "-w", folder / "u.pcapng"], stdin=subprocess.PIPE)
    merge.stdin.write(plain.stream.read_bytes())
    merge.stdin.flush()
    waiting = f"/proc/{merge.pid}/wchan"
    deadline = time.monotonic() + 20
    while unread(merge.stdin) or "poll" not in open(waiting).read():
        assert time.monotonic() < deadline
        time.sleep(.01)
    merge.send_signal(number)
    assert merge.wait(20) == 0
    merge.stdin.close()
    assert check(folder / "u.pcapng")["frames"] == len(plain.truth)


def unread(pipe):
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), "little")


def test_what_a_viewer_missed_is_counted(plain, folder):
    dropped = pcapng.block(pcapng.STATISTICS, bytes(12), pcapng.option(7, (5).to_bytes(8, "little")))
    more = pcapng.block(pcapng.STATISTICS, bytes(12), pcapng.option(7, (9).to_bytes(8, "little")))
    run("-r", "-", "-w", folder / "u.pcapng", input=plain.stream.read_bytes() + dropped + more)
    assert check(folder / "u.pcapng")["missed"] == 9


def test_a_live_series_goes_on_after_the_files_that_are_there(plain, folder):
    for _ in range(2):
        run("-r", "-", "-C", "1", "-w", folder / "live.pcapng", input=plain.stream.read_bytes())
    files = sorted(folder.glob("live_*.pcapng"))
    assert [f.name for f in files] == [f"live_{n:05}.pcapng" for n in range(1, 5)]
    assert check(*files[:2]) == check(*files[2:])


def test_what_is_no_capture_is_refused(folder):
    assert "standard input is not pcapng" in run("-r", "-", "-w", folder / "u.pcapng", input=b"x" * 100, status=1)
    assert "standard input is empty" in run("-r", "-", "-w", folder / "u.pcapng", stdin=subprocess.DEVNULL)
    assert check(folder / "u.pcapng")["frames"] == 0


# ---- ends ------------------------------------------------------------------------------------------


def test_a_reader_that_leaves_is_a_normal_end(plain):
    merge = subprocess.Popen([PROGRAM, "-q", plain.stream], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    merge.stdout.read(100)
    merge.stdout.close()
    assert merge.stderr.read() == b"" and merge.wait(20) == 0


def test_a_full_disk_is_named(plain, folder):
    with open("/dev/full", "wb") as full:
        assert "-w -: No space left on device" in run(plain.stream, stdout=full, status=1)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    assert "u.pcapng: File too large" in run("-w", folder / "u.pcapng", plain.stream, status=1, preexec_fn=limit)


@pytest.mark.parametrize("options", [[], ["--all"], ["-C", "1"]], ids=["one", "all", "series"])
def test_a_killed_merge_goes_on(plain, folder, options):
    """Killed at random moments and started again, it ends with the same bytes."""
    (folder / "whole").mkdir()
    (folder / "killed").mkdir()
    began = time.monotonic()
    run(*options, "-w", folder / "whole", plain.stream)
    took, picked, killed = time.monotonic() - began, random.Random(3), 0
    for _ in range(20):
        merge = subprocess.Popen([PROGRAM, "-q", *options, "-w", folder / "killed", plain.stream])
        with contextlib.suppress(subprocess.TimeoutExpired):
            merge.wait(picked.uniform(0, took))
        merge.kill()
        killed += merge.wait() == -signal.SIGKILL
    assert killed
    run(*options, "-w", folder / "killed", plain.stream)
    same_files(folder / "whole", folder / "killed")


def test_what_is_equal_is_not_written_again(plain, trace):
    """Its first bytes stay, wherever it was cut; what follows is new."""
    whole, picked = trace.read_bytes(), random.Random(4)
    for _ in range(20):
        cut = picked.randrange(len(whole))
        trace.write_bytes(whole[:cut])
        said = subprocess.run(["strace", "-qq", "-e", "trace=write,ftruncate", "-o", trace.parent / "calls", PROGRAM,
                               "-q", "-w", trace, plain.stream], check=True, capture_output=True,
                              env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # which would be traced too
        assert said.stderr == b"" and trace.read_bytes() == whole
        written = sum(int(n) for n in re.findall(r"^write\(\d+, .*= (\d+)$", (trace.parent / "calls").read_text(), re.M))
        assert written < len(whole) - cut + 200_000  # with the table of clocks
    trace.write_bytes(whole + b"more")
    run("-w", trace, plain.stream)
    assert trace.read_bytes() == whole
    trace.write_bytes(b"x" * (len(whole) + 1000))
    run("-w", trace, plain.stream)
    assert trace.read_bytes() == whole


def test_progress_is_shown_on_a_terminal_only(plain, folder):
    """A slow pipe, so that there is something to show."""
    for options, shown in (([], True), (["-q"], False)):
        ours, theirs = pty.openpty()
        merge = subprocess.Popen([PROGRAM, *options, "-r", "-", "-w", folder / "u.pcapng"], stdin=subprocess.PIPE,
                                 stderr=theirs, env={**os.environ, "TERM": "xterm"}, preexec_fn=lambda: control(2))
        os.close(theirs)
        data = plain.stream.read_bytes()
        for at in range(0, len(data), len(data) // 12):
            merge.stdin.write(data[at:at + len(data) // 12])
            merge.stdin.flush()
            time.sleep(.1)  # the line is renewed each half second
        merge.stdin.close()
        assert merge.wait(20) == 0
        said = b""
        with contextlib.suppress(OSError):
            while more := os.read(ours, 65536):
                said += more
        os.close(ours)
        assert (b"transmissions" in said.split(b"frames  ")[0]) == shown, said


def control(fd):
    os.setsid()
    fcntl.ioctl(fd, termios.TIOCSCTTY, 0)


def test_it_confines_itself(plain, folder):
    """It drops its rights and filters its system calls before it reads untrusted bytes."""
    merge = subprocess.Popen([PROGRAM, "-q", "-r", "-", "-w", folder / "u.pcapng"], stdin=subprocess.PIPE)
    merge.stdin.write(plain.stream.read_bytes()[:60_000])
    merge.stdin.flush()
    deadline = time.monotonic() + 20
    while unread(merge.stdin):
        assert time.monotonic() < deadline
        time.sleep(.01)
    status = dict(re.findall(r"^(\w+):\s+(.*)$", open(f"/proc/{merge.pid}/status").read(), re.M))
    merge.stdin.close()
    assert merge.wait(20) == 0
    if "sanitize" in str(PROGRAM):
        return
    assert status["Seccomp"] == "2" and int(status["CapEff"], 16) == 0 and status["Uid"].split()[0] != "0"
