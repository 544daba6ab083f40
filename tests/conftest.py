# SPDX-License-Identifier: GPL-2.0
"""Settings of all Python tests: the available captures, and a report of everything left out."""
import pathlib
import platform
import sys
import tempfile
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent / "netns"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "packaging"))

from reference import captures


LEFT_OUT = pytest.StashKey[int]()


@pytest.fixture(scope="session", autouse=True)
def fixture_reachable(tmp_path_factory):
    """Programs under test drop their rights, and enter folders of tests."""
    base, above = tmp_path_factory.getbasetemp(), pathlib.Path(tempfile.gettempdir())
    for folder in (base, *base.parents):
        if above in folder.parents:
            folder.chmod(0o755)


def pytest_configure(config):
    if captures.have_foreign() and not captures.FOREIGN.root.is_dir():
        raise pytest.UsageError(f"SALUKI_CAPTURES={captures.FOREIGN.root}: no such folder; without SALUKI_CAPTURES "
                                "the tests use the project's own captures alone")
    config.addinivalue_line("markers", "foreign: needs captures that are not the project's own")
    config.addinivalue_line("markers", "alone: measures time or rates, or looks at the whole "
                                       "machine: not beside other tests (tests/run)")
    config.addinivalue_line("markers", "paired: measures time, and leaves most of a CPU: beside "
                                       "one other such test")
    config.addinivalue_line("markers", "full: only by `make test-web`")
    config.addinivalue_line("markers", "long: waits for half a minute or more: begins first")
    config.addinivalue_line("markers", "package: builds Debian packages or runs them, for minutes: make test-package")
    config.addinivalue_line("markers", "topology(what): what is on the air (wifi/topology.py)")


def pytest_generate_tests(metafunc):
    """`traces` are the project's own captures, and once more the foreign ones."""
    given = (m.args[0] for m in metafunc.definition.iter_markers("parametrize"))
    if "traces" in metafunc.fixturenames and not any("traces" in names for names in given):
        metafunc.parametrize("traces", [captures.OWN, pytest.param(captures.FOREIGN, marks=pytest.mark.foreign)],
                             ids=str)


def turn(item):
    """The order of tests that run beside each other: long ones first; neighbours in a file, which need the
    same (a CPU, or a disk), at different times."""
    return item.get_closest_marker("long") is None, zlib.crc32(item.nodeid.encode())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    machine = platform.machine()
    strange = pytest.mark.skip(reason="the kernel packages are for x86_64, this machine is "
                                      f"{machine}")
    for item in items:
        if item.path.parent.name in ("vm", "wifi") and machine != "x86_64":
            item.add_marker(strange)
    if hasattr(config, "workerinput"):  # beside others
        items.sort(key=turn)
    if captures.have_foreign():
        return
    left_out = [item for item in items if item.get_closest_marker("foreign")]
    items[:] = [item for item in items if not item.get_closest_marker("foreign")]
    config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = len(left_out)


def pytest_sessionfinish(session):
    """An xdist worker sends its results to the process that prints them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter, config):
    """tests/run adds these up."""
    if config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{config.stash[LEFT_OUT]} more tests with SALUKI_CAPTURES")


@pytest.fixture
def bundled(tmp_path):
    """The small bundled trace, uncompressed."""
    path = tmp_path / "hwsim.pcap"
    path.write_bytes(captures.file_bytes(captures.BUNDLED))
    return path
