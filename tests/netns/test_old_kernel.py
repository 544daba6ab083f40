# SPDX-License-Identifier: GPL-2.0
"""The sensor on Linux 2.6.27, as on the AP70: old_kernel.c answers in that kernel's place. The
program is built from the same files as the AP70's sensor."""
import contextlib
import os
import re
import select
import signal
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_mmap import tagged, without_outer_tag
from netns.test_pipeline import as_seen
from netns.test_without import ATTACHING, HERE, RADIOTAP_ALL, RADIOTAP_NONE, capabilities, code
from reference import captures
from reference.test_reference import write_pcap

[SALUKI] = HERE
OLD_KERNEL = testbed.ROOT / "build/tests/old_kernel"
NEWER_CALLS = testbed.ROOT / "build/tests/newer_calls"
PACKETS = ["v2", "v1", "recv"]  # 2.6.27; before it; without CONFIG_PACKET_MMAP

# tcpdump -ddd type mgt, after radiotap: bytes 2 and 3 have the header's length.
RADIOTAP_MGT = """12
48 0 0 3
100 0 0 8
7 0 0 0
48 0 0 2
76 0 0 0
7 0 0 5
80 0 0 0
84 0 0 12
21 0 1 0
6 0 0 262144
6 0 0 0
6 0 0 0
"""

# Newer calls that the sensor or its C library tries first and can do without: no others are
# allowed.
ASKED_FIRST = {"sendmmsg", "memfd_create",
               "getrandom", "rseq", "prlimit64", "clone3", "statx", "faccessat2", "close_range"}


def old(packets, *command):
    return [OLD_KERNEL, "--packets", packets, *command]


def sensor(bed, packets, *options, ready=None, before=(), program=SALUKI):
    p = testbed.Process(bed.ns, [*before, *old(packets, program), "run", "--to", "127.0.0.1:5600",
                                 "--key", bed.keys.sensor("lib"), *options], ready)
    bed.stack.callback(p.kill)
    return p


def saluki(bed, *args, **kwargs):
    return bed.ns.run(*old("v2", SALUKI), *args, capture_output=True, check=False, **kwargs)


def played(bed, s, player, collector, filtered=0):
    """Plays all; the ledger must balance. Returns the sensor's log."""
    count = player.play()
    status, said = s.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count,
                    **({"filtered": filtered} if filtered else {}))
    return said


# ---- old_kernel itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("packets", PACKETS)
def test_newer_calls_are_refused(packets):
    got = subprocess.run([*old(packets, NEWER_CALLS), packets], capture_output=True, text=True,
                         check=False)
    assert got.returncode == 0 and got.stdout.startswith("0 of "), got


def test_without_it_they_are_not():
    got = subprocess.run([NEWER_CALLS], capture_output=True, text=True, check=False)
    wrong, asked = map(int, re.search(r"(\d+) of (\d+) answers are not", got.stdout).groups())
    assert got.returncode == 1 and asked > wrong > 30, got.stdout


@pytest.mark.parametrize("program,status", [("true", 0), ("false", 1), ("no-such-program", 125)])
def test_the_status_is_the_programs(program, status):
    assert subprocess.run(old("v2", program), capture_output=True, check=False).returncode == status


# ---- the sensor ----------------------------------------------------------------------------------


@pytest.mark.parametrize("packets", PACKETS)
def test_monitor_interface(bed, bundled, packets):
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s = sensor(bed, packets, "-i", "mon0", ready=f"mon0: capturing by mmap {packets},")
    said = played(bed, s, player, collector)
    for newer in ("v3", "v2", "v1")[:1 + PACKETS.index(packets)]:
        assert f"mon0: mmap {newer} refused: this kernel does not have it" in said, said
    assert_same(as_seen(captures.frames(bundled)), captures.frames(bed.out), stamps=False)


