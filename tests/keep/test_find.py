# SPDX-License-Identifier: GPL-2.0
"""saluki-keep find: what it finds is what tshark's display filters find in the originals, frame for frame, from packed
files, from files that are being written, and with indexes that lie."""
import contextlib
import datetime
import fcntl
import json
import os
import pathlib
import random
import signal
import struct
import subprocess

import pytest
import xxhash
import zstandard

from keep import made
from keep.made import Capture, file_name, keep, read_index, unpacked, write
from keep.test_service import wait_for
from merge import program, sim
from netns import testbed
from reference import captures
from reference.test_reference import write_pcap

FOLDERS = ("hwsim", "radiotap", "dot11-other", "wired")


def found(tmp_path, *arguments, status=0):
    """The frames that are found: (time, bytes, length, interface's name)."""
    out = tmp_path / "found.pcapng"
    _, said = keep("find", "-w", out, *arguments, status=status)
    return [(f.time_ns, bytes(f.data), f.orig_len) for f in captures.frames(out)], said


def rows(frames):
    return [(f.time_ns, bytes(f.data), f.orig_len) for f in frames]


def tshark(path, display):
    """The numbers of the frames that a display filter matches, from 0."""
    done = subprocess.run(["tshark", "-n", "-r", path, "-Y", display, "-T", "fields", "-e", "frame.number"],
                          capture_output=True, text=True, check=False)
    return [int(line) - 1 for line in done.stdout.split()]


@pytest.fixture(name="archive")
def fixture_archive(folder, frames):
    """Four packed files of two sensors and one that is being written. All frames in the files' order."""
    every = []
    for n in range(4):
        share = frames[n * 200:(n + 1) * 200]
        capture = Capture(sensors=("lib-1", "lib-2"))
        capture.add(share, on=0).add(share[:50], on=1, shift_ns=1000)
        write(folder, n + 1, capture.bytes())
        every += rows(share) + [(f.time_ns + 1000, bytes(f.data), f.orig_len) for f in share[:50]]
    write(folder, 5, Capture().add(frames[800:900]).bytes())
    keep("--once", folder)
    return every + rows(frames[800:900])


def test_all(folder, archive, tmp_path):
    got, said = found(tmp_path, folder)
    assert got == archive and "5 of 5 files" in said


def test_by_time(folder, archive, frames, tmp_path):
    begin, end = frames[150].time_ns, frames[500].time_ns
    got, said = found(tmp_path, "--from", f"@{begin / 1e9:.9f}"[:21], "--to", f"@{end // 10**9}.{end % 10**9:09}", folder)
    assert abs(len(got) - len([r for r in archive if begin <= r[0] < end])) <= 2
    got, said = found(tmp_path, "--from", f"@{begin // 10**9}.{begin % 10**9:09}", "--to",
                      f"@{end // 10**9}.{end % 10**9:09}", folder)
    assert got == [r for r in archive if begin <= r[0] < end]
    assert "4 of 5 files opened" in said  # three packed ones, and the one that is being written


@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"])
def test_by_a_time_that_people_write(folder, archive, frames, tmp_path, form):
    second = frames[0].time_ns // 10**9 + 2
    text = datetime.datetime.fromtimestamp(second, datetime.UTC).strftime(form)
    want = [r for r in archive if r[0] >= second * 10**9]
    assert found(tmp_path, "--from", f"{text}Z", folder)[0] == want
    environment = {**os.environ, "TZ": "Asia/Tokyo"}
    text = (datetime.datetime.fromtimestamp(second, datetime.UTC) + datetime.timedelta(hours=9)).strftime(form)
    keep("find", "-w", tmp_path / "local.pcapng", "--from", text, folder, env=environment)
    assert rows(captures.frames(tmp_path / "local.pcapng")) == want


def test_by_sensor(folder, archive, frames, tmp_path):
    got, _ = found(tmp_path, "--sensor", "lib-2", folder)
    assert got == [(f.time_ns + 1000, bytes(f.data), f.orig_len) for n in range(4) for f in frames[n * 200:n * 200 + 50]]
    both, _ = found(tmp_path, "--sensor", "lib-1,lib-2", folder)
    assert len(both) == len(archive) - 100
    none, said = found(tmp_path, "--sensor", "nobody", folder)
    assert none == [] and "0 of 5 files opened" not in said  # the file that is being written has no index


