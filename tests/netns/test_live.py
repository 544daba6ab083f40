# SPDX-License-Identifier: GPL-2.0
"""saluki-live: viewers see each frame that the collector writes once, or count it as missed."""
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

import pytest

from netns import testbed
from netns.compare import assert_same, assert_tshark_agrees, frames_in, tshark_fields
from netns.live import long_trace
from reference import captures, clocks

LIVE = testbed.BUILD / "saluki-live"


class Viewer(testbed.Process):
    """saluki-live with -w FILE."""

    def __init__(self, bed, name="view.pcapng", options=(), ready="looking at", before=(), **kwargs):
        self.out = bed.tmp_path / name
        super().__init__(bed.ns, [*before, LIVE, "-w", self.out, *options], ready, **kwargs)
        bed.stack.callback(self.kill)

    def frames(self):
        return list(captures.frames(self.out, captures.INTERFACES_MAX))

    def statistics(self):
        """The last statistics of each interface: received, accepted, missed."""
        return last_statistics(self.out)


def blocks(path):
    data = pathlib.Path(path).read_bytes()
    at = 0
    while at + 12 <= len(data):
        kind, length = (int.from_bytes(data[at + n:at + n + 4], "little") for n in (0, 4))
        if not length or at + length > len(data):
            break  # not written yet
        yield kind, data[at:at + length]
        at += length


def last_statistics(path):
    found = {}
    for kind, block in blocks(path):
        if kind != 5 or int.from_bytes(block[20:22], "little") == clocks.OPTION:
            continue
        at, counts = 20, {}
        while (code := int.from_bytes(block[at:at + 2], "little")):
            length = int.from_bytes(block[at + 2:at + 4], "little")
            counts[code] = int.from_bytes(block[at + 4:at + 4 + length], "little")
            at += 4 + (length + 3 & ~3)
        found[int.from_bytes(block[8:12], "little")] = (counts[4], counts[6], counts[7])
    return found


def export(bed, name, file, **kwargs):
    status, said = bed.reader(name, file, **kwargs).finish(signo=None)
    assert status == 0, said


def test_a_viewer_sees_what_is_written(bed, bundled):
    collector = bed.collector()
    viewer = Viewer(bed)
    export(bed, "lib", bundled)
    sent = list(captures.frames(bundled))
    testbed.wait_for(lambda: len(viewer.frames()) == len(sent), "all frames")
    status, said = viewer.finish()
    assert status == 0 and f"{len(sent)} frames" in said
    assert_same(sent, viewer.frames())
    assert_tshark_agrees(viewer.out, viewer.frames())
    assert list(viewer.statistics().values()) == [(len(sent), len(sent), 0)]
    assert collector.finish()[0] == 0
    assert_same(sent, captures.frames(bed.out))


def sections(path):
    return sum(kind == 0x0a0d0d0a for kind, _ in blocks(path))


def interfaces(path):
    return sum(kind == 1 for kind, _ in blocks(path))


def seen_all(viewer, count):
    testbed.wait_for(lambda: len(frames_now(viewer.out)) >= count, f"{count} frames", 30, interval=0.1)


def frames_now(path):
    """The frames up to a block that is not whole yet."""
    return list(frames_in(path))


def assert_ends(viewer):
    status, said = viewer.finish()
    assert status == 0, said
    assert sections(viewer.out) == 1
    return said


# ---- selection -------------------------------------------------------------------------------------


def count_by_tcpdump(file, expression):
    """By tcpdump's own reading of the expression."""
    out = subprocess.run(["tcpdump", "-n", "-r", file, "--count", expression], capture_output=True, text=True,
                         check=True).stdout
    return int(out.split()[0])


