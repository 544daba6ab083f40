# SPDX-License-Identifier: GPL-2.0
"""Packet sockets (--source mmap): every version of their ring gives the same frames as the BPF
programs. strace refuses versions in the kernel's place, as an old kernel would."""
import itertools
import re
import select
import signal
import struct
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same, assert_stamps_close, tshark_fields
from netns.test_pipeline import as_seen, combined
from reference import captures
from reference.test_reference import write_pcap

VERSIONS = ["v3", "v2", "v1", "recv"]


def refusing(version, tmp_path):
    """Runs a command under strace, which refuses every better version. The command keeps its
    pid."""
    n = VERSIONS.index(version)
    return ["strace", "-D", "-qq", "-o", tmp_path / "strace", "-e", "trace=setsockopt", "-e",
            f"inject=setsockopt:error=EINVAL:when=1..{n}"] if n else []


# A second sensor on an interface: /run has the lock that forbids it.
APART = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
         'mount -t tmpfs none /run && exec "$@"', "sh"]


def mmap_sensor(bed, name, interfaces, version="v3", options=(), apart=()):
    command = [testbed.BUILD / "saluki", "run", "--to", "127.0.0.1:5600", "--key",
               bed.keys.sensor(name), "--source", "mmap", *options]
    for i in interfaces:
        command += ["-i", i]
    p = testbed.Process(bed.ns, [*apart, *refusing(version, bed.tmp_path), *command],
                        f"{interfaces[-1]}: capturing by mmap {version}")
    bed.stack.callback(p.kill)
    return p


def ethernet(n, tags, size=100):
    """A frame with these tags (TPID, TCI), outer first, and UDP in it."""
    addresses = bytes.fromhex("0200000000fe0200000000aa")
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + size, n & 0xffff, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                     bytes([10, 0, 0, 2]))
    udp = struct.pack(">HHHH", 1000 + n, 2000, 8 + size, 0)
    return (addresses + b"".join(struct.pack(">HH", *t) for t in tags) + b"\x08\x00" + ip + udp +
            bytes((n + i) & 255 for i in range(size)))


TAGS = [(), ((0x8100, 5),), ((0x8100, 0xe005),), ((0x8100, 0xf000),), ((0x88a8, 7), (0x8100, 8)),
        ((0x8100, 1), (0x8100, 2)), ((0x88a8, 0x1001),), ((0x8100, 0),)]


def tagged(count=400):
    """Frames of all sizes with all kinds of tags."""
    return [captures.Frame(0, len(d), 1, d) for d in
            (ethernet(n, TAGS[n % len(TAGS)], n * 7 % 1400) for n in range(count))]


def of_sensor(bed, name):
    names = tshark_fields(bed.out, "frame.interface_name")
    got = list(captures.frames(bed.out))
    return [f for f, (n,) in zip(got, names) if n.startswith(f"{name}:")]


def without_outer_tag(frames):
    """As TPACKET_V1 gives them: it has no field for a removed tag."""
    def one(f):
        if f.data[12:14] not in (b"\x81\x00", b"\x88\xa8"):
            return f
        data = f.data[:12] + f.data[16:]
        return f._replace(data=data, orig_len=len(data))
    return [one(f) for f in frames]


def both(bed, interface, player, version, options, beside):
    """Plays to two sensors at once; returns each one's result."""
    collector = bed.collector()
    other = bed.sensor("two", interface, options=[*options, *beside])
    sensor = mmap_sensor(bed, "lib", [interface], version, options, APART)
    count = player.play()
    for s in (sensor, other):
        status, said = s.finish()
        assert status == 0, said
    collector.finish()
    for name in ("lib", "two"):
        assert_balanced(collector.sensor_stats(name), count)
    return of_sensor(bed, "lib"), of_sensor(bed, "two")


@pytest.mark.alone
@pytest.mark.parametrize("version,options", [
    *itertools.product(VERSIONS, [(), ("--keep", "headers")]), ("v3", ("-s", "13")),
    ("v2", ("-s", "2000")), ("recv", ("-s", "17", "--keep", "headers"))])
