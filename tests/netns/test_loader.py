# SPDX-License-Identifier: GPL-2.0
"""saluki attach, run, detach, status: attached programs stay, and the next agent takes them
over."""
import ctypes
import json
import mmap
import os
import random
import re
import signal
import struct
import subprocess
from pathlib import Path

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same, tshark_fields
from netns.test_faults import NOBODY, assert_said, run_sensor, sensor_args
from netns.test_restart import numbered, written
from reference import captures
from reference.test_reference import write_pcap

PINS = "/sys/fs/bpf/saluki"
IDLE, PENDING = 0, 2  # saluki/record.h
JOURNAL_STATE = 8      # offset in struct saluki_journal


def saluki(bed, *args, ns=None):
    """Runs a command to its end; returns (status, standard error)."""
    got = (ns or bed.ns).run(testbed.BUILD / "saluki", *args, check=False, capture_output=True)
    return got.returncode, got.stderr


def attach(bed, *args):
    status, said = saluki(bed, "attach", *args)
    assert status == 0, said
    return said


def status_of(bed, *args, ns=None):
    """interface -> its entry in `saluki status --json`"""
    got = (ns or bed.ns).run(testbed.BUILD / "saluki", "status", "--json", *args,
                             capture_output=True)
    return {i["interface"]: i for i in json.loads(got.stdout)["interfaces"]}


def pins_of(bed, interface="tap0"):
    got = bed.ns.run("ls", f"{PINS}/{interface}", capture_output=True, check=False)
    return got.stdout.split()


def bpftool(bed, *args):
    got = bed.ns.run("bpftool", "-j", *args, capture_output=True)
    return json.loads(got.stdout or "null")


def map_bytes(bed, name, interface="tap0"):
    """The value of a pinned map's only element."""
    path = f"{PINS}/{interface}/{name}"
    found = bpftool(bed, "map", "lookup", "pinned", path, "key", "hex", "0", "0", "0", "0")
    return bytes(int(b, 16) for b in found["value"])


def map_write(bed, name, value, interface="tap0"):
    bed.ns.run("bpftool", "map", "update", "pinned", f"{PINS}/{interface}/{name}", "key", "hex",
               "0", "0", "0", "0", "value", "hex", *(f"{b:02x}" for b in value))


def counters_of(bed, interface="tap0"):
    """One dict per CPU."""
    dump = bpftool(bed, "map", "dump", "pinned", f"{PINS}/{interface}/counters")
    return [e["formatted"]["value"] for e in dump]


def sender(bed, frames, interface="veth0", rate=20000, cpu=None):
    path = bed.tmp_path / f"{interface}-{random.random()}.pcap"
    write_pcap(path, 1, frames)
    p = bed.sender(interface, path, ["--rate", str(rate)])
    if cpu is not None:
        os.sched_setaffinity(p.popen.pid, {cpu})
    return p


def send(bed, frames, interface="veth0", **kwargs):
    assert sender(bed, frames, interface, **kwargs).play() == len(frames)


def cable(bed, n=0):
    testbed.veth(bed.ns, f"veth{n}", bed.ns, f"tap{n}")


def nothing_is_left(bed):
    """No pin, program or filter is left."""
    assert "saluki" not in bed.ns.run("ls", "/sys/fs/bpf", capture_output=True).stdout.split()
    (net,) = bpftool(bed, "net")
    assert net["xdp"] == [] and net["tc"] == []
    return True


def finish(sensor):
    status, said = sensor.finish()
    assert status == 0, said
    return said


def last_word(collector, exported, name="lib"):
    stats = collector.sensor_stats(name)
    return stats if stats["final"] and stats["exported"] == exported else None


# ---- messages about the ring and privileges --------------------------------------------------------


@pytest.mark.parametrize("ring,snaplen,fit", [
    ("bpf", 192, 1170), ("bpf", 250, 910), ("bpf", 300, 481),
    ("mapped", 192, 1214), ("mapped", 250, 937), ("mapped", 300, 800)])
def test_the_room_that_is_told_is_there(bed, bundled, ring, snaplen, fit):
    """The BPF ring buffer reserves space by size classes, a mapped ring by the frame's length. Each
    holds the reported number."""
    cable(bed)
    bed.collector()  # for the sensor's end, which otherwise waits for a collector
    options = ["-B", "256", "-s", str(snaplen), "--source", "xdp", "--ring", ring]
    sensor = bed.sensor("lib", "tap0", options=options)
    which = {"bpf": "the ring", "mapped": "each CPU's ring"}[ring]
    sensor.expect(f"-B: {which} has room for {fit} frames of {snaplen} bytes")
    sensor.finish()
    attach(bed, "-i", "tap0", *options)
    long = captures.Frame(0, 400, 1, bytes(12) + b"\x08\x00" + bytes(386))
    send(bed, [long] * 1500, cpu=min(os.sched_getaffinity(0)))
    counters = status_of(bed)["tap0"]["counters"]
    assert (counters["captured"], counters["ring_full"]) == (fit, 1500 - fit)


def test_probe_names_the_right_that_sockets_take(bed):
    got = bed.ns.run("setpriv", "--reuid", "nobody", "--clear-groups", testbed.BUILD / "saluki",
                     "probe", check=False, capture_output=True)
    (line,) = [x for x in got.stdout.splitlines() if x.startswith("packet sockets")]
    assert line.endswith("not permitted; run as root, or with CAP_NET_RAW")


# ---- attach, run, run, detach ----------------------------------------------------------------------


