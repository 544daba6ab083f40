# SPDX-License-Identifier: GPL-2.0
"""What a person sees while a sensor or a collector runs: the status line, the log, and connections that are
lost and made again."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.testbed import BUILD

HEARD = re.compile(r"heard \d+/s  kept \d+/s  (sent|received) [\d.]+ [kM]B/s")
MESSAGE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d saluki(-collector)?: .")
REPORT = re.compile(r"\d+ packets? (captured|received by filter|dropped by kernel)$|lib: seen ")


class Terminal:
    """A terminal with a program in its foreground. Rows are what a person sees: overwritten text is gone."""

    def __init__(self, bed, args, columns=100, **env):
        self.ours, self.theirs = pty.openpty()
        self.resize(columns)
        self.rows, self.column, self.sent = [""], 0, ""
        self.popen = bed.ns.start("setsid", "--ctty", *args, stdin=self.theirs, stdout=self.theirs, stderr=self.theirs,
                                  env={**os.environ, "TERM": "xterm", "TZ": "UTC", **env})
        bed.stack.callback(self.close)

    def resize(self, columns):
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))

    def take(self, text):
        self.sent += text
        for part in re.findall(r"\033\[K|\r|\n|[^\033\r\n]+|\033", text):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self.rows.append("")
            elif part == "\033[K":
                self.rows[-1] = self.rows[-1][:self.column]
            else:
                assert part != "\033", text
                row = self.rows[-1].ljust(self.column)
                self.rows[-1] = row[:self.column] + part + row[self.column + len(part):]
                self.column += len(part)

    def read(self, until, seconds=20):
        """Reads until the condition holds; returns its value."""
        deadline = time.monotonic() + seconds
        while not (value := until()):
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self.ours], [], [], left)[0], self.rows
            try:
                self.take(os.read(self.ours, 65536).decode())
            except OSError:  # the other side is closed
                value = until()
                assert value, self.rows
                return value
        return value

    def expect(self, text, seconds=20):
        return self.read(lambda: any(text in row for row in self.rows), seconds)

    def renewed(self, times):
        """Waits until the line was drawn so many more times."""
        before = self.sent.count("\rheard ")
        self.read(lambda: self.sent.count("\rheard ") >= before + times)

    def finish(self):
        """Ends the program, and reads the rest."""
        if self.popen.poll() is None:
            os.kill(self.popen.pid, signal.SIGINT)
        os.close(self.theirs)
        self.theirs = -1
        with contextlib.suppress(OSError):
            while data := os.read(self.ours, 65536):
                self.take(data.decode())
        return self.popen.wait(20)

    def close(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()
        for fd in {self.ours, self.theirs} - {-1}:
            os.close(fd)
        self.ours = self.theirs = -1


def sensor_args(bed, *options):
    return [BUILD / "saluki", "run", "-i", "mon0", "--to", "127.0.0.1:5600", "--key",
            bed.keys.sensor("lib"), *options]


def collector_args(bed, *options):
    return [BUILD / "saluki-collector", "--listen", "127.0.0.1:5600", "--key", bed.keys.collector,
            "--sensors", bed.keys.sensors, "-w", bed.out, *options]


def assert_rows_are_whole(terminal):
    """Each row is a message or a report of its own, and nothing of the line is left."""
    for row in terminal.rows:
        assert not row or MESSAGE.match(row) or REPORT.match(row), terminal.rows
        assert "heard " not in row, terminal.rows


def test_both_lines_are_renewed(bed, bundled):
    player = bed.tun("mon0", 803, bundled, ["--loop"])
    collector = Terminal(bed, collector_args(bed))
    collector.expect("listening on")
    sensor = Terminal(bed, sensor_args(bed))
    sensor.expect("connected")
    player.go()
    sensor.renewed(2)
    collector.renewed(3)
    assert HEARD.match(sensor.rows[-1]) and "  store 0%  connected  " in sensor.rows[-1]
    assert sensor.rows[-1].endswith("  127.0.0.1:5600"), sensor.rows
    assert HEARD.match(collector.rows[-1]) and f"  sensors 1 of {bed.keys.count}  " in collector.rows[-1]
    assert collector.rows[-1].endswith("receiving")
    for t in sensor, collector:
        rows = len(t.rows)
        os.kill(t.popen.pid, signal.SIGUSR1)
        t.read(lambda t=t, rows=rows: len(t.rows) > rows)
        t.renewed(1)
    assert sensor.finish() == 0 and collector.finish() == 0
    assert_rows_are_whole(sensor)
    assert_rows_are_whole(collector)
    assert sum("ledger: seen" in row for row in sensor.rows) == 2


def test_the_line_of_capture(bed, bundled):
    """It names neither the connection to its own collector nor an address."""
    player = bed.tun("mon0", 803, bundled, ["--loop"])
    capture = Terminal(bed, [BUILD / "saluki", "capture", "-i", "mon0", "-w", bed.out])
    capture.expect("capturing by")
    player.go()
    capture.renewed(3)
    line = HEARD.pattern + r"  store \d+%  [\d.]+ B/frame"
    assert re.fullmatch(line, capture.rows[-1]), capture.rows
    assert capture.finish() == 0


def test_the_line_fits_the_terminal(bed, bundled):
    """A terminal may become another size. Fields without room are left out."""
    player = bed.tun("mon0", 803, bundled, ["--loop"])
    bed.collector()
    sensor = Terminal(bed, sensor_args(bed), columns=40)
    player.go()
    sensor.renewed(2)
    assert re.fullmatch(r"heard \d+/s  kept \d+/s( .*)?", sensor.rows[-1])
    assert len(sensor.rows[-1]) <= 37
    sensor.resize(120)
    sensor.renewed(2)
    assert sensor.rows[-1].endswith("127.0.0.1:5600"), sensor.rows


@pytest.mark.parametrize("options,env", [(["-q"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": ""})])
def test_terminals_without_a_line(bed, bundled, options, env):
    """With -q, or on a terminal that cannot erase, there is no line; -q leaves no message of a good run."""
    player = bed.tun("mon0", 803, bundled)
    stats = bed.tmp_path / "stats"
    collector = Terminal(bed, collector_args(bed, "--stats-file", stats, *options), **env)
    sensor = Terminal(bed, sensor_args(bed, *options), **env)
    testbed.wait_for(lambda: stats.exists() and '"lib"' in stats.read_text(), "the session", 20)
    frames = player.play()
    if not options:
        sensor.expect("-B: ")  # after a second
    assert sensor.finish() == 0 and collector.finish() == 0
    for t in sensor, collector:
        assert "heard " not in t.sent and "\033" not in t.sent, t.rows
    assert f"{frames} packets captured" in sensor.rows
    said = [row for row in sensor.rows + collector.rows if MESSAGE.match(row)]
    known = ("ledger: ", "export: ", "datagrams ", "native refused", "others can read")
    assert (options == ["-q"]) == all(any(k in row for k in known) for row in said), said


def test_pipes_get_no_line(bed, bundled):
    player = bed.tun("mon0", 803, bundled)
    collector, sensor = bed.collector(), bed.sensor("lib", "mon0")
    player.play()
    said = sensor.expect("-B: ") + sensor.finish()[1] + collector.finish()[1]
    assert "heard " not in said and "\033" not in said and "\r" not in said


def test_the_reader_of_a_pipe_may_print(bed, bundled):
    """With -w -, the terminal belongs to the program that reads the frames."""
    words = " ".join(map(str, collector_args(bed, "-w", "-")))
    pipe = Terminal(bed, ["bash", "-c", f"{words} | {{ trap '' INT; wc -c; }}"])
    pipe.expect("listening on")
    bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0")
    sensor.expect("-B: ")  # after a second
    assert sensor.finish()[0] == 0
    os.write(pipe.ours, b"\x03")
    pipe.expect("datagrams ")
    pipe.finish()  # Ctrl-C has ended the shell, too
    assert any(row.isdigit() and int(row) > 0 for row in pipe.rows), pipe.rows
    assert "heard " not in pipe.sent, pipe.rows


def test_a_background_job_leaves_the_prompt_alone(bed, bundled):
    """A job in the background logs, but draws no line."""
    player = bed.tun("mon0", 803, bundled, ["--loop"])
    bed.collector()
    words = " ".join(map(str, sensor_args(bed)))
    shell = Terminal(bed, ["bash", "-c",
                           f"set -m; {words} & read x; fg >/dev/null; echo over"])
    shell.expect("connected")
    player.go()
    shell.expect("-B: ")
    time.sleep(2.5)  # two lines' time
    assert not select.select([shell.ours], [], [], 0)[0] and "\033" not in shell.sent, shell.rows
    os.write(shell.ours, b"\n")
    shell.renewed(2)  # it is in the foreground now
    os.write(shell.ours, b"\x03")
    shell.expect("over")


def test_a_terminal_that_takes_no_output(bed, bundled):
    """After Ctrl-S, the capture goes on: no frame is lost, and the session stays."""
    player = bed.tun("mon0", 803, bundled, ["--rate", "300"])
    collector = bed.collector()
    sensor = Terminal(bed, sensor_args(bed))
    sensor.expect("-B: ")
    sensor.renewed(1)
    termios.tcflow(sensor.theirs, termios.TCOOFF)
    frames = player.play()
    testbed.wait_for(lambda: collector.sensor_stats("lib")["written"] == frames, "all frames", 20)
    before = collector.sensor_stats("lib")["datagrams"]
    testbed.wait_for(lambda: collector.sensor_stats("lib")["datagrams"] > before + 3, "seconds")
    sensor.sent = ""
    termios.tcflow(sensor.theirs, termios.TCOON)
    sensor.renewed(1)
    assert "  connected" in sensor.rows[-1] and "lost" not in sensor.sent
    assert sensor.finish() == 0
    assert collector.finish()[0] == 0
    assert_balanced(collector.sensor_stats("lib"), frames)


def test_losses_are_in_the_line(bed, bundled):
    """The line names the place of a loss, and that no collector answers."""
    player = bed.tun("mon0", 803, bundled, ["--loop", "--rate", "10000"])
    collector = bed.collector()
    sensor = Terminal(bed, sensor_args(bed, "--store-bytes", "64K", "-B", "64", "--compress", "none"))
    sensor.expect("connected")
    collector.kill_all()
    player.go()
    sensor.expect("the store is full", 60)
    sensor.expect("connection lost", 60)  # only now the line says so
    sensor.renewed(2)
    assert re.search(r"/s  lost: (ring \d+, )?store \d+  store \d\d+%  no answer", sensor.rows[-1]), sensor.rows


# ---- times -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_journal", [True, False])
def test_times_are_left_to_the_journal(bed, bundled, is_journal):
    """JOURNAL_STREAM names standard error's device and inode. A program that was redirected since has the
    variable too."""
    ours, theirs = os.pipe()
    at = os.fstat(theirs)
    env = {"JOURNAL_STREAM": f"{at.st_dev}:{at.st_ino + (not is_journal)}", "TZ": "UTC"}
    bed.collector()
    sensor = bed.reader("lib", bundled, stderr=theirs, env=env)
    os.close(theirs)
    with os.fdopen(ours) as f:
        lines = f.read().splitlines()
    assert sensor.popen.wait() == 0
    messages = [line for line in lines if not REPORT.match(line)]
    assert len(messages) >= 3
    assert all(line.startswith("saluki: ") if is_journal else MESSAGE.match(line) for line in messages)


def test_the_time_is_local(bed, bundled):
    """The zone's file is read before the sandbox, in both processes of both programs."""
    env = {"TZ": "XYZ-3:30"}
    collector = bed.collector(env=env)
    said = bed.reader("lib", bundled, env=env).finish(signo=None)[1] + collector.finish()[1]
    now = time.gmtime(time.time() + 3.5 * 3600)
    hours = re.findall(r"(?m)^(\d{4}-\d\d-\d\d \d\d:\d\d):\d\d saluki", said)
    assert len(hours) > 4
    spread = [time.mktime(now) - time.mktime(time.strptime(h, "%Y-%m-%d %H:%M")) for h in hours]
    assert all(0 <= s < 180 for s in spread), said


