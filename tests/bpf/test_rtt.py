# SPDX-License-Identifier: GPL-2.0
"""Round-trip times of TCP connections: bpf/modules/rtt/rtt.bpf.c on made frames, and on captures
against tshark."""
import collections
import statistics

import pytest

from bpf import modules
from bpf.modules import ACK, FIN, PUSH, RST, SYN
from netns.compare import frames_in, tshark_fields

START = 1_700_000_000 * 10**9
MS = 10**6
C, S = ("10.1.1.1", 40000), ("10.2.2.2", 80)
C6, S6 = ("2001:db8::1", 40000), ("2001:db8:2::2", 443)


class Talk:
    """Segments of one connection, each at a time in ms; numbers count from each side's first."""

    def __init__(self, client=C, server=S, isn=(1000, 5000), begin=0):
        self.ends, self.isn, self.begin = (client, server), isn, begin
        self.frames = []

    def say(self, ms, server, flags, seq=0, ack=0, data=b"", cut=None, **more):
        me, other = (self.ends[1], self.ends[0]) if server else self.ends
        mine, its = (self.isn[1], self.isn[0]) if server else self.isn
        frame = modules.tcp(me, other, flags, mine + seq, its + ack if flags & ACK else 0, data,
                            number=len(self.frames), **more)
        self.frames.append((START + round((self.begin + ms) * MS), frame[:cut], len(frame)))
        return self

    def c(self, ms, flags, seq=0, ack=0, **more):
        return self.say(ms, False, flags, seq, ack, **more)

    def s(self, ms, flags, seq=0, ack=0, **more):
        return self.say(ms, True, flags, seq, ack, **more)

    def opens(self, server=30, client=10):
        return self.c(0, SYN).s(server, SYN | ACK, 0, 1).c(server + client, ACK, 1, 1)


def reports(tmp_path, *talks, options=()):
    frames = sorted((f for t in talks for f in t.frames), key=lambda f: f[0])
    lines = modules.run("rtt", modules.write(tmp_path / "in.pcap", frames), *options)
    found = modules.consume_json("rtt", lines)
    return [f for f in found if "histogram" not in f], [f for f in found if "histogram" in f]


def halves(report):
    """(server, client) in ms, the state, and the reason for a missing half."""
    server, client = (report.get(k) and report[k] / MS for k in ("server_ns", "client_ns"))
    if server and client:
        assert report["whole_ns"] == report["server_ns"] + report["client_ns"]
    else:
        assert "whole_ns" not in report
    return server, client, report["state"], report["why"]


def one(tmp_path, *talks):
    found, _ = reports(tmp_path, *talks)
    assert len(found) == 1, found
    return halves(found[0])


@pytest.mark.parametrize("ends", [(C, S), (C6, S6)])
@pytest.mark.parametrize("more", [{}, {"tag": 7}])
def test_a_handshake(tmp_path, ends, more):
    talk = Talk(*ends).c(0, SYN, **more).s(30, SYN | ACK, 0, 1, **more).c(40, ACK, 1, 1, **more)
    found, (histogram,) = reports(tmp_path, talk)
    assert [halves(f) for f in found] == [(30, 10, "opened", [])]
    assert (found[0]["client"], found[0]["client_port"]) == ends[0]
    assert (found[0]["server"], found[0]["server_port"]) == ends[1]
    for kind, ms in ("whole", 40), ("server", 30), ("client", 10):
        (bucket,) = histogram[kind]["buckets"]
        assert bucket["from_ns"] <= ms * MS < bucket["from_ns"] * 1.126


