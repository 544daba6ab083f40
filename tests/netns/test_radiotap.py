# SPDX-License-Identifier: GPL-2.0
"""Radiotap headers of every kind (reference/radiotaps.py) through the whole path, with every
source: the output equals the input, truncated as expected. Also frames with a wrong FCS
(--bad-fcs)."""
import json

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from reference import captures, radiotaps
from reference.test_reference import write_pcap

MADE = list(radiotaps.every())
BAD = sum(m.bad_fcs for m in MADE)
SOURCES = {"xdp": ["--source", "xdp"], "tc": ["--source", "tc"], "mmap": ["--source", "mmap"],
           "xsk": ["--source", "xsk"], "mapped": ["--source", "xdp", "--ring", "mapped"]}
WHOLE = ["-s", "32768", "--keep", "all"]
# Packet sockets give no more of a frame; a smaller one would hide the later parts.
SNAPLEN = 1024


def trace(bed, frames):
    path = bed.tmp_path / "trace.pcap"
    write_pcap(path, 127, [captures.Frame(10**18 + n, len(data), 127, data)
                           for n, data in enumerate(frames)])
    return path


def through(bed, how, frames, options=()):
    """Sends frames through a file or a source. Returns the output, the ledger, and the logs of
    sensor and collector."""
    path = trace(bed, frames)
    options = ["-s", SNAPLEN, *options]
    collector = bed.collector()
    if how == "file":
        status, said = bed.reader("lib", path, options=options).finish(signo=None)
    else:
        player = bed.tun("mon0", 803, path, ["--rate", "20000"])
        sensor = bed.sensor("lib", "mon0", options=[*SOURCES[how], *options])
        assert player.play() == len(frames)
        status, said = sensor.finish()
    assert status == 0, said
    status, told = collector.finish()
    assert status == 0, told
    return list(captures.frames(bed.out)), collector.sensor_stats("lib"), said, told


def assert_kept(got, made):
    assert len(got) == len(made)
    for a, b in zip(got, made):
        assert a.data == b.bytes[:min(b.kept, SNAPLEN)] and a.orig_len == len(b.bytes), b.name


@pytest.mark.parametrize("how", ["file", *SOURCES])
def test_every_header(bed, how):
    got, stats, _, _ = through(bed, how, [m.bytes for m in MADE])
    assert_kept(got, MADE)
    assert_balanced(stats, len(MADE))
    assert stats["malformed"] == sum(m.malformed for m in MADE)


@pytest.mark.parametrize("how", ["file", "xdp", "mmap"])
def test_every_byte_of_every_header(bed, how):
    """Long headers have forms too, and are restored exactly."""
    got, stats, _, _ = through(bed, how, [m.bytes for m in MADE], WHOLE)
    assert [f.data for f in got] == [m.bytes for m in MADE]
    assert_balanced(stats, len(MADE))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("options", [(), WHOLE])
def test_whatever_a_header_says(bed, seed, options):
    """With random changes of lengths, present words and vendors' skip lengths, forms restore every
    byte, and no byte is kept that should not be."""
    frames = list(radiotaps.mutated(seed, 20000))
    assert len(set(frames)) > 15000
    got, stats, _, _ = through(bed, "file", frames, options)
    sent = [captures.Frame(10**18 + n, len(data), 127, data) for n, data in enumerate(frames)]
    assert_same(sent, got, 32768 if options else SNAPLEN, False if options else None)
    assert_balanced(stats, len(frames))


# ---- frames with a wrong FCS -----------------------------------------------------------------------


@pytest.mark.parametrize("how", ["file", *SOURCES])
@pytest.mark.parametrize("option", [None, "keep", "drop"])
def test_bad_fcs(bed, how, option):
    got, stats, said, told = through(bed, how, [m.bytes for m in MADE],
                                     ["--bad-fcs", option] if option else [])
    kept = [m for m in MADE if not m.bad_fcs] if option == "drop" else MADE
    assert 50 < BAD < len(MADE) / 2
    assert_kept(got, kept)
    assert_balanced(stats, len(MADE), filtered=len(MADE) - len(kept))
    assert stats["bad_fcs"] == stats["interfaces"][0]["bad_fcs"] == BAD
    assert f"ledger: bad_fcs {BAD} of the frames were received with a wrong FCS" in said
    assert f"balance 0; {BAD} received with a wrong FCS\n" in told


