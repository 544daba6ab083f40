# SPDX-License-Identifier: GPL-2.0
"""The label of an IP packet (bpf/label.h) in Python, for many packets at once: SipHash-1-3 of the
parts that do not change on its way."""
import base64
import collections
import hashlib
import pathlib

import numpy as np

BEHIND = 40
MASK = np.uint64(0xffffffffffffffff)
CHECKSUMS = {6: (16, 18), 17: (6, 8), 136: (6, 8), 132: (8, 12)}
EXTENSIONS = (0, 43, 44, 60, 135, 139, 140)

# `behind`: where its payload begins; `length`: from the IP header.
Packet = collections.namedtuple("Packet", "version source destination length ident fragment protocol "
                                          "behind data")


def _ethernet(data):
    """(offset, EtherType) after all tags and MPLS labels."""
    at, kind = 14, int.from_bytes(data[12:14], "big")
    if kind < 1536:
        if data[14:17] != b"\xaa\xaa\x03" or len(data) < 22:
            return None
        at, kind = 22, int.from_bytes(data[20:22], "big")
    for _ in range(4):
        if kind in (0x8100, 0x88a8, 0x9100) and len(data) >= at + 4:
            at, kind = at + 4, int.from_bytes(data[at + 2:at + 4], "big")
    for _ in range(4):
        if kind in (0x8847, 0x8848) and len(data) > at + 4:
            if data[at + 2] & 1:
                kind = {4: 0x0800, 6: 0x86dd}.get(data[at + 4] >> 4, 0)
            at += 4
    return at, kind


def _ipv4(data):
    size = (data[0] & 15) * 4
    if len(data) < 20 or data[0] >> 4 != 4 or size < 20:
        return None
    word = [int.from_bytes(data[n:n + 2], "big") for n in (2, 4, 6)]
    return Packet(4, data[12:16], data[16:20], *word, data[9], size, data)


def _ipv6(data):
    if len(data) < 40 or data[0] >> 4 != 6:
        return None
    at, protocol, fragment = 40, data[6], 0
    seen = 0  # the protocol is known after all extension headers
    for _ in range(6):
        if protocol not in EXTENSIONS:
            break
        if len(data) < at + 8:
            break
        if protocol == 44:
            word = int.from_bytes(data[at + 2:at + 4], "big")
            fragment = word >> 3 | (word & 1) << 13
            if fragment & 0x1fff:
                break
        size = 8 if protocol == 44 else (data[at + 1] + 1) * 8
        protocol, at = data[at], at + size
    else:
        seen = protocol
    if protocol not in EXTENSIONS:
        seen = protocol
    return Packet(6, data[8:24], data[24:40], int.from_bytes(data[4:6], "big") + 40 & 0xffff, 0,
                  fragment, seen, at, data)


def packet(frame):
    """The IP packet of an Ethernet frame, or None."""
    if len(frame) < 14:
        return None
    found = _ethernet(frame)
    if not found or found[1] not in (0x0800, 0x86dd) or not frame[found[0]:]:
        return None
    return (_ipv4 if found[1] == 0x0800 else _ipv6)(frame[found[0]:])


def words(p):
    """The hashed content: numbers of 64 bits, little-endian."""
    end = min(p.length, len(p.data))
    behind = bytearray(p.data[p.behind:end][:BEHIND].ljust(BEHIND, b"\0")) if end > p.behind else \
        bytearray(BEHIND)
    if not p.fragment & 0x1fff and p.protocol in CHECKSUMS:
        a, b = CHECKSUMS[p.protocol]
        behind[a:b] = bytes(b - a)
    source, destination = p.source.ljust(8, b"\0"), p.destination.ljust(8, b"\0")
    text = source[:8] + destination[:8] + source[8:] + destination[8:]
    number = p.length << 48 | p.ident << 32 | p.fragment << 16 | p.protocol
    return [*np.frombuffer(text, "<u8"), number, *np.frombuffer(bytes(behind), "<u8")]


def _rotate(x, n):
    return x << np.uint64(n) | x >> np.uint64(64 - n)


def _round(v):
    v[0] += v[1]
    v[1] = _rotate(v[1], 13) ^ v[0]
    v[0] = _rotate(v[0], 32)
    v[2] += v[3]
    v[3] = _rotate(v[3], 16) ^ v[2]
    v[0] += v[3]
    v[3] = _rotate(v[3], 21) ^ v[0]
    v[2] += v[1]
    v[1] = _rotate(v[1], 17) ^ v[2]
    v[2] = _rotate(v[2], 32)


def siphash(key, columns):
    """SipHash-1-3 of rows of words, given as columns; 0 in place of the length."""
    k = [np.uint64(n) for n in key]
    v = [np.full(len(columns[0]), k[i % 2] ^ np.uint64(c), np.uint64) for i, c in enumerate(
        (0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573))]
    for column in [*columns, np.zeros(len(columns[0]), np.uint64)]:
        v[3] ^= column
        _round(v)
        v[0] ^= column
    v[2] ^= np.uint64(0xff)
    for _ in range(3):
        _round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def key_of(path):
    """The policy's key: [Keys] Trajectory."""
    secret = base64.b64decode(pathlib.Path(path).read_text().split()[0])
    text = hashlib.blake2b(b"saluki trajectory", key=secret, digest_size=16).digest()
    return [int(n) for n in np.frombuffer(text, "<u8")]


def labels(key, packets):
    """Of packets; None has none."""
    found = [None] * len(packets)
    for version in (4, 6):
        at = [i for i, p in enumerate(packets) if p and p.version == version]
        if at:
            rows = np.array([words(packets[i]) for i in at], np.uint64)
            for i, label in zip(at, siphash(key, list(rows.T.copy()))):
                found[i] = int(label)
    return found