@pytest.mark.parametrize("name, talk, wanted", [
    # Karn: it is unknown which of the two was answered, wherever the first was lost.
    ("SYN sent again", Talk().c(0, SYN).c(1000, SYN).s(1030, SYN | ACK, 0, 1).c(1040, ACK, 1, 1),
     (None, 10, "opened", ["syn-again"])),
    ("SYN sent again while its answer was on its way",
     Talk().c(0, SYN).c(1000, SYN).s(1001, SYN | ACK, 0, 1).c(1011, ACK, 1, 1),
     (None, 10, "opened", ["syn-again"])),
    ("SYN sent again behind the answer, which the client did not get",
     Talk().c(0, SYN).s(30, SYN | ACK, 0, 1).c(1000, SYN).s(1030, SYN | ACK, 0, 1).c(1040, ACK, 1, 1),
     (None, None, "opened", ["syn-again", "syn-ack-again"])),
    ("SYN/ACK sent again", Talk().c(0, SYN).s(30, SYN | ACK, 0, 1).s(1030, SYN | ACK, 0, 1)
     .c(1040, ACK, 1, 1), (30, None, "opened", ["syn-ack-again"])),
    ("another SYN/ACK, of a server that remembers nothing",
     Talk().c(0, SYN).s(30, SYN | ACK, 0, 1).s(35, SYN | ACK, 777, 1).c(45, ACK, 1, 778),
     (30, None, "opened", ["syn-ack-again"])),
    ("SYN/ACK sent again behind the ACK, which the server did not get",
     Talk().opens().s(1030, SYN | ACK, 0, 1).c(1040, ACK, 1, 1), (30, 10, "opened", [])),
    ("each frame twice, as mirrored where it comes and where it goes",
     Talk().c(0, SYN).c(.01, SYN).s(30, SYN | ACK, 0, 1).s(30.01, SYN | ACK, 0, 1)
     .c(40, ACK, 1, 1).c(40.01, ACK, 1, 1), (30, 10, "opened", [])),
    ("numbers that wrap", Talk(isn=(2**32 - 1, 2**32 - 1)).opens(), (30, 10, "opened", [])),
    ("ECN", Talk().c(0, SYN | 0xc0).s(30, SYN | ACK | 0x40, 0, 1).c(40, ACK, 1, 1),
     (30, 10, "opened", [])),
    ("data with the SYN, taken", Talk().c(0, SYN, data=b"x" * 100).s(30, SYN | ACK, 0, 101)
     .c(40, ACK, 101, 1), (30, 10, "opened", [])),
    ("data with the SYN, not taken", Talk().c(0, SYN, data=b"x" * 100).s(30, SYN | ACK, 0, 1)
     .c(40, ACK, 1, 1), (30, 10, "opened", [])),
    ("the ACK came with data", Talk().c(0, SYN).s(30, SYN | ACK, 0, 1)
     .c(80, ACK | PUSH, 1, 1, data=b"GET"), (30, None, "opened", ["late-ack"])),
    ("the ACK was lost, the next acknowledges more", Talk().c(0, SYN).s(30, SYN | ACK, 0, 1)
     .s(50, ACK | PUSH, 1, 1, data=b"220 ready").c(60, ACK, 1, 10),
     (30, None, "opened", ["late-ack"])),
    ("the ACK came with FIN", Talk().c(0, SYN).s(30, SYN | ACK, 0, 1).c(40, ACK | FIN, 1, 1),
     (30, None, "opened", ["late-ack"])),
    ("refused", Talk().c(0, SYN).s(30, RST | ACK, 0, 1), (30, None, "refused", [])),
    ("refused the second time", Talk().c(0, SYN).c(1000, SYN).s(1030, RST | ACK, 0, 1),
     (None, None, "refused", ["syn-again"])),
    ("reset by the client", Talk().c(0, SYN).s(30, SYN | ACK, 0, 1).c(40, RST, 1),
     (30, None, "reset", [])),
    ("reset by the server", Talk().c(0, SYN).s(30, SYN | ACK, 0, 1).s(35, RST | ACK, 1, 1)
     .c(40, ACK, 1, 1), (30, None, "reset", [])),
    ("resets of nobody's", Talk().c(0, SYN).s(5, RST | ACK, 0, 999).c(6, RST, 12345)
     .s(30, SYN | ACK, 0, 1).s(31, RST | ACK, 0, 77).c(32, RST, 500).c(40, ACK, 1, 1),
     (30, 10, "opened", [])),
    ("SYN/ACKs and ACKs of nobody's", Talk().c(0, SYN).s(5, SYN | ACK, 0, 2).s(6, SYN | ACK, 0, 0)
     .c(7, ACK, 1, 1).s(30, SYN | ACK, 0, 1).c(31, ACK, 1, 0).c(32, ACK, -5, 1).s(33, ACK, 1, 1)
     .c(40, ACK, 1, 1), (30, 10, "opened", [])),
    ("an ACK that is 5 s behind", Talk().opens(30, 5000), (30, 5000, "opened", [])),
])
def test_what_is_a_sample(tmp_path, name, talk, wanted):
    assert one(tmp_path, talk) == wanted, name


