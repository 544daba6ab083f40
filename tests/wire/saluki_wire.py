# SPDX-License-Identifier: GPL-2.0
"""A second implementation of the export protocol, written from docs/wire.md alone: keys, Tryst, the
time, Shroud and messages (combos: saluki_combo.py). In: bytes and keys. Out: bytes. It keeps no
time, draws random numbers only on request, and has no socket. Datagrams that are not authentic
raise Refused and change nothing.

It checks the page and the C code, and need not be fast: ChaCha20's stream, which PyNaCl lacks, is
written out.
"""
import collections
import hashlib
import hmac
import os
import struct

from nacl import bindings, exceptions

INTERVAL_NS = 120 * 10**9
SLOTS = 32
PADDED_LEN = 1232
DATAGRAM_MAX = 1400
BEHIND = 256
WINDOW_MIN, WINDOW_MAX, WINDOW_DOWN = 64, 65536, 256
PADDED, ONE_WAY, SPOOL, BUSY = 1, 2, 4, 8
VERSION = 2
ZEROS = bytes(32)


class Refused(Exception):
    pass


class OtherVersion(Refused):
    """Authentic, and of a protocol version that is not ours."""


# ---- components --------------------------------------------------------------------------------

def H(data):
    return hashlib.blake2b(data, digest_size=32).digest()


def B(key, label, data=b""):
    return hashlib.blake2b(b"saluki1 " + label.encode() + b"\0" + data, key=key,
                           digest_size=32).digest()


def public(secret):
    return bindings.crypto_scalarmult_base(secret)


def DH(secret, other):
    try:
        shared = bindings.crypto_scalarmult(secret, other)
    except exceptions.CryptoError as e:
        raise Refused("a point of low order") from e
    if shared == ZEROS:
        raise Refused("a point of low order")
    return shared


def seal(key, n, message):
    nonce = struct.pack(">4xQ", n)
    return bindings.crypto_aead_chacha20poly1305_ietf_encrypt(message, None, nonce, key)


def unseal(key, n, sealed):
    if len(sealed) < 16:
        raise Refused("too short")
    try:
        return bindings.crypto_aead_chacha20poly1305_ietf_decrypt(
            sealed, None, struct.pack(">4xQ", n), key)
    except exceptions.CryptoError as e:
        raise Refused("not authentic") from e


def _quarter(x, a, b, c, d):
    for one, two, three, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[one] = (x[one] + x[two]) & 0xffffffff
        v = x[three] ^ x[one]
        x[three] = (v << bits | v >> 32 - bits) & 0xffffffff


def stream_block(key, nonce, index):
    """64 bytes of ChaCha20's stream, as defined by Bernstein, from 64 * index on."""
    start = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, *struct.unpack("<8L", key),
             *struct.unpack("<2L", struct.pack("<Q", index)), *struct.unpack("<2L", nonce)]
    x = list(start)
    for _ in range(10):
        for i in range(4):
            _quarter(x, i, i + 4, i + 8, i + 12)
        for i in range(4):
            _quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16L", *((a + b) & 0xffffffff for a, b in zip(start, x)))


def be64(n):
    return struct.pack(">Q", n)


# ---- Tryst -------------------------------------------------------------------------------------

def pair(own_secret, peer, own_is_sensor, preshared=None):
    sensor = public(own_secret) if own_is_sensor else peer
    collector = peer if own_is_sensor else public(own_secret)
    return B(DH(own_secret, peer), "pair", sensor + collector + (preshared or ZEROS))


