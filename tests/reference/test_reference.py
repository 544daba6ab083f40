# SPDX-License-Identifier: GPL-2.0
"""The Python reference for trim agrees with tshark on the end of headers."""
import collections
import itertools
import json
import struct
import subprocess

import pytest

from reference import captures, trim

FRAMES_A_FILE = 400
SETTINGS = ("ip.defragment", "ipv6.defragment", "wlan.defragment", "tcp.desegment_tcp_streams",
            "wlan.enable_decryption")
SHOWN = ("frame radiotap prism wlan llc eth vlan ieee8021ad mpls pppoes ip ipv6 ah ipv6.fraghdr "
         "tcp udp udplite icmp icmpv6 igmp sctp arp eapol esp gre data malformed")
# Layers that lead to another one, and those that end the headers: with tshark's own length, or a
# fixed one if tshark includes the payload.
CHAIN = {"ah", "wlan", "llc", "eth", "vlan", "ieee8021ad", "mpls", "pppoes", "ppp", "ip", "ipv6"}
ENDS = {"tcp": None, "arp": None, "udp": 8, "udplite": 8, "icmp": 8, "icmpv6": 8, "igmp": 8,
        "sctp": 12, "dccp": 20, "pppoed": 6, "eapol": 4, "esp": 8, "gre": None}


def tshark_layers(path):
    """For each frame the list of (layer, offset, length)."""
    args = ["tshark", "-n", "-r", path, "-T", "jsonraw", "-j", SHOWN]
    for name in SETTINGS:
        args += ["-o", f"{name}:FALSE"]
    out = subprocess.run(args, capture_output=True, text=True, check=False).stdout
    for packet in json.loads(out, object_pairs_hook=list) if out.strip() else ():
        layers = dict(dict(packet)["_source"])["layers"]
        yield [(key[:-4], value[1], value[2]) for key, value in layers
               if key.endswith("_raw") and isinstance(value[0], str)]


def tshark_end(layers):
    """The end of a data frame's headers in tshark; None if tshark does not show it."""
    end = None
    seen = set()
    for name, offset, length in layers:
        if name in ("frame", "radiotap", "prism", "wlancap", "ppi", "wlan_radio", "fake-field-wrapper"):
            continue
        if name in ("wlan.mgt", "wlan_mgt", "wlan_aggregate") or (name == "llc" and "vlan" in seen):
            return None  # an 802.3 length after a VLAN tag: we stop at the tag
        if end is not None and offset != end:
            return None  # mesh control, A-MSDU, padding, a protocol inside a protocol
        if name in ENDS:
            return offset + (ENDS[name] or length)
        if name not in CHAIN or (name in ("ip", "ipv6") and seen & {"ip", "ipv6"}):
            return end  # payload, or a packet inside a packet
        seen.add(name)
        end = offset + length
    return end


def write_pcap(path, linktype, frames):
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, linktype))
        for f in frames:
            out.write(struct.pack("<IIII", f.time_ns // 10**9 % 2**32, f.time_ns % 10**9,
                                  len(f.data), f.orig_len) + f.data)


def first_frames(traces, folder):
    """The first frames of every file of a folder, by link type, to need few tshark runs."""
    found = collections.defaultdict(list)
    for path in traces.folder(folder):
        try:
            for frame in itertools.islice(captures.frames(path), FRAMES_A_FILE):
                found[frame.linktype].append(frame)
        except (captures.Corrupt, IndexError):
            pass
    return {k: v for k, v in found.items() if k in trim.TRIMMED}


@pytest.mark.parametrize("folder,least", [("hwsim", 500), ("radiotap", 1500), ("dot11-other", 1000),
                                          ("wired", 10000)])
def test_reference_ends_where_tshark_ends(traces, folder, least, tmp_path):
    count = collections.Counter()
    differences = []
    for linktype, frames in first_frames(traces, folder).items():
        write_pcap(tmp_path / "all.pcap", linktype, frames)
        for number, (frame, layers) in enumerate(zip(frames, tshark_layers(tmp_path / "all.pcap"))):
            kept, lied = trim.keep(frame.data, frame.orig_len, linktype, trim.EVERYTHING, True)
            end = tshark_end(layers)
            if lied or end is None or kept == len(frame.data) or \
                    "_ws.malformed" in [name for name, _, _ in layers]:
                count["not compared"] += kept < len(frame.data)
                continue
            count["compared"] += 1
            if end != kept:
                differences.append((linktype, number, layers, end, kept))
    print(folder, dict(count))
    assert not differences, (len(differences), differences[:5])
    assert count["compared"] > least and count["not compared"] < count["compared"] / 3
