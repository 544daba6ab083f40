# SPDX-License-Identifier: GPL-2.0
"""Bad input and faults: one log line names the fault and the remedy, and no frame is lost."""
import json
import os
import signal
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_all_balanced, assert_balanced, assert_same, frames_in
from netns.test_pipeline import as_seen
from reference import captures
from reference.test_reference import write_pcap

NOBODY = 65534


def run_sensor(bed, *args, **kwargs):
    """Runs saluki run in the bed's namespace to its end; returns (status, standard error)."""
    p = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", *args], None, **kwargs)
    bed.stack.callback(p.kill)
    return p.finish(signo=None, seconds=40)


def run_collector(bed, *args):
    p = testbed.Process(bed.ns, [testbed.BUILD / "saluki-collector", *args], None)
    bed.stack.callback(p.kill)
    return p.finish(signo=None, seconds=40)


def assert_said(result, status, *words):
    """The status is right, one line has all the words, and the program prints only its own
    lines."""
    code, said = result
    assert code == status, said
    assert any(all(w in line for w in words) for line in said.splitlines()), said
    assert "Sanitizer" not in said


# ---- the sensor ------------------------------------------------------------------------------------


def sensor_args(bed, *extra):
    return ("--to", "127.0.0.1:5600", "--key", bed.keys.sensor("lib"), *extra)


@pytest.mark.parametrize("option,words", [
    (("-s", "-1"), ("--snaplen -1", "1 to 32768")),
    (("-i", "any"), ("-i any", "several times")),
    (("-s", "many"), ("--snaplen many", "whole number")),
    (("--combo-size", "100"), ("--combo-size 100", "1024 to 32768")),
    (("--combo-size", "65536"), ("--combo-size 65536", "1024 to 32768")),
    (("--combo-age", "0"), ("--combo-age 0", "1 to 60000")),
    (("--compress", "22"), ("--compress 22", "-50 to 9")),
    (("--keep", "payload"), ("--keep payload", "must be headers or all")),
    (("-Q", "both"), ("--direction both", "must be in, out or inout")),
    (("--source", "dpdk"), ("--source dpdk", "must be auto, xdp, tc, mmap or xsk")),
    (("-B", "1000"), ("--ring-size 1000", "power of two")),
    (("--to", "nowhere"), ("--to nowhere", "HOST:PORT")),
    (("--to", "::1"), ("--to ::1", "HOST:PORT")),
    (("--pace",), ("--pace goes with -r",)),
    (("-Q", "out", "--source", "xdp"), ("--source tc",)),
    (("-r", "x"), ("either -i IF or -r FILE",)),
    (("--bogus",), ("--bogus: no such option",))])
def test_bad_usage_is_2(bed, option, words):
    assert_said(run_sensor(bed, "-i", "lo", *sensor_args(bed, *option)), 2, *words)


def test_missing_options_are_named(bed):
    assert_said(run_sensor(bed, "-i", "lo"), 2, "--to HOST:PORT is missing")
    assert_said(run_sensor(bed, "-i", "lo", "--to", "x:1"), 2, "--key FILE is missing")
    assert_said(run_sensor(bed), 2, "either -i IF or -r FILE")


def test_no_such_interface(bed):
    assert_said(run_sensor(bed, "-i", "nope0", *sensor_args(bed)), 1, "nope0",
                "no such interface", "ip link")


def test_an_interface_that_is_neither(bed):
    """An unsupported link type is refused by name, and never captured as Ethernet."""
    bed.ns.run("ip", "tuntap", "add", "tun0", "mode", "tun")
    assert_said(run_sensor(bed, "-i", "tun0", *sensor_args(bed)), 1, "tun0", "link type 65534")


def test_not_root(bed):
    key = bed.keys.sensor("lib")
    os.chown(key, NOBODY, NOBODY)
    p = testbed.Process(bed.ns, ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
                                 testbed.BUILD / "saluki", "run", "-i", "lo",
                                 *sensor_args(bed)], None)
    status, said = p.finish(signo=None)
    assert_said((status, said), 1, "lo", "not permitted", "root", "CAP_NET_RAW", "CAP_BPF")
    assert said.count("\n") == 1, said


def test_reading_a_file_needs_no_root(bed, bundled):
    key = bed.keys.sensor("lib")
    os.chown(key, NOBODY, NOBODY)
    bundled.chmod(0o644)
    collector = bed.collector()
    p = testbed.Process(bed.ns, ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
                                 testbed.BUILD / "saluki", "run", "-r", bundled,
                                 *sensor_args(bed)], None)
    status, said = p.finish(signo=None)
    assert status == 0, said
    collector.finish()
    assert_same(captures.frames(bundled), captures.frames(bed.out))


