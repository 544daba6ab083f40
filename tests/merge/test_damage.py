# SPDX-License-Identifier: GPL-2.0
"""Files that are damaged, no captures, or change while they are read: named, counted, and the others are merged."""
import contextlib
import os
import resource
import shutil
import signal
import struct
import subprocess

import pytest
import zstandard

from merge import pcapng, replay
from merge.program import PROGRAM, check, rows, run
from netns import testbed
from reference import captures

SIMPLE, OLD_PACKET = 3, 2
FIRST_PASS, SECOND_PASS = 3, 4  # reads of a file: its kind, the secret, and both passes


@pytest.fixture(name="files")
def fixture_files(plain, folder):
    """A folder of our own with a file of each sensor."""
    shutil.copytree(plain.files, folder / "in")
    return folder / "in"


def merge(folder, *inputs, status=0):
    """(standard error, ledger)"""
    said = run("-w", folder / "u.pcapng", *inputs, status=status)
    return said, check(folder / "u.pcapng")


# ---- no captures -----------------------------------------------------------------------------------


NO_CAPTURES = {"text": b"no capture at all" * 20, "short": b"abc", "pcap": struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0,
               0, 65535, 127), "magic": struct.pack("<III", pcapng.SECTION, 28, 0x12345678) + bytes(100),
               "length": struct.pack("<III", pcapng.SECTION, 3, 0x1a2b3c4d) + bytes(100)}


@pytest.mark.parametrize("name", NO_CAPTURES)
def test_no_capture_in_a_folder_is_left_out(folder, files, name):
    """One line names it, a counter counts it, and the others are merged as without it."""
    run("-w", folder / "usual.pcapng", files)
    (files / "s-1a.pcapng").write_bytes(NO_CAPTURES[name])
    said, found = merge(folder, files, status=1)
    assert said.count("s-1a.pcapng: is not a pcapng file; it is left out") == 1
    usual = check(folder / "usual.pcapng")
    assert found == {**usual, "bad_blocks": 1}


@pytest.mark.parametrize("name", NO_CAPTURES)
def test_no_capture_that_is_named_is_an_error(folder, files, name):
    """Nothing is written."""
    (files / "other").write_bytes(NO_CAPTURES[name])
    said = run("-w", folder / "u.pcapng", files, files / "other", status=1)
    assert "other: is not a pcapng file" in said and "left out" not in said
    assert not (folder / "u.pcapng").exists() and not (folder / "u.clocks.tsv").exists()


@pytest.mark.parametrize("size", [0, 3, 11, 20])
def test_a_file_that_was_just_begun_is_no_error(folder, files, size):
    usual = merge(folder, files)[1]
    (files / "s-1a.pcapng").write_bytes(pcapng.section()[:size])
    said, found = merge(folder, files)
    assert found == usual
    what = "ends inside a block at byte 0" if size else "is empty"
    assert f"s-1a.pcapng: {what}; it may still be written" in said


def test_a_folder_without_any_capture(folder):
    (folder / "in").mkdir()
    (folder / "in/a.pcapng").write_text("no capture" * 10)
    said = run("-w", folder / "u.pcapng", folder / "in", status=1)
    assert "a.pcapng: is not a pcapng file" in said and "there is no file to merge" in said
    assert not (folder / "u.pcapng").exists()


def test_a_file_that_may_not_be_read(folder, files):
    """In a folder it is left out as other bad files are."""
    (files / "s-1.pcapng").chmod(0)
    for path in (folder, files):
        path.chmod(0o777)

    def as_nobody():
        os.setgid(65534)
        os.setuid(65534)
    program = testbed.for_anybody(PROGRAM, folder)
    said = run("-w", folder / "u.pcapng", files, status=1, program=program, preexec_fn=as_nobody)
    assert "s-1.pcapng: Permission denied; it is left out" in said
    assert check(folder / "u.pcapng")["bad_blocks"] == 1
    assert "s-1.pcapng: Permission denied\n" in run("-w", folder / "v.pcapng", files / "s-1.pcapng", status=1,
                                                   program=program, preexec_fn=as_nobody)