def test_the_whole_sensor(bed, bundled):
    """A sensor built with all libraries finds and logs the kernel's missing features."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s = sensor(bed, "v2", "-i", "mon0", ready="mon0: capturing by mmap v2,",
               program=testbed.BUILD / "saluki")
    said = played(bed, s, player, collector)
    for words in ("this kernel has no bpf()", "this kernel has no seccomp",
                  "this kernel has no Landlock"):
        assert words in said, said
    assert_same(as_seen(captures.frames(bundled)), captures.frames(bed.out), stamps=False)


@pytest.mark.parametrize("keep", ["headers", "all"])
@pytest.mark.parametrize("packets", PACKETS)
def test_wired_interface(bed, packets, keep):
    """On 2.6.27 no filter sees a VLAN tag, and TPACKET_V1 has no field for one."""
    frames = tagged()
    write_pcap(bed.tmp_path / "live.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    collector = bed.collector()
    s = sensor(bed, packets, "-i", "tap0", "--keep", keep, ready=f"capturing by mmap {packets},")
    player = bed.sender("veth0", bed.tmp_path / "live.pcap", ["--rate", "10000"])
    played(bed, s, player, collector)
    if packets == "v1":
        frames = without_outer_tag(frames)
    assert_same(as_seen(frames), captures.frames(bed.out), headers=keep == "headers", stamps=False)


@pytest.mark.parametrize("packets", PACKETS)
def test_two_interfaces_and_a_filter(bed, bundled, packets):
    def is_mgt(f):
        return f.data[f.data[2] + 256 * f.data[3]] & 12 == 0

    collector = bed.collector()
    players = [bed.tun(name, 803, bundled, ["--rate", "5000"]) for name in ("mon0", "mon1")]
    s = sensor(bed, packets, "-i", "mon0", "-i", "mon1", "--filter-code", code(bed, RADIOTAP_MGT),
               ready=f"mon1: capturing by mmap {packets},")
    for p in players:
        p.go()
    count = sum(p.played() for p in players)
    status, said = s.finish()
    assert status == 0, said
    collector.finish()
    taken = [f for f in as_seen(captures.frames(bundled)) if is_mgt(f)]
    assert_balanced(collector.sensor_stats("lib"), count, filtered=count - 2 * len(taken))
    got = list(captures.frames(bed.out))
    assert len(got) == 2 * len(taken) and all(map(is_mgt, got))


def test_files(bed, bundled):
    collector = bed.collector()
    status, said = sensor(bed, "v2", "-r", bundled).finish(signo=None)
    assert status == 0, said
    collector.finish()
    frames = list(captures.frames(bundled))
    assert_same(frames, captures.frames(bed.out))
    assert_balanced(collector.sensor_stats("lib"), len(frames))


def test_it_is_asked_and_told(bed, bundled):
    """status, filter and SIGUSR1 work; the commands run on the old kernel too."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s = sensor(bed, "v2", "-i", "mon0", "--filter-code", code(bed, RADIOTAP_ALL),
               ready="capturing by")
    testbed.wait_for(lambda: "mmap v2" in saluki(bed, "status").stdout, "the agent to answer")
    got = saluki(bed, "filter", "-i", "mon0", "--filter-code", code(bed, RADIOTAP_NONE))
    assert got.returncode == 0, got.stderr
    count = player.play()
    s.send_signal(signal.SIGUSR1)
    s.expect(f"ledger: seen {count} = filtered {count} +")
    status, said = s.finish(signal.SIGTERM)
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count, filtered=count)


def test_an_interface_goes_and_comes_back(bed, bundled):
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s = sensor(bed, "v2", "-i", "mon0", ready="capturing by")
    count = player.play()
    player.close()
    s.expect("mon0: disappeared; waiting for it")
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s.expect("mon0: is back")
    count += player.play()
    status, said = s.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_a_collector_that_comes_late(bed, bundled):
    """A late collector loses no frame, even if the socket gets ECONNREFUSED."""
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    s = sensor(bed, "v2", "-i", "mon0", ready="capturing by")
    count = player.play()
    collector = bed.collector()
    status, said = s.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_keys(bed):
    got = saluki(bed, "genkey")
    assert got.returncode == 0 and got.stdout != saluki(bed, "genkey").stdout
    public = saluki(bed, "pubkey", input=got.stdout)
    assert public.returncode == 0
    assert public.stdout == testbed.saluki("pubkey", input=got.stdout, check=True).stdout


