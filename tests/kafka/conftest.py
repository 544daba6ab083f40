# SPDX-License-Identifier: GPL-2.0
"""The brokers of the tests. Where Java, Maven or the jars are missing, tests that need a broker are skipped; in CI they
fail."""
import contextlib
import itertools
import os
import re

import pytest

from kafka import jars
from kafka.broker import Broker, Cluster

_numbers = itertools.count(1)


@pytest.fixture(name="jars_there", scope="session")
def fixture_jars_there():
    try:
        return jars.folder()
    except jars.Missing as why:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(why))


@pytest.fixture(name="broker", scope="session")
def fixture_broker(jars_there, tmp_path_factory):
    """For all tests that leave it running, with topics of their own (`prefix`)."""
    with Broker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker.start()


@pytest.fixture(name="make_broker")
def fixture_make_broker(jars_there, tmp_path):
    """make_broker(...): a broker that is running, to be killed, suspended or filled."""
    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(
            Broker(tmp_path / f"broker-{next(_numbers)}", **options)).start()


@pytest.fixture(name="own_broker")
def fixture_own_broker(make_broker):
    return make_broker()


@pytest.fixture(name="cluster")
def fixture_cluster(jars_there, tmp_path):
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster.start()


@pytest.fixture(name="prefix")
def fixture_prefix(request):
    """The beginning of topics' names, of this test alone."""
    return re.sub(r"[^\w-]+", "-", request.node.name)[:60] + f"-{next(_numbers)}"