def test_a_kernel_without_btf_will_do(bed, bundled):
    """A kernel without BTF works, as no kernel type is relocated."""
    bed.ns.run("mount", "-t", "tmpfs", "none", "/sys/kernel/btf")
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0")
    count = player.play()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_two_on_one_interface(bed, bundled):
    bed.collector()
    bed.tun("mon0", 803, bundled)
    bed.sensor("lib", "mon0")
    assert_said(run_sensor(bed, "-i", "mon0", "--to", "127.0.0.1:5600", "--key",
                           bed.keys.sensor("two")), 1, "mon0", "another saluki captures here")


def test_two_on_one_interface_behind_another_sys(bed, bundled):
    """The lock holds under `ip netns exec`, which gives each command its own /sys, and so its own
    bpffs."""
    bed.collector()
    bed.tun("mon0", 803, bundled)
    first = bed.sensor("lib", "mon0", options=["--source", "tc"])
    own_sys = ["unshare", "--mount", "sh", "-c", 'mount -t sysfs sys /sys && exec "$@"', "sh"]
    for command in (["run", "-i", "mon0", "--to", "127.0.0.1:5600", "--key",
                     bed.keys.sensor("two")], ["probe", "-i", "mon0"]):
        second = bed.ns.run(*own_sys, testbed.BUILD / "saluki", *command, check=False,
                            capture_output=True)
        assert second.returncode == 1
        assert "another saluki captures here" in second.stderr, second.stderr
    pins = bed.ns.run("ls", "/sys/fs/bpf/saluki/mon0", capture_output=True).stdout
    assert "link_ingress" in pins
    assert first.finish()[0] == 0


def test_another_program_on_the_hook(bed, bundled):
    """If XDP is taken, the log says so and tc captures; --source xdp fails."""
    bed.collector()
    bed.tun("mon0", 803, bundled)
    bed.ns.run("mount", "-t", "tmpfs", "none", "/mnt")
    bed.ns.run("bpftool", "prog", "load", testbed.ROOT / "build/bpf/xsk.bpf.o",
               "/sys/fs/bpf/other", capture_output=True)
    bed.ns.run("bpftool", "net", "attach", "xdpgeneric", "pinned", "/sys/fs/bpf/other", "dev",
               "mon0", capture_output=True)
    assert_said(run_sensor(bed, "-i", "mon0", *sensor_args(bed, "--source", "xdp")), 1,
                "xdp generic refused", "another program", "bpftool net")
    sensor = bed.sensor("lib", "mon0", ready="by tc")
    assert "xdp generic refused" in sensor.said
    assert sensor.finish()[0] == 0


def test_key_files(bed, tmp_path):
    def with_key(text):
        path = tmp_path / "some.key"
        path.write_text(text)
        return run_sensor(bed, "-i", "lo", "--to", "127.0.0.1:5600", "--key", path)

    secret, peer = bed.keys.sensor("lib").read_text().splitlines()
    own = testbed.saluki("pubkey", input=secret).stdout.strip()
    assert_said(with_key(""), 1, "some.key", "first line", "saluki genkey")
    assert_said(with_key("hello\n" + peer), 1, "some.key", "first line")
    assert_said(with_key(secret), 1, "some.key", "second line", "collector's public key")
    assert_said(with_key(f"{secret}\n{peer[:-2]}\n"), 1, "some.key", "second line")
    assert_said(with_key(f"{secret}\n{own}\n"), 1, "some.key", "own public key")
    assert_said(run_sensor(bed, "-i", "lo", "--to", "127.0.0.1:5600", "--key", "/no/such"), 1,
                "--key /no/such", "No such file")


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640, 0o604])
def test_a_key_that_others_can_read(bed, bundled, mode):
    """A key file that others can read gives a warning on either side, as in wg; the program
    continues."""
    key = bed.keys.sensor("lib")
    for path in (key, bed.keys.collector):
        path.chmod(mode)
    collector = bed.collector()
    status, said = run_sensor(bed, "-r", bundled, *sensor_args(bed))
    said += collector.finish()[1]
    assert status == 0
    for path in (key, bed.keys.collector):
        warning = f"warning: --key {path}: others can read it; chmod 600 {path}\n"
        assert said.count(warning) == (mode & 0o077 != 0), said