def test_both_open(tmp_path):
    """Simultaneous open (RFC 9293, 3.5): either side's SYN is answered; neither owes the ACK."""
    here, there = Talk(), Talk(S, C, isn=(5000, 1000))
    here.c(0, SYN).s(32, SYN | ACK, 0, 1)
    there.c(2, SYN).s(12, SYN | ACK, 0, 1)
    here.c(90, ACK | PUSH, 1, 1, data=b"hello").s(140, ACK, 1, 6)
    found, _ = reports(tmp_path, here, there)
    assert sorted(map(halves, found), key=str) == [(10, None, "opened", ["late-ack", "both-open"]),
                                                   (32, None, "opened", ["late-ack", "both-open"])]


def test_a_port_used_again(tmp_path):
    """Another connection with the same ports is measured by itself: just after the first was over,
    when the first was never established, and when its handshake hangs."""
    talks = [Talk().opens(30, 10), Talk(isn=(9000, 400), begin=100).opens(50, 5),
             Talk(isn=(70000, 1), begin=200).c(0, SYN), Talk(isn=(90000, 1), begin=300).opens(20, 7),
             Talk(isn=(110000, 1), begin=400).c(0, SYN).s(30, SYN | ACK, 0, 1),
             Talk(isn=(130000, 900), begin=500).opens(11, 3)]
    found, _ = reports(tmp_path, *talks)
    assert [halves(f)[:2] for f in found] == [(30, 10), (50, 5), (20, 7), (11, 3)]
    assert {tuple(f["why"]) for f in found} == {()}


def test_what_is_no_handshake(tmp_path):
    """Fragments without a TCP header, malformed or truncated headers, and other protocols are no
    handshake."""
    later = {"fragment": 185}
    cut = {"cut": 14 + 20 + 19}
    short = {"words": 4}
    odd = Talk().c(1, SYN | FIN).s(2, SYN | ACK | FIN, 0, 1).c(3, ACK, 1, 1)
    for more in later, cut, short:
        talk = Talk().c(0, SYN, **more).s(30, SYN | ACK, 0, 1, **more).c(40, ACK, 1, 1, **more)
        assert reports(tmp_path, talk) == ([], [])
        # The rest of the handshake is there: the missing part is not invented.
        assert reports(tmp_path, Talk().c(0, SYN, **more).s(30, SYN | ACK, 0, 1).c(40, ACK, 1, 1)) == \
            ([], [])
        assert reports(tmp_path, Talk().c(0, SYN).s(30, SYN | ACK, 0, 1, **more).c(40, ACK, 1, 1)) == \
            ([], [])
        assert reports(tmp_path, Talk().c(0, SYN).s(30, SYN | ACK, 0, 1).c(40, ACK, 1, 1, **more)) == \
            ([], [])
    assert reports(tmp_path, odd) == ([], [])


@pytest.mark.parametrize("ends", [(C, S), (C6, S6)])
def test_first_fragments_count(tmp_path, ends):
    """A packet's first fragment has the TCP header, and counts."""
    first = {"fragment": 0x2000}
    talk = Talk(*ends).c(0, SYN, **first).s(30, SYN | ACK, 0, 1, **first).c(40, ACK, 1, 1)
    assert one(tmp_path, talk) == (30, 10, "opened", [])


def test_many_at_once(tmp_path):
    """5,000 handshakes at a time have their own times, and the histogram's median is theirs."""
    talks = [Talk((f"10.1.{n >> 8}.{n & 255}", 1024 + n), begin=n / 100, isn=(n * 7919, n * 104729))
             .opens(1000 + n % 97, 1 + n % 89) for n in range(5000)]
    found, (histogram,) = reports(tmp_path, *talks)
    got = {f["client"]: halves(f) for f in found}
    assert got == {t.ends[0][0]: (1000 + n % 97, 1 + n % 89, "opened", [])
                   for n, t in enumerate(talks)}
    whole = [1001 + n % 97 + n % 89 for n in range(5000)]
    assert histogram["whole"]["count"] == histogram["connections"] == 5000
    assert histogram["whole"]["median_ns"] / MS == pytest.approx(statistics.median(whole), rel=.04)


