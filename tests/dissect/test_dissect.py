# SPDX-License-Identifier: GPL-2.0
"""The dissection, field by field and frame by frame, against tshark on all captures. A difference is allowed only where
a rule about the frame's bytes gives the reason; each rule has a bound."""
import collections
import pathlib
import struct

import pytest

from dissect import dissected
from dissect.rules import RULES
from reference import airtime, radiotaps, shapes
def first(t, *names):
    return next((t[name][0] for name in names if t[name]), "")


def number(text):
    return str(int(text, 0)) if text else ""


def flag(text):
    return {"True": "1", "False": "0"}.get(text, text)


def address(text):
    return text.replace(":", "")


# ---- what tshark says ------------------------------------------------------------------------------


def prism(t, n, name):
    """Item `n` of a Prism header. tshark does not know all numbers that drivers give an item."""
    value = first(t, f"prism.did.{name}")
    if not value and len(t["prism.did.unknown"]) == len(t["prism.did.type"]):
        kinds = [int(kind, 0) >> 12 for kind in t["prism.did.type"]]
        value = t["prism.did.unknown"][kinds.index(n)] if n in kinds else ""
    return int(value, 0) if value else None


def level(value):
    """dBm of a Prism header. Some drivers give a number without a unit, which is above 0."""
    return str(value - 2**32) if value and value >> 31 else ""


def channel_mhz(n):
    return str(2484 if n == 14 else 2407 + 5 * n if n < 14 else 5000 + 5 * n) if n else ""


def frequency(t):
    if t["prism.did.type"]:
        return channel_mhz(prism(t, 3, "channel"))
    return number(first(t, "radiotap.channel.freq", "radiotap.xchannel.freq", "wlan_radio.frequency"))


def signal(t):
    if t["prism.did.type"]:
        return level(prism(t, 6, "signal"))
    return first(t, "radiotap.dbm_antsignal", "wlan_radio.signal_dbm")


def noise(t):
    if t["prism.did.type"]:
        return level(prism(t, 7, "noise"))
    return first(t, "radiotap.dbm_antnoise", "wlan_radio.noise_dbm")


HT, VHT, HE = "7", "8", "11"  # wlan_radio.phy
NEWER = {HT: "3", VHT: "4", HE: "5"}  # enum dissect_phy; tshark guesses the older ones by the channel


def rate_kbps(t):
    """wlan_radio.data_rate is the last of several legacy rates."""
    if t["prism.did.type"]:
        return str(500 * (prism(t, 8, "rate") or 0) or "")
    rate = first(t, "wlan_radio.data_rate")
    if first(t, "wlan_radio.phy") not in (HT, VHT, HE):
        rate = first(t, "radiotap.datarate") or rate
    return str(round(float(rate) * 1000) or "") if rate else ""


def mcs(t):
    return number(first(t, "radiotap.he.data_3.data_mcs", "radiotap.vht.mcs.0", "radiotap.mcs.index",
                        "wlan_radio.11n.mcs_index"))


def ssid(t):
    return '"' + t["wlan.ssid"][0].replace("<MISSING>", "") if t["wlan.ssid"] else ""


def ethertype(t):
    """The innermost one before the network layer, by the names of the layers; none if that is cut."""
    layers = [name for name in first(t, "frame.protocols").split(":") if name != "ethertype"]
    types = {"vlan": list(t["vlan.etype"]), "llc": list(t["llc.type"])}
    found = first(t, "eth.type") if layers[0] == "eth" else ""
    begin = next((n for n, name in enumerate(layers) if name in ("vlan", "ieee8021ad", "llc", "mpls")), len(layers))
    if layers[0] == "eth" and begin > 1:
        return number(found)
    for n in range(begin, len(layers)):
        if layers[n] == "mpls":
            after = [name for name in layers[n:] if name != "mpls"]
            return {"ip": "2048", "ipv6": "34525"}.get(after[0], number(found)) if after else ""
        if layers[n] in types:  # none: a length in a tag, another LLC than SNAP, or cut
            found = types[layers[n]].pop(0) if types[layers[n]] else ""
        elif layers[n] != "ieee8021ad":
            break
    return number(found)


def addresses(t):
    """wlan.addr of the outermost header, and what tshark has as the first source and destination alone: of an A-MSDU."""
    found = t["wlan.addr"] + t["wlan.sa"][:1] + t["wlan.da"][:1] if t["wlan.addr"] else t["eth.src"][:1] + t["eth.dst"][:1]
    return ",".join(sorted(map(address, set(found))))