@pytest.mark.parametrize("how", ["file", "xdp", "tc", "mmap", "xsk"])
def test_bad_fcs_behind_a_filter(bed, how):
    """--bad-fcs counts the frames that the filter takes; none is in two counters of the ledger."""
    wanted = [m for m in MADE if m.bytes[m.head.length:m.head.length + 1] == b"\x80"]
    bad = [m for m in wanted if m.bad_fcs]
    assert 5 < len(bad) < len(wanted) < len(MADE)
    got, stats, _, _ = through(bed, how, [m.bytes for m in MADE],
                               ["--bad-fcs", "drop", "radio[radio[3] * 256 + radio[2]] = 0x80"])
    assert_kept(got, [m for m in wanted if not m.bad_fcs])
    assert_balanced(stats, len(MADE), filtered=len(MADE) - len(got))
    assert stats["bad_fcs"] == len(bad)


def test_nothing_was_received_wrong(bed, bundled):
    """Without a wrong frame, no log line mentions them."""
    collector = bed.collector()
    status, said = bed.reader("lib", bundled, options=["--bad-fcs", "drop"]).finish(signo=None)
    assert status == 0 and "bad_fcs" not in said, said
    assert "wrong FCS" not in collector.finish()[1]
    stats = collector.sensor_stats("lib")
    assert stats["bad_fcs"] == 0
    assert_balanced(stats, len(list(captures.frames(bundled))))


def test_a_flood_of_bad_frames_hangs_nobody(bed):
    """A flood of dropped frames does not keep the sensor from ending when told to."""
    bad = next(m for m in MADE if m.bad_fcs)
    got, stats, _, _ = through(bed, "mmap", [bad.bytes] * 20000, ["--bad-fcs", "drop"])
    assert not got
    assert_balanced(stats, 20000, filtered=20000)


def status_of(bed):
    out = bed.ns.run(testbed.BUILD / "saluki", "status", "--json", "-i", "mon0", capture_output=True)
    return json.loads(out.stdout)["interfaces"][0]


@pytest.mark.parametrize("how", ["xdp", "mmap"])
def test_status_has_them(bed, how):
    path = trace(bed, [m.bytes for m in MADE])
    bed.collector()
    player = bed.tun("mon0", 803, path, ["--rate", "20000"])
    sensor = bed.sensor("lib", "mon0", options=[*SOURCES[how], "--bad-fcs", "drop"])
    assert player.play() == len(MADE)
    testbed.wait_for(lambda: status_of(bed)["counters"]["bad_fcs"] == BAD, "its counters", 20)
    counters = status_of(bed)["counters"]
    assert counters["filtered"] == BAD and counters["captured"] == len(MADE) - BAD
    assert sensor.finish()[0] == 0


def test_what_was_attached_so_stays_so(bed):
    """A run takes over programs attached with saluki attach --bad-fcs, and does not change them."""
    path = trace(bed, [m.bytes for m in MADE])
    collector = bed.collector()
    player = bed.tun("mon0", 803, path, ["--rate", "20000"])
    assert bed.ns.run(testbed.BUILD / "saluki", "attach", "-i", "mon0", "--bad-fcs", "drop",
                      capture_output=True).returncode == 0
    got = bed.ns.run(testbed.BUILD / "saluki", "run", "-i", "mon0", "--to", "127.0.0.1:5600", "--key",
                     bed.keys.sensor("lib"), "--bad-fcs", "keep", check=False, capture_output=True)
    assert got.returncode == 1 and "was attached with another --bad-fcs" in got.stderr, got
    sensor = bed.sensor("lib", "mon0")
    assert player.play() == len(MADE)
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written") == len(MADE) - BAD,
                     "the frames", 20)
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, len(MADE), filtered=BAD)
    assert stats["bad_fcs"] == BAD
    got = list(captures.frames(bed.out))
    assert [f.data for f in got] == [m.bytes[:min(m.kept, 192)] for m in MADE if not m.bad_fcs]