def test_each_viewer_chooses_for_itself(bed, bundled):
    plain = bed.tmp_path / "plain.pcap"
    plain.write_bytes(captures.file_bytes(bundled))
    lines = [line.rstrip() + " group=library" if line.startswith("two ") else line
             for line in bed.keys.sensors.read_text().splitlines()]
    bed.keys.sensors.write_text("\n".join([*lines, "group library"]) + "\n")
    bed.collector()
    all_frames = len(list(captures.frames(bundled)))
    heard = [f for f, in tshark_fields(plain, "radiotap.channel.freq")]
    on_one, on_six, on_36 = map(heard.count, ("2412", "2437", "5180"))
    choices = {
        (): 2 * all_frames,
        ("--sensor", "lib"): all_frames,
        ("--sensor", "lib,two"): 2 * all_frames,
        ("--sensor", "@library"): all_frames,
        ("--group", "library"): all_frames,
        ("--group", "library", "--sensor", "lib"): 0,
        ("type", "mgt"): 2 * count_by_tcpdump(plain, "type mgt"),
        ("--sensor", "two", "subtype beacon"): count_by_tcpdump(plain, "subtype beacon"),
        ("--channel", "1"): 2 * on_one,
        ("--channel", "36,2437"): 2 * (on_36 + on_six),
        ("--channel", "36"): 2 * on_36,
        ("--channel", "40"): 0,
        ("ip proto 17",): 0,
    }
    viewers = [Viewer(bed, f"{n}.pcapng", words) for n, words in enumerate(choices)]
    export(bed, "lib", plain)
    export(bed, "two", plain)
    for viewer, (words, count) in zip(viewers, choices.items()):
        seen_all(viewer, count)
        said = assert_ends(viewer)
        assert len(viewer.frames()) == count, words
        assert f"{count} frames" in said
        assert all(accepted <= received and not missed
                   for received, accepted, missed in viewer.statistics().values())
        assert sum(accepted for _, accepted, _ in viewer.statistics().values()) == count
    assert 0 < count_by_tcpdump(plain, "type mgt") < all_frames and on_one and on_six


def test_a_count_is_exact(bed, bundled):
    bed.collector()
    viewer = Viewer(bed, options=["-c", "100"])
    export(bed, "lib", bundled)
    assert viewer.popen.wait(20) == 0
    assert len(viewer.frames()) == 100


@pytest.mark.parametrize("words, why", [
    (["--sensor", "lib,libb"], "sensor libb: the collector knows no such sensor; did you mean lib?\n"),
    (["--sensor", "another"], "sensor another: the collector knows no such sensor\n"),
    (["--sensor", "@libary"], "group libary: the collector knows no such group; did you mean library?\n"),
    (["--group", "libary"], "group libary: the collector knows no such group; did you mean library?\n"),
    (["--group", "x"], "group x: the collector knows no such group\n")])
def test_a_name_that_the_collector_does_not_know(bed, words, why):
    bed.keys.sensor("three", words="group=library")
    bed.keys.sensors.write_text(bed.keys.sensors.read_text() + "group library\n")
    bed.collector()
    status, said = Viewer(bed, options=words, ready=why).finish(None)
    assert status == 1 and said.count("knows no such") == 1, said


@pytest.mark.parametrize("words, why", [(["type", "mgtx"], "unknown 802.11 type name"),
                                        (["upd", "port", "53"], "'upd': did you mean udp? See pcap-filter(7)\n"),
                                        (["host", "no-such-host.invalid"], "unknown host")])
def test_an_expression_that_is_wrong(bed, words, why):
    bed.collector()
    viewer = Viewer(bed, options=words, ready=why)
    assert viewer.finish(None)[0] == 1


def test_without_libpcap_only_expressions_fail(bed, bundled):
    bed.collector()
    for name in pathlib.Path("/usr/lib").glob("*/libpcap.so.*"):
        bed.ns.run("mount", "--bind", "/dev/null", name)
    viewer = Viewer(bed, options=["tcp"], ready="filter 'tcp': filters are compiled by libpcap, which is not on "
                    "this machine: install libpcap0.8\n")
    assert viewer.finish(None)[0] == 1
    viewer = Viewer(bed)
    export(bed, "lib", bundled)
    seen_all(viewer, 1)
    assert_ends(viewer)


# ---- what is missed --------------------------------------------------------------------------------


def test_a_stopped_viewer_counts_exactly_what_it_missed(bed):
    """One viewer is stopped while the ring turns over. A second one, and the file, have all."""
    path, sent = long_trace(bed, 60)
    bed.collector(options=["--live-bytes", "16M"])
    stopped, other = Viewer(bed), Viewer(bed, "other.pcapng")
    bundled = bed.tmp_path / "first.pcap"
    bundled.write_bytes(captures.file_bytes(captures.BUNDLED))
    export(bed, "two", bundled)
    first = len(list(captures.frames(bundled)))
    seen_all(stopped, first)
    stopped.send_signal(signal.SIGSTOP)
    export(bed, "lib", path, options=["--keep", "all", "-s", "32768"])
    stopped.send_signal(signal.SIGCONT)
    export(bed, "two", bundled)
    for viewer in (stopped, other):
        testbed.wait_for(lambda v=viewer: sum(s[0] for s in last_statistics(v.out).values()) == 2 * first + len(sent),
                         "all frames to be seen or missed", 30, interval=0.2)
    said = assert_ends(stopped)
    gap = 2 * first + len(sent) - len(stopped.frames())
    assert gap > 0
    assert sum(missed for _, _, missed in stopped.statistics().values()) == gap
    assert f"too slow for {gap} others" in said
    assert_ends(other)
    assert [s[2] for s in other.statistics().values()] == [0, 0]
    assert len(other.frames()) == 2 * first + len(sent)
    assert len(list(captures.frames(bed.out, captures.INTERFACES_MAX))) == 2 * first + len(sent)