# ---- damage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_garbage_behind_whole_blocks(plain, folder, way):
    """All before it is merged, and the exit status says that there was more."""
    data = plain.stream.read_bytes()
    usual = merge(folder, plain.stream)[1]
    (folder / "in.pcapng").write_bytes(data + b"garbage!" * 100)
    if way == "file":
        said = run("-w", folder / "u.pcapng", folder / "in.pcapng", status=1)
    else:
        said = run("-r", "-", "-w", folder / "u.pcapng", input=data + b"garbage!" * 100, status=1)
    assert said.count(f"malformed block at byte {len(data)}; the rest is left out") == 1
    found = check(folder / "u.pcapng")
    assert found["bad_blocks"] == 1 and found["frames"] == usual["frames"]


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_input_that_ends_inside_a_block_is_no_error(plain, folder, way):
    """The file is still written, or the stream's writer was killed."""
    data = plain.stream.read_bytes()[:-7]
    (folder / "in.pcapng").write_bytes(data)
    where, given = (([folder / "in.pcapng"], {}) if way == "file" else (["-r", "-"], {"input": data}))
    assert "ends inside a block" in run("-w", folder / "u.pcapng", *where, **given)
    assert check(folder / "u.pcapng")["bad_blocks"] == 0


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_impossible_readings_of_a_clock_are_no_damage(plain, folder, way):
    """A sensor can send any. They are counted, and change nothing else."""
    data = plain.stream.read_bytes()
    bad = pcapng.statistics(0, 10**18, pcapng.readings([(1 << 63, 0, 0), (0, 1 << 62, 0)]),
                            pcapng.ahead(0, 1 << 63, 0))
    (folder / "in.pcapng").write_bytes(data + bad)
    where, given = (([folder / "in.pcapng"], {}) if way == "file" else (["-r", "-"], {"input": data + bad}))
    run("-w", folder / "u.pcapng", *where, **given)
    found = check(folder / "u.pcapng")
    assert found["bad_readings"] == 3 and found["bad_blocks"] == 0


# ---- a file that changes ---------------------------------------------------------------------------


@contextlib.contextmanager
def held(*arguments, path, reads):
    """The program, which is stopped when it has read this file so often."""
    ours, theirs = os.pipe()
    with os.fdopen(ours) as log, subprocess.Popen(
            ["strace", "-D", "-qq", "-o", f"/proc/self/fd/{theirs}", "-P", path, "-e",
             f"inject=pread64:signal=SIGSTOP:when={reads}", PROGRAM, *arguments], pass_fds=[theirs],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}) as program:  # which would be traced too
        os.close(theirs)
        assert any("stopped by SIGSTOP" in line for line in log), program.stderr.read()
        yield program


def go_on(program):
    """Standard error, when it has ended with a status of 1."""
    program.send_signal(signal.SIGCONT)
    said = program.communicate(timeout=20)[1]
    assert program.returncode == 1, (program.returncode, said)
    return said


def packets(data):
    """How many whole packet blocks there are."""
    count = at = 0
    while at + 12 <= len(data) and at + (size := int.from_bytes(data[at + 4:at + 8], "little")) <= len(data):
        count += data[at:at + 4] == bytes([pcapng.PACKET, 0, 0, 0])
        at += size
    return count


