# SPDX-License-Identifier: GPL-2.0
"""The identity of frames: by hand, and on captures."""
import random
import struct

import pytest

from merge import kinds
from merge.identity import Malformed, identify, radiotap
from reference import captures, trim
from reference.radiotaps import every, mutated

A, B, C, D = (bytes([2, 0, 0, 0, 0, n]) for n in (1, 2, 3, 4))
BODY = bytes(range(100, 200))
CCMP = bytes.fromhex("2211002033445566")
PN = 0x665544331122
BEACON = b"\x80\0\0\0" + A + B + C + b"\x10\x20" + BODY
ACK, RTS = b"\xd4\0\0\0" + A, b"\xb4\0\x10\0" + A + B
BLOCK_ACK = b"\x94\0\0\0" + A + B + BODY[:12]
SNAP = bytes.fromhex("aaaa030000001234")  # a protocol that nobody knows, so --keep headers keeps no more
LLC = bytes.fromhex("aaaa030000000800")
UDP = LLC + bytes.fromhex("450000400000400040110000" "0a0000010a000002") + bytes.fromhex("9c409c41002c0000") + BODY


def data(flags=0, control=0x88, qos=b"\x05\0", body=BODY, four=False, htc=b""):
    return bytes([control, flags]) + b"\x2c\0" + A + B + C + b"\x10\x20" + (D if four else b"") + qos + htc + body


def heard(mac, flags=0, orig=None, tail=0):
    """With a radiotap header that has flags."""
    return identify(struct.pack("<BBHIB", 0, 0, 9, 2, flags) + mac, 9 + (orig or len(mac)) + tail)


@pytest.mark.parametrize("mac, kind, hashed", [
    (BEACON, kinds.BEACON, BEACON[:36]),
    (b"\x50" + BEACON[1:], kinds.BEACON, b"\x50" + BEACON[1:36]),
    (b"\x80\x08" + BEACON[2:], kinds.RETRY, b"\x80\x08" + BEACON[2:36]),
    (b"\x80\x80" + BEACON[2:], kinds.BEACON, b"\x80\x80" + BEACON[2:36]),
    (b"\x40" + BEACON[1:], kinds.MGMT, b"\x40" + BEACON[1:64]),
    (b"\x40" + BEACON[1:30], kinds.MGMT, b"\x40" + BEACON[1:30]),
    (data(0x42, body=CCMP + BODY), kinds.DATA, data(0x42, body=CCMP)),
    (data(0x4a, body=CCMP + BODY), kinds.RETRY, data(0x4a, body=CCMP)),
    (data(0x43, four=True, body=CCMP + BODY), kinds.DATA, data(0x43, four=True, body=CCMP)),
    (data(0xc2, htc=b"htc!", body=CCMP + BODY), kinds.DATA, data(0xc2, htc=b"htc!", body=CCMP)),
    (data(0x42, 0x08, b"", CCMP + BODY), kinds.DATA, data(0x42, 0x08, b"", CCMP)),
    (data(0x42, body=b"\1\2\3\0" + BODY), kinds.DATA, data(0x42, body=b"\1\2\3\0")),
    (data(body=UDP), kinds.DATA, data(body=UDP)[:54]),
    (data(body=SNAP + BODY), kinds.DATA, data(body=SNAP)),
    (data(0, 0xc8, body=b""), kinds.NULL, data(0, 0xc8, body=b"")),
    (data(8, 0x48, b"", b""), kinds.NULL, data(8, 0x48, b"", b"")),
    (ACK, kinds.ACK, ACK),
    (RTS + b"xyz", kinds.RTS, RTS),
    (BLOCK_ACK, kinds.BLOCK_ACK, BLOCK_ACK),
    (b"\x84" + BLOCK_ACK[1:20], kinds.BLOCK_ACK, b"\x84" + BLOCK_ACK[1:20]),
    (b"\x94" + BLOCK_ACK[1:] + BODY, kinds.BLOCK_ACK, (b"\x94" + BLOCK_ACK[1:] + BODY)[:64]),
])
def test_the_table(mac, kind, hashed):
    found = heard(mac)
    assert (found.kind, found.hashed, found.length) == (kind, hashed, len(mac))
    assert heard(mac + b"\1\2\3\4", 0x10) == found, "an FCS changes nothing"
    assert heard(mac[:64], 0, len(mac)) == found, "nor a cut at 64 bytes"
    assert heard(mac[:64], 0x10, len(mac), 4) == found
    assert heard(mac + b"\0") != found, "the length on the air does"


