# SPDX-License-Identifier: GPL-2.0
"""Simulations that several tests look at, and their truth."""
import pytest

from merge import sim
from merge.truth import Truth

SMALL = {"seconds": 8.0, "sensors": 16, "aps": 9, "stas": 40}


class Written:
    """A simulation with its files."""

    def __init__(self, folder, **parameters):
        self.air = sim.simulate(**{**SMALL, **parameters})
        self.stream, self.files = folder / "all.pcapng", folder / "each"
        self.air.write_stream(self.stream)
        self.air.write_files(self.files)
        self.air.write_truth(folder / "truth.npz")
        self.truth = Truth(folder / "truth.npz")


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Parameters -> a simulation with its files, which is made once."""
    made = {}

    def write(**parameters):
        key = tuple(sorted(parameters.items()))
        if key not in made:
            made[key] = Written(tmp_path_factory.mktemp("simulated"), **parameters)
        return made[key]
    return write


@pytest.fixture
def plain(written):
    return written(batch=True)


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    """Programs under test drop their rights."""
    tmp_path.chmod(0o755)
    return tmp_path
