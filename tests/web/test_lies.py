# SPDX-License-Identifier: GPL-2.0
"""Boards of a collector that was taken over: saluki-web says what is wrong, and goes on."""
import contextlib
import fcntl
import mmap
import os
import random
import re
import socket
import struct
import threading

import pytest

from netns import testbed
from web import server
from web.server import get, metrics, value

DATA, SLOTS = 4096, 3  # board/board.h
HELLO = struct.pack("=II", 0x44524F42, 1)
SEAL_SHRINK = 2


def path(bed):
    return bed.tmp_path / "board"


@pytest.fixture(scope="session")
def size():
    """Of a real board's memory."""
    text = (testbed.ROOT / "board/board.h").read_text(encoding="utf-8")
    assert re.search(r"#define BOARD_SLOTS (\d+)", text)[1] == str(SLOTS)
    with contextlib.ExitStack() as stack:
        ns = testbed.Namespace()
        stack.callback(ns.close)
        p = ns.start(testbed.BUILD / "tests/pretend_board", "1", stdin=-1, stdout=-1)
        stack.callback(p.communicate)
        stack.callback(p.kill)
        assert p.stdout.readline() == "ready\n"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.connect(f"/proc/{ns.holder.pid}/root/run/saluki-collector/board")
            _, fds, _, _ = socket.recv_fds(s, 100, 3)
        found = os.fstat(fds[0]).st_size
        os.close(fds[0])
        return found


class Liar:
    """Gives a memory to all who connect."""

    def __init__(self, bed, size, hello=HELLO, seal=True):
        self.fd = os.memfd_create("board", os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        if seal:
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, SEAL_SHRINK)
        self.map = mmap.mmap(self.fd, size)
        self.map[:8] = HELLO
        self.hello = hello
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(path(bed)))
        self.listener.listen()
        self.ended = False
        self.threads = [threading.Thread(target=self.give)]
        self.threads[0].start()
        bed.stack.callback(self.end)

    def give(self):
        while not self.ended:
            client, _ = self.listener.accept()
            with client, contextlib.suppress(OSError):
                socket.send_fds(client, [self.hello], [self.fd])

    def publish(self, n):
        struct.pack_into("=I", self.map, 8, n)

    def end(self):
        self.ended = True
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.connect(self.listener.getsockname())
        for t in self.threads:
            t.join()
        self.listener.close()


def check(bed, web, said):
    """It says so, also to clients; the page is served."""
    web.expect(said)
    assert value(metrics(bed), "saluki_web_board_ok") == 0
    answer = get(bed, "/api/fleet.json", "-i", check=False)
    assert answer.startswith("HTTP/1.1 503 ") and "\nRetry-After: " in answer and said in answer, answer
    assert get(bed, "/").startswith("<!doctype html>")


@pytest.mark.parametrize("lie", ["version", "size", "seal"])
def test_other_memory(bed, size, lie):
    bed.liar = Liar(bed, size + (4096 if lie == "size" else 0), HELLO[:4] + b"\x63\0\0\0" if lie == "version" else HELLO,
                    lie != "seal")
    check(bed, server.start(bed, "--board", path(bed)), "the collector has another version than this program")


def test_random_memory(bed, size):
    liar = Liar(bed, size)
    chance = random.Random(1)
    slot = (size - DATA) // SLOTS
    for n in range(SLOTS):
        liar.map[DATA + n * slot:DATA + n * slot + 1_000_000] = chance.randbytes(1_000_000)
    liar.publish(1)
    check(bed, server.start(bed, "--board", path(bed)), "the collector's numbers contradict each other")


def test_a_state_that_never_holds_still(bed, size):
    liar = Liar(bed, size)

    def hurry():
        n = 1
        while not liar.ended:
            n += 7
            liar.publish(n & 0xFFFFFFF)

    liar.threads.append(threading.Thread(target=hurry))
    liar.threads[-1].start()
    check(bed, server.start(bed, "--board", path(bed)), "the collector shows no state yet")