def test_unknown_sensor(bed, bundled):
    """An unknown sensor gets no session, and the message points to the collector's list."""
    collector = bed.collector()
    key = bed.keys.sensor("stranger", listed=False)
    assert_said(run_sensor(bed, "-r", bundled, "--to", "127.0.0.1:5600", "--key", key), 1,
                "gave no session", "it answers", "--sensors")
    assert "is not in --sensors" in collector.finish()[1]
    stats = collector.stats()
    assert stats["not_ours"] >= 3 and stats["refused_requests"] >= 3
    assert stats["set_ups"] == stats["sessions"] == 0


def test_wrong_collector_key(bed, bundled):
    """A sensor with another collector's public key gets no answer, and is counted."""
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    other = testbed.saluki("pubkey", input=testbed.saluki("genkey").stdout).stdout
    key.write_text(key.read_text().splitlines()[0] + "\n" + other)
    assert_said(run_sensor(bed, "-r", bundled, "--to", "127.0.0.1:5600", "--key", key), 1,
                "gave no session", "no answer", "--key")
    assert collector.finish()[0] == 0
    assert collector.stats()["not_ours"] >= 3 and collector.stats()["set_ups"] == 0


@pytest.mark.parametrize("content,words", [
    (b"", ("is empty",)), (b"hello, world", ("not a pcap",)), (b"abc", ("not a pcap",)),
    (b"\xd4\xc3\xb2\xa1\x02\0", ("shorter than a pcap header",)),
    (b"\x0a\x0d\x0d\x0a\x1c\0\0\0abcd", ("byte-order magic",))])
def test_files_that_are_no_captures(bed, content, words):
    bed.collector()
    path = bed.tmp_path / "bad.pcap"
    path.write_bytes(content)
    assert_said(run_sensor(bed, "-r", path, *sensor_args(bed)), 1, "bad.pcap", *words)
    assert_said(run_sensor(bed, "-r", "/no/such", *sensor_args(bed)), 1, "/no/such", "No such file")


def test_malformed_captures(bed, traces):
    """No malformed file causes a crash: the frames before the fault are captured, and the ledger is
    zero."""
    paths = traces.folder("malformed")
    names = bed.many(len(paths))
    collector = bed.collector()
    sent = []
    for name, path in zip(names, paths):
        status, said = run_sensor(bed, "-r", path, "--to", "127.0.0.1:5600", "--key",
                                  bed.keys.sensor(name))
        assert status in (0, 1), (path, status, said)
        assert status == 0 or path.name in said, said
        if "give a capture file" not in said:  # it began as one
            sent += frames_in(path)
    assert collector.finish()[0] == 0
    assert len(sent) > 3000
    assert_same(sent, captures.frames(bed.out))
    assert_all_balanced(collector, names, len(sent))


def test_headers_of_an_unknown_link_type(bed, bundled):
    """--keep headers on an unknown link type is refused, not ignored."""
    bed.collector()
    path = bed.tmp_path / "sll.pcap"
    write_pcap(path, 113, list(captures.frames(bundled))[:3])
    assert_said(run_sensor(bed, "-r", path, *sensor_args(bed, "--keep", "headers")), 1,
                "link type 113", "--keep all")


# ---- the interface ---------------------------------------------------------------------------------


def test_interface_goes_down_and_up(bed, bundled):
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000", "--loop"])
    sensor = bed.sensor("lib", "mon0")
    player.go()
    written = lambda: (collector.sensor_stats("lib") or {}).get("written", 0)
    testbed.wait_for(lambda: written() > 1000, "frames")
    bed.ns.run("ip", "link", "set", "mon0", "down")
    sensor.expect("mon0: went down; waiting for it")
    bed.ns.run("ip", "link", "set", "mon0", "up")
    sensor.expect("mon0: is up again")
    at = written()
    testbed.wait_for(lambda: written() > at + 1000, "frames after it came up")
    assert sensor.finish()[0] == 0
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert_balanced(stats, stats["seen"])


def test_interface_disappears_and_comes_back(bed, bundled):
    """An interface may come back, even with another link type: the frames have the right one."""
    collector = bed.collector()
    first = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0")
    count = first.play()
    first.close()
    sensor.expect("mon0: disappeared; waiting for it")
    raw = bed.tmp_path / "raw.pcap"
    frames = [f._replace(linktype=105, data=f.data[22:]) for f in captures.frames(bundled)
              if f.data[2] == 22]
    write_pcap(raw, 105, frames)
    second = bed.tun("mon0", 801, raw, ["--rate", "5000"])
    sensor.expect("mon0: is back")
    sensor.expect("link type IEEE802_11 (802.11)")
    assert second.play() == len(frames)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_same(as_seen(captures.frames(bundled)) + as_seen(frames), captures.frames(bed.out),
                stamps=False)
    assert_balanced(collector.sensor_stats("lib"), count + len(frames))


