# SPDX-License-Identifier: GPL-2.0
"""The traffic on the air, as data: access points, stations, their traffic, and the listening
sensors. A test names one and states the expected results:

    CAFE = Topology(
        access_points=(AccessPoint("cafe", 6, "wpa2"),),
        stations=(Station("phone", "cafe"),),
        traffic=((Pings("phone", 20),),),
        sensors=(Sensor("hall", f"-i mon6 --channel 6 {WHOLE}"),))

    @pytest.mark.topology(CAFE)
    def test_the_sensor_hears_the_cafe(air):
        assert air.pings("phone") == 20
        assert air.heard("hall", "mon6") == air.hearable(6)

`air` has the results (outcome.py). Names are interface names, at most 15 bytes, all different.
Every access point, station and `-i` of a sensor has its own radio. The order is always this:
sensors listen before the first access point is there and until the last has gone; when all access
points are there, stations join one after the other; then the rounds of traffic follow, one after
the other.

steps() converts it to the lines for the guest's init."""
import dataclasses
import hashlib
import itertools
import re
import struct

from reference import captures
from reference.test_reference import write_pcap

WHOLE = "--keep all -s 4096"  # so that a sensor's frames are those on the air
COUNTRY = "DE"  # whose rules allow access points on 6 GHz
PASSPHRASE = "correct horse"
MARK = "mark "
MARK_SENDER = bytes.fromhex("020000000909")
ETHERTYPE = b"\x88\xb5"  # for local experiments


@dataclasses.dataclass(frozen=True)
class AccessPoint:
    name: str  # interface and network name
    channel: int
    security: str = "open"  # or wpa2, wpa3
    hidden: bool = False
    band: str = ""  # "6", whose channel numbers other bands have too, and which needs wpa3
    clones: str = ""  # another one's name, whose network name and address it takes
    wide: bool = False  # 80 MHz (VHT), on channel 36


@dataclasses.dataclass(frozen=True)
class Station:
    name: str
    joins: str  # an access point's name


@dataclasses.dataclass(frozen=True)
class Pings:
    """A station asks its access point, each time right after the answer."""
    by: str
    count: int
    size: int = 56


@dataclasses.dataclass(frozen=True)
class Frames:
    """Frames with their numbers, from a station to its access point, or to a station from its
    access point."""
    by: str
    to: str
    count: int
    size: int = 200  # bytes after the Ethernet header
    rate: int = 200  # frames/s


@dataclasses.dataclass(frozen=True)
class Command:
    """No traffic, but done in its turn: a command line, as `saluki status`, or an order to a
    sensor."""
    name: str
    words: str


@dataclasses.dataclass(frozen=True)
class Card:
    """Done in its turn, too: iw lists a radio's channels."""
    name: str
    radio: str


@dataclasses.dataclass(frozen=True)
class Kill:
    """No traffic either: a sensor gets a SIGKILL, or only its unprivileged process."""
    sensor: str
    child: bool = False


@dataclasses.dataclass(frozen=True)
class Await:
    """Waits until a program has printed these words, in so many lines."""
    who: str
    words: str
    lines: int = 1


@dataclasses.dataclass(frozen=True)
class Shout:
    """Frames with radiotap headers on a channel of 2.4 or 5 GHz; without any, one broadcast
    deauthentication frame from MARK_SENDER."""
    name: str
    channel: int
    frames: tuple = ()
    gap_ms: int = 0  # between two frames


@dataclasses.dataclass(frozen=True)
class Reach:
    """From now on this radio and another hear each other only if their masks share a bit; their
    frames are still on the air. Each begins with 1."""
    radio: str
    mask: int


@dataclasses.dataclass(frozen=True)
class Sensor:
    """`saluki run` with these options. The radios named by -i become monitor interfaces; with
    --monitor they stay stations', and are up. `lacks`: as in lesser_driver.c, or nl80211. As a row
    of traffic it begins in its turn, on existing radios, with the key of the sensor `again`."""
    name: str
    options: str
    lacks: str = ""
    again: str = ""
    group: str = ""  # of the collector's

    def interfaces(self):
        return re.findall(r"-i (\S+)", self.options)

    def makes_monitors(self):
        return "--monitor" in self.options

    def captured(self):
        """The interfaces that it captures."""
        made = self.makes_monitors() and "second" not in self.lacks
        return [i[-12:] + "mon" if made else i for i in self.interfaces()]

    def channels(self):
        return [int(c) for c in re.findall(r"--channel (\d+)", self.options)]