def test_a_killed_viewer_is_nothing_to_the_others(bed, bundled):
    collector = bed.collector()
    killed, other = Viewer(bed, "killed.pcapng"), Viewer(bed)
    helpers = testbed.with_children(killed.pid())[1:]
    killed.kill()
    for pid in helpers:
        testbed.wait_ended(pid)
    export(bed, "lib", bundled)
    seen_all(other, len(list(captures.frames(bundled))))
    assert_ends(other)
    assert collector.finish()[0] == 0


def test_frames_that_are_sent_again_are_seen_once(bed, bundled):
    bed.collector()
    relay = bed.relay()
    relay("loss 10", "duplicate 5", "reorder 10 50")
    viewer = Viewer(bed)
    export(bed, "lib", bundled, to=relay.address, options=["--combo-size", "4096"])
    sent = list(captures.frames(bundled))
    seen_all(viewer, len(sent))
    assert_ends(viewer)
    assert_same(sent, viewer.frames())


# ---- the collector ---------------------------------------------------------------------------------


def test_a_collector_that_restarts(bed, bundled):
    """The viewer goes on in the same section, with the same interface, and misses nothing."""
    sent = list(captures.frames(bundled))
    collector = bed.collector()
    viewer = Viewer(bed)
    export(bed, "lib", bundled)
    seen_all(viewer, len(sent))
    collector.finish()
    viewer.expect("the collector has ended")
    bed.collector()
    export(bed, "lib", bundled)
    viewer.expect("the collector is there again")
    seen_all(viewer, 2 * len(sent))
    assert_ends(viewer)
    assert_same(sent + sent, viewer.frames())
    assert list(viewer.statistics().values()) == [(2 * len(sent), 2 * len(sent), 0)]
    assert interfaces(viewer.out) == 1


def test_a_collector_that_is_killed(bed, bundled):
    sent = list(captures.frames(bundled))
    collector = bed.collector()
    viewer = Viewer(bed)
    export(bed, "lib", bundled)
    seen_all(viewer, len(sent))
    collector.kill_all()
    viewer.expect("the collector has ended")
    bed.collector()
    viewer.expect("the collector is there again")
    export(bed, "two", bundled)
    seen_all(viewer, 2 * len(sent))
    assert_ends(viewer)


def test_files_are_rotated_meanwhile(bed):
    """A stream has one section, however many files are written."""
    path, sent = long_trace(bed, 20)
    folder = bed.tmp_path / "files"
    folder.mkdir()
    bed.collector(write=folder, options=["-C", "1"])
    viewer = Viewer(bed)
    export(bed, "lib", path, options=["--keep", "all", "-s", "32768"])
    seen_all(viewer, len(sent))
    assert_ends(viewer)
    assert len(list(folder.glob("*.pcapng"))) >= 3
    assert interfaces(viewer.out) == 1
    assert_same(sent, viewer.frames(), 32768, False)


def test_frames_are_seen_that_cannot_be_written(bed, bundled):
    """The file takes nothing. The frames are lost for it, and live they are all there."""
    collector = bed.collector(write="/dev/full", ready=None)
    viewer = testbed.wait_for(lambda: bed.ns.run("test", "-S", "/run/saluki-collector/live",
                                                 check=False).returncode == 0 and Viewer(bed), "the socket")
    export(bed, "lib", bundled)
    sent = list(captures.frames(bundled))
    seen_all(viewer, len(sent))
    assert_ends(viewer)
    assert_same(sent, viewer.frames())
    testbed.wait_for(lambda: (collector.sensor_stats("lib") or {}).get("lost_disk") == len(sent), "the loss")


def test_a_full_disk_shows_each_frame_once(bed, bundled):
    """Combos that wait for room are seen once, also those that were tried before."""
    disk = bed.tmp_path / "disk"
    disk.mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=1m", "none", disk)
    bed.ns.run("dd", "if=/dev/zero", f"of={disk}/ballast", "bs=1k", "count=900", capture_output=True)
    collector = bed.collector(write=disk / "out.pcapng", options=["--keep-free", "0"])
    viewer = Viewer(bed)
    reader = bed.reader("lib", bundled)
    collector.expect("nothing is written until there is room")
    bed.ns.run("rm", disk / "ballast")
    assert reader.finish(None)[0] == 0
    sent = list(captures.frames(bundled))
    seen_all(viewer, len(sent))
    assert_ends(viewer)
    assert_same(sent, viewer.frames())


