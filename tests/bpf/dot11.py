# SPDX-License-Identifier: GPL-2.0
"""802.11 frames for modules, and modules on them in the kernel (module_run)."""
import itertools
import json
import struct
import subprocess

from netns import testbed
from netns.compare import frames_in
from netns.testbed import BUILD
from reference import captures, radiotaps
from reference.test_reference import write_pcap

STATION = bytes.fromhex("020000000064")
ALL = b"\xff" * 6
DEAUTHENTICATION, DISASSOCIATION, BEACON, PROBE_RESPONSE = 12, 10, 8, 5
MS, SECOND = 10**6, 10**9


def read(path, most=None):
    """The first frames of a file, or fewer if it has fewer."""
    return list(itertools.islice(frames_in(path), most))


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def run(self, name, frames, *maps):
        """(events, {map: values}) of a module on these frames, of one link type."""
        self.count += 1
        path = self.folder / f"{self.count}.pcap"
        write_pcap(path, frames[0].linktype if frames else 127, frames)
        asked = [word for m in maps for word in ("--map", m)]
        got = subprocess.run([BUILD / "tests/module_run", *asked, testbed.module_object(name), path],
                             capture_output=True, text=True, check=False)
        assert got.returncode == 0, got.stderr
        lines = [json.loads(line) for line in got.stdout.splitlines()]
        self.lines = "".join(f"{line}\n" for line in got.stdout.splitlines() if '"map"' not in line)
        return ([line for line in lines if "data" in line],
                {line["map"]: [bytes.fromhex(v) for v in line["values"]] for line in lines if "map" in line})

    def consumer(self, name, *options):
        """The consumer's output for the last run's events."""
        got = subprocess.run([BUILD / "modules" / name, *options], input=self.lines, capture_output=True,
                             text=True, check=False)
        assert got.returncode == 0 and not got.stderr, got
        return got.stdout

    def reports(self, name, frames):
        """The events of a run, as reported by its consumer."""
        self.run(name, frames)
        return [json.loads(line) for line in self.consumer(name, "--json").splitlines()]


# ---- frames ----------------------------------------------------------------------------------------


def mac(n, first=2):
    return bytes([first]) + n.to_bytes(5, "big")


def management(subtype, to, sender, bssid, body, sequence=0, flags=0, radio_flags=0, mhz=2412):
    """With a header as drivers write it. flags: 8 retransmitted, 0x40 protected; radio_flags: 0x40
    bad FCS."""
    head = radiotaps.head(radiotaps.Own({1: bytes([radio_flags]), 2: b"\x0c", 5: b"\xc5",
                                         3: struct.pack("<HH", mhz, 0xc0 if mhz < 2500 else 0x140)}))
    return (head.bytes + bytes([subtype << 4, flags, 0, 0]) + to + sender + bssid +
            struct.pack("<H", sequence % 4096 << 4) + body)


def leave(to, sender, bssid, reason=3, subtype=DEAUTHENTICATION, **more):
    return management(subtype, to, sender, bssid, struct.pack("<H", reason), **more)


def beacon(bssid, ssid, timestamp_us, channel=1, interval=100, privacy=True, subtype=BEACON, to=ALL, capability=1,
           **more):
    elements = bytes([0, len(ssid)]) + ssid + b"\1\4\x82\x84\x8b\x96" + bytes([3, 1, channel])
    body = struct.pack("<QHH", timestamp_us, interval, capability | privacy << 4) + elements
    return management(subtype, to, bssid, bssid, body, **more)


def stamped(frames):
    """(ns, bytes)..., in any order, stamped as in a capture: none at 0."""
    return [captures.Frame(SECOND + ns, len(data), 127, data) for ns, data in sorted(frames, key=lambda f: f[0])]
