# SPDX-License-Identifier: GPL-2.0
"""seeds.py PROGRAM FOLDER: seeds for all harnesses, FOLDER/HARNESS/*, made by hand or from the
bundled trace. PROGRAM (seeds.c) makes those that depend on the wire format."""
import base64
import itertools
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from reference import captures, radiotaps, shapes
from wire import saluki_combo as sc

LINKTYPES = (1, 105, 119, 127, 163, 192)  # in the order of fuzz_parse.c
LINKTYPES_PRINTED = (*LINKTYPES, 228)  # in the order of fuzz_print.c and fuzz_dissect.c


def key(first):
    """The text of a key, private or public."""
    return base64.b64encode(bytes((first + i) & 255 for i in range(31)) + b"\x41")


def keys():
    lines = key(8) + b"\n" + key(9) + b"\n"
    return [b"\0" + lines, b"\1" + lines, b"\0" + lines.replace(b"\n", b"\r\n"),
            b"\0" + lines[:60], b"\0" + b"A" * 43 + b"=\n", b"\1  " + lines, b"\1x" + lines]


def sensors():
    line = b"room-1 1 " + key(1) + b"\n"
    other = b"two 65535 " + key(2) + b" # comment\n"
    return [line, b"# none\n\n" + line + other, line + line, other + other.replace(b"two", b"3"),
            line.replace(b" 1 ", b" 70000 "), line[:30], line + b"x" * 600 + b"\n",
            line.replace(b"room", b"ro/om"), line.replace(b"\n", b" more\n"),
            line.replace(b"\n", b" " + key(3) + b"\n") + other + b"\f" + line,
            line + b"\f" + other + b"\f" + line.replace(b" 1 ", b" 9 ") + other]


def configs():
    keys_ = b"key-text = " + key(8) + b"\ncollector=" + key(9) + b"\n"
    return [b"\0to = a:1 # one\n\n# none\n pad\r\npad = yes\n" + keys_, b"\1" + keys_,
            b"\0" + keys_ + b"preshared = " + key(3) + b"\ncollector = " + key(4) + b"\npreshared = " + key(5),
            b"\0preshared = " + key(3) + b"\n", b"\0" + keys_ + b"next = " + key(6) + b"\npreshared = " + key(3) + b"\n",
            b"\0" + keys_ * 2, b"\0" + (b"collector = " + key(9) + b"\n") * 5,
            b"\0key-text = x\n", b"\0pad = no\n", b"\0help\n", b"\0too = 5\n", b"\0to\n", b"\0to a:1\n",
            b"\0to = a\0b\n", b"\0= 1\n", b"\0to = " + b"x" * 4200 + b"\n", b"\0to = a#b = c\t#d\n"]


def some_frames():
    return list(itertools.islice(captures.frames(captures.BUNDLED), 3))


def pcap(order, magic):
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, 127)
    for f in some_frames():
        out += struct.pack(order + "IIII", 5, 6, 40, f.orig_len) + f.data[:40]
    return out


def block(order, kind, body):
    body += b"\0" * (-len(body) % 4)
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


def pcapng(order):
    options = struct.pack(order + "HHB3xHHqHH", 9, 1, 0x8a, 14, 8, 50, 0, 0)
    comment = struct.pack(order + "HH", 1, 8) + b"comment!" + b"\0" * 4
    out = block(order, 0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1) + comment)
    out += block(order, 1, struct.pack(order + "HHI", 127, 0, 0))
    out += block(order, 1, struct.pack(order + "HHI", 1, 0, 20) + options)
    out += block(order, 5, struct.pack(order + "III", 0, 1, 2))
    for f in some_frames():
        head = struct.pack(order + "IIIII", 1, 1, 2, 40, f.orig_len)
        out += block(order, 6, head + f.data[:40])
        out += block(order, 3, struct.pack(order + "I", 60) + f.data[:20])
        head = struct.pack(order + "HHIIII", 0, 0, 1, 2, 30, 30)
        out += block(order, 2, head + f.data[:30])
    return out


def capture_files():
    files = [pcap(order, magic) for order in "<>" for magic in (0xa1b2c3d4, 0xa1b23c4d)]
    files += [pcapng("<"), pcapng(">"), pcapng("<") + pcapng(">")]
    return files


def pcap_read():
    return [struct.pack("<H", chunk) + f for f in capture_files() for chunk in (0, 6, 4095)]


