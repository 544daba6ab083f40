# SPDX-License-Identifier: GPL-2.0
"""The modules' view of frames (bpf/view.h, mask.h, label.h): every field of real frames against
tshark, and every byte of a masked view against the unmasked one, whatever earlier modules and
frames left there."""
import ctypes
import random
import struct
import subprocess

import pytest

from netns.testbed import ROOT
from reference import captures, shapes
from reference.test_reference import write_pcap

VIEW_RUN = ROOT / "build/tests/view_run"
REFUSED = 0xfffffffe
RADIOTAP, MAC, SSID, IP, PORTS, PAYLOAD, LABEL = (1 << n for n in range(7))
DOT11, NETWORK, TCP, ICMP, TRANSPORT = (1 << n for n in range(16, 21))
ALL = 0x7f
TESTABLE = range(14, 3400)  # test_trim.py


class View(ctypes.LittleEndianStructure):
    _fields_ = [(name, {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32,
                        8: ctypes.c_uint64}.get(size) or ctypes.c_uint8 * -size)
                for name, size in [
        ("time_ns", 8), ("has", 4), ("frame_len", 4), ("linktype", 2), ("direction", 1), ("pad0", 1),
        ("ethertype", 2), ("payload_seen", 2), ("frame_control", 2), ("duration", 2),
        ("sequence", 2), ("reason", 2), ("beacon_interval", 2), ("capability", 2), ("channel", 4),
        ("timestamp_us", 8), ("ip_version", 1), ("ip_protocol", 1), ("ttl", 1), ("tos", 1),
        ("ip_id", 2), ("ip_fragment", 2), ("ip_len", 2), ("tcp_window", 2), ("tcp_flags", 1),
        ("icmp_type", 1), ("icmp_code", 1), ("bad_fcs", 1), ("tcp_seq", 4), ("tcp_ack", 4),
        ("payload_len", 4), ("vlan", 2), ("mpdu_len", 2), ("addr", -24), ("saddr", -16),
        ("daddr", -16), ("sport", 2), ("dport", 2), ("pad4", 4), ("label", 8), ("event_len", 8),
        ("event", -64), ("payload", -128), ("mhz", 2), ("signal_dbm", 1), ("noise_dbm", 1),
        ("rate_kbps", 4), ("tsft_us", 8), ("phy", 1), ("mcs", 1), ("streams", 1), ("is_ampdu", 1),
        ("ampdu", 4), ("preamble_ns", 4), ("symbol_ns", 2), ("tail_bits", 2), ("ssid", -32),
        ("ssid_len", 1), ("pad3", -7)]]


SIZE = ctypes.sizeof(View)
# The bytes of each group that needs a grant.
GROUPS = {MAC: (View.addr.offset, View.saddr.offset), IP: (View.saddr.offset, View.sport.offset),
          PORTS: (View.sport.offset, View.label.offset),
          LABEL: (View.label.offset, View.event_len.offset),
          RADIOTAP: (View.mhz.offset, View.ssid.offset), SSID: (View.ssid.offset, SIZE)}
EVENT = slice(View.event_len.offset, View.payload.offset)


def run(hook, linktype, grants, frames):
    """Each frame's views as seen by the modules, one per grant (shown, payload[, hashed, prefix[,
    reach]]); None if the kernel would not run it."""
    words = [f"{s}:{h}:{p}:{n}:{r}" for s, n, h, p, r in ((*g, 0, 0, 0)[:5] for g in grants)]
    stream = b"".join(struct.pack("<I", len(f)) + f for f in frames)
    got = subprocess.run([VIEW_RUN, hook, str(linktype), *words], input=stream, cwd=ROOT,
                         capture_output=True, check=False, timeout=300)
    assert got.returncode == 0, got.stderr.decode()[-2000:]
    step = 4 + SIZE * len(grants)
    assert len(got.stdout) == step * len(frames)
    for at in range(0, len(got.stdout), step):
        if struct.unpack_from("<I", got.stdout, at)[0] == REFUSED:
            yield None
        else:
            yield [got.stdout[at + 4 + SIZE * i:at + 4 + SIZE * (i + 1)] for i in range(len(grants))]


