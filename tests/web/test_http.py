# SPDX-License-Identifier: GPL-2.0
"""Hostile and wrong HTTP, by raw sockets: each request has its answer, and a client beside them is served."""
import contextlib
import ctypes
import os
import re
import socket
import time

import pytest

from web import server
from web.server import ADDRESS, get

KEPT = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
HEAD = KEPT + b"Connection: close\r\n"
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                               "img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff", "cache-control": "no-store", "referrer-policy": "no-referrer"}


libc = ctypes.CDLL(None, use_errno=True)


def setns(fd):
    if libc.setns(fd, 0):
        raise OSError(ctypes.get_errno(), "setns")


@contextlib.contextmanager
def inside(bed):
    """This process, in the test's network."""
    mine = os.open("/proc/self/ns/net", os.O_RDONLY)
    theirs = os.open(f"/proc/{bed.ns.holder.pid}/ns/net", os.O_RDONLY)
    try:
        setns(theirs)
        yield
    finally:
        setns(mine)
        os.close(mine)
        os.close(theirs)


def connect(bed):
    with inside(bed):
        host, port = ADDRESS.split(":")
        return socket.create_connection((host, int(port)), timeout=20)


def answer(s):
    """All bytes until the server closes the connection."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while more := s.recv(65536):
            said += more
    return said


def ask(bed, request, close_after=True):
    with connect(bed) as s:
        with contextlib.suppress(OSError):  # the answer may come before the end
            s.sendall(request)
            if close_after:
                s.shutdown(socket.SHUT_WR)
        return answer(s)


def codes(said):
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) [A-Z]", said)]


@pytest.fixture
def web(bed):
    p = server.start(bed, "--board", bed.tmp_path / "none")
    yield p
    assert get(bed, "/metrics")
    status, said = p.finish()
    assert status == 0 and "Sanitizer" not in said, said


REQUESTS = [
    (HEAD + b"\r\n", [200]),
    (b"HEAD /metrics HTTP/1.1\r\nHost: localhost:5680\r\nConnection: close\r\n\r\n", [200]),
    (b"GET / HTTP/1.1\r\nHost: [::1]:5680\r\nConnection: close\r\n\r\n", [200]),
    (b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", [200]),
    (b"GET /no HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", [404]),
    (b"GET /%6detrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", [404]),
    (b"GET /../metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", [404]),
    (b"GET http://evil/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", [404]),
    (b"GET /metrics%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", [404]),
    (b"GET /metrics HTTP/1.1\r\n\r\n", [400]),
    (b"GET / HTTP/1.0\r\n\r\n", [421]),
    (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", [421]),
    (b"GET / HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", [421]),
    (b"GET / HTTP/1.1\r\nHost: localhost:80:80\r\n\r\n", [421]),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", [421]),
    (b"GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n", [400, 421]),
    (b"POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", [405]),
    (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", [405]),
    (b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", [405]),
    (HEAD + b"Content-Length: 3\r\n\r\nabc", [413]),
    (HEAD + b"Content-Length: 99999999999999999999\r\n\r\nabc", [413, 400]),
    (HEAD + b"Content-Length: -1\r\n\r\n", [413, 400]),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", [413]),
    (HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", [413, 400]),
    (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", [413, 400]),
    (b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", [505, 400]),
    (b"GET / HTTP/1.9\r\nHost: localhost\r\n\r\n", [505, 400]),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505, 400, 405]),
    (HEAD + b"X: " + b"a" * 200_000 + b"\r\n\r\n", [431]),
    (HEAD + b"X: a\r\n" * 40_000 + b"\r\n", [431]),
    (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", [414]),
    (b"GET /?" + b"a=b&" * 50_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", [414]),
]
NO_HTTP = [b"GET /\r\n", b"GET /\r\n\r\n", b"\0" * 1000, b"\x16\x03\x01\x02\0\x01\0\x01\xfc" * 20,
           b"GET\0/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\n" * 1000, b" / HTTP/1.1\r\n\r\n"]


def test_requests(web, bed):
    for request, wanted in REQUESTS:
        said = ask(bed, request)
        assert codes(said) and set(codes(said)) <= set(wanted), (request[:100], said[:400])
        assert b"access-control" not in said.lower()


def test_is_no_http(web, bed):
    """The connection is closed, with an error or without an answer."""
    clients = [connect(bed) for _ in NO_HTTP]
    for client, request in zip(clients, NO_HTTP):
        with contextlib.suppress(OSError):  # the answer may come before the end
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
    for client, request in zip(clients, NO_HTTP):
        said = answer(client)
        client.close()
        assert b"saluki_" not in said and all(code >= 400 for code in codes(said)), (request, said)


def test_headers(web, bed):
    """Every answer of the program has them."""
    local = b"Host: localhost\r\n"
    for request in (HEAD + b"\r\n", HEAD.replace(b"metrics", b"") + b"\r\n", HEAD.replace(b"metrics", b"no") + b"\r\n",
                    HEAD.replace(b"localhost", b"evil") + b"\r\n", b"PUT / HTTP/1.1\r\n" + local + b"\r\n",
                    HEAD + b"Content-Length: 1\r\n\r\n"):
        head = ask(bed, request).partition(b"\r\n\r\n")[0].decode()
        found = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:])
        assert HEADERS.items() <= found.items(), head


def test_pipelined(web, bed):
    """Requests behind a refused one are not read as requests: they could be its body."""
    assert codes(ask(bed, (KEPT + b"\r\n") * 4 + HEAD + b"\r\n")) == [200] * 5
    smuggled = HEAD + b"Content-Length: 60\r\n\r\n" + HEAD + b"\r\n"
    assert codes(ask(bed, smuggled)) == [413]
    assert codes(ask(bed, HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HEAD + b"\r\n")) == [413]


def test_slow_clients(web, bed):
    """A silent client, and one that sends a byte each second, are ended after 10 s."""
    silent, slow = connect(bed), connect(bed)
    began = time.monotonic()
    with silent, slow:
        with contextlib.suppress(ConnectionError):
            for byte in HEAD + b"X" * 100:
                slow.sendall(bytes([byte]))
                slow.settimeout(1)
                try:
                    if not slow.recv(1):
                        break
                except TimeoutError:
                    pass
                assert time.monotonic() - began < 15
        assert 9 < time.monotonic() - began < 13
        assert answer(silent) == b"" and time.monotonic() - began < 13


def test_many_silent_clients(web, bed):
    """Many connections without requests: a client with one is served at once."""
    silent = [connect(bed) for _ in range(40)]
    began = time.monotonic()
    assert b"saluki_web_board_ok" in ask(bed, HEAD + b"\r\n")
    assert time.monotonic() - began < 2
    for s in silent:
        s.close()


def test_a_client_that_does_not_read(web, bed):
    """The others are served."""
    with connect(bed) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.setblocking(False)
        with contextlib.suppress(BlockingIOError, ConnectionError):
            for _ in range(20_000):
                s.send(KEPT + b"\r\n")
        assert get(bed, "/metrics")


def test_host_names(bed):
    web = server.start(bed, "--board", bed.tmp_path / "none", "--host-name", "Fleet.example", "--host-name", "b")
    for name, code in (("fleet.example", 200), ("fleet.example:443", 200), ("b", 200), ("c", 421), ("localhost", 200)):
        said = ask(bed, f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
        assert codes(said) == [code], name
    assert web.finish()[0] == 0


def test_not_changed(bed):
    """A client that has the present state gets no body."""
    bed.collector()
    server.start(bed)
    tag = None
    deadline = time.monotonic() + 20
    while not tag and time.monotonic() < deadline:
        head = ask(bed, HEAD + b"\r\n").partition(b"\r\n\r\n")[0].decode()
        tag = dict(line.split(": ", 1) for line in head.splitlines()[1:]).get("ETag")
    assert tag
    # A new state may come between the two requests.
    for _ in range(10):
        head = ask(bed, HEAD + b"\r\n").partition(b"\r\n\r\n")[0].decode()
        tag = dict(line.split(": ", 1) for line in head.splitlines()[1:])["ETag"]
        said = ask(bed, HEAD + f"If-None-Match: {tag}\r\n\r\n".encode())
        if codes(said) == [304]:
            break
    assert codes(said) == [304] and said.endswith(b"\r\n\r\n"), said
    assert codes(ask(bed, HEAD + b'If-None-Match: "1-1"\r\n\r\n')) == [200]