def pcapng_tails():
    return [b"\0" + f[:cut] for f in (*capture_files()[4:], said())
            for cut in (len(f), len(f) - 5, 30, 9)]


def said():
    """Module events in a file, the first with a combo's name; and other content of such blocks."""
    line = b'{"sensor": "a", "interface": "b", "module": "worm", "serial": 1}'
    name = struct.pack("<HH", 19373, 36) + struct.pack(">LQQQLHH", 32473, 1, 0, 0, 0, 2, 3)
    bodies = [struct.pack("<I", enterprise) + struct.pack(">I", length) + line + options
              for enterprise, length, options in ((32473, len(line), name + b"\0" * 4),
                                                  (32473, len(line), b""), (32473, 9, b""),
                                                  (32473, 2**32 - 1, b""), (1, len(line), b""))]
    return pcapng("<") + b"".join(block("<", 0xbad, body) for body in bodies)


def parse():
    """Every shape whole; the fuzzer truncates them."""
    for _, linktype, frame in shapes.whole():
        head = struct.pack("<BHHHHB", LINKTYPES.index(linktype), 191, 0, 60, 0, 0)
        yield head + frame[:400]
    for made in radiotaps.every():
        yield struct.pack("<BHHHHB", LINKTYPES.index(127), 191, 0, 60, 0, 0) + made.bytes[:400]


def print_seeds():
    """Every shape, and the first frames of the captures of 802.11 and of names."""
    for n, (_, linktype, frame) in enumerate(shapes.whole()):
        yield struct.pack("<BBHH", LINKTYPES_PRINTED.index(linktype) | 128, n & 255, 0, 5) + frame[:400]
    for folder, count in (("dot11-other", 40), ("radiotap", 20), ("wired", 12)):
        for path in captures.OWN.folder(folder):
            for frame in itertools.islice(captures.frames(path), count):
                yield struct.pack("<BBHH", LINKTYPES_PRINTED.index(frame.linktype), 1, 0, 9) + frame.data[:400]


def pseudonyms():
    """Every shape, made radiotap headers, and the first frames of captures."""
    order = (*LINKTYPES, 228, 123, 144, 254)  # of fuzz_pseudonym.c
    for _, linktype, frame in shapes.whole():
        yield struct.pack("<BH", order.index(linktype), 0) + frame[:400]
    for made in radiotaps.every():
        yield struct.pack("<BH", order.index(127), 4) + made.bytes[:400]
    for n in range(6, 10):
        yield struct.pack("<BH", n, 0) + bytes(range(40))
    for text in ("wlx0013ef8a2b01", "lab-2_00_13_ef_8a_2b_01", "0013.EF8A.2B01-2", "0013ef-8a2b01",
                 "0:0:1-3-e_f8.a2b01.cafe", "30-11-00-13-ef-8a-2b-01", "0013ef8a2b010013ef8a2b010013ef"):
        yield struct.pack("<BH", 0, 0) + text.encode()
    for folder, count in (("dot11-other", 40), ("radiotap", 20), ("hwsim", 60), ("wired", 2)):
        for path in captures.OWN.folder(folder):
            for frame in itertools.islice(captures.frames(path), count):
                yield struct.pack("<BH", order.index(frame.linktype), frame.orig_len - len(frame.data)) + frame.data[:600]


def event_lines():
    """As collectors write them; with each escape; with other members; malformed ones."""
    event = {"sensor": "lib", "interface": "eth0", "module": "worm", "serial": 3, "time_ns": 1795413740010975417,
             "direction": "in", "data": "0a0b0c", "id": "aad942a85eae87d0-4-46"}
    line = json.dumps(event)
    yield line.encode()
    for text in (r"\"\\\/\b\f\n\r\t", r"w\u00c3\u00bc\u005c", r"\u20ac\u07ff\ud83d\ude00",
                 r"\ud83d\u0041", r"\ude00", r"\u12g4", r"\a"):
        yield line.replace("eth0", text).encode()
    yield json.dumps({"more": "x", **event, "time_ns": 2**63 - 1, "serial": 2**64 - 1}, separators=(" ,\t", "\r: ")).encode()
    yield json.dumps({**event, "time_ns": 2**63, "serial": 2**64}).encode()
    yield from (b"{}", b"", line.encode()[:-1], b'{"sensor": 1}', b'{"time_ns": "1"}')


