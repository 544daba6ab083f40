# SPDX-License-Identifier: GPL-2.0
"""Frames dissected by dissect/ (dissect_run.c) and by tshark, with the same names for the same fields."""
import os
import struct
import subprocess

from netns.testbed import BUILD
from reference import captures

RUN = BUILD / "tests/dissect_run"
FOLDERS = ("hwsim", "radiotap", "dot11-other", "wired", "malformed")
LINKTYPES = (1, 105, 119, 127, 163, 192)
NUMBERS = ("linktype", "cap_len", "orig_len", "frequency", "signal", "noise", "rate_kbps", "mcs", "phy", "streams",
           "airtime_ns", "has_fcs", "bad_fcs", "type", "subtype", "flags", "duration")
ADDRESSES = ("receiver", "transmitter", "bssid", "source", "destination")
COLUMNS = (*NUMBERS, *ADDRESSES, "sequence", "fragment", "ssid", "ethertype", "headers_end", "addresses", "data")

# tshark's names; the first occurrence unless said otherwise.
TSHARK = tuple("""
frame.len frame.cap_len frame.protocols _ws.malformed radiotap.channel.freq radiotap.xchannel.freq
wlan_radio.frequency wlan_radio.channel radiotap.dbm_antsignal wlan_radio.signal_dbm radiotap.dbm_antnoise
wlan_radio.noise_dbm radiotap.datarate wlan_radio.data_rate radiotap.mcs.index radiotap.vht.mcs.0 radiotap.vht.nss.0
radiotap.he.data_3.data_mcs wlan_radio.11n.mcs_index wlan_radio.phy wlan_radio.duration radiotap.flags.fcs
radiotap.flags.badfcs radiotap.flags.datapad ppi.80211-common.flags.fcs ppi.80211-common.flags.fcs-invalid
prism.did.type prism.did.channel prism.did.signal prism.did.noise prism.did.rate prism.did.unknown wlan.fc.type
wlan.fc.subtype wlan.flags wlan.duration wlan.ra wlan.ta wlan.bssid wlan.sa wlan.da wlan.seq wlan.frag wlan.ssid
wlan.addr eth.src eth.dst eth.type vlan.etype llc.type
""".split())
# Nothing that depends on other frames, or on the frame's bytes where the header already decides.
OFF = ("wlan.defragment", "wlan.enable_decryption", "ip.defragment", "ipv6.defragment",
       "tcp.desegment_tcp_streams", "ppi.reassemble")


def run(path, *args):
    """The frames of a capture file, or as many as can be read, as dictionaries of texts."""
    out = subprocess.run([RUN, *args, path], capture_output=True, text=True, check=False).stdout
    return [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in out.split("\n")[:-1]]


def unpacked(path, folder):
    """A file that dissect_run can read."""
    data = captures.file_bytes(path)
    plain = folder / "plain"
    plain.write_bytes(data)
    return plain


def write_pcap(path, linktype, frames):
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, linktype))
        for n, f in enumerate(frames):
            data = bytes.fromhex(f["data"])
            out.write(struct.pack("<IIII", n, 0, len(data), int(f["orig_len"])) + data)


def tshark(path):
    """tshark's fields of each frame: name to list of texts."""
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=;"]
    for name in OFF:
        command += ["-o", f"{name}:FALSE"]
    for name in TSHARK:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "HOME": "/nonexistent"})
    for line in done.stdout.decode(errors="replace").split("\n")[:-1]:
        yield {name: text.split(";") if text else [] for name, text in zip(TSHARK, line.split("\t"), strict=True)}
