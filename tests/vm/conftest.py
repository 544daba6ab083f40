# SPDX-License-Identifier: GPL-2.0
"""All VMs that the chosen tests are about run at once; a test waits for its own."""
import os
import platform
import time

import pytest

from vm import cases, kernels, machine

# What a VM has, from the moment when all are started. Warm, with two cores, 100 s are usual.
SECONDS = 360


def pytest_collection_modifyitems(items):
    if platform.machine() == "x86_64":
        return
    for item in items:
        if item.path.parent.name == "vm":
            item.add_marker(pytest.mark.skip(reason="the kernel packages are for x86_64, this "
                                             f"machine is {platform.machine()}"))


def _chosen(session):
    """The kernels that the tests to be run ask for."""
    asked = {item.callspec.params.get("kernel") for item in session.items
             if hasattr(item, "callspec")}
    return [name for name in kernels.KERNELS if name in asked]


@pytest.fixture(scope="session")
def machines(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vm")
    trees = {}
    for name in _chosen(request.session):
        trees[name], seconds = kernels.tree(name)
        print(f"Linux {name}: {trees[name].name}, "
              f"{f'fetched in {seconds:.0f} s' if seconds else 'in the cache'}")
    began = time.monotonic()
    base = machine.common(folder / "common")
    running = {}
    try:
        for name, tree in trees.items():
            running[name] = machine.Machine(folder / name, tree, base, cases.lines(name))
        yield running
    finally:
        for vm in running.values():
            vm.end()
    print(f"{len(running)} VMs on {os.cpu_count()} cores: {time.monotonic() - began:.0f} s; " +
          ", ".join(f"Linux {name} {vm.seconds:.0f} s" for name, vm in running.items()))


@pytest.fixture
def vm(machines, kernel):
    """The folder with what a VM has left behind, once it has ended."""
    wrong = machines[kernel].finish(SECONDS)
    if wrong:
        pytest.fail(wrong, pytrace=False)
    return machines[kernel].out