def test_wired_frames_as_xdp_gives_them(bed, version, options):
    """Bytes, lengths, order and stamps are those of XDP; removed tags are restored."""
    frames = tagged()
    write_pcap(bed.tmp_path / "live.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    player = bed.sender("veth0", bed.tmp_path / "live.pcap", ["--rate", "20000"])
    ours, theirs = both(bed, "tap0", player, version, options, ["--source", "xdp"])
    snaplen = int(options[1]) if options and options[0] == "-s" else 192
    headers = True if "headers" in options else None
    assert_same(as_seen(frames), theirs, snaplen, headers, stamps=False)
    if version == "v1":
        frames = without_outer_tag(frames)
    assert_same(as_seen(frames), ours, snaplen, headers, stamps=False)
    assert_stamps_close(ours, theirs)


@pytest.mark.paired
@pytest.mark.parametrize("version", VERSIONS)
def test_80211_frames_as_tc_gives_them(bed, bundled, version):
    frames = list(captures.frames(bundled))
    player = bed.tun("mon0", 803, bundled, ["--rate", "20000"])
    ours, theirs = both(bed, "mon0", player, version, (), ["--source", "tc"])
    assert_same(as_seen(frames), ours, stamps=False)
    assert [f[1:] for f in ours] == [f[1:] for f in theirs]
    assert_stamps_close(ours, theirs)


@pytest.mark.parametrize("version,keep", [*itertools.product(VERSIONS, ["headers"]), ("v3", "all")])
def test_every_wired_frame(bed, traces, version, keep):
    frames = [f for f in combined(traces, 1, ["wired"]) if 14 <= len(f.data) <= 65535]
    write_pcap(bed.tmp_path / "live.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0", "mtu", "65535")
    collector = bed.collector()
    sensor = mmap_sensor(bed, "lib", ["tap0"], version, ["-B", "16384", "--keep", keep])
    player = bed.sender("veth0", bed.tmp_path / "live.pcap", ["--rate", "50000"])
    assert player.play() == len(frames)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(frames))
    if version == "v1":
        frames = without_outer_tag(frames)
    assert_same(as_seen(frames), captures.frames(bed.out), headers=keep == "headers", stamps=False)


def test_what_is_refused_is_said(bed, bundled):
    bed.collector()
    bed.tun("mon0", 803, bundled)
    sensor = mmap_sensor(bed, "lib", ["mon0"], "recv")
    for version in ("v3", "v2", "v1"):
        assert f"mon0: mmap {version} refused: this kernel does not have it" in sensor.said
    assert sensor.finish()[0] == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_both_directions(bed, bundled, version):
    frames = tagged(200)
    write_pcap(bed.tmp_path / "live.pcap", 1, frames)
    for way, wanted in (("in", {"0x00000001": 200}), ("out", {"0x00000002": 200}),
                        ("inout", {"0x00000001": 200, "0x00000002": 200})):
        collector = bed.collector()
        testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
        sensor = mmap_sensor(bed, "lib", ["tap0"], version, ["-Q", way])
        for interface in ("veth0", "tap0"):
            assert bed.sender(interface, bed.tmp_path / "live.pcap",
                              ["--rate", "20000"]).play() == 200
        assert sensor.finish()[0] == 0
        collector.finish()
        assert_balanced(collector.sensor_stats("lib"), sum(wanted.values()))
        ways = [w for w, in tshark_fields(bed.out, "frame.packet_flags_direction")]
        assert {w: ways.count(w) for w in ways} == wanted
        bed.ns.run("ip", "link", "del", "tap0")
        bed.out.unlink()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_full_ring_is_counted(bed, bundled, version):
    """Without a collector the store and the ring fill, and the ledger counts every frame they had
    no space for."""
    frames = list(captures.frames(bundled)) * 4
    count = len(frames)
    write_pcap(bed.tmp_path / "long.pcap", 127, frames)
    player = bed.tun("mon0", 803, bed.tmp_path / "long.pcap", ["--rate", "0"])
    sensor = mmap_sensor(bed, "lib", ["mon0"], version,
                         ["-B", "256", "--keep", "all", "--store-bytes", "64K"])
    assert player.play() == count
    collector = bed.collector()
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written"), "frames")
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    lost = {k: stats[k] for k in ("ring_full", "lost_missing", "earlier")}
    assert 0 < sum(lost.values()) < count
    # The same frames as counted by the sensor: some that it gave up may have arrived all the same.
    assert stats["dropped_store"] >= stats["lost_missing"] + stats["earlier"]
    stats["dropped_store"] = 0
    assert_balanced(stats, count, **lost)


@pytest.mark.parametrize("version", VERSIONS)
def test_two_interfaces(bed, bundled, version):
    frames = tagged(300)
    write_pcap(bed.tmp_path / "live.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    wired = bed.sender("veth0", bed.tmp_path / "live.pcap", ["--rate", "5000"])
    wireless = bed.tun("mon0", 803, bundled, ["--rate", "20000"])
    collector = bed.collector()
    sensor = mmap_sensor(bed, "lib", ["tap0", "mon0"], version)
    wired.go()
    wireless.go()
    count = wired.played() + wireless.played()
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)
    got = list(captures.frames(bed.out))
    if version == "v1":
        frames = without_outer_tag(frames)
    assert_same(as_seen(frames), [f for f in got if f.linktype == 1], stamps=False)
    assert_same(as_seen(list(captures.frames(bundled))), [f for f in got if f.linktype == 127],
                stamps=False)
    assert [f.time_ns for f in got] == sorted(f.time_ns for f in got)