@contextlib.contextmanager
def no_random_numbers(bed):
    """A kernel without random numbers yet: it gets those written to the returned file."""
    random = bed.tmp_path / "random"
    os.mkfifo(random)
    bed.ns.run("mount", "--bind", random, "/dev/random")
    with open(random, "r+b", buffering=0) as kernel:
        try:
            yield kernel
        finally:
            kernel.write(b"random")


def test_no_random_numbers_yet(bed):
    """A box that has just booted waits for random numbers, and logs this."""
    with no_random_numbers(bed) as kernel:
        p = testbed.Process(bed.ns, [*old("v2", SALUKI), "genkey"], "waiting until the kernel",
                            stdout=subprocess.DEVNULL)
        bed.stack.callback(p.kill)
        kernel.write(b"random")
        assert p.finish(signo=None)[0] == 0


def test_a_sensor_without_random_numbers(bed, bundled):
    """The sensor reports that it captures only when it can, and then captures."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    with no_random_numbers(bed) as kernel:
        s = sensor(bed, "v2", "-i", "mon0", ready="waiting until the kernel")
        time.sleep(0.5)
        assert not select.select([s.popen.stderr], [], [], 0)[0] and "capturing" not in s.said
        assert not testbed.with_children(s.pid())[1:]
        kernel.write(b"random")
        s.expect("mon0: capturing by mmap v2")
        played(bed, s, player, collector)


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT])
def test_a_sensor_without_random_numbers_is_ended(bed, bundled, signo):
    """Without random numbers, the first signal ends the sensor, with nothing attached."""
    bed.tun("mon0", 803, bundled)
    with no_random_numbers(bed):
        s = sensor(bed, "v2", "-i", "mon0", ready="waiting until the kernel")
        status, said = s.finish(signo)
    assert status == -signo and "capturing" not in said


def test_the_interfaces_lock(bed, bundled):
    bed.tun("mon0", 803, bundled)
    s = sensor(bed, "v2", "-i", "mon0", ready="capturing by")
    status, said = sensor(bed, "v2", "-i", "mon0").finish(signo=None)
    assert status == 1 and f"another saluki captures here, process {s.pid()}" in said
    s.finish()


def test_nowhere_to_lock(bed, bundled):
    """Without a place for the lock, a warning is logged, as two sensors could share an
    interface."""
    bed.ns.run("umount", "/run")
    bed.ns.run("mount", "--bind", "-o", "ro", bed.tmp_path, "/run")
    bed.tun("mon0", 803, bundled)
    s = sensor(bed, "v2", "-i", "mon0", ready="capturing by")
    _, said = s.finish()
    assert re.search("mon0: not locked against a second saluki: /run/saluki/.* cannot be made", said)


def test_no_capability_is_for_bpf(bed, bundled):
    """No capability is kept for BPF, which had none of its own there: it was a part of
    SYS_ADMIN."""
    bed.tun("mon0", 803, bundled)
    s = sensor(bed, "v2", "-i", "mon0", ready="capturing by")
    assert capabilities(s) == ATTACHING
    s.finish()


def test_nothing_newer_is_called(bed, bundled):
    """In strace's list, every call that fails with ENOSYS is known and has a replacement."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    trace = bed.tmp_path / "trace"
    s = sensor(bed, "v2", "-i", "mon0", before=["strace", "-D", "-f", "-o", trace])
    s.expect("capturing by mmap v2")
    played(bed, s, player, collector)
    refused = set(re.findall(r"(?m)^\d+ +(?:<\.\.\. )?(\w+).* = -1 ENOSYS", trace.read_text()))
    assert {"sendmmsg", "memfd_create"} <= refused <= ASKED_FIRST, refused
