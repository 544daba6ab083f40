# SPDX-License-Identifier: GPL-2.0
"""saluki capture: a sensor and a collector in one command, which prints frames or writes them."""
import contextlib
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import pytest

from netns import testbed
from netns.compare import assert_same
from netns.testbed import BUILD, ROOT
from reference import captures

WIRED = ROOT / "tests/captures/wired"
PORT = 5353
UDP_SEND = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for line in sys.stdin:
    for n in range(int(line)):
        s.sendto(b"number %06d" % n, ("127.0.0.1", %d))
    print("sent", flush=True)
"""


def name_of(pid):
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/comm", encoding="utf-8") as f:
        comm = f.read().strip()
        return "saluki-collector" if comm == "saluki-collecto" else comm
    return None


class Capture(testbed.Process):
    def __init__(self, bed, *args, ready="capturing by", program=BUILD / "saluki", **kwargs):
        kwargs.setdefault("stdout", subprocess.PIPE)
        super().__init__(bed.ns, [program, *([] if program == "/bin/sh" else ["capture"]), *args], ready, **kwargs)
        self.bed = bed
        bed.stack.callback(self.kill)

    def processes(self):
        """All of them, as process ids."""
        found = [self.pid()]
        for pid in found:
            with contextlib.suppress(FileNotFoundError):
                found += testbed.with_children(pid)[1:]
        return found

    def child(self, name):
        """The process id of a program that it starts."""
        return testbed.wait_for(lambda: self.child_now(name), name)

    def child_now(self, name):
        return next((pid for pid in self.processes() if name_of(pid) == name), None)

    def end(self, status=0, signo=None):
        """Returns what it has printed; `signo` ends it, else it ends by itself."""
        if signo:
            self.send_signal(signo)
        out, rest = self.popen.communicate(timeout=30)
        self.said += rest
        assert self.popen.returncode == status, self.said
        return out

    def ledger(self):
        """The collector's line at the end, as numbers."""
        line = next(x for x in self.said.splitlines() if "; balance " in x)
        return {name: int(n) for name, n in re.findall(r"([a-z_]+(?: [a-z]+)?) (\d+)", line)}