@pytest.mark.paired
@pytest.mark.parametrize("version", VERSIONS)
def test_two_interfaces_in_one_order(bed, version):
    """With a busy and an idle interface, stamps are those of XDP, and none is changed to keep the
    order. (With tc, frames on a cable wait between both, see docs/design.md.)"""
    sensors, players = [], []
    for name, count in (("tap0", 4000), ("tap1", 150)):
        testbed.veth(bed.ns, f"peer-{name}", bed.ns, name)
        path = bed.tmp_path / f"{name}.pcap"
        write_pcap(path, 1, tagged(count))
        players.append(bed.sender(f"peer-{name}", path, ["--rate", str(count)]))
    collector = bed.collector()
    sensors.append(bed.sensor("two", "tap0", options=["-i", "tap1", "--source", "xdp"]))
    sensors.append(mmap_sensor(bed, "lib", ["tap0", "tap1"], version, (), APART))
    for p in players:
        p.go()
    assert [p.played() for p in players] == [4000, 150]
    for s in sensors:
        status, said = s.finish()
        assert status == 0, said
    collector.finish()
    names = tshark_fields(bed.out, "frame.interface_name")
    of = {}
    for f, (name,) in zip(captures.frames(bed.out), names):
        of.setdefault(name, []).append(f)
    for name in ("tap0", "tap1"):
        assert_stamps_close(of[f"lib:{name}"], of[f"two:{name}"])
    ours = [f.time_ns for f in of_sensor(bed, "lib")]
    assert len(ours) == 4150 and ours == sorted(ours)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_interface_goes_down_and_up_and_comes_back(bed, bundled, version):
    """An interface that goes down, up and comes back is captured each time, and the process does
    not spin on the socket's error."""
    count = len(list(captures.frames(bundled)))
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "20000"])
    sensor = mmap_sensor(bed, "lib", ["mon0"], version)
    assert player.play() == count
    player.close()
    sensor.expect("disappeared")
    sensor.said = ""
    player = bed.tun("mon0", 803, bundled, ["--rate", "20000"])
    sensor.expect("capturing by mmap")
    assert player.play() == count
    bed.ns.run("ip", "link", "set", "mon0", "down")
    sensor.expect("went down")
    before = cpu_ticks(sensor)
    bed.ns.run("ip", "link", "set", "mon0", "up")
    sensor.expect("is up again")
    assert cpu_ticks(sensor) - before < 10
    player.close()
    sensor.expect("disappeared")
    player = bed.tun("mon0", 801, bundled, ["--rate", "20000"])
    sensor.expect("link type IEEE802_11 (802.11)")
    assert player.play() == count
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 3 * count)
    got = list(captures.frames(bed.out))
    assert [f.linktype for f in got] == [127] * (2 * count) + [105] * count
    frames = list(captures.frames(bundled))
    assert_same(as_seen(frames * 2 + [f._replace(linktype=105) for f in frames]), got,
                stamps=False)


def cpu_ticks(process):
    """CPU time of a program and its children, in hundredths of a second."""
    total = 0
    for pid in testbed.with_children(process.pid()):
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            total += sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
    return total


@pytest.mark.alone
@pytest.mark.parametrize("version", VERSIONS)
def test_a_lone_frame_is_in_time(bed, bundled, version):
    write_pcap(bed.tmp_path / "one.pcap", 127, [next(captures.frames(bundled))])
    bed.collector()
    player = bed.tun("mon0", 803, bed.tmp_path / "one.pcap")
    sensor = mmap_sensor(bed, "lib", ["mon0"], version)
    before = bed.out.stat().st_size
    started = time.monotonic()
    assert player.play() == 1
    testbed.wait_for(lambda: bed.out.stat().st_size > before, "the frame", 3, 0.005)
    assert time.monotonic() - started < 1.2
    assert sensor.finish()[0] == 0


