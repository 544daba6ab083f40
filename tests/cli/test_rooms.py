# SPDX-License-Identifier: GPL-2.0
"""Which folder includes which. A stage includes stages that come after it on a frame's way, and what stands
beside the way; so there is no circle."""
import os
import re

import pytest

from netns.testbed import ROOT

# A room may include itself, those named here, wire/ and include/.
COLLECTOR = {
    "collector": {"network", "combo", "output", "files", "control", "model"},
    "collector/control": {"network", "combo", "output", "files", "model"},
    "collector/network": {"combo", "output", "files", "model"},
    "collector/combo": {"output", "files", "model"},
    "collector/output": {"files", "model"},
    "collector/files": {"model"},
    "collector/model": set(),
}
SHARED = {"wire", "include/saluki"}


def included(path):
    """The project's own files that a source includes, relative to the root."""
    for mark, name in re.findall(r'^#include (["<])([^">]+)[">]', path.read_text(), re.M):
        for folder in (path.parent, ROOT) if mark == '"' else (ROOT / "include",):
            if (folder / name).is_file():
                yield os.path.normpath(os.path.relpath(folder / name, ROOT))
                break


def edges(top):
    """Pairs of folders, each with the files that tie them."""
    found = {}
    for path in sorted((ROOT / top).rglob("*.[ch]")):
        here = str(path.parent.relative_to(ROOT))
        for name in included(path):
            there = os.path.dirname(name)
            if there != here:
                found.setdefault((here, there), []).append(f"{path.relative_to(ROOT)} includes {name}")
    return found


def test_the_collectors_rooms_include_what_comes_after_them():
    found = edges("collector")
    assert {here for here, _ in found} == set(COLLECTOR)
    wrong = [tie for (here, there), ties in found.items() for tie in ties
             if there not in SHARED and there not in {f"collector/{room}" for room in COLLECTOR[here]}]
    assert wrong == []


@pytest.mark.parametrize("top, others", [("agent", {"collector", "swarm"}), ("collector", {"agent", "swarm"}),
                                         ("wire", {"agent", "collector", "swarm", "bpf"}),
                                         ("include", {"agent", "collector", "swarm", "bpf", "wire"})])
def test_programs_meet_in_what_they_share(top, others):
    wrong = [tie for (_, there), ties in edges(top).items() for tie in ties if there.split("/")[0] in others]
    assert wrong == []


def test_no_headers_include_one_another():
    """Followed from each header, by way of headers alone."""
    headers = {str(p.relative_to(ROOT)): [name for name in included(p) if name.endswith(".h")]
               for top in ("agent", "collector", "swarm", "wire", "include", "bpf")
               for p in (ROOT / top).rglob("*.h")}
    done = set()

    def follow(name, way):
        assert name not in way, " -> ".join([*way[way.index(name):], name])
        if name in done:
            return
        for to in headers.get(name, []):
            follow(to, [*way, name])
        done.add(name)

    assert len(headers) > 200
    for name in headers:
        follow(name, [])