class Talk:
    """Sends numbered datagrams to a port of the loopback interface that nobody has, or that a socket has."""

    def __init__(self, bed):
        self.popen = bed.ns.start("/usr/bin/python3", "-c", UDP_SEND.replace("%d)", f"{PORT})"),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        bed.stack.callback(self.close)

    def send(self, count):
        self.popen.stdin.write(f"{count}\n")
        self.popen.stdin.flush()
        assert self.popen.stdout.readline() == "sent\n"

    def close(self):
        self.popen.stdin.close()
        self.popen.wait()
        self.popen.stdout.close()


def numbers(out):
    return [int(n) for n in re.findall(r"number (\d+)", out)]


@pytest.fixture(name="talk")
def fixture_talk(bed):
    return Talk(bed)


@pytest.fixture(name="trace")
def fixture_trace(bed):
    """802.11 frames."""
    file = bed.tmp_path / "trace.pcap"
    file.write_bytes(captures.file_bytes(captures.BUNDLED))
    return file


@pytest.fixture(name="wired")
def fixture_wired(bed):
    """Two files of Ethernet frames, of different numbers."""
    files = []
    for name in ("control-4", "bulk-6"):
        files.append(bed.tmp_path / f"{name}.pcap")
        files[-1].write_bytes(captures.file_bytes(WIRED / f"{name}.pcap.zst"))
    return files


# Only the datagrams themselves, without the ICMP messages about the closed port.
DATAGRAMS = f"udp dst port {PORT}"


@pytest.mark.parametrize("dissector", ["auto", "tcpdump", "tshark", "short"])
def test_ten_frames_are_printed(bed, talk, dissector):
    capture = Capture(bed, "-i", "lo", "-c", "10", "-n", "-A", "--dissector", dissector, DATAGRAMS)
    talk.send(50)
    out = capture.end()
    if dissector != "tshark":  # whose -A is hexadecimal too
        assert numbers(out) == list(range(10))
    assert len(re.findall(r"^\S+ .*127\.0\.0\.1", out, re.M)) == 10
    assert "\n10 packets captured\n" in capture.said
    ledger = capture.ledger()
    assert ledger["written"] == ledger["exported"] == 10 and ledger["balance"] == 0
    assert ledger["captured"] == 10 + ledger["dropped"] and ledger["lost"] == 0


def test_a_frame_is_printed_at_once(bed, talk):
    """Without another one behind it."""
    capture = Capture(bed, "-i", "lo", "-n", "-A", DATAGRAMS)
    for n in range(3):
        talk.send(1)
        assert "number 000000" in testbed.lines_until(capture.popen.stdout, time.monotonic() + 10, "number"), n
    capture.end(signo=signal.SIGINT)
    assert capture.ledger()["balance"] == 0


def test_a_capture_of_lo_sees_nothing_of_itself(bed, talk):
    capture = Capture(bed, "-i", "lo", "-w", bed.out)
    talk.send(20)  # and as many ICMP messages
    capture.end(signo=signal.SIGINT)
    got = list(captures.frames(bed.out))
    assert len(got) == 40 == capture.ledger()["seen"]
    assert [b"number" in f.data[42:] for f in got].count(True) == 40  # the ICMP messages quote it


@pytest.mark.parametrize("source", ["tc", "mmap", "xdp"])
def test_each_packet_of_lo_appears_once(bed, talk, source):
    capture = Capture(bed, "-i", "lo", "--source", source, "-w", bed.out, DATAGRAMS)
    talk.send(30)
    capture.end(signo=signal.SIGINT)
    got = [f.data[42:] for f in captures.frames(bed.out)]
    assert got == [b"number %06d" % n for n in range(30)]
    assert capture.ledger()["balance"] == 0


@pytest.mark.parametrize("source", ["tc", "xdp", "mmap"])
@pytest.mark.parametrize("options", [[], ["--pipelines", "2"], ["--ring", "bpf"]], ids=" ".join)
def test_count_is_exact(bed, trace, source, options):
    """The first COUNT frames are written, and the ledger has what came later."""
    if source == "mmap" and options:
        options = ["-B", "1024"]
    player = bed.tun("mon0", 803, trace, options=["--loop", "--rate", "20000"])
    capture = Capture(bed, "-i", "mon0", "--source", source, "-c", "137", "-w", bed.out, *options)
    player.go()
    capture.end()
    player.stop()
    got = list(captures.frames(bed.out))
    assert len(got) == 137
    assert_same(list(captures.frames(trace))[:137], got, 32768, headers=False, stamps=False)
    ledger = capture.ledger()
    assert ledger["written"] == 137 and ledger["balance"] == 0 and ledger["lost"] == 0
    assert ledger["captured"] == 137 + ledger["dropped"]
    assert "\n137 packets captured\n" in "\n" + capture.said


def test_count_of_a_file(bed, trace):
    capture = Capture(bed, "-r", trace, "-c", "100", "-w", bed.out, ready=None)
    capture.end()
    assert_same(list(captures.frames(trace))[:100], list(captures.frames(bed.out)), 32768, headers=False)
    assert capture.ledger()["dropped"] == 0 and capture.ledger()["balance"] == 0


def test_both_directions_unless_asked(bed, wired):
    """A veth's end sends and receives."""
    other = bed.namespace()
    testbed.veth(bed.ns, "in0", other, "out0")
    counts = {}
    for words in ((), ("-Q", "in"), ("-Q", "out")):
        capture = Capture(bed, "-i", "in0", *words, "-w", bed.out)
        sent = bed.sender("in0", wired[0]).play()
        received = bed.sender("out0", wired[1], ns=other).play()
        capture.end(signo=signal.SIGINT)
        counts[words] = len(list(captures.frames(bed.out)))
        assert capture.ledger()["balance"] == 0
    assert counts == {(): sent + received, ("-Q", "in"): received, ("-Q", "out"): sent}


def promiscuity(bed, name):
    said = bed.ns.run("ip", "-d", "link", "show", "dev", name, stdout=subprocess.PIPE).stdout
    return int(re.search(r"promiscuity (\d+)", said)[1])


@pytest.mark.parametrize("source", ["auto", "mmap"])
def test_promiscuous_mode(bed, source):
    testbed.veth(bed.ns, "in0", bed.namespace(), "out0")
    capture = Capture(bed, "-i", "in0", "--source", source, "-w", bed.out)
    assert promiscuity(bed, "in0") == 1
    capture.end(signo=signal.SIGINT)
    assert promiscuity(bed, "in0") == 0
    capture = Capture(bed, "-i", "in0", "-p", "--source", source, "-w", bed.out)
    assert promiscuity(bed, "in0") == 0
    capture.end(signo=signal.SIGINT)


def test_promiscuous_mode_ends_with_a_killed_capture(bed):
    testbed.veth(bed.ns, "in0", bed.namespace(), "out0")
    capture = Capture(bed, "-i", "in0", "-w", bed.out)
    assert promiscuity(bed, "in0") == 1
    capture.kill_all()
    testbed.wait_for(lambda: promiscuity(bed, "in0") == 0, "the mode's end")


def test_a_killed_capture_leaves_a_whole_file(bed, talk):
    """The collector sees the sensor's end, and ends in order."""
    capture = Capture(bed, "-i", "lo", "-w", bed.out, "--combo-age", "20", DATAGRAMS)
    talk.send(25)
    testbed.wait_for(lambda: bed.out.exists() and bed.out.stat().st_size > 2000, "frames in the file")
    collector = capture.child("saluki-collector")
    ended = os.pidfd_open(collector)
    for pid in testbed.with_children(capture.pid()):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            if f.read() == "saluki\n":
                os.kill(pid, signal.SIGKILL)
    capture.popen.communicate(timeout=20)
    testbed.wait_ended(collector)
    os.close(ended)
    assert len(list(captures.frames(bed.out))) == 25


def test_the_collector_closes_its_keys(bed):
    """It has read them, and anybody who takes over a process must find no file of them."""
    capture = Capture(bed, "-i", "lo", "-w", bed.out)
    testbed.wait_for(lambda: bed.out.exists() and bed.out.stat().st_size, "the collector's file")
    for pid in capture.processes():
        folder = f"/proc/{pid}/fd"
        testbed.wait_for(lambda folder=folder: not [n for n in os.listdir(folder)
                                                    if os.readlink(f"{folder}/{n}").startswith("/memfd:")], "no keys")
    capture.end(signo=signal.SIGINT)


def test_files_of_a_killed_capture_are_removed(bed):
    """By the next one, whatever it captures. Those of others stay."""
    testbed.veth(bed.ns, "in0", bed.namespace(), "out0")

    def files():
        return set(bed.ns.run("sh", "-c", "ls /run/saluki", stdout=subprocess.PIPE).stdout.split()) - {"slots"}

    killed = Capture(bed, "-i", "lo", "-w", bed.tmp_path / "killed.pcapng")
    mine = testbed.wait_for(lambda: len(files()) == 2 and files(), "a lock and a socket")
    ends = stopped(killed, [])
    for pid in killed.processes():
        os.kill(pid, signal.SIGKILL)
    assert_none_left(ends)
    assert files() == mine
    bed.ns.run("sh", "-c", "touch /run/saluki/1.mon0.monitor /run/saluki/notes")
    other = Capture(bed, "-i", "in0", "-w", bed.out)
    assert not files() & mine and len(files()) == 4
    other.end(signo=signal.SIGINT)
    assert files() == {"1.mon0.monitor", "notes"}


@pytest.mark.parametrize("signo", [None, signal.SIGINT])
def test_totals_come_after_the_last_frame(bed, talk, signo):
    """A dissector may print its last line when sensor and collector have ended."""
    with tempfile.TemporaryDirectory() as folder:  # the dissector's user cannot enter pytest's folders
        os.chmod(folder, 0o755)
        os.mkfifo(fifo := pathlib.Path(folder) / "fifo")
        fifo.chmod(0o644)
        (slow := pathlib.Path(folder) / "tcpdump").write_text(f"#!/bin/sh\ncat > /dev/null {fifo} -\necho A frame\n")
        slow.chmod(0o755)
        capture = Capture(bed, "-c", f"exec {BUILD}/saluki capture -i lo {'' if signo else '-c 3'} --dissector tcpdump "
                          f"{DATAGRAMS} 2>&1", program="/bin/sh", ready=None,
                          env={"PATH": f"{folder}:{os.environ['PATH']}"})
        testbed.lines_until(capture.popen.stdout, time.monotonic() + 10, " instructions")  # the last line of the start
        capture.child("saluki-collector")
        talk.send(3)
        if signo:
            capture.child("cat")
            capture.send_signal(signo)
        testbed.wait_for(lambda: not capture.child_now("saluki-collector"), "the collector's end")
        fifo.write_bytes(b"")
        lines = capture.end().splitlines()
    assert lines[0] == "A frame", lines
    assert [line.split()[1] for line in lines[1:4]] == ["packets"] * 3
    assert ": seen " in lines[4] and "written 3 " in lines[4]


def test_a_terminal_interrupts_all_processes(bed, talk):
    """Only the sensor takes the signal: the collector must take its last frames."""
    capture = Capture(bed, "-i", "lo", "-n", "-A", DATAGRAMS, start_new_session=True)
    talk.send(40)
    os.killpg(capture.pid(), signal.SIGINT)
    assert numbers(capture.end()) == list(range(40))
    assert capture.ledger()["written"] == 40


def test_a_reader_that_ends(bed, talk):
    """As with 'tcpdump -w - | head': an end in order, at once."""
    capture = Capture(bed, "-i", "lo", "-w", "-", "--combo-age", "20")
    talk.send(10)
    assert capture.popen.stdout.buffer.read(500)
    capture.popen.stdout.close()
    talk.send(10)
    assert capture.popen.wait(timeout=10) == 0
    said = capture.popen.stderr.read()
    assert "the sensor's last totals did not come" in said and "saluki: ledger: captured " in said
    capture = Capture(bed, "-i", "lo", "-n")
    capture.popen.stdout.close()
    talk.send(10)
    assert capture.popen.wait(timeout=10) == 0


def test_a_collector_that_is_killed(bed, talk):
    capture = Capture(bed, "-i", "lo", "-w", bed.out)
    talk.send(10)
    os.kill(testbed.with_children(capture.child("saluki-collector"))[-1], signal.SIGKILL)
    capture.end(status=1)
    assert "was ended by signal 9 (Killed)" in capture.said
    captured, exported, shutdown = map(int, re.search(r"ledger: captured (\d+) = exported (\d+) \+ dropped_send 0 \+ "
                                                      r"dropped_shutdown (\d+) \+ on the way 0\n", capture.said).groups())
    assert captured == exported + shutdown


def stopped(capture, pids):
    """Stops the processes, and keeps descriptors of all by which their end is seen."""
    ends = [os.pidfd_open(pid) for pid in capture.processes()]
    for fd in ends:
        capture.bed.stack.callback(os.close, fd)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    return ends


def assert_none_left(ends):
    for fd in ends:
        assert select.select([fd], [], [], 10)[0]


def test_a_stopped_collector_is_continued(bed, talk):
    """It then writes what it has. The sensor has lost its patience before."""
    capture = Capture(bed, "-i", "lo", "-w", bed.out, "--combo-age", "20", DATAGRAMS)
    talk.send(25)
    testbed.wait_for(lambda: bed.out.exists() and bed.out.stat().st_size > 2000, "frames in the file")
    ends = stopped(capture, testbed.with_children(capture.child("saluki-collector")))
    capture.end(status=1, signo=signal.SIGINT)
    assert "saluki: the collector has not ended yet: it is continued and told to stop\n" in capture.said
    ledger = capture.ledger()
    assert ledger["balance"] == ledger["in flight"] == 0
    assert ledger["written"] == len(list(captures.frames(bed.out))) == 25
    assert "saluki: ledger: captured 25 = exported 25 " in capture.said
    assert_none_left(ends)


def test_a_pipe_that_nobody_reads(bed, talk):
    """The capture says what was lost, and ends."""
    os.mkfifo(fifo := bed.tmp_path / "fifo")
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    bed.stack.callback(os.close, reader)
    capture = Capture(bed, "-i", "lo", "-w", fifo, DATAGRAMS)
    ends = stopped(capture, [])
    talk.send(4000)
    capture.end(status=1, signo=signal.SIGINT)
    assert "told to stop\n" in capture.said
    ledger = capture.ledger()
    assert ledger["lost"] > 0 and ledger["balance"] == ledger["in flight"] == 0
    assert_none_left(ends)


@pytest.mark.parametrize("name", ["saluki-collector", "saluki", "tcpdump"])
def test_another_signal_ends_the_wait(bed, talk, name):
    """Whichever of the processes has been stopped, none is left behind."""
    capture = Capture(bed, "-i", "lo", "-n", "--dissector", "tcpdump", DATAGRAMS)
    talk.send(1)
    testbed.lines_until(capture.popen.stdout, time.monotonic() + 10, "127.0.0.1")
    pids = [pid for pid in capture.processes() if name_of(pid) == name and pid != capture.pid()]
    ends = stopped(capture, pids)
    capture.send_signal(signal.SIGINT)
    deadline = time.monotonic() + 20
    while not select.select([ends[0]], [], [], 1.2)[0]:
        assert time.monotonic() < deadline
        capture.send_signal(signal.SIGINT)
    capture.end(status=1)
    assert_none_left(ends)


def test_a_collector_that_is_not_installed(bed):
    alone = bed.tmp_path / "saluki"
    shutil.copy(BUILD / "saluki", alone)
    capture = Capture(bed, "-i", "lo", program=alone, ready=None, env={"PATH": "/usr/bin"})
    capture.end(status=1)
    assert capture.said == ("saluki: capture: saluki-collector is not installed; install the package "
                            "saluki-collector, or 'make install' where saluki was built\n")


def test_a_file_begins_anew(bed, talk):
    for count in (30, 10):
        capture = Capture(bed, "-i", "lo", "-c", str(count), "-w", bed.out, DATAGRAMS)
        talk.send(count)
        capture.end()
        assert len(list(captures.frames(bed.out))) == count
    assert [p.name for p in bed.tmp_path.glob("out*")] == ["out.pcapng"]  # no state beside it


def test_no_other_file_is_emptied(bed):
    text = bed.tmp_path / "letter"
    text.write_text("Dear reader")
    capture = Capture(bed, "-i", "lo", "-w", text, ready=None)
    capture.end(status=1)
    assert capture.said == f"saluki: -w {text}: is no capture file; remove it first\n"
    assert text.read_text() == "Dear reader"
    writes = Capture(bed, "-i", "lo", "-w", bed.out)
    testbed.wait_for(lambda: bed.out.exists() and bed.out.stat().st_size, "the collector's file")
    other = Capture(bed, "-i", "lo", "-w", bed.out, ready=None)
    other.end(status=1)
    assert other.said == f"saluki: -w {bed.out}: another saluki-collector writes to it\n"
    writes.end(signo=signal.SIGINT)


def test_an_output_without_a_name(bed):
    capture = Capture(bed, "-i", "lo", "-w", "", ready=None)
    capture.end(status=2)
    assert capture.said == "saluki: capture: -w '': must be a file, a directory, or - for standard output\n"


@pytest.mark.parametrize("words,said", [
    (["-i", "none0"], "none0: no such interface; 'saluki capture -D' lists the interfaces"),
    (["-i", "lo", "tpc port 80"], "lo: filter 'tpc port 80': can't parse filter expression: syntax error; "
     "'tpc': did you mean tcp? See pcap-filter(7)\n"),
    (["-r", "/none.pcap"], "-r /none.pcap: No such file or directory"),
])
def test_a_mistake_costs_no_file(bed, words, said):
    bed.out.write_bytes(captures.file_bytes(captures.BUNDLED))
    before = bed.out.read_bytes()
    capture = Capture(bed, "-w", bed.out, *words, ready=None)
    capture.end(status=1)
    assert capture.said.startswith(f"saluki: {said}") and capture.said.count("\n") == 1, capture.said
    assert bed.out.read_bytes() == before


def test_a_capture_that_does_not_begin_costs_no_file(bed):
    bed.out.write_bytes(before := captures.file_bytes(captures.BUNDLED))
    capture = Capture(bed, "-i", "lo", "-w", bed.tmp_path / "other.pcapng")
    for words, said in ((["-i", "lo", "--source", "tc"], "another saluki captures here"),
                        (["-i", "lo", "--user", "nemo"], "user nemo: does not exist"),
                        (["-r", bed.out], "is the file of -r; write to another one")):
        refused = Capture(bed, "-w", bed.out, *words, ready=None)
        refused.end(status=1)
        assert said in refused.said and bed.out.read_bytes() == before, refused.said
    capture.end(signo=signal.SIGINT)


def test_a_file_that_cannot_be_made(bed):
    """The capture does not begin."""
    capture = Capture(bed, "-i", "lo", "-w", bed.tmp_path / "none/x.pcapng", ready=None)
    capture.end(status=1)
    assert capture.said == f"saluki: -w {bed.tmp_path}/none/x.pcapng: No such file or directory\n"


def test_an_output_that_takes_nothing_ends_the_capture(bed):
    """As with tcpdump. Waiting for room, as on a full disk, would have no end."""
    capture = Capture(bed, "-i", "lo", "-w", "/dev/full", ready=None)
    capture.end(status=1)
    said = [line for line in capture.said.splitlines() if not line.startswith("saluki: lo: ")]
    assert said == ["saluki-collector: /dev/full: No space left on device; the capture ends"]


def test_a_limit_of_the_file_size_ends_the_capture(bed, talk):
    """The file never has room again. It keeps what it has, and the rest is in the ledger."""
    words = f"ulimit -f 200; exec {BUILD}/saluki capture -i lo -w {bed.out} {DATAGRAMS}"
    capture = Capture(bed, "-c", words, program="/bin/sh")
    talk.send(100)
    testbed.wait_for(lambda: bed.out.exists() and bed.out.stat().st_size > 5000, "frames in the file")
    talk.send(4000)
    capture.end(status=1)
    assert f"saluki-collector: {bed.out}: File too large; the capture ends\n" in capture.said
    ledger = capture.ledger()
    assert ledger["written"] == len(list(captures.frames(bed.out))) > 0
    assert ledger["lost"] > 0 and ledger["balance"] == ledger["in flight"] == 0


def test_frames_for_which_the_disk_has_no_room_are_lost(bed, talk):
    """The sensor has nobody else to send them to, so none stays in flight."""
    (disk := bed.tmp_path / "disk").mkdir()
    bed.ns.run("mount", "-t", "tmpfs", "-o", "size=1m", "none", disk)
    capture = Capture(bed, "-i", "lo", "--store-bytes", "1M", "-w", disk / "out.pcapng", DATAGRAMS)
    talk.send(30000)
    capture.expect("nothing is written until there is room")
    capture.end(status=1, signo=signal.SIGINT)
    assert "ends while there is no room on the disk; the frames that were not written are lost\n" in capture.said
    ledger = capture.ledger()
    assert ledger["captured"] == ledger["exported"] == 30000 and ledger["balance"] == ledger["in flight"] == 0
    bed.ns.run("cp", disk / "out.pcapng", bed.out)  # the mount is the namespace's
    assert ledger["written"] == len(list(captures.frames(bed.out))) > 0
    assert ledger["lost"] == 30000 - ledger["written"]


def test_several_interfaces_are_named(bed, talk, wired):
    testbed.veth(bed.ns, "in0", other := bed.namespace(), "out0")
    capture = Capture(bed, "-i", "lo", "-i", "in0", "-n", "--dissector", "short")
    talk.send(1)
    bed.sender("out0", wired[0], ns=other).play()
    out = capture.end(signo=signal.SIGINT)
    assert {name for name in ("lo", "in0") if re.search(rf"\b{name}\b", out)} == {"lo", "in0"}
    assert capture.ledger()["balance"] == 0


def test_several_interfaces_are_printed_by_tshark(bed, talk, trace):
    """From the start, though the first frames are of one link type."""
    radio = bed.tun("mon0", 803, trace)
    capture = Capture(bed, "-i", "lo", "-i", "mon0", "-n")
    talk.send(1)
    testbed.lines_until(capture.popen.stdout, time.monotonic() + 10, ":lo ")
    assert capture.child_now("tshark") and not capture.child_now("tcpdump")
    radio.play()
    out = capture.end(signo=signal.SIGINT)
    assert re.search(r":mon0 .* 802\.11 ", out) and "short lines" not in capture.said


def test_the_dissector_has_no_rights(bed, talk):
    capture = Capture(bed, "-i", "lo", "-n", "--dissector", "tcpdump")
    talk.send(1)
    testbed.lines_until(capture.popen.stdout, time.monotonic() + 10, "127.0.0.1")
    pid = capture.child("tcpdump")
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        status = f.read()
    assert re.search(r"^Uid:\t65534\t65534\t65534\t65534$", status, re.M)
    assert re.search(r"^CapEff:\t0+$", status, re.M) and re.search(r"^CapPrm:\t0+$", status, re.M)
    assert re.search(r"^NoNewPrivs:\t1$", status, re.M)
    assert os.readlink(f"/proc/{pid}/ns/net") != os.readlink(f"/proc/{capture.pid()}/ns/net")
    os.kill(pid, signal.SIGKILL)
    capture.expect("tcpdump was ended by signal 9")
    talk.send(5)  # our own lines
    assert "127.0.0.1" in testbed.lines_until(capture.popen.stdout, time.monotonic() + 10, "127.0.0.1")
    capture.end(signo=signal.SIGINT)


def test_no_control_characters_reach_the_terminal(bed):
    """An SSID and a domain name with escape sequences."""
    ssid = b"\x1b]0;gotcha\x07\x1b[2J"
    beacon = (struct.pack("<HH6s6s6sH", 0x80, 0, b"\xff" * 6, b"\2" * 6, b"\2" * 6, 0) +
              struct.pack("<QHH", 1, 100, 1) + bytes([0, len(ssid)]) + ssid)
    name = b"\x03\x1b[m\x03com\x00"
    dns = struct.pack(">HHHHHH", 1, 0x100, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1)
    udp = struct.pack(">HHHH", 5000, 53, 8 + len(dns), 0) + dns
    packet = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, b"\x7f\0\0\1", b"\x7f\0\0\1") + udp
    ether = b"\2" * 6 + b"\4" * 6 + b"\x08\0" + packet
    for linktype, frame in ((105, beacon), (1, ether)):
        file = bed.tmp_path / f"{linktype}.pcap"
        file.write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, linktype) +
                         struct.pack("<IIII", 1, 1, len(frame), len(frame)) + frame)
        for dissector in ("tcpdump", "tshark", "short"):
            capture = Capture(bed, "-r", file, "--dissector", dissector, ready=None)
            out = capture.end()
            assert out.strip() and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out), (dissector, out)