SAID = {"cap_len": lambda t: first(t, "frame.cap_len"), "orig_len": lambda t: first(t, "frame.len"),
        "frequency": frequency, "signal": signal, "noise": noise, "rate_kbps": rate_kbps, "mcs": mcs,
        "phy": lambda t: NEWER.get(first(t, "wlan_radio.phy"), ""), "streams": lambda t: first(t, "radiotap.vht.nss.0"),
        "has_fcs": lambda t: flag(first(t, "radiotap.flags.fcs", "ppi.80211-common.flags.fcs")),
        "bad_fcs": lambda t: flag(first(t, "radiotap.flags.badfcs", "ppi.80211-common.flags.fcs-invalid")),
        "type": lambda t: first(t, "wlan.fc.type"), "subtype": lambda t: first(t, "wlan.fc.subtype"),
        "flags": lambda t: number(first(t, "wlan.flags")), "duration": lambda t: first(t, "wlan.duration"),
        "receiver": lambda t: address(first(t, "wlan.ra")), "transmitter": lambda t: address(first(t, "wlan.ta")),
        "bssid": lambda t: address(first(t, "wlan.bssid")), "source": lambda t: address(first(t, "wlan.sa", "eth.src")),
        "destination": lambda t: address(first(t, "wlan.da", "eth.dst")), "sequence": lambda t: first(t, "wlan.seq"),
        "fragment": lambda t: first(t, "wlan.frag"), "ssid": ssid, "ethertype": ethertype, "addresses": addresses}


# ---- comparison ------------------------------------------------------------------------------------


def ours(f, field):
    if field == "phy":
        return f["phy"] if f["phy"] in NEWER.values() else ""
    if field == "streams":
        return f["streams"] if f["phy"] == NEWER[VHT] else ""
    return ",".join(sorted(f[field].split(","))) if field == "addresses" else f[field]


def same(field, got, want, t):
    """tshark's table of HE rates has 100 kb/s a stream."""
    if field == "rate_kbps" and got and want and first(t, "wlan_radio.phy") == HE:
        return abs(int(got) - int(want)) <= 8 * 50
    return got == want


def stopped(f, t):
    """Whether tshark may have given up: the frame is cut or malformed. It reads the addresses behind one another, and
    shows none if the last one is cut."""
    return bool(t["_ws.malformed"]) or int(f["cap_len"]) < int(f["orig_len"])


def more(field, got, want):
    return set(want.split(",")) - {""} <= set(got.split(",")) if field == "addresses" else not want


def fields_of(linktype):
    wired = {"cap_len", "orig_len", "source", "destination", "ethertype", "addresses"}
    return [name for name in SAID if linktype != 1 or name in wired]


def compare(frames, told, counts, differences):
    assert len(frames) == len(told)
    for f, t in zip(frames, told):
        for field in fields_of(int(f["linktype"])):
            got, want = ours(f, field), SAID[field](t)
            if same(field, got, want, t):
                counts["same", field] += bool(want)
            elif stopped(f, t) and more(field, got, want):
                counts["more than tshark, which stopped", field] += 1
            else:
                rule = next((r for r in RULES if field in r.fields and r.applies(f, t, got, want)), None)
                counts["rule", rule.name if rule else None] += 1
                if not rule:
                    differences.append((field, got, want, {k: v for k, v in t.items() if v}, f))


def all_frames(traces, folder, tmp_path):
    """The frames of a folder's captures, by link type; and tshark's fields of each."""
    found = collections.defaultdict(list)
    for path in traces.folder(folder):
        if pathlib.Path(path).suffix == ".bin":
            continue  # a header without a file around it
        for f in dissected.run(dissected.unpacked(path, tmp_path)):
            found[int(f["linktype"])].append(f | {"path": path.name})
    for linktype, frames in found.items():
        if linktype not in dissected.LINKTYPES:
            yield linktype, frames, None
            continue
        dissected.write_pcap(tmp_path / "all.pcap", linktype, frames)
        yield linktype, frames, list(dissected.tshark(tmp_path / "all.pcap"))


@pytest.mark.parametrize("folder", dissected.FOLDERS)
def test_every_field_is_as_tshark_says(traces, folder, tmp_path):
    counts, differences, total = collections.Counter(), [], 0
    for _, frames, told in all_frames(traces, folder, tmp_path):
        if told is None:
            assert not any(f[name] for f in frames for name in SAID if name not in ("cap_len", "orig_len", "phy"))
            continue
        compare(frames, told, counts, differences)
        total += len(frames)
    print(folder, total, {key: n for key, n in counts.items() if key[0] != "same"})
    assert not differences, (len(differences), differences[:3])
    for rule in RULES:
        assert counts["rule", rule.name] <= rule.most[folder == "malformed"], rule.name
    assert total > 4000 or folder == "malformed"
    assert counts["same", "source"] > total / 3
    assert sum(n for key, n in counts.items() if key[0].startswith("more")) < total / (5 if folder == "malformed" else 500)


