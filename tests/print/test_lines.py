# SPDX-License-Identifier: GPL-2.0
"""The short line, field by field, against tshark and tcpdump on the project's captures."""
import re

import pytest

from netns.compare import frames_in
from print import printer
from reference import captures

DOT11 = ("wlan.ra", "wlan.ta", "wlan.ssid", "wlan_radio.channel", "wlan_radio.signal_dbm", "wlan.fc.retry",
         "wlan.fc.protected", "wlan.fc.type_subtype", "ip.src", "wlan.ds.current_channel",
         "wlan.fixed.reason_code", "radiotap.flags.badfcs")
WORDS = {0x0: "Assoc Request", 0x1: "Assoc Response", 0x4: "Probe Request", 0x5: "Probe Response", 0x8: "Beacon",
         0xa: "Disassociation", 0xb: "Authentication", 0xc: "DeAuthentication", 0xd: "Action", 0x18: "BAR", 0x19: "BA",
         0x1b: "Request-To-Send", 0x1c: "Clear-To-Send", 0x1d: "Acknowledgment", 0x20: "Data", 0x24: "Null",
         0x28: "QoS Data", 0x2c: "QoS Null"}


def found(pattern, line):
    hit = re.search(pattern, line)
    return hit.group(1) if hit else ""


def quoted(line):
    """The string in quotation marks, in hexadecimal as tshark prints SSIDs."""
    text = found(r'"((?:[^"\\]|\\.)*)"', line)
    return re.sub(r"\\x(..)|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else m[2], text).encode("latin-1").hex()


def dot11_fields(line):
    """What the short line says, with tshark's names."""
    address = {label: (printer.values(line, label) or [""])[0] for label in ("RA", "TA")}
    return {"wlan.ra": address["RA"], "wlan.ta": address["TA"], "wlan.ssid": quoted(line),
            "channel": found(r"\bch (?:6g:)?(\d+) ", line), "wlan_radio.signal_dbm": found(r" (-?\d+)dBm ", line),
            "wlan.fc.retry": str(int(" Retry " in line)), "wlan.fc.protected": str(int(" Protected " in line)),
            "has_ip": " IP " in line, "wlan.ds.current_channel": found(r" CH: (\d+)", line),
            "wlan.fixed.reason_code": found(r" reason (\d+)", line), "bad": " bad-fcs " in line}


def tshark_fields(row, prism_channel):
    told = dict(zip(DOT11, row, strict=True))
    reason = told["wlan.fixed.reason_code"]
    return {**{name: told[name].replace("<MISSING>", "") for name in DOT11[:7] if name != "wlan_radio.channel"},
            "channel": told["wlan_radio.channel"] or prism_channel,
            "has_ip": bool(told["ip.src"]), "wlan.ds.current_channel": told["wlan.ds.current_channel"],
            "wlan.fixed.reason_code": str(int(reason, 0)) if reason else "",
            "bad": told["radiotap.flags.badfcs"] == "1"}, int(told["wlan.fc.type_subtype"], 0)


@pytest.mark.parametrize("path", printer.own("hwsim", "radiotap", "dot11-other"), ids=lambda p: p.name.split(".")[0])
def test_80211_is_as_tshark_says(path):
    """Of Prism headers, tshark does not know the numbers that the captures have."""
    data = captures.file_bytes(path)
    lines, said = printer.run(data, "short")
    lines, rows = lines.splitlines(), printer.tshark(data, *DOT11)
    assert said == "" and len(lines) == len(rows) > 100
    for line, row in zip(lines, rows):
        fields, kind = tshark_fields(row, prism_channel="6" if path.name.startswith("119") else "")
        assert dot11_fields(line) == fields, line
        assert kind not in WORDS or f" {WORDS[kind]} " in line, (line, hex(kind))


# Protocols that tcpdump dissects further: the lines are the same up to these words.
FURTHER = re.compile("|".join((
    "igmp", "GRE,", "DCCP,", "sctp,", "ESP,", "OSPF", "PIM", "VRRP", "ip-proto-", "frag ", "no next", "UDP, ", r"\[domain",
    "LLC,", "SNAP,", r"Unknown \(", "LLDP", "PPPoE D", "PPP 0x", " payload,", "EAPOL", "Reverse ARP", "redirect",
    r"type \d+ code", "parameter problem", "need to frag", "router ", r"\[malformed")))


def ours_shortened(line):
    """Without what tcpdump prints only with -e or -v, or prints otherwise."""
    line = re.sub(r" vlan \d+, p \d,", "", line).replace("PPPoE [", "PPPoE  [")
    return re.sub(r" q:( \S+\? \S+)+", "", line)


def starts_alike(ours, theirs):
    """Whether tcpdump's line says what ours does, and perhaps goes on."""
    theirs = re.sub(r", options \[[^\]]*\]", "", theirs)
    theirs = re.sub(r"(\S+) > (\S+): frag \(0\|\d+\) (\d+) > (\d+):", r"\1.\3 > \2.\4:", theirs)
    theirs = re.sub(r" frag \(0\|\d+\)| HBH", "", theirs)
    ours, further, _ = re.match(rf"(.*?)(?:({FURTHER.pattern})(.*))?$", ours).groups()
    if not further and ours.endswith(")") and re.search(r" \d+/\d+/\d+ \(\d+\)$", ours):
        counts, length = ours.rsplit(" ", 1)
        return theirs.startswith(counts) and (theirs.endswith(length) or "[|domain]" in theirs)
    return theirs.startswith(ours)


@pytest.mark.parametrize("path", [p for p in printer.own("wired") if "extensions" not in p.name and "plain" not in p.name],
                         ids=lambda p: p.name.split(".")[0])
def test_wired_is_as_tcpdump_says(path):
    """tcpdump shows AH and IPv6's extension headers, behind which it prints no ports the same way: without those
    captures."""
    data = captures.file_bytes(path)
    ours = [ours_shortened(line) for line in printer.run(data, "short")[0].splitlines()]
    theirs = [line for line in printer.tcpdump(data, "-n", "-S").split("\n") if re.match(r"\d\d:\d\d:\d\d\.\d{6} ", line)]
    assert len(ours) == len(theirs) > 50
    assert [pair for pair in zip(ours, theirs) if not starts_alike(*pair)] == []


NETWORK = ("ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "tcp.srcport", "tcp.dstport", "udp.srcport", "udp.dstport",
           "dns.qry.name", "dns.count.answers", "vlan.id", "frame.len")


@pytest.mark.parametrize("path", [p for p in printer.own("wired") if re.match("(names|web|control)-", p.name) and
                                  not re.search("gre|geneve|vxlan", p.name)],
                         ids=lambda p: p.name.split(".")[0])
def test_wired_is_as_tshark_says(path):
    data = captures.file_bytes(path)
    lines = printer.run(data, "short", "-e")[0].splitlines()
    rows = [dict(zip(NETWORK, row, strict=True)) for row in printer.tshark(data, *NETWORK)]
    names = 0
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows):
        for version, name in (("ip", "IP"), ("ipv6", "IP6")):
            if row[version + ".src"]:
                ends = rf"\b{name} {re.escape(row[version + '.src'])}(\.\d+)? > {re.escape(row[version + '.dst'])}(\.\d+)?:"
                assert re.search(ends, line), (line, row)
        for protocol in ("tcp", "udp"):
            if row[protocol + ".srcport"] and "ICMP" not in line and (protocol == "tcp" or "UDP, length" in line):
                assert re.search(rf"\.{row[protocol + '.srcport']} > \S+\.{row[protocol + '.dstport']}:", line), (line, row)
        if row["dns.qry.name"] and "? " in line:
            names += 1
            assert f"? {row['dns.qry.name']}. " in line, (line, row)
            assert " q:" not in line or f" {row['dns.count.answers']}/" in line, (line, row)
        assert not row["vlan.id"] or f" vlan {row['vlan.id']}, " in line, (line, row)
        assert f", length {row['frame.len']}: " in line, (line, row)
    assert names > 20 or "names" not in path.name


