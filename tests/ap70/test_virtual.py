# SPDX-License-Identifier: GPL-2.0
"""The sensor in the virtual AP70, a collector on the host: every frame arrives, or is counted."""
import json

import pytest

from ap70 import cases
from netns.compare import assert_balanced, assert_same
from reference import captures

HOUR_S = 3600


def vmstat(path):
    return {k: int(v) for k, v in map(str.split, path.read_text().splitlines())}


@pytest.mark.parametrize("name", [n for n, c in cases.CASES.items() if c.verb != "radio"])
def test_sensor_and_collector(ap70, name):
    case = cases.CASES[name]
    out = ap70 / cases.folder(name)
    said = (out / "said").read_text()
    assert (out / "status").read_text() == "0\n" and f"mon0: capturing by {case.by}," in said, said
    sent = cases.played()
    assert int((out / "played").read_text()) == len(sent)
    stats = json.loads((out / "stats.json").read_text())["sensors"][0]
    full = stats["ring_full"]
    assert_balanced(stats, len(sent), ring_full=full)
    # A ring that nobody reads has room for the first ones.
    assert 0 < full < len(sent) if case.verb == "stopped" else full == 0
    got = list(captures.frames(out / "out.pcapng"))
    assert_same(sent[:len(sent) - full], got, cases.SNAPLEN, stamps=False)
    assert [f.time_ns for f in got] == sorted(f.time_ns for f in got)
    began_ns = int((out / "date").read_text()) * 10**9
    assert began_ns < HOUR_S * 10**9  # it is 1970 there
    assert began_ns <= got[0].time_ns and got[-1].time_ns < HOUR_S * 10**9
    if case.verb == "pressed":
        before, after = vmstat(out / "before"), vmstat(out / "after")
        # Who took it was ended, again and again, and pages of programs were taken back.
        assert after["oom_kill"] > before["oom_kill"] + 1, (out / "hog").read_text()
        assert after["pgsteal_file"] > before["pgsteal_file"]


@pytest.mark.parametrize("name", [n for n, c in cases.CASES.items() if c.verb == "radio"])
def test_channel(ap70, name):
    """Set through wireless extensions, by a big-endian program: a radio hears its own alone."""
    case = cases.CASES[name]
    out = ap70 / cases.folder(name)
    said = (out / "said").read_text()
    assert (out / "status").read_text() == "0\n" and f"wlan0: capturing by {case.by}," in said, said
    channel = case.options.split()[-1]
    assert f"wlan0: channel {channel}\n" in said, said
    sent = [f.data[-10:] for f in cases.played("wlan0")]
    assert int((out / "played").read_text()) == len(sent)
    got = [f.data[-10:] for f in captures.frames(out / "out.pcapng")]
    assert got == (sent if channel == "6" else [])
    assert_balanced(json.loads((out / "stats.json").read_text())["sensors"][0], len(got))