def masked(whole, shown, payload):
    """A module's view, computed from the full one."""
    out = bytearray(whole)
    view = View.from_buffer(out)
    for bit, (begin, end) in GROUPS.items():
        if not shown & bit:
            out[begin:end] = bytes(end - begin)
    view.has &= shown | 0xffff0000
    view.payload_seen = min(view.payload_seen, payload if shown & PAYLOAD else 0)
    if not view.payload_seen:
        view.has &= ~PAYLOAD
    begin = View.payload.offset + view.payload_seen
    out[begin:View.mhz.offset] = bytes(View.mhz.offset - begin)
    assert not any(out[EVENT])
    return bytes(out)


def real(traces, linktype, folders, count):
    """Frames of all the captures, some of each."""
    found = {}
    for folder in folders:
        for path in traces.folder(folder):
            try:
                here = [f.data for f in captures.frames(path)
                        if f.linktype == linktype and len(f.data) in TESTABLE]
                found |= dict.fromkeys(here[:count // 2] + here[-count // 2:])
            except (captures.Corrupt, IndexError, struct.error):
                pass
    return list(found)


def made(linktype):
    return [f for _, link, f in list(shapes.whole()) + list(shapes.cut())[::7]
            if link == linktype and len(f) in TESTABLE]


# ---- masks -----------------------------------------------------------------------------------------

SHOWN = [0, RADIOTAP, MAC, SSID, IP, PORTS, LABEL, PAYLOAD, ALL, IP | PORTS, LABEL | PAYLOAD | MAC]
LENGTHS = [0, 1, 7, 8, 31, 32, 33, 64, 100, 127, 128]


def check_masks(hook, linktype, frames, seed):
    """A module after one with a full view sees its granted part only; so does one that is alone."""
    rng = random.Random(seed)
    rng.shuffle(frames)
    parts = [(rng.choice(SHOWN), rng.choice(LENGTHS)) for _ in range(6)]
    compared = 0
    alone = list(run(hook, linktype, [parts[0]], frames))
    for views, one in zip(run(hook, linktype, [(ALL, 128), *parts], frames), alone):
        if views is None:
            continue
        whole = views[0]
        for view, part in zip(views[1:], parts):
            assert view == masked(whole, *part), part
        assert one[0] == masked(whole, *parts[0]), parts[0]
        compared += 1
    return compared


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("linktype", [1, 105, 127])
@pytest.mark.parametrize("hook", ["xdp", "tc-in"])
def test_each_sees_what_it_is_shown(hook, linktype, seed):
    assert check_masks(hook, linktype, made(linktype), seed) > 200


@pytest.mark.parametrize("linktype,folders", [(1, ["wired", "malformed"]), (127, ["radiotap", "hwsim"])])
def test_each_sees_what_it_is_shown_of_real_frames(traces, linktype, folders):
    frames = real(traces, linktype, folders, 40 if traces is captures.FOREIGN else 120)
    assert check_masks("xdp", linktype, frames, 1) > 1000


REACHES = [View.addr.offset, View.event_len.offset, View.payload.offset, View.payload.offset + 64,
           View.mhz.offset, View.ssid.offset]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("linktype", [1, 127])
def test_a_view_is_made_as_far_as_its_module_reaches(linktype, seed):
    """A view is filled as far as its module's stated reach. Here modules read farther, so that the
    unfilled part can be seen; other modules' views are not affected."""
    rng = random.Random(seed)
    frames = made(linktype)
    rng.shuffle(frames)
    parts = [(rng.choice(SHOWN), rng.choice(LENGTHS), 0, 0, reach) for reach in REACHES]
    rng.shuffle(parts)
    alone = [list(run("xdp", linktype, [part], frames)) for part in parts]
    left = 0
    for views, *ones in zip(run("xdp", linktype, [(ALL, 128), *parts, (ALL, 128)], frames), *alone):
        assert views[-1] == views[0]
        for part, of_many, one in zip(parts, views[1:], ones):
            should = masked(views[0], *part[:2])
            for view in (of_many, one[0]):
                assert view[:part[4]] == should[:part[4]], part
                left += view != should
    assert left > len(frames)


def test_a_view_is_the_frames_alone():
    """The same frame gives the same view, whatever came before it, also to a module that is
    alone."""
    frames = made(1)
    for grants in ([(ALL, 128)], [(ALL, 128), (ALL, 128)]):
        first = {f: v for f, v in zip(frames, run("xdp", 1, grants, frames))}
        again = frames[::-1]
        for f, views in zip(again, run("xdp", 1, grants, again)):
            assert [v[8:] for v in views] == [v[8:] for v in first[f]]  # except its time


# ---- fields ----------------------------------------------------------------------------------------

def number(text):
    return int(text, 0) if text else 0


TSHARK = {"ethertype": "eth.type", "vlan": "vlan.id", "ip_version": "ip.version", "ttl": "ip.ttl",
          "ip_id": "ip.id", "ip_protocol": "ip.proto", "ip_len": "ip.len", "src": "ip.src",
          "dst": "ip.dst", "hlim": "ipv6.hlim", "src6": "ipv6.src", "dst6": "ipv6.dst",
          "tcp_seq": "tcp.seq_raw", "tcp_ack": "tcp.ack_raw", "tcp_flags": "tcp.flags",
          "tcp_window": "tcp.window_size_value", "tsport": "tcp.srcport", "tdport": "tcp.dstport",
          "usport": "udp.srcport", "udport": "udp.dstport", "protocols": "frame.protocols",
          "eth_dst": "eth.dst", "eth_src": "eth.src", "tcp_len": "tcp.len"}


def tshark(path):
    out = subprocess.run(["tshark", "-r", path, "-n", "-o", "ip.defragment:FALSE", "-o",
                          "tcp.desegment_tcp_streams:FALSE", "-T", "fields", "-E", "occurrence=f",
                          "-E", "separator=|", *(w for f in TSHARK.values() for w in ("-e", f))],
                         check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        yield dict(zip(TSHARK, line.split("|"), strict=True))


def check_ipv4(view, t):
    assert view.ip_version == 4 and view.has & IP
    for name in "ttl", "ip_id", "ip_protocol", "ip_len":
        assert getattr(view, name) == number(t[name]), name
    assert bytes(view.saddr[:4]) == bytes(map(int, t["src"].split(".")))
    assert bytes(view.daddr[:4]) == bytes(map(int, t["dst"].split(".")))
    assert not any(view.saddr[4:]) and not any(view.daddr[4:])


def check_tcp(view, t):
    assert view.has & TCP and view.has & PORTS
    for name in "tcp_seq", "tcp_ack", "tcp_window":
        assert getattr(view, name) == number(t[name]), name
    assert view.tcp_flags == number(t["tcp_flags"]) & 0xff
    assert (view.sport, view.dport) == (number(t["tsport"]), number(t["tdport"]))
    if t["tcp_len"] and view.ip_len + 14 <= view.frame_len:  # tshark trusts it no further
        assert view.payload_len == number(t["tcp_len"])


def test_fields_are_those_of_tshark(traces, tmp_path):
    frames = real(traces, 1, ["wired"], 120)
    write_pcap(tmp_path / "all.pcap", 1, [captures.Frame(i, len(f), 1, f)
                                          for i, f in enumerate(frames)])
    checked = {"ip": 0, "tcp": 0, "udp": 0, "ipv6": 0}
    views = run("xdp", 1, [(ALL, 128)], frames)
    for frame, t, got in zip(frames, tshark(tmp_path / "all.pcap"), views, strict=True):
        view = View.from_buffer_copy(got[0])
        assert view.frame_len == len(frame) and view.linktype == 1 and view.direction == 1
        assert bytes(view.addr[:12]) == frame[:12] and not any(view.addr[12:])
        layers = [p for p in t["protocols"].split(":") if p not in ("ethertype", "vlan")]
        if layers[:2] not in (["eth", "ip"], ["eth", "ipv6"]):
            continue
        checked[layers[1]] += 1
        if layers[1] == "ip":
            check_ipv4(view, t)
        else:
            assert view.ip_version == 6 and view.ttl == number(t["hlim"])
        if layers[2:3] == ["tcp"] and t["tcp_flags"] and len(frame) >= 54:
            check_tcp(view, t)
            checked["tcp"] += 1
        if layers[2:3] == ["udp"] and t["usport"]:
            assert (view.sport, view.dport) == (number(t["usport"]), number(t["udport"]))
            checked["udp"] += 1
    print(checked)
    assert checked["ip"] > 3000 and checked["tcp"] > 2000 and checked["udp"] > 500
    assert checked["ipv6"] > 100