@pytest.mark.parametrize("stamp", ["", "-t", "-tt", "-ttt", "-tttt", "-ttttt"])
def test_times_are_those_of_tcpdump(stamp):
    data = captures.file_bytes(captures.OWN.root / "wired/links-4-vlan-1.pcap.zst")
    ours = printer.run(data, "short", *stamp.split())[0].splitlines()
    theirs = [line for line in printer.tcpdump(data, "-n", *stamp.split()).split("\n") if "ARP, R" in line]
    assert [line.split("vlan")[0] for line in ours if "ARP, R" in line] == [line.split("ARP")[0] for line in theirs] != []


@pytest.mark.parametrize("options", ["-x", "-xx", "-X", "-XX"])
def test_bytes_are_those_of_tcpdump(options):
    data = captures.file_bytes(captures.OWN.root / "wired/names-4.pcap.zst")
    rows = [[line for line in text.split("\n") if line.startswith("\t0x")] for text in
            (printer.run(data, "short", options)[0], printer.tcpdump(data, "-n", options))]
    assert rows[0] == rows[1] != []


@pytest.mark.parametrize("path", printer.own("malformed"), ids=lambda p: p.name)
def test_each_frame_of_a_malformed_file_has_one_line(path):
    lines, said = printer.run(path.read_bytes(), "short", check=False)
    frames = list(frames_in(path))
    assert len(lines.splitlines()) >= len(frames)
    assert said.count("\n") <= 1


def test_link_types_without_a_parser_have_a_line():
    assert printer.run(printer.pcap(228, [b"E" * 30]), "short")[0] == "22:13:20.000005 link type 228, length 30\n"


@pytest.mark.parametrize("cut", range(1, 74))
def test_a_cut_frame_is_printed_as_far_as_it_goes(cut):
    syn = next(f for f in captures.frames(captures.OWN.root / "wired/bulk-4.pcap.zst") if f.data[23:24] == b"\6")
    line = printer.run(printer.pcap(1, [syn.data[:cut]]), "short")[0]
    mark = "[|ether]" if cut < 14 else "[|ip]" if cut < 34 else "[|tcp]" if cut < 54 else ""
    assert mark in line and line.count("[|") == bool(mark), line
