# SPDX-License-Identifier: GPL-2.0
"""Sensors that are started again and again, and many sensors: time grows as the input does, and memory does not grow
with the number of runs."""
import collections
import csv
import resource
import subprocess

import pytest

from bench.merge_cost import drained, peak_mib
from merge import pcapng, runs
from merge.program import PROGRAM, check, rows

TRIES = 2  # other programs' turns only add time
STREAM_S = 3600
TIMES, AT_MOST = 4, 8  # so many times the input, and the time that it takes at most
DAY_RUNS, DAY_S, PIECE = 20_000, 86_400, 500
GROWTH_MIB = 1
READINGS_MIB = 150
DEADLINE_S = 60


def cpu_s(folder, way, data):
    """CPU time of a merge."""
    (folder / "in.pcapng").write_bytes(data)
    arguments, stdin = ([folder / "in.pcapng"], None) if way == "file" else (["-r", "-"], (folder / "in.pcapng").open())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROGRAM, "-q", "-w", folder / "u.pcapng", *arguments], stdin=stdin, check=True, timeout=DEADLINE_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def assert_linear(folder, way, make, count):
    few, more = (min(cpu_s(folder, way, data) for _ in range(TRIES))
                 for data in (make(count), make(TIMES * count)))
    assert more < AT_MOST * few, (few, more)


@pytest.mark.parametrize("way", ["file", "pipe"])
@pytest.mark.parametrize("how", [{}, {"every_s": 1.0}, {"alone": True}, {"alone": True, "every_s": 1.0}, {"tsft": True}],
                         ids=["heard", "at-once", "alone", "alone-at-once", "tsft"])
def test_time_is_linear_in_runs(folder, way, how):
    assert_linear(folder, way, lambda n: runs.restarting(n, **how), int(STREAM_S / how.get("every_s", 4.32)))


@pytest.mark.parametrize("heard_by", [1, 4])
def test_time_is_linear_in_sensors(folder, heard_by):
    assert_linear(folder, "pipe", lambda n: runs.many(n, 8, heard_by=heard_by), 1000)


@pytest.mark.parametrize("how", [{}, {"alone": True}, {"tsft": True}], ids=["heard", "alone", "tsft"])
def test_memory_is_flat_over_a_day_of_runs(how):
    """20,000 runs of one sensor. The peak after a tenth of them stays the peak."""
    merge = subprocess.Popen([PROGRAM, "-q", "-r", "-", "-w", "/dev/null"], stdin=subprocess.PIPE)
    early = None
    try:
        for first in range(0, DAY_RUNS, PIECE):
            merge.stdin.write(runs.restarting(PIECE, DAY_S / DAY_RUNS, 2.0, 4, 1, first=first, **how))
            if first == DAY_RUNS // 10:
                drained(merge.stdin, merge.pid)
                early = peak_mib(merge.pid)
        drained(merge.stdin, merge.pid)
        late = peak_mib(merge.pid)
        merge.stdin.close()
        assert merge.wait(DEADLINE_S) == 0
    finally:
        merge.kill()
        merge.wait()
    assert late < early + GROWTH_MIB, (early, late)


def test_readings_that_go_back_take_no_memory():
    """Each of them says that the machine was started again. There are 400,000, and no frame."""
    block = pcapng.statistics(0, runs.BASE_NS, *[pcapng.readings([(2, 0, 0), (1, 0, 0)] * 1000)])
    merge = subprocess.Popen([PROGRAM, "-q", "-r", "-", "-w", "/dev/null"], stdin=subprocess.PIPE)
    try:
        merge.stdin.write(runs.interfaces(1))
        for _ in range(200):
            merge.stdin.write(block)
        drained(merge.stdin, merge.pid)
        assert peak_mib(merge.pid) < READINGS_MIB
    finally:
        merge.kill()
        merge.wait()


def test_each_run_has_a_clock_in_the_table(folder):
    """Also if its memory is used again."""
    count = 400
    (folder / "in.pcapng").write_bytes(runs.restarting(count))
    subprocess.run([PROGRAM, "-q", "-w", folder / "u.pcapng", folder / "in.pcapng"], check=True)
    found = check(folder / "u.pcapng")
    assert found["joins"] == count + 1 and found["parts"] == 1 and found["unaligned"] == 0
    with (folder / "u.clocks.tsv").open() as f:
        lines = list(csv.DictReader(f, delimiter="\t"))
    sensors = collections.defaultdict(set)
    for line in lines:
        sensors[line["clock"]].add(line["sensor"])
    assert len(sensors) == count + 2 and all(len(names) == 1 for names in sensors.values())
    times = {clock: [float(line["time"]) for line in lines if line["clock"] == clock] for clock in ("1", "100", "300")}
    assert times["1"][0] < times["100"][0] < times["300"][0]


def test_runs_are_merged_as_before(folder):
    """Each beacon is one transmission, of the sensor that is started again, too."""
    (folder / "in.pcapng").write_bytes(runs.restarting(400))
    subprocess.run([PROGRAM, "-q", "-w", folder / "u.pcapng", folder / "in.pcapng"], check=True)
    found = check(folder / "u.pcapng")
    beacons = len({row["transmission"] for row in rows(folder / "u.pcapng")})
    assert found["transmissions"] == beacons == int(400 * 4.32 * 10)