@dataclasses.dataclass(frozen=True)
class Topology:
    access_points: tuple = ()
    stations: tuple = ()
    traffic: tuple = ()  # rounds, which are tuples of rows that run at once
    sensors: tuple = ()
    collector: str = ""  # further options
    groups: tuple = ()  # the sensors file's lines about groups
    after: tuple = ()  # Commands, after the sensors have ended
    country: str = COUNTRY

    def __post_init__(self):
        names = self.radios()
        assert len(set(names)) == len(names) and all(len(n) <= 15 for n in names), names

    def radios(self):
        """The names of all radios; the last two send marks, and check that all have heard them."""
        return [*(a.name for a in self.access_points), *(s.name for s in self.stations),
                *(i for s in self.sensors for i in s.interfaces()), "bell", "ear"]

    def mac(self, name):
        return bytes([2, 0, 0, 0, self.radios().index(name), 0])

    def access_point(self, name):
        found, = (a for a in self.access_points if a.name == name)
        return found

    def frequencies(self):
        """Those in use."""
        return sorted({frequency(a.channel, a.band) for a in self.access_points} |
                      {frequency(c) for s in self.sensors for c in s.channels()})


def frequency(channel, band=""):
    """A channel's center, in MHz."""
    if band == "6":
        return 5950 + 5 * channel
    if channel <= 14:
        return 2484 if channel == 14 else 2407 + 5 * channel
    return 5000 + 5 * channel


# ---- programs' input -------------------------------------------------------------------------------


def _key(network):
    """The key for PASSPHRASE with WPA2: computing it takes the guest a second."""
    return hashlib.pbkdf2_hmac("sha1", PASSPHRASE.encode(), network.encode(), 4096, 32).hex()


def hostapd(topology, access_point):
    a = access_point
    lines = [f"interface={a.name}", f"ssid={a.clones or a.name}", "driver=nl80211", f"channel={a.channel}",
             f"hw_mode={'g' if a.channel <= 14 and a.band != '6' else 'a'}", "wmm_enabled=1",
             f"ignore_broadcast_ssid={int(a.hidden)}"]
    if a.clones:
        lines.append(f"bssid={topology.mac(a.clones).hex(':')}")
    lines += ["ieee80211ax=1", "op_class=131"] if a.band == "6" else ["ieee80211n=1"]
    if a.wide:
        lines += ["ht_capab=[HT40+]", "ieee80211ac=1", "vht_oper_chwidth=1", "vht_oper_centr_freq_seg0_idx=42"]
    if a.security == "wpa2":
        lines += ["wpa=2", "wpa_key_mgmt=WPA-PSK", "rsn_pairwise=CCMP",
                  f"wpa_psk={_key(a.name)}"]
    elif a.security == "wpa3":
        lines += ["wpa=2", "wpa_key_mgmt=SAE", "rsn_pairwise=CCMP", "ieee80211w=2",
                  f"sae_pwe={1 if a.band == '6' else 2}", f"sae_password={PASSPHRASE}"]
    return "".join(f"{line}\n" for line in lines)


def wpa_supplicant(access_point):
    a = access_point
    lines = {"open": ["key_mgmt=NONE"], "wpa2": ["key_mgmt=WPA-PSK", f"psk={_key(a.name)}"],
             "wpa3": ["key_mgmt=SAE", "ieee80211w=2", f'sae_password="{PASSPHRASE}"']}[a.security]
    lines += [f'ssid="{a.name}"', f"scan_ssid={int(a.hidden)}",
              f"scan_freq={frequency(a.channel, a.band)}"]
    return "sae_pwe=2\nnetwork={\n" + "".join(f"\t{line}\n" for line in lines) + "}\n"


def mark(text):
    """A beacon, which shows that all sensors on its channel listen."""
    ssid = (MARK + text).encode()
    frame = (bytes([0, 0, 8, 0, 0, 0, 0, 0, 0x80, 0, 0, 0]) + b"\xff" * 6 + MARK_SENDER * 2 +
             bytes(2 + 8) + b"\x64\0\x01\0\0" + bytes([len(ssid)]) + ssid)
    return captures.Frame(0, len(frame), 127, frame)


def shout():
    frame = bytes([0, 0, 8, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0]) + b"\xff" * 6 + MARK_SENDER * 2 + bytes(2 + 2)
    return captures.Frame(0, len(frame), 127, frame)


def numbered(topology, frames):
    """The frames of one row of traffic, as sent."""
    head = topology.mac(frames.to) + topology.mac(frames.by) + ETHERTYPE
    def one(n):
        data = head + struct.pack(">I", n) + bytes((n + i) % 256 for i in range(frames.size - 4))
        return captures.Frame(0, len(data), 1, data)
    return [one(n) for n in range(frames.count)]


# ---- steps -----------------------------------------------------------------------------------------