@pytest.mark.parametrize("ring", ["bpf", "mapped"])
@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_what_is_attached_stays(bed, bundled, ring, hook):
    """Before the first agent, between two, and after the last, frames wait in the ring."""
    frames = numbered(bundled, 5000)
    parts = [frames[i:i + 1000] for i in range(0, 5000, 1000)]
    cable(bed)
    said = attach(bed, "-i", "tap0", "--ring", ring, "--source", hook)
    assert f"tap0: attached by {hook}" in said
    send(bed, parts[0])
    s = status_of(bed)["tap0"]
    assert s["counters"]["seen"] == s["counters"]["captured"] == 1000
    assert s["agent"] is None and s["persistent"] and s["ring"]["used"] > 1000 * 60
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    first = bed.sensor("lib", "tap0", key=key)
    assert "takes over what 'saluki attach' attached" in first.said
    testbed.wait_for(lambda: written(collector) == 1000, "the frames that waited")
    send(bed, parts[1])
    s = status_of(bed)["tap0"]
    assert s["agent"]["pid"] == first.pid() and s["agent"]["session"]
    testbed.wait_for(lambda: written(collector) == 2000, "the new frames")
    finish(first)
    s = status_of(bed)["tap0"]
    assert s["agent"] is None and s["source"].startswith(hook) and s["ring"]["used"] == 0
    send(bed, parts[2])
    assert status_of(bed)["tap0"]["ring"]["used"] > 1000 * 60
    second = bed.sensor("lib", "tap0", key=key)
    second.expect("goes on: an earlier agent has exported 2000 frames of it")
    send(bed, parts[3])
    testbed.wait_for(lambda: written(collector) == 4000, "the new frames")
    finish(second)
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["runs"] == 1
    assert_balanced(stats, 4000)
    assert_same(frames[:4000], captures.frames(bed.out), stamps=False)
    send(bed, parts[4])
    status, said = saluki(bed, "detach", "-i", "tap0")
    assert status == 0 and "1000 frames were in the ring and not exported" in said
    assert nothing_is_left(bed)
    assert status_of(bed) == {}


def test_stopped_under_load(bed, bundled):
    """Frames left in the ring by a stopped agent count as in_ring until the next one has exported
    them."""
    frames = numbered(bundled, 60000)
    cable(bed)
    attach(bed, "-i", "tap0", "-B", "16384")
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    source = sender(bed, frames, rate=8000)
    source.go()
    left = []
    for _ in range(3):
        at = written(collector)
        sensor = bed.sensor("lib", "tap0", key=key)
        testbed.wait_for(lambda at=at: written(collector) > at, "frames")
        said = finish(sensor)
        exported = int(re.search(r" = exported (\d+) ", said)[1])
        stats = testbed.wait_for(lambda n=exported: last_word(collector, n), "its final totals")
        left.append(stats["in_ring"])
        assert stats["captured"] == stats["exported"] + stats["in_ring"]
    count = source.stop()
    sensor = bed.sensor("lib", "tap0", key=key)
    testbed.wait_for(lambda: written(collector) == count, "the rest")
    finish(sensor)
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["runs"] == 1 and any(left), left
    assert_balanced(stats, count)
    assert_same(frames[:count], captures.frames(bed.out), stamps=False)
    assert saluki(bed, "detach", "-i", "tap0") == (0, "")


def test_attach_again_changes_the_snaplen_under_load(bed, bundled):
    """Programs are replaced in place: frames have the old length first, then the new one."""
    frames = [f for f in numbered(bundled, 20000) if len(f.data) > 128]
    assert len(frames) > 5000
    cable(bed)
    attach(bed, "-i", "tap0", "-s", "64", "-B", "16384")
    source = sender(bed, frames, rate=6000)
    source.go()
    counted = lambda: sum(c["captured"] for c in counters_of(bed))
    for snaplen in (128, 100, 64):
        at = counted()
        testbed.wait_for(lambda at=at: counted() > at + 500, "frames")
        attach(bed, "-i", "tap0", "-s", str(snaplen), "-B", "16384")
    assert source.played() == len(frames)
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", ready="snaplen 64")
    testbed.wait_for(lambda: written(collector) == len(frames), "all")
    finish(sensor)
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(frames))
    lengths = []
    for sent, got in zip(frames, captures.frames(bed.out), strict=True):
        assert got.data == sent.data[:len(got.data)] and got.orig_len == sent.orig_len
        if lengths[-1:] != [len(got.data)]:
            lengths.append(len(got.data))
    assert lengths == [64, 128, 100, 64]


@pytest.mark.parametrize("option,word", [
    (("-s", "100"), "-s"), (("--keep", "headers"), "--keep"), (("--source", "tc"), "--source"),
    (("-Q", "inout"), "-Q"), (("--consume",), "--consume"), (("--ring", "mapped"), "--ring"),
    (("-B", "8192"), "-B")])
def test_run_with_another_option_is_refused(bed, option, word):
    cable(bed)
    attach(bed, "-i", "tap0", "--ring", "bpf")
    assert_said(run_sensor(bed, "-i", "tap0", *sensor_args(bed, *option)), 1, "tap0",
                f"was attached with another {word};", "saluki attach")
    assert status_of(bed)["tap0"]["source"] == "xdp native"


@pytest.mark.parametrize("ring", ["bpf", "mapped"])
def test_a_run_takes_either_ring(bed, bundled, ring):
    """The default takes over whichever ring is attached; another one on request is refused."""
    cable(bed)
    other = {"bpf": "mapped", "mapped": "bpf"}[ring]
    attach(bed, "-i", "tap0", "--ring", ring)
    assert_said(run_sensor(bed, "-i", "tap0", *sensor_args(bed, "--ring", other)), 1, "tap0",
                "was attached with another --ring;")
    frames = numbered(bundled, 1000)
    send(bed, frames)
    collector = bed.collector()
    for options in ([], ["--ring", "auto"], ["--ring", ring]):
        sensor = bed.sensor("lib", "tap0", key=bed.keys.sensor("lib"), options=options,
                            ready=f"ring {ring} 4096 KiB")
        testbed.wait_for(lambda: written(collector) == 1000, "the frames that waited")
        finish(sensor)
        assert f"ring {ring} 4096 KiB" in attach(bed, "-i", "tap0", *options)
    collector.finish()
    assert_same(frames, captures.frames(bed.out), stamps=False)


@pytest.mark.parametrize("options,ring", [
    (("--ring", "auto"), "mapped 4096 KiB for each CPU"),
    (("--ring", "auto", "-B", "524288"), "bpf 524288 KiB"),  # a mapped ring is at most 256 MiB
    (("--ring", "bpf"), "bpf 4096 KiB"), (("--ring", "mapped"), "mapped 4096 KiB for each CPU")])
