# SPDX-License-Identifier: GPL-2.0
"""A corridor in which a phone walks past three access points and three sensors, as capture files of the sensors. It has
what the bundled captures lack: roaming, retries, addresses that change, and wrong checksums.

All access points are on channel 6. The phone searches for its networks with another address each 10 s, then joins and
walks from x = 0 to x = 80 m and back. A laptop stays at x = 40 m. A printer searches with its own address."""
import dataclasses
import math
import random
import struct
import zlib

from reference import captures
from reference.test_reference import write_pcap

BEGIN_NS = 1_795_780_000 * 10**9
MS, SECOND_NS = 10**6, 10**9
SECONDS, SEARCH_S, SEARCH_EACH_S = 180, 60, 10
LENGTH_M = 80
POWER_DBM, LOSS_1M_DB, PER_DECADE_DB, NOISE_DB = 15, 46, 35, 2
LEAST_DBM, BAD_DBM = -88, -84  # below: not heard; frames with a wrong FCS begin
HYSTERESIS_DB = 6
APS = {"02:ab:00:00:00:01": 0, "02:ab:00:00:00:02": 40, "02:ab:00:00:00:03": 80}
SENSORS = {"hall-1": 5, "hall-2": 40, "hall-3": 75}
PHONE, LAPTOP, PRINTER = "5e:10:00:00:00:07", "a4:10:00:00:00:08", "a4:10:00:00:00:09"
GROUP = "ff:ff:ff:ff:ff:ff"
NAME, FORMER = "corridor", ("home", "hotel lobby")
RATES = b"\x01\x04\x0c\x12\x18\x24"
ASSOCIATE, REASSOCIATE, PROBE, BEACON = 0x00, 0x20, 0x40, 0x80
DATA, FROM_AP, TO_AP, RETRIED = 0x08, 2, 1, 8


@dataclasses.dataclass
class Sent:
    """`truth`: what the frame shows, for the tests."""
    end_ns: int
    x: float
    mac: bytes
    rate: int = 6


def octets(address):
    return bytes.fromhex(address.replace(":", ""))


def signal_dbm(distance_m):
    return POWER_DBM - LOSS_1M_DB - PER_DECADE_DB * math.log10(max(distance_m, 1))


def element(number, data):
    return bytes([number, len(data)]) + data


class Walk:
    """`sent`: all transmissions. `path`: (time, BSSID) of each association of the phone."""

    def __init__(self, seed=1):
        self.rng = random.Random(f"walk {seed}")
        self.sent, self.path, self.searched = [], [], []
        self.numbers = {}
        for number, ap in enumerate(APS):
            for n in range(int(SECONDS / 1.024)):
                self._send(n * 1.024 + .001 * number, APS[ap], BEACON, 0, GROUP, ap, ap,
                           bytes(8) + b"\x64\0\x11\0" + element(0, NAME.encode()) + element(1, RATES))
        self._search()
        self._join_and_walk()
        self._stay()
        self.sent.sort(key=lambda s: s.end_ns)

    def _send(self, at_s, x, control, flags, receiver, transmitter, third, body, rate=6, again=False):
        number = self.numbers.get(transmitter, 0) + (not again)
        self.numbers[transmitter] = number % 4096
        mac = struct.pack("<BBH", control, flags, 0 if receiver == GROUP else 44)
        mac += octets(receiver) + octets(transmitter) + octets(third) + struct.pack("<H", number % 4096 << 4) + body
        self.sent.append(Sent(BEGIN_NS + round(at_s * SECOND_NS), x, mac + struct.pack("<I", zlib.crc32(mac)), rate))

    def _search(self):
        for n in range(SEARCH_S // SEARCH_EACH_S):
            address = f"d{'26ae'[n % 4]}:" + ":".join(f"{self.rng.randrange(256):02x}" for _ in range(5))
            for k in range(4):
                name = FORMER[n // 2 % 2] if n % 2 and k == 3 else ""
                self._probe(n * SEARCH_EACH_S + .5 + .02 * k, 0, address, name)
        for n in range(SECONDS // 30):
            self._probe(n * 30 + 7.1, 60, PRINTER, "")

    def _probe(self, at_s, x, address, name):
        self._send(at_s, x, PROBE, 0, GROUP, address, GROUP, element(0, name.encode()) + element(1, RATES))
        self.searched.append((at_s, address, name))

    def _join_and_walk(self):
        ap = None
        for n in range((SECONDS - SEARCH_S) * 5):
            at_s = SEARCH_S + .2 * n
            done = (at_s - SEARCH_S) / (SECONDS - SEARCH_S)
            x = LENGTH_M * (1 - abs(1 - 2 * done))
            near = max(APS, key=lambda a: signal_dbm(abs(APS[a] - x)))
            if ap is None or signal_dbm(abs(APS[near] - x)) > signal_dbm(abs(APS[ap] - x)) + HYSTERESIS_DB:
                old, ap = ap, near
                body = b"\x11\0\x0a\0" + (octets(old) if old else b"") + element(0, NAME.encode()) + element(1, RATES)
                self._send(at_s, x, REASSOCIATE if old else ASSOCIATE, 0, ap, PHONE, ap, body)
                self.path.append((at_s, ap))
            self._exchange(at_s + .01, x, PHONE, ap)

    def _stay(self):
        ap = list(APS)[1]
        self._send(1.5, 40, ASSOCIATE, 0, ap, LAPTOP, ap, b"\x11\0\x0a\0" + element(0, NAME.encode()))
        for n in range(SECONDS - 3):
            self._exchange(2.3 + n, 40, LAPTOP, ap)

    def _exchange(self, at_s, x, station, ap):
        """A frame to the access point, or from it. The farther apart, the more retries."""
        up, size = self.rng.random() < .5, self.rng.randrange(60, 1200)
        flags, body = TO_AP if up else FROM_AP, self.rng.randbytes(size)
        receiver, transmitter = (ap, station) if up else (station, ap)
        loss = min(.6, abs(APS[ap] - x) / 60)
        for attempt in range(4):
            self._send(at_s + .003 * attempt, x if up else APS[ap], DATA, flags | RETRIED * bool(attempt), receiver,
                       transmitter, ap, body, 24, again=attempt > 0)
            if self.rng.random() > loss:
                return

    def heard(self, sensor):
        """The sensor's frames. Some weak ones have a wrong FCS, and another transmitter than they should."""
        rng, out = random.Random(f"heard {sensor}"), []
        for s in self.sent:
            signal = round(signal_dbm(abs(SENSORS[sensor] - s.x)) + rng.gauss(0, NOISE_DB))
            if signal < LEAST_DBM:
                continue
            mac, bad = bytearray(s.mac), signal < BAD_DBM and rng.random() < .5
            if bad:
                mac[rng.randrange(10, 16)] ^= 1 << rng.randrange(8)
            head = struct.pack("<BBHIBBHHb", 0, 0, 15, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5, 0x10 | 0x40 * bad, 2 * s.rate,
                               2437, 0xc0, signal)
            out.append(captures.Frame(s.end_ns, len(head) + len(mac), 127, head + bytes(mac)))
        return out

    def write(self, folder):
        """A capture file for each sensor."""
        for sensor in SENSORS:
            write_pcap(folder / f"{sensor}.pcap", 127, self.heard(sensor))
