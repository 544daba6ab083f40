# SPDX-License-Identifier: GPL-2.0
"""Consumers: unprivileged programs that read a module's events and maps on the sensor."""
import collections
import contextlib
import os
import pathlib
import pty
import re
import signal

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.test_loader import attach, saluki
from netns.test_modules import GRANTS, fixture_modules, fixture_wire  # noqa: F401 (fixtures)
from netns.testbed import BUILD, ROOT
from reference import captures
from reference.captures import Frame
from reference.test_reference import write_pcap

CONSUMER = ROOT / "build/tests/consumer"


class Consumer(testbed.Process):
    """`program`: a file, or a command's name."""

    def __init__(self, bed, module, *args, program=CONSUMER, options=(), ready="ready", env=None):
        if isinstance(program, pathlib.Path):
            program = testbed.for_anybody(program, bed.tmp_path)
        self.file = bed.tmp_path / f"consumed.{len(list(bed.tmp_path.glob('consumed.*')))}"
        with self.file.open("w") as out:
            super().__init__(bed.ns, [BUILD / "saluki", "module", "consume", "-i", "tap0", *options,
                                      module, "--", program, *args], ready, stdout=out, env=env)
        bed.stack.callback(self.kill_all)

    def kill_all(self):
        if self.popen.poll() is None:
            super().kill_all()

    def program(self):
        """Its process id."""
        return testbed.with_children(self.popen.pid)[1]

    def lines(self):
        return self.file.read_text().splitlines()

    def events(self):
        """(time, serial, direction, bytes of the event)"""
        return [(int(t), int(s), int(d), bytes.fromhex(said))
                for t, s, d, said in map(str.split, self.lines())]

    def ended(self, status=0):
        """Waits for its own end; returns its output."""
        got, said = self.finish(None)
        assert got == status, said
        return said


def numbers(wire):
    return [f.data[6:12] for f in wire]


def play(bed, wire, rate=10000):
    assert bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", str(rate)]).play() == len(wire)


def end(bed, collector, sensor, wire):
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(wire))


@pytest.mark.alone  # a consumer without a CPU for a second misses events
@pytest.mark.parametrize("options", [("--source", "xdp"), ("--source", "tc"),
                                     ("--ring", "mapped")])
def test_it_has_every_event(bed, modules, wire, options):
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384", *options])
    modules.load(modules.copy("each"))
    consumer = Consumer(bed, "each")
    play(bed, wire)
    stats = modules.stats()["each"]
    assert stats["events"] == len(wire) and stats["events_unread"] == 0
    modules.unload("each")
    assert "tap0: each was unloaded\n" in consumer.ended()
    end(bed, collector, sensor, wire)
    events = consumer.events()
    assert [e[3] for e in events] == numbers(wire)
    assert {e[1:3] for e in events} == {(1, 1)}
    assert len(captures.said(bed.out)) == len(wire)  # the collector has them, too
    # The same clocks, read by two programs.
    for said, (time_ns, *_) in zip(captures.said(bed.out), events):
        assert abs(said["time_ns"] - time_ns) < 5_000_000


def test_it_reads_maps_of_each_cpu(bed, modules):
    """The module's own consumer reads the maps of every CPU."""
    protocols = [i * i % 97 for i in range(20000)]
    wire = [Frame(i, 60, 1, bytes(12) + b"\x08\x00\x45\x00\x00\x2e" + bytes(5) + bytes([p]) + bytes(36))
            for i, p in enumerate(protocols)]
    write_pcap(bed.tmp_path / "wire.pcap", 1, wire)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("count"))
    consumer = Consumer(bed, "count", program=ROOT / "build/modules/count", ready=None)
    play(bed, wire)
    modules.unload("count")
    consumer.ended()
    end(bed, collector, sensor, wire)
    words = list(map(int, consumer.lines()[-1].split()))
    assert dict(zip(words[::2], words[1::2])) == collections.Counter(protocols)