def dissect():
    """Every shape and radiotap header, and the first frames of the captures of 802.11."""
    whole = [(linktype, frame) for _, linktype, frame in shapes.whole()]
    whole += [(127, made.bytes) for made in radiotaps.every()]
    whole += [(frame.linktype, frame.data) for folder in ("dot11-other", "radiotap") for path in captures.OWN.folder(folder)
              for frame in itertools.islice(captures.frames(path), 40)]
    return [struct.pack("<BHH", LINKTYPES_PRINTED.index(linktype), n % 3, n * 7) + frame[:400]
            for n, (linktype, frame) in enumerate(whole)]


def combo():
    """Each radiotap header, and an Ethernet frame of each wired capture, three times, with changed
    bytes: fuzz_combo.c's third way."""
    frames = [(0, (h.bytes + radiotaps.FRAMES["beacon"].bytes)[:600]) for h in radiotaps.HEADS.values()]
    frames += [(1, next(captures.frames(path)).data[:200]) for path in captures.OWN.folder("wired")]
    for is_wired, frame in frames:
        first = struct.pack("<BHB", 8, len(frame), 128) + frame
        yield (struct.pack("<BHB", 2, 8192, is_wired) + first + bytes([0, 1, 9, 0x5a]) +
               bytes([0, 1, 30, 0xff]) + bytes([0, 1 + 8, 40, 0xff]))


def puts():
    """wire/put.h"""
    name = struct.pack(">BBHIQQQQ", 1, 1, 7, 100, 1 << 63, 5, 500, 0xABCDEF)
    def message(topic=0, key=b"room-1", header=name, value=b"value"):
        return struct.pack(">BQBQBB", 1, 9, topic, 1_700_000_000_000, len(key), len(header)) + key + header + value
    hello = struct.pack(">BIBB", 0, 0x534C4B49, 1, 0)
    return [message(), message(1, b"room-1/0123456789abcdef", b"", b"boot=1\n"), message(2, header=b""), message(3),
            message(key=b"k" * 65), message(value=b""), message()[:40], message(header=name + b"more"), name,
            name.replace(b"\1\1", b"\1\2", 1), name.replace(b"\1\1", b"\1\3", 1), b"\2" + name[1:], name[:39], b"",
            hello, hello[:-1] + b"\1", hello[:5] + b"\2\0", hello[:6], b"\2" + bytes(16), b"\3" + bytes(8) + b"why"]


def totals():
    message = bytes([2, 17]) + bytes(range(15)) + b"\1\0"
    big = bytes([2, 17]) + b"\xff\xff\x7f" * 17
    huge = bytes([2, 17]) + b"\0" * 4 + b"\xff" * 8 + b"\x7f" + b"\0" * 10 + b"\1\5"
    step = {m: b"\0" + bytes([len(m)]) + m for m in (message, big, huge)}
    apart = [message + bytes([n, f]) + bytes(range(n * f % 128)) for n, f in
             ((1, 5), (8, 5), (2, 1), (9, 6), (200, 0), (0, 3))]
    return [*apart, step[message] + b"\4" + b"\x0d" + step[big], message, big, step[huge] + b"\x0b\1",
            step[big] + b"\1\5\0\2\3\1\1\5\0\4",
            step[message] + b"\x09\5\0\x0a\x13\2\1\7\0\2"]


def readings():
    steady = [sc.Reading(86400 * 10**9 + n * 10**8, 10**18, -5 * n) for n in range(sc.READINGS_MAX + 1)]
    return [sc.readings_write(steady[:n]) for n in (1, 2, sc.READINGS_MAX, sc.READINGS_MAX + 1)] + [
        sc.readings_write([sc.Reading(2**64 - 1, 2**63 - 1, -2**63), sc.Reading(5, -2**63, 2**63 - 1), steady[0]]),
        sc.progress_write(sc.Progress(70000, 10**18, -5000, 10**6))]


def info():
    """Text, and structures filled to their last byte."""
    lines = (b"application=saluki 1\nos=Linux\nexported=5\nchange=2\ninterface.0=mon0\n"
             b"source.0=xdp native\nsnaplen.0=192\nkeep.0=headers\nfilter.0=port 53\n")
    eight = b"".join(b"interface.%d=eth%d\nfilter.%d=%s\n" % (n, n, n, b"f" * 40 * n)
                     for n in range(8))
    size = 64 + 128 + 8 + 8 + 8 + 8 * (64 + 32 + 16 + 256 + 4)
    full = b"x" * 192 + b"\xff" * 16 + struct.pack("<II", 8, 0) + b"y" * size
    return [b"\0" + lines, b"\0" + eight, b"\0" + lines[:-5] + b"\xff=\0\n=\n\nsnaplen.7=x",
            b"\0filter.0=a\nfilter.0=\ninterface.8=x\ninterface.=x\nexported=9" + b"9" * 30,
            b"\1" + full[:size], b"\1" + full[:300], b"\1" + b"\0" * 208 + b"\3\0\0\0"]