# ---- who may look ----------------------------------------------------------------------------------


def test_without_the_group_nobody_looks(bed):
    collector = bed.collector()
    program = testbed.for_anybody(LIVE, bed.tmp_path)
    viewer = testbed.Process(bed.ns, ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program,
                                      "-w", "/dev/null"], "are you in the group saluki?")
    assert viewer.finish(None)[0] == 1
    assert "only this user can connect: there is no such group; 'groupadd --system saluki'" in collector.said


def test_the_group_may_look(bed, bundled):
    """A user of the group, with no other right."""
    bed.ns.run("sh", "-c", "cp /etc/group /run/group && echo saluki:x:4242: >> /run/group && "
               "echo saluki-board:x:4243: >> /run/group && mount --bind /run/group /etc/group")
    collector = bed.collector()
    assert "only this user" not in collector.said
    assert bed.ns.run("stat", "-c", "%a %g", "/run/saluki-collector/board", capture_output=True).stdout == "660 4243\n"
    assert bed.ns.run("stat", "-c", "%a %g", "/run/saluki-collector/live", capture_output=True).stdout == "660 4242\n"
    program = testbed.for_anybody(LIVE, bed.tmp_path)
    out = bed.tmp_path / "view.pcapng"
    out.touch()
    out.chmod(0o666)
    viewer = testbed.Process(bed.ns, ["setpriv", "--reuid=65534", "--regid=65534", "--groups=4242", program, "-w", out],
                             "looking at")
    bed.stack.callback(viewer.kill)
    export(bed, "lib", bundled)
    sent = list(captures.frames(bundled))
    testbed.wait_for(lambda: len(frames_now(out)) == len(sent), "all frames")
    assert viewer.finish()[0] == 0


def test_no_collector(bed):
    viewer = Viewer(bed, ready="is saluki-collector running on this machine?")
    assert viewer.finish(None)[0] == 1


def test_a_viewer_is_confined_before_the_first_frame(bed):
    bed.collector()
    viewer = Viewer(bed)
    status = dict(line.split(":\t", 1) for line in
                  pathlib.Path(f"/proc/{viewer.pid()}/status").read_text().splitlines() if ":\t" in line)
    assert status["CapEff"] == "0" * 16 and status["Uid"].split() == ["65534"] * 4
    assert "sanitize" in str(testbed.BUILD) or status["Seccomp"] == "2"
    assert viewer.finish()[0] == 0


def test_sockets_that_cannot_be_made(bed):
    """The default one may belong to another collector. A given one must work."""
    first = bed.collector()
    second = bed.collector(write=bed.tmp_path / "second.pcapng", listen="127.0.0.1:5601",
                           options=["--control", "/run/second"])
    assert "--live /run/saluki-collector/live: another process listens there" in second.said
    assert "so saluki-live does not reach this collector" in second.said
    assert second.finish()[0] == 0
    bed.ns.run("test", "-S", "/run/saluki-collector/live")
    third = bed.collector(write=bed.tmp_path / "third.pcapng", listen="127.0.0.1:5601", ready=None,
                          options=["--control", "/run/second", "--live", "/nonexistent/live"])
    assert third.finish(None)[0] == 1 and "--live /nonexistent/live: No such file" in third.said
    assert first.finish()[0] == 0
    assert bed.ns.run("test", "-e", "/run/saluki-collector/live", check=False).returncode == 1
    none = bed.collector(write=bed.tmp_path / "fourth.pcapng", options=["--live", "none"])
    assert "--live" not in none.said
    assert bed.ns.run("test", "-e", "/run/saluki-collector/live", check=False).returncode == 1


CONNECT = """
import socket, sys, time
begun = time.monotonic()
for _ in range(45):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect("/run/saluki-collector/live")
        data, fds, _, _ = socket.recv_fds(s, 100, 9)
        assert data[:4] == b"LIVE" and len(fds) == 3 and s.recv(1) == b""
        for fd in fds:
            socket.close(fd)
print(time.monotonic() - begun)
"""


def test_at_most_twenty_viewers_a_second(bed, bundled):
    collector = bed.collector()
    took = float(bed.ns.run(sys.executable, "-c", CONNECT, capture_output=True).stdout)
    assert 1 < took < 8  # in the third second at the earliest
    export(bed, "lib", bundled)
    assert collector.finish()[0] == 0


