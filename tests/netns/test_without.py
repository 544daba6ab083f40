# SPDX-License-Identifier: GPL-2.0
"""A sensor built without libbpf, libpcap and libseccomp (make WITHOUT="bpf pcap seccomp"), as on
the AP70: it captures with packet sockets and reports its missing features. Tests without a ring
also run the AP70's own programs on its processor in qemu, which passes system calls to this
machine's kernel, but does not support packet sockets' rings."""
import collections
import itertools
import re
import subprocess

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_pipeline import as_seen, combined
from reference import captures, shapes
from reference.test_reference import write_pcap

BUILD = testbed.ROOT / "build"
HERE = [BUILD / "without-bpf-pcap-seccomp/saluki"]
AP70 = {m: [f"qemu-{m}-static", "-cpu", "4Kc", BUILD / "ap70" / m / "saluki"]
        for m in ("mips", "mipsel")}
EACH = pytest.mark.parametrize("saluki", [HERE, *AP70.values()], ids=["here", *AP70])
RADIOTAP_ALL = "1\n6 0 0 262144\n"  # tcpdump -ddd
RADIOTAP_NONE = "1\n6 0 0 0\n"
ATTACHING = {5, 12, 13}  # CAP_KILL, CAP_NET_ADMIN, CAP_NET_RAW
SYS_CHROOT = 18


def run(bed, *args, saluki=HERE):
    return bed.ns.run(*saluki, *args, capture_output=True, check=False)


def sensor(bed, *options, ready="capturing by mmap v3", saluki=HERE):
    p = testbed.Process(bed.ns, [*saluki, "run", "--to", "127.0.0.1:5600", "--key",
                                 bed.keys.sensor("lib"), *options], ready)
    bed.stack.callback(p.kill)
    return p


def capabilities(process):
    """The numbers that the privileged process keeps after dropping the others."""
    def kept(field):
        with open(f"/proc/{process.pid()}/status", encoding="ascii") as f:
            bits = int(re.search(rf"{field}:\s+(\w+)", f.read())[1], 16)
        return {n for n in range(bits.bit_length()) if bits >> n & 1}

    testbed.wait_for(lambda: SYS_CHROOT not in kept("CapPrm"), "dropped privileges")
    return kept("CapPrm")


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


def test_no_capability_is_for_bpf(bed, bundled):
    """The privileged process keeps the capabilities for packet sockets and for ending the other
    process."""
    player = bed.tun("mon0", 803, bundled)
    s = sensor(bed, "-i", "mon0")
    assert capabilities(s) == ATTACHING
    player.close()
    s.expect("mon0: disappeared")
    bed.tun("mon0", 803, bundled)
    s.expect("mon0: is back")
    s.finish()


def read_all(bed, saluki, files, *options, taken=lambda f: True):
    """Exports files of frames, [(link type, frames)], and compares the output."""
    collector = bed.collector()
    for linktype, frames in files:
        trace = bed.tmp_path / "trace.pcap"
        write_pcap(trace, linktype, frames)
        status, said = sensor(bed, "-r", trace, *options, ready=None,
                              saluki=saluki).finish(signo=None)
        assert status == 0, said
    collector.finish()
    sent = [f for _, frames in files for f in frames]
    wanted = [f for f in sent if taken(f)]
    assert_same(wanted, captures.frames(bed.out), headers=True if "headers" in options else None)
    assert_balanced(collector.sensor_stats("lib"), len(sent), filtered=len(sent) - len(wanted))
    print(f"{len(wanted)} frames")


@EACH
@pytest.mark.parametrize("options", [
    (), ("--compress", "none"), ("--compress", "9"), ("--compress", "-50"),
    ("--combo-size", "1024"), ("--combo-size", "32768")], ids=" ".join)
def test_files(bed, bundled, saluki, options):
    """Files arrive whole at levels whose strategies were left out, too: zstd uses another then."""
    read_all(bed, saluki, [(127, list(captures.frames(bundled)))], *options)


def is_management(frame):
    """By the frame control field, which follows radiotap."""
    return frame.data[int.from_bytes(frame.data[2:4], "little")] & 0x0c == 0


@EACH
def test_filters(bed, bundled, saluki):
    printed = bed.ns.run("tcpdump", "-y", "IEEE802_11_RADIO", "-ddd", "type", "mgt",
                         capture_output=True).stdout
    files = [(127, list(captures.frames(bundled)))]
    read_all(bed, saluki, files, "--filter-code", code(bed, printed), taken=is_management)
    assert 0 < len(list(captures.frames(bed.out))) < len(files[0][1])


@EACH
def test_frames_of_every_shape(bed, saluki):
    """Frames are truncated as the reference truncates them, in any byte order."""
    files = collections.defaultdict(list)
    for n, (_, linktype, data) in enumerate(itertools.chain(shapes.whole(), shapes.cut())):
        frame = captures.Frame(1700000000 * 10**9 + n * 999999937, len(data), linktype, data)
        files[linktype].append(frame)
    read_all(bed, saluki, list(files.items()), "--keep", "headers")