def reassemble():
    def piece(combo, total, n):
        return struct.pack("<BbH", 3 | n << 4, combo, total)
    return [piece(0, 3000, 0) + piece(0, 3000, 2) + piece(0, 3000, 1),
            piece(1, 100, 0) + piece(0, 100, 0) + piece(0, 100, 0),
            piece(0, 3000, 1) + b"\7\0\0\0" + piece(0, 2000, 0) + piece(0, 2000, 1),
            piece(70, 100, 0) + piece(3, 3000, 0) + struct.pack("<BbHH", 1, 0, 0, 300)]


def source():
    """Steps: kind, and sensor, run and count. Runs in any order, with everything that comes between them."""
    combo, both = 8, [sensor | run << 1 for sensor in range(2) for run in range(2)]
    between = b"".join(bytes([kind, kind * 37]) for kind in (2, 7, 4, 5, 4, 6, 3))
    backwards = b"".join(bytes([combo | n % 2 << 4, n << 2 | which]) for which in both for n in reversed(range(16)))
    turns = b"".join(bytes([combo, n << 2 | which]) + between for n in range(16) for which in both)
    wrong = b"".join(bytes([0, n << 2, n % 4]) + b"\1" * 8 + bytes([combo, n << 2]) for n in range(16))
    return [backwards, turns, wrong, b"\1\0\x16" + b"\1" * 22 + turns[::-1]]


def answer():
    receipt = b"\1\x0a" + b"\3" + b"\0" * 8 + b"\1"
    return [b"\3\0\0\2" + receipt + b"\4\3\xff\xff\3\xff\xff\2\2",
            b"\3\0\0\0" + struct.pack("<H", 55) + b"\2" * 55 + b"\2\0" + b"\4\0\3aaa"]


def tryst():
    """Steps: kind, variant, a number of 2 bytes, and a count."""
    hello = bytes(range(32)) + b"\0" * 21 + b"\0\4info" + b"\0" * 20
    short = struct.pack("<BBH", 0, 0, 95) + bytes(95)
    return [struct.pack("<BBH", 1, 0, len(hello)) + hello + struct.pack("<BBH", 2, 0, 47) + bytes(range(47)),
            short + b"".join(struct.pack("<BBH", 3, 1 << n % 8, 9 * n) for n in range(16)),
            b"".join(struct.pack("<BBHH", 4, n % 3, 400 * n, 11 * n) for n in range(8)),
            struct.pack("<BBH", 2, 0, 47) + b"\0" * 47 + struct.pack("<BBH", 1, 0, 55) + b"\0" * 55]


def shroud():
    """Steps: kind, distance from the highest number, a message."""
    return [b"".join(bytes([0x40, n, 5]) for n in (1, 1, 3, 255, 60, 254, 64, 193)),
            b"".join(bytes([0x14 | n & 3, 30, 0x80 | n, 0, 3]) for n in range(20)),
            b"".join(bytes([0x48 | n, 1, 1]) for n in range(32)),
            b"".join(bytes([0x47, 7, 1]) for n in range(70))]


