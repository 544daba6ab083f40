# SPDX-License-Identifier: GPL-2.0
"""Worm detection, both halves: outbreaks and their variants, popular content that is no worm,
signatures."""
import itertools
import random
import struct
import subprocess

import pytest

from bpf import modules
from bpf.modules import tcp, udp, write
from netns.testbed import BUILD
from reference import captures
from wifi import figures

START = 1_700_000_000 * 10**9
MS = 10**6
CONSUMER = BUILD / "modules/worm"
LOW = "prevalence=3,sources=1,destinations=1"


def host(n, net=10):
    return f"{net}.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"


def payload(seed, size=376):
    return random.Random(seed).randbytes(size)


def outbreak(content, sources=40, targets=3, port=1434, send=udp, gap_ms=5, host_of=host, **more):
    """Each source sends to targets of its own. `content`: bytes, or a function of a number."""
    frames = []
    for n in range(sources * targets):
        data = content(n) if callable(content) else content
        frames.append((START + n * gap_ms * MS,
                       send((host_of(n // targets), 1024 + n % 60000), (host_of(5000 + n), port),
                            **({"flags": modules.PUSH | modules.ACK} if send is tcp else {}), data=data,
                            **more)))
    return frames


def printed(*args, status=0):
    got = subprocess.run([CONSUMER, *args], capture_output=True, text=True, check=False)
    assert got.returncode == status, got
    return got.stdout.strip() if not status else got.stderr


def fill(tmp_path, settings=None, signatures=None):
    """Options of module_run."""
    found = []
    if settings:
        found += ["--fill", "settings " + printed("--fill-settings", settings)]
    if signatures:
        (tmp_path / "signatures").write_text(signatures)
        found += ["--fill", "signatures " + printed("--fill-signatures", tmp_path / "signatures")]
    return found


def events(tmp_path, frames, settings=None, signatures=None):
    path = write(tmp_path / "frames.pcap", sorted(frames))
    said = modules.run("worm", path, *fill(tmp_path, settings, signatures))
    options = ["--signatures", tmp_path / "signatures"] if signatures else []
    *before, end = modules.consume_json("worm", said, *options)
    assert end["event"] == "end" and end["bad_events"] == 0
    return before


def kinds(found):
    return [e["event"] for e in found]


def assert_outbreak(found, **what):
    assert kinds(found)[:2] == ["outbreak", "content"], found
    assert set(kinds(found)[2:]) <= {"growth"}
    for name, value in what.items():
        assert found[0][name] == value
    return found


# ---- outbreaks -----------------------------------------------------------------------------------

def test_an_outbreak(tmp_path):
    worm = payload(1)
    found = assert_outbreak(events(tmp_path, outbreak(worm)), port=1434, protocol=17, payload_len=376)
    assert bytes.fromhex(found[1]["bytes"]) == worm[:48]
    first = found[0]
    assert 30 <= first["copies"] <= 120 and 26 <= first["sources"] <= 34
    assert 0 < first["time_ns"] - START < 600 * MS and first["since_ms"] < 600


@pytest.mark.parametrize("send", [tcp, udp])
@pytest.mark.parametrize("net", ["10.{}.{}.{}", "2001:db8::{:x}:{:x}:{:x}"])
def test_protocols(tmp_path, send, net):
    frames = outbreak(payload(2), send=send, host_of=lambda n: net.format(n >> 16, n >> 8 & 255, n & 255))
    found = assert_outbreak(events(tmp_path, frames), protocol=6 if send is tcp else 17)
    assert (":" in found[0]["source"]) == (":" in net)


def test_growth_is_told_whenever_it_has_doubled(tmp_path):
    """Each doubling is reported with the number of hosts, even more than 64 bits can
    distinguish."""
    found = assert_outbreak(events(tmp_path, outbreak(payload(3), 2000, 4, gap_ms=2)))
    growth = found[2:]
    assert len(growth) >= 5
    assert all(b["copies"] == 2 * a["copies"] for a, b in zip([found[0], *growth], growth))
    last = growth[-1]
    assert last["sources"] == pytest.approx(last["copies"] / 4, rel=0.35)
    assert last["destinations"] == pytest.approx(last["copies"], rel=0.35)


def test_two_outbreaks_at_a_time(tmp_path):
    frames = outbreak(payload(4)) + outbreak(payload(5), port=445, send=tcp)
    found = events(tmp_path, frames)
    assert sorted(e["port"] for e in found if e["event"] == "outbreak") == [445, 1434]


def test_amid_content_that_is_new_each_time(tmp_path):
    """Among a hundred thousand other payloads a worm is found; sketch and table keep their size."""
    chance = random.Random(6)
    noise = [(START + n * MS // 20, udp((host(n % 251, 172), 5000), (host(n % 241, 192), 443),
                                        chance.randbytes(100))) for n in range(100000)]
    found = events(tmp_path, noise + outbreak(payload(6), 60, 2))
    assert_outbreak(found, port=1434)


def test_under_pressure_more_copies_are_asked_for(tmp_path):
    """With more triplicate content than the sketch can distinguish, the work is bounded, and a worm
    is still found."""
    chance = random.Random(7)
    noise = [(START + n * 10_000, udp((host(n % 251, 172), 5000), (host(n % 241, 192), 443), data))
             for n, data in enumerate(data for _ in range(80_000)
                                      for data in [chance.randbytes(48)] * 3)]
    found = events(tmp_path, noise + outbreak(payload(8), 200, 3))
    assert_outbreak(found, port=1434)


def test_slow_ones_are_forgotten(tmp_path):
    """A worm with one copy in 2.5 s or more is not found, as documented in the module."""
    assert not events(tmp_path, outbreak(payload(9), gap_ms=4500))
    assert not events(tmp_path, outbreak(payload(9), gap_ms=1000), "window=20")
    assert_outbreak(events(tmp_path, outbreak(payload(9), 80, 1, gap_ms=900), "window=600"))


# ---- variants ------------------------------------------------------------------------------------

def test_another_end_is_the_same_worm(tmp_path):
    head = payload(10, 64)
    frames = outbreak(lambda n: head + payload(n, 30 + n))
    assert_outbreak(events(tmp_path, frames))


VARIANTS = {
    "each byte differs": lambda n: bytes(b ^ (n * 7 + 1) % 256 for b in payload(11)),
    "a counter in front": lambda n: struct.pack(">I", n) + payload(11),
    "one byte differs": lambda n: payload(11)[:63] + bytes([n % 251]) + payload(11)[64:],
    "begins elsewhere": lambda n: payload(n, n % 32) + payload(11),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_polymorphic_ones_are_not_found(tmp_path, name):
    assert not events(tmp_path, outbreak(VARIANTS[name], 120, 2, gap_ms=1))


def test_polymorphic_ones_are_found_by_a_signature(tmp_path):
    """The common part of all copies is found, wherever it begins in the first 32 bytes."""
    pattern = payload(11)[:16]
    frames = outbreak(VARIANTS["begins elsewhere"], 120, 2, gap_ms=1)
    found = events(tmp_path, frames, signatures=f"variant udp/1434 <32 {pattern.hex()}\n")
    assert set(kinds(found)) == {"hit"}
    assert {e["source"] for e in found} == {host(n) for n in range(120)}
    assert {e["name"] for e in found} == {"variant"}


# ---- popular content that is no worm -------------------------------------------------------------

def many(count, frame, gap_ms=3):
    return [(START + n * gap_ms * MS, frame(n)) for n in range(count)]


def dns(n, name=b"\3www\7example\3com\0"):
    return struct.pack(">HHHHHH", n * 40503 % 65536, 0x100, 1, 0, 0, 1) + name + struct.pack(
        ">HHBHHIH", 1, 1, 0, 41, 1232, 0, 0)


def ntp(n):
    return b"\x23\0\x06\xec" + bytes(36) + struct.pack(">II", 3_900_000_000 + n, n * 2654435761 % 2**32)


MDNS = struct.pack(">HHHHHH", 0, 0, 2, 0, 0, 0) + b"\x0b_googlecast\x04_tcp\x05local\0\0\x0c\0\1" * 2
SSDP = b"M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\n\r\n"
POPULAR = {
    "a server to its clients": lambda n: tcp(("192.0.2.1", 80), (host(n), 40000), modules.ACK,
                                             data=payload(20, 1000)),
    "clients to a server": lambda n: tcp((host(n), 40000), ("192.0.2.1", 80), modules.ACK, data=b"GET / "
                                         b"HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: x\r\n\r\n"),
    "clients to a farm of twelve": lambda n: tcp((host(n), 40000), (f"192.0.2.{n % 12}", 80), modules.ACK,
                                                 data=b"GET /logo.png HTTP/1.1\r\nHost: cdn.example.com\r\n"),
    "DNS to many resolvers": lambda n: udp((host(n), 40000), (host(n, 192), 53), dns(n)),
    "NTP to a pool": lambda n: udp((host(n), 123), (host(n, 192), 123), ntp(n)),
    "multicast DNS": lambda n: udp((host(n), 5353), ("224.0.0.251", 5353), MDNS),
    "SSDP": lambda n: udp((host(n), 40000), ("239.255.255.250", 1900), SSDP),
    "NetBIOS to every subnet": lambda n: udp((host(n), 137), (f"10.0.{n % 12}.255", 137), payload(21, 50)),
    "a monitor asks all": lambda n: udp(("192.0.2.9", 50000), (host(n), 161), payload(22, 45)),
    "small talk": lambda n: udp((host(n), 6881), (host(n + 777), 6881), payload(23, 39)),
    "no payload": lambda n: tcp((host(n), 6881), (host(n + 777), 445), modules.SYN),
}


@pytest.mark.parametrize("name", POPULAR)
def test_popular_content(tmp_path, name):
    assert not events(tmp_path, many(1000, POPULAR[name]))


def test_ports_that_are_ignored(tmp_path):
    """Peers with identical greetings look like a worm until their port is ignored."""
    def frame(n):
        return tcp((host(n), 40000), (host(n + 777), 6881), modules.ACK, data=payload(24, 68))

    frames = many(200, frame)
    assert_outbreak(events(tmp_path, frames), port=6881)
    assert not events(tmp_path, frames, "ignore=53,ignore=6881")


def test_settings(tmp_path):
    frames = outbreak(payload(25), 12, 2)
    assert not events(tmp_path, frames)
    assert_outbreak(events(tmp_path, frames, "sources=8,destinations=15,prevalence=15"))
    assert not events(tmp_path, frames, "sources=25,destinations=15,prevalence=15")
    assert not events(tmp_path, frames, "sources=8,destinations=15,prevalence=25")


# ---- signatures ----------------------------------------------------------------------------------

SIGNATURES = """
# name     where
slammer    udp/1434  @0   0401010101010101
codered    tcp/80    @0   "GET /default.ida"
shell      any       <32  2f62696e..7368
late       tcp       @100 "0123456789abcdef"
"""


def one(data, port=80, send=tcp, source=1):
    more = {"flags": modules.ACK} if send is tcp else {}
    return send((host(source), 1024), (host(99), port), data=data, **more)


@pytest.mark.parametrize("frame, name", [
    (one(b"\4" + b"\1" * 100, 1434, udp), "slammer"),
    (one(b"\4" + b"\1" * 7, 1434, udp), "slammer"),
    (one(b"\4" + b"\1" * 6, 1434, udp), None),  # shorter than the pattern
    (one(b"\4" + b"\1" * 100, 1435, udp), None),
    (one(b"\4" + b"\1" * 100, 1434, tcp), None),
    (one(b"\0\4" + b"\1" * 100, 1434, udp), None),
    (one(b"GET /default.ida?NNNNNNNN HTTP/1.0\r\n"), "codered"),
    (one(b"GET /default.idx?NNNNNNNN HTTP/1.0\r\n"), None),
    *[(one(b"x" * at + b"/bin/sh;", 8080), "shell") for at in (0, 1, 7, 8, 9, 15, 24, 30, 31)],
    (one(b"x" * 32 + b"/bin/sh;", 8080), None),
    (one(b"/bin\0sh", 53, udp), "shell"),
    (one(b"/bin/s", 53, udp), None),
    (one(b"x" * 100 + b"0123456789abcdef", 53), "late"),
    (one(b"x" * 100 + b"0123456789abcdeF", 53), None),
    (one(b"x" * 100 + b"0123456789abcde", 53), None),
    (one(b"x" * 101 + b"0123456789abcdef", 53), None),
    (one(b"x" * 99 + b"0123456789abcdef", 53), None),
], ids=itertools.count())
def test_signatures(tmp_path, frame, name):
    found = events(tmp_path, [(START, frame)], signatures=SIGNATURES)
    assert [e["name"] for e in found] == ([name] if name else [])
    if name:
        assert found[0]["event"] == "hit" and found[0]["source"] == host(1)


def test_what_an_earlier_frame_has_left_is_no_hit(tmp_path):
    frames = [(START, one(b"x" * 100 + b"/bin/sh", 8080)), (START + 1, one(b"x" * 30 + b"/bin/sh", 81)),
              (START + 2, one(b"x" * 31, 82, source=2)), (START + 3, one(b"/bin/", 83, source=3))]
    assert [e["port"] for e in events(tmp_path, frames, signatures=SIGNATURES)] == [81]


def test_a_source_is_told_once_a_minute(tmp_path):
    frames = [(START + n * 1000 * MS, one(b"/bin/sh", source=n % 3)) for n in range(150)]
    found = events(tmp_path, frames, signatures=SIGNATURES)
    assert kinds(found) == ["hit"] * 9
    assert [e["copies"] for e in found] == [1] * 3 + [20] * 6


def test_the_signature_of_an_outbreak_is_one(tmp_path):
    """The consumer's printed signature can be filled in, and finds the next copy."""
    frames = outbreak(payload(26))
    said = modules.run("worm", write(tmp_path / "frames.pcap", frames))
    text = modules.consume("worm", said).splitlines()
    line, = (text[i + 1] for i, words in enumerate(text) if words.startswith("a signature of "))
    found = events(tmp_path, frames[:1], signatures=line + "\n")
    assert kinds(found) == ["hit"] and found[0]["name"].startswith("worm-")


@pytest.mark.parametrize("line", [
    "x", "x tcp @0", "x icmp @0 00", "x tcp/70000 @0 00", "x tcp/ @0 00", "x tcp 0 00", "x tcp @113 00",
    "x tcp <0 00", "x tcp <33 00", "x tcp @0 0", "x tcp @0 0g", "x tcp @0 ....", 'x tcp @0 "',
    "x tcp @0 " + "00" * 17, 'x tcp @0 ""', 'x tcp @0 "seventeen letters"', "x tcp @-1 00", "x tcp @0 -1"])
def test_lines_that_are_no_signature(tmp_path, line):
    (tmp_path / "signatures").write_text("# fine\n" + line + "\n")
    assert "line 2: takes" in printed("--fill-signatures", tmp_path / "signatures", status=2)


def test_more_signatures_than_there_is_room_for(tmp_path):
    (tmp_path / "signatures").write_text("x tcp @0 00\n" * 9)
    assert "line 9: there is room for 8" in printed("--fill-signatures", tmp_path / "signatures", status=2)
    assert "No such file" in printed("--fill-signatures", tmp_path / "none", status=2)


@pytest.mark.parametrize("settings", ["x", "sources=0", "sources=151", "window=", "ignore=70000",
                                      "ignore=1,ignore=2,ignore=3,ignore=4,ignore=5", "prevalence=-1"])
def test_settings_that_are_none(settings):
    assert "takes prevalence=N" in printed("--fill-settings", settings, status=2)


# ---- real traffic --------------------------------------------------------------------------------

def test_no_capture_has_an_outbreak(traces, tmp_path):
    """No capture, at its own times, has an outbreak; with low thresholds much is found, so the
    module does look."""
    plain = tmp_path / "plain"
    low = ["--fill", "settings " + printed("--fill-settings", LOW)]
    false, looked = {}, 0
    paths = traces.folder("wired")
    for path in paths:
        plain.write_bytes(captures.file_bytes(path))  # some are compressed
        *found, _ = modules.consume_json("worm", modules.run("worm", plain))
        if found:
            false[path.name] = found
        looked += len(modules.consume_json("worm", modules.run("worm", plain, *low))) > 1
    print(f"{len(paths)} captures, {looked} of them have content that is sent thrice")
    figures.tell(worm_false_alarms=len(false))
    assert len(paths) > (100 if traces is captures.FOREIGN else 70)
    assert looked > (20 if traces is captures.FOREIGN else 10)
    assert not false


