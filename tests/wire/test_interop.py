# SPDX-License-Identifier: GPL-2.0
"""The programs against the second implementation, which was written from docs/wire.md: as a
collector it opens everything a real sensor sends, and as a sensor its combos are accepted and
written by a real collector."""
import base64
import contextlib
import itertools
import math
import os
import select
import threading
import time

import pytest
from netns import testbed
from netns.relay import Clock
from netns.test_spool import records
from reference import captures, radiotaps
from reference.test_reference import write_pcap

from wire import ends
from wire import saluki_combo as sc
from wire import saluki_wire as sw
from wire.test_second import answer_by, time_by

WHOLE = ("-s", 32768, "--keep", "all")


@pytest.fixture
def ns():
    ns = testbed.Namespace()
    yield ns
    ns.close()


def key(text):
    return base64.b64decode(text)


def line(data):
    return base64.b64encode(data).decode("ascii") + "\n"


@pytest.fixture
def keys(tmp_path):
    return testbed.Keys(tmp_path)


def secret_of(path):
    return key(path.read_text().split("\n")[0])


def expected(frames, snaplen=32768):
    return [(f.time_ns, f.orig_len, f.linktype, f.data[:snaplen]) for f in frames]


def got(frames):
    return [(f.time_ns, f.orig_len, f.linktype, f.data) for f in frames]


# ---- as a collector ----------------------------------------------------------------------------