def test_text_of_two_sensors(tmp_path):
    lines = "".join(modules.run("rtt", modules.write(tmp_path / "in.pcap", talk.frames), "--sensor", name)
                    for name, talk in (("near", Talk().opens(3, 1)), ("far", Talk(C6, S6).opens(80, 2))))
    said = modules.consume("rtt", lines)
    assert "near 10.1.1.1:40000 > 10.2.2.2:80 whole 4.000 ms server 3.000 ms client 1.000 ms opened\n" \
        in said
    assert "far [2001:db8::1]:40000 > [2001:db8:2::2]:443 whole 82.000 ms" in said
    assert "near: 1 connections, 0 refused\nnear whole round trips: 1, 10 %" in said
    assert "far: 1 connections, 0 refused\n" in said


# ---- against tshark ------------------------------------------------------------------------------

FIELDS = ("frame.time_epoch", "frame.protocols", "tcp.stream", "tcp.flags", "tcp.len", "tcp.srcport",
          "tcp.seq_raw", "tcp.ack_raw", "tcp.analysis.initial_rtt")
PLAIN = {"eth:ethertype:ip:tcp", "eth:ethertype:ipv6:tcp", "eth:ethertype:vlan:ethertype:ip:tcp"}
Row = collections.namedtuple("Row", "ns protocols stream flags len port seq ack rtt")


def rows(path):
    for r in tshark_fields(path, *FIELDS, options=("-o", "tcp.desegment_tcp_streams:FALSE")):
        if ":".join(r[1].split(":")[:6]).startswith(tuple(PLAIN)) and r[2] and "," not in r[2]:
            s, _, ns = r[0].partition(".")
            yield Row(int(s) * 10**9 + int(ns.ljust(9, "0")), r[1], int(r[2]), int(r[3], 16) & 0x17,
                      int(r[4]), int(r[5]), int(r[6]), int(r[7] or 0), r[8])


def clean(segments):
    """A handshake without retransmissions or other segments: (server's half, client's), or None."""
    if [s.flags for s in segments[:3]] != [SYN, SYN | ACK, ACK] or segments[2].len:
        return None
    if sum(bool(s.flags & SYN) for s in segments) != 2:
        return None
    syn, syn_ack, ack = segments[:3]
    if (syn_ack.ack, ack.seq, ack.ack) != (syn.seq + 1, syn.seq + 1, syn_ack.seq + 1):
        return None
    if float(ack.rtt or 0) * 10**9 != pytest.approx(ack.ns - syn.ns, abs=1000):
        return None
    found = syn_ack.ns - syn.ns, ack.ns - syn_ack.ns
    return found if min(found) > 0 else None  # some files have no times


def joined(paths):
    """The frames of all files one after the other, each file a day after the one before."""
    for n, path in enumerate(paths):
        frames = [f for f in frames_in(path) if f.linktype == 1 and f.time_ns]
        begin = min((f.time_ns for f in frames), default=0)
        for f in frames:
            yield START + n * 86400 * 10**9 + f.time_ns - begin, f.data, f.orig_len


def test_captures_against_tshark(traces, tmp_path):
    """Each plain handshake that tshark finds in the wired captures is measured, to the
    nanosecond."""
    capture = modules.write(tmp_path / "in.pcap", joined(traces.folder("wired")))
    streams = collections.defaultdict(list)
    for r in rows(capture):
        streams[r.stream].append(r)
    wanted = collections.Counter(found for s in streams.values() if (found := clean(s)))
    got = collections.Counter((r.get("server_ns"), r.get("client_ns"))
                              for r in modules.consume_json("rtt", modules.run("rtt", capture))
                              if "histogram" not in r)
    assert not wanted - got
    assert wanted.total() > 300, wanted.total()
