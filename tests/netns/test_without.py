# SPDX-License-Identifier: GPL-2.0
"""A sensor built without libbpf, libpcap and libseccomp (make WITHOUT="bpf pcap seccomp"), as on the
AP70: it captures by packet sockets and says what it does not have."""
import subprocess

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_pipeline import as_seen
from reference import captures

SALUKI = testbed.ROOT / "build/without-bpf-pcap-seccomp/saluki"
RADIOTAP_ALL = "1\n6 0 0 262144\n"  # tcpdump -ddd
RADIOTAP_NONE = "1\n6 0 0 0\n"


def run(bed, *args):
    return bed.ns.run(SALUKI, *args, capture_output=True, check=False)


def sensor(bed, *options, ready="capturing by mmap v3"):
    p = testbed.Process(bed.ns, [SALUKI, "run", "--to", "127.0.0.1:5600", "--key",
                                 bed.keys.sensor("lib"), *options], ready)
    bed.stack.callback(p.kill)
    return p


def code(bed, text):
    path = bed.tmp_path / "code"
    path.write_text(text)
    return path


def test_auto_comes_to_packet_sockets(bed, bundled):
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s = sensor(bed, "-i", "mon0", "--filter-code", code(bed, RADIOTAP_ALL))
    assert "xdp, tc refused: this saluki is built without libbpf" in s.said
    count = player.play()
    status, said = s.finish()
    assert status == 0, said
    assert "built without libseccomp: neither system calls nor files are limited" in said
    collector.finish()
    assert_same(as_seen(captures.frames(bundled)), captures.frames(bed.out), stamps=False)
    assert_balanced(collector.sensor_stats("lib"), count)


def test_files(bed, bundled):
    collector = bed.collector()
    status, said = sensor(bed, "-r", bundled, ready=None).finish(signo=None)
    assert status == 0, said
    collector.finish()
    frames = list(captures.frames(bundled))
    assert_same(frames, captures.frames(bed.out))
    assert_balanced(collector.sensor_stats("lib"), len(frames))


def test_status_and_filter_ask_the_agent(bed, bundled):
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s = sensor(bed, "-i", "mon0")
    # It listens when all is handed over, after it has said that it captures.
    testbed.wait_for(lambda: "mmap v3" in run(bed, "status").stdout, "the agent to answer")
    got = run(bed, "filter", "-i", "mon0", "--filter-code", code(bed, RADIOTAP_NONE))
    assert got.returncode == 0, got.stderr
    count = player.play()
    status, said = s.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count, filtered=count)


@pytest.mark.parametrize("args,wanted", [
    (["attach", "-i", "mon0"], "attach: this saluki is built without libbpf; use 'saluki run'"),
    (["detach", "-i", "mon0"], "detach: this saluki is built without libbpf; use 'saluki run'"),
    (["probe"], "probe: this saluki is built without libbpf; use 'saluki run'"),
    (["filter", "-i", "mon0", "--filter-code", "CODE"], "mon0: no agent captures there"),
    (["filter", "-i", "mon0", "beacon"], "mon0: this saluki is built without libpcap"),
    (["run", "-i", "mon0", "--source", "xsk"], "xsk refused: this saluki is built without libbpf"),
    (["run", "-i", "mon0", "--source", "xdp"], "xdp refused: this saluki is built without libbpf"),
    (["run", "-i", "mon0", "--source", "tc"], "tc refused: this saluki is built without libbpf"),
    (["run", "-i", "mon0", "--consume"], "mmap refused: its sockets hear copies"),
    (["run", "-i", "mon0", "type mgt"], "use --filter-code")])
def test_what_it_does_not_have_is_said(bed, bundled, args, wanted):
    bed.tun("mon0", 803, bundled)
    if args[0] == "run":
        args = [args[0], "--to", "127.0.0.1:5600", "--key", bed.keys.sensor("lib"), *args[1:]]
    got = run(bed, *[code(bed, RADIOTAP_ALL) if a == "CODE" else a for a in args])
    assert got.returncode == 1 and wanted in got.stderr, got


@pytest.mark.parametrize("command", ["run", "attach", "detach", "status", "filter", "probe"])
def test_help(command):
    got = subprocess.run([SALUKI, command, "--help"], capture_output=True, text=True, check=True)
    assert got.stdout.startswith(f"Usage: saluki {command}") and not got.stderr