def test_by_a_sensor_of_one_section(folder, frames, tmp_path):
    """An earlier section has described the other sensor, or a later one does."""
    write(folder, 1, made.two_sections(frames[0].data))
    for n in (1, 2):
        got, _ = found(tmp_path, "--sensor", f"s-{n}", folder)
        assert [time_ns for time_ns, _, _ in got] == [made.START_NS + n]


def test_by_group(folder, frames, tmp_path):
    for number, group in ((1, "north"), (2, "south")):
        capture = Capture(sensors=())
        capture.parts.append(made.interface("lib", 1, comment=f"saluki 0.1.0, keep all, group {group}"))
        capture.combos[0] = 0
        write(folder, number, capture.add(frames[:100 * number]).bytes())
    write(folder, 3, Capture().add(frames[:1]).bytes())
    keep("--once", folder)
    assert len(found(tmp_path, "--group", "south", folder)[0]) == 200
    assert len(found(tmp_path, "--group", "north,south", folder)[0]) == 300
    assert [s.group for s in made.read_index(folder / "saluki_00001_20261130000001.idx").sensors] == ["north"]


@pytest.mark.parametrize("expression", ["type mgt subtype beacon", "wlan addr1 ff:ff:ff:ff:ff:ff", "greater 300"])
def test_by_expression(folder, archive, tmp_path, expression):
    got, _ = found(tmp_path, folder, *expression.split())
    write_pcap(tmp_path / "all.pcap", 127, [captures.Frame(t, length, 127, data) for t, data, length in archive])
    subprocess.run(["tcpdump", "-r", tmp_path / "all.pcap", "-w", tmp_path / "want.pcap", expression], check=True,
                   capture_output=True)
    want = [(t // 1000, data, length) for t, data, length in rows(captures.frames(tmp_path / "want.pcap"))]
    assert [(t // 1000, data, length) for t, data, length in got] == want and got


@pytest.mark.parametrize("path", made.captures_in(*FOLDERS))
def test_an_address_as_tshark_finds_it(folder, tmp_path, path):
    """Frame for frame, for some addresses of each capture: those of the most and of the fewest frames."""
    frames = []
    with contextlib.suppress(captures.Corrupt):  # the frames before what is malformed
        for f in captures.frames(path):
            frames.append(f)
    linktype = frames[0].linktype
    frames = [f for f in frames if f.linktype == linktype]
    write(folder, 1, Capture(linktype=linktype).add(frames).bytes())
    write(folder, 2, made.section() + made.interface())
    original = tmp_path / "original.pcapng"
    original.write_bytes((folder / file_name(1)).read_bytes())
    keep("--once", folder)
    addresses = made.read_index(folder / f"{file_name(1).removesuffix('.pcapng')}.idx").addresses
    names = sorted(addresses)
    for address in [names[0], names[len(names) // 2], names[-1]] if names else []:
        text = address.hex(":")
        want = tshark(original, f"eth.addr#1 == {text}" if linktype == 1 else
                      f"wlan.addr == {text} || wlan.da == {text} || wlan.sa == {text}")
        assert found(tmp_path, "--mac", text, folder)[0] == rows(frames[n] for n in want)
        assert want


@pytest.mark.parametrize("text", ["de:ad:be:ef:0:1", "DE-AD-BE-EF-00-01", "dE:Ad:bE:eF:00:01"])
def test_an_address_may_be_written_so(folder, archive, tmp_path, text):
    assert "1 of 5 files opened" in found(tmp_path, "--mac", text, folder)[1]


@pytest.mark.parametrize("text", [
    "", "00", "00: 1:22:33:44:55", "00:+1:22:33:44:55", "00:-1:22:33:44:55", "0x:01:22:33:44:55", "00:11-22:33:44:55",
    "00:11:22.33:44:55", "00:11:22:33:44", "00:11:22:33:44:", "00:11:22:33:44:55:", "00:11:22:33:44:55:66",
    "00:11:22:33:44:555", "00::22:33:44:55", "001122334455", "00.11.22.33.44.55", " 00:11:22:33:44:55", "00:11:22:33:44:5g"])
def test_an_address_may_not_be_written_so(folder, text):
    _, said = keep("find", "--mac", text, folder, status=2)
    assert said == f"saluki-keep: --mac {text}: must be an address such as 00:11:22:aa:bb:cc\n"


def test_an_absent_address_opens_no_packed_file(folder, archive, tmp_path):
    got, said = found(tmp_path, "--mac", "de:ad:be:ef:00:01", folder)
    assert got == [] and "1 of 5 files opened" in said


def test_counts(folder, archive, frames):
    out, _ = keep("find", folder)
    table = {row.split()[0]: row.split()[1] for row in out.decode().splitlines()}
    assert table["lib-1:wlan0"] == "800" and table["lib-2:wlan0"] == "200" and table["all"] == "1100"


def test_a_count_of_frames(folder, archive, tmp_path):
    assert found(tmp_path, "-c", 7, folder)[0] == archive[:7]


def test_one_section_and_each_interface_once(folder, archive, tmp_path):
    found(tmp_path, folder)
    data = (tmp_path / "found.pcapng").read_bytes()
    kinds, at = [], 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        kinds.append(kind)
        at += size
    assert kinds.count(made.SECTION) == 1 and kinds.count(made.INTERFACE) == 3


def test_into_a_pipe_whose_reader_leaves(folder, archive):
    with subprocess.Popen([made.PROGRAM, "find", "-q", "-w", "-", folder], stdout=subprocess.PIPE) as finder:
        finder.stdout.read(1000)
        finder.stdout.close()
        assert finder.wait(timeout=20) == 0


# ---- damage ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("damage", ["cut", "flipped", "version", "other", "missing"])
def test_a_damaged_index_changes_nothing_that_is_found(folder, archive, frames, tmp_path, damage):
    index = folder / "saluki_00002_20261130000002.idx"
    data = bytearray(index.read_bytes())
    if damage == "missing":
        index.unlink()
    elif damage == "other":
        index.write_bytes((folder / "saluki_00003_20261130000003.idx").read_bytes())
    elif damage == "cut":
        index.write_bytes(data[:-3])
    else:
        data[{"flipped": 90, "version": 8}[damage]] ^= 0x10
        index.write_bytes(data)
    transmitter = frames[300].data[frames[300].data[2] + 10:][:6].hex(":")
    got, said = found(tmp_path, "--mac", transmitter, folder)
    assert got == [r for r in archive if bytes.fromhex(transmitter.replace(":", "")) in r[1][:60]]
    assert (damage == "missing") != ("saluki_00002" in said)


def test_an_index_that_lies_about_places(folder, frames, tmp_path):
    """Its hash is right, but chunks begin inside blocks: the file is read from its begin, and nothing is found twice."""
    write(folder, 1, Capture().add(frames * 10).bytes())
    write(folder, 2, Capture().add(frames[:1]).bytes())
    keep("--once", folder)
    index = folder / "saluki_00001_20261130000001.idx"
    data = bytearray(index.read_bytes())
    at = 76 + 1
    assert data[76] > 2  # chunks
    while data[at] & 0x80:  # the first chunk's place, its span, its first stamp: then the second one's place
        at += 1
    for _ in range(3):
        while data[at] & 0x80:
            at += 1
        at += 1
    data[at] ^= 4
    data[12:20] = xxhash.xxh64(bytes(data[20:]), 0).intdigest().to_bytes(8, "little")
    index.write_bytes(data)
    transmitter = frames[0].data[frames[0].data[2] + 10:][:6].hex(":")
    got, said = found(tmp_path, "--mac", transmitter, folder)
    want = [r for r in rows(frames * 10 + frames[:1]) if bytes.fromhex(transmitter.replace(":", "")) in r[1][:60]]
    assert got == want, said


def test_an_index_that_leads_behind_the_end(folder, frames, tmp_path):
    """Its hash is right, but the chunk that has the address would begin where the file has ended."""
    transmitter = frames[0].data[frames[0].data[2] + 10:][:6]
    others = [f for f in frames if transmitter not in f.data] * 8
    write(folder, 1, Capture().add([*others, frames[0]]).bytes())
    write(folder, 2, Capture().add(frames[1:2]).bytes())
    keep("--once", folder)
    index = folder / "saluki_00001_20261130000001.idx"
    data, chunks = bytearray(index.read_bytes()), read_index(index).chunks
    before, since = chunks[-2][0], chunks[-1][0] - chunks[-2][0]
    place, wrong = data.rindex(varint(since)), 0x7f << 14
    assert before + wrong > len(unpacked(folder / f"{file_name(1)}.zst"))
    data[place:place + 3] = varint(wrong)
    data[32:40] = (2**40).to_bytes(8, "little")  # bytes of the pcapng
    data[12:20] = xxhash.xxh64(bytes(data[20:]), 0).intdigest().to_bytes(8, "little")
    index.write_bytes(data)
    got, said = found(tmp_path, "--mac", transmitter.hex(":"), folder)
    assert got == rows(frames[:1]), said


def test_an_index_that_may_not_be_read_is_named_and_the_file_is_searched(folder, archive, tmp_path):
    for path in (tmp_path, folder):
        path.chmod(0o755)
    index = folder / "saluki_00002_20261130000002.idx"
    index.chmod(0)
    program = testbed.for_anybody(made.PROGRAM, tmp_path)
    done = subprocess.run([program, "find", "-w", "-", folder], capture_output=True, check=True, user="nobody")
    assert f"{index.name}: Permission denied; the file is searched without it" in done.stderr.decode()
    (tmp_path / "found.pcapng").write_bytes(done.stdout)
    assert len(list(captures.frames(tmp_path / "found.pcapng"))) == len(archive)


@pytest.mark.parametrize("way", ["capture", "packed", "new", "link", "hard link", "standard output"])
def test_nothing_is_written_into_the_folder_that_is_searched(folder, archive, tmp_path, way):
    where = {"capture": folder / file_name(6), "packed": folder / f"{file_name(1)}.zst", "new": folder / "new.pcapng",
             "link": tmp_path / "link.pcapng", "hard link": tmp_path / "hard.pcapng",
             "standard output": folder / "shell.pcapng"}[way]
    if way == "link":
        where.symlink_to(folder / f"{file_name(1)}.zst")
    if way == "hard link":
        where.hardlink_to(folder / f"{file_name(1)}.zst")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    if way == "standard output":
        with open(where, "wb") as out:
            done = subprocess.run([made.PROGRAM, "find", "-w", "-", folder], stdout=out, stderr=subprocess.PIPE,
                                  check=False)
        where.unlink()
        assert done.returncode == 2 and b"is in the folder that is searched" in done.stderr
    else:
        _, said = keep("find", "-w", where, folder, status=2)
        assert f"-w {where}: is in the folder that is searched" in said
    assert before == {p.name: p.read_bytes() for p in folder.iterdir()}


def test_names_that_no_file_has(folder, archive):
    out, said = keep("find", "--sensor", "lib,libb", "--group", "hall", folder)
    assert "--sensor libb: no file has this sensor" in said and "--group hall: no file has this group" in said
    assert "lib:" not in said and out
    assert "no file" not in keep("find", "--sensor", "lib", folder)[1]


def test_a_link_that_leads_nowhere(folder, archive, tmp_path):
    link = tmp_path / "link.pcapng"
    link.symlink_to(folder / "new.pcapng")
    assert "is a link to a file that is not there" in keep("find", "-w", link, folder, status=2)[1]
    assert not (folder / "new.pcapng").exists()


def test_the_key_is_not_overwritten(folder, archive, tmp_path):
    key = tmp_path / "key"
    key.write_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
    _, said = keep("find", "--pseudonyms", key, "-w", key, folder, status=2)
    assert f"-w {key}: is the file of --pseudonyms" in said and key.read_text().startswith("AAEC")


def test_what_is_found_is_locked_until_it_is_whole(folder, archive, tmp_path):
    """saluki-keep leaves it alone, and so does another search."""
    out = tmp_path / "found.pcapng"
    with open(out, "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        _, said = keep("find", "-w", out, folder, status=1)
        assert f"-w {out}: another program writes to it" in said


@pytest.mark.parametrize("more, said", [(["--columns", "x"], "--columns needs -w FILE.pcapng"),
                                        (["--columns", "x", "-w", "-"], "--columns needs -w FILE.pcapng"),
                                        (["--columns", "x", "-w", "found.pcap"], "--columns needs -w FILE.pcapng")])
def test_tables_are_those_of_a_file(folder, more, said):
    assert said in keep("find", *more, folder, status=2)[1]


@pytest.mark.parametrize("name, said", [("part-00001", "tables cannot have this name: joined tables have such names"),
                                        ("found", "No such file or directory")])
def test_tables_that_cannot_be_written(folder, archive, tmp_path, name, said):
    columns, before = tmp_path / "columns", tmp_path / f"{name}.pcapng"
    before.write_bytes(b"an earlier result")
    if name != "found":
        columns.mkdir()
    assert said in keep("find", "-w", before, "--columns", columns, folder, status=1 if name == "found" else 2)[1]
    assert before.read_bytes() == b"an earlier result"


def test_another_capture_of_the_same_name_is_named(folder, frames, tmp_path):
    write(folder, 1, Capture().add(frames[:100]).bytes())
    keep("--once", "--finished", folder)
    write(folder, 1, Capture().add(frames[100:150]).bytes())
    got, said = found(tmp_path, folder, status=1)
    assert len(got) == 50 and f"{file_name(1)}.zst: is of another capture than {file_name(1)}" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_search_that_finds_no_frames(folder, number):
    """A small compressed file can have much content that is not a frame: here, 128 GiB."""
    (folder / f"{file_name(1)}.zst").write_bytes(
        zstandard.compress(made.section() + made.interface())
        + zstandard.compress(made.block(0x80000000, bytes(2**16)) * 1024) * 2048)
    columns = folder.parent / "columns"
    columns.mkdir()
    with subprocess.Popen([made.PROGRAM, "find", "-w", folder.parent / "found.pcapng", "--columns", columns, folder],
                          stderr=subprocess.PIPE) as find:
        reads = pathlib.Path(f"/proc/{find.pid}/io")
        wait_for(lambda: int(reads.read_text().split()[1]) > 100_000)
        find.send_signal(number)
        try:
            assert find.wait(20) == 1
        finally:
            find.kill()
        assert f"--columns {columns}: there are no tables" in find.stderr.read().decode()


def varint(value):
    return bytes([value & 0x7f | 0x80, value >> 7 & 0x7f | 0x80, value >> 14])


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_capture_is_named_and_the_rest_is_found(folder, archive, tmp_path, damage):
    path = folder / f"{file_name(2)}.zst"
    data = bytearray(path.read_bytes())
    path.write_bytes(data[:-100] if damage == "cut" else data[:200] + bytes([data[200] ^ 0xff]) + data[201:])
    got, said = found(tmp_path, folder, status=1)
    assert path.name in said and set(archive[:250]) <= set(got) and set(archive[500:]) <= set(got)
    assert len(got) == len(set(got)) or sorted(got) == sorted(set(got))


def test_an_index_of_an_earlier_file_of_this_name(folder, frames, tmp_path):
    """A capture that was written anew is read whole."""
    write(folder, 1, Capture().add(frames[:100]).bytes())
    keep("--once", "--finished", "--compress", "none", folder)
    write(folder, 1, Capture().add(frames[100:300], shift_ns=10**15).bytes())
    got, _ = found(tmp_path, "--from", "2026-12-01", folder)
    assert len(got) == 200


@pytest.mark.parametrize("to", ["2300-01-01", "9999-12-31", "99999999w"])
def test_times_beyond_those_of_stamps(folder, archive, tmp_path, to):
    _, said = keep("find", "--to", to, folder, status=2)
    assert "--to" in said


def test_receptions_of_a_merge_of_all(folder, tmp_path):
    """saluki-merge --all: a packet is a reception, on its sensor's interface."""
    sim.simulate(seconds=2.0, sensors=3, aps=2, stas=4).write_stream(tmp_path / "air.pcapng")
    program.run("-q", "--all", "-w", folder / "all.pcapng", tmp_path / "air.pcapng")
    before, _ = found(tmp_path, "--sensor", "s-1", folder)
    keep("--once", "--finished", folder)
    assert found(tmp_path, "--sensor", "s-1", folder)[0] == before and before


def test_random_bytes_in_an_index_are_no_crash(folder, archive, tmp_path):
    """With a right hash, so that they are read."""
    index = folder / "saluki_00001_20261130000001.idx"
    right = index.read_bytes()
    r = random.Random(1)
    for _ in range(200):
        data = bytearray(right)
        for _ in range(r.randint(1, 6)):
            data[r.randrange(20, len(data))] = r.randrange(256)
        data[12:20] = xxhash.xxh64(bytes(data[20:]), 0).intdigest().to_bytes(8, "little")
        index.write_bytes(data)
        done = subprocess.run([made.PROGRAM, "find", "--mac", "02:00:00:00:00:00", folder], capture_output=True,
                              check=False, timeout=60)
        assert done.returncode in (0, 1), done.stderr


def test_a_file_that_grows(folder, frames, tmp_path):
    """The last block is not complete yet."""
    data = Capture().add(frames[:100]).bytes()
    write(folder, 1, data[:-7])
    got, said = found(tmp_path, folder)
    assert got == rows(frames[:99]) and file_name(1) not in said


def test_a_folder_that_is_not_there(tmp_path):
    _, said = keep("find", tmp_path / "nowhere", status=1)
    assert "No such file" in said and "nowhere" in said
    assert json.dumps(str(pathlib.Path(said.split(":")[0]))) == '"saluki-keep"'
