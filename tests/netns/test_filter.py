# SPDX-License-Identifier: GPL-2.0
"""Filters end to end: the collector's file has the frames that tcpdump takes by the same
expression, with every source. The rest is counted as filtered, and passed on."""
import subprocess

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from reference import captures
from reference.test_reference import write_pcap

BEACONS = "type mgt subtype beacon"
ON_THE_TRACE = [BEACONS, "type data and not wlan[1] & 0x40 != 0", "wlan[0] = 0x80 or less 60"]
ON_LIVE = [(hook, e) for hook in ("xdp", "tc", "xsk") for e in ON_THE_TRACE[:2]]


def tcpdump(path, expression):
    """Which frames tcpdump takes from the file."""
    out = path.with_suffix(".taken")
    subprocess.run(["tcpdump", "-r", path, "-w", out, expression], check=True,
                   stderr=subprocess.DEVNULL)
    return list(captures.frames(out))


def code(path, expression):
    out = path.with_suffix(".code")
    out.write_bytes(subprocess.run(["tcpdump", "-ddd", "-r", path, expression], check=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    return out


def check(bed, collector, wanted, sent, stamps=True):
    assert collector.finish()[0] == 0
    assert_same(wanted, captures.frames(bed.out), stamps=stamps)
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, sent, filtered=sent - len(wanted))


@pytest.mark.parametrize("expression", ON_THE_TRACE)
def test_of_a_file(bed, bundled, expression):
    sent, wanted = list(captures.frames(bundled)), tcpdump(bundled, expression)
    assert 0 < len(wanted) < len(sent)
    collector = bed.collector()
    status, said = bed.reader("lib", bundled, options=expression.split()).finish(signo=None)
    assert status == 0, said
    check(bed, collector, wanted, len(sent))


def test_code_of_a_file(bed, bundled):
    sent, wanted = list(captures.frames(bundled)), tcpdump(bundled, BEACONS)
    collector = bed.collector()
    status, said = bed.reader("lib", bundled, options=["--filter-code", code(bundled, BEACONS)]
                              ).finish(signo=None)
    assert status == 0, said
    check(bed, collector, wanted, len(sent))


def test_expression_in_a_file(bed, bundled):
    """tcpdump reads the same file."""
    sent = list(captures.frames(bundled))
    file = bed.tmp_path / "beacons.filter"
    file.write_text("type mgt # management\n  and subtype beacon\n# the rest is filtered\n")
    out = bed.tmp_path / "taken.pcap"
    subprocess.run(["tcpdump", "-Z", "root", "-r", bundled, "-w", out, "-F", file], check=True,
                   stderr=subprocess.DEVNULL)
    wanted = list(captures.frames(out))
    assert 0 < len(wanted) < len(sent)
    collector = bed.collector()
    status, said = bed.reader("lib", bundled, options=["-F", file]).finish(signo=None)
    assert status == 0, said
    check(bed, collector, wanted, len(sent))


@pytest.mark.parametrize("snaplen", ["0", "65535", "262144"])
def test_snaplens_of_tcpdump(bed, bundled, snaplen):
    """0, and more than there is, keep whole frames."""
    collector = bed.collector()
    status, said = bed.reader("lib", bundled, options=["-s", snaplen, "--keep", "all"]).finish(signo=None)
    assert status == 0, said
    assert collector.finish()[0] == 0
    sent = list(captures.frames(bundled))
    assert_same(sent, captures.frames(bed.out), 32768, False)
    assert_balanced(collector.sensor_stats("lib"), len(sent))


@pytest.mark.parametrize("hook,expression", ON_LIVE + [("xdp", None), ("tc", None), ("xsk", None)])
def test_live(bed, bundled, hook, expression):
    """Without an expression: --filter-code."""
    sent, wanted = list(captures.frames(bundled)), tcpdump(bundled, expression or BEACONS)
    options = ["--source", hook, *(["--consume"] if hook != "xsk" else []),
               *([expression] if expression else ["--filter-code", code(bundled, BEACONS)])]
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0", options=options)
    assert player.play() == len(sent)
    status, said = sensor.finish()
    assert status == 0 and "mon0: filter '" in said, said
    check(bed, collector, wanted, len(sent), stamps=False)


def loads_and_a_list(loads, values):
    """Code that is long at the end of its first part: loads, and then a list. It takes all
    frames."""
    lines = ["1 0 0 2", *["72 0 0 1"] * loads]
    for n in range(values):
        lines += [f"21 0 1 {0x12340000 + n}", f"5 0 0 {2 * (values - n) - 1}"]
    lines += ["6 0 0 1", "6 0 0 0"]
    return f"{len(lines)}\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_long_code_in_the_whole_program(bed, hook, tmp_path):
    """In long code, jumps go from after the program back into it, also from a filter's first
    end."""
    long = tmp_path / "long"
    long.write_text(loads_and_a_list(1480, 3000))
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    frames = [captures.Frame(n, 60, 1, bytes(12) + b"\x12\x34" + bytes([n]) * 46) for n in range(50)]
    write_pcap(bed.tmp_path / "live.pcap", 1, frames)
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["--source", hook, "--filter-code", long])
    assert bed.sender("veth0", bed.tmp_path / "live.pcap").play() == len(frames)
    assert sensor.finish()[0] == 0
    check(bed, collector, frames, len(frames), stamps=False)