def slots(P, interval):
    day = B(P, "day", be64(interval // 720))
    stream = b"".join(stream_block(day, be64(interval), i) for i in range(SLOTS * 8 // 64))
    return [stream[8 * j:8 * j + 8] for j in range(SLOTS)]


Hello = collections.namedtuple("Hello", "ephemeral run time window flags info next instance",
                               defaults=[0, bytes(8)])
Welcome = collections.namedtuple("Welcome", "ephemeral time window flags sensor")
SessionKeys = collections.namedtuple("SessionKeys", "up_address up_seal down_address down_seal chain")


def session_keys(k2):
    return SessionKeys(*(B(k2, label) for label in (
        "up address", "up seal", "down address", "down seal", "chain")))


def hello_bytes(hello, version=VERSION):
    flags = hello.flags | version - 1 << 4
    return (hello.ephemeral + struct.pack(">QQLBH", hello.run, hello.time, hello.window, flags,
                                          len(hello.info)) + hello.info +
            (be64(hello.next) if hello.flags & ONE_WAY else b"") + hello.instance)


def welcome_bytes(welcome):
    return welcome.ephemeral + struct.pack(">QLBH", *welcome[1:])


def _zeros(message, sealed_front, padded_len):
    return message + bytes(max(0, padded_len - sealed_front - len(message) - 16))


def m1(P, slot, r, hello, padded_len=PADDED_LEN, version=VERSION):
    """`slot` is a slot's address, or a cookie: then padded_len is INIT_LEN."""
    return slot + r + seal(B(P, "set-up", slot + r), 0,
                           _zeros(hello_bytes(hello, version), 24, padded_len))


def m1_open(P, datagram):
    message = unseal(B(P, "set-up", datagram[:24]), 0, datagram[24:])
    if len(message) < 55:
        raise Refused("a hello that is cut")
    run, time, window, flags, info_len = struct.unpack(">QQLBH", message[32:55])
    if flags >> 4 != VERSION - 1:
        raise OtherVersion((flags >> 4) + 1)
    flags &= 15
    if info_len > len(message) - 55:
        raise Refused("an info that is cut")
    behind, number = message[55 + info_len:], 0
    if flags & ONE_WAY:
        number, behind = int.from_bytes(behind[:8], "big"), behind[8:]
    if len(behind) < 8:
        raise Refused("an instance that is cut")
    return Hello(message[:32], run, time, window, flags, message[55:55 + info_len], number,
                 behind[:8])


def _k1(P, first, shared):
    return B(P, "k1", H(first) + shared)


def _k2(k1, second, ephemerals, static):
    return B(k1, "k2", H(second) + ephemerals + static)


def answer_address(k1):
    return B(k1, "answer address")[:8]


def m2(P, collector_secret, sensor_public, first, e_c, welcome, padded_len=0, x=None):
    """The collector's: the datagram, and k2. The m1 `first` has been opened."""
    hello, x = m1_open(P, first), x or os.urandom(16)
    k1 = _k1(P, first, DH(collector_secret, hello.ephemeral))
    welcome = welcome._replace(ephemeral=public(e_c))
    second = answer_address(k1) + x + seal(B(k1, "answer", x), 0,
                                           _zeros(welcome_bytes(welcome), 24, padded_len))
    return second, _k2(k1, second, DH(e_c, hello.ephemeral), DH(e_c, sensor_public))


def m2_open(P, sensor_secret, collector_public, e_s, first, second):
    """The sensor's: the collector's welcome, and k2."""
    k1 = _k1(P, first, DH(e_s, collector_public))
    if not hmac.compare_digest(second[:8], answer_address(k1)):
        raise Refused("no answer to this m1")
    message = unseal(B(k1, "answer", second[8:24]), 0, second[24:])
    if len(message) < 47:
        raise Refused("a welcome that is cut")
    welcome = Welcome(message[:32], *struct.unpack(">QLBH", message[32:47]))
    return welcome, _k2(k1, second, DH(e_s, welcome.ephemeral),
                        DH(sensor_secret, welcome.ephemeral))


def renewed(chain, own_secret, own_is_sensor, peer):
    """k2 of the session that renews the one with this chain."""
    e_s = public(own_secret) if own_is_sensor else peer
    e_c = peer if own_is_sensor else public(own_secret)
    return B(chain, "renew", e_s + e_c + DH(own_secret, peer))


def one_way(P, own_secret, peer, e_s, run):
    """k2 of a one-way session: of e_s and the collector's key, or of the collector's and E_s."""
    return B(P, "one-way", e_s + be64(run) + DH(own_secret, peer))


# ---- without a slot: the time, a cookie, and an m1 under it --------------------------------------

REQUEST_LEN = PADDED_LEN
COOKIE, SET_UP = 0, 1
INIT_LEN = REQUEST_LEN - 56 - 16 - 34  # of the m1 inside
Request = collections.namedtuple("Request", "kind sensor rest k r E length")


def _dated(r, interval):
    """interval: that of the sensor's clock; None if the sensor does not know the time."""
    return r if interval is None else r + be64(interval)


def _request_mac(collector, r, interval):
    return bindings.crypto_shorthash_siphash24(_dated(r, interval), B(collector, "clock mac")[:16])


def _xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def _request(collector, e, r, message, interval):
    k = B(DH(e, collector), "clock", _dated(r, interval))
    return (r + _request_mac(collector, r, interval) + _xor(public(e), B(collector, "clock mask", r)) +
            seal(k, 0, message)), k


def _body(kind, sensor, rest, length):
    message = bytes([VERSION, kind]) + sensor + rest
    return message + bytes(length - 72 - len(message))


def _proof(P, r, E):
    return B(P, "request", r + E)[:16]


def cookie_request(P, sensor, collector, e, r, length=REQUEST_LEN, interval=None):
    """The request, and the key of its answer."""
    message = _body(COOKIE, sensor, _proof(P, r, public(e)), length)
    return _request(collector, e, r, message, interval)


def set_up_request(sensor, collector, e, r, first, interval=None):
    return _request(collector, e, r, _body(SET_UP, sensor, first, REQUEST_LEN), interval)[0]


def request_dates(collector, datagram, present):
    """The intervals, among those a collector accepts now, for which the mac is right."""
    if len(datagram) < 72:
        return []
    intervals = (present, present - 1, present + 1) if len(datagram) == REQUEST_LEN else ()
    return [i for i in (*intervals, None)
            if hmac.compare_digest(datagram[16:24], _request_mac(collector, datagram[:16], i))]


def request_open(collector_secret, datagram, present=1):
    collector = public(collector_secret)
    dates = request_dates(collector, datagram, present)
    if not dates:
        raise Refused("no request")
    r = datagram[:16]
    E = _xor(datagram[24:56], B(collector, "clock mask", r))
    k = B(DH(collector_secret, E), "clock", _dated(r, dates[0]))
    message = unseal(k, 0, datagram[56:])
    if not message or message[0] != VERSION:
        raise OtherVersion(message[0] if message and message[0] else 1)
    if len(message) < 50:
        raise Refused("a request that is cut")
    return Request(message[1], message[2:34], message[34:], k, r, E, len(datagram))


def request_proved(P, request):
    return hmac.compare_digest(request.rest[:16], _proof(P, request.r, request.E))


def request_answer(request, time, cookie, x=None):
    x = x or os.urandom(16)
    padded = REQUEST_LEN if request.length >= REQUEST_LEN else 0
    return (B(request.k, "clock address", x)[:8] + x +
            seal(B(request.k, "clock answer", x), 0, _zeros(be64(time) + cookie, 24, padded)))


def request_answered(k, answer):
    """The collector's time, and a cookie."""
    if not hmac.compare_digest(answer[:8], B(k, "clock address", answer[8:24])[:8]):
        raise Refused("no answer to this request")
    message = unseal(B(k, "clock answer", answer[8:24]), 0, answer[24:])
    if len(message) < 16:
        raise Refused("an answer that is cut")
    return int.from_bytes(message[:8], "big"), message[8:16]


# ---- the spool ---------------------------------------------------------------------------------

SPOOL_HELLO_LEN = 80


def _wrapping(P, shared, e_public):
    return B(P, "spool", shared + e_public)


def spool_hello(P, e, collector, K):
    """The part before info: the file's E, and its key for one collector."""
    E = public(e)
    return E + seal(_wrapping(P, DH(e, collector), E), 0, K)


def spool_key(P, collector_secret, info):
    """The collector's: the key, and info without it."""
    E, wrapped = info[:32], info[32:SPOOL_HELLO_LEN]
    if len(info) < SPOOL_HELLO_LEN:
        raise Refused("a key that is cut")
    return unseal(_wrapping(P, DH(collector_secret, E), E), 0, wrapped), info[SPOOL_HELLO_LEN:]


def record(K, run, count, combo, x=None):
    x = x or os.urandom(16)
    return x + seal(B(K, "record", x), 0, be64(run) + be64(count) + combo)


def record_open(K, run, count, data):
    if len(data) < 48:
        raise Refused("a record that is cut")
    message = unseal(B(K, "record", data[:16]), 0, data[16:])
    if message[:16] != be64(run) + be64(count):
        raise Refused("a record of another name")
    return message[16:]


# ---- Shroud ------------------------------------------------------------------------------------

class Addresses:
    def __init__(self, key):
        self.key, self.index, self.block = key, None, b""

    def __getitem__(self, i):
        if i // 8 != self.index:
            self.index, self.block = i // 8, stream_block(self.key, bytes(8), i // 8)
        return self.block[i % 8 * 8:i % 8 * 8 + 8]


def pad(message, padded_len):
    """The message of a datagram of `padded_len` bytes."""
    n = padded_len - 24 - len(message)
    if n < 2:
        raise ValueError("no room for padding")
    return bytes([message[0] | 0x80]) + message[1:] + bytes(n - 2) + struct.pack(">H", n)


def unpad(message):
    """Nothing if the padding contradicts itself."""
    if not message or not message[0] & 0x80:
        return message
    n = int.from_bytes(message[-2:], "big") if len(message) > 2 else 0
    if n < 2 or n > len(message) - 1:
        return b""
    return bytes([message[0] & 0x7f]) + message[1:-n]


def ahead(highest, window):
    return min(window, 64 + highest)


class Sender:
    def __init__(self, address, key, padded_len=0):
        self.addresses, self.key = Addresses(address), key
        self.next, self.padded_len = 1, padded_len

    def seal(self, message):
        number, self.next = self.next, self.next + 1
        if self.padded_len:
            message = pad(message, self.padded_len)
        return self.addresses[number] + seal(self.key, number, message)


class Receiver:
    """The known addresses, each with its possible numbers (two may share one)."""

    def __init__(self, address, key, window):
        self.addresses, self.key, self.window = Addresses(address), key, window
        self.highest, self.known_to, self.known = 0, 0, {}
        self.received, self.kept, self.whole = set(), set(), False
        self._extend()

    def move(self, next):
        """A one-way sender's next number is this."""
        self.whole = True
        if next > self.known_to + 1:
            self.known, self.known_to = {}, next - 1
        self.highest = max(self.highest, next - 1)
        self._extend()

    def _extend(self):
        until = self.highest + (self.window if self.whole else ahead(self.highest, self.window))
        for number in range(self.known_to + 1, until + 1):
            self.known.setdefault(self.addresses[number], []).append(number)
        self.known_to = max(self.known_to, until)
        for address, numbers in list(self.known.items()):
            left = [n for n in numbers if n + BEHIND > self.highest]
            if not left:
                del self.known[address]
            elif left != numbers:
                self.known[address] = left

    def open(self, datagram):
        """The number and the message without padding."""
        for number in self.known.get(datagram[:8], ()):
            try:
                message = unseal(self.key, number, datagram[8:])
            except Refused:
                continue
            self.known[datagram[:8]].remove(number)
            self.received.add(number)
            if number > self.highest:
                self.highest = number
                self._extend()
            return number, unpad(message)
        raise Refused("an address that is not known, or not authentic")

    def keep(self, number):
        self.kept.add(number)

    def bits(self):
        """ACK's `received`."""
        out = bytearray(BEHIND // 8)
        for n in range(BEHIND):
            if self.highest - n in self.kept:
                out[n // 8] |= 1 << n % 8
        return bytes(out)


# ---- messages ----------------------------------------------------------------------------------

COMBO, TOTALS, ACK, INFO, HEARD, PROBE, ECHO, RENEW, ANSWER, FLOOR, PROGRESS = range(1, 12)
PROBED, CHALLENGE, RENEWED, ORDER = 16, 17, 18, 19
COMBO_MAX, RECORD_MAX = 33041, 33089

Ack = collections.namedtuple("Ack", "highest received taken settled held flags")
Piece = collections.namedtuple("Piece", "combo offset total data")


def ack_write(ack):
    return struct.pack(">BQ32sQQQB", ACK, *ack)


def ack_read(message):
    return Ack(*struct.unpack(">Q32sQQQB", message[1:66]))


def ack_has(ack, number):
    n = ack.highest - number
    return 0 <= n < BEHIND and bool(ack.received[n // 8] >> n % 8 & 1)


def piece_write(piece):
    return (bytes([COMBO]) + (piece.combo & 0xffffff).to_bytes(3, "big") +
            struct.pack(">HH", piece.offset, piece.total) + piece.data)


def piece_read(message, longest=COMBO_MAX):
    offset, total = struct.unpack(">HH", message[4:8])
    data = message[8:]
    end = offset + len(data)
    if not data or offset % 8 or end > total or total > longest or (len(data) % 8 and end < total):
        raise Refused("a piece that contradicts itself")
    return Piece(int.from_bytes(message[1:4], "big"), offset, total, data)


def pieces(count, combo, datagram_len):
    """A combo split into messages for datagrams of at most so many bytes."""
    size = (datagram_len - 24 - 8) // 8 * 8
    for at in range(0, len(combo), size):
        yield piece_write(Piece(count, at, len(combo), combo[at:at + size]))


def number(kind, value):
    """HEARD, PROBE, ECHO and CHALLENGE."""
    return bytes([kind]) + be64(value)


def floor_write(combo, first):
    return struct.pack(">BQQ", FLOOR, combo, first)


def numbers(message):
    """The part after the kind, as 64-bit numbers."""
    body = message[1:len(message) - (len(message) - 1) % 8]
    return struct.unpack(f">{len(body) // 8}Q", body)


def keypair():
    secret = os.urandom(32)
    return secret, public(secret)