def test_interface_is_down_at_the_start(bed, bundled):
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    bed.ns.run("ip", "link", "set", "mon0", "down")
    sensor = bed.sensor("lib", "mon0", ready="is down; waiting for it")
    bed.ns.run("ip", "link", "set", "mon0", "up")
    sensor.expect("is up again")
    count = player.play()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_interface_changes_its_type(bed, bundled):
    """On a managed interface that becomes a monitor, no frame is kept by the old rules."""
    collector = bed.collector()
    player = bed.tun("mon0", 1, bundled, ["--rate", "5000"])
    bed.ns.run("ip", "link", "set", "mon0", "down")
    sensor = bed.sensor("lib", "mon0", ready="link type EN10MB")
    player.retype(803)
    bed.ns.run("ip", "link", "set", "mon0", "up")
    sensor.expect("mon0: is of another type now")
    sensor.expect("link type IEEE802_11_RADIO")
    sensor.expect("keep headers")
    assert player.play() == len(list(captures.frames(bundled)))
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_same(as_seen(captures.frames(bundled)), captures.frames(bed.out), stamps=False)


def test_interface_with_a_dot_in_its_name(bed, bundled):
    """Interface names with dots (VLANs) work, though bpffs allows no dots."""
    collector = bed.collector()
    player = bed.tun("mon0.100", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0.100")
    assert "counters" in bed.ns.run("ls", "/sys/fs/bpf/saluki/mon0:100", capture_output=True).stdout
    count = player.play()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_probe_leaves_a_running_capture_alone(bed, bundled):
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0", options=["--source", "tc"])
    probe = bed.ns.run(testbed.BUILD / "saluki", "probe", "-i", "mon0", capture_output=True,
                       check=False)
    assert probe.returncode == 1 and "another saluki captures here" in probe.stderr
    count = player.play()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_a_killed_agent_by_another_hook(bed, bundled):
    """After tc with --consume and a SIGKILL, a run with XDP takes over the ring, and tc's programs
    are gone."""
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    first = bed.sensor("lib", "tap0", key=key, options=["-Q", "inout", "--consume"])
    first.kill_all()
    frames = [f._replace(linktype=1) for f in captures.frames(bundled) if 14 <= len(f.data) < 1500]
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "20000"])
    assert sender.play() == len(frames)  # no agent runs: into the ring
    second = bed.sensor("lib", "tap0", key=key, options=["--source", "xdp"])
    assert "takes over from an earlier agent" in second.said
    pins = bed.ns.run("ls", "/sys/fs/bpf/saluki/tap0", capture_output=True).stdout.split()
    assert "link" in pins and "link_ingress" not in pins and "program_egress" not in pins
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "20000"])
    assert sender.play() == len(frames)
    assert second.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 2 * len(frames))


# ---- the collector ---------------------------------------------------------------------------------


def collector_args(bed, **changes):
    args = {"--listen": "127.0.0.1:5600", "--key": bed.keys.collector,
            "--sensors": bed.keys.sensors, "-w": bed.out, **changes}
    return [str(x) for pair in args.items() for x in pair]


def test_collector_bad_usage(bed):
    assert_said(run_collector(bed), 2, "--listen ADDR:PORT is missing")
    assert_said(run_collector(bed, *collector_args(bed, **{"--listen": "5600"})), 2,
                "--listen 5600", "ADDRESS:PORT")
    assert_said(run_collector(bed, *collector_args(bed, **{"-C": "0"})), 2, "--rotate-size 0")
    assert_said(run_collector(bed, *collector_args(bed, **{"-w": "-", "-G": "5"})), 2,
                "cannot be rotated")
    assert_said(run_collector(bed, *collector_args(bed), "more"), 2, "more", "takes no arguments")
    assert_said(run_collector(bed, *collector_args(bed), "--key", "b", "--key", "c"), 2,
                "a third --key or key-text: at most two")


def test_port_in_use(bed):
    bed.collector()
    assert_said(run_collector(bed, *collector_args(bed)), 1, "127.0.0.1:5600",
                "Address already in use", "choose another port")


