# SPDX-License-Identifier: GPL-2.0
"""saluki-live: viewers see each frame that the collector writes once, or count it as missed."""
import os
import pathlib
import signal
import subprocess

import pytest

from netns import testbed
from netns.compare import assert_same, assert_tshark_agrees, tshark_fields
from netns.live import long_trace
from reference import captures

LIVE = testbed.BUILD / "saluki-live"


class Viewer(testbed.Process):
    """saluki-live with -w FILE."""

    def __init__(self, bed, name="view.pcapng", options=(), ready="looking at", before=(), **kwargs):
        self.out = bed.tmp_path / name
        super().__init__(bed.ns, [*before, LIVE, "-w", self.out, *options], ready, **kwargs)
        bed.stack.callback(self.kill)

    def frames(self):
        return list(captures.frames(self.out, captures.INTERFACES_MAX))

    def statistics(self):
        """The last statistics of each interface: received, accepted, missed."""
        return last_statistics(self.out)


def blocks(path):
    data = pathlib.Path(path).read_bytes()
    at = 0
    while at + 12 <= len(data):
        kind, length = (int.from_bytes(data[at + n:at + n + 4], "little") for n in (0, 4))
        yield kind, data[at:at + length]
        at += length
    assert at == len(data)


def last_statistics(path):
    found = {}
    for kind, block in blocks(path):
        if kind != 5:
            continue
        at, counts = 20, {}
        while (code := int.from_bytes(block[at:at + 2], "little")):
            length = int.from_bytes(block[at + 2:at + 4], "little")
            counts[code] = int.from_bytes(block[at + 4:at + 4 + length], "little")
            at += 4 + (length + 3 & ~3)
        found[int.from_bytes(block[8:12], "little")] = (counts[4], counts[6], counts[7])
    return found


def export(bed, name, file, **kwargs):
    status, said = bed.reader(name, file, **kwargs).finish(signo=None)
    assert status == 0, said


def test_a_viewer_sees_what_is_written(bed, bundled):
    collector = bed.collector()
    viewer = Viewer(bed)
    export(bed, "lib", bundled)
    sent = list(captures.frames(bundled))
    testbed.wait_for(lambda: len(viewer.frames()) == len(sent), "all frames")
    status, said = viewer.finish()
    assert status == 0 and f"{len(sent)} frames" in said
    assert_same(sent, viewer.frames())
    assert_tshark_agrees(viewer.out, viewer.frames())
    assert list(viewer.statistics().values()) == [(len(sent), len(sent), 0)]
    assert collector.finish()[0] == 0
    assert_same(sent, captures.frames(bed.out))
