# SPDX-License-Identifier: GPL-2.0
"""A trunk between two cables, in one namespace:

    client === left  [relay]  trunk0 === trunk1  [relay]  right === server

Frames from either side are wrapped (wraps.py), go over the trunk, and are unwrapped at its other
end. With a seed, some frames are lost, repeated, or delayed behind the next one. The last frame
over the trunk is END: a receiver of it has all.

    python -m captures.relay WRAP [SEED]      prints "ready", and ends with its standard input
"""
import random
import select
import socket
import sys

from captures.wraps import WRAPS

ALL, OUTGOING, LONGEST = 3, 4, 70000
LOST, TWICE, LATE = 0.03, 0.01, 0.03
END = bytes.fromhex("02000000fffe" "02000000fffd" "88b5") + b"the end of a recording".ljust(46, b"\0")
SO_RCVBUFFORCE = 33


def opened(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
    s.bind((name, ALL))
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
    return s


class Path:
    """One direction of the trunk, which may lose frames."""

    def __init__(self, to, rng):
        self.to, self.rng, self.held = to, rng, None

    def send(self, frame):
        chance = self.rng.random() if self.rng else 1
        if chance < LOST:
            return
        if chance < LOST + LATE and not self.held:
            self.held = frame
            return
        copies = 2 if LOST + LATE <= chance < LOST + LATE + TWICE else 1
        for one in [frame] * copies + [self.held] * bool(self.held):
            self.to.send(one)
        self.held = None


def main(wrap, seed=None):
    wrap = WRAPS[wrap]
    rng = random.Random(int(seed)) if seed else None
    left, trunk0, trunk1, right = map(opened, ("left", "trunk0", "trunk1", "right"))
    ways = {left: (wrap.wrap, Path(trunk0, rng)), right: (wrap.wrap, Path(trunk1, rng)),
            trunk0: (wrap.unwrap, Path(left, None)), trunk1: (wrap.unwrap, Path(right, None))}
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([*ways, sys.stdin], [], [])
        if ready == [sys.stdin]:
            trunk0.send(END)
            return
        for s in set(ready) - {sys.stdin}:
            frame, address = s.recvfrom(LONGEST)
            if address[2] != OUTGOING:
                change, path = ways[s]
                path.send(change(frame))


if __name__ == "__main__":
    main(*sys.argv[1:])