def test_collector_files(bed):
    no = bed.tmp_path / "no"
    assert_said(run_collector(bed, *collector_args(bed, **{"--key": no})), 1, f"--key {no}")
    assert_said(run_collector(bed, *collector_args(bed), "--key", no), 1, f"--key {no}")
    assert_said(run_collector(bed, *collector_args(bed), "--key", bed.keys.collector), 1, "is the same key as --key")
    assert_said(run_collector(bed, *collector_args(bed, **{"--sensors": no})), 1,
                f"--sensors {no}")
    assert_said(run_collector(bed, *collector_args(bed, **{"-w": no / "x"})), 1, f"-w {no}/x",
                "No such file")
    no.write_text("this is a letter, not a capture\n")
    assert_said(run_collector(bed, *collector_args(bed, **{"-w": no})), 1, f"-w {no}",
                "not a whole pcapng file")
    assert no.read_text() == "this is a letter, not a capture\n"


@pytest.mark.parametrize("line,word", [
    ("lib", "NAME ID PUBLIC-KEY"), ("lib one KEY", "id"), ("lib 0 KEY", "id"),
    ("lib 70000 KEY", "id"), ("lib 1 abc", "base64"), ("a/b 1 KEY", "name"),
    ("lib 1 KEY extra", "preshared key is not"), ("lib 1 abc KEY", "base64"),
    ("# rooms\nliving room 3 KEY", "line 2: a name has no blanks"),
    ("lab 2 3 KEY KEY", "line 1: a name has no blanks"), ("the north wing 3 KEY", "a name has no blanks"),
    ("lib 1 KEY KEY extra", "NAME ID PUBLIC-KEY"), ("x 1 KEY\nx 2 KEY", "name is taken"),
    ("x 1 KEY\ny 1 KEY", "id is taken"), ("x 1 KEY\ny 2 KEY", "key is taken"), ("# no", "lists no"),
    ("x 1 KEY next=KEY", "line 1: this public key is taken"), ("x 1 KEY next=abc", "next public key is not"),
    ("x 1 KEY next=" + 43 * "A" + "=", "next public key is not"),
    ("x 1 KEY next=OTHER\ny 2 OTHER", "line 2: this public key is taken"),
    ("x 1 KEY next=OTHER next=OTHER", "NAME ID PUBLIC-KEY"), ("x 1 next=KEY KEY", "base64")])
def test_sensors_file(bed, line, word):
    path = bed.tmp_path / "list"
    other = testbed.public_of(testbed.saluki("genkey").stdout)
    path.write_text(line.replace("OTHER", other).replace("KEY", bed.keys.collector_public) + "\n")
    assert_said(run_collector(bed, *collector_args(bed, **{"--sensors": path})), 1,
                f"--sensors {path}", word)


def test_unwritable_folder(bed):
    """A folder that cannot be written is reported; for root this needs a read-only file system."""
    where = bed.tmp_path / "ro"
    where.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "ro", "none", where)
    assert_said(run_collector(bed, *collector_args(bed, **{"-w": where})), 1, f"-w {where}",
                "Read-only file system")


