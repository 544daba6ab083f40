# SPDX-License-Identifier: GPL-2.0
"""Where the dissection and tshark 4.0 differ, and why: rules about a frame's bytes."""
import collections
import struct

# fields; applies(frame, tshark's fields, ours, tshark's); most: differences in a folder of captures, and among those
# that are malformed
Rule = collections.namedtuple("Rule", "name fields most applies")
RULES = []
MAC = {"type", "subtype", "flags", "duration", "receiver", "transmitter", "bssid", "source", "destination", "sequence",
       "fragment", "ssid", "addresses", "ethertype"}
RADIO = {"frequency", "signal", "noise", "rate_kbps", "mcs", "phy", "streams", "has_fcs", "bad_fcs"}
RATE, VHT_BIT, HT_BIT, HE_BIT = 1 << 2, 1 << 21, 1 << 19, 1 << 23


def rule(name, fields, most, most_malformed):
    def add(applies):
        RULES.append(Rule(name, set(fields), (most, most_malformed), applies))
        return applies
    return add


def raw(f):
    return bytes.fromhex(f["data"])


def linktype(f):
    return int(f["linktype"])


def mac(f):
    """The 802.11 frame after its capture header."""
    data = raw(f)
    if linktype(f) in (127, 192):
        return data[struct.unpack_from("<H", data, 2)[0]:]
    if linktype(f) in (119, 163):
        return data[struct.unpack_from(">I" if data[0] in (0, 0x80) else "<I", data, 4)[0]:]
    return data


@rule("802.11 of a later protocol version", MAC, 40, 300)
def _(f, _t, got, _want):
    return not got and linktype(f) != 1 and mac(f)[:1] and mac(f)[0] & 3


@rule("radiotap of a later version", MAC | RADIO, 10, 900)
def _(f, _t, got, _want):
    return not got and linktype(f) == 127 and raw(f)[0] != 0


@rule("radiotap's field of other HE-MU users, where tshark stops; a header alone follows from a later field", MAC, 0, 24)
def _(f, _t, got, _want):
    present, = struct.unpack_from("<I", raw(f), 4)
    return not got and linktype(f) == 127 and present >> 25 & 3 == 3


@rule("Prism's link type without its header", MAC, 10, 0)
def _(f, _t, got, _want):
    return not got and linktype(f) == 119 and raw(f)[:4] not in (
        b"\x44\0\0\0", b"\0\0\0\x44", b"\x41\0\0\0", b"\0\0\0\x41")


@rule("a Prism header that says another length than 144, which tshark takes", MAC, 0, 8)
def _(f, _t, got, _want):
    return not got and linktype(f) == 119 and raw(f)[4:8] not in (b"\x90\0\0\0", b"\0\0\0\x90")


@rule("PPI before another link type than 802.11", MAC, 24, 0)
def _(f, _t, got, _want):
    return not got and linktype(f) == 192 and raw(f)[4:8] != b"\x69\0\0\0"


@rule("an SSID in an action frame, which is asked for", {"ssid"}, 300, 10)
def _(f, _t, got, _want):
    return not got and mac(f)[0] in (0xd0, 0xe0)


@rule("a legacy rate beside an HT, VHT or HE field, which tshark takes if it cannot compute the other one", {"rate_kbps"},
      0, 80)
def _(f, _t, _got, _want):
    present, = struct.unpack_from("<I", raw(f), 4)
    return linktype(f) == 127 and present & RATE and present & (HT_BIT | VHT_BIT | HE_BIT)


@rule("fields of several PHYs: the last one counts", {"mcs", "streams", "phy"}, 0, 10)
def _(f, _t, _got, _want):
    present, = struct.unpack_from("<I", raw(f), 4)
    return linktype(f) == 127 and (present & (HT_BIT | VHT_BIT | HE_BIT)).bit_count() > 1


@rule("a header alone, of which tshark does not show how it was sent", {"phy"}, 0, 10)
def _(f, t, got, _want):
    return got and linktype(f) == 127 and "wlan_radio" not in t["frame.protocols"][0]


@rule("an HT or VHT field without an MCS beside a legacy rate, which counts", {"phy"}, 2, 10)
def _(f, _t, got, want):
    present, = struct.unpack_from("<I", raw(f), 4)
    return not got and not f["mcs"] and linktype(f) == 127 and present & RATE and want in ("3", "4")


@rule("a rate with what is usual in place of what an HT or VHT field does not say, or that the standard leaves out",
      {"rate_kbps"}, 40, 20)
def _(f, t, got, want):
    return got and not want and linktype(f) == 127 and struct.unpack_from("<I", raw(f), 4)[0] & (HT_BIT | VHT_BIT)


@rule("two bytes of 0 before SNAP, without a flag", {"ethertype"}, 0, 60)
def _(f, _t, got, _want):
    data = mac(f)
    return not got and linktype(f) != 1 and data[0] & 0x0c == 8 and b"\0\0\xaa\xaa\3" in data[24:34]


@rule("an 802.1ad tag, whose inner type tshark does not show alone", {"ethertype"}, 0, 20)
def _(f, t, got, want):
    return got and want == str(0x88a8)


@rule("a length of 0, which tshark takes as an EtherType", {"ethertype"}, 0, 60)
def _(f, _t, got, want):
    return not got and want == "0" and linktype(f) == 1


@rule("an A-MSDU whose first subframe has no EtherType", {"ethertype"}, 4, 0)
def _(f, t, got, _want):
    return not got and linktype(f) != 1 and t["frame.protocols"][0].count(":llc") > len(t["llc.type"])


@rule("a length on the wire beyond what tshark can count", {"orig_len"}, 0, 4)
def _(f, _t, got, _want):
    return int(got) >= 2**31
