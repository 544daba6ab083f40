# SPDX-License-Identifier: GPL-2.0
"""saluki-live as Wireshark's extcap program: what Wireshark asks for, and the real tshark and dumpcap."""
import os
import pathlib
import re
import signal
import struct
import subprocess
import time

import pytest

from netns import testbed
from netns.test_live import LIVE, count_by_tcpdump, export, frames_now, interfaces, sections
from reference import captures

INTERFACE = ("--extcap-interface", "saluki")


class Home:
    """A user's home, in which Wireshark finds the program."""

    def __init__(self, bed):
        self.bed = bed
        self.folder = bed.tmp_path / "home"
        self.folder.mkdir()
        self.env = {**os.environ, "HOME": str(self.folder)}
        self.env.pop("XDG_CONFIG_HOME", None)
        done = self.run(LIVE, "--install-extcap")
        assert done.returncode == 0 and "its next start" in done.stderr
        self.program = self.folder / ".config/wireshark/extcap/saluki"

    def run(self, *args, **kwargs):
        return self.bed.ns.run(*args, check=False, capture_output=True, env=self.env, timeout=60, **kwargs)

    def ask(self, *words):
        """Asks the linked program; returns what it says."""
        done = self.run(self.program, *words)
        assert done.returncode == 0 and done.stderr == "", (words, done)
        return done.stdout

    def capture(self, *words, ready="Capturing on", program="tshark"):
        p = testbed.Process(self.bed.ns, [program, "-i", "saluki", *words], ready, env=self.env, stdout=subprocess.PIPE)
        self.bed.stack.callback(p.kill)
        return p


@pytest.fixture(name="home")
def fixture_home(bed):
    return Home(bed)


@pytest.fixture(name="plain")
def fixture_plain(bed):
    path = bed.tmp_path / "plain.pcap"
    path.write_bytes(captures.file_bytes(captures.BUNDLED))
    return path


# ---- words -----------------------------------------------------------------------------------------


def test_the_interface_is_listed_without_a_collector(home):
    said = home.ask("--extcap-interfaces", "--extcap-version=4.0")
    assert re.search(r"^extcap \{version=\d+\.\d+\.\d+\}", said, re.M)
    assert re.search(r"^interface \{value=saluki\}\{display=Saluki", said, re.M)
    assert home.ask("--extcap-dlts", *INTERFACE).startswith("dlt {number=")


def test_listing_connects_nowhere(home):
    home.env["ASAN_OPTIONS"] = "detect_leaks=0"  # it does not work with strace
    done = home.run("strace", "-f", "-e", "trace=socket,connect", home.program, "--extcap-interfaces")
    assert done.returncode == 0 and "socket(" not in done.stderr and "connect(" not in done.stderr


def test_settings(bed, home):
    """Sensors and groups are a list to choose from, and without a collector a text."""
    without = home.ask("--extcap-config", *INTERFACE)
    assert re.findall(r"call=(--\w+)", without) == ["--collector", "--sensors", "--group", "--channel"]
    assert "multicheck" not in without and "value {" not in without
    lines = [line.rstrip() + " group=library" if line.startswith("two ") else line
             for line in bed.keys.sensors.read_text().splitlines()]
    bed.keys.sensors.write_text("\n".join([*lines, "group library"]) + "\n")
    bed.collector()
    said = testbed.wait_for(lambda: "multicheck" in (t := home.ask("--extcap-config", *INTERFACE)) and t, "the sensors")
    assert "{type=multicheck}{reload=true}" in said
    assert "value {arg=1}{value=@library}{display=Group library}" in said
    assert "value {arg=1}{value=two}{display=two}{parent=@library}" in said
    assert "value {arg=1}{value=lib}{display=lib}\n" in said
    again = home.ask("--extcap-config", *INTERFACE, "--extcap-reload-option", "sensors", "--collector", "")
    assert "{value=two}" in again
    other = home.ask("--extcap-config", *INTERFACE, "--collector", "/run/elsewhere")
    assert "multicheck" not in other


def test_settings_do_not_wait_for_a_collector_that_hangs(bed, home):
    collector = bed.collector()
    os.kill(collector.pid(), signal.SIGSTOP)
    begun = time.monotonic()
    said = home.ask("--extcap-config", *INTERFACE)
    os.kill(collector.pid(), signal.SIGCONT)
    assert "call=--sensors" in said and time.monotonic() - begun < 3