def test_collector_killed_and_started_again(bed, bundled):
    """SIGKILL loses no frame that was flushed; the next collector appends, after a truncated block
    too."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "3000", "--loop"])
    sensor = bed.sensor("lib", "mon0")
    player.go()
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written", 0) > 2000,
                     "frames")
    # All processes, as in a power failure.
    flushed = collector.sensor_stats("lib")["written"]
    collector.kill_all()
    before = list(captures.frames(bed.out))
    assert len(before) >= flushed
    with bed.out.open("ab") as f:
        f.write(b"\6\0\0\0\x80\0\0\0")  # a block that was being written
    second = bed.collector()
    second.expect("8 bytes of a block")
    testbed.wait_for(lambda: (second.sensor_stats("lib") or {}).get("written", 0) > 2000,
                     "frames after the restart", 20)
    status, said = sensor.finish()
    assert status == 0, said
    second.finish()
    got = list(captures.frames(bed.out))
    stats = second.sensor_stats("lib")
    assert got[:len(before)] == before and len(got) == len(before) + stats["written"]
    assert [f.time_ns for f in got] == sorted(f.time_ns for f in got)
    assert stats["balance"] == 0 and stats["earlier"] >= len(before)
    assert stats["exported"] == stats["earlier"] + stats["written"] + stats["lost_missing"]
    assert stats["lost_missing"] == stats["lost_disk"] == 0


def test_sensor_waits_for_its_collector(bed, bundled):
    """A sensor started before its collector logs this once, keeps the frames that fit into memory,
    and exports them all."""
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0")
    count = player.play()
    sensor.expect("nothing listens there")
    collector = bed.collector()
    sensor.expect("connected; it did not answer before")
    status, said = sensor.finish()
    assert status == 0 and said.count("nothing listens there") == 1, said
    collector.finish()
    assert_same(as_seen(captures.frames(bundled)), captures.frames(bed.out), stamps=False)
    assert_balanced(collector.sensor_stats("lib"), count)


def test_sensor_without_collector_says_what_is_lost(bed, bundled):
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0")
    count = player.play()
    status, said = sensor.finish()
    assert status == 1 and "gave no session: nothing listens there" in said
    assert f"exported 0 + dropped_send 0 + dropped_shutdown {count}" in said


@pytest.mark.parametrize("ring", ["bpf", "mapped"])
def test_ring_full_is_counted(bed, bundled, ring):
    """While an agent is stopped, the kernel's ring fills, and every frame is counted."""
    collector = bed.collector()
    # Every CPU has its own mapped ring, and the player may move to another CPU.
    trace = bed.tmp_path / "long.pcap"
    write_pcap(trace, 127, list(captures.frames(bundled)) * 5 * os.cpu_count())
    player = bed.tun("mon0", 803, trace, ["--rate", "100000"])
    sensor = bed.sensor("lib", "mon0", options=["-B", "256", "--ring", ring])
    child = int(subprocess.run(["pgrep", "-P", str(sensor.pid())], capture_output=True, text=True,
                               check=True).stdout.split()[0])
    os.kill(child, signal.SIGSTOP)
    count = player.play()
    os.kill(child, signal.SIGCONT)
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert 0 < stats["ring_full"] < count
    assert stats["seen"] == count and stats["balance"] == 0
    assert stats["written"] == count - stats["ring_full"]
    assert len(list(captures.frames(bed.out))) == stats["written"]


def children(pid):
    return [int(x) for x in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True,
                                           text=True, check=True).stdout.split()]


def test_uplink_goes_away_for_a_while(bed, bundled):
    """While there is no route, the ring keeps what fits, and no frame is dropped."""
    ns = bed.namespace()
    testbed.veth(ns, "uplink", bed.ns, "down0")
    ns.run("ip", "address", "add", "10.99.0.2/24", "dev", "uplink")
    bed.ns.run("ip", "address", "add", "10.99.0.1/24", "dev", "down0")
    collector = bed.collector(listen=":5600")
    player = bed.tun("mon0", 803, bundled, ns=ns)
    sensor = bed.sensor("lib", "mon0", ns=ns, to="10.99.0.1:5600")
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session")
    ns.run("ip", "address", "del", "10.99.0.2/24", "dev", "uplink")
    count = player.play()
    ns.run("ip", "address", "add", "10.99.0.2/24", "dev", "uplink")
    testbed.wait_for(lambda: collector.sensor_stats("lib")["written"] == count, "all frames", 20)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_path_mtu_below_our_datagrams(bed, bundled):
    """Datagrams are never fragmented, but made smaller: IPv6's least MTU suffices."""
    bed.ns.run("ip", "link", "set", "lo", "mtu", "1280")
    collector = bed.collector()
    status, said = bed.reader("lib", bundled).finish(signo=None)
    assert status == 0, said
    collector.finish()
    sent = list(captures.frames(bundled))
    assert_same(sent, captures.frames(bed.out))
    assert_balanced(collector.sensor_stats("lib"), len(sent))


def test_path_mtu_below_all_datagrams(bed, bundled):
    """If no handshake message fits the path, the sensor reports this and counts the frames."""
    bed.ns.run("ip", "link", "set", "lo", "mtu", "1200")
    collector = bed.collector()
    status, said = bed.reader("lib", bundled).finish(signo=None)
    assert status == 1 and "takes no datagrams of 1232 bytes; raise its MTU" in said, said
    assert "did not take all frames before the end; dropped_store 1171\n" in said
    collector.finish()
    assert not collector.sensor_stats("lib")


