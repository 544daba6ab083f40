# SPDX-License-Identifier: GPL-2.0
"""Orders to sensors: `saluki-collector ctl` during a capture, refused orders, and other clients of
the control socket."""
import contextlib
import os
import pathlib
import signal
import socket
import stat

import pytest

from netns import testbed
from netns.compare import assert_same
from netns.test_refilter import EVEN, ODD, number
from netns.test_restart import numbered, written
from reference import captures
from reference.test_reference import write_pcap

COUNT = 2000
BOTH = ("--allow-control", "filter,snaplen")
BEYOND = ("set", "snaplen", "99999")  # is understood, fails and changes nothing


@pytest.fixture(name="wire")
def fixture_wire(bed, bundled):
    frames = numbered(bundled, COUNT)
    write_pcap(bed.tmp_path / "wire.pcap", 1, frames)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    return frames


def ctl(bed, *words, timeout=60, options=()):
    return bed.ns.run(testbed.BUILD / "saluki-collector", "ctl", "--timeout", timeout, *options, *words,
                      check=False, capture_output=True)


def ordered(bed, *words, said=None, **kwargs):
    """Sends an order that must succeed."""
    done = ctl(bed, "lib", *words, **kwargs)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert said is None or done.stdout == said + "\n"


def refused(bed, said, *words, name="lib", status=1, **kwargs):
    done = ctl(bed, name, *words, **kwargs)
    assert done.returncode == status and done.stdout == "" and said in done.stderr, done


def in_session(bed):
    testbed.wait_for(lambda: "there is memory" in ctl(bed, "lib", *BEYOND).stderr, "a session", 30)


def play(bed, collector, expected):
    """Plays all frames once; returns when their kept parts are written."""
    assert bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "20000"]).play() == COUNT
    testbed.wait_for(lambda: written(collector) == expected, f"{expected} frames", 30)


def assert_ended(bed, sensor, collector, seen):
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == 0 and stats["seen"] == seen
    return said


@pytest.mark.parametrize("options", [("--source", "xdp"), ("--source", "tc"), ("--ring", "mapped"),
                                     ("--source", "mmap"), ("--source", "xsk")])
def test_set_while_it_runs(bed, wire, options):
    """Snaplen and filter can be set with every source; frames after the answer are captured as
    ordered."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384", *options, *BOTH])
    play(bed, collector, COUNT)
    ordered(bed, "set", "snaplen", "96", said="snaplen 96")
    play(bed, collector, 2 * COUNT)
    ordered(bed, "set", "filter", EVEN, said=f"filter '{EVEN}'")
    play(bed, collector, 2 * COUNT + COUNT // 2)
    ordered(bed, "set", "filter", ODD)
    ordered(bed, "set", "snaplen", "192", said="snaplen 192")
    refused(bed, "from 1 to 192, for which there is memory", "set", "snaplen", "193")
    play(bed, collector, 3 * COUNT)
    ordered(bed, "set", "filter", said="no filter")
    play(bed, collector, 4 * COUNT)
    said = assert_ended(bed, sensor, collector, 5 * COUNT)
    assert said.count("by order of the collector") == 5
    got = list(captures.frames(bed.out))
    for part, sent, snaplen in ((got[:COUNT], wire, 192), (got[COUNT:2 * COUNT], wire, 96),
                                (got[2 * COUNT:5 * COUNT // 2], wire[::2], 96),
                                (got[5 * COUNT // 2:3 * COUNT], wire[1::2], 192),
                                (got[3 * COUNT:], wire, 192)):
        assert_same(sent, part, snaplen=snaplen, stamps=False)
    blocks = bed.ns.run("capinfos", bed.out, capture_output=True).stdout
    assert f"Filter string = {EVEN}" in blocks and f"Filter string = {ODD}" in blocks
    assert "Capture length = 96" in blocks


@pytest.mark.parametrize("source", ["xdp", "tc", "mmap"])
def test_under_load(bed, wire, source):
    """Each frame is kept by the old snaplen or by the new one, and is there once."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384", "--source", source, *BOTH])
    in_session(bed)
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "5000", "--loop"])
    sender.go()
    testbed.wait_for(lambda: written(collector) > 100, "frames", 30)
    for n in range(10):
        ordered(bed, "set", "snaplen", str(96 if n % 2 == 0 else 192))
    count = sender.stop()
    assert_ended(bed, sensor, collector, count)
    got = list(captures.frames(bed.out))
    assert len(got) == count
    for n, frame in enumerate(got):
        whole = wire[n % COUNT].data
        assert frame.data in (whole[:96], whole[:192]) and number(frame) == n % COUNT


