# SPDX-License-Identifier: GPL-2.0
"""A sensor's frames never keep other programs from reading the other sensors' frames."""
import collections
import random
import signal
import struct
import subprocess

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same, assert_tshark_agrees
from reference import captures
from reference.test_reference import write_pcap

STAMP = 1792 * 10**18 // 10**3
# To a sensor, 65535 is an event.
TYPES = [*range(400), 1000, 4095, 32767, 65534]
LENGTHS = range(65)

# Readers need a header before these types' frames: at least its length, and its content.
HEADERS = {123: 4, 139: 4, 144: 16, 177: 16, 196: 5, 197: 20, 201: 4, 204: 1, 209: 5, 245: 2, 254: 4}
PROTOCOLS = {144: b"\0\x17", 177: b"\0\x30"}


def filled():
    """Contents of frames: zeros, ones, a valid header for some types, random bytes."""
    chance = random.Random(7)
    yield bytes(64)
    yield b"\xff" * 64
    yield b"\0" * 14 + PROTOCOLS[144] + bytes(48)
    yield b"\0" * 14 + PROTOCOLS[177] + b"\xff" * 48
    for _ in range(3):
        yield chance.randbytes(64)
    for more in range(7):  # ERF's numbers of extension headers, and each record type
        yield (bytes(8) + bytes([0x80 * (more > 0) | chance.randrange(128)]) + bytes(7) +
               b"".join(bytes([0x80 * (n + 1 < more)]) + bytes(7) for n in range(more)) + bytes(64))


def write_pcapng(path, frames):
    """One section per link type."""
    with path.open("wb") as out:
        linktype = None
        for f in frames:
            if f.linktype != linktype:
                linktype = f.linktype
                out.write(struct.pack("<IIIHHQI", 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0, 2**64 - 1, 28))
                out.write(struct.pack("<IIHHIHHB3xII", 1, 32, linktype, 0, 0, 9, 1, 9, 0, 32))
            data = f.data + bytes(-len(f.data) % 4)
            out.write(struct.pack("<IIIIIII", 6, 32 + len(data), 0, f.time_ns >> 32,
                                  f.time_ns & 0xffffffff, len(f.data), f.orig_len))
            out.write(data + struct.pack("<I", 32 + len(data)))


def frames_of(types):
    fillings = list(filled())
    return [captures.Frame(STAMP, length + 3, t, filling[:length])
            for t in types for length in LENGTHS for filling in fillings]


def tshark_counts(path):
    """Frames that tshark reads, and its complaints."""
    p = subprocess.run(["tshark", "-n", "-r", path, "-T", "fields", "-e", "frame.number"],
                       capture_output=True, text=True, check=False)
    return len(p.stdout.splitlines()), p.stderr


def reads_all(path, count):
    found, said = tshark_counts(path)
    return found == count and "damaged" not in said and "cut short" not in said


def test_every_link_type(bed, bundled, tmp_path):
    """From a sensor that may send any link type, frames of all lengths and contents leave the file
    readable."""
    bed.keys.sensor("bad", words="linktypes=any")
    sent, honest = frames_of(TYPES), list(captures.frames(bundled))
    write_pcapng(tmp_path / "bad.pcapng", sent)
    collector = bed.collector()
    status, said = bed.reader("bad", tmp_path / "bad.pcapng",
                              options=["--keep", "all"]).finish(signo=None, seconds=120)
    assert status == 0, said
    assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
    status, said = collector.finish()
    assert status == 0
    stats = collector.sensor_stats("bad")
    assert stats["written"] + stats["lost_refused"] == stats["exported"] == len(sent)
    assert stats["balance"] == 0
    assert_balanced(collector.sensor_stats("lib"), len(honest))
    assert "sensor bad: frames of link type 123 with a cut or wrong pseudo-header" in said
    assert said.count("sensor bad: frames of ") == 1 and said.count("sensor bad: connected from") == 1
    assert stats["lost_refused"] > 1000
    written = [f for f in captures.frames(bed.out)]
    assert_same(honest, written[-len(honest):])
    assert reads_all(bed.out, len(written))
    # In their order; missing frames are of types with a header.
    left, missing = iter(written), collections.defaultdict(list)
    at = next(left)
    for f in sent:
        if (f.linktype, f.data, f.orig_len) == (at.linktype, at.data, at.orig_len):
            at = next(left)
        else:
            missing[f.linktype].append(f)
    assert sum(map(len, missing.values())) == stats["lost_refused"]
    assert set(missing) == set(HEADERS)
    print(f"{len(sent)} frames, {stats['lost_refused']} refused")
    assert_rightly_missing(missing, tmp_path / "one.pcap")


