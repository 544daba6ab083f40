# SPDX-License-Identifier: GPL-2.0
"""One VM runs the chosen tests' topologies, one after the other; a test waits for its end."""
import pytest

from wifi import on_air, outcome

# The VM's time limit. Beside other tests it takes less than half of that.
SECONDS = 600


def _topology(item):
    marker = item.get_closest_marker("topology")
    return marker and marker.args[0]


def _chosen(session):
    """The topologies of the chosen tests, by their folders' names: each runs once."""
    found = dict.fromkeys(filter(None, map(_topology, session.items)))
    return {t: f"{n:02}" for n, t in enumerate(found)}


@pytest.fixture(scope="session")
def all_air(request, tmp_path_factory):
    """{topology: the folder with its results}"""
    try:
        return on_air.run(tmp_path_factory.mktemp("wifi"), _chosen(request.session), SECONDS)
    except RuntimeError as e:
        pytest.fail(str(e), pytrace=False)


@pytest.fixture
def air(request, all_air):
    """The results of the test's topology."""
    t = _topology(request.node)
    return outcome.Outcome(t, all_air[t])