def test_of_several_interfaces(bed, wire):
    """An order is for all interfaces; a filter that one of them cannot have is set on none."""
    testbed.veth(bed.ns, "veth1", bed.ns, "tap1")
    bed.tun("mon0", 803, bed.tmp_path / "wire.pcap")
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-i", "tap1", "--source", "tc", *BOTH])
    in_session(bed)
    ordered(bed, "set", "filter", "tcp port 80")
    said = sensor.finish()[1]
    assert "tap0: filter 'tcp port 80'" in said and "tap1: filter 'tcp port 80'" in said
    sensor = bed.sensor("lib", "tap0", options=["-i", "mon0", *BOTH])
    in_session(bed)
    refused(bed, "tap0: filter 'wlan type mgt'", "set", "filter", "wlan type mgt")
    status, said = sensor.finish()
    assert status == 0 and "from now on" not in said
    collector.finish()


def test_what_is_not_allowed(bed, wire):
    """Only orders named on the command line are allowed; bad usage is found before any sensor is
    asked."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0")
    testbed.wait_for(lambda: "no session" not in ctl(bed, "lib", *BEYOND).stderr, "a session", 30)
    refused(bed, "runs without --allow-control snaplen", "set", "snaplen", "96")
    refused(bed, "runs without --allow-control filter", "set", "filter", "tcp")
    assert "from now on" not in sensor.finish()[1]
    sensor = bed.sensor("lib", "tap0", options=["--allow-control", "snaplen"])
    in_session(bed)
    refused(bed, "runs without --allow-control filter", "set", "filter", "tcp")
    ordered(bed, "set", "snaplen", "96")
    assert sensor.finish()[0] == 0
    for words in (("set", "snaplen", "x"), ("set", "colour", "red"), ("reboot",), ()):
        refused(bed, "see 'saluki-collector ctl --help'", *words, status=2)
    refused(bed, "nobody: no such sensor", "set", "filter", "tcp", name="nobody")
    refused(bed, "two: has no session", "set", "filter", "tcp", name="two")
    collector.finish()
    refused(bed, "is a collector running there?", "set", "filter", "tcp")


def compiler_of(sensor):
    """The process that compiles filters is the unprivileged process's only child."""
    unprivileged = testbed.with_children(sensor.pid())[1]
    compilers = testbed.with_children(unprivileged)[1:]
    assert len(compilers) == 1
    return compilers[0]


def test_filters_that_are_none(bed, wire):
    """Invalid filters from the network harm nothing: no name is looked up, and the compiling
    process may end."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["--source", "tc", *BOTH])
    in_session(bed)
    names = () if "sanitize" in str(testbed.BUILD) else ("host localhost", "tcp port http")  # no sandbox
    for text in (*names, "tcp or", "wlan type mgt", "((((", "protochain 6", "proto " * 150, "ip[" * 300,
                 "inbound"):
        refused(bed, "filter '", "set", "filter", *text.split())
    for text in (" or ".join(f"ip[{n}]=1" for n in range(80)), "(" * 450 + "tcp" + ")" * 450):
        assert ctl(bed, "lib", "set", "filter", text).returncode in (0, 1)  # libpcap may accept it
    ordered(bed, "set", "filter", "tcp port 80 or host 10.0.0.1")
    compiler = compiler_of(sensor)
    status = pathlib.Path(f"/proc/{compiler}/status").read_text()
    assert "CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status
    assert len(os.listdir(f"/proc/{compiler}/fd")) == 4  # the standard three, and its socket
    os.kill(compiler, signal.SIGKILL)
    testbed.wait_ended(compiler)
    refused(bed, "compile", "set", "filter", "tcp")
    ordered(bed, "set", "filter")
    ordered(bed, "set", "snaplen", "96")
    play(bed, collector, COUNT)
    assert_ended(bed, sensor, collector, COUNT)


def test_each_once_on_a_bad_network(bed, wire):
    """Lost orders and answers are repeated, and carried out once."""
    collector = bed.collector()
    relay = bed.relay()
    sensor = bed.sensor("lib", "tap0", to=relay.address, options=["--source", "tc", *BOTH])
    in_session(bed)
    relay("loss 30", "duplicate 30")
    for n in range(10):
        ordered(bed, "set", "snaplen", str(100 + n), said=f"snaplen {100 + n}")
    relay("loss 0", "duplicate 0")
    said = assert_ended(bed, sensor, collector, 0)
    assert said.count("from now on, by order of the collector") == 10


def test_nobody_answers(bed, wire):
    """If a sensor hangs, ctl gives up, and the next order follows."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["--source", "tc", *BOTH])
    in_session(bed)
    unprivileged = testbed.with_children(sensor.pid())[1]
    os.kill(unprivileged, signal.SIGSTOP)
    refused(bed, "no answer in 1 s", "set", "snaplen", "96", timeout=1)
    os.kill(unprivileged, signal.SIGCONT)
    in_session(bed)
    ordered(bed, "set", "snaplen", "97", said="snaplen 97")
    assert_ended(bed, sensor, collector, 0)