def test_no_control_characters_of_names_reach_the_terminal(bed):
    """The kernel takes any name without a slash or a space."""
    name = "a\x1b[2J\x07\u009b"
    testbed.veth(bed.ns, name, bed.namespace(), "out0")
    said = bed.ns.run(BUILD / "saluki", "capture", "-D", stdout=subprocess.PIPE).stdout
    capture = Capture(bed, "-i", name, "-w", bed.out)
    capture.end(signo=signal.SIGINT)
    assert "a?[2J???" in said
    for text in (said, capture.said):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_the_list_of_interfaces(bed, trace):
    testbed.veth(bed.ns, "in0", bed.namespace(), "out0")
    bed.tun("mon0", 803, trace)
    said = bed.ns.run(BUILD / "saluki", "capture", "-D", stdout=subprocess.PIPE).stdout
    assert re.search(r"^\d+\.lo \[up, loopback\] Ethernet frames$", said, re.M)
    assert re.search(r"^\d+\.in0 \[up\] Ethernet frames$", said, re.M)
    assert re.search(r"^\d+\.mon0 \[up, monitor\] 802\.11 frames with a radiotap header$", said, re.M)


def beside(first):
    return f"saluki: lo: another saluki captures here, process {first.pid()}; packet sockets are used, which capture " \
           "beside it\n"


