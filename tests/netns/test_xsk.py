# SPDX-License-Identifier: GPL-2.0
"""AF_XDP (--source xsk): the output equals the input on any queue, and frames dropped by the
sockets are counted. Frames are consumed, so they are compared with those sent."""
import collections
import os
import re
import signal
import struct

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same, assert_stamps_close
from netns.test_faults import assert_said, run_sensor, sensor_args
from netns.test_pipeline import ARPHRD, as_seen, combined, live
from reference import captures, trim
from reference.test_reference import write_pcap

XSK = ("--source", "xsk")
ROOMY = (*XSK, "-B", "65536")  # for tests without drops, however busy the machine is
ROOM = 3816  # bytes of a frame at most


def ethernet(bundled):
    """The bundled trace's frames that fit through a cable, as if they were Ethernet."""
    return [f._replace(linktype=1) for f in captures.frames(bundled) if 14 <= len(f.data) < 1500]


def cable(bed, name_a, name_b, queues=1):
    """A cable between two interfaces of the bed's namespace."""
    testbed.veth(bed.ns, name_a, bed.ns, name_b, queues=queues)


def send(bed, interface, frames, *options):
    trace = bed.tmp_path / f"{interface}.pcap"
    write_pcap(trace, 1, frames)
    return bed.sender(interface, trace, list(options))


def xsk_sensor(bed, interface, *options, **kwargs):
    return bed.sensor("lib", interface, options=[*XSK, *options], **kwargs)


def reading_process(sensor):
    """The unprivileged process's id."""
    child, = testbed.with_children(sensor.pid())[1:]
    return child


def as_kept(frames, snaplen=192):
    """The kept parts of frames, in no order."""
    return collections.Counter((f.data[:trim.keep(f.data, f.orig_len, 1, snaplen)[0]], f.orig_len)
                               for f in as_seen(frames))


def as_got(frames):
    return collections.Counter((f.data, f.orig_len) for f in frames)


# ---- the same frames as by any other source ---------------------------------------------------------


@pytest.mark.parametrize("options,snaplen,headers,shortest", [
    ((), 192, None, 14), (("--keep", "headers"), 192, True, 14), (("-s", "1"), 1, None, 1500),
    (("-s", "1768"), 1768, None, 1500), (("-s", "1769"), 1769, None, 1500),
    (("-s", str(ROOM)), ROOM, None, 1500)])
def test_every_wired_frame(bed, traces, options, snaplen, headers, shortest):
    """Frames up to 64 KiB, for which the driver has no XDP, arrive; also at the edges of chunks and
    slots."""
    frames = [f for f in combined(traces, 1, ["wired"]) if shortest <= len(f.data) <= 65535]
    got, stats, said = live(bed, "tap0", frames, 20000, [*ROOMY, *options])
    assert "by xsk copy generic" in said
    assert_same(as_seen(frames), got, snaplen, headers, stamps=False)
    assert_balanced(stats, len(frames))
    assert [f.time_ns for f in got] == sorted(f.time_ns for f in got)


@pytest.mark.parametrize("linktype,folder", [(105, "dot11-other"), (127, "radiotap")])
def test_every_80211_frame(bed, traces, linktype, folder):
    """Every frame of a monitor interface arrives, also those shorter than an Ethernet header."""
    frames = combined(traces, linktype, [folder])
    got, stats, _ = live(bed, "mon0", frames, 50000, ROOMY, ARPHRD[linktype])
    assert_same(as_seen(frames), got, stamps=False)
    assert_balanced(stats, len(frames))


@pytest.mark.parametrize("options,snaplen", [
    (("-B", "2048"), 192), (("-B", "16384", "-s", "1500"), 1500)])
