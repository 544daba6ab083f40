# SPDX-License-Identifier: GPL-2.0
"""The printing process: the choice of the dissector, the sandbox, and what happens when a process ends."""
import contextlib
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from print import printer
from reference import captures

ETHERNET = captures.file_bytes(captures.OWN.root / "wired/names-4.pcap.zst")
RADIOTAP = captures.file_bytes(captures.BUNDLED)
HEADER = 24
ARP = bytes.fromhex("ffffffffffff0200000000010806" "0001080006040001" "020000000001" "0a000001" "000000000000" "0a000002")
ARP_LINE = "ARP, Request who-has 10.0.0.2 tell 10.0.0.1, length 28"
ACK = bytes.fromhex("0000080000000000" "d4000000" "020000000001")


def records(data):
    """The records of a pcap file, each with its header."""
    at = HEADER
    while at < len(data):
        size = 16 + int.from_bytes(data[at + 8:at + 12], "little")
        yield data[at:at + size]
        at += size


UNSHARE = ("unshare", "--user", "--net", "true")  # not every system permits it


class Live:
    """The printing process, fed through a pipe step by step."""

    def __init__(self, *args, env=printer.ENVIRONMENT, before=()):
        self.process = subprocess.Popen([*before, printer.PRINTER, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=env)
        self.text = b""

    def feed(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def lines(self, count, seconds=20):
        """Waits until so many lines have come."""
        until = time.monotonic() + seconds
        while self.text.count(b"\n") < count:
            assert select.select([self.process.stdout], [], [], until - time.monotonic())[0], self.text
            more = os.read(self.process.stdout.fileno(), 65536)
            assert more, (self.text, self.process.stderr.read())
            self.text += more
        return self.text.decode().splitlines()

    def said(self, word, seconds=20):
        """Waits for a line on standard error that has this word."""
        text, until = b"", time.monotonic() + seconds
        while word.encode() not in text or not text.endswith(b"\n"):
            assert select.select([self.process.stderr], [], [], until - time.monotonic())[0], text
            more = os.read(self.process.stderr.fileno(), 65536)
            assert more, text
            text += more
        return text.decode()

    def dissector(self):
        """The pid of the process that it started."""
        pid = self.process.pid
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text())

    def end(self, data=None):
        """Feeds the rest, ends the input and waits."""
        out, err = self.process.communicate(data, timeout=60)
        return (self.text + out).decode(), err.decode(), self.process.returncode


@contextlib.contextmanager
def live(*args, **kwargs):
    its = Live(*args, **kwargs)
    try:
        yield its
    finally:
        its.process.kill()
        its.process.wait()


def status(pid):
    return dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())