# ---- connections -----------------------------------------------------------------------------------


def test_a_connection_that_is_lost_and_made_again(bed, bundled):
    """Both ends say it once, and the sensor says what its store kept."""
    relay = bed.relay()
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", to=relay.address)
    sensor.expect(f"collector {relay.address}: connected\n")
    assert re.search(r"sensor lib: connected from 127.0.0.1:\d+\n", collector.expect("connected from"))
    relay("cut")
    sensor.expect(f"collector {relay.address}: connection lost: no answer for 3 s; frames are kept\n")
    frames = player.play()
    relay("mend")
    said = sensor.expect("frames waited\n", 40)
    away, waited = re.search(rf"collector {relay.address}: connected again after (\d+) s; (\d+) frames? waited",
                             said).groups()
    assert 3 <= int(away) < 40 and 0 < int(waited) <= frames
    assert re.search(r"sensor lib: connected again from \S+, after \d+ s of silence",
                     collector.expect("of silence"))
    testbed.wait_for(lambda: collector.sensor_stats("lib")["written"] == frames, "all frames", 20)
    status, said = sensor.finish()
    assert status == 0 and said.count(": connected") == 2 and said.count("connection lost") == 1, said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), frames)


def test_verbose(bed, bundled):
    """-v adds handshakes, sessions and renewals, of both ends."""
    collector = bed.collector(options=["-v"])
    bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", options=["-v", "--renew", "5"])
    sensor.expect("collector 127.0.0.1:5600: asking for a session")
    sensor.expect("collector 127.0.0.1:5600: session 1 begins: new keys")
    sensor.expect("session 2 begins", 20)
    collector.expect("sensor lib: session set up from 127.0.0.1:")
    collector.expect("sensor lib: session with new keys from 127.0.0.1:")
    status, said = sensor.finish()
    assert status == 0 and said.count(": connected") == 1, said
