# SPDX-License-Identifier: GPL-2.0
"""Large answers: the collector ends meanwhile, and clients that do not read them."""
import re
import socket

import pytest

from netns import testbed
from web import server
from web.pretended import Pretended
from web.server import get, metrics, value
from web.test_http import HEAD, answer, connect


def lost(bed):
    return value(metrics(bed), "saluki_web_board_ok") == 0


def shown(bed):
    return value(metrics(bed), "saluki_web_board_ok") == 1


def slow_client(bed, room=4096):
    """It has asked, and takes little if it does not read."""
    s = connect(bed)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    s.sendall(HEAD + b"\r\n")
    return s


def test_the_collector_restarts_amid_a_scrape(bed):
    """The scrape is whole, and the next one is the new collector's."""
    board = Pretended(bed, 2000)
    server.start(bed)
    testbed.wait_for(lambda: shown(bed), "the board", 20, 0.1)
    with slow_client(bed, 200_000) as s:
        s.settimeout(20)
        said = s.recv(4096)
        board.end()
        # The library ends a connection on which nothing happens for 10 s.
        testbed.wait_for(lambda: lost(bed), "no board", 9, 0.1)
        said += answer(s)
    head, _, body = said.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    assert len(body) == length > 3_000_000 and server.samples(body.decode())["saluki_web_board_ok"] == [({}, 1.0)]
    assert lost(bed)
    Pretended(bed, 3)
    testbed.wait_for(lambda: shown(bed), "the board again", 20, 0.1)
    assert value(metrics(bed), "saluki_collector_sensors") == 3


@pytest.mark.full
def test_clients_that_do_not_read(bed):
    """Each keeps another second's metrics in memory, which is limited; when they have gone, all is well."""
    Pretended(bed, 10_000)
    web = server.start(bed, "--metrics-channels")
    testbed.wait_for(lambda: shown(bed), "the board", 20, 0.1)
    idle = testbed.anonymous_kib(web.pid())
    clients = {}

    def refused():
        """Adds a client for a new state."""
        head = get(bed, "/metrics", "-I", check=False)
        tag = re.search(r"ETag: (\S+)", head)
        if tag and tag[1] not in clients:
            clients[tag[1]] = slow_client(bed)
        return head.startswith("HTTP/1.1 503 ") and "\nRetry-After: " in head

    # A client that reads nothing for 10 s is ended: the others must come faster.
    testbed.wait_for(refused, "the limit", 60, 0.2)
    assert 3 <= len(clients) < 10
    assert testbed.anonymous_kib(web.pid()) < idle + 200_000
    assert get(bed, "/").startswith("<!doctype html>")
    for s in clients.values():
        s.close()
    testbed.wait_for(lambda: get(bed, "/metrics", "-I", check=False).startswith("HTTP/1.1 200"), "metrics", 20, 0.2)
