# SPDX-License-Identifier: GPL-2.0
"""saluki-keep as Wireshark's extcap program: what Wireshark asks for, and the real tshark, on a small archive."""
import contextlib
import os
import re
import shutil
import signal
import subprocess

import pytest

from netns import testbed
from netns.conftest import Bed
from netns.test_live import export, sections
from reference import captures

KEEP = testbed.BUILD / "saluki-keep"
INTERFACE = ("--extcap-interface", "saluki-archive")
SETTINGS = ["--folder", "--from", "--to", "--sensors", "--group", "--addresses"]
SENSORS = ("lib", "two", "room-0")  # one a file
PATIENCE = 60


class Archive:
    """Three files of one series, each with one sensor's frames; the last one has no index yet."""

    def __init__(self, tmp_path, change=None):
        self.plain = tmp_path / "plain.pcap"
        self.plain.write_bytes(captures.file_bytes(captures.BUNDLED))
        self.folder = tmp_path / "archive"
        self.folder.mkdir()
        with contextlib.ExitStack() as stack:
            bed = Bed(stack, tmp_path)
            bed.out = self.folder
            for name in SENSORS:
                collector = bed.collector(options=["-C", "1"])
                export(bed, name, self.plain)
                assert collector.finish()[0] == 0
        if change:
            change(self)
        subprocess.run([KEEP, "--once", self.folder], check=True, timeout=PATIENCE)
        assert self.forms() == [(".idx", 2), (".pcapng", 1), (".zst", 2)]

    def forms(self):
        endings = [p.suffix for p in self.folder.iterdir() if not p.name.startswith(".")]
        return [(e, endings.count(e)) for e in (".idx", ".pcapng", ".zst")]

    def found(self, *words):
        """The frames that the search command finds."""
        done = subprocess.run([KEEP, "find", "-q", "-w", "-", *words[:-1], self.folder, *words[-1:]],
                              capture_output=True, check=True, timeout=PATIENCE)
        return frames(done.stdout)

    def sent(self, display="frame"):
        """What each sensor has sent of what tshark takes with a display filter."""
        out = subprocess.run(["tshark", "-n", "-r", self.plain, "-Y", display, "-T", "fields", "-e", "frame.time_epoch",
                              "-e", "frame.len"], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
        return sorted(tuple(line.split("\t")) for line in out.splitlines())


def frames(data):
    """Stamp and length of each frame, as tshark shows them, in order of the stamps."""
    out = subprocess.run(["tshark", "-n", "-r", "-", "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len"],
                         input=data, capture_output=True, check=True, timeout=PATIENCE).stdout.decode()
    return sorted(tuple(line.split("\t")) for line in out.splitlines())


class Home:
    """A user's home, in which Wireshark finds the program."""

    def __init__(self, tmp_path):
        self.folder = tmp_path / "home"
        self.folder.mkdir()
        # AddressSanitizer's search for leaks does not work with strace.
        self.env = {**os.environ, "HOME": str(self.folder), "ASAN_OPTIONS": "detect_leaks=0"}
        self.env.pop("XDG_CONFIG_HOME", None)
        done = self.run(KEEP, "--install-extcap")
        assert done.returncode == 0 and "the interface Saluki archive at its next start" in done.stderr
        self.program = self.folder / ".config/wireshark/extcap/saluki-archive"

    def run(self, *args, **kwargs):
        return subprocess.run(list(map(str, args)), check=False, capture_output=True, text=True, env=self.env,
                              timeout=PATIENCE, **kwargs)

    def ask(self, *words):
        """Asks the linked program; returns what it says."""
        done = self.run(self.program, *words)
        assert done.returncode == 0 and done.stderr == "", (words, done)
        return done.stdout

    def tshark(self, folder, *words, **settings):
        given = [w for name, value in {"folder": folder, **settings}.items()
                 for w in ("-o", f"extcap.saluki_archive.{name}:{value}")]
        return self.run("tshark", "-n", "-i", "saluki-archive", *given, *words)

    def capture(self, archive, expression="", **settings):
        """The frames of a whole capture, which ends by itself."""
        out = self.folder / "captured.pcapng"
        done = self.tshark(archive.folder, "-f", expression, "-w", out, **settings)
        assert done.returncode == 0 and "Error" not in done.stderr, done
        assert sections(out) == 1
        return frames(out.read_bytes())


@pytest.fixture(name="archive", scope="module")
def fixture_archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    folder.chmod(0o755)  # programs under test drop their rights
    return Archive(folder)


@pytest.fixture(name="home")
def fixture_home(tmp_path):
    return Home(tmp_path)


# ---- words -----------------------------------------------------------------------------------------


def test_the_interface_is_listed(home):
    said = home.ask("--extcap-interfaces", "--extcap-version=4.0")
    assert re.search(r"^extcap \{version=\d+\.\d+\.\d+\}", said, re.M)
    assert re.search(r"^interface \{value=saluki-archive\}\{display=Saluki archive", said, re.M)
    assert home.ask("--extcap-dlts", *INTERFACE).startswith("dlt {number=")
    assert re.search(r"\d+\. saluki-archive \(Saluki archive", home.run("tshark", "-D").stdout)


def test_both_programs_are_listed(home):
    home.run(testbed.BUILD / "saluki-live", "--install-extcap")
    listed = home.run("tshark", "-D").stdout
    assert re.search(r"\d+\. saluki-archive \(", listed) and re.search(r"\d+\. saluki \(", listed)


def test_listing_reads_no_archive(archive, home):
    done = home.run("strace", "-f", "-e", "trace=socket,connect,open,openat,execve", home.program, "--extcap-interfaces",
                    "--folder", archive.folder)
    assert done.returncode == 0 and "execve(" in done.stderr
    assert not [line for line in done.stderr.splitlines() if "socket(" in line or "connect(" in line
                or ("open" in line and (str(archive.folder) in line or "/var/lib" in line))]


def test_settings(archive, home):
    """Sensors are a list to choose from if the folder has indexes, and else a text."""
    without = home.ask("--extcap-config", *INTERFACE, "--folder", home.folder)
    assert re.findall(r"call=(--\w+)", without) == SETTINGS
    assert "multicheck" not in without and "value {" not in without
    assert re.search(r"call=--folder\}.*\{default=/var/lib/saluki-collector\}", without)
    said = home.ask("--extcap-config", *INTERFACE, "--extcap-reload-option", "sensors", "--folder", archive.folder)
    assert re.findall(r"call=(--\w+)", said) == SETTINGS
    assert re.search(r"number=3\}\{call=--sensors\}.*\{type=multicheck\}\{reload=true\}", said)
    assert re.findall(r"^value \{arg=3\}\{value=(.*?)\}\{display=(.*?)\}$", said, re.M) == [("lib", "lib"), ("two", "two")]
    assert home.ask("--extcap-config", *INTERFACE, "--folder", "/nonexistent") == without


def test_names_in_an_index_cannot_break_the_answer(tmp_path, home):
    """A sensor's name is what a file says."""
    def change(archive):
        for path, name, other in zip(sorted(archive.folder.glob("*.pcapng")), (b"lib", b"two"), (b"}{x", b"\n,w"),
                                     strict=False):
            data = path.read_bytes()
            assert b"sensor " + name + b" (id" in data
            path.write_bytes(data.replace(b"sensor " + name, b"sensor " + other))

    archive = Archive(tmp_path, change)
    assert b"}{x" in sorted(archive.folder.glob("*.idx"))[0].read_bytes()
    said = home.ask("--extcap-config", *INTERFACE, "--folder", archive.folder)
    assert said == home.ask("--extcap-config", *INTERFACE, "--folder", home.folder)
    assert home.capture(archive) == sorted(3 * archive.sent())


@pytest.mark.parametrize("filter_, said", [("type mgt", ""), ("", ""), ("tcp port 80", ""),
                                           ("type mgtx", 'unknown 802.11 type name "mgtx"'), ("port", "syntax error")])
def test_a_filter_is_checked_while_it_is_typed(home, filter_, said):
    """No output means that the filter is valid. Otherwise Wireshark shows the first line."""
    got = home.ask("--extcap-capture-filter", filter_, *INTERFACE)
    assert bool(got) == bool(said) and said in got and got.count("\n") <= 1


def test_words_of_a_newer_wireshark_are_passed_over(home):
    first = home.ask("--extcap-interfaces", "--extcap-version=4.0")
    assert home.ask("--extcap-interfaces", "--extcap-version=9.9", "--extcap-new", "thing", "--other=x", "word") == first
    assert "arg {" in home.ask("--extcap-config", "--extcap-cleanup-postkill", *INTERFACE)
    assert home.ask("--extcap-cleanup") == ""


# ---- tshark ----------------------------------------------------------------------------------------


def test_all_frames(archive, home):
    got = home.capture(archive)
    assert got == sorted(3 * archive.sent())
    assert got == archive.found("")


@pytest.mark.parametrize("given, sensors", [("two", 1), ("lib,room-0", 2), (" two , lib,", 2), ("nobody", 0), ("@", 0)])
def test_sensors(archive, home, given, sensors):
    got = home.capture(archive, sensors=given)
    assert got == sorted(sensors * archive.sent())


def test_groups_are_passed_to_the_search(archive, home):
    """The files name no groups: a group's sensors are none, and one sensor is still found."""
    assert home.capture(archive, group="library") == []
    assert home.capture(archive, sensors="@library") == []
    assert home.capture(archive, sensors="@library,two", group="hall, hill") == archive.sent()


@pytest.mark.parametrize("addresses", [("02:00:00:00:07:00",), ("02:00:00:00:07:00", "02-00-00-00-03-00")])
def test_addresses(archive, home, addresses):
    got = home.capture(archive, addresses=", ".join(addresses))
    assert 0 < len(got) < 3 * len(archive.sent())
    assert got == sorted(3 * archive.sent(" || ".join(f"wlan.addr == {a}" for a in addresses)))
    assert got == archive.found(*(w for a in addresses for w in ("--mac", a)), "")


def test_a_capture_filter_and_times(archive, home):
    """All that is given must fit."""
    stamps = [stamp for stamp, _ in archive.sent()]
    begin, end = stamps[len(stamps) // 4], stamps[len(stamps) // 2]
    got = home.capture(archive, "type mgt", sensors="two,lib", **{"from": f"@{begin}", "to": f"@{end}"})
    assert got == sorted(2 * archive.sent(f"wlan.fc.type == 0 && frame.time_epoch >= {begin} && frame.time_epoch < {end}"))
    assert got


def test_a_capture_may_end_early(archive, home):
    done = home.tshark(archive.folder, "-c", "5", "-T", "fields", "-e", "frame.number")
    assert done.returncode == 0 and done.stdout.split() == ["1", "2", "3", "4", "5"] and "Error" not in done.stderr


# ---- what is wrong ---------------------------------------------------------------------------------


@pytest.mark.parametrize("words, said", [
    (("--folder", "/nonexistent/archive"), "/nonexistent/archive: no such folder; set the folder that saluki-collector"),
    (("--folder", "/etc/passwd"), "/etc/passwd: no such folder"),
    (("--folder", "/proc/self/fdinfo"), "has no capture files; set the folder"),
    (("--from", "yesterday"), "--from yesterday: must be a time such as 2026-11-24"),
    (("--from", "1h", "--to", "2h"), "--from is not before --to"),
    (("--addresses", "02:00:00:00:07:00,zz"), "zz: must be an address such as"),
    (("--addresses", ",".join(300 * ["02:00:00:00:07:00"])), "at most 256 addresses"),
    (("--sensors", ",".join(300 * ["x"])), "at most 256 names"),
    (("--extcap-capture-filter", "type mgtx"), 'unknown 802.11 type name "mgtx"'),
])
def test_what_is_wrong_is_one_line(archive, home, words, said):
    done = home.run(home.program, "--capture", *INTERFACE, "--fifo", "/dev/null", "--folder", archive.folder, *words)
    assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1, done
    assert done.stderr.startswith("saluki-archive: ")


def test_tshark_shows_what_is_wrong(archive, home):
    """And nothing else."""
    for settings, said in (({"folder": "/nonexistent"}, "/nonexistent: no such folder"),
                           ({"folder": archive.folder, "from": "soon"}, "--from soon: must be a time")):
        done = home.tshark(**settings)
        assert done.returncode != 0 and f"Error by extcap pipe: saluki-archive: {said}" in done.stderr, done
        assert "no device" not in done.stderr


def test_without_the_right_to_read(archive, tmp_path):
    tmp_path.chmod(0o755)
    program = testbed.for_anybody(KEEP, tmp_path)
    private = tmp_path / "private"
    private.mkdir(0o700)
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "--capture",
                           "--fifo", "/dev/null", "--folder", private], capture_output=True, text=True, check=False,
                          timeout=PATIENCE)
    assert done.returncode == 1 and f"{private}: may not be read; are you in the group saluki?" in done.stderr
    assert archive.folder.exists()