def test_it_can_do_nothing_else(bed, modules, wire):
    assert wire
    bed.collector()
    bed.sensor("lib", "tap0")
    modules.load(modules.copy("each"))
    modules.load(modules.copy("count"))
    script = ("id -u; id -g; id -G; grep -E '^(Cap|NoNewPrivs)' /proc/self/status; "
              "ls -l /proc/self/fd; "
              "echo $LANG,$SECRET,$SALUKI_MODULE,$SALUKI_EVENTS,$SALUKI_MAPS")
    left, right = os.pipe()  # open in the process that starts it
    try:
        got = bed.ns.run(BUILD / "saluki", "module", "consume", "-i", "tap0", "count", "--", "sh", "-c",
                         script, capture_output=True, check=False, pass_fds=(right,),
                         env=os.environ | {"LANG": "C.UTF-8", "SECRET": "of root"})
    finally:
        os.close(left)
        os.close(right)
    assert got.returncode == 0 and got.stderr == "saluki: tap0: sh reads what count says\n", got
    uid, gid, groups, *rest = got.stdout.splitlines()
    assert (uid, gid, groups) == ("65534", "65534", "65534")
    status = dict(line.split(":\t") for line in rest if ":\t" in line)
    assert status.pop("NoNewPrivs") == "1" and len(status) == 5
    assert set(status.values()) == {"0" * 16}
    fds = re.findall(r" (\d+) -> ([^\s\[]+)", "\n".join(rest))
    assert [int(n) for n, what in fds if not what.startswith("/proc/")] == list(range(6))  # except ls's own
    assert [what for _, what in fds[3:6]] == ["anon_inode:bpf-map", "pipe:", "anon_inode:bpf-map"]
    assert rest[-1] == "C.UTF-8,,count,3:1048576:4,counts:5"


def test_it_reaches_no_other_process(bed, modules, wire):
    """A consumer cannot reach the capture or the collector, which run as nobody here, too."""
    assert wire
    collector, sensor = bed.collector(), bed.sensor("lib", "tap0")
    modules.load(modules.copy("count"))
    others = [pid for p in (collector, sensor) for pid in testbed.with_children(p.popen.pid)]
    assert any(os.stat(f"/proc/{pid}").st_uid == 65534 for pid in others)
    script = "sleep 9 & kill $! && echo mine; for p; do kill -0 $p 2> /dev/null && echo $p; done; :"
    got = bed.ns.run(BUILD / "saluki", "module", "consume", "-i", "tap0", "count", "--", "sh", "-c",
                     script, "sh", *others, capture_output=True)
    assert got.stdout == "mine\n"


def test_it_cannot_type(bed, modules, wire):
    """A consumer cannot type at the terminal it was started from."""
    assert wire
    bed.collector()
    bed.sensor("lib", "tap0")
    modules.load(modules.copy("count"))
    script = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x')"
    command = [BUILD / "saluki", "module", "consume", "-i", "tap0", "count", "--", "/usr/bin/python3", "-c",
               script]
    said = []
    pid, terminal = pty.fork()
    if pid == 0:
        command = bed.ns.command(command)
        os.execvp(command[0], command)
    with contextlib.suppress(OSError):  # EIO is its end
        while data := os.read(terminal, 4096):
            said.append(data)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    assert re.search(rb"Error: .* (not permitted|error)", b"".join(said)), said


def test_it_cannot_write(bed, modules, wire):
    """A consumer cannot write to the maps or the ring, and gets only the descriptors handed to
    it."""
    assert wire
    bed.collector()
    bed.sensor("lib", "tap0")
    modules.load(modules.copy("count"))
    consumer = Consumer(bed, "count", "--attack")
    modules.unload("count")
    consumer.ended()
    tried = dict(line.split(": ") for line in consumer.lines())
    assert tried.pop("ask") in ("done", "EPERM")  # by kernel: a reader may ask about its own maps
    assert tried.pop("open again") in ("ENXIO", "EACCES")
    assert len(tried) == 12 and set(tried.values()) <= {"EPERM", "EACCES", "EOPNOTSUPP"}, tried


@pytest.mark.parametrize("how", ["--still", "--lie"])
def test_what_it_does_not_read_is_counted(bed, modules, wire, how):
    """A consumer that stands still or reports a false position stops neither the capture nor the
    events to the collector."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("each"))
    consumer = Consumer(bed, "each", how, options=["-B", "4"])
    play(bed, wire)
    stats = modules.stats()["each"]
    assert stats["events"] == len(wire) and stats["events_unread"] > 0
    if how == "--still":  # 96 bytes with the kernel's header
        assert stats["events_unread"] == len(wire) - 4096 // 96
    modules.unload("each")
    consumer.ended()
    end(bed, collector, sensor, wire)
    assert [bytes.fromhex(s["data"]) for s in captures.said(bed.out)] == numbers(wire)


def test_a_module_that_is_replaced(bed, modules, wire):
    """After a replacement, the old module's consumer gets all its events, and then the end."""
    each = modules.copy("each")
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "5000"])
    modules.load(each)
    first = Consumer(bed, "each")
    sender.go()
    testbed.wait_for(lambda: modules.stats()["each"]["events"] > 1000, "events")
    modules.load(each)
    assert "tap0: each was replaced by serial 2, whose maps are others; start" in first.ended()
    assert sender.played() == len(wire)
    end(bed, collector, sensor, wire)
    events = first.events()
    assert {e[1] for e in events} == {1}
    by_first = [bytes.fromhex(s["data"]) for s in captures.said(bed.out) if s["serial"] == 1]
    assert [e[3] for e in events] == by_first and len(by_first) < len(wire)