def test_where_the_driver_has_xdp(bed, bundled, options, snaplen):
    """Frames go more than once through all slots, about 10,000; no other program gets a frame."""
    frames = ethernet(bundled) * 16
    collector = bed.collector()
    cable(bed, "veth0", "tap0")
    sensor = xsk_sensor(bed, "tap0", *options, ready="by xsk copy native")
    beside = testbed.Process(bed.ns, ["tcpdump", "-i", "tap0", "-w", "/dev/null",
                                      "--immediate-mode"], "listening on")
    bed.stack.callback(beside.kill)
    assert send(bed, "veth0", frames, "--rate", "6000").play() == len(frames)
    status, said = sensor.finish()
    assert status == 0, said
    assert "\n0 packets captured" in "\n" + beside.finish()[1]
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(frames))
    assert_same(as_seen(frames), captures.frames(bed.out), snaplen, stamps=False)


@pytest.mark.alone
def test_stamps_within_a_millisecond_of_tcpdump(bed, bundled):
    """Stamps are within a millisecond of tcpdump's, which captures at the cable's other end."""
    frames = ethernet(bundled)
    collector = bed.collector()
    cable(bed, "veth0", "tap0")
    sensor = xsk_sensor(bed, "tap0")
    beside = bed.tmp_path / "tcpdump.pcap"
    tcpdump = testbed.Process(bed.ns, ["tcpdump", "-i", "veth0", "-w", beside, "-Z", "root", "-c",
                                       len(frames), "--time-stamp-precision=nano"], "listening on")
    bed.stack.callback(tcpdump.kill)
    assert send(bed, "veth0", frames).play() == len(frames)  # at the trace's own speed
    assert tcpdump.finish(signo=None)[0] == 0  # ends by itself when it has them all
    assert sensor.finish()[0] == 0
    collector.finish()
    ours = list(captures.frames(bed.out))
    theirs = list(captures.frames(beside))
    assert len(ours) == len(frames)
    assert_stamps_close(ours, theirs)


# ---- queues, interfaces ----------------------------------------------------------------------------


def queue_counts(bed, interface):
    """Frames per queue of a cable."""
    said = bed.ns.run("ethtool", "-S", interface, capture_output=True).stdout
    return [int(n) for n in re.findall(r"rx_queue_\d+_xdp_packets: (\d+)", said)]


def datagrams(count):
    """Distinct frames of 97 flows: the sending side chooses a frame's queue by its flow."""
    def frame(n):
        payload = n.to_bytes(8, "big")
        ports = (1024 + n % 97).to_bytes(2, "big") + (53).to_bytes(2, "big")
        ip = bytes([0x45, 0, 0, 36, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2])
        data = bytes(12) + b"\x08\x00" + ip + ports + bytes([0, 16, 0, 0]) + payload
        return captures.Frame(0, len(data), 1, data)
    return [frame(n) for n in range(count)]


def test_several_queues(bed):
    """Each queue has its socket; frames are merged by their stamps."""
    frames = datagrams(4000)
    collector = bed.collector()
    cable(bed, "veth0", "tap0", queues=4)
    sensor = xsk_sensor(bed, "tap0", ready="4 queues")
    assert send(bed, "veth0", frames, "--rate", "50000").play() == len(frames)
    counts = queue_counts(bed, "tap0")
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    got = list(captures.frames(bed.out))
    print(f"frames by queue: {counts}")
    assert len(counts) == 4 and all(counts) and sum(counts) == len(frames)
    assert as_got(got) == as_kept(frames)
    assert [f.time_ns for f in got] == sorted(f.time_ns for f in got)
    assert_balanced(collector.sensor_stats("lib"), len(frames))


