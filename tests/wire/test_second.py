# SPDX-License-Identifier: GPL-2.0
"""The second implementation by itself: its components against published values, and its two ends
against each other."""
import itertools
import pathlib
import struct
import subprocess
import tempfile

import pytest
from nacl import bindings
from netns import testbed
from reference import captures

from wire import make_vectors
from wire import saluki_combo as sc
from wire import saluki_wire as sw


def test_the_stream_is_chacha20():
    key, nonce = bytes(range(32)), bytes(range(8))
    sealed = bindings.crypto_aead_chacha20poly1305_encrypt(bytes(640), None, nonce, key)
    assert sealed[:640] == b"".join(sw.stream_block(key, nonce, i) for i in range(1, 11))
    # Key and nonce of zeros, from the draft that first had ChaCha20's vectors.
    assert sw.stream_block(bytes(32), bytes(8), 0)[:16].hex() == "76b8e0ada0f13d90405d6ae55386bd28"


def test_both_ends_have_the_same_keys():
    (s, S), (c, C), (es, ES), (ec, _) = (sw.keypair() for _ in range(4))
    P = sw.pair(s, C, True, b"p" * 32)
    assert P == sw.pair(c, S, False, b"p" * 32) != sw.pair(c, S, False)
    hello = sw.Hello(ES, 7, 8, 1024, 0, b"os=x\n")
    first = sw.m1(P, sw.slots(P, 5)[3], b"r" * 16, hello)
    assert sw.m1_open(P, first) == hello
    second, k2 = sw.m2(P, c, S, first, ec, sw.Welcome(b"", 9, 512, 0, 3))
    welcome, again = sw.m2_open(P, s, C, es, first, second)
    assert (again, welcome[1:]) == (k2, (9, 512, 0, 3))
    request, k = sw.cookie_request(P, S, C, es, b"q" * 16)
    opened = sw.request_open(c, request)
    assert sw.request_proved(P, opened) and opened.sensor == S
    assert not sw.request_proved(sw.pair(c, S, False), opened)
    assert sw.request_answered(k, sw.request_answer(opened, 77, b"a cookie")) == (77, b"a cookie")
    inner = sw.m1(P, b"a cookie", b"r" * 16, hello, sw.INIT_LEN)
    dated = sw.set_up_request(S, C, es, b"q" * 16, inner, 5)
    for present in (4, 5, 6):
        opened = sw.request_open(c, dated, present)
    for present in (3, 7):
        with pytest.raises(sw.Refused):
            sw.request_open(c, dated, present)
    assert (opened.kind, opened.sensor, opened.rest) == (sw.SET_UP, S, inner)


@pytest.mark.parametrize("padded", [0, sw.PADDED_LEN])
def test_windows(padded):
    tx = sw.Sender(b"a" * 32, b"s" * 32, padded)
    rx = sw.Receiver(b"a" * 32, b"s" * 32, 1024)
    datagrams = [tx.seal(sw.number(sw.HEARD, i)) for i in range(1200)]
    assert all(len(d) == (padded or 33) for d in datagrams)
    with pytest.raises(sw.Refused):
        rx.open(datagrams[64])
    for i in [*range(0, 300, 2), *range(101, 300, 2), 299 + 64]:
        assert rx.open(datagrams[i]) == (i + 1, sw.number(sw.HEARD, i))
        with pytest.raises(sw.Refused):
            rx.open(datagrams[i])
    with pytest.raises(sw.Refused):
        rx.open(datagrams[43])  # 256 behind and more
    assert rx.highest == 364


@pytest.mark.parametrize("codec", [sc.STORED, sc.ZSTD, sc.ZSTD_DOT11])
def test_combos_come_back(codec):
    frames = [sc.Frame(*f) for f in itertools.islice(captures.frames(captures.BUNDLED), 60)]
    dwell = sc.Dwell(1, 2412, 20, 2412, 5 * 10**18, 5 * 10**18 + 250000000, 60, 0, 0, 0, 7)
    said = sc.Said(1, 1, 5 * 10**18, 3, "worm", b"\0\xff")
    readings = [sc.Reading(7 * 10**9, 10**18, -5), sc.Reading(8 * 10**9, 10**18 - 1, 2**40)]
    events = [sc.Event(0, 7, b""), sc.Event(13, sc.DWELL, sc.dwell_write(dwell)),
              sc.Event(13, sc.SAID, sc.said_write(said)), sc.Event(13, sc.CLOCK, sc.readings_write(readings)),
              sc.Event(60, 2**32 - 1, bytes(sc.EVENT_LEN_MAX))]
    combo = sc.combo_write(frames, 5, 70000, 9, codec, events)
    read = sc.Combo(combo, 9)
    assert (read.first, read.seqn) == (5, 70000 & 0xffff)
    assert [f.key() for f in read.frames] == [f.key() for f in frames]
    assert read.events == events
    assert sc.dwell_read(read.events[1].data) == dwell
    assert sc.said_read(read.events[2].data) == said
    assert sc.readings_read(read.events[3].data) == readings
    for wrong in (b"", read.events[3].data[:-1], sc.readings_write(readings * 9)):
        with pytest.raises(sw.Refused):
            sc.readings_read(wrong)