class Told(testbed.Process):
    def kill_and_say(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.said += self.popen.communicate()[1] or ""


class Heard:
    """A second collector and a real sensor that reads a capture."""

    def __init__(self, ns, keys, capture, *options, preshared=None, env=None, clock=time.time_ns,
                 stdin=None):
        sensor_key = keys.sensor("room-1")
        if preshared and "preshared" not in sensor_key.read_text():
            with sensor_key.open("a") as f:
                f.write("preshared " + line(preshared))
        sock = ends.socket_in(ns)
        self.collector = ends.Collector(sock, secret_of(keys.collector),
                                        sw.public(secret_of(sensor_key)), preshared=preshared,
                                        clock=clock)
        self.sensor = Told(
            ns, [testbed.BUILD / "saluki", "run", "-r", capture, "--to",
                 f"127.0.0.1:{sock.getsockname()[1]}", "--key", sensor_key, *options], None,
            env=env, stdin=stdin)

    def serve(self, until=None, seconds=60):
        until = until or (lambda: self.collector.hellos and self.collector.run().ended())
        try:
            self.collector.serve(lambda: until() or self.sensor.popen.poll() is not None, seconds)
            assert until(), "the sensor has ended"
        except (AssertionError, ends.Ended, sw.Refused) as e:
            self.sensor.kill_and_say()
            raise AssertionError(f"{e!r}; {self.sensor.said}") from e

    def close(self):
        """The sensor ends when it knows that all is settled."""
        deadline = time.monotonic() + 30
        while self.sensor.popen.poll() is None and time.monotonic() < deadline:
            try:
                self.collector.serve(lambda: self.sensor.popen.poll() is not None, 0.2)
            except ends.Ended:
                pass
        status, said = self.sensor.finish(signo=None)
        self.collector.sock.close()
        assert status == 0, said
        return said


@pytest.mark.parametrize("how", ["plain", "padded", "preshared", "stored", "small"])
def test_it_opens_what_a_sensor_sends(ns, keys, bundled, how):
    options = {"padded": ["--pad"], "stored": ["--compress", "none"],
               "small": ["--combo-size", 1024]}.get(how, [])
    heard = Heard(ns, keys, bundled, *WHOLE, *options,
                  preshared=b"\x5a" * 32 if how == "preshared" else None)
    heard.serve()
    c = heard.collector
    heard.close()
    frames = list(captures.frames(bundled))
    assert got(c.run().frames) == expected(frames)
    assert c.refused == 0
    assert {h.flags for h in c.hellos} == {sw.PADDED if how == "padded" else 0}
    assert c.info[0]["application"].startswith("saluki") and "interface.0" in c.info[0]
    assert c.run().totals["exported"] == c.run().totals["captured"] == len(frames)
    if how == "padded":
        assert set(c.lengths) == {sw.PADDED_LEN}
    else:
        assert max(c.lengths) <= sw.DATAGRAM_MAX


def test_it_reads_every_radiotap_header(ns, keys, tmp_path):
    """Both implementations find the same fields in radiotap headers of every kind, malformed ones,
    and randomly changed ones; otherwise bytes would be wrong."""
    data = [m.bytes for m in radiotaps.every()] + list(radiotaps.mutated(3, 3000))
    frames = [captures.Frame(10**18 + 1000 * n, len(d), 127, d) for n, d in enumerate(data)]
    write_pcap(tmp_path / "radiotap.pcap", 127, frames)
    heard = Heard(ns, keys, tmp_path / "radiotap.pcap", *WHOLE)
    heard.serve()
    heard.close()
    assert got(heard.collector.run().frames) == expected(frames)


def test_a_sensor_renews(ns, keys, bundled):
    """A sensor renews its session between the two halves of a capture that comes through a pipe."""
    data = bundled.read_bytes()
    frames = list(captures.frames(bundled))
    half = 24 + sum(16 + len(f.data) for f in frames[:len(frames) // 2])
    heard = Heard(ns, keys, "-", *WHOLE, "--renew", 5, stdin=testbed.subprocess.PIPE)
    pipe = heard.sensor.popen.stdin.buffer
    pipe.write(data[:half])
    pipe.flush()
    c = heard.collector
    heard.serve(lambda: c.renewals and c.sessions[-1].rx.highest > 0)
    pipe.write(data[half:])
    pipe.close()
    heard.sensor.popen.stdin = None
    heard.serve()
    heard.close()
    assert got(c.run().frames) == expected(frames)
    assert len({h.run for h in c.hellos}) == 1 and len(c.renewals) >= 1 and c.refused == 0
    assert c.sessions[0].address != c.sessions[1].address
    assert c.probes > 0


def test_a_sensor_of_1970_asks_for_the_time(ns, keys, bundled, tmp_path):
    clock = Clock(tmp_path / "clock", -int(time.time()) + 1000)
    heard = Heard(ns, keys, bundled, *WHOLE, env=clock.env)
    heard.serve()
    c = heard.collector
    heard.close()
    assert c.requests > 0 and c.fresh_set_ups > 0
    assert len(c.run().frames) == len(list(captures.frames(bundled)))
    assert abs(c.hellos[-1].time - time.time_ns()) < 60 * 10**9


@pytest.mark.parametrize("allowed", [True, False])
def test_a_sensor_takes_orders(ns, keys, bundled, allowed):
    data = bundled.read_bytes()
    options = ["--allow-control", "snaplen"] if allowed else []
    heard = Heard(ns, keys, "-", *WHOLE, *options, stdin=testbed.subprocess.PIPE)
    pipe = heard.sensor.popen.stdin.buffer
    pipe.write(data[:-5000])
    pipe.flush()
    c = heard.collector
    heard.serve(lambda: c.sessions and c.sessions[0].rx.highest > 0)
    number = time.time_ns()
    for text, n in (("set snaplen 96", number), ("dance", number + 1)):
        def answered(n=n, text=text):
            return n in c.answers
        while not answered():
            c.say(c.sessions[0], bytes([sw.ORDER]) + sw.be64(n) + text.encode("ascii"))
            try:
                c.serve(answered, 1)
            except ends.Ended:
                pass
    pipe.write(data[-5000:])
    pipe.close()
    heard.sensor.popen.stdin = None
    heard.serve()
    heard.close()
    assert c.answers[number][0] == (0 if allowed else 1)
    assert c.answers[number + 1][0] == 2


class Thief:
    """Has a sensor's private key and its collector's address. It answers each handshake and each
    request with all keys that it can make from these and the datagrams it sees, and an ephemeral of
    its own."""

    def __init__(self, sock, secret, collector):
        self.sock, self.collector, self.P = sock, collector, sw.pair(secret, collector, True)
        self.own, self.ephemeral = (secret, (pair := sw.keypair())[0]), pair[1]
        self.known = (sw.public(secret), collector, self.ephemeral)
        self.set_ups = self.questions = self.others = 0

    def answers(self, datagram):
        try:
            theirs = sw.m1_open(self.P, datagram).ephemeral
            self.set_ups += 1
            return [answer_by(secret, self.P, datagram, self.ephemeral)
                    for secret in self.shared(theirs)]
        except sw.Refused:
            dates = sw.request_dates(self.collector, datagram, time.time_ns() // sw.INTERVAL_NS)
            self.questions += bool(dates)
            self.others += not dates
            r = datagram[:16]
            theirs = sw._xor(datagram[24:56], sw.B(self.collector, "clock mask", r))
            return [time_by(secret, r, date) for date in dates for secret in self.shared(theirs)]

    def shared(self, theirs):
        return [sw.DH(a, b) for a in self.own for b in (*self.known, theirs)]

    def serve(self, until, seconds=60):
        deadline = time.monotonic() + seconds
        while not until() and time.monotonic() < deadline:
            if select.select([self.sock], [], [], 0.1)[0]:
                datagram, address = self.sock.recvfrom(2048)
                for answer in self.answers(datagram):
                    self.sock.sendto(answer, address)


def test_a_stolen_sensor_key_is_no_collector(ns, keys, bundled):
    """With a stolen sensor key there is no collector: the sensor keeps asking, and sends nothing
    under any session's keys."""
    sensor_key, sock = keys.sensor("room-1"), ends.socket_in(ns)
    thief = Thief(sock, secret_of(sensor_key), sw.public(secret_of(keys.collector)))
    sensor = Told(ns, [testbed.BUILD / "saluki", "run", "-r", bundled, "--to",
                       f"127.0.0.1:{sock.getsockname()[1]}", "--key", sensor_key], None)
    try:
        thief.serve(lambda: sensor.popen.poll() is not None)
        status, said = sensor.finish(signo=None)
    finally:
        sensor.kill()
        sock.close()
    assert status == 1 and "gave no session" in said
    assert thief.set_ups > 1 and thief.questions > 0 and thief.others == 0, vars(thief)


def test_a_sensor_trusts_the_ordered_keys(ns, keys, bundled, tmp_path):
    """The collector changes its key while the capture is half read, and a third one is refused."""
    data = bundled.read_bytes()
    frames = list(captures.frames(bundled))
    half = 24 + sum(16 + len(f.data) for f in frames[:len(frames) // 2])
    heard = Heard(ns, keys, "-", *WHOLE, "--collector-keys", tmp_path / "trusted", stdin=testbed.subprocess.PIPE)
    pipe = heard.sensor.popen.stdin.buffer
    pipe.write(data[:half])
    pipe.flush()
    c = heard.collector
    heard.serve(lambda: c.sessions and c.sessions[0].rx.highest > 0)
    secret, new = sw.keypair()
    old = sw.public(c.secret)
    assert "trusts" not in c.info[-1]
    for n, (trusted, status) in enumerate((((new, old, sw.keypair()[1]), 2), ((new,), 3), ((new, bytes(32)), 3),
                                           ((new, old), 0)), time.time_ns()):
        text = " ".join(["set keys", *(line(k).strip() for k in trusted)])
        while n not in c.answers:
            c.say(c.sessions[0], bytes([sw.ORDER]) + sw.be64(n) + text.encode("ascii"))
            with contextlib.suppress(ends.Ended):
                c.serve(lambda n=n: n in c.answers, 1)
        assert c.answers[n][0] == status, c.answers
    heard.serve(lambda: c.info[-1].get("trusts") == line(new)[:8], 5)
    c.secret, c.P = secret, sw.pair(secret, c.sensor, False)
    c.sessions.clear()  # it is started again
    pipe.write(data[half:])
    pipe.close()
    heard.sensor.popen.stdin = None
    heard.serve()
    heard.close()
    assert got(c.run().frames) == expected(frames)
    assert (tmp_path / "trusted").read_text().split()[-2:] == [line(k).strip() for k in (new, old)]


# ---- as a sensor -------------------------------------------------------------------------------

class Spoken:
    """A real collector and a second sensor."""

    def __init__(self, ns, keys, out, preshared=None, options=(), **kwargs):
        path = keys.sensor("room-1")
        if preshared:
            text = keys.sensors.read_text()
            keys.sensors.write_text(text.rstrip("\n") + " " + line(preshared))
        self.ns, self.out = ns, out
        self.collector = testbed.Collector(ns, keys, out, options=options)
        self.sensor = ends.Sensor(ns, ("127.0.0.1", 5600), secret_of(path),
                                  key(keys.collector_public), preshared, **kwargs)

    def close(self):
        self.sensor.close()
        status, said = self.collector.finish()
        assert status == 0, said
        stats = self.collector.sensor_stats("room-1")
        return list(captures.frames(self.out)), stats


def some(bundled, count=1000):
    return [sc.Frame(*f) for f in list(captures.frames(bundled))[:count]]


def wired(snaplen=96):
    """The first frames of each wired capture."""
    files = [list(captures.frames(p))[:40] for p in captures.OWN.folder("wired")]
    return sorted((sc.Frame(*f[:3], f.data[:snaplen]) for frames in files for f in frames),
                  key=lambda f: f.time_ns)


@pytest.mark.parametrize("how", ["plain", "padded", "preshared", "stored", "plainly compressed",
                                 "many", "wired", "wired, dense", "wired, whole"])
def test_a_collector_takes_what_it_sends(ns, keys, bundled, tmp_path, how):
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng", padded=how == "padded",
                    preshared=b"\xa5" * 32 if how == "preshared" else None)
    codec = {"stored": sc.STORED, "plainly compressed": sc.ZSTD, "wired": sc.STORED,
             "wired, dense": sc.ZSTD | sc.DENSE, "wired, whole": sc.ZSTD | sc.DENSE}.get(how, sc.ZSTD_DOT11)
    frames = some(bundled)
    if how.startswith("wired"):
        frames = wired(600 if how == "wired, whole" else 96)
    s = spoken.sensor
    s.set_up()
    s.add(frames, codec, 3 if how == "many" else 40)
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert stats["exported"] == stats["written"] == len(frames)
    if how == "padded":
        assert set(s.lengths) == {sw.PADDED_LEN}


def test_a_collector_renews(ns, keys, bundled, tmp_path):
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    frames = some(bundled)
    s = spoken.sensor
    s.set_up()
    for part in (frames[:300], frames[300:500], frames[500:]):
        s.add(part, sc.ZSTD_DOT11)
        s.deliver()
        s.say(sw.number(sw.PROBE, time.time_ns()))
        assert s.work(10, lambda: s.probed)
        t1, t2, t3 = s.probed
        assert t1 <= t2 <= t3 <= time.time_ns()
        s.probed = None
        if part is not frames[500:]:
            s.renew()
    s.finish()
    written, _ = spoken.close()
    assert expected(written) == got(frames)


def test_another_session_goes_on_with_the_run(ns, keys, bundled, tmp_path):
    """Combos not acknowledged in time are sent again in another session, and written once; the old
    session is no longer known."""
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    frames = some(bundled)
    s = spoken.sensor
    first = s.set_up()
    s.add(frames[:400], sc.ZSTD_DOT11)
    s.deliver()
    s.sock.send(first)
    s.ack = None
    s.set_up()
    s.add(frames[400:], sc.ZSTD_DOT11)
    s.deliver()
    s.finish()
    written, _ = spoken.close()
    assert expected(written) == got(frames)


@pytest.mark.parametrize("length", [122, 1232])
def test_a_collector_tells_the_time(ns, keys, tmp_path, length):
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    before = time.time_ns()
    told, _ = spoken.sensor.ask(length)
    assert before <= told <= time.time_ns()
    assert spoken.sensor.lengths == [length if length == 1232 else 56]
    spoken.close()


def test_a_sensor_that_no_slot_is_answered_to(ns, keys, bundled):
    """A sensor whose m1 is not answered, as it was late or its slot was used, asks for a cookie at
    once."""
    heard = Heard(ns, keys, bundled, *WHOLE)
    c = heard.collector
    c.answers_slots = False
    began = time.monotonic()
    heard.serve(lambda: c.fresh_set_ups)
    assert time.monotonic() - began < 1.5
    heard.serve()
    heard.close()
    assert got(c.run().frames) == expected(list(captures.frames(bundled)))


def _fresh_in_time(sensor):
    """A sensor has a limit of requests per second; above it, it asks again."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return sensor.set_up_fresh(1)
        except ends.Ended:
            assert time.monotonic() < deadline


def test_a_collector_takes_set_ups_without_slots(ns, keys, bundled, tmp_path):
    """A collector takes more handshakes than an interval has slots; each request once."""
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    frames, s = some(bundled, 40), spoken.sensor
    seen = [_fresh_in_time(s) for _ in range(40)]
    s.add(frames, sc.ZSTD_DOT11)
    s.deliver()
    for request in seen:
        s.sock.send(request)
    s.finish()
    written, _ = spoken.close()
    assert expected(written) == got(frames)
    stats = spoken.collector.stats()
    assert stats["set_ups"] == 40
    assert sum(stats[n] for n in ("repeated_requests", "refused_requests",
                                  "limited_questions")) >= 40


def replays(sock, datagrams, stop):
    """In turn, some 3,000 per second."""
    while not stop.is_set():
        for datagram in datagrams:
            sock.send(datagram)
        time.sleep(0.012)


def test_recorded_requests_take_nobodys_share(ns, keys, tmp_path):
    """An attacker without keys replays two recorded requests in turn, those with the most similar
    beginnings: no sensor waits longer for a session."""
    victim, other = keys.sensor("room-1"), keys.sensor("room-2")
    collector = testbed.Collector(ns, keys, tmp_path / "out.pcapng")
    C, to = sw.public(secret_of(keys.collector)), ("127.0.0.1", 5600)
    both = [ends.Sensor(ns, to, secret_of(path), C, seed=seed)
            for seed, path in enumerate((victim, other))]
    recorded = [sw.cookie_request(both[0].P, sw.public(both[0].secret), C, os.urandom(32),
                                  os.urandom(16), interval=time.time_ns() // sw.INTERVAL_NS)[0]
                for _ in range(600)]
    pair = min(itertools.combinations(recorded, 2),
               key=lambda p: (load_word(p[0]) ^ load_word(p[1])) % 4096)
    sock, stop = ends.socket_in(ns), threading.Event()
    sock.connect(to)
    for datagram in recorded:
        sock.send(datagram)
        time.sleep(0.001)
    testbed.wait_for(lambda: collector.stats()["datagrams"] >= 600, "all requests")
    time.sleep(1)  # the sensor's own requests of this second are used up
    before = collector.stats()
    thread = threading.Thread(target=replays, args=(sock, pair * 20, stop))
    thread.start()
    try:
        time.sleep(1)
        for sensor in both:
            for _ in range(12):
                sensor.set_up_fresh()
    finally:
        stop.set()
        thread.join()
        for sensor in both:
            sensor.close()
        assert collector.finish()[0] == 0
    after = collector.stats()
    assert after["limited_questions"] == before["limited_questions"]
    assert after["repeated_requests"] > 1000
    assert after["set_ups"] == 24


def load_word(datagram):
    return int.from_bytes(datagram[:8], "little")


def test_two_answers_have_two_keys(ns, keys, tmp_path):
    """A collector's answers to one m1 and to one request, before and after a restart, have two
    keys: a holder of both learns nothing about the seal's key. (Equal keys and nonces would show in
    the tags: with them equal plain bytes have equal sealed ones.)"""
    answers = []
    path = keys.sensor("room-1")
    s = ends.Sensor(ns, ("127.0.0.1", 5600), secret_of(path), key(keys.collector_public))
    e_s, _ = sw.keypair()
    first = s.m1(e_s, s.slot())
    request, _ = sw.cookie_request(s.P, sw.public(s.secret), s.collector, os.urandom(32),
                                   os.urandom(16))
    for n in range(2):
        collector = testbed.Collector(ns, keys, tmp_path / f"{n}.pcapng")
        s._fresh()
        for datagram in (first, request):
            s.sock.send(datagram)
            answers.append(s._receive(5))
        assert collector.finish()[0] == 0
    s.close()
    for one, other in zip(answers[:2], answers[2:]):
        assert one[8:24] != other[8:24]
        same = sum(a == b for a, b in zip(one[24:], other[24:]))
        assert same < len(one) / 8


def _keeps_asking(sensor, seconds):
    """Without an answer, once a second."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with pytest.raises(ends.Ended):
            sensor.set_up(1)


@pytest.mark.parametrize("how", ["unlisted", "another preshared key", "another collector's key"])
def test_a_collector_names_whom_it_refuses(ns, keys, tmp_path, how):
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    s, collector = spoken.sensor, spoken.collector
    if how == "unlisted":
        s.secret, public = sw.keypair()
        s.P = sw.pair(s.secret, s.collector, True)
        words = f"its public key {line(public).strip()} is not in --sensors"
    elif how == "another preshared key":
        s.P = sw.pair(s.secret, s.collector, True, b"p" * 32)
        words = "it says that it is sensor room-1, and its preshared key is not the one"
    else:
        s.collector = sw.keypair()[1]
        s.P = sw.pair(s.secret, s.collector, True)
        words = "its datagrams open under no key"
    if how == "another collector's key":
        _keeps_asking(s, 12)
    else:
        for _ in range(3):
            s.ask()
            with pytest.raises(ends.Ended):
                s.set_up_fresh()
    s.close()
    status, said = collector.finish()
    assert status == 0 and said.count(words) == 1, said


def test_made_up_keys_do_not_hide_a_stranger(ns, keys, bundled, tmp_path):
    """The log names the stranger that an operator looks for, while an attacker asks with one
    invented key after another."""
    keys.sensor("room-1")
    stranger = keys.sensor("stranger", listed=False)
    collector = testbed.Collector(ns, keys, tmp_path / "out.pcapng")
    C = sw.public(secret_of(keys.collector))
    sock = ends.socket_in(ns)
    sock.connect(("127.0.0.1", 5600))
    for _ in range(40):
        sock.send(sw.cookie_request(os.urandom(32), os.urandom(32), C, os.urandom(32),
                                    os.urandom(16))[0])
    testbed.wait_for(lambda: collector.stats()["refused_requests"] >= 40, "all made-up keys")
    asks = testbed.Process(ns, [testbed.BUILD / "saluki", "run", "-r", bundled, "--to",
                                "127.0.0.1:5600", "--key", stranger], None)
    try:
        said = collector.expect(testbed.public_of(stranger.read_text().splitlines()[0]))
    finally:
        asks.kill()
        sock.close()
        collector.finish()
    assert said.count("is not in --sensors") <= 9


def test_a_collector_refuses_the_wrong_preshared_key(ns, keys, tmp_path):
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng", preshared=b"\xa5" * 32)
    s = spoken.sensor
    s.P = sw.pair(s.secret, s.collector, True, b"\xa6" * 32)
    with pytest.raises(ends.Ended):
        s.set_up(tries=2)
    spoken.close()


def test_a_sensor_moves(ns, keys, bundled, tmp_path):
    """A sensor whose port changes during its session is challenged there, and continues."""
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    frames = some(bundled)
    s = spoken.sensor
    s.set_up()
    s.add(frames[:400], sc.ZSTD_DOT11)
    s.deliver()
    s.sock.close()
    s.sock = ends.socket_in(ns)
    s.sock.connect(s.to)
    s.add(frames[400:], sc.ZSTD_DOT11)
    s.deliver()
    s.finish()
    assert s.echoed == 1
    written, _ = spoken.close()
    assert expected(written) == got(frames)


def test_a_collector_gives_orders(ns, keys, tmp_path):
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    s = spoken.sensor
    s.set_up()
    s.say(s.totals(0))
    done = ns.start(testbed.BUILD / "saluki-collector", "ctl", "room-1", "set", "snaplen", 96,
                    stdout=testbed.subprocess.PIPE, stderr=testbed.subprocess.PIPE)
    deadline = time.monotonic() + 60
    while done.poll() is None and time.monotonic() < deadline:
        s.say(s.totals(0))
        s.work(0.2)
    assert done.communicate(timeout=10) == ("done set snaplen 96\n", "")
    assert done.returncode == 0
    assert [text for _, text in s.orders] == ["set snaplen 96"]
    assert abs(s.orders[0][0] - time.time_ns()) < 120 * 10**9
    s.finish()
    spoken.close()


def test_a_collector_with_two_keys(ns, keys, bundled, tmp_path):
    """It answers to both, and tells the first one in a session with the second. So for the sensor's keys."""
    old, old_public = keys.collector, keys.collector_public
    keys.collector = tmp_path / "new.key"
    keys.collector_public = keys._pair(keys.collector)
    keys.sensor("room-1")
    secret, public = sw.keypair()
    keys.sensors.write_text(keys.sensors.read_text().rstrip() + f" next={line(public)}")
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng", options=["--key", old])
    s = spoken.sensor
    frames = some(bundled)
    s.collector = key(old_public)
    told = ["set keys " + " ".join((keys.collector_public, old_public))]
    for own, collector, orders in ((s.secret, old_public, told), (secret, old_public, []),
                                   (secret, keys.collector_public, [])):
        s.secret, s.collector, s.orders = own, key(collector), []
        s.P = sw.pair(s.secret, s.collector, True)
        s.instance = sw.public(own)[:8]
        s.next_run()
        s.set_up()
        s.add(frames, sc.ZSTD_DOT11)
        s.deliver()
        s.finish()
        if orders:
            assert [text for _, text in s.orders] == orders
        assert s.welcome.sensor == 1
    s.ask()  # a request to the present key
    s.set_up_fresh()
    s.add(frames, sc.ZSTD_DOT11)
    s.finish()
    written, stats = spoken.close()
    assert got(frames) * 3 == expected(written)[:3 * len(frames)]
    assert stats["balance"] == 0


# ---- the spool ---------------------------------------------------------------------------------

def parts(bundled, tmp_path):
    """Two files, and each one's frames."""
    frames = list(captures.frames(bundled))
    halves = frames[:len(frames) // 2], frames[len(frames) // 2:]
    files = [tmp_path / "one.pcap", tmp_path / "two.pcap"]
    for file, half in zip(files, halves):
        write_pcap(file, half[0].linktype, half)
    return [(file, list(captures.frames(file))) for file in files]


def in_spool(spool):
    return sum(frames for _, kind, _, _, _, frames in records(spool) if kind == 1)


def leave(ns, keys, spool, capture, frames, killed=True, **kwargs):
    """A sensor without any answer has left these frames in the file; it was killed, or gave up."""
    stdin = testbed.subprocess.PIPE if killed else None
    heard = Heard(ns, keys, "-" if killed else capture, *WHOLE, "--spool", spool, stdin=stdin, **kwargs)
    try:
        if killed:
            heard.sensor.popen.stdin.buffer.write(capture.read_bytes())
            heard.sensor.popen.stdin.buffer.flush()
            testbed.wait_for(lambda: in_spool(spool) == len(frames), "frames in the spool", 30)
        else:
            status, said = heard.sensor.finish(signo=None, seconds=60)
            assert status == 0 and f"{len(frames)} frames wait in --spool" in said, said
    finally:
        if heard.sensor.popen.poll() is None:
            heard.sensor.kill_all()
        heard.collector.sock.close()


@pytest.mark.parametrize("how", ["plain", "padded", "preshared", "renewed", "ended", "lost"])
def test_it_opens_what_a_sensor_forwards(ns, keys, bundled, tmp_path, how):
    """Records have their own session, before the sensor's present run."""
    (first, earlier), (second, later) = parts(bundled, tmp_path)
    spool = tmp_path / "spool"
    preshared = b"\x5a" * 32 if how == "preshared" else None
    options = {"padded": ["--pad"], "renewed": ["--renew", 5]}.get(how, [])
    ended = how in ("ended", "lost")
    leave(ns, keys, spool, first, earlier, not ended, preshared=preshared)
    heard = Heard(ns, keys, second, *WHOLE, "--spool", spool, *options, preshared=preshared)
    c = heard.collector
    if how == "renewed":
        c.settles = False
        heard.serve(lambda: c.renewals and c.sessions[-1].rx.highest > 0)
        assert c.present is c.sessions[-1] and c.present.spool
        c.settles = True
    if how == "lost":
        c.loses_final = 1  # the final totals of the earlier run
    heard.serve(lambda: c.hellos and not c.hellos[-1].flags & sw.SPOOL and c.run().ended())
    assert heard.close().count("is delivered") == 1
    old, new = c.hellos[0], c.hellos[-1]
    flags = sw.PADDED if how == "padded" else 0
    assert (old.flags, new.flags) == (flags | sw.SPOOL, flags)
    assert [got(c.runs[h.run].frames) for h in (old, new)] == [expected(earlier), expected(later)]
    assert c.refused == 0 and c.runs[old.run].lost == c.runs[new.run].lost == 0
    if ended:
        assert c.runs[old.run].ended() and c.runs[old.run].totals["exported"] == len(earlier)
    forwarded = {i["interface.0"] for s in c.sessions if s.spool for i in s.info}
    assert forwarded == {first.name if ended else "-"} and c.info[-1]["interface.0"] == second.name
    assert "exported" not in c.info[0]
    assert not c.loses_final and spool.stat().st_size == 0
    if how == "padded":
        assert set(c.lengths) == {sw.PADDED_LEN}


def order(heard, text):
    """Repeats it until the sensor has answered."""
    c, number = heard.collector, time.time_ns()
    while number not in c.answers:
        c.say(c.present, bytes([sw.ORDER]) + sw.be64(number) + text.encode("ascii"))
        with contextlib.suppress(ends.Ended):
            c.serve(lambda: number in c.answers, 1)
    assert c.answers[number][0] == 0


@pytest.mark.parametrize("how", ["plain", "lost", "renewed", "anew"])
def test_it_hears_what_a_sensor_said_when_it_wrote(ns, keys, bundled, tmp_path, how):
    """If an order came between the records, these have the info from before and after it, also if
    that info is lost, and in another session."""
    (first, earlier), (second, later) = parts(bundled, tmp_path)
    spool, files = tmp_path / "spool", [tmp_path / "a.pcap", tmp_path / "b.pcap"]
    halves = earlier[:len(earlier) // 2], earlier[len(earlier) // 2:]
    for file, half in zip(files, halves):
        write_pcap(file, half[0].linktype, half)
    heard = Heard(ns, keys, "-", *WHOLE, "--combo-size", 2048, "--spool", spool, "--allow-control",
                  "snaplen", stdin=testbed.subprocess.PIPE)
    heard.collector.settles = False
    pipe = heard.sensor.popen.stdin.buffer
    try:
        pipe.write(files[0].read_bytes())
        pipe.flush()
        heard.serve(lambda: in_spool(spool) == len(halves[0]))
        order(heard, "set snaplen 96")
        pipe.write(files[1].read_bytes()[24:])
        pipe.flush()
        heard.serve(lambda: in_spool(spool) == len(earlier))
    finally:
        heard.sensor.kill_all()
        heard.collector.sock.close()
    changed = min(count for _, kind, _, count, before, _ in records(spool)
                  if kind == 1 and before >= len(halves[0]))
    heard = Heard(ns, keys, second, "-s", 200, "--keep", "all", "--spool", spool,
                  *(["--renew", 5] if how == "renewed" else []))
    c = heard.collector
    c.loses_info = 2 if how == "lost" else 0
    if how in ("renewed", "anew"):
        c.takes_below = changed + 1
        heard.serve(lambda: c.hellos and len(c.run().described) > len(halves[0]))
        if how == "anew":
            c.sessions.clear()  # it falls silent
        heard.serve(lambda: len([s for s in c.sessions if s.spool and s.begun]) == (how == "renewed") + 1)
        c.run().whole.clear()
        c.takes_below = math.inf
    heard.serve(lambda: c.hellos and not c.hellos[-1].flags & sw.SPOOL and c.run().ended())
    heard.close()
    old, new = (c.runs[h.run] for h in (c.hellos[0], c.hellos[-1]))
    assert got(old.frames) == expected(halves[0]) + expected(halves[1], 96)
    assert [i["snaplen.0"] for i in old.described] == ["32768"] * len(halves[0]) + ["96"] * len(halves[1])
    assert {i["interface.0"] for i in old.described} == {"-"} and not c.loses_info
    assert got(new.frames) == expected(later, 200)
    assert {i["snaplen.0"] for i in new.described} == {"200"}
    assert {i["interface.0"] for i in new.described} == {second.name}


def test_a_sensor_forwards_nothing_that_is_not_agreed(ns, keys, bundled, tmp_path):
    """A sensor forwards nothing without agreement: it continues its present run, and the file
    stays."""
    (first, earlier), (second, later) = parts(bundled, tmp_path)
    spool = tmp_path / "spool"
    leave(ns, keys, spool, first, earlier)
    heard = Heard(ns, keys, second, *WHOLE, "--spool", spool)
    c = heard.collector
    c.opens_spools = False
    heard.serve()
    heard.close()
    assert c.hellos[0].flags == sw.SPOOL and c.hellos[-1].flags == 0
    assert c.sessions[0].rx.highest == 0 and not c.runs[c.hellos[0].run].frames
    assert got(c.run().frames) == expected(later)
    assert in_spool(spool) == len(earlier)


def first_piece(sensor):
    """Half of the last combo, which is never completed in this session."""
    message = next(sw.pieces(len(sensor.combos) - 1, sensor.combos[-1], 200))
    sensor.say(message)
    assert sensor.work(10, lambda: sensor.ack and sensor.ack.highest == sensor.session.tx.next - 1)


def forwards(sensor):
    return bool(sensor.welcome.flags & sw.SPOOL)


@pytest.mark.parametrize("how", ["plain", "padded", "preshared", "stored"])
def test_a_collector_takes_what_it_forwards(ns, keys, bundled, tmp_path, how):
    """After a run whose process is killed twice, each time within a combo, and another run, all
    combos are forwarded, though some have come before."""
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng", padded=how == "padded",
                    preshared=b"\xa5" * 32 if how == "preshared" else None)
    codec = sc.STORED if how == "stored" else sc.ZSTD_DOT11
    frames = some(bundled)
    s = spoken.sensor
    s.set_up()
    s.add(frames[:200], codec)
    s.deliver()
    s.add(frames[200:400], codec)
    first_piece(s)
    s.killed()
    s.set_up()
    first_piece(s)
    s.killed()
    s.set_up()
    assert forwards(s)
    s.deliver()
    s.renew()
    s.add(frames[400:600], codec)
    s.deliver()
    s.finish()
    s.next_run()
    s.set_up()
    assert not forwards(s)
    s.add(frames[600:], codec)
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert stats["runs"] == 2 and stats["bad_combos"] == stats["bad_pieces"] == 0
    assert stats["written"] == stats["exported"] == len(frames) and stats["lost_missing"] == 0
    if how == "padded":
        assert set(s.lengths) == {sw.PADDED_LEN}


@pytest.mark.parametrize("place", [0, 31, 32, 79])
def test_a_collector_refuses_a_spool_of_another_key(ns, keys, bundled, tmp_path, place):
    """A collector refuses a spool of another key, reports this, and takes the other combos."""
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    frames = some(bundled, 200)
    s = spoken.sensor
    s.killed()
    told = bytearray(s.file.told)
    told[place] ^= 1
    s.file.told = bytes(told)
    s.set_up()
    assert not forwards(s)
    s.next_run()
    s.set_up()
    s.add(frames, sc.ZSTD_DOT11)
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames)
    assert stats["runs"] == 1 and stats["bad_combos"] == 0


@pytest.mark.parametrize("how", ["altered", "cut", "number", "count", "run", "key", "version",
                                 "plain"])
def test_a_collector_refuses_a_record(ns, keys, bundled, tmp_path, how):
    """One record of ten is refused and counted; the others are written."""
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    frames = some(bundled, 400)
    s = spoken.sensor
    s.killed()
    s.set_up()
    s.add(frames, sc.ZSTD_DOT11)
    file, good = s.file, s.combos[4]
    s.combos[4] = {
        "altered": good[:100] + bytes([good[100] ^ 1]) + good[101:],
        "cut": good[:39],
        "number": sw.be64(0) + good[8:],
        "count": file.record(s.run, 5, s.plain[4]),
        "run": file.record(s.run + 1, 4, s.plain[4]),
        "key": ends.File(s.P, s.collector).record(s.run, 4, s.plain[4]),
        "version": file.record(s.run, 4, b"\0\1" + s.plain[4][2:]),
        "plain": s.plain[4],
    }[how]
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames[:160] + frames[200:])
    assert stats["bad_combos"] == 1 and stats["balance"] == 0
    assert stats["written"] == 360 and stats["lost_missing"] == 40


def test_a_collector_hears_what_is_no_longer_in_a_spool(ns, keys, bundled, tmp_path):
    """A collector learns of two combos that are no longer in the spool, having made room for
    others."""
    spoken = Spoken(ns, keys, tmp_path / "out.pcapng")
    frames = some(bundled, 400)
    s = spoken.sensor
    s.killed()
    s.set_up()
    s.add(frames, sc.ZSTD_DOT11)
    records, s.combos = s.combos, s.combos[:4]
    s.deliver()
    s.say(sw.floor_write(6, 240))
    s.combos = records
    s.work(10, lambda: s.ack.settled >= 6)
    s.deliver()
    s.finish()
    written, stats = spoken.close()
    assert expected(written) == got(frames[:160] + frames[240:])
    assert stats["bad_combos"] == 0 and stats["balance"] == 0
    assert stats["written"] == 320 and stats["lost_missing"] == 80


# ---- one way -----------------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["plain", "padded"])
def test_it_opens_what_a_one_way_sensor_sends(ns, keys, bundled, how):
    heard = Heard(ns, keys, bundled, *WHOLE, "--one-way", *(["--pad"] if how == "padded" else []))
    c = heard.collector
    c.serve(lambda: c.hellos and c.run().ended())  # the sensor may have ended before
    heard.close()
    frames = list(captures.frames(bundled))
    assert got(c.run().frames) == expected(frames)
    assert c.refused == 0 and len(c.hellos) >= 3 and len(c.one_way) == 1
    assert {h.flags for h in c.hellos} == {sw.ONE_WAY | (sw.PADDED if how == "padded" else 0)}
    assert c.run().totals["exported"] == len(frames) and c.kinds[sw.FLOOR] > 0
    assert not {sw.HEARD, sw.PROBE, sw.ECHO, sw.RENEW, sw.ANSWER} & set(c.kinds)
    assert max(c.lengths) <= sw.PADDED_LEN


def one_way_sensor(ns, keys, out, bundled, allowed=True):
    path = keys.sensor("room-1")
    if allowed:
        keys.sensors.write_text(keys.sensors.read_text().rstrip("\n") + " one-way\n")
    collector = testbed.Collector(ns, keys, out)
    sensor = ends.OneWaySensor(ns, ("127.0.0.1", 5600), secret_of(path),
                               key(keys.collector_public))
    sensor.announce(True)
    sensor.add(some(bundled), sc.ZSTD_DOT11)
    return collector, sensor


def one_way_ended(collector, sensor, out):
    for _ in range(3):
        sensor.say(sensor.totals(1))
        sensor.floor()
    stats = testbed.wait_for(lambda: (s := collector.sensor_stats("room-1")) and s["final"] and
                             not s["in_flight"] and s, "the end", 30)
    sensor.close()
    assert collector.finish()[0] == 0 and collector.stats()["sent"] == 0
    return list(captures.frames(out)), stats


def test_a_collector_takes_what_it_sends_one_way(ns, keys, bundled, tmp_path):
    """A collector takes two one-way sessions in a row, and the first one's m1 is useless a second
    time."""
    collector, s = one_way_sensor(ns, keys, tmp_path / "out.pcapng", bundled)
    first = s.announce(False)
    for count in range(len(s.combos)):
        if count == 10:
            s.announce(True)
            s.sock.send(first)
        s.send(count)
    written, stats = one_way_ended(collector, s, tmp_path / "out.pcapng")
    assert expected(written) == got(some(bundled))
    assert stats["written"] == 1000 and stats["lost_missing"] == 0
    assert collector.stats()["sessions"] == 2


def test_a_collector_counts_what_is_lost_one_way(ns, keys, bundled, tmp_path):
    """Combos that never come, at the end too, and a gap of more numbers than there are addresses,
    are counted."""
    collector, s = one_way_sensor(ns, keys, tmp_path / "out.pcapng", bundled)
    kept = [c for c in range(len(s.combos)) if c % 5 and c < len(s.combos) - 1]
    for count in kept:
        if count == 11:
            s.session.tx.next += 100000
            s.announce(False)
        s.send(count)
    written, stats = one_way_ended(collector, s, tmp_path / "out.pcapng")
    wanted = [f for c in kept for f in some(bundled)[40 * c:40 * (c + 1)]]
    assert expected(written) == got(wanted)
    assert stats["written"] == len(wanted) and stats["lost_missing"] == 1000 - len(wanted)
    assert stats["balance"] == 0 and stats["earlier"] == 0


def test_a_collector_refuses_one_way_of_who_is_not_listed_so(ns, keys, bundled, tmp_path):
    """A one-way session of an unlisted sensor is refused: anyone with the collector's stolen key
    could begin it."""
    collector, s = one_way_sensor(ns, keys, tmp_path / "out.pcapng", bundled, allowed=False)
    s.send(0)
    collector.expect("does not say so")
    s.close()
    assert collector.finish()[0] == 0
    assert collector.stats()["sessions"] == 0 and collector.stats()["not_ours"] > 0
