# SPDX-License-Identifier: GPL-2.0
"""Which folder includes which, in one direction, so that there is no circle. A stage of the collector calls the next
one and includes it; a stage of the agent takes frames from the one before it and includes that."""
import os
import re

import pytest

from netns.testbed import ROOT

# A room may include itself, those named here, archive/, board/, dissect/, pcapng/, wire/, common/ and include/.
COLLECTOR = {
    "collector": {"board", "enrol", "status", "network", "source", "combo", "output", "live", "sink", "files", "control",
                  "model"},
    "collector/board": {"control", "sink", "source", "network", "combo", "output", "files", "model"},
    "collector/enrol": {"control", "model"},
    "collector/status": {"model"},
    "collector/control": {"network", "combo", "output", "files", "model"},
    "collector/network": {"combo", "output", "files", "model"},
    "collector/source": {"combo", "output", "files", "model"},
    "collector/combo": {"output", "files", "model"},
    "collector/output": {"sink", "live", "files", "model"},
    "collector/sink": {"files", "model"},
    "collector/live": {"files", "model"},
    "collector/files": {"model"},
    "collector/model": set(),
}
# A frame's way: tap/ has the kernel write it to rings/, source/ reads it there, capture/ packs it, export/ sends
# it. A room includes rooms of lower lines only, and never those that take frames from it:
#
#     root                main, run, and the two processes
#     command/ absent/    other commands; stand-ins for files whose library is not there
#     options/ local/     the command lines; the collector of `saluki capture`
#     status/ control/    answers `saluki status`; the control thread
#     remote/ module/     the collector's orders, in both processes; modules that tap's programs run
#     process/            confines both processes
#     tap/ export/        attaches; the export thread, which takes combos from
#     capture/            the capture thread and its queue, which takes frames from source/ and dwells from
#     radio/              the sampler in one process, and the other one's half, which tunes for tap/
#     source/             takes frames from rings/
#     filter/ rings/      tools
#     programs/ interface/
#     model/              structs that rooms and processes pass on
BELOW_TAP = {"radio", "source", "rings", "filter", "programs", "interface", "model"}
ON_THE_WAY = {"source", "rings", "model"}
AGENT = {
    "agent": {"options", "status", "control", "remote", "process", "tap", "export", "capture", "local", *BELOW_TAP},
    "agent/absent": {"command", "options", "control", "remote", "process", "tap", "export", *BELOW_TAP},
    "agent/command": {"options", "status", "module", "tap", *BELOW_TAP},
    "agent/local": {"filter", "interface", "model"},
    "agent/options": {"export", "capture", "radio", "filter", "model"},
    "agent/status": {"tap", "interface", "model"},
    "agent/control": {"remote", "process", "export", "capture", "radio", *ON_THE_WAY},
    "agent/remote": {"process", "tap", "export", "filter", *ON_THE_WAY},
    "agent/module": {"process", "tap", "programs", "interface", "rings"},
    "agent/process": {"tap", "interface", "rings"},
    "agent/tap": BELOW_TAP - {"source"},
    "agent/export": {"capture", *ON_THE_WAY},
    "agent/capture": {"radio", *ON_THE_WAY},
    "agent/radio": {"source", "interface", "model"},
    "agent/source": {"filter", "programs", "rings", "model"},
    "agent/filter": {"programs", "model"},
    "agent/rings": {"interface", "model"},
    "agent/programs": set(),
    "agent/interface": set(),
    "agent/model": set(),
}
# A reception's way, as merge/main.c has it. sweep/ connects the stages from clock/ to air/: input/ calls it, and run.c and
# output/ know it.
BELOW_HEAD = {"air", "clock", "frame", "model"}
MERGE = {
    "merge": {"command", "output", "input", "sweep", *BELOW_HEAD},
    "merge/command": {"output", "input", "model"},
    "merge/output": {"input", "sweep", *BELOW_HEAD},
    "merge/input": {"sweep", "frame", "model"},
    "merge/sweep": BELOW_HEAD,
    "merge/air": {"clock", "frame", "model"},
    "merge/clock": {"frame", "model"},
    "merge/frame": {"model"},
    "merge/model": set(),
}
# A file's way: folder/ says which is closed, pack/ walks it into an index and columns/, compact/ joins the columns of
# days; find/ searches what is packed.
KEEP = {
    "keep": {"extcap", "find", "service", "process"},
    "keep/extcap": {"find", "process", "folder"},
    "keep/find": {"pseudonym", "compact", "pack", "columns", "place", "process", "folder", "model"},
    "keep/pseudonym": {"model"},
    "keep/service": {"compact", "pack", "columns", "parquet", "place", "folder", "model"},
    "keep/compact": {"parquet", "place"},
    "keep/pack": {"columns", "place", "folder", "model"},
    "keep/columns": {"parquet", "place", "model"},
    "keep/parquet": set(),
    "keep/place": set(),
    "keep/folder": set(),
    "keep/process": set(),
    "keep/model": set(),
}
# put/ carries messages of link/, the socket to a collector, to the brokers; get/ carries them back. client/ is librdkafka's.
KAFKA = {
    "kafka": {"options"},
    "kafka/put": {"topics", "link", "client", "options"},
    "kafka/get": {"topics", "link", "client", "options"},
    "kafka/topics": {"client", "options"},
    "kafka/link": set(),
    "kafka/client": set(),
    "kafka/options": set(),
}
SHARED = {"wire", "common", "archive", "board", "dissect", "pcapng", "include/saluki"}
# A file and the header of what the kernel programs compile too; who starts the printing, with its options.
BOTH_SIDES = {("agent/source", "bpf"), ("agent", "print"), ("agent/options", "print")}