def wired_files():
    return [p for c in captures.at_hand() for p in c.folder("wired")]


def chunks(frames, size=500):
    """Lists of frames that a combo takes."""
    out, left = [], 0
    for f in frames:
        if len(out) == size or left + len(f.data) > 30000:
            yield out
            out, left = [], 0
        out.append(f)
        left += len(f.data)
    if out:
        yield out


@pytest.mark.parametrize("keep", [96, 2000])
def test_wired_frames_come_back(keep):
    """From this implementation to itself, stored or with the checksums behind zstd's frame."""
    for path in wired_files():
        frames = [sc.Frame(f.time_ns, f.orig_len, f.linktype, f.data[:keep])
                  for f in captures.frames(path)]
        for i, part in enumerate(chunks(frames)):
            codec = sc.ZSTD | sc.DENSE if i % 2 else sc.STORED
            read = sc.Combo(sc.combo_write(part, 5, i, 9, codec), 9)
            assert [f.key() for f in read.frames] == [f.key() for f in part], path


def test_wired_frames_of_a_sensor():
    """Bodies of the C code: each frame is its first bytes in the file."""
    for path in wired_files():
        wanted = captures.frames(path)
        plain = pathlib.Path(path)
        with tempfile.NamedTemporaryFile() as file:
            file.write(captures.file_bytes(plain))
            file.flush()
            data = subprocess.run([testbed.BUILD / "tests/bodies", file.name],
                                  stdout=subprocess.PIPE, check=True).stdout
        count = 0
        while data:
            frames, size = struct.unpack_from(">LL", data)
            body, data = data[8:8 + size], data[8 + size:]
            for f in sc.BodyReader(body, frames).frames:
                w = next(wanted)
                assert (f.time_ns, f.orig_len, f.linktype) == (w.time_ns, w.orig_len, w.linktype), path
                assert w.data.startswith(f.data) and (f.data or not w.data), path
                count += 1
        assert count and next(wanted, None) is None, path


def test_combos_of_events_alone():
    events = [sc.Event(0, 7, b"x")] * sc.EVENTS_MAX
    assert sc.Combo(sc.combo_write([], 5, 6, 9, events=events)).events == events
    for wrong in ([], events + events[:1], [sc.Event(0, 7, bytes(sc.EVENT_LEN_MAX + 1))],
                  [sc.Event(1, 7, b"")]):
        with pytest.raises(sw.Refused):
            sc.Combo(sc.combo_write([], 5, 6, 9, events=wrong))


def test_both_long_term_keys_and_a_recording_open_no_session():
    """Both long-term keys give P, k1 and the handshake's content. But no two shared secrets made
    from them and used in k2 open a session, as k2 needs the ephemerals' own."""
    (s, S), (c, C), (es, ES), (ec, EC) = (sw.keypair() for _ in range(4))
    P = sw.pair(s, C, True)
    first = sw.m1(P, sw.slots(P, 5)[3], b"r" * 16, sw.Hello(ES, 7, 8, 1024, 0, b""))
    second, k2 = sw.m2(P, c, S, first, ec, sw.Welcome(b"", 9, 512, 0, 3))
    keys = sw.session_keys(k2)
    third = sw.Sender(keys.up_address, keys.up_seal).seal(b"\x02")
    # A holder of both keys.
    hello = sw.m1_open(sw.pair(c, S, False), first)
    k1 = sw._k1(P, first, sw.DH(c, hello.ephemeral))
    welcome = sw.unseal(sw.B(k1, "answer", second[8:24]), 0, second[24:])
    assert (hello.ephemeral, welcome[:32], second[:8]) == (ES, EC, sw.answer_address(k1))
    shared = [sw.DH(mine, theirs) for mine in (s, c) for theirs in (S, C, ES, EC)]
    assert sw.DH(s, EC) in shared  # the half of k2 that is not secret to it
    for a, b in itertools.product(shared, repeat=2):
        tried = sw.session_keys(sw._k2(k1, second, a, b))
        with pytest.raises(sw.Refused):
            sw.Receiver(tried.up_address, tried.up_seal, 512).open(third)
    # With an ephemeral key it opens: only that was missing.
    known = sw.session_keys(sw._k2(k1, second, sw.DH(es, EC), sw.DH(s, EC)))
    assert sw.Receiver(known.up_address, known.up_seal, 512).open(third) == (1, b"\x02")


