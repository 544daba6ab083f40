# SPDX-License-Identifier: GPL-2.0
"""saluki-merge behind a collector: two sensors hear the same frames, and the trace has each of them once."""
import subprocess

import pytest

from merge import program
from netns import testbed
from reference import captures

LIVE = testbed.BUILD / "saluki-live"


@pytest.fixture(name="count")
def fixture_count(bundled):
    return len(list(captures.frames(bundled)))


def export(bed, *names, file):
    sensors = [bed.reader(name, file) for name in names]
    for sensor in sensors:
        status, said = sensor.finish(signo=None)
        assert status == 0, said


def assert_merged(trace, count):
    """Frames before a clock is found may stay alone, and the trace's radios have their clocks set anew."""
    found = program.check(trace)
    assert found["frames"] == found["receptions"] + found["malformed"] == 2 * count and found["missed"] == 0
    assert found["several"] > .8 * count


def test_files_of_a_collector(bed, bundled, count):
    bed.keys.sensor("hall")
    collector = bed.collector()
    export(bed, "lib", "hall", file=bundled)
    collector.finish()
    program.run("-w", bed.tmp_path / "unified.pcapng", bed.out)
    assert_merged(bed.tmp_path / "unified.pcapng", count)


def test_a_live_stream(bed, bundled, count):
    bed.keys.sensor("hall")
    collector = bed.collector()
    viewer = testbed.Process(bed.ns, [LIVE, "-w", "-"], "looking at", stdout=subprocess.PIPE)
    bed.stack.callback(viewer.kill)
    merge = subprocess.Popen([program.PROGRAM, "-q", "-r", "-", "-w", bed.tmp_path / "live.pcapng"],
                             stdin=viewer.popen.stdout)
    viewer.popen.stdout.close()
    export(bed, "lib", "hall", file=bundled)
    collector.finish()
    viewer.finish()
    assert merge.wait(20) == 0
    assert_merged(bed.tmp_path / "live.pcapng", count)
