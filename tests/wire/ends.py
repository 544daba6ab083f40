# SPDX-License-Identifier: GPL-2.0
"""A collector and a sensor made of the second implementation, each with a UDP socket in a
namespace. In: keys; at the sensor, frames. Out: at the collector, frames. They follow docs/wire.md
and expect a good network: lost datagrams are sent again only after a pause.
"""
import collections
import ctypes
import math
import os
import random
import select
import socket
import threading
import time

from wire import saluki_combo as sc
from wire import saluki_wire as sw

_libc = ctypes.CDLL(None, use_errno=True)


def socket_in(ns, address=("127.0.0.1", 0)):
    """A UDP socket in a namespace: made by a thread there, which then ends."""
    made = []

    def make():
        with open(f"/proc/{ns.holder.pid}/ns/net", "rb") as f:
            if _libc.setns(f.fileno(), 0x40000000):
                raise OSError(ctypes.get_errno(), "setns")
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        sock.bind(address)
        made.append(sock)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


class Ended(Exception):
    """The awaited event did not come."""


class Session:
    """Of either end."""

    def __init__(self, k2, at_sensor, window, padded, data=None):
        keys = sw.session_keys(k2)
        up, down = (keys.up_address, keys.up_seal), (keys.down_address, keys.down_seal)
        padded_len = sw.PADDED_LEN if padded else 0
        self.tx = sw.Sender(*(up if at_sensor else down), padded_len)
        self.rx = (sw.Receiver(*down, sw.WINDOW_DOWN) if at_sensor else
                   sw.Receiver(*up, window))
        self.chain, self.padded, self.data = keys.chain, padded, data
        self.window = window if at_sensor else sw.WINDOW_DOWN
        self.acknowledged = 0
        self.address, self.silent = None, False  # silent: one-way
        self.spool, self.begun, self.info = None, False, []  # at the collector

    def room(self):
        return self.tx.next <= self.acknowledged + sw.ahead(self.acknowledged, self.window) // 2


# ---- the collector -----------------------------------------------------------------------------

Spool = collections.namedtuple("Spool", "ephemeral key run")  # forwarded in a session


class Run:
    """One run's combos, by their counts."""

    def __init__(self):
        self.spool, self.lost = None, 0
        self.pieces = collections.defaultdict(dict)
        self.whole, self.taken, self.frames, self.next_frame = {}, 0, [], 0
        self.totals, self.described = None, []  # each frame's totals and info, as the sensor reported them
        self.progress, self.readings = [], []  # each reading with the number of frames before it

    def count(self, low):
        """The count with these low bits that is nearest to `taken`."""
        d = (low - self.taken) & 0xffffff
        return self.taken + (d if d < 1 << 23 else d - (1 << 24))

    def piece(self, p):
        count = self.count(p.combo)
        if count < self.taken or count in self.whole:
            return
        have = self.pieces[count]
        have[p.offset] = p.data
        data, at = b"", 0
        while at in have and have[at]:
            data += have[at]
            at += len(have[at])
        if at == p.total:
            self.whole[count] = data
            del self.pieces[count]

    def begin(self, spool):
        """A new session: waiting combos may have another form."""
        if spool != self.spool:
            self.pieces.clear()
            self.whole.clear()
        self.spool = spool

    def take(self, sensor_id, info, below):
        while self.taken in self.whole and self.taken < below:
            data = self.whole.pop(self.taken)
            if self.spool:
                data = sw.record_open(self.spool.key, self.spool.run, self.taken, data)
            combo = sc.Combo(data, 0 if self.spool else sensor_id)
            assert combo.seqn == self.taken & 0xffff and combo.first == self.next_frame
            self.readings += [(len(self.frames) + e.at, r) for e in combo.events if e.type == sc.CLOCK
                              for r in sc.readings_read(e.data)]
            self.frames += combo.frames
            self.described += [info] * len(combo.frames)
            self.next_frame += len(combo.frames)
            self.taken += 1

    def floor(self, combo, first):
        """Missing combos below it never come."""
        if combo <= self.taken:
            return
        assert not [c for c in self.whole if c < combo] and first >= self.next_frame
        self.lost += first - self.next_frame
        self.taken, self.next_frame = combo, first
        for c in [c for c in self.pieces if c < combo]:
            del self.pieces[c]

    def ended(self):
        return bool(self.totals and self.totals["final"] and
                    self.totals["exported"] <= self.next_frame)


