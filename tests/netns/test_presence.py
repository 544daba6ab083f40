# SPDX-License-Identifier: GPL-2.0
"""What the collector's log says of sensors that fall silent, come back, end, or never begin."""
import os
import re
import signal
import time

from netns import testbed

SILENT_S = 4
OPTIONS = ["--silent-after", f"{SILENT_S}s"]


def fleet(bed, bundled, *names):
    """Sensors that are heard, each on an interface of its own."""
    sensors = []
    for n, name in enumerate(names):
        bed.tun(f"mon{n}", 803, bundled)
        sensors.append(bed.sensor(name, f"mon{n}"))
        sensors[-1].expect("connected")
    return sensors


def test_killed_ended_and_never_started(bed, bundled):
    collector = bed.collector(options=OPTIONS)
    lib, two, room = fleet(bed, bundled, "lib", "two", "room-0")
    two.finish()
    collector.expect("sensor two: ended\n")
    lib.kill_all()
    killed = time.monotonic()
    collector.expect("sensor lib: silent since ")
    assert time.monotonic() - killed < SILENT_S + 3
    said = collector.expect("3 sensors not heard since the start: room-1, room-2, room-3\n")
    assert re.search(r"sensor lib: silent since \d\d:\d\d:\d\d\n", said)
    room.finish()
    collector.expect("sensor room-0: ended\n")
    said = collector.finish()[1]
    assert said.count("silent since") == 1 and said.count(": ended") == 2 and "network" not in said, said


def test_stopped_and_continued(bed, bundled):
    """A sensor whose session outlives the silence has no connection's line."""
    collector = bed.collector(options=OPTIONS)
    sensor, = fleet(bed, bundled, "lib")
    pids = testbed.with_children(sensor.pid())
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    collector.expect("sensor lib: silent since ")
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    said = collector.expect(" of silence\n", 40)
    assert re.search(r"sensor lib: (heard|connected) again .*after \d+ s of silence\n", said), said
    sensor.finish()
    collector.expect("sensor lib: ended\n")
    said = collector.finish()[1]
    assert said.count("sensor lib: ") == 4, said  # connected, silent, again, ended


def test_this_machines_network(bed, bundled):
    """All sensors at once: one line asks for the cause."""
    collector = bed.collector(options=OPTIONS)
    sensors = fleet(bed, bundled, "lib", "two", "room-0")
    for sensor in sensors:
        sensor.kill_all()
    collector.expect("3 of 3 sensors fell silent within 10 s: is this machine's network down?\n")
    said = collector.finish()[1]
    assert said.count("silent since ") == 3 and said.count("network down?") == 1, said


def test_a_time_that_is_none(bed):
    for text in ("2s", "15", "25h", "x"):
        p = testbed.saluki("--listen", ":1", "--key", "k", "--sensors", "s", "-w", "-", "--silent-after", text,
                           program="saluki-collector")
        assert p.returncode == 2 and p.stderr.startswith(f"saluki-collector: --silent-after {text}: must be a time"), p