def datagram():
    info = (b"interface.0=mon0\nsnaplen.0=192\nexported=5\nkeep.0=all\nos=x\nfilter.0=y\n"
            b"source.0=xdp\n")
    change = b"\4change=2\n" + info.replace(b"=y", b"=z")
    frame = b"\1\x14" + b"abcdefghijklmnopqrst"
    frames = b"\1" + frame * 2
    begin, unlisted, impostor = (struct.pack("<BBH", 5 | who << 5, 3, len(info)) + info
                                 for who in range(3))
    def sealed(message):
        return b"\1" + struct.pack("<H", len(message)) + message

    steps = [b"\x09" + frames + b"\x0a\x04" + frames + b"\x2b\x08\1\0", begin + b"\x04" + frames,
             b"\x09" + frames + b"\x08\xff\0\x0d\x09" + frames + b"\x08\xff\0",
             b"\x0c\x50\0\5\2\1\1\1\1", (b"\x09\7" + (b"\1\xff" + b"z" * 255) * 8) * 2,
             unlisted, impostor, begin + b"\6" + b"\x2b\x08\1\0" + begin,
             b"\x02\0\0\xb8\x0b\x02\0\1\xb8\x0b\x02\0\2\xb8\x0b\x08\xff\0",
             b"\x02\5\0\x64\0\x08\xff\0\x04" + frames, b"\0\x1d\0\3" + b"\0" * 28,
             b"\0\xa1\0\1" + b"\0" * 160, b"\7\5\0\4" + frames + b"\7\xf0\xff\4" + frames,
             b"\1\2\0\2\0" + b"\1\x0a\0\1\0\0\0\0\0\0\2xx",
             begin + b"\4" + frames + b"\1" + struct.pack("<H", len(change)) + change + b"\4" + frames,
             *(b"\x09" + frames + bytes([14 | how << 4]) + b"\x09" + frames for how in range(16)),
             b"\x09" + frames + b"\x0f\x09" + frames + b"\x2f\x04" + frames + b"\x0f\x0f\x09" + frames,
             b"\x04" + frames + sealed(b"\x0a" + struct.pack(">QQ", 5, 9)) + b"\x04" + frames,
             b"".join(sealed(m) for m in (
                 b"\5" + b"\0" * 7 + b"\1", b"\6" + b"t" * 8, b"\7" + b"c" * 8, b"\x08" + b"\0" * 32,
                 b"\x09" + b"\0" * 8 + b"\0done", b"\x86\0\3", b"\x86\0\xff", b"\x55", b"\x08"))]
    return [rotate + s for s in steps for rotate in (b"\0", b"\1")]



def datagram_kept():
    """A sensor that changes address, and sends fewer bytes each time than an ACK has. Spools: the
    honest one's, which are renewed; the bad one's, with records of other names or altered ones."""
    frames = b"\1\1\x14abcdefghijklmnopqrst\1\x14abcdefghijklmnopqrst"
    spooled, altered, plain = (struct.pack("<BBH", 5, how, 4) + b"os=x" for how in (6, 14, 6))
    kept = {"moves": b"\0" + (b"\1\1\0\5\x11\1\0\5" + b"\x08\x1e\0") * 20}
    for how in (8, 9, 10, 11):
        turn = bytes([14 | how << 4])
        kept[f"forwards-{how}"] = b"\0" + (b"\x09" + frames + turn + b"\x09" + frames + b"\x0f\x09" + frames) * 3
    for n, name in enumerate(((0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 9, 1), (0, 0, 79, 1))):
        for bad, spool in (("", spooled), ("-key", altered)):
            records = b"\x23" + bytes(name) + b"\x14\0" + bytes(20) + b"\x23" + bytes(name) + b"\0\0" + frames
            kept[f"record-{n}{bad}"] = b"\0" + (spool + b"\4" + frames + b"\x23" + bytes(name) + b"\0\0" + frames +
                                                 records + plain + b"\4" + frames)
    return kept


def files():
    """The start options, then: descriptors given, length, request."""
    names = b"".join(b"\0\2\x09%c" % len(n) + n for n in (
        b"worm", b"w-2", b"../x", b"", b"x" * 31, b"worm", b"a/b", b".", b"a\0b"))
    return [bytes([how]) + b"\0\1\1" * 3 + b"\0\1\2\0\1\3\0\1\2\0\1\3\4\1\1" + names + b"\0\3\1\1\1"
            for how in range(32)]


def filters():
    """Frames of 0 to 60 bytes, and `tcpdump -ddd` output with all kinds of instructions."""
    frame = shapes.ETHERNET["ipv4 tcp"][:60]
    codes = [
        b"4\n40 0 0 12\n21 0 1 2048\n6 0 0 262144\n6 0 0 0\n",
        b"1\r\n6 0 0 1\r\n", b"2\n40 0 0 4294963248\n22 0 0 0\n",
        b"6\n177 0 0 14\n72 0 0 16\n21 1 0 80\n6 0 0 0\n128 0 0 0\n22 0 0 0\n",
        b"8\n0 0 0 5\n2 0 0 3\n97 0 0 3\n12 0 0 0\n61 0 0 0\n5 0 0 0\n45 0 0 2\n22 0 0 0\n",
        b"9\n48 0 0 10\n7 0 0 0\n135 0 0 0\n132 0 0 0\n100 0 0 3\n108 0 0 0\n68 0 0 1\n69 0 0 1\n"
        b"22 0 0 0\n",
        b"3\n32 0 0 13\n53 0 0 5\n6 0 0 0\n", b"2\n5 0 0 4294967290\n6 0 0 0\n"]
    return [bytes([n]) + frame[:n] + c for c in codes for n in (0, 17, 60)]