def test_a_second_capture_of_an_interface_uses_packet_sockets(bed, talk):
    """Both see all frames, whichever ends first, and `saluki status` finds the first one."""
    testbed.veth(bed.ns, "in0", bed.namespace(), "out0")
    first = Capture(bed, "-i", "lo", "-w", bed.out, DATAGRAMS)
    files = [bed.tmp_path / f"{n}.pcapng" for n in range(2)]
    second = Capture(bed, "-i", "in0", "-i", "lo", "-w", files[0], DATAGRAMS, ready="lo: capturing by")
    third = Capture(bed, "-i", "lo", "-w", files[1], DATAGRAMS)
    for capture in (second, third):
        assert beside(first) in capture.said and "lo: capturing by mmap v3" in capture.said
        assert "not locked" not in capture.said and "no control socket" not in capture.said
    talk.send(100)
    second.end(signo=signal.SIGINT)
    status = bed.ns.run(BUILD / "saluki", "status", "-i", "lo", stdout=subprocess.PIPE).stdout
    assert f"{first.pid()}" in status and "by tc" in status
    first.end(signo=signal.SIGINT)
    talk.send(100)
    fourth = Capture(bed, "-i", "lo", "-n", DATAGRAMS)
    assert "another saluki" not in fourth.said
    fourth.end(signo=signal.SIGINT)
    third.end(signo=signal.SIGINT)
    assert [len(list(captures.frames(file))) for file in (bed.out, *files)] == [100, 100, 200]
    assert all(capture.ledger()["balance"] == 0 for capture in (first, second, third))