def test_the_end_of_the_capture(bed, modules, wire):
    assert wire
    bed.collector()
    sensor = bed.sensor("lib", "tap0")
    modules.load(modules.copy("each"))
    consumer = Consumer(bed, "each")
    assert sensor.finish()[0] == 0
    assert "tap0: is captured no more\n" in consumer.ended()


@pytest.mark.parametrize("priority", [100, 0])
def test_without_a_collector(bed, modules, wire, priority):
    """Without a collector, the capture's ring fills after some hundred frames: events still reach
    the consumer."""
    attach(bed, "-i", "tap0", "-B", "64")
    modules.allow(GRANTS.format(events=1000000).replace("Priority = 100", f"Priority = {priority}"))
    modules.load(modules.copy("each"))
    consumer = Consumer(bed, "each")
    # A second's frames are a quarter of it, so a loaded machine may take longer.
    play(bed, wire, rate=5000)
    stats = modules.stats()["each"]
    assert stats["frames"] + stats["skipped"] == len(wire)
    assert stats["events"] + stats["events_lost"] == stats["frames"] and stats["events_lost"] > 0
    modules.unload("each")
    consumer.ended()
    said = [e[3] for e in consumer.events()]
    if priority == 100:
        assert said == numbers(wire)
    else:  # it is left out while the ring may still be read: one second
        assert 0 < stats["skipped"] < 15000 and len(said) == stats["frames"]
        assert said[-5000:] == numbers(wire)[-5000:]
    status, said = saluki(bed, "detach", "-i", "tap0")
    assert status == 0 and "were in the ring and not exported" in said


def test_one_at_a_time(bed, modules, wire):
    """Only one consumer runs at a time; after its keeper is killed, the next one may start."""
    assert wire
    bed.collector()
    bed.sensor("lib", "tap0")
    modules.load(modules.copy("each"))
    modules.load(modules.copy("count"))
    first = Consumer(bed, "each")
    second = Consumer(bed, "each", ready=None)
    assert f"another saluki reads the events of that module, process {first.popen.pid};" in second.ended(1)
    other = Consumer(bed, "count")
    program = first.program()
    first.kill()
    testbed.wait_ended(program)
    Consumer(bed, "each").finish(signal.SIGINT)
    assert other.finish(signal.SIGTERM)[0] == 0
    assert bed.ns.run("ls", "/sys/fs/bpf/saluki/tap0", capture_output=True).stdout.count("events") == 0


@pytest.mark.parametrize("program,status,line", [
    (["sh", "-c", "exit 7"], 7, ""),
    (["/nowhere"], 1, "/nowhere: cannot be run by user nobody: No such file or directory\n"),
    (["sh", "-c", "kill -9 $$"], 1, "sh: was ended by signal 9 (Killed)\n"),
    (["sh", "-c", "trap 'exit 3' TERM; echo ready >&2; while :; do read x <&4; done"], 3, "ready\n"),
])
def test_how_it_ends(bed, modules, wire, program, status, line):
    assert wire
    bed.collector()
    bed.sensor("lib", "tap0")
    modules.load(modules.copy("each"))
    consumer = Consumer(bed, "each", *program[1:], program=program[0], ready=None)
    if line == "ready\n":
        consumer.expect(line)
        os.kill(consumer.popen.pid, signal.SIGTERM)
    assert line in consumer.ended(status)


def test_what_is_not_there(bed, modules, wire):
    assert wire
    got = modules.run("consume", "-i", "tap0", "each", "--", "true")
    assert got.returncode == 1 and "nothing is attached there" in got.stderr
    bed.collector()
    bed.sensor("lib", "tap0")
    got = modules.run("consume", "-i", "tap0", "each", "--", "true")
    assert got.returncode == 1 and "no module each there; 'saluki module list'" in got.stderr
    modules.load(modules.copy("each"))
    got = modules.run("consume", "-i", "tap0", "--user", "no-such", "each", "--", "true")
    assert got.returncode == 1 and "user no-such: does not exist" in got.stderr
    for words in (["-i", "tap0", "each"], ["each", "--", "true"], ["-i", "tap0", "-B", "x", "each", "--", "true"]):
        assert modules.run("consume", *words).returncode == 2