def spool():
    """Combos; a second segment, and one without an info; an info between them."""
    info = b"\1\3" + bytes(20) + struct.pack("<H", 14) + b"interface.0=b\n"
    return b"\0\0\0", b"\0\0\2\1\1\0\0\0", b"\0\2\x81\1\0\0\0", b"\0" + info + b"\0" + info + b"\0\0"


def policies():
    entries = (b"Key = " + key(3) + b"\nInterface = mon*, eth0\nHelper = map_lookup_elem, ktime_get_ns\n"
               b"Map = array, lru_hash\nMapMemory = 256K\nInstructions = 2000\nEvents = 1M\nPriority = 50\n")
    show = b"Show = radiotap, mac hashed, ssid, ip prefix, ports, payload 64, label\n"
    keys_ = b"[Keys]\nAnonymise = /a\nTrajectory = /t\n"
    return [b"[Module count]\n" + entries + show + keys_, b"[module *] # all\r\n" + entries + b"\n\n[Module x]\n" + entries,
            keys_ + b"[Module x]\n" + show + show, entries, b"[Module x]\n" + entries + entries,
            b"[Module x]\nProof = kernel\n", b"[Module x]\nproof=saluki # a\nProof = x\n",
            b"[Module x]\nShow = payload 129\n", b"[Module x]\nShow = ip prefix x\n", b"[Bark]\n",
            b"[Module x]\nHelper = loop\n", b"[Module x]\nMap = prog_array,\n", b"[Module x]\n\0"]


def signatures():
    good = (b"saluki module signature 1\nname count\nserial 7\ninterface 1\nobject " + b"ab" * 32 + b"\nkey " +
            key(7) + b"\nsignature " + base64.b64encode(bytes(64)) + b"\n")
    lines = good.splitlines(keepends=True)
    return [good, good[:-1], good.replace(b"7", b"07", 1), good.replace(b"\n", b"\r\n"),
            good.replace(b"count", b"co/nt"), *(b"".join(lines[:n] + lines[n + 1:]) for n in range(7))]


def modules():
    """Compiled ones that are small enough for a fuzzer."""
    root = pathlib.Path(__file__).resolve().parents[2] / "build"
    for o in sorted([*root.glob("modules/*.bpf.o"), *root.glob("tests/modules/*.bpf.o")]):
        if o.stat().st_size <= 4096:
            yield o.read_bytes()


def programs():
    """Instructions of modules. Their maps are numbered in order: libbpf has not processed them
    yet."""
    root = pathlib.Path(__file__).resolve().parents[2] / "build"
    for o in sorted([*root.glob("modules/*.o"), *root.glob("tests/modules/*.bpf.o")]):
        with tempfile.NamedTemporaryFile() as out:
            subprocess.run(["llvm-objcopy", "-O", "binary", "--only-section=.text", o, out.name], check=True)
            text = bytearray(pathlib.Path(out.name).read_bytes())
        places = [n for n in range(0, len(text), 8) if text[n] == 0x18]
        for which, n in enumerate(places):
            text[n:n + 16] = bytes([0x18, text[n + 1] & 15 | 1 << 4, 0, 0, which % 5] + [0] * 11)
        if 0 < len(text) <= 4096:
            yield bytes(text)