def test_too_long_for_a_socket(bed):
    """A filter that becomes longer than 4,096 instructions for a packet socket is refused."""
    pairs = " or ".join(f"(src host 10.0.{n // 250}.{n % 250} and tcp src port {1000 + n})"
                        for n in range(300))
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    got = bed.ns.run(testbed.BUILD / "saluki", "run", "-i", "tap0", "--source", "mmap", "--to",
                     "127.0.0.1:5600", "--key", bed.keys.sensor("lib"), pairs, check=False,
                     capture_output=True)
    assert got.returncode == 1, got
    assert "tap0: mmap refused: the filter is too long for a socket" in got.stderr, got


def test_refused_frames_are_passed_on(bed, bundled):
    """Refused frames are passed on with --consume too: a capture of beacons removes beacons
    only."""
    sent, wanted = list(captures.frames(bundled)), tcpdump(bundled, BEACONS)
    bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0", options=["--source", "xdp", "--consume", BEACONS])
    other = bed.ns.start("tcpdump", "-i", "mon0", "-w", "/dev/null", "-B", "16384",
                         stderr=subprocess.PIPE)
    testbed.wait_for(lambda: "listening" in other.stderr.readline(), "tcpdump")
    assert player.play() == len(sent)
    sensor.finish()
    other.terminate()
    said = other.communicate(timeout=20)[1]
    assert f"{len(sent) - len(wanted)} packets received by filter" in said, said


@pytest.mark.parametrize("expression,why", [
    ("host", "syntax error"), ("ip6 protochain 6", "protochain"),
    ("tcp port nonsense", "nonsense")])
def test_what_is_no_filter(bed, bundled, expression, why):
    bed.tun("mon0", 803, bundled)
    for options in (["-i", "mon0"], ["-r", bundled]):
        p = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", *options, "--to",
                                     "127.0.0.1:5600", "--key", bed.keys.sensor("lib"),
                                     expression], None)
        status, said = p.finish(signo=None)
        assert status == 1 and why in said and f"filter '{expression}" in said, said


def test_code_that_is_none(bed, bundled, tmp_path):
    bad = tmp_path / "bad"
    bad.write_text("2\n40 0 0 12\n21 9 0 2048\n")
    out = testbed.saluki("run", "-r", bundled, "--to", "127.0.0.1:5600", "--key",
                         bed.keys.sensor("lib"), "--filter-code", bad)
    assert out.returncode == 2 and "instruction (001) jumps behind the end" in out.stderr
