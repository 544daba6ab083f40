# SPDX-License-Identifier: GPL-2.0
"""Folders of capture files that tests look at."""
import pytest

from keep import made


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    (tmp_path / "captures").mkdir()
    return tmp_path / "captures"


@pytest.fixture(scope="session", name="frames")
def fixture_frames():
    return made.bundled()
