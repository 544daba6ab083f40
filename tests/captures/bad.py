# SPDX-License-Identifier: GPL-2.0
"""Truncated, malformed or odd files, and such frames: malformed/. Always the same ones; not
compressed, so that every reader of captures gets them unchanged."""
import itertools
import random
import struct

from captures import files
from reference import captures, radiotaps, shapes
from reference.captures import Frame

FRAMES = [shapes.ETHERNET[name] for name in ("ipv4 tcp", "ipv4 udp", "ipv6 tcp", "arp", "vlan", "mpls")]
BEGAN_NS = 1_700_000_000_123_456_789
MAGIC, NANO, MODIFIED = 0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34
SECTION, INTERFACE, OLD, SIMPLE, NAMES, STATISTICS, PACKET = 0x0a0d0d0a, 1, 2, 3, 4, 5, 6
CUSTOM, BYTE_ORDER = 0xbad, 0x1a2b3c4d


# ---- pcap ------------------------------------------------------------------------------------------


def header(order="<", magic=MAGIC, version=(2, 4), zone=0, snaplen=65535, linktype=1):
    return struct.pack(order + "IHHiIII", magic, *version, zone, 0, snaplen, linktype)


def record(data, order="<", n=0, sec=None, sub=456789, cap=None, orig=None):
    return struct.pack(order + "IIII", 1_700_000_000 + n if sec is None else sec, sub,
                       len(data) if cap is None else cap, len(data) if orig is None else orig) + data


def records(order="<"):
    return b"".join(record(f, order, n) for n, f in enumerate(FRAMES))


def pcaps():
    good = header() + records()
    for order, its in (("<", "little"), (">", "big")):
        for name, magic in (("micro", MAGIC), ("nano", NANO), ("modified", MODIFIED)):
            yield f"{name}-{its}", header(order, magic) + records(order)
    yield "empty", b""
    for size in (1, 3, 4, 23):
        yield f"header-of-{size}", header()[:size]
    yield "no-frames", header()
    for size in (1, 15, 16, 17, 100):
        yield f"cut-{size}-into-a-record", good + record(FRAMES[0])[:size]
    lies = {"longer-than-the-file": {"cap": 5000}, "longest": {"cap": 0xffffffff}, "negative": {"cap": 0x80000000},
            "longer-than-allowed": {"cap": 262145}, "nothing-of-it": {"cap": 0}, "shorter-than-it-was": {"orig": 9000},
            "longer-than-it-was": {"orig": 20}, "was-nothing": {"orig": 0}, "was-longest": {"orig": 0xffffffff},
            "second-2106": {"sec": 0xffffffff}, "microsecond-too-many": {"sub": 1_000_000},
            "microsecond-most": {"sub": 0xffffffff}}
    for name, lie in lies.items():
        yield f"record-{name}", good + record(FRAMES[0], **lie) + records()
    odd = {"version-0": {"version": (0, 0)}, "version-9": {"version": (9, 9)}, "version-2.3": {"version": (2, 3)},
           "zone": {"zone": -3600}, "snaplen-0": {"snaplen": 0}, "snaplen-20": {"snaplen": 20},
           "snaplen-most": {"snaplen": 0xffffffff}, "link-type-most": {"linktype": 0xfffe},
           "link-type-that-is-none": {"linktype": 0xffff},
           "link-type-with-fcs": {"linktype": 0x24000001}, "link-type-none": {"linktype": 0xffffffff}}
    for name, how in odd.items():
        yield f"header-{name}", header(**how) + records()
    yield "two-files-in-one", good + good
    yield "zeros-behind", good + bytes(40)
    yield "text", b"this is no capture\n" * 20
    yield "magic-of-another", b"\x7fELF" + bytes(60)


# ---- pcapng ----------------------------------------------------------------------------------------


def block(kind, body, order="<", size=None, again=None):
    body += bytes(-len(body) % 4)
    real = len(body) + 12
    size = real if size is None else size
    return struct.pack(order + "II", kind, size) + body + struct.pack(order + "I", size if again is None else again)


