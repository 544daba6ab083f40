# SPDX-License-Identifier: GPL-2.0
"""docs/coverage.py, which docs/wifi.md recommends: for real dwells it prints the same as the
collector."""
import re
import subprocess
import sys

import pytest

from netns.testbed import ROOT
from wifi.test_sampling import EVEN, STATIONS, THREE, traffic
from wifi.topology import WHOLE, Command, Sensor, Topology

LINE = (r"hall:mon channel (\S+): ([\d.]+)% of ([\d.]+) s, (\d+) frames in (\d+) dwells; "
        r"in the whole time (\d+), .*")
SET = Topology(
    access_points=THREE[:2], stations=STATIONS[:2],
    traffic=(traffic(4, 50, 50, 1)[:2], (Command("clock", "date -s 2035.01.01-00:00:00"),),
             traffic(4, 50, 50, 1)[:2]),
    sensors=(Sensor("hall", f"-i mon --channels 1,6 {WHOLE}"),))


def said_by_the_page(air):
    lines = subprocess.run([sys.executable, ROOT / "docs/coverage.py", air.folder / "out.pcapng"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    said = {m[1]: m for m in (re.fullmatch(LINE, line) for line in lines)}
    assert len(said) == len(lines)
    return said


def assert_its_lines_are_the_coverage(air, channels):
    said, coverage = said_by_the_page(air), air.coverage("hall", "mon").values()
    assert len(said) == len(coverage) == channels
    for c in coverage:
        m = said[c["channel"]]
        assert (int(m[4]), int(m[5])) == (c["frames"], c["dwells"])
        assert abs(float(m[2]) / 100 - c["share"]) < 0.001
        assert abs(int(m[6]) - c["frames"] / c["share"]) <= 1


@pytest.mark.topology(EVEN)
def test_its_lines_are_the_coverage(air):
    assert_its_lines_are_the_coverage(air, 3)


@pytest.mark.topology(SET)
def test_a_clock_that_is_set(air):
    """Shares are of the seconds that passed, though the clock is set by years during dwells."""
    dwells = air.dwells("hall", "mon")
    assert dwells[-1].from_ns - dwells[0].from_ns > 365 * 86400 * 10**9
    assert_its_lines_are_the_coverage(air, 2)
    assert all(0 < float(m[3]) < 100 for m in said_by_the_page(air).values())
    assert 0.95 < sum(c["share"] for c in air.coverage("hall", "mon").values()) <= 1
