# SPDX-License-Identifier: GPL-2.0
"""The fixtures of the tests end to end."""
import pytest

from netns.conftest import bed, stamps  # noqa: F401

# Of these files, `make test` runs the named tests only, and `make test-web` the others.
SHORT = {"test_operate.py": (), "test_page.py": ("test_a_sensor_is_killed",)}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "web" and item.originalname not in SHORT.get(item.path.name, (item.originalname,)):
            item.add_marker("full")
