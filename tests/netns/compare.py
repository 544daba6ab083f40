# SPDX-License-Identifier: GPL-2.0
"""Compares the frames sent with the frames written, and checks the ledger between them."""
import itertools
import struct
import subprocess

from reference import captures, trim

LOSSES = ("ring_full", "copy_failed", "filtered", "dropped_send", "dropped_shutdown", "dropped_store",
          "in_ring", "lost_missing", "lost_disk", "lost_refused", "earlier", "in_flight", "balance",
          "bad_combos", "bad_pieces", "bad_messages")


def frames_in(path):
    """The frames of a file up to its end or to where it breaks off."""
    it = captures.frames(path, captures.INTERFACES_MAX)
    while True:
        try:
            yield next(it)
        except (StopIteration, captures.Corrupt, IndexError, struct.error):
            return


def assert_same(sent, got, snaplen=192, headers=None, stamps=True):
    """The frames and their order are the same, truncated as expected, with the original lengths."""
    for n, (a, b) in enumerate(itertools.zip_longest(sent, got)):
        assert a and b, f"frame {n}: {'nothing came out' if a else 'nobody sent it'}"
        kept, _ = trim.keep(a.data, a.orig_len, a.linktype, snaplen, headers)
        assert b.data == a.data[:kept], (n, a, b)
        assert b.orig_len == a.orig_len and b.linktype == a.linktype, (n, a, b)
        if stamps:
            assert b.time_ns == a.time_ns, (n, a.time_ns, b.time_ns)


HOOK = ("seen", "filtered", "ring_full", "copy_failed", "captured")


def assert_balanced(stats, frames, **allowed):
    """Nothing is lost or invented: every loss counter is zero except those given."""
    for name in LOSSES:
        assert stats[name] == allowed.get(name, 0), (name, stats)
    assert stats["seen"] == frames, stats
    assert stats["written"] == frames - sum(allowed.values()), stats
    if stats["runs"] == 1:
        for name in HOOK:
            assert sum(i[name] for i in stats["interfaces"]) == stats[name], (name, stats)


def assert_all_balanced(collector, names, frames):
    """The same for many sensors together; sensors that never had a session count nothing."""
    stats = [s for s in map(collector.sensor_stats, dict.fromkeys(names)) if s]
    for s in stats:
        assert_balanced(s, s["seen"])
    assert sum(s["seen"] for s in stats) == frames


def tshark_fields(path, *fields, options=()):
    """Returns the fields that tshark reads, as a list of tuples."""
    args = ["tshark", "-n", "-r", path, "-T", "fields", *options]
    for f in fields:
        args += ["-e", f]
    out = subprocess.run(args, capture_output=True, text=True, check=True).stdout
    return [tuple(line.split("\t")) for line in out.splitlines()]


def assert_tshark_agrees(path, frames):
    """tshark opens the file and finds the same frames."""
    seen = tshark_fields(path, "frame.time_epoch", "frame.len", "frame.cap_len")
    assert len(seen) == len(frames)
    for row, f in zip(seen, frames):
        seconds = f"{f.time_ns // 10**9}.{f.time_ns % 10**9:09}"
        assert row == (seconds, str(f.orig_len), str(len(f.data)))


def assert_stamps_close(ours, theirs):
    """Two captures of the same frames at the same time have stamps within a millisecond, except one
    frame in a hundred: a virtual machine's CPU may pause between the two stamps."""
    assert len(ours) == len(theirs)
    assert [f.time_ns for f in ours] == sorted(f.time_ns for f in ours)
    apart = sorted(abs(a.time_ns - b.time_ns) for a, b in zip(ours, theirs))
    print(f"stamps apart: median {apart[len(apart) // 2]} ns, most {apart[-1]} ns")
    assert apart[len(apart) // 2] < 100_000
    assert apart[len(apart) * 99 // 100] < 1_000_000