def test_a_queue_without_a_socket(bed):
    """Frames of a queue added after the start are counted in the ledger only. No driver here runs
    the program on such a queue, so the test runs it directly."""
    pins = "/sys/fs/bpf/test"
    frame = datagrams(1)[0].data + bytes(200)
    (bed.tmp_path / "frame").write_bytes(frame)
    bed.ns.run("bpftool", "prog", "load", testbed.BUILD / "bpf/xsk.bpf.o", f"{pins}_prog", "type",
               "xdp", "pinmaps", pins)
    # The loaded object has counters for the first CPU.
    said = bed.ns.run("taskset", "-c", "0", "bpftool", "prog", "run", "pinned", f"{pins}_prog",
                      "data_in", bed.tmp_path / "frame", "data_out", bed.tmp_path / "out",
                      capture_output=True).stdout
    assert "Return value: 1," in said  # XDP_DROP: its buffer holds the record now
    record = (bed.tmp_path / "out").read_bytes()
    assert struct.unpack("<IIHBB", record[8:20]) == (len(frame), 192, 1, 0, 1)
    assert record[24:] == frame[:192]
    dump = bed.ns.run("bpftool", "map", "dump", "pinned", f"{pins}/saluki_counters",
                      capture_output=True).stdout
    counters = dict(re.findall(r'"(\w+)": (\d+)', dump))
    assert counters["seen"] == counters["copy_failed"] == "1" and counters["captured"] == "0"


def test_two_interfaces(bed, bundled):
    frames = ethernet(bundled)
    half = len(frames) // 2
    collector = bed.collector()
    cable(bed, "veth0", "tap0")
    cable(bed, "veth1", "tap1", queues=2)
    sensor = xsk_sensor(bed, "tap0", "-i", "tap1", ready="tap1: capturing by")
    players = [send(bed, "veth0", frames[:half], "--rate", "5000"),
               send(bed, "veth1", frames[half:], "--rate", "5000")]
    for player in players:
        player.go()
    assert sum(p.played() for p in players) == len(frames)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert as_got(captures.frames(bed.out)) == as_kept(frames)
    assert_balanced(collector.sensor_stats("lib"), len(frames))


# ---- the ledger under overload -----------------------------------------------------------------------


def assert_counted(bed, collector, count):
    """The sockets dropped some frames; the others are in the file."""
    stats = collector.sensor_stats("lib")
    assert 0 < stats["ring_full"] < count and stats["copy_failed"] == 0, stats
    assert stats["seen"] == count and stats["balance"] == 0, stats
    assert stats["captured"] == stats["written"] == count - stats["ring_full"], stats
    assert len(list(captures.frames(bed.out))) == stats["written"]


@pytest.mark.parametrize("queues", [1, 2])
def test_ring_full_is_counted(bed, bundled, queues):
    """When a stopped reader's sockets run out of slots, every frame is counted."""
    frames = ethernet(bundled) * 5
    collector = bed.collector()
    cable(bed, "veth0", "tap0", queues)
    sensor = xsk_sensor(bed, "tap0", "-B", "256")
    os.kill(reading_process(sensor), signal.SIGSTOP)
    assert send(bed, "veth0", frames, "--rate", "50000").play() == len(frames)
    os.kill(reading_process(sensor), signal.SIGCONT)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_counted(bed, collector, len(frames))


def test_a_collector_that_is_held_up(bed, bundled):
    """Every frame is counted when a collector stops for longer than the store, the combo queue and
    the sockets can hold."""
    frames = ethernet(bundled) * 30
    collector = bed.collector()
    cable(bed, "veth0", "tap0")
    sensor = xsk_sensor(bed, "tap0", "-B", "256", "-s", "1500", "--compress", "none",
                        "--store-bytes", "64K")
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session")
    held = testbed.receiving(collector.pid())
    os.kill(held, signal.SIGSTOP)
    # The sensor gives up the session after 3 s of silence; from then on it sends nothing.
    assert send(bed, "veth0", frames, "--rate", "5000").play() == len(frames)
    os.kill(held, signal.SIGCONT)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["seen"] == len(frames) and stats["balance"] == 0, stats
    # Frames without room, and frames given up for later ones, add up exactly.
    assert stats["captured"] == len(frames) - stats["ring_full"], stats
    assert stats["dropped_store"] >= stats["lost_missing"], stats  # some had arrived all the same
    assert 0 < stats["ring_full"] + stats["lost_missing"] == len(frames) - stats["written"], stats


