# SPDX-License-Identifier: GPL-2.0
"""The Wi-Fi modules on a virtual monitor interface: from frames to the output of the consumers on
the sensor and at the collector, with plain or hashed addresses and names."""
import collections
import json
import subprocess

import pytest

from bpf.dot11 import ALL, MS, STATION, beacon, leave, mac, stamped
from netns import testbed
from netns.compare import assert_balanced
from netns.test_modules import fixture_modules  # noqa: F401 (fixtures)
from netns.testbed import BUILD, ROOT
from reference import airtime, captures
from reference.test_reference import write_pcap

POLICY = """[Keys]
Anonymise = {anonymise}
[Module *]
Key = {key}
Interface = mon*
Show = radiotap, mac{how}, ssid{how}
Helper = map_lookup_elem, map_update_elem
Map = array, hash, percpu_array, lru_hash
MapMemory = 2M
Instructions = 30000
Events = 1000
Priority = 100
"""
AP, OTHER = mac(1), mac(2)
HOW = pytest.mark.parametrize("how", ["", " hashed"])
SOURCE = pytest.mark.parametrize("source", [["--source", "xdp"], ["--source", "tc"]])


class Consumer(testbed.Process):
    """Its output, in JSON; it ends when its module is unloaded."""

    def __init__(self, bed, name, *options):
        self.module = name
        self.file = bed.tmp_path / f"{name}.json"
        with self.file.open("w") as out:
            super().__init__(bed.ns, [BUILD / "saluki", "module", "consume", "-i", "mon0", name, "--",
                                      testbed.for_anybody(BUILD / "modules" / name, bed.tmp_path),
                                      "--json", *options], None, stdout=out)
        bed.stack.callback(self.kill)

    def kill(self):
        if self.popen.poll() is None:
            super().kill_all()

    def ended(self):
        status, said = self.finish(None)
        assert status == 0, said
        return [json.loads(line) for line in self.file.read_text().splitlines()]


class Air:
    """One sensor, whose modules see these frames at the file's own speed."""

    def __init__(self, bed, modules, frames, how="", options=()):
        self.bed, self.modules, self.frames = bed, modules, frames
        modules.interface = "mon0"
        secret = bed.tmp_path / "anonymise.key"
        secret.touch(mode=0o600)
        secret.write_text(testbed.saluki("genpsk", check=True).stdout)
        modules.policy.write_text(POLICY.format(anonymise=secret, key=modules.public, how=how))
        write_pcap(bed.tmp_path / "air.pcap", 127, frames)
        self.player = bed.tun("mon0", 803, bed.tmp_path / "air.pcap")
        self.collector = bed.collector()
        self.sensor = bed.sensor("lib", "mon0", options=["-B", "16384", *options])

    def load(self, name, *defines):
        obj = self.modules.copy(name)
        if defines:
            subprocess.run(["make", "-s", "-C", ROOT, "module", f"SRC={ROOT}/bpf/modules/{name}/{name}.bpf.c",
                            f"OUT={obj}", f"MODULE_MORE={' '.join(defines)}"], check=True, capture_output=True)
        self.modules.load(obj)

    def play(self):
        assert self.player.play() == len(self.frames)

    def consumed(self, *names):
        """Plays all; the sensor's consumers' output, by name."""
        consumers = [Consumer(self.bed, n) for n in names]
        for c in consumers:
            c.expect(f"reads what {c.module} says")
        self.play()
        found = {}
        for c in consumers:
            stats = self.modules.stats()[c.module]
            assert stats["frames"] == len(self.frames)
            assert stats["events_limited"] == stats["events_lost"] == stats["events_unread"] == 0
            self.modules.unload(c.module)
            found[c.module] = c.ended()
        return found

    def collected(self, *names):
        """Ends all; the same consumers' output from the collector's lines."""
        status, said = self.sensor.finish()
        assert status == 0, said
        assert self.collector.finish()[0] == 0
        assert_balanced(self.collector.sensor_stats("lib"), len(self.frames))
        lines = "".join(json.dumps(s) + "\n" for s in captures.said(self.bed.out))
        return {n: self.read(n, lines) for n in names}

    @staticmethod
    def read(name, lines):
        got = subprocess.run([BUILD / "modules" / name, "--json"], input=lines, capture_output=True, text=True,
                             check=True)
        assert not got.stderr
        return [json.loads(line) for line in got.stdout.splitlines()]


