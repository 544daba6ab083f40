# SPDX-License-Identifier: GPL-2.0
"""Signals while the output or the input is never ready, and series of files that get shorter."""
import contextlib
import fcntl
import os
import re
import signal
import subprocess
import termios
import threading
import time

import pytest

from merge.program import PROGRAM, check, run

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


@contextlib.contextmanager
def started(*arguments, **kwargs):
    with subprocess.Popen([PROGRAM, "-q", *arguments], **kwargs) as merge:
        try:
            yield merge
        finally:
            merge.kill()


def until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(.01)


def unread(pipe):
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), "little")


def waits_in(process, word):
    """Whether the process sleeps in such a function of the kernel."""
    with open(f"/proc/{process.pid}/wchan", encoding="ascii") as wchan:
        return word in wchan.read()


def pending(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return any(int(mask, 16) for mask in re.findall(r"^(?:Sig|Shd)Pnd:\s+(\w+)$", status.read(), re.M))


# ---- signals ---------------------------------------------------------------------------------------


@pytest.fixture(name="blocked")
def fixture_blocked(plain):
    """A merge of a stream, whose output is a full pipe. Its input is always ready."""
    with plain.stream.open("rb") as stream, started("-r", "-", stdin=stream, stdout=subprocess.PIPE,
                                                    stderr=subprocess.PIPE) as merge:
        until(lambda: unread(merge.stdout) > 60_000 and (waits_in(merge, "poll") or waits_in(merge, "pipe")))
        yield merge


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_merge_whose_reader_takes_nothing(blocked, number):
    """After 3 s. A line says that the trace is not whole, and the exit status does."""
    blocked.send_signal(number)
    assert blocked.wait(20) == 1
    assert blocked.stderr.read() == b"saluki-merge: -w -: its reader takes nothing; the end of the trace is not written\n"
    data = blocked.stdout.read()
    assert len(data) > 60_000 and data[:4] == b"\x0a\x0d\x0d\x0a"


def test_a_second_signal_does_not_wait_for_the_reader(blocked):
    began = time.monotonic()
    blocked.send_signal(signal.SIGTERM)
    until(lambda: not pending(blocked))
    blocked.send_signal(signal.SIGTERM)
    assert blocked.wait(20) == 1 and time.monotonic() - began < 3
    assert b"its reader takes nothing" in blocked.stderr.read()


@pytest.mark.parametrize("count", [1, 2])
def test_a_reader_that_is_late_gets_the_whole_trace(blocked, folder, count):
    """All that was read before the signal is written, as long as the reader takes it."""
    with (folder / "u.pcapng").open("wb") as out:
        for _ in range(count - 1):  # the first one
            blocked.send_signal(signal.SIGTERM)
            until(lambda: not pending(blocked))
        reader = threading.Thread(target=lambda: out.write(blocked.stdout.read()))
        reader.start()
        if count == 1:
            blocked.send_signal(signal.SIGTERM)
        reader.join(20)
    assert blocked.wait(20) == 0 and blocked.stderr.read() == b""
    found = check(folder / "u.pcapng")
    assert found["frames"] > 500 and found["balance"] == 0


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_merge_whose_input_is_always_ready(plain, folder, number):
    """Long before the end of a large file."""
    times, written = 40, folder / "u.pcapng"
    (folder / "in.pcapng").write_bytes(plain.stream.read_bytes() * times)
    with (folder / "in.pcapng").open("rb") as stream, started("-r", "-", "-w", written, stdin=stream) as merge:
        until(lambda: written.exists() and written.stat().st_size > 0)
        merge.send_signal(number)
        assert merge.wait(20) == 0
    found = check(written)
    assert 0 < found["frames"] < times * len(plain.truth) and found["balance"] == 0


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_merge_that_waits_for_the_reader_of_a_named_pipe(plain, folder, number):
    """Nothing was read so far, and there is nothing to write."""
    os.mkfifo(folder / "fifo")
    with plain.stream.open("rb") as stream, started("-r", "-", "-w", folder / "fifo", stdin=stream) as merge:
        until(lambda: waits_in(merge, "wait_for_partner"))
        merge.send_signal(number)
        assert merge.wait(20) == -number


def test_a_pipe_gets_what_a_file_gets(plain, folder):
    """A live trace is written in small pieces."""
    stream = plain.stream.read_bytes()
    done = subprocess.run([PROGRAM, "-q", "-r", "-"], input=stream, stdout=subprocess.PIPE, check=True)
    (folder / "u.pcapng").write_bytes(done.stdout)
    run("-r", "-", "-w", folder / "v.pcapng", input=stream)
    assert check(folder / "u.pcapng")["receptions"] == check(folder / "v.pcapng")["receptions"]


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_a_pipe_of_programs_that_do_not_wait(plain, folder, way):
    """The other end has made it non-blocking for all who use it."""
    ours, theirs = os.pipe2(os.O_NONBLOCK)
    with plain.stream.open("rb") as stream, open(ours, "rb") as reader:
        where = {"file": [plain.stream], "pipe": ["-r", "-"]}[way]
        with started(*where, stdin=stream, stdout=theirs, stderr=subprocess.PIPE) as merge:
            os.close(theirs)
            until(lambda: unread(reader) > 60_000 and waits_in(merge, "poll"))
            os.set_blocking(ours, True)
            (folder / "u.pcapng").write_bytes(reader.read())
            assert merge.wait(20) == 0 and merge.stderr.read() == b""
    assert check(folder / "u.pcapng")["frames"] == len(plain.truth)


# ---- series ----------------------------------------------------------------------------------------


@pytest.fixture(name="series")
def fixture_series(plain, folder):
    """A merge into a series of files, of the stream so many times."""
    def merge(times, status=0):
        (folder / "in.pcapng").write_bytes(plain.stream.read_bytes() * times)
        said = run("-C", "1", "-w", folder / "x.pcapng", folder / "in.pcapng", status=status)
        return said, sorted(folder.glob("x_*.pcapng"))
    return merge


def test_files_that_are_left_of_a_longer_series_are_named(series):
    """They would mix with the trace. They stay as they are; the trace is whole."""
    short = {f: f.read_bytes() for f in series(2)[1]}
    long = {f: f.read_bytes() for f in series(4)[1]}
    said, files = series(2, status=1)
    left = files[len(short):]
    assert len(left) > 1 and f"{left[0]} to {left[-1]} are of an earlier trace with more files" in said
    assert {f: f.read_bytes() for f in files} == {**long, **short}
    for f in left:
        f.unlink()
    said, files = series(2)
    assert "earlier trace" not in said and check(*files)["balance"] == 0


def test_a_series_that_gets_longer_is_written_again(series):
    """All of it is of the new trace."""
    series(2)
    files = series(4)[1]
    once = {f: f.read_bytes() for f in files}
    for f in files:
        f.unlink()
    assert {f: f.read_bytes() for f in series(4)[1]} == once
