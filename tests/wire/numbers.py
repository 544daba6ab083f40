# SPDX-License-Identifier: GPL-2.0
"""Numbers on the wire, and a reader that refuses to read over the end; for the second implementation."""
from wire.saluki_wire import Refused

M64 = 2**64 - 1


def varint(v):
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    return bytes(out) + bytes([v])


def zigzag(v, bits=64):
    """For a difference modulo 2^bits."""
    v &= (1 << bits) - 1
    return v << 1 if v < 1 << bits - 1 else ((1 << bits) - v) * 2 - 1


def unzigzag(v):
    return v >> 1 if not v & 1 else -(v >> 1) - 1


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        if n > self.left():
            raise Refused("cut")
        self.at += n
        return self.data[self.at - n:self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self, most=M64):
        v = shift = 0
        while True:
            b = self.byte()
            v |= (b & 0x7f) << shift
            shift += 7
            if not b & 0x80:
                break
            if shift > 63:
                raise Refused("a varint of more than 10 bytes")
        if v > most:
            raise Refused("a number that is too large")
        return v
