# SPDX-License-Identifier: GPL-2.0
"""The sensor in the virtual AP70, with a collector on the host: every frame arrives, or is
counted."""
import json
import re

import pytest

from ap70 import cases
from netns import testbed
from netns.compare import assert_balanced, assert_same
from reference import captures

HOUR_S = 3600


def vmstat(path):
    return {k: int(v) for k, v in map(str.split, path.read_text().splitlines())}


@pytest.mark.parametrize("name", cases.of("run", "stopped", "pressed", "returns"))
def test_sensor_and_collector(ap70, name):
    case = cases.CASES[name]
    out = ap70 / cases.folder(name)
    said = (out / "said").read_text()
    assert (out / "status").read_text() == "0\n" and f"mon0: capturing by {case.by}," in said, said
    sent = cases.played()
    assert int((out / "played").read_text()) == len(sent)
    if case.verb == "returns":
        assert said.count("mon0: disappeared; waiting for it") == said.count("mon0: is back") == 1
        sent *= 2
    stats = json.loads((out / "stats.json").read_text())["sensors"][0]
    full = stats["ring_full"]
    assert_balanced(stats, len(sent), ring_full=full)
    # A ring without a reader has room for the first ones.
    assert 0 < full < len(sent) if case.verb == "stopped" else full == 0
    got = list(captures.frames(out / "out.pcapng"))
    assert_same(sent[:len(sent) - full], got, cases.SNAPLEN, stamps=False)
    assert [f.time_ns for f in got] == sorted(f.time_ns for f in got)
    began_ns = int((out / "date").read_text()) * 10**9
    assert began_ns < HOUR_S * 10**9  # it is 1970 there
    assert began_ns <= got[0].time_ns and got[-1].time_ns < HOUR_S * 10**9
    if case.verb == "pressed":
        before, after = vmstat(out / "before"), vmstat(out / "after")
        # The process that took it was ended, again and again, and pages of programs were reclaimed.
        assert after["oom_kill"] > before["oom_kill"] + 1, (out / "hog").read_text()
        assert after["pgsteal_file"] > before["pgsteal_file"]


@pytest.mark.parametrize("name", cases.of("asked"))
def test_it_is_asked_and_told(ap70, name):
    """status and filter work, under the old kernel like the sensor."""
    out = ap70 / cases.folder(name)
    interface, = json.loads((out / "status.json").read_text())["interfaces"]
    assert interface["interface"] == "mon0" and interface["source"] == cases.CASES[name].by
    assert interface["agent"]["session"] is True and interface["filter"] == ""
    assert (out / "filter").read_text().splitlines()[-1] == "0"
    assert "\n  filter   code of none.filter\n" in (out / "status.text").read_text()
    assert (out / "status").read_text() == "0\n", (out / "said").read_text()
    count = len(cases.played())
    assert_balanced(json.loads((out / "stats.json").read_text())["sensors"][0], count,
                    filtered=count)


@pytest.mark.parametrize("name", cases.of("keys"))
def test_keys(ap70, name):
    out = ap70 / cases.folder(name)
    public = testbed.saluki("pubkey", input=(out / "secret").read_text(), check=True).stdout
    assert (out / "public").read_text() == public


@pytest.mark.parametrize("name", cases.of("calls"))
def test_newer_calls(ap70, name):
    """old_kernel refuses on MIPS the calls that tests rely on; without it nearly all exist."""
    out = ap70 / cases.folder(name)
    said = (out / "said").read_text()
    wrong, asked = map(int, re.search(r"(\d+) of (\d+) answers are not", said).groups())
    assert asked > 50 and (out / "status").read_text() == f"{min(wrong, 1)}\n"
    assert wrong > 30 if cases.CASES[name].packets == "none" else wrong == 0, said


@pytest.mark.parametrize("name", cases.of("radio"))
def test_channel(ap70, name):
    """With the channel set through wireless extensions, by a big-endian program, a radio hears only
    its own."""
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
