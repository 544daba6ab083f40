# SPDX-License-Identifier: GPL-2.0
"""A collector accepts sensors of the previous release: packaging/previous-release names its commit. The sensor is built
once, into the cache."""
import subprocess

import debian
import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.testbed import ROOT
from reference import captures


def commit():
    lines = (ROOT / "packaging/previous-release").read_text().splitlines()
    return next(line for line in lines if not line.startswith("#"))


def build(folder, release):
    archive = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "archive", release], capture_output=True,
                             check=False)
    if archive.returncode:
        pytest.fail(f"this clone lacks commit {release} of the previous release; 'git fetch --unshallow' gets it "
                    f"({archive.stderr.decode().strip()})", pytrace=False)
    (folder / "source").mkdir()
    (folder / "made").mkdir()
    subprocess.run(["tar", "-x", "-C", folder / "source"], input=archive.stdout, check=True)
    subprocess.run(["nice", "make", "-s", "-j2", "-C", folder / "source", "build/saluki"], check=True, capture_output=True)
    (folder / "source/build/saluki").rename(folder / "made/saluki")
    return folder / "made"


@pytest.fixture(name="previous")
def fixture_previous(bed):
    """That release's sensor, where every user may execute it."""
    name = f"saluki-{commit()[:12]}"
    kept = debian.CACHE / name
    if not kept.exists():
        with debian.workshop() as folder:
            kept = debian.keep(build(folder, commit()), name)
    return testbed.for_anybody(kept / "saluki", bed.tmp_path)


@pytest.mark.long
def test_a_sensor_of_the_previous_release(bed, bundled, previous):
    """It exports a file, and then the frames of an interface while both ends are started again."""
    collector = bed.collector()
    sensor = testbed.Process(bed.ns, [previous, "run", "-r", bundled, "--to", "127.0.0.1:5600", "--key",
                                      bed.keys.sensor("lib")], None)
    status, said = sensor.finish(None)
    assert status == 0, said
    assert collector.finish()[0] == 0
    sent = list(captures.frames(bundled))
    assert_balanced(collector.sensor_stats("lib"), len(sent))
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "2000"])
    sensor = testbed.Process(bed.ns, [previous, "run", "-i", "mon0", "--to", "127.0.0.1:5600", "--key",
                                      bed.keys.sensor("two")], "capturing by")
    collector.expect("sensor two: connected")
    player.go()
    assert collector.finish()[0] == 0
    collector = bed.collector()
    assert player.played() == len(sent)
    status, said = sensor.finish()
    assert status == 0, said
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("two")
    assert_balanced(stats, len(sent), earlier=stats["earlier"])
    assert_same(sent + sent, list(captures.frames(bed.out)), stamps=False)