def option(code, data, order="<", size=None):
    return struct.pack(order + "HH", code, len(data) if size is None else size) + data + bytes(-len(data) % 4)


def section(order="<", length=-1, magic=BYTE_ORDER, version=(1, 0), options=b"", **how):
    return block(SECTION, struct.pack(order + "IHHq", magic, *version, length) + options, order, **how)


def interface(order="<", linktype=1, snaplen=65535, options=b"", **how):
    return block(INTERFACE, struct.pack(order + "HHI", linktype, 0, snaplen) + options, order, **how)


def packet(data=FRAMES[0], order="<", number=0, ticks=BEGAN_NS // 1000, cap=None, orig=None, options=b"", **how):
    return block(PACKET, struct.pack(order + "IIIII", number, ticks >> 32 & 0xffffffff, ticks & 0xffffffff,
                                     len(data) if cap is None else cap, len(data) if orig is None else orig) +
                 data + bytes(-len(data) % 4) + options, order, **how)


def simple(data, order="<", orig=None):
    return block(SIMPLE, struct.pack(order + "I", len(data) if orig is None else orig) + data, order)


def old(data, order="<"):
    return block(OLD, struct.pack(order + "HHIIII", 0, 0, 0x5f5e1, 7, len(data), len(data)) + data, order)


def packets(order="<", **how):
    return b"".join(packet(f, order, **how) for f in FRAMES)


def pcapngs():
    begin = section() + interface()
    good = begin + packets()
    for order, its in (("<", "little"), (">", "big")):
        yield its, section(order) + interface(order) + packets(order)
        yield f"simple-{its}", section(order) + interface(order) + b"".join(simple(f, order) for f in FRAMES)
        yield f"old-{its}", section(order) + interface(order) + b"".join(old(f, order) for f in FRAMES)
    yield "sections-of-both-orders", good + section(">") + interface(">") + packets(">")
    yield "section-alone", section()
    yield "no-packets", begin
    yield "section-length", section(length=len(interface()) + len(packets())) + interface() + packets()
    yield "section-length-lies", section(length=8) + interface() + packets()
    yield "section-magic", section(magic=0x12345678) + interface() + packets()
    yield "section-version", section(version=(9, 9)) + interface() + packets()
    yield from ((f"section-cut-{n}", section()[:n]) for n in (4, 8, 11, 12, 27))
    for name, resolution in {"seconds": 0, "ms": 3, "ns": 9, "ps": 12, "most": 19, "beyond": 20, "binary": 0x8a,
                             "binary-most": 0xbf, "binary-beyond": 0xff}.items():
        yield f"ticks-{name}", section() + interface(options=option(9, bytes([resolution])) + option(0, b"")) + packets()
    for name, offset in {"hour": 3600, "before": -10**9, "most": 2**63 - 1}.items():
        yield f"offset-{name}", section() + interface(options=option(14, struct.pack("<q", offset))) + packets()
    yield "time-most", begin + packets(ticks=2**64 - 1)
    yield "ticks-empty-option", section() + interface(options=option(9, b"")) + packets()
    yield "option-longer", section() + interface(options=option(2, b"eth0", size=5000)) + packets()
    yield "options-without-end", section() + interface(options=option(2, b"eth0")) + packets()
    yield "option-cut", section() + interface(options=b"\2\0\x08") + packets()
    yield "packet-options", begin + packets(options=option(1, b"a comment") + option(2, bytes(4)) + option(0, b""))
    yield "no-interface", section() + packets()
    yield "another-interface", begin + packet(number=1) + packets()
    yield "interface-behind", good + packet(number=1) + interface() + packet(number=1)
    yield "interfaces-300", section() + interface() * 300 + packet(number=299) + packets()
    yield "link-types", section() + b"".join(interface(linktype=t) for t in (1, 113, 0xfffe)) + b"".join(
        packet(f, number=n % 3) for n, f in enumerate(FRAMES))
    yield "link-type-most", good + interface(linktype=0xffff) + packets()
    yield from ((f"snaplen-{n}", section() + interface(snaplen=n) + packets() + simple(FRAMES[0])) for n in (0, 1, 20))
    yield "simple-longer", begin + simple(FRAMES[0], orig=9000) + simple(FRAMES[1])
    for name, lie in {"longer": {"cap": 5000}, "longest": {"cap": 0xffffffff}, "shorter": {"cap": 20},
                      "was-less": {"orig": 1}, "was-longest": {"orig": 0xffffffff}}.items():
        yield f"packet-{name}", good + packet(**lie) + packets()
    for name, size in {"0": 0, "8": 8, "11": 11, "13": 13, "16": 16, "beyond": 9000, "longest": 0xffffffff,
                       "longest-of-4": 0xfffffffc}.items():
        yield f"block-{name}", good + block(PACKET, bytes(20), size=size) + packets()
    yield "block-ends-otherwise", good + packet(again=16) + packets()
    yield "block-unknown", begin + block(0x7777, b"unknown") + block(0x80000001, bytes(100)) + packets()
    yield "block-custom", begin + block(CUSTOM, struct.pack("<I", 1) + b"custom") + packets()
    yield "names-and-statistics", (begin + block(NAMES, struct.pack("<HH", 1, 9) + b"\x0a\0\0\1host\0\0\0\0" + bytes(4)) +
                                   packets() + block(STATISTICS, struct.pack("<III", 0, 7, 7) + option(4, bytes(8))))
    yield from ((f"cut-{n}", good[:len(good) - n]) for n in (1, 4, 5, 17, 100, 200))
    yield "zeros-behind", good + bytes(64)


# ---- frames ----------------------------------------------------------------------------------------

RUNS = 6
TAKEN = 500  # frames per file of changed ones


def changed(rng, data):
    """Changes some bytes where headers are, or truncates."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(min(len(data), rng.choice((16, 40, 80))))
        data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, 0x0f, data[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
    return bytes(data[:rng.randint(1, len(data))] if rng.random() < 0.3 else data)


def own(folder, linktype):
    """Short frames of this folder's captures. No beacons: changed ones would be access points with
    one address."""
    paths = sorted((files.HERE / folder).glob("*"))
    return [f.data for p in paths for f in itertools.islice(captures.frames(p), 60)
            if f.linktype == linktype and 14 < len(f.data) < 200 and f.data[0] not in (0x80, 0x50)]


def numbered(datas):
    return [Frame(BEGAN_NS + n * 10**6, len(d), None, d) for n, d in enumerate(datas)]


def frame_files():
    rng = random.Random(21)
    wired, bare = own("wired", 1), own("dot11-other", 105)
    for run in range(RUNS):
        yield f"changed-ethernet-{run}", 1, [changed(rng, rng.choice(wired)) for _ in range(TAKEN)]
    yield "changed-80211", 105, [changed(rng, rng.choice(bare)) for _ in range(TAKEN)]
    yield "changed-radiotap", 127, list(radiotaps.mutated(21, TAKEN))
    cut = list(shapes.cut())
    for linktype in 1, 105, 127:
        its = [data for _, link, data in cut if link == linktype]
        yield f"cut-{linktype}", linktype, its[::max(1, len(its) // TAKEN)]
    yield "not-ip", 228, [bytes([n]) + bytes(30) for n in range(0, 256, 16)]
    yield "loopback", 0, [struct.pack("<I", n) + FRAMES[0][14:] for n in (2, 10, 24, 28, 30, 99)]
    yield "cooked", 113, [struct.pack(">HHH8sH", n, 1, 6, bytes(8), 0x800) + FRAMES[0][14:] for n in range(5)]


def put(name, data):
    path = files.HERE / "malformed" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def make():
    count = 0
    files.forget("malformed/*")
    for name, data in pcaps():
        put(f"pcap-{name}.pcap", data)
        count += 1
    for name, data in pcapngs():
        put(f"pcapng-{name}.pcapng", data)
        count += 1
    for name, linktype, datas in frame_files():
        put(f"frames-{name}.pcap", files.pcap(linktype, numbered(datas)))
        count += 1
    print(f"malformed/: {count} files")