def test_last_datagrams_lost(bed, bundled):
    """Datagrams lost at the very end are sent again, and the end waits for them."""
    from netns.test_hostile import Relay
    collector = bed.collector()
    testbed.wait_for(collector.stats_file.exists, "statistics")
    seen = []

    def lossy(data):
        if len(data) > 300:
            seen.append(1)
            if len(seen) in (8, 12, 15):
                return []
        return [data]

    Relay(bed, lossy)
    p = testbed.Process(bed.ns, [testbed.BUILD / "saluki", "run", "-r", bundled, "--to",
                                 "127.0.0.1:5700", "--key", bed.keys.sensor("lib"), "--keep",
                                 "all", "--combo-size", "4096"], None)
    bed.stack.callback(p.kill)
    status, said = p.finish(signo=None)
    assert status == 0 and len(seen) > 15, said
    collector.finish()
    sent = list(captures.frames(bundled))
    assert_same(sent, captures.frames(bed.out), headers=False)
    assert_balanced(collector.sensor_stats("lib"), len(sent))


def test_a_pipe_that_says_nothing_can_be_stopped(bed, bundled):
    """With -r -, combos close at their age, and SIGTERM ends the sensor, whatever the writer
    does."""
    collector = bed.collector()
    read_end, write_end = os.pipe()
    reader = bed.reader("lib", "-", stdin=read_end)
    os.close(read_end)
    data = bundled.read_bytes()
    cut = 24
    for _ in range(5):
        cut += 16 + int.from_bytes(data[cut + 8:cut + 12], "little")
    os.write(write_end, data[:cut + 20])  # and the beginning of a sixth
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written") == 5,
                     "five frames", 5)
    status, said = reader.finish(signal.SIGTERM, seconds=5)
    os.close(write_end)
    assert status == 0, said
    read_end, write_end = os.pipe()
    silent = bed.reader("two", "-", stdin=read_end)
    os.close(read_end)
    testbed.wait_for(lambda: collector.sensor_stats("two"), "its session")
    status, said = silent.finish(signal.SIGTERM, seconds=5)
    os.close(write_end)
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), 5)


def test_a_reader_that_reads_nothing(bed, bundled):
    """With -w - into a full pipe, the collector can still be stopped."""
    read_end, write_end = os.pipe()
    collector = bed.collector(write="-", stdout=write_end)
    os.close(write_end)
    reader = bed.reader("lib", bundled)
    collector.send_signal(signal.SIGUSR1)
    status, _ = collector.finish(signal.SIGTERM, seconds=10)
    assert status == 0
    reader.kill()
    os.close(read_end)


def test_standard_output_is_not_ours_to_cut(bed, bundled):
    """With -w - >> file on a full disk, the file's earlier content stays."""
    disk = bed.tmp_path / "disk"
    disk.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=64k", "none", disk)
    bed.ns.run("sh", "-c", f"head -c 40000 /dev/zero > {disk}/log")
    p = testbed.Process(bed.ns, ["sh", "-c", f"exec {testbed.BUILD}/saluki-collector --listen "
                                 f"127.0.0.1:5600 --key {bed.keys.collector} --sensors "
                                 f"{bed.keys.sensors} -w - >> {disk}/log"], "listening on")
    bed.stack.callback(p.kill)
    bed.reader("lib", bundled).finish(signo=None)
    p.expect("No space left")
    p.finish()
    bed.ns.run("cp", disk / "log", bed.out)
    assert bed.out.read_bytes()[:40000] == b"\0" * 40000


def test_standard_output_is_a_file(bed, bundled):
    """With -w - > file on a full disk, the collector waits. The file is readable to its end, and
    finally has all frames."""
    disk = bed.tmp_path / "disk"
    disk.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=300k", "none", disk)
    bed.ns.run("dd", "if=/dev/zero", f"of={disk}/ballast", "bs=1k", "count=240",
               capture_output=True)
    stats = bed.tmp_path / "stats.json"
    p = testbed.Process(bed.ns, ["sh", "-c", f"exec {testbed.BUILD}/saluki-collector --listen "
                                 f"127.0.0.1:5600 --key {bed.keys.collector} --sensors "
                                 f"{bed.keys.sensors} --stats-file {stats} -w - > {disk}/log"],
                        "listening on")
    bed.stack.callback(p.kill)
    reader = bed.reader("lib", bundled, bed.keys.sensor("lib"))
    p.expect("No space left")
    bed.ns.run("cp", disk / "log", bed.out)
    assert len(list(captures.frames(bed.out))) < len(list(captures.frames(bundled)))
    bed.ns.run("rm", disk / "ballast")
    assert reader.finish(signo=None)[0] == 0
    p.finish()
    bed.ns.run("cp", disk / "log", bed.out)
    assert_same(captures.frames(bundled), captures.frames(bed.out))
    sensor, = json.loads(stats.read_text())["sensors"]
    assert sensor["written"] == sensor["exported"] and sensor["balance"] == 0