def test_packet_numbers_and_flags():
    assert heard(data(0x42, body=CCMP + BODY)).pn == PN
    assert heard(data(body=SNAP)).pn is None and heard(ACK).pn is None
    assert [heard(ACK + b"1234", flags).kind for flags in (0x50, 0x10)] == [kinds.BAD_FCS, kinds.ACK]


def test_padding_of_a_driver_does_not_count():
    """Header of 26 bytes, two bytes of padding."""
    mac = data(0x42, body=CCMP + BODY)
    assert heard(mac[:26] + b"\0\0" + mac[26:], 0x20) == heard(mac)
    mac = data(body=SNAP + BODY)
    assert heard(mac[:26] + b"\0\0" + mac[26:], 0x20) == heard(mac)
    assert heard(data(0x42, 0x08, b"", CCMP), 0x20) == heard(data(0x42, 0x08, b"", CCMP))


@pytest.mark.parametrize("mac", [b"", b"\x80", ACK[:9], b"\x81" + BEACON[1:]])
def test_malformed_frames(mac):
    with pytest.raises(Malformed):
        heard(mac)


@pytest.mark.parametrize("mac", [BEACON[:23], BEACON[:35], data(0x42, body=CCMP)[:33], RTS[:15], BLOCK_ACK[:15],
                                 data()[:25]])
def test_short_frames(mac):
    """Those that are short on the air are hashed whole; those cut too short have no identity."""
    assert heard(mac).hashed == mac
    with pytest.raises(Malformed):
        heard(mac, orig=200)


def test_uses():
    beacon, first, retry, early = (heard(m) for m in (BEACON, data(0x42, body=CCMP), data(0x4a, body=CCMP),
                                                      data(0x42, body=bytes.fromhex("ff00002000000000"))))
    assert [i.finds for i in (beacon, first, retry, early)] == [True, True, False, False]
    assert [i.tracks for i in (beacon, first, retry, early)] == [True, True, False, True]
    assert [i.window_ns(5) for i in (beacon, heard(BLOCK_ACK), retry, heard(ACK))] == [10**7, 10**7, 5, 5]


def identity(data, orig_len):
    try:
        return identify(data, orig_len)
    except Malformed:
        return None


def radiotap_frames(paths):
    """As far as the files can be read."""
    for path in paths:
        try:
            yield from (f for f in captures.frames(path) if f.linktype == trim.RADIOTAP)
        except (captures.Corrupt, IndexError, struct.error, EOFError, OSError):
            continue


def test_whole_and_cut_frames_have_the_same_identity(traces):
    """Cut as `-s 192 --keep headers` does, or 64 bytes behind radiotap, where a driver pads no headers."""
    count, found_kinds = 0, set()
    for frame in radiotap_frames(traces.folder("hwsim") + traces.folder("radiotap")):
        found = identity(frame.data, frame.orig_len)
        if not found:
            continue
        kept, _ = trim.keep(frame.data, frame.orig_len, trim.RADIOTAP)
        assert identity(frame.data[:kept], frame.orig_len) == found
        size, fields = radiotap(frame.data)
        if not fields.get("flags", 0) & 0x20:
            assert identity(frame.data[:size + 64], frame.orig_len) == found
        count += 1
        found_kinds.add(found.kind)
    assert count > 30_000 and found_kinds >= {kinds.BEACON, kinds.MGMT, kinds.DATA, kinds.ACK}


def test_any_bytes_have_an_identity_or_none(traces):
    """No other error, whatever the bytes."""
    rng, none, some = random.Random(3), 0, 0
    frames = [(made.bytes, len(made.bytes)) for made in every()] + [(b, len(b)) for b in mutated(7, 5000)]
    frames += [(f.data, f.orig_len) for f in radiotap_frames(traces.folder("malformed"))]
    frames += [(rng.randbytes(rng.randrange(80)), rng.randrange(80)) for _ in range(3000)]
    for data_, orig_len in frames:
        found = identity(data_, orig_len)
        none, some = none + (found is None), some + (found is not None)
    assert none > 100 and some > 100