def included(path):
    """The project's own files that a source includes, relative to the root."""
    for mark, name in re.findall(r'^#include (["<])([^">]+)[">]', path.read_text(), re.M):
        for folder in (path.parent, ROOT) if mark == '"' else (ROOT / "include",):
            if (folder / name).is_file():
                yield os.path.normpath(os.path.relpath(folder / name, ROOT))
                break


def edges(top):
    """Pairs of folders, each with the files that connect them."""
    found = {}
    for path in sorted((ROOT / top).rglob("*.[ch]")):
        here = str(path.parent.relative_to(ROOT))
        for name in included(path):
            there = os.path.dirname(name)
            if there != here:
                found.setdefault((here, there), []).append(f"{path.relative_to(ROOT)} includes {name}")
    return found


def circle(follows):
    """A way from something back to itself, [] where there is none. `follows`: what each leads to."""
    done = set()

    def follow(name, way):
        if name in way:
            return [*way[way.index(name):], name]
        if name not in done:
            for to in sorted(follows.get(name, ())):
                if found := follow(to, [*way, name]):
                    return found
            done.add(name)
        return []

    for name in sorted(follows):
        if found := follow(name, []):
            return found
    return []


def modules(top):
    """Which modules each one includes; a module is a .c and its .h."""
    found = {}
    for path in (ROOT / top).rglob("*.[ch]"):
        here = str(path.relative_to(ROOT).with_suffix(""))
        found.setdefault(here, set()).update(there for name in included(path)
                                             if (there := os.path.splitext(name)[0]) != here)
    return found


@pytest.mark.parametrize("top, rooms", [("agent", AGENT), ("collector", COLLECTOR), ("kafka", KAFKA), ("keep", KEEP),
                                        ("merge", MERGE)])
def test_rooms_include_in_one_direction(top, rooms):
    found = edges(top)
    assert {str(p.parent.relative_to(ROOT)) for p in (ROOT / top).rglob("*.[ch]")} == set(rooms)
    wrong = [tie for (here, there), ties in found.items() for tie in ties if there not in SHARED
             and (here, there) not in BOTH_SIDES and there not in {f"{top}/{room}" for room in rooms[here]}]
    assert wrong == []