def test_a_fifo_that_nobody_reads(bed):
    fifo = bed.tmp_path / "fifo"
    os.mkfifo(fifo)
    assert_said(run_collector(bed, *collector_args(bed, **{"-w": fifo})), 1, f"-w {fifo}",
                "nobody reads this FIFO")


def test_collector_pauses_at_the_end(bed, bundled):
    """A collector may be busy for longer than a session lives: the sensor waits for its
    confirmation."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0")
    count = player.play()
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session")
    child = testbed.receiving(collector.pid())
    os.kill(child, signal.SIGSTOP)
    sensor.send_signal(signal.SIGINT)
    time.sleep(4)  # the pause itself: longer than SESSION_SILENCE_NS
    os.kill(child, signal.SIGCONT)
    status, said = sensor.finish(signo=None)
    assert status == 0, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_one_file_takes_one_collector(bed, bundled):
    collector = bed.collector()
    assert_said(run_collector(bed, *collector_args(bed, **{"--listen": "127.0.0.1:5601"})), 1,
                f"-w {bed.out}", "another saluki-collector writes to it")
    assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
    collector.finish()
    assert_same(captures.frames(bundled), captures.frames(bed.out))


def test_a_damaged_file_is_not_cut(bed, bundled):
    """The collector removes only an unfinished last block from a file."""
    collector = bed.collector()
    assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
    collector.finish()
    whole = bytearray(bed.out.read_bytes())
    whole[200:400] = b"\xff" * 200
    bed.out.write_bytes(whole)
    # A state tells which part was read already.
    bed.out.with_name(bed.out.name + ".state").unlink()
    assert_said(run_collector(bed, *collector_args(bed)), 1, "not a whole pcapng file")
    assert bed.out.read_bytes() == whole


def test_two_signals_at_once_are_one(bed, bundled):
    """timeout(1) signals its child, and then the group: this counts as one signal."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "20000"])
    sensor = bed.sensor("lib", "mon0")
    count = player.play()
    sensor.send_signal(signal.SIGTERM)
    sensor.send_signal(signal.SIGINT)
    status, said = sensor.finish(signal.SIGTERM)
    assert status == 0 and f"{count} packets captured" in said, said
    collector.send_signal(signal.SIGTERM)
    status, said = collector.finish(signal.SIGINT)
    assert status == 0 and "balance 0" in said


def test_signals(bed, bundled):
    """SIGUSR1 prints both ledgers while the capture continues."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "mon0")
    count = player.play()
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("written") == count, "all")
    sensor.send_signal(signal.SIGUSR1)
    sensor.expect(f"{count} packets captured")
    collector.send_signal(signal.SIGUSR1)
    collector.expect(f"lib: seen {count} = filtered 0 + ring_full 0 + copy_failed 0 + "
                     f"captured {count}")
    collector.expect("sensors that still run: 1; 'seen' to 'captured' are older")
    assert sensor.finish(signal.SIGTERM)[0] == 0
    status, said = collector.finish(signal.SIGTERM)
    assert status == 0 and "balance 0" in said


def test_reader_of_the_pipe_leaves(bed, bundled):
    """A reader that closes the pipe, as Wireshark does, is a normal end, not an error."""
    read_end, write_end = os.pipe()
    collector = bed.collector(write="-", stdout=write_end)
    os.close(write_end)
    os.close(read_end)
    bed.reader("lib", bundled).finish(signo=None, seconds=40)
    assert collector.popen.wait(20) == 0


@pytest.mark.alone
def test_nothing_is_left_behind(bed, bundled):
    """After a run, no pin, program or process is left."""
    bed.collector()
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    sensor = bed.sensor("lib", "tap0", options=["-Q", "inout"])
    child = subprocess.run(["pgrep", "-P", str(sensor.pid())], capture_output=True, text=True,
                           check=True).stdout.strip()
    before = bed.ns.run("bpftool", "prog", "show", capture_output=True).stdout.count("saluki_tc_")
    assert sensor.finish()[0] == 0
    after = bed.ns.run("bpftool", "prog", "show", capture_output=True).stdout.count("saluki_tc_")
    assert before - after == 2
    assert not os.path.exists(f"/proc/{child}")
    assert "saluki" not in bed.ns.run("ls", "/sys/fs/bpf", capture_output=True).stdout
