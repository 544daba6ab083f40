# SPDX-License-Identifier: GPL-2.0
"""Settings of all Python tests: where the captures are, and that nothing is skipped in silence."""
import pathlib
import platform
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent / "netns"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "packaging"))

from reference import captures  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "captures: needs the captures beside the project")
    config.addinivalue_line("markers", "alone: measures time or rates, or looks at the whole "
                                       "machine: not beside other tests (tests/run)")
    config.addinivalue_line("markers", "topology(what): what is on the air (wifi/topology.py)")


def pytest_collection_modifyitems(items):
    absent = pytest.mark.skip(reason=f"captures are absent: no folder {captures.CAPTURES} "
                                     "(set SALUKI_CAPTURES)")
    machine = platform.machine()
    strange = pytest.mark.skip(reason="the kernel packages are for x86_64, this machine is "
                                      f"{machine}")
    for item in items:
        if item.get_closest_marker("captures") and not captures.have():
            item.add_marker(absent)
        if item.path.parent.name in ("vm", "wifi") and machine != "x86_64":
            item.add_marker(strange)


@pytest.fixture
def bundled(tmp_path):
    """The small trace that comes with the project, unpacked."""
    path = tmp_path / "hwsim.pcap"
    path.write_bytes(captures.file_bytes(captures.BUNDLED))
    return path