def test_a_file_that_shrinks_between_both_passes(folder, files):
    """What is left of it is merged, and all other files. One line names it."""
    usual, path = merge(folder, files)[1], files / "s-3.pcapng"
    data = path.read_bytes()
    with held("-w", folder / "u.pcapng", files, path=path, reads=SECOND_PASS) as program:
        os.truncate(path, len(data) // 2)
        said = go_on(program)
    assert said.count("s-3.pcapng: became shorter while it was read at byte") == said.count("left out") == 1
    found = check(folder / "u.pcapng")
    assert found["bad_blocks"] == 1
    assert usual["frames"] - found["frames"] == packets(data) - packets(data[:len(data) // 2]) > 100


def test_a_file_that_is_written_again_between_both_passes(folder, files):
    """It is not what the first pass has seen."""
    path = files / "s-3.pcapng"
    with held("-w", folder / "u.pcapng", files, path=path, reads=SECOND_PASS) as program:
        with path.open("r+b") as out:
            out.seek(path.stat().st_size // 2)
            out.write(b"garbage!" * 10_000)
        assert go_on(program).count("s-3.pcapng: malformed block at byte") == 1
    assert check(folder / "u.pcapng")["bad_blocks"] == 1


def test_a_file_that_shrinks_in_the_first_pass(plain, folder, files):
    """It is larger than what is read at once."""
    data, path = plain.stream.read_bytes(), folder / "large.pcapng"
    path.write_bytes(data * (1 + 4_000_000 // len(data)))
    with held("-w", folder / "u.pcapng", path, files / "s-3.pcapng", path=path, reads=FIRST_PASS) as program:
        os.truncate(path, len(data) // 2)
        assert go_on(program).count("large.pcapng: became shorter while it was read at byte") == 1
    found = check(folder / "u.pcapng")
    assert found["bad_blocks"] == 1
    assert found["frames"] == packets(data[:len(data) // 2]) + packets((files / "s-3.pcapng").read_bytes())


@pytest.mark.parametrize("command", ["check", "receptions", "stats"])
def test_a_trace_that_shrinks_while_it_is_read(plain, folder, command):
    """A line and the exit status say it."""
    data, path = plain.stream.read_bytes(), folder / "u.pcapng"
    (folder / "in.pcapng").write_bytes(data * (1 + 4_000_000 // len(data)))
    run("-w", path, folder / "in.pcapng")
    assert path.stat().st_size > 2 << 20
    with held(command, path, path=path, reads=1) as program:
        os.truncate(path, 1000)
        assert "u.pcapng: became shorter while it was read at byte" in go_on(program)


# ---- packets of other kinds ------------------------------------------------------------------------


def some_frames(count):
    return [f for f in captures.frames(captures.OWN.root / "radiotap/as-phone.pcap.zst")][:count]


def simple(frame):
    return pcapng.block(SIMPLE, struct.pack("<I", frame.orig_len) + frame.data + bytes(-len(frame.data) % 4))


def old(interface, frame):
    """An obsolete packet block: its interface's number has 16 bits, and a counter of drops follows."""
    data = bytearray(replay.packet(interface, frame))
    data[:4], data[8:12] = struct.pack("<I", OLD_PACKET), struct.pack("<HH", interface, 0xffff)
    return bytes(data)


@pytest.mark.parametrize("options", [(), ("--all",)], ids=["one", "all"])
@pytest.mark.parametrize("way", ["file", "pipe"])
def test_packets_without_a_stamp_are_counted(folder, way, options):
    frames = some_frames(20)
    data = pcapng.section() + replay.interface("s", 1, "wlan0")
    data += b"".join(replay.packet(0, f) for f in frames[:15]) + b"".join(simple(f) for f in frames[15:])
    (folder / "in.pcapng").write_bytes(data)
    where, given = (([folder / "in.pcapng"], {}) if way == "file" else (["-r", "-"], {"input": data}))
    run(*options, "-w", folder / "u.pcapng", *where, **given)
    found = check(folder / "u.pcapng")
    assert found["frames"] == 15 and found["other"] == 5 and found["bad_blocks"] == 0 and found["balance"] == 0


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_obsolete_packet_blocks_are_read(folder, way):
    frames = some_frames(40)
    head = pcapng.section() + replay.interface("s", 1, "wlan0") + replay.interface("s", 1, "wlan1")
    tables = []
    for packet in (replay.packet, old):
        data = head + b"".join(packet(n % 2, f) for n, f in enumerate(frames))
        (folder / "in.pcapng").write_bytes(data)
        where, given = (([folder / "in.pcapng"], {}) if way == "file" else (["-r", "-"], {"input": data}))
        run("-w", folder / "u.pcapng", *where, **given)
        assert check(folder / "u.pcapng")["frames"] == len(frames)
        tables.append(rows(folder / "u.pcapng"))
    assert tables[0] == tables[1]


# ---- limits ----------------------------------------------------------------------------------------


RECEPTION = bytes(23)


@pytest.mark.parametrize(("options", "count"), [
    ((2048, 2048, 10), 4106), ((2048, 0, 10), 2048), ((10, 2048), 10), ((2100, 10), 2048), ((2048, None, 10), 2048),
    ((0, 10), 0), ((2848,), 2048)], ids=str)
def test_options_of_receptions_are_whole_and_follow_each_other(folder, options, count):
    """Those of a hand-made trace need not. None: another option."""
    receptions = [pcapng.option(1, b"comment") if n is None else
                  pcapng.option(pcapng.OPT_REPORT, struct.pack(">IB", pcapng.ENTERPRISE, 1) + (n * RECEPTION or b"\0"))
                  for n in options]
    frame = some_frames(1)[0]
    (folder / "u.pcapng").write_bytes(pcapng.section() + replay.interface("s", 1, "wlan0")
                                      + replay.packet(0, frame, *receptions))
    if count:
        assert len(rows(folder / "u.pcapng")) == count
    else:
        assert "has no receptions" in run("receptions", folder / "u.pcapng", status=1)


def test_too_many_files_for_the_limit_of_open_ones(folder, files):
    """The line says how many there are, and which limit to raise. Nothing is written."""
    count = len(list(files.iterdir()))

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 3, count + 3))
    said = run("-w", folder / "u.pcapng", files, status=1, preexec_fn=limit)
    assert f"{count} files are to be read at once, but this process may open only {count + 3}" in said
    assert f"to {count + 16} with 'ulimit -n', or with LimitNOFILE=" in said
    assert not (folder / "u.pcapng").exists()

    def enough():
        resource.setrlimit(resource.RLIMIT_NOFILE, (10, count + 16))
    run("-w", folder / "u.pcapng", files, preexec_fn=enough)


def beacon(number):
    """A beacon with a radiotap header."""
    radiotap = struct.pack("<HHIBBHHbB", 0, 16, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 11, 0, 2, 2412, 0xa0, -50, 0)
    mac = struct.pack("<HH", 0x80, 0) + b"\xff" * 6 + b"\2\xa0\0\0\0\1" * 2 + struct.pack("<H", number << 4)
    return radiotap + mac + struct.pack("<QHH", number * 102400, 100, 1) + b"\0\3air"


@pytest.mark.parametrize("sensors", [2048, 2049, 3000])
def test_thousands_of_radios_hear_a_beacon(folder, sensors):
    """Options of 2048 receptions hold all, and what reads the trace finds them."""
    data = [pcapng.section()] + [replay.interface(f"s-{n}", n + 1, "wlan0") for n in range(sensors)]
    beacons, at = 5, 1_700_000_000 * 10**9
    for number in range(beacons):
        frame = beacon(number)
        data += [replay.packet(n, captures.Frame(at + number * 102_400_000 + n, len(frame), 127, frame))
                 for n in range(sensors)]
    (folder / "in.pcapng").write_bytes(b"".join(data))
    run("-w", folder / "u.pcapng", folder / "in.pcapng")
    found = check(folder / "u.pcapng")
    assert found["receptions"] == beacons * sensors
    table = rows(folder / "u.pcapng")
    assert len(table) == beacons * sensors
    assert max(sum(r["transmission"] == str(n + 1) for r in table) for n in range(beacons)) == sensors
    names = {f"s-{n}" for n in range(sensors)}
    assert {r["sensor"] for r in table} == names


def test_files_that_saluki_keep_has_compressed(folder, plain):
    """They are named: a merge without them is not whole."""
    shutil.copytree(plain.files, folder / "in")
    first = min((folder / "in").glob("*.pcapng"))
    first.with_suffix(".pcapng.zst").write_bytes(zstandard.compress(first.read_bytes()))
    first.unlink()
    said = run("-w", folder / "u.pcapng", folder / "in", status=1)
    assert said.count(f"{first.name}.zst: is compressed; unpack it with 'zstd -d'; it is left out") == 1