def same_events(local, remote):
    """Each line is there on both sides; at the collector it names a sensor, and there are no
    totals."""
    local = [e for e in local if e["event"] != "totals"]
    own = {"time_ns", "sensor", "interface"}
    assert [{k: v for k, v in e.items() if k not in own} for e in local] == [
        {k: v for k, v in e.items() if k not in own} for e in remote]
    assert {(e["sensor"], e["interface"]) for e in remote} <= {("lib", "mon0")}
    for a, b in zip(local, remote):
        assert abs(a["time_ns"] - b["time_ns"]) < 50 * MS


def flood_and_clone():
    """3.6 s: an access point, from 1 s on its clone, and a flood of 1 s; then silence, and a new
    one."""
    own = [(n * 20 * MS, beacon(AP, b"home", 10**9 + n * 20000, sequence=n)) for n in range(180)]
    clone = [(1000 * MS + n * 20 * MS + 7 * MS, beacon(AP, b"home", 5 * 10**6 + n * 20000, channel=6, privacy=False,
                                                    sequence=1000 + n)) for n in range(40)]
    flood = [(1500 * MS + n * 5 * MS + MS, leave(ALL if n % 4 else STATION, AP, AP, 7, sequence=2000 + n))
             for n in range(200)]
    new = [(3000 * MS + n * 20 * MS + 3 * MS, beacon(OTHER, b"home", n * 20000)) for n in range(20)]
    return stamped([*own, *clone, *flood, *new])


@HOW
@SOURCE
def test_a_flood_and_a_clone(bed, modules, how, source):
    air = Air(bed, modules, flood_and_clone(), how, source)
    air.load("deauth", "-DDEAUTH_WINDOW_MS=1000", "-DDEAUTH_QUIET_MS=500")
    air.load("rogueap", "-DROGUEAP_LEARN_S=2")
    local = air.consumed("deauth", "rogueap")
    remote = air.collected("deauth", "rogueap")
    for name in local:
        same_events(local[name], remote[name])
    floods = [e for e in local["deauth"] if e["event"] == "begins" and e["by"] == "target"]
    assert {e["target"] for e in floods} >= {ALL.hex(":")}
    assert len([e for e in local["deauth"] if e["event"] == "ends"]) == len(
        [e for e in local["deauth"] if e["event"] == "begins"]) >= 2
    totals = local["deauth"][-1]
    assert totals["event"] == "totals" and totals["deauthentications"] == 200 and totals["reasons"] == {"7": 200}
    two, *_, new = [e for e in local["rogueap"] if e["event"] != "totals"]
    assert two["event"] == "two" and {"channel", "privacy", "tsf"} & set(two["differs"])
    assert new["event"] == "known-name"
    assert ({e["bssid"] for e in (two, *floods)} == {AP.hex(":")}) == (how == "")
    assert (new["ssid"] == "home") == (how == "") and two["ssid"] == new["ssid"]
    assert len({e["bssid"] for e in (two, *floods)}) == 1  # hashed alike by both


@HOW
def test_stations_of_a_capture(bed, traces, modules, how):
    """The maps as the consumer reads them equal Python's own calculation."""
    frames = [f for f in captures.frames(traces.root / "hwsim/hwsim.pcap.zst") if len(f.data) == f.orig_len]
    begin = frames[0].time_ns
    frames = [f._replace(time_ns=begin + (f.time_ns - begin) // 20) for f in frames]  # in 3.4 s
    air = Air(bed, modules, frames, how)
    for name in "airtime", "deauth", "rogueap":
        air.load(name)
    found = air.consumed("airtime", "deauth", "rogueap")
    remote = air.collected("airtime", "deauth", "rogueap")
    assert [e["event"] for e in found["deauth"] + found["rogueap"]] == ["totals"] * 2
    assert not remote["deauth"] and not remote["rogueap"] and remote["airtime"]
    rows = [e for e in found["airtime"] if e["event"] == "all"]
    got = {e["station"]: (e["frames"], e["retries"], e["unknown"], e["air_us"]) for e in rows if "station" in e}
    want = collections.defaultdict(lambda: [0, 0, 0, 0.0])
    reckon = airtime.Air()
    for f in frames:
        dot11 = f.data[airtime.fields(f.data).length:]
        sender = dot11[10:16].hex(":") if len(dot11) >= 16 and dot11[0] not in (0xc4, 0xd4) else mac(0, 0).hex(":")
        us = reckon.us(f.data)
        w = want[sender]
        w[0] += 1
        w[1] += dot11[0] & 0x0c != 4 and not dot11[4] & 1 and bool(dot11[1] & 8)
        w[2] += us is None
        w[3] += float(us or 0)
    rounded = [(*w[:3], round(w[3], 1)) for w in want.values()]
    assert sorted(got.values()) == sorted(rounded)
    assert (set(got) == set(want)) == (how == "")