@pytest.mark.parametrize("filter_, said", [("type mgt", ""), ("", ""), ("tcp port 80", ""), ("wlan type mgt", ""),
                                           ("type mgtx", 'unknown 802.11 type name "mgtx"'),
                                           ("port", "syntax error")])
def test_a_filter_is_checked_while_it_is_typed(home, filter_, said):
    """No output means that the filter is valid. Otherwise Wireshark shows the first line."""
    got = home.ask("--extcap-capture-filter", filter_, *INTERFACE)
    assert bool(got) == bool(said) and said in got and got.count("\n") <= 1


def test_words_of_a_newer_wireshark_are_passed_over(home):
    first = home.ask("--extcap-interfaces", "--extcap-version=4.0")
    assert home.ask("--extcap-interfaces", "--extcap-version=9.9", "--extcap-new", "thing", "--other=x", "word") == first
    assert "arg {" in home.ask("--extcap-config", "--extcap-cleanup-postkill", *INTERFACE)
    assert home.ask("--extcap-cleanup") == ""


def test_without_a_fifo(home):
    done = home.run(home.program, "--capture", *INTERFACE)
    assert done.returncode == 2 and "--fifo PATH is missing" in done.stderr


# ---- tshark and dumpcap ----------------------------------------------------------------------------


def test_tshark_lists_and_captures(bed, home, plain):
    """With a capture filter; the file is written at the same time, with all frames."""
    assert re.search(r"\d+\. saluki \(Saluki", home.run("tshark", "-D").stdout)
    assert "USER0" in home.run("tshark", "-i", "saluki", "-L").stdout + home.run("tshark", "-i", "saluki", "-L").stderr
    bed.collector()
    wanted = count_by_tcpdump(plain, "type mgt")
    tshark = home.capture("-f", "type mgt", "-c", str(2 * wanted), "-l", "-T", "fields", "-e", "wlan.fc.type",
                          "-e", "frame.interface_name")
    viewing(bed)
    export(bed, "lib", plain)
    export(bed, "two", plain)
    out, _ = tshark.popen.communicate(timeout=40)
    rows = [line.split("\t") for line in out.splitlines()]
    assert len(rows) == 2 * wanted and {r[0] for r in rows} == {"0"}
    assert {r[1].split(":")[0] for r in rows} == {"lib", "two"}
    assert len(list(captures.frames(bed.out))) == 2 * len(list(captures.frames(plain)))


def viewing(bed):
    """Waits until a viewer is attached: its process has both memories mapped, and a filter."""
    def attached():
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if "--capture" in (folder / "cmdline").read_text() and str(bed.tmp_path) in (
                        folder / "environ").read_text() and "saluki-live-table" in (folder / "maps").read_text():
                    return folder.name
            except OSError:
                continue
        return None
    return testbed.wait_for(attached, "a viewer", 20)


def test_dumpcap_keeps_all_blocks(bed, home, plain):
    """One section; statistics amid the stream; it ends when Wireshark stops it."""
    bed.collector()
    out = bed.tmp_path / "dumpcap.pcapng"
    dumpcap = home.capture("-w", out, "-q", program="tshark")
    viewer = viewing(bed)
    export(bed, "lib", plain)
    count = len(list(captures.frames(plain)))
    testbed.wait_for(lambda: len(frames_now(out)) == count, "all frames", 20, interval=0.1)
    status, said = dumpcap.finish(signal.SIGINT)
    assert status == 0 and "Error" not in said, said
    testbed.wait_ended(int(viewer))
    assert sections(out) == 1 and interfaces(out) == 1


def test_what_is_wrong_is_shown(bed, home):
    done = home.run("tshark", "-i", "saluki", "-c", "1")
    assert done.returncode != 0 or "Error by extcap pipe" in done.stderr
    assert "is saluki-collector running on this machine?" in done.stderr


def test_two_wiresharks(bed, home, plain):
    bed.collector()
    count = len(list(captures.frames(plain)))
    both = [home.capture("-c", str(count), "-w", bed.tmp_path / f"{n}.pcapng", "-q") for n in range(2)]
    testbed.wait_for(lambda: viewers(bed) == 2, "both viewers", 20)
    export(bed, "lib", plain)
    for n, tshark in enumerate(both):
        assert tshark.finish(None, 40)[0] == 0
        assert len(frames_now(bed.tmp_path / f"{n}.pcapng")) == count