@pytest.mark.parametrize("words", ["--source tc", "--ring bpf"])
def test_a_second_capture_that_packet_sockets_cannot_do_is_refused(bed, words):
    first = Capture(bed, "-i", "lo", "-w", bed.out)
    second = Capture(bed, "-i", "lo", *words.split(), ready=None)
    second.end(status=1)
    assert f"saluki: lo: another saluki captures here, process {first.pid()}; stop it first" in second.said
    assert second.said.endswith("saluki: lo: or leave out --source, --ring, --channel, --monitor and --consume: packet "
                                "sockets can capture beside it\n")
    first.end(signo=signal.SIGINT)


def test_an_interface_may_be_given_by_its_number(bed, talk):
    """The number of the list, unless it is a name."""
    testbed.veth(bed.ns, "in0", bed.namespace(), "out0")
    said = bed.ns.run(BUILD / "saluki", "capture", "-D", stdout=subprocess.PIPE).stdout
    number = re.search(r"^(\d+)\.lo ", said, re.M).group(1)
    capture = Capture(bed, "-i", number, "-c", "1", "-n", DATAGRAMS)
    talk.send(1)
    assert numbers(capture.end()) == [] and "saluki: lo: capturing by" in capture.said
    for words, said in ((["-i", "lo", "-i", number], "-i lo: given twice"), (["-i", "99"], "99: no such interface;")):
        refused = Capture(bed, *words, ready=None)
        refused.end(status=1 if "99" in words else 2)
        assert refused.said.startswith(f"saluki: {said}")
    testbed.veth(bed.ns, number, bed.namespace(), "out1")
    capture = Capture(bed, "-i", number, "-w", bed.out)
    capture.end(signo=signal.SIGINT)
    assert f"saluki: {number}: capturing by" in capture.said