def test_the_ring_that_is_chosen(bed, options, ring):
    """By default mapped rings, one for each possible CPU, where they fit."""
    cable(bed)
    assert f"keep all, ring {ring}\n" in attach(bed, "-i", "tap0", *options)
    if "auto" in options:
        possible = int(Path("/sys/devices/system/cpu/possible").read_text().split("-")[-1]) + 1
        size = status_of(bed)["tap0"]["ring"]["size"]
        assert size == (possible << 22 if "mapped" in ring else 512 << 20)


def test_both_directions_of_lo(bed, bundled):
    """Each CPU sends and receives the same frames. Runs of the capture program never nest: a nested
    one would be counted as ring_full."""
    frames = numbered(bundled, 4000)
    bed.ns.run("ip", "link", "set", "lo", "up")
    attach(bed, "-i", "lo", "--source", "tc", "-Q", "inout", "--ring", "mapped", "-B", "65536")
    senders = [sender(bed, frames, "lo", rate=200000, cpu=cpu) for cpu in os.sched_getaffinity(0)]
    for s in senders:
        s.go()
    assert [s.played() for s in senders] == [len(frames)] * len(senders)
    all_of_them = 2 * len(frames) * len(senders)
    testbed.wait_for(lambda: status_of(bed)["lo"]["counters"]["captured"] >= all_of_them, "frames")
    assert status_of(bed)["lo"]["counters"]["ring_full"] == 0


@pytest.mark.parametrize("option,word", [(("--ring", "mapped"), "--ring"), (("-B", "8192"), "-B")])
def test_attach_again_cannot_change_the_ring(bed, option, word):
    cable(bed)
    attach(bed, "-i", "tap0", "--ring", "bpf")
    assert_said(saluki(bed, "attach", "-i", "tap0", *option), 1, "tap0",
                f"another {word}", "saluki detach")
    assert status_of(bed)["tap0"]["ring"]["size"] == 4 << 20


def test_run_with_the_same_options_is_taken(bed):
    cable(bed)
    options = ["-s", "100", "--keep", "headers", "--source", "tc", "-Q", "inout", "--ring", "mapped",
               "-B", "512"]
    attach(bed, "-i", "tap0", *options)
    bed.collector()
    finish(bed.sensor("lib", "tap0", options=options))


def test_an_interface_with_a_dot_in_its_name(bed, bundled):
    frames = numbered(bundled, 500)
    testbed.veth(bed.ns, "veth0", bed.ns, "eth0.100")
    attach(bed, "-i", "eth0.100")
    send(bed, frames)
    assert "counters" in pins_of(bed, "eth0:100")
    assert status_of(bed)["eth0.100"]["counters"]["captured"] == 500
    assert status_of(bed, "-i", "eth0.100").keys() == {"eth0.100"}
    collector = bed.collector()
    sensor = bed.sensor("lib", "eth0.100")
    testbed.wait_for(lambda: written(collector) == 500, "frames")
    finish(sensor)
    assert saluki(bed, "detach", "-i", "eth0.100") == (0, "")
    assert nothing_is_left(bed)


# ---- several interfaces ----------------------------------------------------------------------------


def of_interface(bed, name, sensor="lib"):
    """One interface's frames in the output."""
    names = tshark_fields(bed.out, "frame.interface_name")
    return [f for f, n in zip(captures.frames(bed.out), names, strict=True)
            if n == (f"{sensor}:{name}",)]


@pytest.mark.parametrize("ring", ["bpf", "mapped"])
def test_two_interfaces_in_one_run(bed, bundled, ring):
    """Frames of two interfaces are in order of arrival, each under its interface's name and in its
    counters."""
    frames = numbered(bundled, 3000)
    a, b = frames[:2000], frames[2000:]
    for n in range(2):
        cable(bed, n)
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-i", "tap1", "--ring", ring],
                        ready="tap1: capturing by")
    for i in range(0, 1000, 100):
        send(bed, a[i:i + 100], "veth0")
        send(bed, b[i:i + 100], "veth1")
    send(bed, a[1000:], "veth0")
    s = status_of(bed)
    assert s["tap0"]["counters"]["captured"] == 2000
    assert s["tap1"]["counters"]["captured"] == 1000
    assert s["tap0"]["ring"]["group"] == s["tap1"]["ring"]["group"]
    finish(sensor)
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 3000)
    order = [f for i in range(0, 1000, 100) for f in a[i:i + 100] + b[i:i + 100]] + a[1000:]
    assert_same(order, captures.frames(bed.out), stamps=False)
    assert_same(a, of_interface(bed, "tap0"), stamps=False)
    assert_same(b, of_interface(bed, "tap1"), stamps=False)
    assert len(set(tshark_fields(bed.out, "frame.interface_id"))) == 2
    assert nothing_is_left(bed)


def test_attached_together_run_in_another_order(bed, bundled):
    frames = numbered(bundled, 2000)
    for n in range(3):
        cable(bed, n)
    attach(bed, "-i", "tap0", "-i", "tap1")
    send(bed, frames[:1000], "veth0")
    send(bed, frames[1000:], "veth1")
    assert_said(run_sensor(bed, "-i", "tap1", *sensor_args(bed)), 1, "tap1",
                "attached together with others", "-i for each", "saluki status")
    assert_said(run_sensor(bed, "-i", "tap0", "-i", "tap2", *sensor_args(bed)), 1,
                "some of these interfaces are attached", "saluki detach")
    assert_said(saluki(bed, "attach", "-i", "tap0"), 1, "tap0", "together with others")
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap1", options=["-i", "tap0"], ready="tap1: capturing by")
    testbed.wait_for(lambda: written(collector) == 2000, "frames")
    finish(sensor)
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 2000)
    assert_same(frames[:1000], of_interface(bed, "tap0"), stamps=False)
    assert_same(frames[1000:], of_interface(bed, "tap1"), stamps=False)
    attach(bed, "-i", "tap2")
    assert_said(run_sensor(bed, "-i", "tap0", "-i", "tap1", "-i", "tap2", *sensor_args(bed)), 1,
                "tap0 and tap2 are attached, but not together")
    send(bed, frames[:300], "veth0")
    send(bed, frames[:200], "veth1")
    status, said = saluki(bed, "detach", "-i", "tap1", "-i", "tap0", "-i", "tap2")
    assert status == 0 and said.count("frames were in the ring") == 1
    assert "500 frames were in the ring and not exported" in said
    assert nothing_is_left(bed)