def assert_rightly_missing(missing, path):
    """tshark stops at the longest refused frame of each type, and at the longest without a
    header."""
    for linktype, frames in missing.items():
        short = [f for f in frames if len(f.data) < HEADERS[linktype]]
        assert max(len(f.data) for f in short) == HEADERS[linktype] - 1
        for f in (max(frames, key=lambda f: len(f.data)), max(short, key=lambda f: len(f.data))):
            if linktype == 197 and len(f.data) >= 16:
                continue  # some of its record types need less
            write_pcap(path, linktype, [f])
            assert not reads_all(path, 1), f


def test_link_types_that_are_not_listed(bed, bundled, tmp_path):
    """Unlisted link types are refused, and both ends log the missing entry; SIGHUP adds it."""
    frames = [captures.Frame(STAMP + n, 40, t, bytes([n % 256]) * 40)
              for n, t in enumerate([228, 1, 229, 228, 127, 1, 228] * 40)]
    write_pcapng(tmp_path / "mixed.pcapng", frames)
    usual = [f for f in frames if f.linktype in (1, 127)]
    collector = bed.collector()
    status, said = bed.reader("lib", tmp_path / "mixed.pcapng",
                              options=["--keep", "all"]).finish(signo=None)
    assert status == 0
    assert "link type 228: a collector refuses its frames" in said
    assert said.count("link type") == 2 and "has 'linktypes=default,228,229'\n" in said
    testbed.wait_for(lambda: (s := collector.sensor_stats("lib")) and s["final"], "the end")
    text = bed.keys.sensors.read_text().splitlines()
    bed.keys.sensors.write_text("".join(
        line + (" linktypes=default,228\n" if line.startswith("lib ") else "\n") for line in text))
    collector.send_signal(signal.SIGHUP)
    collector.expect("read again")
    reader = bed.reader("lib", tmp_path / "mixed.pcapng", options=["--keep", "all"])
    assert reader.finish(signo=None)[0] == 0
    assert bed.reader("two", bundled).finish(signo=None)[0] == 0
    status, said = collector.finish()
    more = [f for f in frames if f.linktype != 229]
    assert said.count("sensor lib: frames of ") == 2 and said.count("sensor lib: connected from") == 1
    assert ("sensor lib: frames of link type 228 are refused; if it is to send them, put "
            "'linktypes=default,228' into its line of the sensors file\n") in said
    assert "put 'linktypes=default,228,229' into" in said
    written = list(captures.frames(bed.out))
    assert_same(usual + more, written[:len(usual + more)], headers=False)
    assert_same(captures.frames(bundled), written[len(usual + more):])
    assert_tshark_agrees(bed.out, written)
    lib = collector.sensor_stats("lib")
    assert_balanced(lib, 2 * len(frames), lost_refused=2 * len(frames) - len(usual) - len(more))
    assert "refused 200)" in said, said


@pytest.mark.parametrize("words, said", [
    ("linktypes=", "a link type is a number"),
    ("linktypes=1,", "a link type is a number"),
    ("linktypes=65536", "a link type is a number"),
    ("linktypes=-1", "a link type is a number"),
    ("linktypes=127x", "a link type is a number"),
    ("linktypes=wlan", "a name such as ethernet or radiotap, 'default' or 'any'"),
    ("linktypes=" + ",".join(map(str, range(17))), "a sensor can have 16 link types, or 'any'"),
    ("linktypes=1 linktypes=2", "linktypes=LIST where it sends other link types than usual, and floor="),
])
def test_a_list_that_is_none(bed, words, said):
    bed.keys.sensor("bad", words=words)
    p = testbed.Process(bed.ns, [testbed.BUILD / "saluki-collector", "--listen", ":5600", "--key",
                                 bed.keys.collector, "--sensors", bed.keys.sensors, "-w", bed.out],
                        None)
    bed.stack.callback(p.kill)
    status, heard = p.finish(signo=None, seconds=10)
    assert status == 1 and f"{bed.keys.sensors}: line 8: " in heard and said in heard


def test_a_list_for_a_sensor(bed, bundled, tmp_path):
    """A sensor's list has names and numbers; a common type that is not listed is refused, too."""
    bed.keys.sensor("wired", words="linktypes=ethernet,228")
    bed.keys.sensor("air", words="one-way linktypes=radiotap")
    frames = [captures.Frame(STAMP + n, 40, t, bytes([n]) * 40)
              for n, t in enumerate([1, 228, 127, 105])]
    write_pcapng(tmp_path / "mixed.pcapng", frames)
    collector = bed.collector()
    assert bed.reader("wired", tmp_path / "mixed.pcapng",
                      options=["--keep", "all"]).finish(signo=None)[0] == 0
    assert bed.reader("air", bundled, options=["--one-way"]).finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0
    written = list(captures.frames(bed.out))
    assert written[:2] == frames[:2]
    assert_same(captures.frames(bundled), written[2:])
    assert_balanced(collector.sensor_stats("wired"), 4, lost_refused=2)