def test_a_series_of_files(bed, talk):
    capture = Capture(bed, "-i", "lo", "-w", bed.tmp_path / "ring.pcapng", "-C", "1", "-W", "2", "--combo-age", "20")
    for _ in range(20):
        talk.send(1000)
    capture.end(signo=signal.SIGINT)
    assert capture.ledger()["balance"] == 0
    assert len(list(bed.tmp_path.glob("ring_*.pcapng"))) == 2


def test_a_ring_of_an_earlier_capture_stays(bed, talk):
    """As with dumpcap, whose -b files: counts the files of one run."""
    def files_of_a_run():
        before = set(bed.tmp_path.glob("ring_*.pcapng"))
        capture = Capture(bed, "-i", "lo", "-w", bed.tmp_path / "ring.pcapng", "-C", "1", "-W", "2", "--combo-age", "20")
        for _ in range(20):
            talk.send(1000)
        capture.end(signo=signal.SIGINT)
        after = set(bed.tmp_path.glob("ring_*.pcapng"))
        assert before <= after
        return {path: path.read_bytes() for path in after - before}

    first = files_of_a_run()
    assert len(first) == 2 and len(files_of_a_run()) == 2
    assert {path: path.read_bytes() for path in first} == first


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_standard_descriptors(bed, talk, closed):
    """None of the capture's own files gets a number of theirs, and a capture ends."""
    capture = Capture(bed, "-c", f"exec {BUILD}/saluki capture -i lo -c 5 -w {bed.out} {DATAGRAMS} {closed}",
                      program="/bin/sh", ready=None)
    testbed.wait_for(lambda: bed.out.exists() and bed.out.stat().st_size, "the collector's file")
    talk.send(20)
    capture.end()
    assert len(list(captures.frames(bed.out))) == 5
    for program, words in (("saluki", "capture -i lo"), ("saluki-collector", "--listen :1 --key k --sensors s"),
                           ("saluki-live", "")):
        got = bed.ns.run("sh", "-c", f"exec {BUILD}/{program} {words} -w - 1>&-", stderr=subprocess.PIPE, check=False)
        assert got.returncode == 2 and got.stderr == f"{program}: -w -: standard output is closed, or cannot be written\n"


@pytest.mark.parametrize("words,said", [
    ("-w f", "capture: -i IF is missing; 'saluki capture -D' lists interfaces"),
    ("-i lo -r f", "capture: give either -i IF or -r FILE"),
    ("-i lo -C 1", "capture: -C, -G and -W go with -w FILE"),
    ("-i lo -c 0", "--frames 0: must be a whole number from 1"),
    ("-i lo --dissector wireshark", "--dissector wireshark: must be auto, tcpdump, tshark or short"),
])
def test_bad_usage(words, said):
    got = subprocess.run([BUILD / "saluki", "capture", *words.split()], capture_output=True, text=True, check=False)
    assert got.returncode == 2 and got.stderr.startswith(f"saluki: {said}") and got.stderr.count("\n") == 1
