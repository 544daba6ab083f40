# SPDX-License-Identifier: GPL-2.0
"""Pseudonyms a second time, written from docs/keep-pseudonyms.txt and keep/pseudonym/pseudonym.h."""
import hashlib

MASK = 2**64 - 1
LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
STAY = (b"\x01\x80\xc2\0\0", b"\x01\0\x5e\0\0", b"\x33\x33\0\0\0")
HALF_BITS = 23


def siphash(key, data):
    """SipHash-2-4 of fewer than 256 bytes (Aumasson and Bernstein, 2012)."""
    k0, k1 = (int.from_bytes(key[n:n + 8], "little") for n in (0, 8))
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def rotate(x, n):
        return (x << n | x >> 64 - n) & MASK

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[2] = (v[2] + v[3]) & MASK
            v[1] = rotate(v[1], 13) ^ v[0]
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[1]) & MASK
            v[0] = (v[0] + v[3]) & MASK
            v[1] = rotate(v[1], 17) ^ v[2]
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data)])
    for n in range(0, len(padded), 8):
        word = int.from_bytes(padded[n:n + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def stays(address):
    return address in (bytes(6), b"\xff" * 6) or address[:5] in STAY


def permute(key, local, x, half_bits=HALF_BITS):
    """The Feistel network, forwards."""
    mask = 2**half_bits - 1
    left, right = x >> half_bits, x & mask
    for n in range(10):
        value = siphash(key, bytes([n, local, 0, 0]) + right.to_bytes(4, "little"))
        left, right = right, (left ^ value) & mask
    return left << half_bits | right


def unpermute(key, local, y, half_bits=HALF_BITS):
    """And backwards."""
    mask = 2**half_bits - 1
    left, right = y >> half_bits, y & mask
    for n in reversed(range(10)):
        value = siphash(key, bytes([n, local, 0, 0]) + left.to_bytes(4, "little"))
        left, right = (right ^ value) & mask, left
    return left << half_bits | right


class Pseudonyms:
    def __init__(self, key):
        self.address_key, self.clock_key, self.ssid_key = (
            hashlib.blake2b(b"saluki pseudonym " + what, digest_size=size, key=key).digest()
            for what, size in ((b"address", 16), (b"clock", 16), (b"SSID", 32)))
        self.known = {}

    def _mapped(self, address, function):
        bits = address[0] & 3
        x = (address[0] >> 2) << 40 | int.from_bytes(address[1:], "big")
        while True:
            x = function(self.address_key, bits >> 1, x)
            out = bytes([x >> 40 << 2 | bits]) + (x & 2**40 - 1).to_bytes(5, "big")
            if not stays(out):
                return out

    def address(self, address):
        if stays(address):
            return address
        if address not in self.known:
            self.known[address] = self._mapped(address, permute)
        return self.known[address]

    def original(self, address):
        """The address whose pseudonym this is."""
        return address if stays(address) else self._mapped(address, unpermute)

    def ssid(self, ssid):
        if not any(ssid):
            return ssid
        digest = hashlib.blake2b(ssid, digest_size=64, key=self.ssid_key).digest()
        return bytes(LETTERS[int.from_bytes(digest[2 * n:2 * n + 2], "big") % 36] for n in range(len(ssid)))

    def clock(self, bssid):
        return siphash(self.clock_key, bssid)