def change(info):
    return int(info.get("change", 0))


class Collector:
    def __init__(self, sock, secret, sensor, sensor_id=7, preshared=None, clock=time.time_ns,
                 window=1024):
        self.sock, self.secret, self.sensor = sock, secret, sensor
        self.sensor_id, self.clock, self.window = sensor_id, clock, window
        self.P = sw.pair(secret, sensor, False, preshared)
        self.sessions, self.spent, self.runs = [], set(), collections.defaultdict(Run)
        self.refused, self.lengths, self.kinds = 0, [], collections.Counter()
        self.hellos, self.info, self.answers, self.renewals = [], [], {}, {}
        self.requests, self.echoes, self.probes = 0, [], 0
        self.answers_slots, self.cookies, self.fresh_set_ups = True, set(), 0
        self.one_way, self.present, self.opens_spools = {}, None, True
        self.settles, self.loses_final, self.loses_info = True, 0, 0
        self.takes_below = math.inf

    def run(self):
        return self.runs[self.hellos[-1].run]

    def serve(self, until, seconds=60):
        """Works until `until()` is true, and all datagrams received were taken."""
        deadline = time.monotonic() + seconds
        while not until():
            left = deadline - time.monotonic()
            if left < 0:
                raise Ended(f"{seconds} s: refused {self.refused}, kinds {dict(self.kinds)}")
            if select.select([self.sock], [], [], left)[0]:
                self._batch()

    def _batch(self):
        heard = set()
        for _ in range(16):
            try:
                datagram, address = self.sock.recvfrom(2048, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            self.lengths.append(len(datagram))
            session = self._datagram(datagram, address)
            if session:
                heard.add(session)
        for session in heard:
            self._acknowledge(session)

    def _slot(self, address):
        interval = self.clock() // sw.INTERVAL_NS
        return any(address in sw.slots(self.P, i) for i in range(interval - 1, interval + 2))

    def _datagram(self, datagram, address):
        for session in self.sessions:
            try:
                number, message = session.rx.open(datagram)
            except sw.Refused:
                continue
            session.address = address
            # A new session's first datagram ends the old one, except for datagrams under way.
            if not session.begun:
                session.begun, self.present = True, session
                session.data.begin(session.spool)
            if (session.data, session.spool) != (self.present.data, self.present.spool):
                return None
            self._message(session, number, message)
            return session
        if self._slot(datagram[:8]) and datagram[:8] not in self.spent:
            if self.answers_slots:
                self._set_up(datagram, address)
            return None
        try:
            self._request(sw.request_open(self.secret, datagram, self.clock() // sw.INTERVAL_NS),
                          address)
        except sw.Refused:
            self.refused += 1
        return None

    def _request(self, request, address):
        """A cookie is valid for one handshake."""
        if request.sensor != self.sensor:
            raise sw.Refused("another sensor")
        if request.kind == sw.COOKIE:
            if not sw.request_proved(self.P, request):
                raise sw.Refused("no proof")
            self.requests += 1
            self.cookies.add(cookie := os.urandom(8))
            answer = sw.request_answer(request, self.clock(), cookie)
            assert len(answer) <= request.length
            self.sock.sendto(answer, address)
        elif request.rest[:8] in self.cookies:
            self.cookies.remove(request.rest[:8])
            self.fresh_set_ups += 1
            self._set_up(request.rest, address)
        else:
            raise sw.Refused("no cookie of ours")

    def _spool(self, hello):
        """The session's spool, and the info after its key."""
        if not hello.flags & sw.SPOOL:
            return None, hello.info
        try:
            key, info = sw.spool_key(self.P, self.secret, hello.info)
        except sw.Refused:
            key, info = None, hello.info[sw.SPOOL_HELLO_LEN:]
        agreed = key and self.opens_spools
        return Spool(hello.info[:32], key, hello.run) if agreed else None, info

    def _set_up(self, datagram, address):
        hello = sw.m1_open(self.P, datagram)
        self.spent.add(datagram[:8])
        self.hellos.append(hello)
        if hello.flags & sw.ONE_WAY:
            self._one_way(hello)
            return
        window = min(hello.window, self.window)
        padded = hello.flags & sw.PADDED
        spool, info = self._spool(hello)
        flags = padded | (sw.SPOOL if spool else 0)
        welcome = sw.Welcome(b"", self.clock(), window, flags, self.sensor_id)
        answer, k2 = sw.m2(self.P, self.secret, self.sensor, datagram, os.urandom(32), welcome,
                           sw.PADDED_LEN if padded else 0)
        assert len(answer) <= len(datagram)
        self.sessions.append(Session(k2, False, window, padded, self.runs[hello.run]))
        self.sessions[-1].spool = spool
        self.info.append(sc.info_read(info))
        self.sessions[-1].info.append(self.info[-1])
        self.sock.sendto(answer, address)

    def _one_way(self, hello):
        if hello.ephemeral not in self.one_way:
            k2 = sw.one_way(self.P, self.secret, hello.ephemeral, hello.ephemeral, hello.run)
            session = Session(k2, False, hello.window, 0, self.runs[hello.run])
            session.silent = True
            self.one_way[hello.ephemeral] = session
            self.sessions.append(session)
            self.info.append(sc.info_read(hello.info))
            session.info.append(self.info[-1])
        self.one_way[hello.ephemeral].rx.move(hello.next)

    def _message(self, session, number, message):
        kind, run = message[0], session.data
        self.kinds[kind] += 1
        if kind == sw.COMBO:
            run.piece(sw.piece_read(message, sw.RECORD_MAX if session.spool else sw.COMBO_MAX))
            run.take(0 if session.silent else self.sensor_id, session.info[-1],
                     self.takes_below)
        elif kind == sw.TOTALS:
            totals = sc.totals_read(message)[0]
            if totals["final"] and self.loses_final:
                self.loses_final -= 1
                return
            if not run.totals or all(totals[n] >= run.totals[n] for n in ("exported", "final")):
                run.totals = totals
        elif kind == sw.INFO:
            if session.spool and self.loses_info:
                self.loses_info -= 1
                return
            self.info.append(sc.info_read(message[1:]))
            if change(self.info[-1]) > change(session.info[-1]):
                session.info.append(self.info[-1])
        elif kind == sw.HEARD:
            session.acknowledged = max(session.acknowledged, sw.numbers(message)[0])
        elif kind == sw.PROBE:
            stamp = sw.numbers(message)[0]
            self.probes += 1
            self.say(session, message[:0] + bytes([sw.PROBED]) + sw.be64(stamp) +
                     sw.be64(self.clock()) + sw.be64(self.clock()))
        elif kind == sw.ECHO:
            self.echoes.append(sw.numbers(message)[0])
        elif kind == sw.RENEW:
            self._renew(session, message[1:33])
        elif kind == sw.ANSWER:
            self.answers[sw.numbers(message[:9])[0]] = (message[9], message[10:].decode("ascii"))
        elif kind == sw.FLOOR:
            if not session.silent:
                run.floor(*sw.numbers(message))
        elif kind == sw.PROGRESS:
            run.progress.append(sc.progress_read(message))
        else:
            raise AssertionError(f"a message of kind {kind}")
        session.rx.keep(number)

    def _renew(self, session, e_s):
        if e_s not in self.renewals:
            e_c, public = sw.keypair()
            self.renewals[e_s] = public
            k2 = sw.renewed(session.chain, e_c, False, e_s)
            self.sessions.append(Session(k2, False, session.rx.window, session.padded,
                                         session.data))
            self.sessions[-1].spool, self.sessions[-1].info = session.spool, session.info
        self.say(session, bytes([sw.RENEWED]) + e_s + self.renewals[e_s])

    def _acknowledge(self, session):
        run = session.data
        held = sum(1 << c - run.taken - 1 for c in run.whole if 0 < c - run.taken <= 64)
        settled, ended = (run.taken, run.ended()) if self.settles else (0, False)
        self.say(session, sw.ack_write(sw.Ack(session.rx.highest, session.rx.bits(), run.taken,
                                              settled, held, int(ended))))

    def say(self, session, message):
        """Sends nothing if there is no room: the next acknowledgement says the same and more."""
        if session.room() and session.address and not session.silent:
            self.sock.sendto(session.tx.seal(message), session.address)


# ---- the sensor --------------------------------------------------------------------------------

class File:
    """A spool's keys. Its writer did not know the sensor's id."""

    def __init__(self, P, collector):
        e, _ = sw.keypair()
        self.key = os.urandom(32)
        self.told = sw.spool_hello(P, e, collector, self.key)

    def record(self, run, count, combo):
        return sw.record(self.key, run, count, combo[:2] + bytes(2) + combo[4:])


class Sensor:
    def __init__(self, ns, to, secret, collector, preshared=None, padded=False,
                 clock=time.time_ns, seed=1):
        self.ns, self.to, self.secret, self.collector = ns, to, secret, collector
        self.P = sw.pair(secret, collector, True, preshared)
        self.padded_len = sw.PADDED_LEN if padded else 0
        self.clock, self.random, self.used = clock, random.Random(seed), set()
        self.instance = bytes(8)
        self.run = self.random.getrandbits(64)
        self.plain, self.combos, self.exported, self.datagrams = [], [], 0, 0
        self.file = None  # combos are its records
        self.session = self.sock = self.ack = self.probed = None
        self.renewed, self.orders, self.heard, self.lengths = None, [], 0, []
        self.echoed = self.strays = 0
        self.sent = {}  # number: (count, offset), of this session

    # Set-up, renewal, the time

    def _fresh(self):
        """Each session has a new port."""
        if self.sock:
            self.sock.close()
        self.sock = socket_in(self.ns)
        self.sock.connect(self.to)

    def _receive(self, seconds):
        if not select.select([self.sock], [], [], seconds)[0]:
            return None
        datagram = self.sock.recv(2048)
        self.lengths.append(len(datagram))
        return datagram

    def slot(self):
        free = [s for s in sw.slots(self.P, self.clock() // sw.INTERVAL_NS) if s not in self.used]
        slot = self.random.choice(free)
        self.used.add(slot)
        return slot

    def m1(self, e_s, slot, length=sw.PADDED_LEN):
        info = sc.info_write({"application": "second", "interface.0": "mon0", "snaplen.0": 65535,
                              "exported": 0 if self.file else self.exported})
        flags = sw.PADDED if self.padded_len else 0
        if self.file:
            info, flags = self.file.told + info, flags | sw.SPOOL
        hello = sw.Hello(sw.public(e_s), self.run, self.clock(), 1024, flags, info, 0,
                         self.instance)
        return sw.m1(self.P, slot, os.urandom(16), hello, length)

    def set_up(self, tries=8):
        """Waits a second for each answer, as docs/wire.md demands."""
        self._fresh()
        asked = []
        for _ in range(tries):
            e_s, _ = sw.keypair()
            first = self.m1(e_s, self.slot())
            asked.append((e_s, first))
            self.sock.send(first)
            second = self._receive(1)
            if second:
                self.strays += len(asked) - 1  # late answers to the others may still come
                return self._answered(asked, second)
        raise Ended("no answer to a handshake")

    def _answered(self, asked, second):
        for e_s, first in asked:
            try:
                self.welcome, k2 = sw.m2_open(self.P, self.secret, self.collector, e_s, first,
                                              second)
            except sw.Refused:
                continue
            self._begin(k2, self.welcome.window)
            return first
        raise Ended("the datagram is no answer to a handshake")

    def _begin(self, k2, window):
        self.session = Session(k2, True, window, self.padded_len)
        self.sent, self.heard = {}, 0

    def renew(self):
        e_s, public = sw.keypair()
        self.renewed = None
        while not self.renewed:
            self.say(bytes([sw.RENEW]) + public)
            self.work(1, lambda: self.renewed)
        assert self.renewed[:32] == public
        k2 = sw.renewed(self.session.chain, e_s, True, self.renewed[32:])
        self._fresh()
        self._begin(k2, self.welcome.window)

    def _interval(self):
        return self.clock() // sw.INTERVAL_NS

    def ask(self, length=sw.REQUEST_LEN, seconds=5):
        """The collector's time, and a cookie."""
        self._fresh()
        interval = self._interval() if length == sw.REQUEST_LEN else None
        request, k = sw.cookie_request(self.P, sw.public(self.secret), self.collector,
                                       os.urandom(32), os.urandom(16), length, interval)
        self.sock.send(request)
        answer = self._receive(seconds)
        if answer is None:
            raise Ended("no answer to a request")
        assert len(answer) <= length
        return sw.request_answered(k, answer)

    def set_up_fresh(self, seconds=5):
        """Without a slot. Returns the datagram with the m1."""
        _, cookie = self.ask(seconds=seconds)
        e_s, _ = sw.keypair()
        first = self.m1(e_s, cookie, sw.INIT_LEN)
        request = sw.set_up_request(sw.public(self.secret), self.collector, os.urandom(32),
                                    os.urandom(16), first, self._interval())
        self.sock.send(request)
        second = self._receive(seconds)
        if second is None:
            raise Ended("no answer to a handshake under a cookie")
        self._answered([(e_s, first)], second)
        return request

    # Data

    def say(self, message):
        number = self.session.tx.next
        datagram = self.session.tx.seal(message)
        self.sock.send(datagram)
        self.datagrams += 1
        return number

    def _message(self, message):
        kind = message[0]
        self.heard += 1
        if kind == sw.ACK:
            ack = sw.ack_read(message)
            if not self.ack or ack.highest >= self.session.acknowledged:
                self.ack = ack
                self.session.acknowledged = max(self.session.acknowledged, ack.highest)
        elif kind == sw.CHALLENGE:
            self.echoed += 1
            self.say(sw.number(sw.ECHO, sw.numbers(message)[0]))
        elif kind == sw.RENEWED:
            self.renewed = message[1:65]
        elif kind == sw.PROBED:
            self.probed = sw.numbers(message)
        elif kind == sw.ORDER:
            self._order(*sw.numbers(message[:9]), message[9:].decode("ascii"))
        else:
            raise AssertionError(f"a message of kind {kind}")
        if self.heard % 8 == 0:
            self.say(sw.number(sw.HEARD, self.session.rx.highest))

    def _order(self, number, text):
        if (number, text) not in self.orders:
            self.orders.append((number, text))
        self.say(bytes([sw.ANSWER]) + sw.be64(number) + b"\0done " + text.encode("ascii"))

    def work(self, seconds, until=lambda: False):
        """Processes datagrams for this time, or until the condition is true."""
        deadline = time.monotonic() + seconds
        while not until():
            datagram = self._receive(max(0, deadline - time.monotonic()))
            if datagram is None:
                return bool(until())
            try:
                message = self.session.rx.open(datagram)[1]
            except sw.Refused:
                self.strays -= 1
                assert self.strays >= 0, "a datagram of another session"
                continue
            self._message(message)
        return True

    def add(self, frames, codec, size=40):
        """Adds combos of so many frames each."""
        for at in range(0, len(frames), size):
            self.add_combo(frames[at:at + size], codec)

    def add_combo(self, frames, codec, events=()):
        count = len(self.combos)
        self.plain.append(sc.combo_write(frames, self.exported, count, self.welcome.sensor, codec,
                                         events))
        self.combos.append(self.file.record(self.run, count, self.plain[-1]) if self.file
                           else self.plain[-1])
        self.exported += len(frames)

    def killed(self):
        """Another process forwards all combos of this one, from its next session on."""
        self.file, self.ack = File(self.P, self.collector), None
        self.combos = [self.file.record(self.run, n, c) for n, c in enumerate(self.plain)]

    def next_run(self):
        """Unsent datagrams do not belong to the next session."""
        self.run, self.file, self.ack = self.random.getrandbits(64), None, None
        self.plain, self.combos, self.exported, self.datagrams = [], [], 0, 0

    def _piece(self, count, message, seconds):
        while not self.session.room():
            if not self.work(seconds, self.session.room):
                raise Ended("nothing was acknowledged")
        self.sent[self.say(message)] = (count, message)

    def deliver(self, seconds=60):
        """Sends all combos that are not settled, until they are."""
        deadline = time.monotonic() + seconds
        settled = self.ack.settled if self.ack else 0
        for count in range(settled, len(self.combos)):
            self.work(deadline - time.monotonic(),
                      lambda: count < (self.ack.taken if self.ack else 0) + 64)
            for message in sw.pieces(count, self.combos[count], self.padded_len - 2
                                     if self.padded_len else sw.DATAGRAM_MAX):
                self._piece(count, message, deadline - time.monotonic())
        self.settle(deadline)

    def settle(self, deadline):
        """Missing datagrams are sent again each second."""
        while not self.work(1, lambda: self.ack and self.ack.settled >= len(self.combos)):
            if time.monotonic() > deadline:
                raise Ended(f"{self.ack} of {len(self.combos)} combos")
            for number, (count, message) in list(self.sent.items()):
                if count >= self.ack.taken and not sw.ack_has(self.ack, number):
                    del self.sent[number]
                    self._piece(count, message, 10)

    def totals(self, final):
        n = self.exported
        return sc.totals_write({"seen": n, "captured": n, "exported": n, "final": final,
                                "combos": len(self.combos), "datagrams": self.datagrams})

    def progress(self, before_ns, ahead_ns=0, round_trip_ns=0):
        self.say(sc.progress_write(sc.Progress(self.exported, before_ns, ahead_ns, round_trip_ns)))

    def finish(self):
        for _ in range(20):
            self.say(self.totals(1))
            if self.work(1, lambda: self.ack and self.ack.flags & 1):
                return
        raise Ended("the final totals were not taken")

    def close(self):
        if self.sock:
            self.sock.close()


class OneWaySensor(Sensor):
    """Receives nothing. It may use any slot, as no agent was there before it."""

    def announce(self, fresh):
        """An m1 of a new session, or of the present one again."""
        if fresh:
            self._fresh()
            e_s, self.e_s = sw.keypair()
            self._begin(sw.one_way(self.P, e_s, self.collector, self.e_s, self.run), 4096)
            self.welcome = sw.Welcome(b"", 0, 4096, 0, 0)  # as if one had come
        slot = next(s for s in sw.slots(self.P, self.clock() // sw.INTERVAL_NS)
                    if s not in self.used)
        self.used.add(slot)
        flags = sw.ONE_WAY | (sw.PADDED if self.padded_len else 0)
        hello = sw.Hello(self.e_s, self.run, self.clock(), 4096, flags,
                         sc.info_write({"application": "second", "interface.0": "mon0"}),
                         self.session.tx.next, self.instance)
        m1 = sw.m1(self.P, slot, os.urandom(16), hello)
        self.sock.send(m1)
        return m1

    def send(self, count):
        """Sends one combo, once."""
        for message in sw.pieces(count, self.combos[count], sw.PADDED_LEN - 2):
            self.say(message)
            time.sleep(0.001)

    def floor(self):
        self.say(sw.floor_write(len(self.combos), self.exported))
