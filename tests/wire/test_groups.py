# SPDX-License-Identifier: GPL-2.0
"""Groups of sensors, without a radio: a real collector, and sensors of the second implementation
that accept and record every order."""
import contextlib
import signal
import struct
import time

import pytest
from netns import testbed

from wire import ends
from wire import saluki_combo as sc
from wire.test_interop import key, secret_of

NAMES = ("hall", "roof")
PLAN = "group lib channels 1,6 dwell 100ms\n"
LIST = "1@100ms,6@100ms"
DEAUTH, BEACON = 0xc0, 0x80


@pytest.fixture
def ns():
    ns = testbed.Namespace()
    yield ns
    ns.close()


@pytest.fixture
def keys(tmp_path):
    keys = testbed.Keys(tmp_path)
    for name in NAMES:
        keys.sensor(name)
    text = keys.sensors.read_text().splitlines()
    keys.sensors.write_text("\n".join([text[0], *(f"{line} group=lib" for line in text[1:])]) + "\n")
    return keys


def heard_on(channel, kind):
    """A frame with radiotap's channel field only."""
    head = struct.pack("<BBHIHH", 0, 0, 12, 1 << 3, 2407 + 5 * channel, 0xa0)
    data = head + bytes([kind, 0]) + bytes(22) + bytes(2)
    return sc.Frame(time.time_ns(), len(data), 127, data)


class Room:
    """Sensors that regularly report that they are there."""

    def __init__(self, ns, keys, names=NAMES):
        self.sensors = {n: ends.Sensor(ns, ("127.0.0.1", 5600), secret_of(keys.sensor(n)),
                                       key(keys.collector_public), seed=i)
                        for i, n in enumerate(names)}
        self.present = []

    def comes(self, name):
        self.sensors[name].set_up()
        self.sensors[name].say(self.sensors[name].totals(0))  # this begins the session
        self.present.append(name)

    def leaves(self, name):
        self.present.remove(name)
        self.sensors[name].finish()

    def until(self, condition, what, seconds=30):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {what}: {[(n, self.orders(n)) for n in self.sensors]}")
            for name in self.present:
                self.sensors[name].say(self.sensors[name].totals(0))
                self.sensors[name].work(0.05)

    def orders(self, name):
        return [text for _, text in self.sensors[name].orders]

    def last(self, name, text):
        self.until(lambda: self.orders(name)[-1:] == [text], f"{text!r} for {name}")

    def hears(self, name, frame):
        self.sensors[name].add([frame], sc.STORED)
        self.sensors[name].deliver()

    def close(self):
        for name in list(self.present):
            self.leaves(name)
        for sensor in self.sensors.values():
            sensor.close()


@contextlib.contextmanager
def meeting(ns, keys, lines):
    with keys.sensors.open("a") as f:
        f.write(lines)
    collector = testbed.Collector(ns, keys, keys.directory / "out.pcapng")
    room = Room(ns, keys)
    yield collector, room
    room.close()
    status, said = collector.finish()
    assert status == 0, said
    assert all(s["balance"] == 0 for s in collector.stats()["sensors"])


def ctl(ns, room, *words):
    """An order's sender waits for sensors that only work while they are waited for."""
    done = ns.start(testbed.BUILD / "saluki-collector", "ctl", *words, stdout=testbed.subprocess.PIPE,
                    stderr=testbed.subprocess.PIPE)
    room.until(lambda: done.poll() is not None, "end of ctl")
    return done.returncode, *done.communicate(timeout=10)


def test_shares(ns, keys):
    """Each connected sensor has its own share; one that returns in another session gets its share
    again."""
    with meeting(ns, keys, PLAN) as (collector, room):
        room.comes("hall")
        room.last("hall", f"set channels {LIST} share 0/1")
        room.comes("roof")
        room.last("hall", f"set channels {LIST} share 0/2")
        room.last("roof", f"set channels {LIST} share 1/2")
        room.until(lambda: collector.stats()["groups"][0]["present"] == 2, "statistics")
        room.leaves("hall")
        room.last("roof", f"set channels {LIST} share 0/1")
        before = len(room.sensors["roof"].orders)
        room.comes("roof")
        room.present.remove("roof")
        room.until(lambda: len(room.sensors["roof"].orders) > before, "order in the new session")
        room.last("roof", f"set channels {LIST} share 0/1")


def test_another_plan(ns, keys):
    """After the file is read again, the list changes, and a sensor that left the group is free."""
    with meeting(ns, keys, PLAN) as (collector, room):
        for name in NAMES:
            room.comes(name)
        room.last("roof", f"set channels {LIST} share 1/2")
        text = keys.sensors.read_text()
        keys.sensors.write_text(text.replace("1,6", "36/80,6g:37")
                                .replace(" group=lib", "", 1).replace("100ms", "1s"))
        collector.send_signal(signal.SIGHUP)
        room.last("roof", "set channels 36/80@1000ms,6g:37@1000ms share 0/1")
        room.last("hall", "set channels")
        keys.sensors.write_text(text + "refocus lib for 30s wlan type mgt\n")
        collector.send_signal(signal.SIGHUP)
        collector.expect("this expression is new")
        collector.expect("the sensors stay as they are")