def test_a_sensor_that_is_added(bed, bundled):
    """On SIGHUP, viewers know it too. A viewer of a sensor that is gone waits until it is back."""
    sensors = bed.keys.sensors.read_text()
    bed.keys.sensor("new")
    collector = bed.collector()
    everyone, one = Viewer(bed), Viewer(bed, "new.pcapng", ["--sensor", "new"])
    listed = bed.keys.sensors.read_text()
    bed.keys.sensors.write_text(sensors)
    collector.expect_again(signal.SIGHUP, "read again")
    one.expect("sensor new: the collector knows no such sensor")
    bed.keys.sensors.write_text(listed)
    collector.expect_again(signal.SIGHUP, "read again")
    export(bed, "new", bundled)
    count = len(list(captures.frames(bundled)))
    for viewer in (everyone, one):
        seen_all(viewer, count)
        assert_ends(viewer)


# ---- who reads -------------------------------------------------------------------------------------


def test_a_reader_that_ends(bed):
    """The viewer ends when its pipe has no reader, also while no frames come."""
    bed.collector()
    viewer = testbed.Process(bed.ns, [LIVE, "-w", "-"], "looking at", stdout=subprocess.PIPE)
    bed.stack.callback(viewer.kill)
    viewer.popen.stdout.close()
    assert viewer.popen.wait(10) == 0


def test_a_reader_that_does_not_read(bed, bundled):
    """A stop does not wait for it for long."""
    bed.collector()
    ours, theirs = os.pipe()
    viewer = testbed.Process(bed.ns, [LIVE, "-w", "-"], "looking at", stdout=theirs)
    bed.stack.callback(viewer.kill)
    os.close(theirs)
    export(bed, "lib", bundled)
    viewer.send_signal(signal.SIGTERM)
    assert viewer.popen.wait(10) == 0
    os.close(ours)


def test_another_signal_ends_a_stopped_printer(bed, bundled):
    """And a pager that waits. No process is left behind."""
    bed.collector()
    viewer = testbed.Process(bed.ns, [LIVE, "-n"], "looking at", stdout=subprocess.PIPE)
    bed.stack.callback(viewer.kill)
    export(bed, "lib", bundled)
    viewer.popen.stdout.readline()
    printer = next(pid for pid in testbed.with_children(viewer.pid()) if len(testbed.with_children(pid)) == 2)
    dissector = testbed.with_children(printer)[1]
    ends = [os.pidfd_open(pid) for pid in (viewer.pid(), printer, dissector)]
    for fd in ends:
        bed.stack.callback(os.close, fd)
    os.kill(printer, signal.SIGSTOP)
    os.kill(dissector, signal.SIGSTOP)
    deadline = time.monotonic() + 20
    while not select.select([ends[0]], [], [], 1.2)[0]:
        assert time.monotonic() < deadline
        viewer.send_signal(signal.SIGINT)
    assert viewer.popen.wait(10) == 1
    for fd in ends:
        assert select.select([fd], [], [], 10)[0]


FAKE_SSH = """#!/bin/sh
printf '%s\\n' "$@" > {folder}/words
shift 5
exec sh -c "exec $1"
"""


def test_a_collector_on_another_machine(bed, bundled):
    """By ssh, here a program that runs what it is told as sshd does: in a shell."""
    bed.collector()
    programs = bed.tmp_path / "programs"
    programs.mkdir()
    (programs / "ssh").write_text(FAKE_SSH.format(folder=bed.tmp_path))
    (programs / "ssh").chmod(0o755)
    (programs / "saluki-live").symlink_to(LIVE)
    path = f"{programs}:{os.environ['PATH']}"
    viewer = Viewer(bed, options=["--collector", "me@there", "--sensor", "lib", "--", "type mgt and not (subtype beacon)"],
                    env={"PATH": path})
    export(bed, "two", bundled)
    export(bed, "lib", bundled)
    plain = bed.tmp_path / "plain.pcap"
    plain.write_bytes(captures.file_bytes(bundled))
    wanted = count_by_tcpdump(plain, "type mgt and not subtype beacon")
    seen_all(viewer, wanted)
    assert_ends(viewer)
    assert len(viewer.frames()) == wanted
    words = (bed.tmp_path / "words").read_text().splitlines()
    assert words == ["-T", "-o", "BatchMode=yes", "--", "me@there",
                     "saluki-live -w - '--sensor' 'lib' '--' 'type mgt and not (subtype beacon)'"]