def made_frames():
    """Radiotap headers of every kind, and frames of every shape, by link type."""
    found = collections.defaultdict(list)
    for made in radiotaps.every():
        found[127].append(made.bytes)
    for _, linktype, frame in shapes.whole():
        found[linktype].append(frame)
    return found


def test_frames_of_every_kind(tmp_path):
    counts, differences, total = collections.Counter(), [], 0
    for linktype, made in made_frames().items():
        dissected.write_pcap(tmp_path / "all.pcap", linktype, [{"data": f.hex(), "orig_len": len(f)} for f in made])
        frames = dissected.run(tmp_path / "all.pcap")
        compare(frames, list(dissected.tshark(tmp_path / "all.pcap")), counts, differences)
        total += len(frames)
    assert not differences, (len(differences), differences[:3])
    assert total > 2500 and counts["same", "receiver"] > total / 2
    assert sum(n for key, n in counts.items() if key[0] == "rule") < total


# ---- airtime ---------------------------------------------------------------------------------------


def reference(data, orig_len):
    """The airtime by the tables of the standard, of a frame alone, in ns."""
    missing = orig_len - len(data)
    us = airtime.Air().us(data + bytes(missing))
    return round(us * 1000) if us else None


def xchannel_extension(data):
    """The signal extension at 2.4 GHz of a frame whose frequency is in XChannel, which the reference does not read."""
    got = airtime.fields(data)
    at = 8
    while got and struct.unpack_from("<I", data, at - 4)[0] & 1 << 31:
        at += 4
    if not got or 3 in got.found or 18 not in got.found:
        return False
    return 2400 < struct.unpack_from("<H", got.found[18], 4)[0] < 2500


def has_mcs_less_field(data):
    """A legacy rate, and a field of a newer PHY that says no MCS: here the rate counts, for modules it does not."""
    found = airtime.fields(data).found
    return 2 in found and (19 in found and not found[19][0] & 2 or 21 in found and not found[21][4] & 15)


def at_60_ghz(data):
    """There the field MCS is not of HT. For modules it is."""
    return struct.unpack_from("<H", airtime.fields(data).found.get(3, b"\0\0"))[0] >= 57000


def in_later_words(data):
    """Present words after the first one, whose fields modules do not see."""
    return struct.unpack_from("<I", data, 4)[0] & 1 << 31 and any(data[11:struct.unpack_from("<H", data, 2)[0]])


@pytest.mark.parametrize("folder", ["hwsim", "radiotap", "malformed"])
def test_airtime_is_that_of_the_standard(traces, folder, tmp_path):
    """Of frames whose 802.11 header is whole, as the reference needs it."""
    counts = collections.Counter()
    for path in traces.folder(folder):
        if path.suffix == ".bin":
            continue
        for f in dissected.run(dissected.unpacked(path, tmp_path)):
            data, orig_len = bytes.fromhex(f["data"]), int(f["orig_len"])
            got = airtime.fields(data) if f["linktype"] == "127" else None
            if not got or not f["type"] or len(data) < got.length + 32 or orig_len > 65535:
                continue
            want = reference(data, orig_len)
            if f["airtime_ns"] == str(want or ""):
                counts["same" if want else "not known"] += 1
                continue
            counts["another view"] += 1
            reasons = (xchannel_extension, has_mcs_less_field, in_later_words, at_60_ghz)
            assert any(reason(data) for reason in reasons), (f, want)
    print(folder, counts)
    assert counts["same"] > 300 or folder == "malformed"
    assert counts["another view"] < (200 if folder == "malformed" else 10)


def tshark_ns(t):
    """tshark's time of a whole frame with its FCS, for the PHYs that tshark computes as the standard does."""
    us = first(t, "wlan_radio.duration")
    return int(us) * 1000 if us and first(t, "wlan_radio.phy") in ("4", "5", "6") else None


def test_airtime_is_tsharks_where_it_is_exact(traces, tmp_path):
    """For legacy rates. tshark's frames lack the FCS if it was not captured, and the signal extension at 2.4 GHz; padding
    counts as sent."""
    compared = 0
    for linktype, frames, told in all_frames(traces, "radiotap", tmp_path):
        for f, t in zip(frames, told if linktype == 127 else ()):
            want = tshark_ns(t)
            if want is None or f["has_fcs"] != "1" or f["phy"] not in ("1", "2") or "1" in t["radiotap.flags.datapad"]:
                continue
            extension = 6000 if f["phy"] == "2" and f["frequency"].startswith("24") else 0
            assert int(f["airtime_ns"]) == want + extension, (f, t)
            compared += 1
    print(compared)
    assert compared > 1500