def test_all_focus(ns, keys):
    with meeting(ns, keys, "group lib\ngroup empty\n") as (_, room):
        assert ctl(ns, room, "focus", "--group", "empty", "--channel", "6", "--for", "1s")[0] == 1
        for name in NAMES:
            room.comes(name)
        status, out, err = ctl(ns, room, "focus", "--group", "lib", "--channel", "6g:5", "--for", "30s")
        assert (status, err) == (0, "")
        assert sorted(out.splitlines()) == ["2 of 2 sensors have done it",
                                            "hall: done focus 6g:5 30000",
                                            "roof: done focus 6g:5 30000"]
        assert ctl(ns, room, "roof", "focus", "36/80", "250ms") == (0, "done focus 36/80 250\n", "")
        assert ctl(ns, room, "focus", "--sensor", "hall", "--channel", "1", "--for", "1s")[0] == 0
        assert ctl(ns, room, "hall", "set", "channels", "1,6x2")[1] == "done set channels 1,6x2\n"
        for words in (("focus", "--group", "lib", "--channel", "6"), ("focus", "6", "1s"),
                      ("hall", "focus", "6", "30"), ("hall", "focus", "6/40", "30s"),
                      ("--group", "lib", "--sensor", "hall", "set", "channels")):
            status, out, err = ctl(ns, room, *words)
            assert status == 2 and "see 'saluki-collector ctl --help'" in err, words
        assert room.orders("hall") == ["focus 6g:5 30000", "focus 1 1000", "set channels 1,6x2"]
        assert room.orders("roof") == ["focus 6g:5 30000", "focus 36/80 250"]


def test_a_frame_focuses_all(ns, keys):
    """Only a matching frame focuses all; while the focus is in force, one on another channel does
    not."""
    rule = "refocus lib for 60s wlan type mgt subtype deauth\n"
    with meeting(ns, keys, f"group lib\n{rule}") as (collector, room):
        for name in NAMES:
            room.comes(name)
        room.hears("hall", heard_on(1, BEACON))
        room.hears("hall", heard_on(6, DEAUTH))
        for name in NAMES:
            room.last(name, "focus 6 60000")
        began = time.monotonic()
        room.hears("roof", heard_on(11, DEAUTH))
        while time.monotonic() < began + 3:  # they are on channel 6, which continues
            room.hears("roof", heard_on(6, DEAUTH))
            room.sensors["hall"].work(0.02)
        seconds = time.monotonic() - began
        room.until(lambda: collector.stats()["groups"][0]["refocused"] == 1, "statistics")
        for name in NAMES:
            orders = room.orders(name)
            assert set(orders) == {"focus 6 60000"} and 2 <= len(orders) <= seconds + 3


def test_rules_and_the_operator(ns, keys):
    """A second rule waits until the first one's focus is over, and both until the operator's is."""
    rules = ("refocus lib for 3s wlan type mgt subtype deauth\n"
             "refocus lib for 60s wlan type mgt subtype beacon\n")
    with meeting(ns, keys, f"group lib\n{rules}") as (collector, room):
        for name in NAMES:
            room.comes(name)
        room.hears("hall", heard_on(6, DEAUTH))
        for name in NAMES:
            room.last(name, "focus 6 3000")
        began = time.monotonic()
        while time.monotonic() < began + 2:
            room.hears("roof", heard_on(11, BEACON))
            for name in NAMES:
                room.sensors[name].work(0.05)
        assert room.orders("hall") == room.orders("roof") == ["focus 6 3000"]
        status, out, _ = ctl(ns, room, "focus", "--group", "lib", "--channel", "1", "--for", "4s")
        assert status == 0 and "2 of 2 sensors have done it" in out
        asked = time.monotonic()
        while time.monotonic() < asked + 3:
            room.hears("roof", heard_on(11, BEACON))
            room.hears("hall", heard_on(6, DEAUTH))
            for name in NAMES:
                room.sensors[name].work(0.05)
        assert room.orders("hall") == room.orders("roof") == ["focus 6 3000", "focus 1 4000"]

        def turned():
            room.hears("roof", heard_on(11, BEACON))
            return all(room.orders(n)[-1:] == ["focus 11 60000"] for n in NAMES)

        room.until(turned, "focus by the other rule")
        assert time.monotonic() > asked + 3.5  # when ctl ended, the focus had begun
        room.until(lambda: collector.stats()["groups"][0]["refocused"] == 2, "statistics")


@pytest.mark.parametrize("lines, said", [
    ("group lib\nrefocus lib for 1s wlan type nonsense\n", "line 5: 'wlan type nonsense': "),
    ("group lib channels 1,6,999\n", "line 4: channel '999': "),
    ("group lib channels 1,6 dwell 40m\n", "line 4: all dwells are more than an hour"),
    ("group other\n", "line 2: there is no such group"),
    ("group lib\ngroup lib\n", "line 5: a group of this name is there already"),
    ("group lib\nrefocus lob for 1s tcp\n", "line 5: there is no such group"),
    ("group 9 hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=\n", "no sensor can be named group"),
])
def test_mistakes(ns, keys, lines, said):
    with keys.sensors.open("a") as f:
        f.write(lines)
    command = [testbed.BUILD / "saluki-collector", "--listen", "127.0.0.1:5600", "--key", keys.collector,
               "--sensors", keys.sensors, "-w", keys.directory / "out.pcapng"]
    status, out = testbed.Process(ns, command, None).finish(signo=None)
    assert status == 1 and f"--sensors {keys.sensors}: " in out and said in out


def test_a_plan_of_many_channels(ns, keys):
    """A plan of many channels, by frequency, is one long line, and is carried out."""
    asked = ",".join(f"{5000 + 5 * n}/20" for n in range(36, 116))
    dealt = ",".join(f"{n}@250ms" for n in range(36, 116))
    with meeting(ns, keys, f"group lib channels {asked}\n") as (_, room):
        room.comes("hall")
        room.last("hall", f"set channels {dealt} share 0/1")