def viewers(bed):
    found = 0
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            found += ("--capture" in (folder / "cmdline").read_text() and str(bed.tmp_path) in (
                folder / "environ").read_text() and "saluki-live-table" in (folder / "maps").read_text())
        except OSError:
            continue
    return found


# ---- the toolbar -----------------------------------------------------------------------------------


def message(control, command, text=""):
    return b"T" + struct.pack(">I", len(text) + 2)[1:] + bytes([control, command]) + text.encode()


def read_messages(fd, seconds=10, until=None):
    data, found = b"", []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and (until is None or not any(until in m[2] for m in found)):
        try:
            data += os.read(fd, 65536)
        except BlockingIOError:
            time.sleep(0.02)
        while len(data) >= 6 and len(data) >= 4 + int.from_bytes(data[1:4], "big"):
            size = int.from_bytes(data[1:4], "big")
            found.append((data[4], data[5], data[6:4 + size].decode()))
            data = data[4 + size:]
    return found


class Bar:
    """The pipes of Wireshark's toolbar and of its frames."""

    def __init__(self, bed, *words):
        for name in ("in", "out", "frames"):
            os.mkfifo(bed.tmp_path / name)
        self.out = os.open(bed.tmp_path / "out", os.O_RDWR | os.O_NONBLOCK)
        self.to = os.open(bed.tmp_path / "in", os.O_RDWR)
        self.file = bed.tmp_path / "bar.pcapng"
        self.cat = bed.ns.start("sh", "-c", f"cat {bed.tmp_path}/frames > {self.file}")
        self.popen = bed.ns.start(LIVE, "--capture", *INTERFACE, "--fifo", bed.tmp_path / "frames",
                                  "--extcap-control-in", bed.tmp_path / "in", "--extcap-control-out",
                                  bed.tmp_path / "out", *words, stderr=subprocess.PIPE)
        bed.stack.callback(self.close)
        testbed.wait_for(lambda: self.file.exists() and self.file.stat().st_size, "the section")

    def send(self, *args, expect):
        os.write(self.to, message(*args))
        found = read_messages(self.out, until=expect)
        assert any(expect in m[2] for m in found), found
        return found

    def close(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()
        self.popen.stderr.close()
        self.cat.wait(10)
        os.close(self.out)
        os.close(self.to)


def test_the_toolbar_changes_sensors_and_filter(bed, plain):
    """While it runs; a wrong filter leaves the earlier one, and is in the log."""
    bed.collector()
    bar = Bar(bed, "--sensors", "lib", "--extcap-capture-filter", "type mgt")
    os.write(bar.to, message(0, 0))
    shown = read_messages(bar.out, until="type mgt")
    assert (0, 1, "lib") in shown and (1, 1, "type mgt") in shown
    export(bed, "two", plain)
    export(bed, "lib", plain)
    mgt, everything = count_by_tcpdump(plain, "type mgt"), len(list(captures.frames(plain)))
    testbed.wait_for(lambda: len(frames_now(bar.file)) == mgt, "lib's management frames", interval=0.1)
    bar.send(1, 1, "type mgtx", expect="unknown 802.11 type name")
    bar.send(0, 1, "two", expect="sensors: two")
    bar.send(1, 1, "", expect="filter: all frames")
    export(bed, "lib", plain)
    export(bed, "two", plain)
    testbed.wait_for(lambda: len(frames_now(bar.file)) == mgt + everything, "all frames of two", interval=0.1)
    bar.popen.send_signal(signal.SIGTERM)
    assert bar.popen.wait(10) == 0
    assert bar.popen.stderr.read() == ""
    assert sections(bar.file) == 1


def test_nonsense_in_the_toolbars_pipe(bed, plain):
    bed.collector()
    bar = Bar(bed)
    os.write(bar.to, b"nonsense" * 300 + message(9, 77, "x") + b"T\xff\xff\xff\x00\x01")
    export(bed, "lib", plain)
    testbed.wait_for(lambda: len(frames_now(bar.file)) == len(list(captures.frames(plain))), "all frames", interval=0.1)
    bar.popen.send_signal(signal.SIGTERM)
    assert bar.popen.wait(10) == 0


def test_a_collector_that_restarts_is_in_the_log(bed):
    collector = bed.collector()
    bar = Bar(bed)
    collector.finish()
    assert any("the collector has ended" in m[2] for m in read_messages(bar.out, until="has ended"))