def test_without_a_fifo(home):
    done = home.run(home.program, "--capture", *INTERFACE)
    assert done.returncode == 2 and "--fifo PATH is missing" in done.stderr


# ---- its end ---------------------------------------------------------------------------------------


@pytest.fixture(name="capture")
def fixture_capture(archive, tmp_path):
    """A capture whose FIFO is full, and the end that reads from it."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    popen = subprocess.Popen([KEEP, "--capture", "--fifo", fifo, "--folder", archive.folder], stderr=subprocess.PIPE,
                             text=True)
    end = os.open(fifo, os.O_RDONLY)
    assert os.read(end, 4) == b"\x0a\x0d\x0d\x0a"
    yield popen, end
    with contextlib.suppress(OSError):
        os.close(end)
    popen.kill()
    popen.communicate()


def test_a_reader_that_leaves_ends_it(capture):
    popen, end = capture
    os.close(end)
    assert popen.communicate(timeout=20)[1] == "" and popen.returncode == 0


@pytest.mark.parametrize("reads", [False, True])
def test_wireshark_stops_it(capture, reads):
    """Wireshark sends SIGTERM, and then reads no more, or what is left. A search that is stopped is no failure."""
    popen, end = capture
    popen.send_signal(signal.SIGTERM)
    while reads and os.read(end, 65536):
        pass
    os.close(end)
    assert popen.communicate(timeout=20)[1] == "" and popen.returncode == 0


def test_a_damaged_file_is_shown(archive, home, tmp_path):
    """The other files' frames are written first."""
    copy = tmp_path / "damaged"
    shutil.copytree(archive.folder, copy)
    first = sorted(copy.glob("*.zst"))[0]
    first.write_bytes(first.read_bytes()[:5000])
    done = home.tshark(copy, "-T", "fields", "-e", "frame.interface_name")
    assert {line.split(":")[0] for line in done.stdout.splitlines()} >= {"two", "room-0"}
    assert first.name in done.stderr