def live():
    """A ring with two sensors' combos and the table behind it, read from the oldest record and from the head, and
    with each number changed meanwhile."""
    def sized(data):
        return struct.pack("<H", len(data)) + data

    def interface(name, linktype):
        return block("<", 1, struct.pack("<HHIHH", linktype, 0, 0, 2, len(name)) + name.ljust(8, b"\0") + b"\0" * 4)

    def record(sensor, before, offset, frames):
        name = struct.pack("<HH", 19373, 34) + struct.pack(">LQQQLH", 32473, 1, 0, 0, len(frames), 1) + b"\0" * 6
        blocks = b"".join(block("<", 6, struct.pack("<IIIII", offset, 1, 2, 48, f.orig_len) + f.data[:48] +
                                (name if n == 0 else b"")) for n, f in enumerate(frames))
        blocks += block("<", 5, struct.pack("<III", offset, 1, 2)) + block("<", 0xbad, b"\0\0\x7e\xd9")
        size = 32 + len(blocks)
        return struct.pack("<IIIIIIQ", size + -size % 8, len(blocks), sensor, 0, len(frames), 0, before) + blocks + (
            b"\0" * (-size % 8))

    first = interface(b"lib:w0", 127)
    half = first + interface(b"two:e0", 1)
    sensors_ = b"".join(struct.pack("<32s32sQII", name, group, 9, n, 1)
                        for n, (name, group) in enumerate(((b"lib", b""), (b"two", b"g"), (b"r", b"g"))))
    ring = record(0, 0, 0, some_frames()) + record(1, 0, len(first), some_frames()) + record(
        0, 7, 0, some_frames()[:1]) + record(2, 3, 0, some_frames()[:1])
    steps = b"\x01" + b"\x00".join(bytes([n]) for n in range(8)) * 3
    for chosen in range(3):
        for channels in range(2):
            for floor in (0, 100):
                yield bytes([chosen, channels]) + struct.pack("<HHB", len(ring), floor, 0) + sized(half) + sized(
                    half) + sized(b"") + sized(sensors_) + sized(ring) + steps[chosen % 2:]


