# SPDX-License-Identifier: GPL-2.0
"""docs/coverage.py, which docs/wifi.md has people use: of real dwells it says what the collector says."""
import re
import subprocess
import sys

import pytest

from netns.testbed import ROOT
from wifi.test_sampling import EVEN

LINE = r"hall:mon channel (\S+): ([\d.]+)% of [\d.]+ s, (\d+) frames in (\d+) dwells; in the whole time (\d+), .*"


@pytest.mark.topology(EVEN)
def test_its_lines_are_the_coverage(air):
    lines = subprocess.run([sys.executable, ROOT / "docs/coverage.py", air.folder / "out.pcapng"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    said = {m[1]: m for m in (re.fullmatch(LINE, line) for line in lines)}
    channels = air.coverage("hall", "mon").values()
    assert len(lines) == len(channels) == 3
    for c in channels:
        m = said[c["channel"]]
        assert (int(m[3]), int(m[4])) == (c["frames"], c["dwells"])
        assert abs(float(m[2]) / 100 - c["share"]) < 0.001
        assert abs(int(m[5]) - c["frames"] / c["share"]) <= 1