def test_one_of_two_goes_away_and_comes_back(bed, bundled):
    """While one interface is gone, the other is captured."""
    count = len(list(captures.frames(bundled)))
    collector = bed.collector()
    players = [bed.tun(f"mon{n}", 803, bundled, ["--rate", "5000"]) for n in range(2)]
    sensor = bed.sensor("lib", "mon0", options=["-i", "mon1"], ready="mon1: capturing by")
    assert players[1].play() == count
    players[1].close()
    sensor.expect("mon1: disappeared; waiting for it")
    assert players[0].play() == count
    again = bed.tun("mon1", 803, bundled, ["--rate", "5000"])
    sensor.said = ""
    sensor.expect("mon1: capturing by xdp generic, link type IEEE802_11_RADIO")
    assert again.play() == count
    finish(sensor)
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 3 * count)
    assert len(of_interface(bed, "mon0")) == count
    assert len(of_interface(bed, "mon1")) == 2 * count


def test_eight_interfaces_and_no_more(bed, bundled):
    frames = numbered(bundled, 800)
    for n in range(9):
        cable(bed, n)
    every = [word for n in range(9) for word in ("-i", f"tap{n}")]
    assert_said(run_sensor(bed, *every, *sensor_args(bed)), 2, "-i tap8", "at most 8", "second saluki")
    assert_said(run_sensor(bed, "-i", "tap0", "-i", "tap0", *sensor_args(bed)), 2, "-i tap0",
                "given twice")
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=every[2:16], ready="tap7: capturing by")
    for n in range(8):
        send(bed, frames[n * 100:][:100], f"veth{n}")
    assert [s["counters"]["captured"] for s in status_of(bed).values()] == [100] * 8
    finish(sensor)
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 800)
    for n in range(8):
        assert_same(frames[n * 100:][:100], of_interface(bed, f"tap{n}"), stamps=False)


def test_one_that_cannot_be_captured_leaves_none_attached(bed):
    cable(bed)
    bed.ns.run("ip", "tuntap", "add", "tun0", "mode", "tun")
    assert_said(run_sensor(bed, "-i", "tap0", "-i", "tun0", *sensor_args(bed)), 1, "tun0",
                "link type 65534")
    assert_said(saluki(bed, "attach", "-i", "tap0", "-i", "nope0"), 1, "nope0", "no such interface")
    assert nothing_is_left(bed)


@pytest.mark.parametrize("ring", ["bpf", "mapped"])
def test_several_cpus_at_once(bed, bundled, ring):
    """With two senders on two CPUs into one interface, no frame is lost, and each sender's frames
    are in order."""
    frames = numbered(bundled, 40000)
    halves = [frames[:20000], frames[20000:]]
    cable(bed)
    collector = bed.collector()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    # A classifier runs on the sender's CPU; native XDP runs where the one queue is emptied.
    sensor = bed.sensor("lib", "tap0", options=["--source", "tc", "--ring", ring, "-B", "16384"])
    senders = [sender(bed, half, rate=10000, cpu=cpu) for half, cpu in zip(halves, cpus)]
    for s in senders:
        s.go()
    assert [s.played() for s in senders] == [20000] * 2
    seen = [c["seen"] for c in counters_of(bed)]
    assert sum(seen) == 40000 and all(seen[cpu] > 10000 for cpu in cpus), seen
    finish(sensor)
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 40000)
    got = list(captures.frames(bed.out))
    number = lambda f: int.from_bytes(f.data[6:12], "big")
    for first, half in zip((0, 20000), halves):
        assert_same(half, [f for f in got if first <= number(f) < first + 20000], stamps=False)
    # Stamps of two CPUs may be out of order by the time a frame takes.
    assert all(b.time_ns >= a.time_ns - 1_000_000 for a, b in zip(got, got[1:]))


# ---- killed ----------------------------------------------------------------------------------------


def pin_open(bed, name, interface="tap0"):
    """A descriptor of a pinned object."""
    path = f"/proc/{bed.ns.holder.pid}/root{PINS}/{interface}/{name}".encode() + b"\0"
    text = ctypes.create_string_buffer(path)
    attr = ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(text), 0, 0))
    number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
    fd = ctypes.CDLL(None).syscall(number, 7, attr, 16)  # bpf(BPF_OBJ_GET)
    assert fd >= 0
    return fd


def journal_of(bed, interface="tap0"):
    """The pinned journal, mapped, to be read at any moment."""
    fd = pin_open(bed, "journal", interface)
    memory = mmap.mmap(fd, mmap.PAGESIZE)
    os.close(fd)
    return memory


def test_killed_in_every_state_of_the_journal(bed, bundled):
    """An agent killed while the journal describes a combo, or while it does not, loses no frame.
    tests/unit/test_journal.c covers the moments between two stores."""
    frames = numbered(bundled, 100000)
    cable(bed)
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    # Combos of more than one datagram take some time; each agent has another size.
    options = ["-B", "65536", "--compress", "9", "--combo-size"]
    sensor = bed.sensor("lib", "tap0", key=key, options=[*options, "32768"])
    source = sender(bed, frames, rate=10000)
    source.go()
    chance = random.Random("journal")
    journal = journal_of(bed)
    exported = lambda: max(journal[24:32], journal[88:96],
                           key=lambda n: int.from_bytes(n, "little"))
    met = []
    while met.count(PENDING) < 8 or met.count(IDLE) < 4:
        at = exported()
        testbed.wait_for(lambda at=at: exported() != at, "a combo", interval=0)
        wanted = chance.choice([PENDING, IDLE])
        testbed.wait_for(lambda wanted=wanted: journal[JOURNAL_STATE] & ~1 == wanted, "that state",
                         interval=0)
        _, child = testbed.with_children(sensor.pid())
        sensor.kill_all()
        testbed.wait_ended(child)
        met.append(journal[JOURNAL_STATE] & ~1)
        sensor = bed.sensor("lib", "tap0", key=key,
                            options=[*options, chance.choice(["1024", "14336", "32768"])])
        sensor.expect("goes on")
    # Many handshakes of a sensor have used slots of this interval, so it may have to ask more than
    # once.
    at = (collector.sensor_stats("lib") or {}).get("written", 0)
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written", 0) > at,
                     "frames of the last agent", 60)
    count = source.stop()
    print(f"killed in states {met}, {count} frames")
    finish(sensor)
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["runs"] == 1
    assert_balanced(stats, count)
    assert_same(frames[:count], captures.frames(bed.out), stamps=False)