def answer_by(secret, P, first, ephemeral):
    """An m2 by an attacker who uses `secret` as the one that only the collector and the sensor
    share."""
    k1 = sw._k1(P, first, secret)
    welcome = sw.welcome_bytes(sw.Welcome(ephemeral, 9, 512, 0, 3))
    x = b"x" * 16
    return sw.answer_address(k1) + x + sw.seal(sw.B(k1, "answer", x), 0, welcome)


def time_by(secret, r, interval=None):
    k = sw.B(secret, "clock", sw._dated(r, interval))
    return sw.request_answer(sw.Request(0, b"", b"", k, r, b"", 0), 77, b"a cookie")


def test_a_stolen_sensor_key_answers_nothing():
    """A holder of s and C reads m1 and a request for the time. But with any two keys it has or has
    seen in an answer, the sensor refuses it: either answer needs c."""
    (s, S), (c, C), (es, ES), (et, ET) = (sw.keypair() for _ in range(4))
    P, r = sw.pair(s, C, True), b"q" * 16
    first = sw.m1(P, sw.slots(P, 5)[3], r, sw.Hello(ES, 7, 8, 1024, 0, b""))
    question, k = sw.cookie_request(P, S, C, es, r)
    assert sw.m1_open(P, first).ephemeral == ES
    assert sw._xor(question[24:56], sw.B(C, "clock mask", r)) == ES
    for mine, theirs in itertools.product((s, et), (S, C, ES, ET)):
        tried = sw.DH(mine, theirs)
        with pytest.raises(sw.Refused):
            sw.m2_open(P, s, C, es, first, answer_by(tried, P, first, ET))
        with pytest.raises(sw.Refused):
            sw.request_answered(k, time_by(tried, r))
    # With c it is answered: only that was missing.
    assert sw.m2_open(P, s, C, es, first, answer_by(sw.DH(c, ES), P, first, ET))[0].ephemeral == ET
    assert sw.request_answered(k, time_by(sw.DH(c, ES), r)) == (77, b"a cookie")


def test_a_spool_is_the_collectors():
    """A holder of the file, s and the collector's C opens no record, nor does another collector. A
    record has one name, and no two have the same key."""
    (s, S), (c, C), (other, _), (e, E) = (sw.keypair() for _ in range(4))
    P, K = sw.pair(s, C, True), b"k" * 32
    told = sw.spool_hello(P, e, C, K)
    assert (len(told), told[:32]) == (sw.SPOOL_HELLO_LEN, E)
    assert sw.spool_key(sw.pair(c, S, False), c, told + b"os=x\n") == (K, b"os=x\n")
    for secret, pair in ((other, P), (s, P), (c, sw.pair(c, S, False, b"p" * 32))):
        with pytest.raises(sw.Refused):
            sw.spool_key(pair, secret, told)
    for at in (0, 31, 32, 79):
        with pytest.raises(sw.Refused):
            sw.spool_key(P, c, told[:at] + bytes([told[at] ^ 1]) + told[at + 1:])
    with pytest.raises(sw.Refused):
        sw.spool_key(P, c, told[:-1])
    record = sw.record(K, 7, 8, b"combo")
    assert len(record) == 48 + len(b"combo") and record != sw.record(K, 7, 8, b"combo")
    assert sw.record_open(K, 7, 8, record) == b"combo"
    for run, count, changed in ((6, 8, record), (7, 9, record), (7, 8, record[:-1]), (7, 8, record[:47]),
                                (7, 8, bytes(16) + record[16:])):
        with pytest.raises(sw.Refused):
            sw.record_open(K, run, count, changed)


def test_the_vectors_are_frozen():
    """The vectors are unchanged; tests/unit/test_vectors.c compares them with the C code."""
    kept = pathlib.Path(__file__).with_name("vectors.json").read_text(encoding="ascii")
    assert make_vectors.text() == kept