def under_load(bed, bundled):
    """A collector and a sensor, with frames at the highest rate."""
    collector = bed.collector()
    cable(bed, "veth0", "tap0", queues=2)
    sensor = xsk_sensor(bed, "tap0")
    player = send(bed, "veth0", ethernet(bundled), "--rate", "0", "--loop")
    player.go()
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written", 0) > 50000,
                     "frames")
    return collector, sensor


def test_stopped_under_load(bed, bundled):
    collector, sensor = under_load(bed, bundled)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == 0 and stats["copy_failed"] == 0, stats
    assert stats["written"] == stats["seen"] - stats["ring_full"], stats


def test_privileged_process_killed_under_load(bed, bundled):
    """With the privileged process killed, nobody detaches the program: the reader stops it, reads
    the rest, and the ledger is complete."""
    collector, sensor = under_load(bed, bundled)
    os.kill(sensor.pid(), signal.SIGKILL)
    testbed.wait_for(lambda: collector.sensor_stats("lib")["final"], "the end of the run")
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, stats["seen"], ring_full=stats["ring_full"])


# ---- the interface ---------------------------------------------------------------------------------


def test_interface_goes_down_and_up(bed, bundled):
    frames = ethernet(bundled)
    collector = bed.collector()
    cable(bed, "veth0", "tap0")
    sensor = xsk_sensor(bed, "tap0")
    assert send(bed, "veth0", frames, "--rate", "5000").play() == len(frames)
    bed.ns.run("ip", "link", "set", "tap0", "down")
    sensor.expect("tap0: went down")
    bed.ns.run("ip", "link", "set", "tap0", "up")
    sensor.expect("tap0: is up again")
    testbed.wait_for(lambda: "state UP" in bed.ns.run("ip", "link", "show", "veth0",
                                                      capture_output=True).stdout, "the cable")
    assert send(bed, "veth0", frames, "--rate", "5000").play() == len(frames)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_same(as_seen(frames * 2), captures.frames(bed.out), stamps=False)
    assert_balanced(collector.sensor_stats("lib"), 2 * len(frames))


def test_interface_disappears(bed, bundled):
    """Sockets are bound to one device for good: if it disappears, the run ends in order, and
    fails."""
    frames = ethernet(bundled)
    collector = bed.collector()
    cable(bed, "veth0", "tap0")
    sensor = xsk_sensor(bed, "tap0")
    assert send(bed, "veth0", frames, "--rate", "5000").play() == len(frames)
    bed.ns.run("ip", "link", "del", "tap0")
    assert_said(sensor.finish(signo=None), 1, "tap0: disappeared", "start again")
    collector.finish()
    assert_same(as_seen(frames), captures.frames(bed.out), stamps=False)
    assert_balanced(collector.sensor_stats("lib"), len(frames))


# ---- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options,words", [
    (("-Q", "out"), ("--source xsk", "received frames only")),
    (("--ring", "mapped"), ("--source xsk", "--ring")),
    (("-r", "x"), ("either -i IF or -r FILE",))])
def test_bad_usage(bed, options, words):
    assert_said(run_sensor(bed, "-i", "lo", *sensor_args(bed, *XSK, *options)), 2, *words)


def test_it_is_not_for_attach(bed):
    p = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "attach", "-i", "lo", *XSK], None)
    assert_said(p.finish(signo=None), 2, "--source xsk does not stay")


def test_where_something_is_attached(bed):
    cable(bed, "veth0", "tap0")
    bed.ns.run(testbed.BUILD / "saluki", "attach", "-i", "tap0", capture_output=True)
    assert_said(run_sensor(bed, "-i", "tap0", *sensor_args(bed, *XSK)), 1, "tap0",
                "another capture is attached", "saluki detach -i tap0")
    assert "prog/xdp" in bed.ns.run("ip", "link", "show", "tap0", capture_output=True).stdout