def test_of_one_that_does_not_hear(bed, wire):
    bed.keys.sensors.write_text(bed.keys.sensors.read_text().replace("\n", " one-way\n"))
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["--one-way"])
    testbed.wait_for(lambda: "no session" not in ctl(bed, "lib", "set", "snaplen", "96").stderr,
                     "a session", 30)
    refused(bed, "lib: exports one way (--one-way), it hears no orders", "set", "snaplen", "96")
    assert sensor.finish()[0] == 0
    assert collector.finish()[0] == 0


def test_of_a_file(bed, wire):
    """A run that reads a pipe takes a snaplen; its filter stays."""
    collector = bed.collector()
    data = (bed.tmp_path / "wire.pcap").read_bytes()
    fifo = bed.tmp_path / "fifo"
    os.mkfifo(fifo, 0o644)
    reader = bed.reader("lib", fifo, options=BOTH)
    with open(fifo, "wb") as pipe:
        pipe.write(data)
        pipe.flush()
        testbed.wait_for(lambda: written(collector) == COUNT, "the first frames", 30)
        refused(bed, "for good", "set", "filter", "tcp")
        ordered(bed, "set", "snaplen", "96")
        pipe.write(data[24:])
    status, said = reader.finish(signo=None)
    assert status == 0, said
    collector.finish()
    got = list(captures.frames(bed.out))
    assert_same(wire, got[:COUNT])
    assert_same(wire, got[COUNT:], snaplen=96)


def ask(path, request):
    """A client of the control socket; its reply, b"" if there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(60)
        s.connect(str(path))
        with contextlib.suppress(BrokenPipeError):
            s.send(request)
        try:
            return s.recv(4096)
        except ConnectionResetError:
            return b""


def test_hostile_clients(bed, wire):
    """The socket belongs to its owner alone. Malformed or silent clients delay no other."""
    path = bed.tmp_path / "control"
    collector = bed.collector(options=["--control", path])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    sensor = bed.sensor("lib", "tap0", options=BOTH)
    to = {"options": ["--control", path]}
    testbed.wait_for(lambda: "there is memory" in ctl(bed, "lib", *BEYOND, **to).stderr, "a session", 30)
    for request in (b"lib", b" ", b"lib \n", b"lib set\0snaplen", b"x" * 5000, b"lib " + b"x" * 2000,
                    b"\xff" * 100, b"lib set snaplen 96\n", bytes(32) + b" set snaplen 96"):
        assert ask(path, request).startswith(b"1 "), request
    assert ask(path, b"lib reboot").startswith(b"1 not understood")
    assert ask(path, b"lib set snaplen 96") == b"0 snaplen 96"
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            s = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            s.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                s.connect(str(path))
        play(bed, collector, COUNT)
    testbed.wait_for(lambda: ask(path, b"lib set snaplen 97") == b"0 snaplen 97", "a free place", 30)
    other = testbed.Process(bed.ns, [testbed.BUILD / "saluki-collector", "--listen", "127.0.0.1:5601",
                                     "--key", bed.keys.collector, "--sensors", bed.keys.sensors, "-w",
                                     bed.tmp_path / "other.pcapng", "--control", path], None)
    status, said = other.finish(signo=None)
    assert status == 1 and "another process listens there" in said
    assert_ended(bed, sensor, collector, COUNT)
    assert not path.exists()


@pytest.mark.parametrize("source", ["tc", "mmap"])
def test_interface_changes_its_type(bed, bundled, source):
    """An ordered filter is code for one link type. For another it is not used, and the privileged
    process does not compile the collector's words again."""
    collector = bed.collector()
    player = bed.tun("tap0", 1, bundled)
    sensor = bed.sensor("lib", "tap0", options=["--source", source, *BOTH])
    in_session(bed)
    ordered(bed, "set", "filter", "ether[0] = 0")
    bed.ns.run("ip", "link", "set", "tap0", "down")
    player.retype(803)
    bed.ns.run("ip", "link", "set", "tap0", "up")
    sensor.expect("tap0: is of another type now")
    assert "the one given at the start is in force again" in sensor.said
    sensor.expect("link type IEEE802_11_RADIO")
    testbed.wait_for(lambda: ctl(bed, "lib", "set", "filter", "wlan type mgt").returncode == 0,
                     "the new type to be known", 30)
    status, said = sensor.finish()
    assert status == 0 and "tap0: filter 'wlan type mgt' from now on" in said, said
    collector.finish()