def test_a_newer_version_takes_over(bed, bundled):
    """A newer version replaces the programs of the old one, killed under load, and loses no frame.
    Of the old version, only its name in the config is left."""
    frames = numbered(bundled, 16000)
    cable(bed)
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    old = bed.sensor("lib", "tap0", key=key)
    source = sender(bed, frames, rate=8000)
    source.go()
    testbed.wait_for(lambda: written(collector) > 1000, "frames")
    program = lambda: bpftool(bed, "prog", "show", "pinned",
                              f"{PINS}/tap0/program")["id"]
    first = program()
    old.kill_all()
    config = bytearray(map_bytes(bed, "config"))
    config[4:20] = b"0.0.9".ljust(16, b"\0")
    map_write(bed, "config", config)
    assert status_of(bed)["tap0"]["version"] == "0.0.9"
    new = bed.sensor("lib", "tap0", key=key)
    new.expect("goes on")
    own = testbed.saluki("--version").stdout.split()[1]
    assert status_of(bed)["tap0"]["version"] == own
    assert program() != first
    assert source.played() == len(frames)
    finish(new)
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["runs"] == 1
    assert_balanced(stats, len(frames))
    assert_same(frames, captures.frames(bed.out), stamps=False)


def test_another_layout_is_refused(bed, bundled):
    """Another version's layout is not touched, and detach still works."""
    cable(bed)
    attach(bed, "-i", "tap0")
    config = bytearray(map_bytes(bed, "config"))
    config[0] = 77
    config[4:20] = b"9.9.9".ljust(16, b"\0")
    map_write(bed, "config", config)
    for command in (["run", "-i", "tap0", *sensor_args(bed)], ["attach", "-i", "tap0"]):
        assert_said(saluki(bed, *command), 1, "tap0", "saluki 9.9.9", "layout 77",
                    "saluki detach -i tap0")
    assert_said(saluki(bed, "status"), 1, "tap0", "another layout")
    send(bed, numbered(bundled, 100))
    assert sum(c["captured"] for c in counters_of(bed)) == 100
    status, said = saluki(bed, "detach", "-i", "tap0")
    assert status == 0, said
    assert nothing_is_left(bed)


def test_an_interface_made_anew_while_no_agent_runs(bed, bundled):
    """After an interface is made again without an agent, the old one's frames are in the ring, and
    the programs are attached to the new one."""
    frames = numbered(bundled, 2000)
    cable(bed)
    attach(bed, "-i", "tap0")
    send(bed, frames[:1000])
    bed.ns.run("ip", "link", "delete", "tap0")
    assert status_of(bed)["tap0"]["counters"]["captured"] == 1000
    cable(bed)
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0")
    send(bed, frames[1000:])
    testbed.wait_for(lambda: written(collector) == 2000, "frames")
    finish(sensor)
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 2000)
    assert_same(frames, captures.frames(bed.out), stamps=False)
    bed.ns.run("ip", "link", "delete", "tap0")
    assert saluki(bed, "detach", "-i", "tap0") == (0, "")
    assert nothing_is_left(bed)


# ---- status ----------------------------------------------------------------------------------------

COUNTERS = {"seen", "filtered", "ring_full", "copy_failed", "captured"}
SCHEMA = {"interface": str, "link": str, "source": str, "version": str, "linktype": int, "direction": str,
          "snaplen": int, "keep": str, "consume": bool, "channel": (int, type(None)),
          "mhz": (int, type(None)), "width_mhz": (int, type(None)),
          "plan": (dict, type(None)),
          "agent": (dict, type(None)), "persistent": bool, "ring": (dict, type(None)),
          "counters": dict, "rates": dict}
RING = {"kind": str, "used": int, "size": int, "group": str, "interfaces": int}
AGENT = {"pid": int, "session": bool, "collector_key": str, "interfaces": int, "exported": int, "dropped_send": int,
         "dropped_shutdown": int, "combos": int, "datagrams": int, "sent_bytes": int,
         "compress": dict}


def assert_schema(value, schema):
    assert value.keys() >= schema.keys(), value
    for name, kind in schema.items():
        assert isinstance(value[name], kind), (name, value)


@pytest.mark.paired
def test_status(bed, bundled):
    """Status shows rates and sums equal to the ledger's, for programs and for people, with and
    without an agent."""
    for n in range(2):
        cable(bed, n)
    assert bed.ns.run(testbed.BUILD / "saluki", "status", capture_output=True).stdout == \
        "nothing is attached\n"
    assert status_of(bed) == {}
    attach(bed, "-i", "tap0", "-s", "100", "--keep", "headers", "-B", "16384", "--ring", "bpf")
    collector = bed.collector()
    sensor = bed.sensor("two", "tap1")
    frames = numbered(bundled, 6000)
    sources = [sender(bed, frames, f"veth{n}", rate=2000) for n in range(2)]
    for s in sources:
        s.go()
    testbed.wait_for(lambda: sum(c["seen"] for c in counters_of(bed)) > 0, "frames")
    got = status_of(bed)
    assert list(got) == ["tap0", "tap1"]
    for s in got.values():
        assert_schema(s, SCHEMA)
        assert_schema(s["ring"], RING)
        assert s["counters"].keys() == s["rates"].keys() >= COUNTERS
        assert 1500 < s["rates"]["seen"] < 2500 and s["rates"]["captured"] > 1500, s
        assert s["rates"]["ring_full"] == 0
    assert_schema(got["tap1"]["agent"], AGENT)
    assert got["tap0"]["agent"] is None and not got["tap1"]["persistent"]
    assert (got["tap0"]["snaplen"], got["tap0"]["keep"], got["tap0"]["ring"]["size"]) == (
        100, "headers", 16 << 20)
    said = bed.ns.run(testbed.BUILD / "saluki", "status", capture_output=True).stdout
    assert "tap0: attached by xdp native" in said and "'saluki run -i tap0' exports them" in said
    key = bed.keys.collector_public[:8]
    assert f"process {sensor.pid()}, collector answers by its key {key};" in said
    assert got["tap1"]["agent"]["collector_key"] == key
    for s in sources:
        assert s.played() == 6000
    testbed.wait_for(lambda: written(collector, "two") == 6000, "frames")
    last = status_of(bed)
    finish(sensor)
    collector.finish()
    stats = collector.sensor_stats("two")
    assert {n: stats[n] for n in COUNTERS} == {n: last["tap1"]["counters"][n] for n in COUNTERS}
    assert last["tap1"]["agent"]["exported"] == stats["exported"] == 6000
    assert last["tap0"]["counters"]["captured"] == 6000