def http():
    head = b"GET /metrics HTTP/1.1\r\nHost: localhost:5680\r\n"
    yield head + b"\r\n"
    yield head + b"\r\n" + head + b"\r\n"
    for path in ("", "page.js", "api/fleet.json", "api/sensor/lib.json", "api/sensor/no.json", "api/channels.json?group=g",
                 "api/channels.json?group", "api/sensor/.json", "%00", "no"):
        yield f"GET /{path} HTTP/1.1\r\nHost: [::1]\r\n\r\n".encode()
    for more in (b"Content-Length: 3\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                 b'If-None-Match: "0-9"\r\n\r\n', b"Host: evil\r\n\r\n", b"Expect: 100-continue\r\n\r\n"):
        yield head + more
    yield b"HEAD / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n"
    yield b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    yield b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"


def consumers():
    line = (b'{"sensor": "r\\u00ff-1", "interface": "eth0", "module": "count", "serial": 3, "time_ns": 17, '
            b'"direction": "out", "data": "0a0B", "id": "0000000000000001-7-0"}')
    return [line, line.replace(b'"id"', b'"x": {"y": [1, "}"], "z": null}, "id"'), line[:90], b"{}",
            line.replace(b"0a0B", b"00" * 65), line.replace(b" ", b""), line.replace(b"17", b"9" * 40),
            line.replace(b"count", b"a" * 40), line.replace(b"ff-1", b"g"), line.replace(b"out", b"\\n")]


def merged(data):
    """What saluki-merge makes of a capture; with --all after it."""
    program = pathlib.Path(__file__).resolve().parents[2] / "build/saluki-merge"
    with tempfile.TemporaryDirectory() as folder:
        capture = pathlib.Path(folder) / "capture.pcapng"
        capture.write_bytes(data)
        return [subprocess.run([program, "-q", *options, capture], stdout=subprocess.PIPE, check=True).stdout
                for options in ((), ("--all",))]


def merges():
    """By harness: the beginning of simulated captures, frames of them, and their traces."""
    from merge import sim
    parameters = {"seconds": 1.5, "aps": 2, "stas": 3, "bad": .2}
    many = {"sensors": 2, "readings": True, "ahead": True, "tsft": .5, **parameters}
    data = [b"".join(data for _, data in sim.simulate(**kind).stream())[:4000]
            for kind in (many, {"sensors": 1, "dual": 0., **parameters}, {"sensors": 3, "dual": 0., **parameters})]
    frames = [frame.data for one in data for _, frame in captures._pcapng(whole_blocks(one))]
    floors = b"".join(data for _, data in sim.simulate(sensors=4, floors=4, dual=0., **parameters).stream())[:4000]
    slices = [bytes([how]) + floors for how in (4, 6)]
    return {"merge": [bytes([how]) + one for one in data for how in range(4)] + slices,
            "merge_blocks": [*data, *pcap_read()],
            "merge_trace": [trace[-4000:] if n % 2 else trace[:4000] for n, one in enumerate(data) for trace in merged(one)],
            "identity": [bytes([n % 3, 0]) + frame for n, frame in enumerate(frames)]}


def archives():
    """By harness: small captures of a collector and unified traces, and indexes of such."""
    from keep import made
    frames = made.bundled()
    event = json.dumps({"sensor": "lib", "interface": "eth0", "module": "worm", "serial": 3, "time_ns": made.START_NS,
                        "direction": "in", "data": "0a0b0c", "id": "a-4-46"}).encode()
    dwell = "channel 36/80 (5180 MHz, width 80, center 5210), switch 35000 ns, marked 2, up 8640 ns, error 16: busy"
    times = [made.option(code, struct.pack("<II", made.START_NS >> 32, made.START_NS & 0xffffffff)) for code in (2, 3)]
    more = [made.block(made.CUSTOM, struct.pack("<I", made.ENTERPRISE) + struct.pack(">I", len(event)) + event
                       + bytes(-len(event) % 4)),
            made.block(made.STATISTICS, struct.pack("<III", 0, 1, 2), [*times, made.option(1, dwell)])]
    whole = [made.Capture(sensors=("a", "b")).add(frames[:12]).add(frames[3:6], on=1).bytes() + b"".join(more),
             made.Capture(linktype=1).add(frames[:5]).bytes(), made.Capture().bytes()]
    with tempfile.TemporaryDirectory() as folder:
        for n, data in enumerate([*whole, made.Capture(sensors=("a", "b")).add(frames * 3).bytes()]):
            pathlib.Path(folder, f"f-{n}.pcapng").write_bytes(data)
        made.keep("--once", "--finished", "--compress", "none", folder)
        indexes = [path.read_bytes() for path in sorted(pathlib.Path(folder).glob("*.idx"))]
    traces = [trace[:6000] for one in merges()["merge_blocks"][:3] for trace in merged(one)]
    return {"index": indexes, "walk": [bytes([tables]) + one for one in [*whole, *traces] for tables in (0, 1)]}


def parquet():
    """Pairs of Parquet files: with and without rows, of one schema and of two."""
    program = pathlib.Path(__file__).resolve().parents[2] / "build/tests/parquet_write"
    columns = "column t 2 1 0 0 column a 6 0 1 1 ", "column a 1 3 1 0 pair x y "
    group = "group 2 0 all 5 6 some 1 0 0 0 texts 1 61 "
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for text in (columns[0], columns[0] + group + "pair sources one", columns[0] + 3 * group + "pair x 1 pair sources 2",
                     columns[1], columns[1] + "group 1 0 all 7 group 3 0 some 0 0 0 1 1 1"):
            subprocess.run([program, f"{folder}/file"], input=text.encode(), check=True)
            made.append(pathlib.Path(folder, "file").read_bytes())
    pairs = [*zip(made, made), (made[0], made[1]), (made[1], made[2]), (made[1], made[4]), (made[1][:-20], made[2])]
    return [struct.pack("<H", len(a)) + a + b for a, b in pairs]


def whole_blocks(data):
    at = 0
    while at + 8 <= len(data) and at + int.from_bytes(data[at + 4:at + 8], "little") <= len(data):
        at += int.from_bytes(data[at + 4:at + 8], "little")
    return data[:at]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    made = {"keys": keys(), "sensors": sensors(), "config": configs(),
            "pcap_read": pcap_read(), "parse": parse(), "print": print_seeds(), "dissect": dissect(),
            "pseudonym": pseudonyms(), "event_line": event_lines(),
            "pcapng": pcapng_tails(), "totals": totals(), "put": puts(), "readings": readings(),
            "reassemble": reassemble(), "source": source(),
            "info": info(), "tryst": tryst(), "shroud": shroud(), "filter": filters(), "answer": answer(),
            "files": files(), "datagram": datagram(), "combo": combo(),
            "decompress": (), "spool": spool(), "policy": policies(), "signature": signatures(), "consumer": consumers(),
            "live": live(), "http": http(), "parquet": parquet(),
            "module": modules(), "flow": programs(), **archives(), **merges()}
    shutil.rmtree(folder, ignore_errors=True)
    for harness, seeds in made.items():
        (folder / harness).mkdir(parents=True)
        for n, seed in enumerate(seeds):
            (folder / harness / f"hand-{n}").write_bytes(seed)
    for name, seed in datagram_kept().items():
        (folder / "datagram" / f"keep-{name}").write_bytes(seed)
    traces = []
    wired = captures.OWN.folder("wired")
    encrypted = [path for path in wired if path.name.startswith("secure")]
    for n, path in enumerate([captures.BUNDLED, *wired[::8], *encrypted]):
        traces.append(folder / f"trace-{n}.pcap")
        traces[-1].write_bytes(captures.file_bytes(path))
    subprocess.run([program, folder, *traces], check=True)
    for trace in traces:
        trace.unlink()


main()
