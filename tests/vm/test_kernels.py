# SPDX-License-Identifier: GPL-2.0
"""Debian's kernels in VMs give the results expected in cases.py."""
import json
import re
import struct

import pytest

from bpf.test_filter import assert_refused_rightly
from netns.compare import assert_balanced, assert_same
from reference import captures, trim
from vm import cases


def per_kernel(table):
    def name(row):
        return row if isinstance(row, str) else ".".join(row)

    return [pytest.param(kernel, row, id=f"{kernel}-{name(row)}")
            for kernel, rows in table.items() for row in rows]


@pytest.mark.parametrize("kernel,name", per_kernel(cases.RUNS))
def test_sensor_and_collector(vm, kernel, name):
    """The best working source captures, refused sources are logged, and every frame arrives."""
    run = cases.RUNS[kernel][name]
    out = vm / cases.folder(name)
    said = (out / "said").read_text()
    for words in run.said:
        assert any(all(w in line for w in words) for line in said.splitlines()), said
    status = int((out / "status").read_text())
    got = list(captures.frames(out / "out.pcapng"))
    if not run.by:
        assert status == 1 and "capturing by" not in said and not got, said
        return
    assert status == 0 and f"{run.interface}: capturing by {run.by}," in said, said
    sent = cases.played(run.interface)
    assert int((out / "played").read_text()) == len(sent)
    assert_same(sent, got, stamps=False)
    assert [f.time_ns for f in got] == sorted(f.time_ns for f in got)
    stats = json.loads((out / "stats.json").read_text())
    assert_balanced(stats["sensors"][0], len(sent))


@pytest.mark.parametrize("kernel,name", per_kernel(cases.MODULES))
def test_module(vm, kernel, name):
    """A module sees each frame, its events reach the collector, and it can be unloaded."""
    run = cases.MODULES[kernel][name]
    out = vm / cases.folder(name)
    said, log = (out / "said").read_text(), (out / "module").read_text()
    assert (out / "status").read_text() == "0\n" and log.endswith("done\n"), said + log
    assert f"{run.interface}: capturing by {run.by}," in said, said
    sent = cases.played(run.interface)
    assert_same(sent, list(captures.frames(out / "out.pcapng")), stamps=False)
    stats = json.loads((out / "stats.json").read_text())
    assert_balanced(stats["sensors"][0], len(sent))
    (each,) = json.loads((out / "stats-modules").read_text())
    assert each["frames"] == len(sent) and each["skipped"] == each["missing"] == 0, each
    lines = [json.loads(line) for line in (out / "each.jsonl").read_text().splitlines()]
    assert lines == captures.said(out / "out.pcapng")
    assert stats["lines_written"] == each["events"] == len(lines)
    assert [bytes.fromhex(x["data"]) for x in lines] == [
        f.data[6:12] for f in sent if run.interface == "tap0"] or run.interface == "mon0"
    assert len(lines) > len(sent) // 2


@pytest.mark.parametrize("kernel", cases.RUNS)
def test_modules_are_checked(vm, kernel):
    """The shipped modules can be loaded, the hostile ones cannot."""
    good, hostile = cases.modules()
    refused = cases.REFUSED.get(kernel, set())
    statuses = dict(line.split()[::-1] for line in (vm / "check/said").read_text().splitlines())
    for path in (*good, *hostile):
        said = (vm / "check" / path.name).read_text()
        name = path.name.split(".")[0]
        expected = path in hostile or name in refused
        assert statuses[path.name] == str(int(expected)), said
        assert (": refused: " in said) == expected, said
    assert len(good) > len(refused) and hostile


@pytest.mark.parametrize("kernel,name", per_kernel({k: cases.RADIOS for k in cases.RUNS}))
def test_channel(vm, kernel, name):
    """A radio hears its own channel only; a channel that cannot be set is reported, and no
    interface is captured."""
    radio = cases.RADIOS[name]
    out = vm / cases.folder(name)
    said = (out / "said").read_text()
    status = int((out / "status").read_text())
    if radio.said:
        assert any(all(w in line for w in radio.said) for line in said.splitlines()), said
    if radio.heard is None:
        # The first channel is reported; as a station's interface, it no longer is.
        before, after = (json.loads((out / f"status-{n}").read_text())["interfaces"][0]["channel"]
                         for n in ("before", "after"))
        assert status == 0 and (before, after) == (6, None), said
        assert "is of another type now" in said
        return
    if radio.said:
        assert status == 1 and "capturing by" not in said, said
        return
    channel = re.search(r"--channel (\d+)", radio.options)[1]
    assert status == 0 and f"wlan0: channel {channel}\n" in said, said
    assert f"\tchannel {channel} (" in (out / "radio").read_text()
    sent = [f.data[-10:] for f in cases.beacons()]
    assert int((out / "played").read_text()) == len(sent)
    got = list(captures.frames(out / "out.pcapng"))
    assert [f.data[-10:] for f in got] == (sent if radio.heard else [])
    assert_balanced(json.loads((out / "stats.json").read_text())["sensors"][0], len(got))


@pytest.mark.parametrize("kernel,row", per_kernel(cases.TRIMS))
def test_capture_program_alone(vm, kernel, row):
    """The capture program keeps the same bytes as the reference, for frames of every shape."""
    out = vm / ".".join(row)
    linktype = int(row[1])
    assert (out / "status").read_text() == "0\n", (out / "said").read_text()
    kept = (out / "kept").read_bytes()
    at = 0
    for frame in cases.shaped(linktype):
        length, lied = trim.keep(frame, len(frame), linktype, 192, True)
        want = struct.pack("<IIHBB", length, len(frame), linktype, 1, lied) + frame[:length]
        assert kept[at + 4:at + 16 + length] == want, frame
        at += 16 + length
    assert at == len(kept) > 0


@pytest.mark.parametrize("kernel", cases.RUNS)
def test_filters_say_what_libpcap_says(vm, kernel):
    """Every kernel's verifier accepts the filters, including lists of hundreds of addresses."""
    said = (vm / "filter/said").read_text()
    assert (vm / "filter/status").read_text() == "0\n", said
    lines = said.splitlines()
    assert [line for line in lines if line.startswith("differ")] == []
    refused = [line.split(" ", 2) for line in lines if line.startswith("refused")]
    frames, chosen = cases.filtered()
    assert_refused_rightly(chosen, {int(number): why for _, number, why in refused})
    assert len(refused) < 5, refused
    taken = [line for line in lines if line.startswith("ok")]
    assert len(taken) + len(refused) == len(chosen) > 70
    assert sum(int(line.split()[7]) for line in taken) >= 2 * len(frames) * len(taken)


@pytest.mark.parametrize("kernel", cases.RUNS)
def test_probe_says_what_there_is(vm, kernel):
    """The runs confirm the features that probe finds by trying."""
    lines = (vm / "probe/said").read_text().splitlines()
    found = {line[:24].strip(): line[25:].split("   ")[0] for line in lines}
    assert found["kernel"].startswith(kernel + ".") and found["BTF (not needed)"] == "yes"
    old = kernel == "5.10"
    for name in ("xdp native", "xdp generic", "bpf_xdp_load_bytes", "mapped ring"):
        assert found[name] == ("no" if old else "yes"), lines
    assert found["tc"] == found["BPF ring buffer"] == "yes", lines
    assert (vm / "probe/status").read_text() == "0\n"