def _rounds(topology):
    """One list of (name, row) per round, where each row has its own name."""
    def name(row, at):
        return getattr(row, "name", None) or f"{getattr(row, 'by', '')}-{at}"

    return [[(name(row, f"{n}.{k}"), row) for k, row in enumerate(rows)]
            for n, rows in enumerate(topology.traffic)]


def _sensor(s):
    yield f"sensor {s.name} {s.again or s.name} {s.lacks or '-'} {s.options}"
    yield from (f"await {s.name} {i}: capturing by" for i in s.captured())


def _begin(topology, name, row):
    if isinstance(row, Command):
        yield f"start {name} {row.words}"
    elif isinstance(row, Sensor):
        yield from _sensor(row)
    elif isinstance(row, Kill):
        yield f"{'kill_child' if row.child else 'kill_off'} {row.sensor}"
    elif isinstance(row, Shout):
        yield f"shout {name} {frequency(row.channel)}"
    elif isinstance(row, Card):
        yield f"card {name} {row.radio}"
    elif isinstance(row, Reach):
        yield f"reach {row.radio} {row.mask}"
    elif isinstance(row, Await):
        yield f"await_lines {row.lines} {row.who} {row.words}"
    elif isinstance(row, Pings):
        station, = (s for s in topology.stations if s.name == row.by)
        yield f"pings {name} {row.by} {_addresses(topology)[station.joins]} {row.count} {row.size}"
    else:
        yield f"frames {name} {row.by} {row.rate}"


def _round(topology, rows):
    """Begun at once; programs that end by themselves are waited for."""
    for name, row in rows:
        yield from _begin(topology, name, row)
    ends = [name for name, row in rows if not isinstance(row, (Sensor, Kill, Await, Shout, Reach))]
    if ends:
        yield f"end {' '.join(ends)}"


def _addresses(topology):
    """10.0.N.1 is an access point's, its stations follow."""
    found = {}
    for n, a in enumerate(topology.access_points):
        joined = [s.name for s in topology.stations if s.joins == a.name]
        for host, name in enumerate([a.name, *joined]):
            found[name] = f"10.0.{n}.{host + 1}"
    return found


def steps(topology):
    """The lines for init: see there."""
    t = topology
    address = _addresses(t)
    yield f"radios {' '.join(t.radios())}"
    made = [s for s in t.sensors if s.makes_monitors()]
    yield f"monitor {' '.join(i for s in t.sensors if s not in made for i in s.interfaces())} bell ear"
    if made:
        yield f"up {' '.join(i for s in made for i in s.interfaces())}"
    yield f"country {t.country}"
    if t.sensors:
        yield f"collector {t.collector}"
    for s in t.sensors:
        yield from _sensor(s)
    yield from (f"mark begin-{f} {f}" for f in t.frequencies())
    yield from (f"access_point {a.name} {address[a.name]}" for a in t.access_points)
    yield from (f"await {a.name} AP-ENABLED" for a in t.access_points)
    for s in t.stations:
        yield f"station {s.name} {address[s.name]}"
        yield f"await {s.name} CTRL-EVENT-CONNECTED"
    for rows in _rounds(t):
        yield from _round(t, rows)
    for joined in t.stations, t.access_points:
        yield f"stop TERM {' '.join(j.name for j in joined)}"
    yield from (f"mark end-{f} {f}" for f in t.frequencies())
    if t.sensors:
        begun = [s for rows in t.traffic for s in rows if isinstance(s, Sensor)]
        yield f"stop INT {' '.join(s.name for s in (*t.sensors, *begun))}"
        yield from _round(t, [(c.name, c) for c in t.after])
        yield "stop INT collector"
    yield "stop INT air"


def write(topology, folder):
    """The guest's folder for it."""
    folder.mkdir(parents=True)
    (folder / "steps").write_text("".join(f"{line}\n" for line in steps(topology)))
    for a in topology.access_points:
        (folder / f"{a.name}.conf").write_text(hostapd(topology, a))
    for s in topology.stations:
        (folder / f"{s.name}.conf").write_text(wpa_supplicant(topology.access_point(s.joins)))
    for f in topology.frequencies():
        for when in ("begin", "end"):
            write_pcap(folder / f"mark-{when}-{f}.pcap", 127, [mark(f"{when}-{f}")])
    for name, row in itertools.chain(*_rounds(topology)):
        if isinstance(row, Frames):
            write_pcap(folder / f"{name}.pcap", 1, numbered(topology, row))
        elif isinstance(row, Shout):
            frames = [captures.Frame(n * row.gap_ms * 10**6, len(f), 127, f) for n, f in enumerate(row.frames)]
            write_pcap(folder / f"{name}.pcap", 127, frames or [shout()])
