# SPDX-License-Identifier: GPL-2.0
"""Radio traffic of simulated radios (tests/wifi): hwsim/, and the unchanged recordings of
radiotap/.

    hwsim/hwsim-all-groundtruth   TOWN, as the simulator's own interface heard it on all channels
    hwsim/hwsim-ch1               TOWN, as a monitor interface on channel 1 heard it
    hwsim/hwsim                   TOWN, as a monitor interface heard it that changed channels
    radiotap/school-*             SCHOOL: a collector's own file with four interfaces, and all channels
    radiotap/attack               ATTACK: a flood of deauthentication frames, as aireplay-ng sends them
"""
import pathlib
import struct
import tempfile

from captures import files
from reference import captures
from wifi import on_air, outcome
from wifi.topology import (MARK_SENDER, WHOLE, AccessPoint, Command, Frames, Pings, Sensor, Shout, Station,
                           Topology)

SECONDS = 900


def _web(network, by, at, count):
    """A station reads pages of its access point, which serves the guest's files of this
    topology."""
    get = f"ip netns exec {by} wget -q -O /dev/null http://{at}/"
    return ((Command(f"{network}-serves", f"httpd -p {at}:80 -h /data"),),
            (*(Command(f"page-{n}", f"{get}{network}/steps") for n in range(count)),
             Command("name", f"ip netns exec {by} nslookup example.org {at}"),
             Command("lease", f"ip netns exec {by} udhcpc -n -q -t 2 -T 1 -i {by} -s /bin/true"),
             Command("who", f"ip netns exec {by} arping -c 3 -I {by} {at}")))


TOWN = Topology(
    access_points=(AccessPoint("home", 1, "wpa2"), AccessPoint("cafe", 6), AccessPoint("lab", 11, "wpa3"),
                   AccessPoint("secret", 6, "wpa2", hidden=True), AccessPoint("upstairs", 36, "wpa2", wide=True),
                   AccessPoint("newest", 5, "wpa3", band="6")),
    stations=(Station("phone", "home"), Station("laptop", "home"), Station("tablet", "cafe"),
              Station("printer", "lab"), Station("watch", "secret"), Station("tv", "upstairs"),
              Station("pc", "newest")),
    traffic=(tuple(Pings(s, 25) for s in ("phone", "laptop", "tablet", "printer", "watch", "tv", "pc")),
             (Frames("phone", "home", 1500, size=90, rate=100), Frames("home", "laptop", 1200, size=120, rate=80),
              Frames("tablet", "cafe", 450, size=300, rate=30), Frames("lab", "printer", 450, size=150, rate=30),
              Frames("watch", "secret", 300, size=60, rate=20), Frames("upstairs", "tv", 1200, size=100, rate=80),
              Frames("pc", "newest", 450, size=100, rate=30)),
             *_web("town", "tablet", "10.0.1.1", 4),
             (Frames("home", "phone", 60, size=1400, rate=10), Frames("cafe", "tablet", 60, size=1400, rate=10),
              Frames("tv", "upstairs", 60, size=1400, rate=10), Frames("printer", "lab", 60, size=1400, rate=10)),
             tuple(Frames(s, a, 150, rate=5, size=80) for s, a in (("laptop", "home"), ("watch", "secret")))),
    sensors=(Sensor("hall", f"-i one --channel 1 {WHOLE}"),
             Sensor("roof", f"-i hop --channels 1,6,11,36/80,6g:5 {WHOLE}")))

SCHOOL = Topology(
    access_points=(AccessPoint("class", 1), AccessPoint("office", 11, "wpa2"), AccessPoint("gym", 6, "wpa2"),
                   AccessPoint("yard", 36, wide=True)),
    stations=(Station("a", "class"), Station("b", "class"), Station("c", "office"), Station("d", "gym"),
              Station("e", "yard"), Station("f", "yard")),
    traffic=(*_web("school", "a", "10.0.0.1", 6),
             tuple(Pings(s, 40, size) for s, size in (("b", 20), ("c", 56), ("d", 300), ("e", 56), ("f", 900))),
             (Frames("a", "class", 200, size=70, rate=50), Frames("office", "c", 200, size=80, rate=50),
              Frames("d", "gym", 200, size=60, rate=50), Frames("e", "yard", 400, size=90, rate=100),
              Frames("yard", "f", 400, size=60, rate=100))),
    sensors=(Sensor("door", f"-i one --channel 1 -i two --channel 11 {WHOLE}"),
             Sensor("wall", f"-i wide --channel 36/80 -i high --channel 6 {WHOLE}")))


def _leave(to, by, bssid):
    """A deauthentication frame with reason 7, as sent by aireplay-ng."""
    return (bytes([0, 0, 8, 0, 0, 0, 0, 0, 0xc0, 0, 0x3a, 1]) + to + by + bssid + bytes(2) +
            struct.pack("<H", 7))


def _flood(topology, station, network, times):
    """64 frames to the station and 64 to its access point, each time."""
    its, there = topology.mac(station), topology.mac(network)
    return (_leave(its, there, there), _leave(there, its, there)) * (64 * times)


def _attack(frames=()):
    """The frames sent have the addresses of the topology that sends them."""
    quiet = Frames("second", "office", 300, size=60, rate=15)
    return Topology(
        access_points=(AccessPoint("office", 6, "wpa2"),),
        stations=(Station("first", "office"), Station("second", "office")),
        traffic=((Frames("second", "office", 60, size=60, rate=20),),
                 (Shout("flood", 6, tuple(frames), gap_ms=2),), (quiet,)),
        sensors=(Sensor("hall", f"-i mon --channel 6 {WHOLE}"),))


ATTACK = _attack(_flood(_attack(), "first", "office", 5))


def _real(frames):
    """Without the marks that synchronise the test bed."""
    return [f for f in frames if f.data[struct.unpack_from("<H", f.data, 2)[0]:][10:16] != MARK_SENDER]


def make():
    with tempfile.TemporaryDirectory() as folder:
        came = on_air.run(pathlib.Path(folder), {TOWN: "town", SCHOOL: "school", ATTACK: "attack"}, SECONDS)
        for t, left in came.items():
            outcome.Outcome(t, left)  # fails if any part did
        town, school, attack = came.values()
        files.write("hwsim/hwsim-all-groundtruth", 127, _real(captures.frames(town / "air.pcap")))
        files.write("hwsim/hwsim-ch1", 127, _real(captures.of_interface(town / "out.pcapng", "hall:one")))
        files.write("hwsim/hwsim", 127, _real(captures.of_interface(town / "out.pcapng", "roof:hop")))
        files.write("radiotap/school-air", 127, _real(captures.frames(school / "air.pcap")))
        files.write("radiotap/attack", 127, _real(captures.of_interface(attack / "out.pcapng", "hall:mon")))
        files.pack("radiotap/school-sensors.pcapng", (school / "out.pcapng").read_bytes())