@pytest.fixture
def only():
    """An environment whose PATH has only these programs; scripts are given by their text. The dissector is another
    user, to whom pytest's folders are closed."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        path.chmod(0o755)

        def environment(*programs, **scripts):
            for name in programs:
                (path / name).symlink_to(shutil.which(name))
            for name, text in scripts.items():
                (path / name).write_text(text)
                (path / name).chmod(0o755)
            return {**printer.ENVIRONMENT, "PATH": folder}
        yield environment


# ---- what prints ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [p for p in printer.own("wired", "radiotap", "dot11-other") if "pcapng" not in p.name],
                         ids=lambda p: p.name.split(".")[0])
def test_tcpdump_prints_what_it_prints_of_the_file(path):
    data = captures.file_bytes(path)
    options = ("-n", "-e", "-v")[:1 + len(path.name) % 3]
    got, said = printer.run(data, "auto", *options)
    assert said == "" and got == printer.tcpdump(data, *options) != ""


def test_a_collectors_stream_is_fed_to_tcpdump_though_it_has_several_interfaces():
    path = captures.OWN.root / "radiotap/school-sensors.pcapng.zst"
    frames = list(captures.frames(path))
    lines = printer.run(captures.file_bytes(path), "tcpdump", "-n")[0].splitlines()
    assert len([line for line in lines if line[0] != "\t"]) == len(frames)


@pytest.mark.parametrize("options", ["-A", "-x", "-X", "-xx", "-XX", "-t", "-tt", "-ttt", "-tttt", "-ttttt", "-vv"])
def test_options_reach_tcpdump(options):
    assert printer.run(ETHERNET, "tcpdump", "-n", options)[0] == printer.tcpdump(ETHERNET, "-n", options)


def test_tshark_prints_if_it_is_asked_for():
    lines = printer.run(ETHERNET, "tshark", "-n")[0].splitlines()
    assert len(lines) == len(list(records(ETHERNET)))
    assert re.match(r"\d\d:\d\d:\d\d\.\d+ ca:44:64:b6:0d:22 → ff:ff:ff:ff:ff:ff ARP 42 Who has", lines[0])


@pytest.mark.parametrize("options, pattern", [
    ("-t", "ca:44"), ("-tt", r"17956112\d\d\.\d{9} "), ("-ttt", r"0\.000000000 "), ("-tttt", r"2026-11-25 12:53:40\.\d{9} "),
    ("-ttttt", r"0\.000000000 "), ("-v", "Frame 1: 42 bytes on wire"), ("-x", r"\d\d:")])
def test_options_reach_tshark(options, pattern):
    text = printer.run(ETHERNET, "tshark", "-n", options)[0]
    assert re.match(r"\s*" + pattern, text)
    assert ("0000  ff ff ff" in text) == (options == "-x")


@pytest.mark.parametrize("dissector", ["short", "tshark"])
def test_the_only_interface_is_named_if_asked(dissector):
    data = printer.section() + printer.interface(1, b"room:eth0") + printer.packet(0, ARP)
    assert ["room:eth0" in printer.run(data, dissector, "-n", *options)[0] for options in ([], ["-i"])] == [False, True]


def test_tshark_names_the_interfaces_of_a_stream_with_several_link_types():
    data = (printer.section() + printer.interface(1, b"room:eth0") + printer.interface(127, b"roof:mon0") +
            printer.packet(0, ARP) + printer.packet(1, ACK) +
            printer.section() + printer.interface(127, b"hall:mon1") + printer.packet(0, ACK))
    lines = printer.run(data, "auto", "-n")[0].splitlines()
    assert [found.group(1) for found in (re.search(r" (\w+:\w+) ", line) for line in lines)] == \
        ["room:eth0", "roof:mon0", "hall:mon1"]
    assert "Who has 10.0.0.2" in lines[0] and "Acknowledgement" in lines[1] and "Acknowledgement" in lines[2]


def test_several_interfaces_of_one_link_type_are_named(only):
    """Whether the stream has them before its first frame, or the capture knows that they will follow."""
    first = printer.section() + printer.interface(1, b"in0") + printer.packet(0, ARP)
    second = printer.interface(1, b"in1") + printer.packet(1, ARP)
    for programs, frame in ((["tcpdump", "tshark"], "Who has 10.0.0.2"), (["tcpdump"], ARP_LINE)):
        env = only(*programs)
        lines = printer.run(first + second, "auto", "-n", "-i", env=env)[0].splitlines()
        lines += printer.run(printer.section() + printer.interface(1, b"in0") + printer.interface(1, b"in1") +
                             printer.packet(0, ARP) + printer.packet(1, ARP), "auto", "-n", env=env)[0].splitlines()
        assert [re.search(r"\b(in\d) ", line).group(1) for line in lines] == ["in0", "in1"] * 2
        assert all(frame in line for line in lines)
        for name in programs:
            (pathlib.Path(env["PATH"]) / name).unlink()


def test_tshark_prints_link_layer_addresses():
    frame = bytes.fromhex("020000000002" "020000000001" "0800") + dns(b"x")[14:]
    for options, addresses in (([], []), (["-e"], ["02:00:00:00:00:01", "02:00:00:00:00:02"])):
        line = printer.run(printer.pcap(1, [frame]), "tshark", "-n", *options)[0]
        assert re.findall(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", line) == addresses and "10.0.0.1" in line


def test_without_tcpdump_it_is_tshark_and_without_both_the_short_line(only):
    data = printer.pcap(1, [ARP])
    assert printer.run(data, "auto", env=only())[0] == f"22:13:20.000005 {ARP_LINE}\n"
    assert "Who has" in printer.run(data, "auto", "-n", env=only("tshark"))[0]
    assert printer.run(data, "auto", "-n", env=only("tcpdump"))[0] == f"22:13:20.000005 {ARP_LINE}\n"


def test_without_tshark_several_link_types_have_short_lines(only):
    data = (printer.section() + printer.interface(1) + printer.interface(127) + printer.packet(0, ARP))
    assert printer.run(data, "auto", "-n", env=only("tcpdump"))[0] == f"00:00:00.000000 {ARP_LINE}\n"


@pytest.mark.parametrize("name", ["tcpdump", "tshark"])
def test_a_dissector_that_is_not_installed_is_named_with_its_package(name, tmp_path):
    done = subprocess.run([printer.PRINTER, name], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"printer: {name} is not installed: install the package {name}, or leave --dissector out\n"


# ---- live --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dissector", ["short", "tcpdump", "tshark"])
def test_a_frame_is_printed_before_the_next_one_comes(dissector):
    with live(dissector, "-n") as its:
        its.feed(ETHERNET[:HEADER])
        for n, record in enumerate(list(records(ETHERNET))[:5]):
            its.feed(record[:7])  # the first bytes of a frame do not delay the one before
            its.feed(record[7:])
            assert len(its.lines(n + 1)) == n + 1
        assert its.end()[2] == 0


def test_a_second_link_type_ends_tcpdump_and_short_lines_go_on():
    with live("auto", "-n") as its:
        its.feed(printer.section() + printer.interface(1, b"room:eth0") + printer.packet(0, ARP) * 500)
        its.lines(500)
        its.feed(printer.interface(127, b"roof:mon0") + printer.packet(1, ACK) + printer.packet(0, ARP))
        lines = its.lines(502)
        out, err, code = its.end()
    assert lines[:500] == [f"00:00:00.000000 {ARP_LINE}"] * 500
    assert lines[500:] == ["00:00:00.000000 roof:mon0 Acknowledgment RA:02:00:00:00:00:01, length 10",
                           f"00:00:00.000000 room:eth0 {ARP_LINE}"]
    assert err == ("printer: tcpdump prints one link type only: from the first frame of link type 127 on, short lines "
                   "go on\n") and code == 0


def test_frames_in_front_of_a_second_link_type_are_all_printed_first():
    data = (printer.section() + printer.interface(1) + printer.packet(0, ARP) * 20000 + printer.interface(127) +
            printer.packet(1, ACK) + printer.packet(0, ARP))
    lines = printer.run(data, "tcpdump", "-n", "-t")[0].splitlines()
    assert lines == [ARP_LINE] * 20000 + ["Acknowledgment RA:02:00:00:00:00:01, length 10", ARP_LINE]


# ---- ends ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dissector", ["tcpdump", "tshark"])
def test_a_dissector_that_is_killed_is_told_and_short_lines_go_on(dissector):
    with live(dissector, "-n") as its:
        its.feed(printer.pcap(1, [ARP] * 3))
        its.lines(3)
        os.kill(its.dissector(), signal.SIGKILL)
        said = its.said("not printed")
        its.feed(printer.pcap(1, [ARP])[HEADER:])
        assert its.lines(4)[3] == f"22:13:20.000005 {ARP_LINE}"
        assert its.end()[2] == 0
    assert said == (f"printer: {dissector} was ended by signal 9 (Killed); up to 0 frames were not printed; short lines "
                    "go on\n")


def test_a_dissector_that_stops_is_ended_and_its_frames_are_counted():
    with live("tcpdump", "-n", "-p", "1") as its:
        its.feed(printer.pcap(1, [ARP]))
        its.lines(1)
        os.kill(its.dissector(), signal.SIGSTOP)
        out, err, code = its.end(printer.pcap(1, [ARP] * 20000)[HEADER:])
    lines, told = out.splitlines(), re.fullmatch(
        r"printer: tcpdump stood still for 1 s and was ended; up to (\d+) frames were not printed; short lines go on\n", err)
    assert told and set(lines) == {f"22:13:20.000005 {ARP_LINE}"} and code == 0
    assert len(lines) + int(told.group(1)) == 20001


def test_a_dissector_that_fails_is_told_with_what_it_said(only):
    env = only(tcpdump="#!/bin/sh\necho 'a \033[31mred\233 word' >&2\nexit 3\n")
    out, said = printer.run(printer.pcap(1, [ARP] * 2), "tcpdump", env=env)
    assert said.startswith("tcpdump: a \\x1b[31mred\\u009b word\n")
    assert re.search(r"printer: tcpdump ended with exit status 3; up to 2 frames were not printed(; short lines go on)?\n",
                     said)


@pytest.mark.parametrize("dissector", ["short", "tcpdump"])
def test_closed_output_ends_it_without_an_error_and_its_feeder_notices(dissector):
    with live(dissector, "-n") as its:
        its.feed(printer.pcap(1, [ARP]))
        its.lines(1)
        its.process.stdout.close()
        its.process.wait(timeout=20)  # without another frame
        assert its.process.returncode == 0 and its.process.stderr.read() == b""
        with pytest.raises(BrokenPipeError):
            its.feed(bytes(1 << 20))


def test_output_that_closes_while_it_is_written_ends_it():
    with live("short") as its:
        its.feed(printer.pcap(1, [ARP] * 1000))
        its.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            while its.process.poll() is None:
                its.feed(printer.pcap(1, [ARP] * 1000)[HEADER:])
        assert its.process.wait(timeout=20) == 0


def test_a_full_disk_is_told():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([printer.PRINTER, "short"], input=printer.pcap(1, [ARP]), stdout=full,
                              stderr=subprocess.PIPE, env=printer.ENVIRONMENT, check=False)
    assert done.returncode == 1 and done.stderr == b"printer: standard output: No space left on device\n"


def test_signals_of_the_terminal_do_not_end_it_before_its_input():
    with live("tcpdump", "-n") as its:
        its.feed(printer.pcap(1, [ARP]))
        its.lines(1)
        for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            its.process.send_signal(signo)
        its.feed(printer.pcap(1, [ARP])[HEADER:])
        assert len(its.lines(2)) == 2 and its.end()[1:] == ("", 0)


@pytest.mark.parametrize("dissector", ["short", "tcpdump"])
def test_a_stream_that_breaks_off_is_told_and_printed_up_to_there(dissector):
    out, said = printer.run(printer.pcap(1, [ARP] * 3)[:-5], dissector, "-n", check=False)
    assert out.splitlines() == [f"22:13:20.000005 {ARP_LINE}"] * 2
    assert said == "printer: the frames to print: the stream ends in the middle of a frame, at byte 193\n"


def test_a_stream_that_never_begins_is_no_error():
    assert printer.run(b"", "auto") == ("", "")
    assert printer.run(printer.section(), "auto") == ("", "")


# ---- confinement -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dissector", ["tcpdump", "tshark"])
def test_neither_process_has_privileges_and_the_dissector_has_no_network(dissector):
    with live(dissector, "-n") as its:
        its.feed(printer.pcap(1, [ARP]))
        its.lines(1)
        child = its.dissector()
        for pid in (its.process.pid, child):
            said = status(pid)
            assert said["Uid"].split() == ["65534"] * 4 and said["Groups"].strip() == ""
            assert {said[f"Cap{which}"] for which in ("Inh", "Prm", "Eff", "Bnd")} == {"0" * 16}
            assert said["NoNewPrivs"] == "1"
        if "sanitize" not in str(printer.PRINTER):
            assert status(its.process.pid)["Seccomp"] == "2"
        assert os.readlink(f"/proc/{child}/ns/net") != os.readlink("/proc/self/ns/net")
        links = {fd: os.readlink(f"/proc/{child}/fd/{fd}") for fd in os.listdir(f"/proc/{child}/fd")}
        assert {"0", "1", "2"} <= set(links) and all(links[fd].startswith("pipe:") for fd in "012")
        ours = {os.readlink(f"/proc/{its.process.pid}/fd/{fd}") for fd in "012"}
        assert not ours & set(links.values())
        assert os.getsid(child) == child
        environment = pathlib.Path(f"/proc/{child}/environ").read_bytes().decode().split("\0")
        assert {word.split("=")[0] for word in environment if word} <= {"PATH", "LANG", "TZ", "HOME"}
        assert its.end()[1:] == ("", 0)


def test_a_user_without_rights_has_a_dissector_without_network_too():
    user = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--")
    with live("tcpdump", "-n", before=user) as its:
        its.feed(printer.pcap(1, [ARP]))
        its.lines(1)
        child = its.dissector()
        assert {status(child)[f"Cap{which}"] for which in ("Inh", "Prm", "Eff")} == {"0" * 16}
        if subprocess.run((*user, *UNSHARE), stderr=subprocess.DEVNULL, check=False).returncode == 0:
            assert os.readlink(f"/proc/{child}/ns/net") != os.readlink("/proc/self/ns/net")
        assert its.end()[1:] == ("", 0)


def test_the_dissector_cannot_trace_the_process_that_writes_to_the_terminal(only):
    look = "#!/bin/sh\ncat /proc/$PPID/environ >&2 || echo no >&2\nexec cat >/dev/null\n"
    _, said = printer.run(printer.pcap(1, [ARP]), "tcpdump", env=only("cat", tcpdump=look))
    assert "environ: Permission denied" in said and "PATH=" not in said


# ---- what reaches the terminal ---------------------------------------------------------------------------


NASTY = b"\x1b]0;x\x07 \x7f\x9b2J \xe2\x80\xae \xc2\x9b \xff"


def beacon(ssid):
    return (bytes(8)[:2] + b"\x08\0" + bytes(4) + b"\x80\0\0\0" + b"\xff" * 6 + b"\2\0\0\0\0\1" * 2 + bytes(2) +
            bytes(12) + bytes([0, len(ssid)]) + ssid)


def dns(label):
    query = b"\0\1\1\0\0\1" + bytes(6) + bytes([len(label)]) + label + b"\0\0\1\0\1"
    udp = b"\x13\x88\0\x35" + (8 + len(query)).to_bytes(2, "big") + b"\0\0" + query
    ip = b"\x45\0" + (20 + len(udp)).to_bytes(2, "big") + b"\0\1\0\0\x40\x11\0\0" + bytes([10, 0, 0, 1, 10, 0, 0, 2])
    return bytes(12) + b"\x08\0" + ip + udp


def controls(text):
    """Characters that a terminal acts on."""
    return re.findall("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize("dissector", ["short", "tcpdump", "tshark"])
@pytest.mark.parametrize("options", ["", "-v", "-A", "-X"])
def test_control_characters_of_frames_do_not_reach_the_terminal(dissector, options):
    for linktype, frame in ((127, beacon(NASTY)), (1, dns(NASTY))):
        text = printer.run(printer.pcap(linktype, [frame]), dissector, *options.split(), "-n")[0]
        assert text.endswith("\n") and not controls(text)


def test_the_short_line_shows_them():
    assert r'"\x1b]0;x\x07 \x7f\x9b2J \u202e \u009b \xff"' in printer.run(printer.pcap(127, [beacon(NASTY)]), "short")[0]
    assert (r" A? \027]0;x\007\032\127\1552J\032\226\128\174\032\194\155\032\255. (" in
            printer.run(printer.pcap(1, [dns(NASTY)]), "short")[0])


def test_names_of_interfaces_are_no_exception():
    data = (printer.section() + printer.interface(127, b"a\x1b[2J") + printer.interface(127, b"b\nc") +
            printer.packet(0, ACK) + printer.packet(1, ACK))
    for dissector in ("short", "tshark"):
        text = printer.run(data, dissector, "-n")[0]
        assert not controls(text) and text.count("\n") == 2, text


def test_without_utf8_only_ascii_reaches_the_terminal():
    env = {**printer.ENVIRONMENT, "LANG": "C"}
    text = printer.run(printer.pcap(127, [beacon("Küche".encode())]), "short", env=env)[0]
    assert r'"K\xc3\xbcche"' in text
    assert '"Küche"' in printer.run(printer.pcap(127, [beacon("Küche".encode())]), "short")[0]
    assert printer.run(printer.pcap(1, [ARP]), "tshark", "-n", env=env)[0].isascii()