@EACH
def test_every_capture(bed, traces, saluki):
    folders = ["hwsim", "radiotap", "dot11-other", "wired"]
    read_all(bed, saluki, [(t, combined(traces, t, folders)) for t in (1, 105, 119, 127)])


def test_status_and_filter_ask_the_agent(bed, bundled):
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s = sensor(bed, "-i", "mon0")
    # Its socket listens after the handover, which comes after the message that it captures.
    testbed.wait_for(lambda: "mmap v3" in run(bed, "status").stdout, "the agent to answer")
    got = run(bed, "filter", "-i", "mon0", "--filter-code", code(bed, RADIOTAP_NONE))
    assert got.returncode == 0, got.stderr
    count = player.play()
    status, said = s.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count, filtered=count)


@EACH
@pytest.mark.parametrize("args,wanted", [
    (["attach", "-i", "mon0"], "attach: this saluki is built without libbpf; use 'saluki run'"),
    (["detach", "-i", "mon0"], "detach: this saluki is built without libbpf; use 'saluki run'"),
    (["probe"], "probe: this saluki is built without libbpf; use 'saluki run'"),
    (["--completion"], "--completion refused: this saluki is built without it"),
    (["filter", "-i", "mon0", "--filter-code", "CODE"], "mon0: no agent captures there"),
    (["filter", "-i", "mon0", "beacon"], "mon0: this saluki is built without libpcap"),
    (["run", "-i", "mon0", "--source", "xsk"], "xsk refused: this saluki is built without libbpf"),
    (["run", "-i", "mon0", "--source", "xdp"], "xdp refused: this saluki is built without libbpf"),
    (["run", "-i", "mon0", "--source", "tc"], "tc refused: this saluki is built without libbpf"),
    (["run", "-i", "mon0", "--consume"], "mmap refused: its sockets hear copies"),
    (["run", "-i", "mon0", "--ring", "mapped"], "mmap refused: --ring mapped goes with xdp and tc"),
    (["run", "-i", "mon0", "type mgt"], "use --filter-code")])
def test_what_it_does_not_have_is_said(bed, bundled, saluki, args, wanted):
    bed.tun("mon0", 803, bundled)
    if args[0] == "run":
        args = [args[0], "--to", "127.0.0.1:5600", "--key", bed.keys.sensor("lib"), *args[1:]]
    got = run(bed, *[code(bed, RADIOTAP_ALL) if a == "CODE" else a for a in args], saluki=saluki)
    assert got.returncode == 1 and wanted in got.stderr, got


@pytest.mark.parametrize("saluki", [[BUILD / "saluki"], HERE, *AP70.values()],
                         ids=["whole", "here", *AP70])
@pytest.mark.parametrize("args,said", [
    (["run", "--channel"], "--channel: needs a value"),
    (["run", "-i"], "--interface: needs a value"),
    (["run", "x", "--pace=3"], "--pace: takes no value"),
    (["run", "-i", "lo", "-Y"], "-Y: no such option"),
    (["run", "x", "--bogus", "y"], "--bogus: no such option, or several begin so"),
    (["run", "--combo", "1"], "--combo: no such option, or several begin so"),
    (["status", "-j"], "-j: no such option"),
    (["--bogus"], "--bogus: no such option, or several begin so")], ids=str)
def test_bad_usage_is_said_with_any_c_library(saluki, args, said):
    got = subprocess.run([*saluki, *args], capture_output=True, text=True, check=False)
    assert got.returncode == 2 and got.stderr == f"saluki: {said}; see --help\n"


@EACH
@pytest.mark.parametrize("command", ["run", "attach", "detach", "status", "filter", "probe"])
def test_help(saluki, command):
    got = subprocess.run([*saluki, command, "--help"], capture_output=True, text=True, check=True)
    assert got.stdout.startswith(f"Usage: saluki {command}") and not got.stderr


def test_orders(bed, bundled):
    """The snaplen can be ordered; a filter cannot, as there is no compiler."""
    collector = bed.collector()
    bed.tun("mon0", 803, bundled)
    s = sensor(bed, "-i", "mon0", "--allow-control", "filter,snaplen")

    def ctl(*words):
        return bed.ns.run(BUILD / "saluki-collector", "ctl", "--timeout", "60", "lib", *words,
                          capture_output=True, check=False)

    testbed.wait_for(lambda: "there is memory" in ctl("set", "snaplen", "99999").stderr, "a session", 30)
    assert ctl("set", "snaplen", "96").stdout == "snaplen 96\n"
    done = ctl("set", "filter", "wlan type mgt")
    assert done.returncode == 1 and "built without libpcap" in done.stderr
    assert ctl("set", "filter").stdout == "no filter\n"
    status, said = s.finish()
    assert status == 0, said
    collector.finish()