def test_status_of_what_is_not_there(bed):
    cable(bed)
    assert_said(saluki(bed, "status", "-i", "tap0"), 1, "tap0", "nothing is attached there")
    assert_said(saluki(bed, "detach", "-i", "tap0"), 1, "tap0", "nothing is attached there",
                "saluki status")
    assert nothing_is_left(bed)


@pytest.mark.parametrize("command", [["status"], ["status", "-i", "tap0"], ["detach", "-i", "tap0"],
                                     ["attach", "-i", "tap0"]])
@pytest.mark.parametrize("there", [True, False])
def test_not_root(bed, command, there):
    cable(bed)
    bed.ns.run("chmod", "700", "/sys/fs/bpf")  # as systemd mounts it
    if there:
        attach(bed, "-i", "tap0")
    p = bed.ns.run("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
                   testbed.BUILD / "saluki", *command, check=False, capture_output=True)
    assert_said((p.returncode, p.stderr), 1, "run as root")


# ---- attacks ---------------------------------------------------------------------------------------


def test_two_commands_at_once(bed, bundled):
    """Of two commands at once, one gets the lock and the other reports this. The result is
    complete."""
    cable(bed)
    collector = bed.collector()
    chance = random.Random("race")
    commands = [["attach", "-i", "tap0"], ["detach", "-i", "tap0"], ["probe", "-i", "tap0"],
                ["attach", "-i", "tap0", "-s", "100"]]
    for _ in range(12):
        started = [bed.ns.start(testbed.BUILD / "saluki", *c, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
                   for c in chance.sample(commands, len(commands))]
        for p in started:
            _, said = p.communicate(timeout=30)
            assert p.returncode == 0 or "another saluki captures here" in said or \
                "nothing is attached there" in said or "is attached" in said, said
        there = status_of(bed)
        if there:
            assert there["tap0"]["source"] == "xdp native"
            assert set(pins_of(bed)) == {"ring", "mapped", "wakeup", "journal", "counters",
                                         "config", "filter", "link", "program", "slots_xdp"}
        else:
            assert nothing_is_left(bed)
    attach(bed, "-i", "tap0")
    send(bed, numbered(bundled, 500))
    sensor = bed.sensor("lib", "tap0")
    for command in (["attach", "-i", "tap0"], ["detach", "-i", "tap0"]):
        assert_said(saluki(bed, *command), 1, "tap0", "another saluki captures here",
                    f"process {sensor.pid()}")
    testbed.wait_for(lambda: written(collector) == 500, "frames")
    finish(sensor)
    assert saluki(bed, "detach", "-i", "tap0") == (0, "")


@pytest.mark.parametrize("when", range(1, 26))
def test_attach_killed_at_every_pin(bed, bundled, when):
    """After a SIGKILL at any pin of two interfaces, the next command completes the attach."""
    for n in range(2):
        cable(bed, n)
    # Pinning is one of bpf()'s commands; there are some hundred calls in all.
    killed = bed.ns.run("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=bpf", "-e",
                        f"inject=bpf:signal=KILL:when={when * 6}", testbed.BUILD / "saluki",
                        "attach", "-i", "tap0", "-i", "tap1", check=False, capture_output=True)
    assert killed.returncode in (0, -9, 137), killed
    # A link that is not pinned yet goes with its process, a moment later.
    pinned = [n for n in range(2) if "link" in pins_of(bed, f"tap{n}")]
    testbed.wait_for(lambda: len(bpftool(bed, "net")[0]["xdp"]) == len(pinned), "its links")
    # A detach works at once, even if another process has the link open, as bpftool may.
    held = [pin_open(bed, "link", f"tap{n}") for n in pinned]
    said = attach(bed, "-i", "tap0", "-i", "tap1")
    for fd in held:
        os.close(fd)
    assert said.count("attached by xdp native") == 2, said
    frames = numbered(bundled, 200)
    send(bed, frames[:100], "veth0")
    send(bed, frames[100:], "veth1")
    assert [sum(c["captured"] for c in counters_of(bed, f"tap{n}")) for n in range(2)] == [100, 100]
    status, said = saluki(bed, "detach", "-i", "tap0", "-i", "tap1")
    assert status == 0 and "200 frames were in the ring" in said
    assert nothing_is_left(bed)
    if when == 25:
        assert killed.returncode == 0  # after the last call: all were tried


def bpf_calls(bed, *args):
    """A successful command's bpf() calls, one per line."""
    log = bed.tmp_path / "calls"
    bed.ns.run("strace", "-f", "-qq", "-s", "4", "-o", log, "-e", "trace=bpf",
               testbed.BUILD / "saluki", *args, capture_output=True)
    return [line for line in log.read_text().splitlines() if " bpf(" in line]


def tampered(bed, how, *args):
    """Runs a command with failing bpf() calls; returns (status, standard error)."""
    got = bed.ns.run("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=bpf", "-e",
                     f"inject=bpf:{how}", testbed.BUILD / "saluki", *args, check=False,
                     capture_output=True)
    return got.returncode, got.stderr


def filtered_of(bed):
    return sum(c["filtered"] for c in counters_of(bed))


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_replacing_killed_at_every_step(bed, bundled, hook):
    """Killed at any step of a replacement, the next command still installs its own programs."""
    frames = numbered(bundled, 100)
    nothing, everything = "len < 1", "len > 0"
    cable(bed)
    attach(bed, "-i", "tap0", "--source", hook, nothing)
    calls = bpf_calls(bed, "filter", "-i", "tap0", everything)
    first = next(i for i, line in enumerate(calls) if "BPF_LINK_UPDATE" in line) + 1
    assert first < len(calls)
    for when in range(first - 1, len(calls) + 1):
        attach(bed, "-i", "tap0", "--source", hook, nothing)
        status, said = tampered(bed, f"signal=KILL:when={when}", "filter", "-i", "tap0", everything)
        assert status in (-9, 137), said
        assert {p for p in pins_of(bed) if p.startswith("link")}, when
        attach(bed, "-i", "tap0", "--source", hook, nothing)
        at = filtered_of(bed)
        send(bed, frames)
        assert filtered_of(bed) == at + len(frames), (when, calls[when - 1])
    assert saluki(bed, "detach", "-i", "tap0")[0] == 0
    assert nothing_is_left(bed)


def test_programs_that_are_refused_leave_those_that_are_there(bed, bundled):
    frames = numbered(bundled, 100)
    cable(bed)
    attach(bed, "-i", "tap0")
    calls = bpf_calls(bed, "attach", "-i", "tap0", "len > 0")
    update = next(i for i, line in enumerate(calls) if "BPF_LINK_UPDATE" in line)
    load = max(i for i in range(update) if "BPF_PROG_LOAD" in calls[i]) + 1
    for args in (["attach", "-i", "tap0"], ["attach", "-i", "tap0", "--source", "tc"],
                 ["filter", "-i", "tap0", "len < 1"]):
        status, said = tampered(bed, f"error=EACCES:when={load}+", *args)
        assert status == 1 and "verifier" in said and "libbpf" not in said, said
        at = sum(c["captured"] for c in counters_of(bed))
        send(bed, frames)
        assert sum(c["captured"] for c in counters_of(bed)) == at + len(frames), args


def test_filters_of_a_qdisc_where_the_kernel_has_no_tcx(bed, bundled):
    """Without tcx, filters are attached by netlink and found again by their programs' pins."""
    frames = numbered(bundled, 100)
    cable(bed)
    calls = bpf_calls(bed, "attach", "-i", "tap0", "--source", "tc")
    assert saluki(bed, "detach", "-i", "tap0")[0] == 0
    link = next(i for i, line in enumerate(calls) if "BPF_LINK_CREATE" in line) + 1
    status, said = tampered(bed, f"error=EINVAL:when={link}", "attach", "-i", "tap0", "--source", "tc")
    assert status == 0, said
    assert {p for p in pins_of(bed) if "link" in p or "program" in p} == {"program_ingress"}
    send(bed, frames)
    for words in (["filter", "-i", "tap0", "len < 1"], ["attach", "-i", "tap0", "--source", "tc"]):
        assert saluki(bed, *words)[0] == 0
        send(bed, frames)
    (net,) = bpftool(bed, "net")
    assert [t["kind"] for t in net["tc"]] == ["clsact/ingress"]
    assert sum(c["captured"] for c in counters_of(bed)) == 200 and filtered_of(bed) == 100
    assert saluki(bed, "detach", "-i", "tap0")[0] == 0
    assert nothing_is_left(bed)


def test_detach_killed_at_any_moment(bed):
    """After a killed detach, the next one completes it, and an attach in between starts over."""
    cable(bed)
    for when in range(1, 14):
        attach(bed, "-i", "tap0")
        killed = bed.ns.run("strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat", "-e",
                            f"inject=unlinkat:signal=KILL:when={when}", testbed.BUILD / "saluki",
                            "detach", "-i", "tap0", check=False, capture_output=True)
        assert killed.returncode in (0, -9, 137), killed
        if when % 2:
            attach(bed, "-i", "tap0")
        status, said = saluki(bed, "detach", "-i", "tap0")
        assert status == 0 or "nothing is attached there" in said, said
        assert nothing_is_left(bed)


def test_one_of_two_detached(bed):
    """After one of two interfaces is detached, the agent reports this, and every dropped frame is
    counted."""
    for n in range(2):
        cable(bed, n)
    attach(bed, "-i", "tap0", "-i", "tap1")
    status, said = saluki(bed, "detach", "-i", "tap0")
    assert status == 0 and "tap0: was attached together with others" in said
    assert_said(run_sensor(bed, "-i", "tap0", "-i", "tap1", *sensor_args(bed)), 1,
                "some of these interfaces are attached", "saluki detach")
    assert status_of(bed).keys() == {"tap1"}
    assert saluki(bed, "detach", "-i", "tap1")[0] == 0
    assert nothing_is_left(bed)


def test_the_other_process_is_still_there(bed, bundled):
    """With the privileged process killed and the other one stopped, the ring gets no second
    reader."""
    frames = numbered(bundled, 3000)
    cable(bed)
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    sensor = bed.sensor("lib", "tap0", key=key)
    send(bed, frames[:1000])
    parent, child = testbed.with_children(sensor.pid())
    os.kill(child, signal.SIGSTOP)
    os.kill(parent, signal.SIGKILL)
    sensor.popen.wait(10)
    send(bed, frames[1000:2000])
    assert_said(run_sensor(bed, "-i", "tap0", "--to", "127.0.0.1:5600", "--key", key), 1, "tap0",
                "another saluki captures here", "fuser")
    os.kill(child, signal.SIGCONT)
    sensor = bed.sensor("lib", "tap0", key=key)
    send(bed, frames[2000:])
    finish(sensor)
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["runs"] == 1
    assert_balanced(stats, 3000)
    assert_same(frames, captures.frames(bed.out), stamps=False)


CONFIG = {"snaplen": 60, "snaplen_max": 64, "keep": 68, "direction": 80, "number": 88, "count": 92,
          "ring_size": 96, "mapped": 100, "cpus": 104}


@pytest.mark.parametrize("field", CONFIG)
def test_configs_that_nobody_wrote(bed, field):
    """Invalid configs are refused with a message or have no effect: no crash, and detach still
    works."""
    cable(bed)
    attach(bed, "-i", "tap0", "-B", "256")
    whole = map_bytes(bed, "config")
    for value in (0, 4096, 1000003, 0x80000000, 0xffffffff):
        config = bytearray(whole)
        config[CONFIG[field]:CONFIG[field] + 4] = value.to_bytes(4, "little")
        map_write(bed, "config", config)
        status, said = saluki(bed, "attach", "-i", "tap0")
        assert status == 0 or (status == 1 and "tap0" in said), (status, said)
        map_write(bed, "config", config)
    status, said = saluki(bed, "status", "-i", "tap0", "--json")
    assert status == 0 or (status == 1 and "tap0" in said), (status, said)
    assert saluki(bed, "detach", "-i", "tap0") == (0, "")
    assert nothing_is_left(bed)


def test_text_that_does_not_end(bed):
    cable(bed)
    attach(bed, "-i", "tap0")
    config = bytearray(map_bytes(bed, "config"))
    config[20:52] = b"x" * 32
    map_write(bed, "config", config)
    assert_said(saluki(bed, "attach", "-i", "tap0"), 1, "tap0", "saluki detach")
    assert_said(saluki(bed, "status"), 1, "tap0", "saluki detach")
    assert saluki(bed, "detach", "-i", "tap0")[0] == 0
    assert nothing_is_left(bed)


@pytest.mark.parametrize("ring", ["bpf", "mapped"])
def test_a_ring_that_somebody_has_damaged(bed, bundled, ring):
    """With any reader positions in the ring, root's commands neither hang nor crash."""
    cable(bed)
    attach(bed, "-i", "tap0", "-B", "256", "--ring", ring)
    send(bed, numbered(bundled, 100))
    journal = bytearray(map_bytes(bed, "journal"))
    journal[:8] = (1).to_bytes(8, "little")
    journal[8:16] = (PENDING).to_bytes(8, "little")
    for at in range(16, len(journal)):
        journal[at] = 0xa5
    map_write(bed, "journal", journal)
    bed.collector()
    assert_said(run_sensor(bed, "-i", "tap0", *sensor_args(bed)), 1,
                "the ring does not match its journal", "saluki detach")
    if ring == "mapped":
        for cpu in range(len(os.sched_getaffinity(0))):
            path = f"{PINS}/tap0/mapped"
            key = [f"{b:02x}" for b in cpu.to_bytes(4, "little")]
            got = bpftool(bed, "map", "lookup", "pinned", path, "key", "hex", *key)
            value = bytearray(int(b, 16) for b in got["value"])
            value[64:72] = (0x123456789abcdef1).to_bytes(8, "little")  # tail
            value[128 + 12:128 + 16] = b"\xff" * 4  # length of the first record
            update = bed.tmp_path / "batch"
            update.write_text(f"map update pinned {path} key hex {' '.join(key)} value hex "
                              + " ".join(f"{b:02x}" for b in value) + "\n")
            bed.ns.run("bpftool", "batch", "file", update, capture_output=True, check=False)
    assert saluki(bed, "status")[0] == 0
    status, said = saluki(bed, "detach", "-i", "tap0")
    assert status == 0, said
    assert nothing_is_left(bed)


def test_what_is_not_ours_in_the_folder(bed):
    """Files in the folder that are not ours stay, and so does the folder."""
    cable(bed)
    attach(bed, "-i", "tap0")
    bed.ns.run("mkdir", f"{PINS}/tap0/notes", f"{PINS}/other")
    assert status_of(bed).keys() == {"tap0"}
    assert saluki(bed, "detach", "-i", "tap0") == (0, "")
    assert pins_of(bed) == ["notes"] and status_of(bed) == {}
    attach(bed, "-i", "tap0")
    assert saluki(bed, "detach", "-i", "tap0") == (0, "")
    assert pins_of(bed) == ["notes"]


def test_no_bpffs_and_a_read_only_one(bed):
    """A missing bpffs is mounted, a read-only one reported. (The bpffs is the test's own, covered
    by another /sys; unmounting alone would show the machine's.)"""
    cable(bed)
    bed.ns.run("mount", "-t", "sysfs", "sys", "/sys")
    attach(bed, "-i", "tap0")
    assert saluki(bed, "detach", "-i", "tap0") == (0, "")
    bed.ns.run("mount", "-o", "remount,ro", "/sys/fs/bpf")
    assert_said(saluki(bed, "attach", "-i", "tap0"), 1, "tap0", "folder of pins", "Read-only")
    assert_said(run_sensor(bed, "-i", "tap0", *sensor_args(bed)), 1, "tap0", "Read-only")


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_no_room_in_run(bed, bundled, how):
    """Without space in /run, the lock of the pins suffices."""
    cable(bed)
    bed.ns.run("umount", "/run")
    options = {"full": "size=4k", "read-only": "ro"}[how]
    bed.ns.run("mount", "-t", "tmpfs", "-o", options, "none", "/run")
    if how == "full":
        bed.ns.run("dd", "if=/dev/zero", "of=/run/ballast", check=False, capture_output=True)
    attach(bed, "-i", "tap0")
    send(bed, numbered(bundled, 100))
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0")
    testbed.wait_for(lambda: written(collector) == 100, "frames")
    assert_said(saluki(bed, "detach", "-i", "tap0"), 1, "another saluki captures here")
    finish(sensor)
    assert saluki(bed, "detach", "-i", "tap0") == (0, "")
    assert nothing_is_left(bed)


def test_two_namespaces_with_one_bpffs(bed, bundled):
    """An interface of the same name in another namespace is not taken for this one, until this one
    is gone."""
    other = bed.namespace()
    cable(bed)
    testbed.veth(other, "veth0", other, "tap0")

    def there(*command):
        got = bed.ns.run("nsenter", f"--net=/proc/{other.holder.pid}/ns/net", testbed.BUILD / "saluki",
                         *command, capture_output=True, check=False)
        return got.returncode, got.stderr

    assert there("attach", "-i", "tap0")[0] == 0
    for command in ("attach", "detach"):
        assert_said(saluki(bed, command, "-i", "tap0"), 1, "tap0", "another network namespace")
    assert status_of(bed)["tap0"]["source"] == "xdp native"
    frames = numbered(bundled, 200)
    write_pcap(bed.tmp_path / "there.pcap", 1, frames[:100])
    source = bed.sender("veth0", bed.tmp_path / "there.pcap", ["--rate", "10000"], ns=other)
    assert source.play() == 100
    source.close()
    other.close()
    testbed.wait_for(lambda: saluki(bed, "attach", "-i", "tap0")[0] == 0, "its end")
    send(bed, frames[100:])
    assert status_of(bed)["tap0"]["counters"]["captured"] == 200
    assert saluki(bed, "detach", "-i", "tap0")[0] == 0
    assert nothing_is_left(bed)
