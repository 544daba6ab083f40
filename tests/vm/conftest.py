# SPDX-License-Identifier: GPL-2.0
"""All VMs needed by the chosen tests run at once; a test waits for its own."""
import os
import pathlib
import time

import pytest

from netns import testbed
from vm import cases, kernels, machine

MODULES = ("tun", "veth", "sch_ingress", "cls_bpf", "mac80211_hwsim")
PROGRAMS = [*(testbed.ROOT / "build" / p for p in ("saluki", "saluki-collector", "tests/play",
                                                   "tests/trim_run", "tests/filter_run",
                                                   "tests/flow_kernel")),
            *(pathlib.Path("/sbin") / p for p in ("ip", "ethtool", "iw"))]
INIT = pathlib.Path(__file__).parent / "init"
# A VM's time limit, from the start of all. With a warm cache and two cores, 250 s are usual
# beside other tests.
SECONDS = 600


def _chosen(session):
    """The machines that the chosen tests need: a kernel's name, or that of its way to boot."""
    asked = {item.callspec.params.get("kernel") for item in session.items
             if hasattr(item, "callspec")}
    return [name for name in (*kernels.KERNELS, *cases.BOOTED) if name in asked]


@pytest.fixture(scope="session")
def machines(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vm")
    trees = {}
    for name in _chosen(request.session):
        trees[name], seconds = kernels.tree(cases.BOOTED.get(name, (name,))[0])
        print(f"Linux {name}: {trees[name].name}, "
              f"{f'fetched in {seconds:.0f} s' if seconds else 'in the cache'}")
    began = time.monotonic()
    cases.write(folder / "common/data")
    base = machine.base(folder / "common", INIT, PROGRAMS)
    running = {}
    try:
        for name, tree in trees.items():
            running[name] = machine.Machine(
                folder / name, tree, base, MODULES,
                {"cases": "".join(f"{line}\n" for line in cases.lines(name))},
                append=cases.BOOTED.get(name, (name, ""))[1])
        yield running
    finally:
        for vm in running.values():
            vm.end()
    print(f"{len(running)} VMs on {os.cpu_count()} cores: {time.monotonic() - began:.0f} s; " +
          ", ".join(f"Linux {name} {vm.seconds:.0f} s" for name, vm in running.items()))


@pytest.fixture
def vm(machines, kernel):
    """The folder with a VM's results, once it has ended."""
    wrong = machines[kernel].finish(SECONDS)
    if wrong:
        pytest.fail(wrong, pytrace=False)
    return machines[kernel].out