@pytest.mark.alone
@pytest.mark.parametrize("version", VERSIONS)
def test_the_end_in_order_when_the_privileged_process_is_killed(bed, bundled, version):
    """After the privileged process is killed, frames keep coming and the socket stays open: the
    counted frames are exported."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "20000", "--loop"])
    sensor = mmap_sensor(bed, "lib", ["mon0"], version)
    player.go()
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written"), "frames")
    other = testbed.with_children(sensor.pid())[1]
    sensor.popen.kill()
    testbed.wait_ended(other, 20)
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, stats["seen"])
    frames = list(captures.frames(bundled))
    assert_same(as_seen(itertools.islice(itertools.cycle(frames), stats["seen"])),
                captures.frames(bed.out), stamps=False)


@pytest.mark.parametrize("version", VERSIONS)
def test_auto_comes_to_it_where_there_is_no_bpf(bed, bundled, version):
    """On a kernel without bpf(), each better source is refused with its reason, and packet sockets
    are taken."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "20000"])
    n = VERSIONS.index(version)
    strace = ["strace", "-D", "-f", "-qq", "-o", bed.tmp_path / "strace", "-e",
              "trace=bpf,setsockopt", "-e", "inject=bpf:error=ENOSYS"]
    if n:
        strace += ["-e", f"inject=setsockopt:error=EINVAL:when=1..{n}"]
    sensor = testbed.Process(bed.ns, [*strace, testbed.BUILD / "saluki", "run", "-i", "mon0",
                                      "--to", "127.0.0.1:5600", "--key",
                                      bed.keys.sensor("lib")], f"capturing by mmap {version}")
    bed.stack.callback(sensor.kill)
    assert "this kernel has no bpf()" in sensor.said
    count = player.play()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)
    info = subprocess.run(["capinfos", "-I", bed.out], capture_output=True, text=True,
                          check=True).stdout
    assert f"mmap {version}" in info


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("expression,taken", [
    ("vlan", lambda d: d[12:14] in (b"\x81\x00", b"\x88\xa8")),
    ("vlan and vlan", lambda d: d[16:18] == b"\x81\x00"),
    ("ether[14:2] = 5 or udp", lambda d: d[14:16] == b"\x00\x05" or d[12:14] == b"\x08\x00")])
def test_filters_see_the_frame_on_the_wire(bed, version, expression, taken):
    """A filter sees the tag that the kernel removed, even if the output loses it."""
    frames = tagged()
    wanted = [f for f in frames if taken(f.data)]
    assert 0 < len(wanted) < len(frames)
    write_pcap(bed.tmp_path / "live.pcap", 1, frames)
    collector = bed.collector()
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    sensor = mmap_sensor(bed, "lib", ["tap0"], version, [expression])
    assert bed.sender("veth0", bed.tmp_path / "live.pcap",
                      ["--rate", "20000"]).play() == len(frames)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(frames),
                    filtered=len(frames) - len(wanted))
    if version == "v1":
        wanted = without_outer_tag(wanted)
    assert_same(as_seen(wanted), captures.frames(bed.out), stamps=False)


def test_frames_on_their_way_are_not_refused(bed):
    """The refused frames are a difference of two counts, read one after the other while frames
    come. In the end it is exact, however often it was requested."""
    frames = tagged(400) * 20
    write_pcap(bed.tmp_path / "live.pcap", 1, frames)
    collector = bed.collector()
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    slow = ["strace", "-D", "-f", "-qq", "-o", bed.tmp_path / "strace", "-e", "trace=getsockopt", "-e",
            "inject=getsockopt:delay_exit=1000"]
    sensor = mmap_sensor(bed, "lib", ["tap0"], options=["not host 203.0.113.5"], apart=slow)
    player = bed.sender("veth0", bed.tmp_path / "live.pcap", ["--rate", "5000"])
    player.go()
    asked = 0
    while not select.select([player.popen.stdout], [], [], 0)[0]:
        sensor.expect_again(signal.SIGUSR1, "ledger: seen")
        asked += 1
    assert player.played() == len(frames) and asked > 10
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(frames))


ROOM = r"has room for some (\d+) frames of \d+ bytes, (\d+) (ms|s|min) at the present (\d+) frames/s"
UNITS = {"ms": 1, "s": 1000, "min": 60000}


@pytest.mark.paired
@pytest.mark.parametrize("rate,size", [(20, 64), (100, 64), (100, 256)])
def test_few_frames_wait_for_a_collector(bed, bundled, rate, size):
    """The ring lasts as long as the sensor reports, even with few frames: V3's blocks are closed
    with few frames in them."""
    player = bed.tun("mon0", 803, bundled, ["--rate", str(rate), "--loop"])
    sensor = mmap_sensor(bed, "lib", ["mon0"], options=["-B", str(size), "--queue", "1"])
    began = time.monotonic()
    player.go()
    sensor.expect("frames/s\n")
    frames, said, unit, at_present = re.search(ROOM, sensor.said).groups()
    frames, at_present = int(frames), int(at_present)
    ms = frames * 1000 / at_present
    assert 0.7 * rate < at_present <= 1.1 * rate and ms > 1000
    assert abs(ms - int(said) * UNITS[unit]) <= UNITS[unit] / 2 + 1
    time.sleep(max(0, began + ms / 1000 - time.monotonic()))
    count = player.stop()
    assert count >= 0.9 * frames
    collector = bed.collector()
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written"), "frames")
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)
    expected = list(itertools.islice(itertools.cycle(captures.frames(bundled)), count))
    assert_same(as_seen(expected), captures.frames(bed.out), stamps=False)