def test_status_of_it(bed, bundled):
    frames = ethernet(bundled)
    collector = bed.collector()
    cable(bed, "veth0", "tap0")
    sensor = xsk_sensor(bed, "tap0")
    assert send(bed, "veth0", frames, "--rate", "5000").play() == len(frames)
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written") == len(frames),
                     "all")
    said = bed.ns.run(testbed.BUILD / "saluki", "status", capture_output=True).stdout
    assert "tap0" in said and "xsk copy native" in said and str(len(frames)) in said, said
    assert sensor.finish()[0] == 0


def test_tags_that_the_card_takes_off(bed):
    """Tags removed by the card are not in XDP's frame, which is logged."""
    bed.collector()
    cable(bed, "veth0", "tap0")
    bed.ns.run("ethtool", "-K", "tap0", "rxvlan", "on", capture_output=True)
    sensor = xsk_sensor(bed, "tap0")
    assert_said(sensor.finish(), 0, "tap0", "VLAN tags", "ethtool -K tap0 rxvlan off")


def test_no_such_interface(bed):
    assert_said(run_sensor(bed, "-i", "nope0", *sensor_args(bed, *XSK)), 1, "nope0",
                "no such interface")


def test_not_root(bed):
    key = bed.keys.sensor("lib")
    p = testbed.Process(bed.ns, ["setpriv", "--reuid", 65534, "--clear-groups",
                                 testbed.BUILD / "saluki", "run", "-i", "lo", "--to",
                                 "127.0.0.1:5600", "--key", key, *XSK], None)
    assert_said(p.finish(signo=None), 1, "lo", "not permitted", "CAP_NET_RAW")


def test_a_snaplen_that_no_slot_holds(bed):
    """A snaplen longer than a slot is refused if frames can be that long; otherwise it means whole
    frames."""
    bed.collector()
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0", "mtu", "9000")
    assert_said(run_sensor(bed, "-i", "tap0", *sensor_args(bed, *XSK, "-s", "32768")), 1,
                "tap0", f"at most {ROOM} bytes", "MTU is 9000", f"-s {ROOM}")
    for name in ("tap0", "veth0"):
        bed.ns.run("ip", "link", "set", name, "mtu", "1500")
    assert xsk_sensor(bed, "tap0", "-s", "32768").finish()[0] == 0


def test_two_on_one_interface(bed):
    bed.collector()
    cable(bed, "veth0", "tap0")
    first = xsk_sensor(bed, "tap0")
    assert_said(run_sensor(bed, "-i", "tap0", "--to", "127.0.0.1:5600", "--key",
                           bed.keys.sensor("two"), *XSK), 1, "tap0", "another program",
                "ss --xdp")
    assert first.finish()[0] == 0


def shared_kib(pid):
    """The largest memory area that a process shares with another."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as f:
        spans = [line.split()[0].split("-") for line in f if "/dev/zero" in line]
    return max((int(b, 16) - int(a, 16)) // 1024 for a, b in spans)


def test_the_reader_has_no_privilege(bed):
    collector = bed.collector()
    cable(bed, "veth0", "tap0")
    sensor = xsk_sensor(bed, "tap0")
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session")
    with open(f"/proc/{reading_process(sensor)}/status", encoding="ascii") as f:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    assert status["Uid"].split() == ["65534"] * 4 and int(status["CapEff"], 16) == 0
    # The other process has the sockets, and does not map the frames' memory.
    assert shared_kib(reading_process(sensor)) >= 4096 > shared_kib(sensor.pid())
    assert sensor.finish()[0] == 0


def test_nothing_is_left_behind(bed):
    """No program, socket or pin is left, and the sensor can start again."""
    bed.collector()
    cable(bed, "veth0", "tap0", queues=2)
    for _ in range(2):
        sensor = xsk_sensor(bed, "tap0")
        assert "veth0" not in bed.ns.run("ss", "--xdp", capture_output=True).stdout
        assert sensor.finish()[0] == 0
        assert "prog/xdp" not in bed.ns.run("ip", "link", "show", "tap0",
                                            capture_output=True).stdout
        assert "saluki" not in bed.ns.run("ls", "/sys/fs/bpf", capture_output=True).stdout
