# SPDX-License-Identifier: GPL-2.0
"""All captures of the tests, truncated, malformed and of other link types too: no crash, and the ledger balances."""
import contextlib
import struct
import subprocess

import pytest

from merge import pcapng, replay
from merge.program import PROGRAM, check, run, tshark
from reference import captures

FOLDERS = ("malformed", "radiotap", "dot11-other", "wired", "hwsim")
FILES = [path for c in captures.at_hand() for name in FOLDERS for path in c.folder(name)]
RADIOTAP = 127
BLOCK_LEAST = 12


def merge(folder, data, *options, pipe=False):
    """The ledger, or None if the file was refused with a line that says why. The exit status says whether it is
    malformed."""
    trace = folder / "u.pcapng"
    trace.unlink(missing_ok=True)
    (folder / "in.pcapng").write_bytes(data)
    where = ("-r", "-") if pipe else (folder / "in.pcapng",)
    done = subprocess.run([PROGRAM, "-q", *options, "-w", trace, *where], capture_output=True,
                          input=data if pipe else None, check=False, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    if done.returncode:
        assert done.stderr.startswith(b"saluki-merge: ") and len(done.stderr.splitlines()) == 1, done.stderr
    if done.returncode and not (trace.exists() and trace.stat().st_size):
        return None
    found = check(trace)
    assert found["balance"] == 0 and (found["bad_blocks"] > 0) == done.returncode
    return found


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.name == "malformed"], ids=lambda p: p.name)
def test_files_as_they_are(folder, path):
    """A pcapng file is taken up to what is malformed, from a file as from a pipe; anything else is refused."""
    data = captures.file_bytes(path)
    for options in ((), ("--all",)):
        one, other = merge(folder, data, *options), merge(folder, data, *options, pipe=True)
        if data[:4] != b"\x0a\x0d\x0d\x0a"[:len(data)]:
            assert one is None and (other is None or len(data) < BLOCK_LEAST)
        elif len(data) < BLOCK_LEAST:  # it may have been begun just now
            assert one["frames"] == 0 and (other is None or other["frames"] == 0)
        else:
            names = ("frames", "malformed", "other", "receptions", "bad_blocks")
            assert one is other is None or [one[n] for n in names] == [other[n] for n in names]


def readable(path):
    """The frames before what is malformed, of the first interfaces."""
    rows = []
    with contextlib.suppress(captures.Corrupt, struct.error, IndexError):
        rows.extend(replay.frames(path))
    return rows


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.name.partition('.')[0]}")
def test_frames_of_all_kinds_as_two_sensors_send_them(folder, path):
    """With --all each frame is there, with its bytes; others count those that are not compared."""
    rows = [(f"s:{f.linktype}", f) for _, f in readable(path) if len(f.data) < 200_000]
    stream = replay.heard(rows, [0, 3_000_000])
    found = merge(folder, stream)
    assert found["frames"] + found["other"] == 2 * len(rows)
    assert found["other"] == 2 * sum(f.linktype != RADIOTAP for _, f in rows)
    everything = merge(folder, stream, "--all")
    other = {"parts": 0, "order": 0}  # a sensor of Ethernet is a part; and these are other blocks
    assert {**everything, **other} == {**found, **other}
    kept = sorted((f.linktype, f.data, f.orig_len) for _, f in rows for _ in range(2))
    assert sorted((f.linktype, f.data, f.orig_len) for _, f in captures._pcapng((folder / "u.pcapng").read_bytes())) \
        == kept


def test_other_frames_pass_at_their_time(folder):
    """Frames of Ethernet and malformed ones have the time of their sensor's clock, in the order of all."""
    air = [("s:wlan0", f) for f in captures.frames(captures.OWN.root / "radiotap/as-phone.pcap.zst")]
    wired = [("s:eth0", f._replace(linktype=1, data=b"wired frame", orig_len=11)) for _, f in air[100::10]]
    short = [("s:wlan0", f._replace(data=f.data[:9])) for _, f in air[105::10]]
    rows = sorted(air + wired + short, key=lambda row: row[1].time_ns)
    ahead_ns = 250_000_000
    found = merge(folder, replay.heard(rows, [0, ahead_ns]), "--all")
    assert found["other"] == 2 * len(wired) and found["malformed"] == 2 * len(short)
    assert found["several"] > .95 * len(air)
    packets = tshark(folder / "u.pcapng", "frame.time_epoch", "frame.interface_name", "frame.packet_id", "frame.len")
    stamps = [float(p[0]) for p in packets]
    assert stamps == sorted(stamps) and len(packets) == 2 * len(rows)
    assert {p[1] for p in packets if p[3] == "11"} == {"s-1:eth0", "s-2:eth0"}
    assert all(not p[2] for p in packets if p[1].endswith("eth0"))
    own = {n: [s for s, p in zip(stamps, packets) if p[1] == f"s-{n}:eth0"] for n in (1, 2)}
    assert max(abs(a - b) for a, b in zip(own[1], own[2], strict=True)) < 100e-6


def test_no_option_is_needed_for_what_a_collector_writes_besides(folder):
    """Blocks of unknown kinds, and packets of an interface that is not there, end nothing. The exit status says that the
    packets were left out."""
    rows = [("s:wlan0", f) for f in captures.frames(captures.OWN.root / "radiotap/as-phone.pcap.zst")][:50]
    strange = pcapng.block(0x0bad, b"unknown ") + replay.packet(77, rows[0][1])
    (folder / "in.pcapng").write_bytes(replay.heard(rows[:25], [0]) + strange)
    assert "1 block of an interface" in run("-q", "-w", folder / "u.pcapng", folder / "in.pcapng", status=1)
    found = check(folder / "u.pcapng")
    assert found["frames"] == 25 and found["bad_blocks"] == 1
