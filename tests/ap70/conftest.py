# SPDX-License-Identifier: GPL-2.0
"""One virtual AP70 runs all chosen tests' cases, one after the other; a test waits for its end. Its
collectors are on the host."""
import contextlib

import pytest

from ap70 import cases, machine, system
from netns import testbed

# The VM's time limit. With a warm cache and two cores, 50 s are usual.
SECONDS = 600
PORT = 5600
PROGRAMS = [machine.BUILD / p for p in ("saluki", "tests/play", "tests/hog", "tests/old_kernel",
                                        "tests/newer_calls", "tests/monitor")]


def _chosen(session):
    asked = {item.callspec.params.get("name") for item in session.items
             if hasattr(item, "callspec")}
    return {name: case for name, case in cases.CASES.items() if name in asked}


def _collector(stack, ns, folder, port):
    keys = testbed.Keys(folder)
    keys.sensor("lib")
    collector = testbed.Collector(ns, keys, folder / "out.pcapng", f"{machine.HOST}:{port}")
    stack.callback(collector.kill)
    return collector


@pytest.fixture(scope="session")
def ap70(request, tmp_path_factory):
    """The guest's results, one folder per case."""
    folder = tmp_path_factory.mktemp("ap70")
    folder.chmod(0o755)
    folder.parent.chmod(0o755)
    folder.parent.parent.chmod(0o755)
    out = folder / "out"
    out.mkdir()
    kernel, busybox, seconds = system.both()
    print(f"{kernel.parent.name}, {busybox.parent.name}: " +
          (f"made in {seconds:.0f} s" if seconds > 1 else "in the cache"))
    cases.write(out)
    lines = []
    with contextlib.ExitStack() as stack:
        ns = testbed.Namespace()
        stack.callback(ns.close)
        machine.plug_in(ns)
        collectors = []
        for n, (name, case) in enumerate(_chosen(request.session).items()):
            where = cases.folder(name)
            (out / where).mkdir()
            if not case.by:
                lines.append(f"{case.verb} {where} {case.packets}\n")
                continue
            lines.append(f"{case.verb} {where} {PORT + n} {case.packets} {case.options}\n")
            collectors.append(_collector(stack, ns, out / where, PORT + n))
        (out / "cases").write_text("".join(lines))
        vm = machine.Ap70(folder, ns, kernel, busybox, system.HERE / "init", PROGRAMS,
                          radios=3)
        stack.callback(vm.end)
        wrong = vm.finish(SECONDS)
        if wrong:
            pytest.fail(wrong, pytrace=False)
        print(f"the virtual AP70 was up for {vm.seconds:.0f} s")
        for collector in collectors:
            collector.finish()
    return out