@pytest.mark.parametrize("rooms", [AGENT, COLLECTOR, KAFKA, KEEP, MERGE], ids=lambda rooms: min(rooms, key=len))
def test_no_rooms_may_include_one_another(rooms):
    top = min(rooms, key=len)
    assert circle({here: {f"{top}/{room}" for room in may} for here, may in rooms.items()}) == []


@pytest.mark.parametrize("top", ["agent", "archive", "board", "collector", "dissect", "kafka", "keep", "live", "merge",
                                 "pcapng", "print", "web"])
def test_no_modules_include_one_another(top):
    assert circle(modules(top)) == []


PROGRAMS = {"agent", "collector", "kafka", "keep", "live", "merge", "swarm", "web"}


@pytest.mark.parametrize("top, others", [
    ("agent", (PROGRAMS | {"board", "dissect"}) - {"agent"}),
    ("collector", (PROGRAMS | {"bpf", "dissect", "print"}) - {"collector"}),
    ("live", (PROGRAMS | {"board", "bpf"}) - {"live"}), ("web", (PROGRAMS | {"bpf", "dissect", "print"}) - {"web"}),
    ("swarm", (PROGRAMS | {"bpf", "dissect"}) - {"swarm"}), ("merge", (PROGRAMS | {"board", "bpf", "print"}) - {"merge"}),
    ("kafka", (PROGRAMS | {"archive", "board", "bpf", "dissect", "pcapng", "print"}) - {"kafka"}),
    ("keep", (PROGRAMS | {"board", "bpf", "print"}) - {"keep"}), ("keep/parquet", PROGRAMS | {"board", "bpf", "print"}),
    ("archive", PROGRAMS | {"board", "bpf", "dissect", "print"}),
    ("dissect", PROGRAMS | {"archive", "board", "common", "print"}),
    ("board", PROGRAMS | {"bpf", "print"}), ("pcapng", PROGRAMS | {"archive", "board", "bpf", "print"}),
    ("print", PROGRAMS),
    ("wire", PROGRAMS | {"board", "bpf", "dissect", "print"}),
    ("common", PROGRAMS | {"board", "bpf", "dissect", "wire", "print"}),
    ("bpf", PROGRAMS | {"common", "dissect", "wire", "print"}),
    ("include", PROGRAMS | {"common", "bpf", "dissect", "wire", "print"})])
def test_programs_meet_in_what_they_share(top, others):
    wrong = [tie for (_, there), ties in edges(top).items() for tie in ties if there.split("/")[0] in others]
    assert wrong == []


def test_printing_includes_only_the_parsers_of_the_kernel_programs():
    of_bpf = {tie.split(" includes ")[1] for (_, there), ties in edges("print").items() for tie in ties if there == "bpf"}
    assert of_bpf == {"bpf/parse_frame.h", "bpf/parse_network.h", "bpf/parse_dot11.h"}


def test_the_dissection_includes_only_what_the_kernel_programs_share():
    of_bpf = {tie.split(" includes ")[1] for (_, there), ties in edges("dissect").items() for tie in ties
              if there.startswith("bpf")}
    assert of_bpf == {f"bpf/{name}.h" for name in ("parse", "parse_frame", "parse_network", "parse_dot11", "view_phy",
                                                   "modules/airtime/airtime")}


def test_no_headers_include_one_another():
    """No headers include one another, in any number of steps."""
    headers = {str(p.relative_to(ROOT)): [name for name in included(p) if name.endswith(".h")]
               for top in (*PROGRAMS, "archive", "board", "common", "dissect", "pcapng", "print", "wire", "include", "bpf")
               for p in (ROOT / top).rglob("*.h")}
    assert len(headers) > 200
    assert circle(headers) == []
