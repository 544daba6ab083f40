# SPDX-License-Identifier: GPL-2.0
"""saluki-keep find --pseudonyms: no address and no SSID of a capture is in the output, and their relations are."""
import base64
import collections
import contextlib
import itertools
import re
import struct
import subprocess

import pytest

from keep.pseudonyms import Pseudonyms, permute, stays, unpermute
from netns.testbed import BUILD
from reference import captures, radiotaps

PROGRAM = BUILD / "saluki-keep"
FOLDERS = ("malformed", "radiotap", "dot11-other", "wired", "hwsim")
EACH = 40  # frames of a file
KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
ETHERNET, DOT11, RADIOTAP = 1, 105, 127
SIMULATED = re.compile(rb"[\x02\x42]\0\0\0[\0-\xff]\0")  # addresses of hwsim, which any zeros look like
SSID_LEAST = 4  # shorter ones are anywhere by chance


# ---- files -----------------------------------------------------------------------------------------


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def block(kind, body):
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def section():
    return block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1) + option(4, b"saluki-collector 0.1.0"))


def interface(linktype, *options):
    return block(1, struct.pack("<HHI", linktype, 0, 0) + option(9, b"\x09") + b"".join(options))


def packet(number, frame, *options):
    head = struct.pack("<IIIII", number, frame.time_ns >> 32, frame.time_ns & 2**32 - 1, len(frame.data), frame.orig_len)
    return block(6, head + frame.data + bytes(-len(frame.data) % 4) + b"".join(options))


def pcapng(frames):
    """A collector's file with an interface for each link type."""
    numbers = {}
    out = [section()]
    for frame in frames:
        if frame.linktype not in numbers:
            numbers[frame.linktype] = len(numbers)
            out.append(interface(frame.linktype, option(2, b"lab:if%d" % frame.linktype)))
        out.append(packet(numbers[frame.linktype], frame))
    return b"".join(out)


def frame(data, linktype=DOT11, time_ns=1, orig_len=None):
    return captures.Frame(time_ns, orig_len or len(data), linktype, data)


@pytest.fixture(name="keys")
def fixture_keys(tmp_path):
    return key_files(tmp_path)


def key_files(folder):
    for name, key in (("key", KEY), ("other", OTHER_KEY)):
        path = folder / name
        path.touch(0o600)
        path.write_bytes(base64.b64encode(key) + b"\n")
    return folder / "key", folder / "other"


def find(folder, key, *options, status=0):
    """Standard output and standard error."""
    done = subprocess.run([PROGRAM, "find", "--pseudonyms", key, "-w", "-", *options, folder], capture_output=True,
                          timeout=120, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr.decode()


def write(tmp_path, data):
    (tmp_path / "in").mkdir(exist_ok=True)
    (tmp_path / "in/a.pcapng").write_bytes(data)
    return tmp_path / "in"


def written(tmp_path, key, frames):
    """The frames with pseudonyms."""
    (tmp_path / "out.pcapng").write_bytes(find(write(tmp_path, pcapng(frames)), key, "-q")[0])
    return list(captures.frames(tmp_path / "out.pcapng"))


def tshark(path, names):
    """For each frame, name -> values."""
    words = [word for name in names for word in ("-e", name)]
    done = subprocess.run(["tshark", "-n", "-r", path, "-o", "wlan.ignore_wep:No", "-T", "fields", "-E", "separator=/t",
                           "-E", "aggregator=|", *words], capture_output=True, text=True, check=True,
                          errors="surrogateescape")
    rows = done.stdout.split("\n")[:-1]
    return [dict(zip(names, (v.split("|") if v else [] for v in row.split("\t")), strict=True)) for row in rows]


def address_fields():
    text = subprocess.run(["tshark", "-G", "fields"], capture_output=True, text=True, check=True).stdout
    rows = (line.split("\t") for line in text.splitlines())
    return sorted({row[2] for row in rows if row[0] == "F" and row[3] == "FT_ETHER"})


# ---- all captures ----------------------------------------------------------------------------------


def simulated(match):
    """Another address in place of a simulated one, so that a search for it means something."""
    return bytes([match[0][0], 0x5e, 0x91, 0xc7, match[0][4], 0xb3])


def radio_len(f):
    """Bytes of a radiotap header."""
    return struct.unpack_from("<H", f.data, 2)[0] if f.linktype == RADIOTAP and len(f.data) >= 4 else 0


def sample(path):
    rows = []
    with contextlib.suppress(captures.Corrupt, struct.error, IndexError, UnicodeDecodeError):
        rows.extend(itertools.islice(captures.frames(path), EACH))
    for row in rows:
        head = radio_len(row) if path.parent.name == "hwsim" else len(row.data)
        yield row._replace(data=row.data[:head] + SIMULATED.sub(simulated, row.data[head:]))


class Written:
    """Frames of all captures, and what find --pseudonyms made of them; what tshark reads in both."""

    def __init__(self, folder, traces):
        self.frames = [f._replace(time_ns=n) for n, f in enumerate(
            f for name in FOLDERS for path in traces.folder(name) for f in sample(path))]
        self.keys = key_files(folder)
        self.folder = write(folder, pcapng(self.frames))
        self.bytes, self.said = find(self.folder, self.keys[0])
        (folder / "out.pcapng").write_bytes(self.bytes)
        self.out = list(captures.frames(folder / "out.pcapng"))
        self.ethers = address_fields()
        names = [*self.ethers, "_ws.malformed"]
        self.seen = tshark(self.folder / "a.pcapng", names)
        self.seen_out = tshark(folder / "out.pcapng", names)
        assert len(self.seen) == len(self.frames) and len(self.seen_out) == len(self.out)

    def addresses(self):
        """All that are to be replaced."""
        found = {bytes.fromhex(v.replace(":", "")) for row in self.seen for name in self.ethers for v in row[name]}
        found |= {a for f in self.frames for a in header_addresses(f)}
        return {a for a in found if not stays(a)}

    def ssids(self):
        return {ssid for f in self.frames for _, ssid in ssid_elements(f)}


def header_addresses(f):
    """Addresses by their place, where the capture header tells it."""
    if f.linktype == ETHERNET and len(f.data) >= 12:
        yield from (f.data[:6], f.data[6:12])
    at = radio_len(f) if f.linktype in (DOT11, RADIOTAP) else len(f.data)
    if at + 24 <= len(f.data) and f.data[at] & 0x0f in (0, 8):
        yield from (f.data[at + n:at + n + 6] for n in (4, 10, 16))


FIXED = {0: 4, 2: 10, 4: 0, 5: 12, 8: 12}  # bytes before the elements, by the subtype


def ssid_elements(f):
    """(offset, SSID) of a management frame."""
    at = radio_len(f) if f.linktype in (DOT11, RADIOTAP) else len(f.data)
    if at + 24 > len(f.data) or f.data[at] & 15 or f.data[at] >> 4 not in FIXED or f.data[at + 1] & 0x40:
        return
    end = len(f.data)
    at += 24 + (4 if f.data[at + 1] & 0x80 else 0) + FIXED[f.data[at] >> 4]
    while at + 2 <= end and at + 2 + f.data[at + 1] <= end:
        if f.data[at] == 0:
            yield at + 2, f.data[at + 2:at + 2 + f.data[at + 1]]
        at += 2 + f.data[at + 1]


_written = {}


@pytest.fixture(name="run")
def fixture_run(tmp_path_factory, traces):
    if traces.name not in _written:
        _written[traces.name] = Written(tmp_path_factory.mktemp("pseudonyms"), traces)
    return _written[traces.name]


def windows(data, size):
    return {data[n:n + size] for n in range(len(data) - size + 1)}


def test_no_address_is_left(run):
    """As bytes anywhere, and in tshark's fields. Addresses like 00:00:00:00:01:00 are in other fields by chance."""
    addresses = run.addresses()
    sought = {a for a in addresses if len(set(a)) > 3}
    assert len(sought) > 100
    for n, f in enumerate(run.out):
        left = windows(f.data[radio_len(f):], 6) & sought  # made capture headers count upwards
        assert not left, (n, left, f)
    eui64 = {bytes([a[0] ^ 2]) + a[1:3] + b"\xff\xfe" + a[3:] for a in addresses}
    assert not {m[1] for m in re.finditer(rb"(?s)(?=(...\xff\xfe...))", run.bytes)} & eui64
    for n, row in enumerate(run.seen_out):
        left = {v for name in run.ethers for v in row[name]}
        assert not {bytes.fromhex(v.replace(":", "")) for v in left} & sought, (n, row)


def test_no_ssid_is_left(run):
    ssids = {s for s in run.ssids() if len(s) >= SSID_LEAST and len(set(s)) > 3}
    assert len(ssids) > 10
    assert not {s for s in ssids if s in run.bytes}


def test_what_tshark_reads_are_the_pseudonyms(run):
    """So who sends to whom is the same."""
    names, compared = Pseudonyms(KEY), collections.Counter()
    for n, (row, out) in enumerate(zip(run.seen, run.seen_out, strict=True)):
        for field in ("wlan.ra", "wlan.ta", "wlan.sa", "wlan.da", "wlan.bssid", "eth.src", "eth.dst"):
            if not row[field] or not out[field]:
                continue
            real = bytes.fromhex(row[field][0].replace(":", ""))
            assert out[field][0].replace(":", "") == names.address(real).hex(), (n, field, row, out)
            compared[field] += 1
    for f, out in zip(run.frames, run.out, strict=True):
        for at, ssid in ssid_elements(f):
            if at + len(ssid) <= len(out.data):
                assert out.data[at:at + len(ssid)] == (names.ssid(ssid) if len(ssid) <= 32 else bytes(len(ssid))), f
                compared["ssid"] += 1
    assert all(compared[f] > 100 for f in ("wlan.ra", "wlan.ta", "ssid", "eth.src")), compared
    lost = [row for row, out in zip(run.seen, run.seen_out, strict=True) if row["wlan.ta"] and not out["wlan.ta"]]
    assert len(lost) < len(run.frames) / 50, lost


def test_frames_remain(run):
    """Count, times and lengths; a frame is never longer, and tshark finds no new fault."""
    assert [(f.time_ns, f.orig_len, f.linktype) for f in run.out] == [
        (f.time_ns, f.orig_len, f.linktype) for f in run.frames]
    assert all(len(o.data) <= len(f.data) for o, f in zip(run.out, run.frames, strict=True))
    worse = [n for n, (row, out) in enumerate(zip(run.seen, run.seen_out, strict=True))
             if out["_ws.malformed"] and not row["_ws.malformed"]]
    assert not worse, worse
    assert "addresses and" in run.said and "SSIDs replaced" in run.said


def test_the_key_decides(run):
    assert find(run.folder, run.keys[0], "-q")[0] == run.bytes
    other = find(run.folder, run.keys[1], "-q")[0]
    assert other != run.bytes and len(other) == len(run.bytes)


# ---- the permutation -------------------------------------------------------------------------------


def test_it_is_a_permutation():
    """Each number of a smaller domain once, and the way back."""
    key = bytes(range(16))
    for local in (0, 1):
        assert sorted(permute(key, local, x, 4) for x in range(256)) == list(range(256))
        assert all(unpermute(key, local, permute(key, local, x, 4), 4) == x for x in range(256))
    names = Pseudonyms(KEY)
    for n in range(500):
        address = bytes([n % 256]) + n.to_bytes(5, "big")
        assert names.original(names.address(address)) == address


def ack(address):
    return b"\xd4\0\0\0" + address


def test_bits_and_addresses_that_stay(tmp_path, keys):
    """Group and local bit; broadcast, zeros and protocols' groups. Other groups do not stay."""
    stay = [bytes(6), b"\xff" * 6, b"\x01\x80\xc2\0\0\x0e", b"\x33\x33\0\0\0\xfb", b"\x01\0\x5e\0\0\xfb"]
    others = [bytes([first]) + b"\x11\x22\x33\x44\x55" for first in range(256)]
    others += [b"\x33\x33\xff\x12\x34\x56", b"\x01\0\x5e\x7f\xff\xfa", b"\x33\x33\0\1\0\2", b"\0\0\0\0\0\1"]
    out = [f.data for f in written(tmp_path, keys[0], [frame(ack(a)) for a in stay + others])]
    assert [d[4:] for d in out[:len(stay)]] == stay
    names = Pseudonyms(KEY)
    for real, data in zip(others, out[len(stay):], strict=True):
        assert data[4:] == names.address(real) != real and data[4] & 3 == real[0] & 3
    assert len({d[4:] for d in out}) == len(stay) + len(others)
    for first in range(0, 256, 2):  # a station that signals its bandwidth
        assert out[len(stay) + first + 1][4:] == bytes([out[len(stay) + first][4] | 1]) + out[len(stay) + first][5:]


# ---- single frames ---------------------------------------------------------------------------------

AP, STATION, THIRD = b"\x00\x13\xef\x8a\x2b\x01", b"\x5c\xf9\x38\x77\x66\x55", b"\x00\x25\x9c\x12\x34\x56"


def header(first, flags=0, addresses=(STATION, AP, AP)):
    return bytes([first, flags, 0, 0]) + b"".join(addresses) + b"\x50\x12"


def element(number, body):
    return bytes([number, len(body)]) + body


def beacon(*elements, timestamp=10**9):
    return header(0x80, addresses=(b"\xff" * 6, AP, AP)) + struct.pack("<QHH", timestamp, 100, 0x431) + b"".join(elements)


def test_a_beacon(tmp_path, keys):
    names = Pseudonyms(KEY)
    suites = struct.pack("<HI", 1, 0x04ac0f00)
    rsn = b"\1\0\0\x0f\xac\4" + suites + suites + b"\x0c\0"
    kept = [element(1, b"\x82\x84\x8b\x96"), element(3, b"\6"), element(48, rsn),
            element(221, b"\0\x50\xf2\2\1\1" + bytes(18)), element(45, bytes(range(26)))]
    named = [element(48, rsn + b"\1\0" + STATION * 2 + b"PMKI" + b"\0\x0f\xac\6"),
             element(221, b"\0\x50\xf2\4\x10\x11\0\4Anna"), element(52, STATION + bytes(7)), element(3, STATION),
             element(255, b"\x23" + STATION), element(114, b"a mesh"), element(221, b"\0\x17\xf2" + STATION)]
    name = element(0, b"Anna's iPhone")
    out = written(tmp_path, keys[0], [frame(beacon(name, *kept, *named, timestamp=t)) for t in (10**9, 10**9 + 102400)])
    data = out[0].data
    assert data[:24] == header(0x80, addresses=(b"\xff" * 6, names.address(AP), names.address(AP)))
    assert data[36:38] == b"\0\x0d" and data[38:51] == names.ssid(b"Anna's iPhone")
    at = 51 + sum(map(len, kept))
    assert data[51:at] == b"".join(kept)
    expected = [element(48, rsn + b"\1\0" + bytes(16) + b"\0\x0f\xac\6"), element(221, bytes(12)),
                element(52, bytes(13)), element(3, bytes(6)), element(255, b"\x23" + bytes(6)), element(114, bytes(6)),
                element(221, bytes(9))]
    assert data[at:] == b"".join(expected)
    times = [struct.unpack_from("<Q", f.data, 24)[0] for f in out]
    assert times == [(t + names.clock(AP)) % 2**64 for t in (10**9, 10**9 + 102400)]


@pytest.mark.parametrize("ssid", [b"", bytes(1), bytes(32)])
def test_a_hidden_ssid_stays(tmp_path, keys, ssid):
    data = beacon(element(0, ssid), element(3, b"\1"))
    assert written(tmp_path, keys[0], [frame(data)])[0].data[36:] == data[36:]


def test_where_frames_end(tmp_path, keys):
    """With addresses of their own, the bytes that are left of each kind of frame."""
    a, b, c, d = (Pseudonyms(KEY).address(x) for x in (STATION, AP, AP, THIRD))
    secret = STATION + AP + THIRD
    cases = [
        (header(0xd0) + b"\4\x0a" + secret, header(0xd0, addresses=(a, b, c)) + b"\4\x0a"),  # public action
        (header(0xd0, 0x40) + b"\1\0\0\x20\0\0\0\0" + secret, header(0xd0, 0x40, (a, b, c))),
        (header(0x40, 0x80) + element(0, b"home") + secret, header(0x40, 0x80, (a, b, c))),  # with HT control
        (header(0xb0) + b"\3\0\1\0\0\0" + secret, header(0xb0, addresses=(a, b, c)) + b"\3\0\1\0\0\0"),  # SAE
        (header(0x20) + b"\x31\4\x0a\0" + THIRD + element(0, b"home"),
         header(0x20, addresses=(a, b, c)) + b"\x31\4\x0a\0" + d + element(0, Pseudonyms(KEY).ssid(b"home"))),
        (header(0x60) + secret, header(0x60, addresses=(a, b, c))),  # timing advertisement
        (header(0x88, 3) + THIRD + b"\5\0" + secret, header(0x88, 3, (a, b, c)) + d + b"\5\0"),
        (header(0x88, 0x41) + b"\5\0" + b"\1\0\0\x20\0\0\0\0" + secret,
         header(0x88, 0x41, (a, b, c)) + b"\5\0" + b"\1\0\0\x20\0\0\0\0"),
        (header(0x08, 0x41) + b"\1\x21\3\x60" + bytes(4) + secret,
         header(0x08, 0x41, (a, b, c)) + b"\1\x21\3\x60" + bytes(4)),  # TKIP
        (header(0x08, 0x41) + b"\1\2\3\0" + secret, header(0x08, 0x41, (a, b, c))),  # WEP
        (header(0x88, 0x41) + b"\x85\0" + secret, header(0x88, 0x41, (a, b, c)) + b"\x85\0"),  # decrypted A-MSDU
        (header(0x88, 0x41) + b"\5\0" + secret, header(0x88, 0x41, (a, b, c)) + b"\5\0"),
        (header(0x88, 0x81) + b"\5\0htcc" + secret, header(0x88, 0x81, (a, b, c)) + b"\5\0htcc"),
        (header(0x08, 0x01) + secret, header(0x08, 0x01, (a, b, c))),
        (b"\xb4\0\5\0" + STATION + AP, b"\xb4\0\5\0" + a + b),
        (b"\x84\0\5\0" + STATION + AP + b"\5\0\x10\x20", b"\x84\0\5\0" + a + b + b"\5\0\x10\x20"),
        (b"\x84\0\5\0" + STATION + AP + b"\x0d\0\x10\x20" + THIRD, b"\x84\0\5\0" + a + b + b"\x0d\0"),  # GCR
        (b"\x94\0\5\0" + STATION + AP + b"\5\0\x10\x20" + b"b" * 8, b"\x94\0\5\0" + a + b + b"\5\0\x10\x20" + b"b" * 8),
        (b"\x94\0\5\0" + STATION + AP + b"\5\0\x14\x20" + b"b" * 32, b"\x94\0\5\0" + a + b + b"\5\0\x14\x20" + b"b" * 32),
        (b"\x94\0\5\0" + STATION + AP + b"\x17\0\xfd\7\0\0\0\0" + THIRD, b"\x94\0\5\0" + a + b + b"\x17\0"),  # multi-STA
        (b"\x24\0\5\0" + STATION + AP + b"triggers" + secret, b"\x24\0\5\0" + a + b + b"triggers"),
        (b"\x74\0\5\0" + STATION + b"\xb4\0htcc" + AP, b"\x74\0\5\0" + a),  # wrapper
        (b"\x0c\0\5\0" + STATION + secret, b"\x0c\0\5\0" + a),  # extension
        (b"\x14\0\5\0" + STATION + secret, b"\x14\0\5\0" + a),
        (b"\x81\0\5\0" + secret, b""),  # another protocol version
        (header(0x80)[:13], b"\x80\0\0\0" + a),  # truncated
    ]
    for (data, expected), out in zip(cases, written(tmp_path, keys[0], [frame(d) for d, _ in cases]), strict=True):
        assert (out.data, out.orig_len) == (expected, len(data)), data.hex()


def test_ethernet_and_others(tmp_path, keys):
    a, b = (Pseudonyms(KEY).address(x) for x in (STATION, AP))
    arp = b"\x08\x06\0\1\x08\0\6\4\0\1" + AP + bytes(14)
    tags = b"\x88\xa8\0\5\x81\0\0\6"
    cases = [(ETHERNET, STATION + AP + arp, a + b + b"\x08\x06"),
             (ETHERNET, STATION + AP + tags + arp, a + b + tags + b"\x08\x06"),
             (ETHERNET, STATION + AP[:3], a), (113, b"\0\4\0\1\0\6" + AP + arp, b""), (228, AP * 8, b""),
             (123, AP * 8, bytes(4)), (144, AP * 8, bytes(15) + b"\x17"), (204, AP, bytes(1)), (123, AP[:3], b"")]
    out = written(tmp_path, keys[0], [frame(data, linktype) for linktype, data, _ in cases])
    assert [(f.data, f.orig_len) for f in out] == [(kept, len(data)) for _, data, kept in cases]


def test_an_fcs_is_never_there(tmp_path, keys):
    """Whether the header tells of it or not: it is a sum of the real addresses."""
    body, fcs = beacon(element(0, b"a name"), element(3, b"\6")), b"\x2d\2\xab\xcd"  # it looks like an element
    with_flag, without, bad = (struct.pack("<BBHIB", 0, 0, 9, 2, flags) for flags in (0x10, 0, 0x50))
    out = written(tmp_path, keys[0], [frame(with_flag + body + fcs, RADIOTAP), frame(without + body + fcs, RADIOTAP),
                                      frame(body + fcs), frame(with_flag + body, RADIOTAP, orig_len=len(body) + 13),
                                      frame(bad + body + fcs, RADIOTAP), frame(body + fcs[:2])])
    lengths = [9 + len(body), 9 + len(body), len(body), 9 + len(body), 9 + 24, len(body)]
    assert [len(f.data) for f in out] == lengths
    assert out[0].data[:9] == with_flag and out[1].data[:9] == without and out[2].data == out[0].data[9:]


def test_radiotap_headers(tmp_path, keys):
    """Fields stay, vendors' fields become zeros; tshark reads the same of all made ones."""
    vendor = struct.pack("<BBHIIB", 0, 0, 27, 0xc0000002, 0x00000001, 0x00) + b"\0" + b"\0\x17\xf2\1\6\0" + AP[:5]
    vendor = vendor[:2] + struct.pack("<H", len(vendor) + 1) + vendor[4:] + AP[5:]
    out = written(tmp_path, keys[0], [frame(vendor + ack(AP), RADIOTAP)])[0].data
    assert out[:len(vendor) - 6] == vendor[:-6] and out[len(vendor) - 6:len(vendor)] == bytes(6)
    heads = [h.bytes for h in radiotaps.HEADS.values() if len(h.bytes) == struct.unpack_from("<H", h.bytes, 2)[0]]
    rows = written(tmp_path, keys[0], [frame(h + ack(STATION), RADIOTAP) for h in heads])
    same = sum(f.data[:len(h)] == h for f, h in zip(rows, heads, strict=True))
    assert same > len(heads) // 2
    assert all(STATION not in f.data for f in rows)


def test_options_and_texts(tmp_path, keys):
    """Of a packet's options, those that name nobody; of an interface's, the sensor's texts."""
    names = Pseudonyms(KEY)
    receptions = struct.pack(">IB", 32473, 1) + b"r" * 23
    kept = [option(2, b"\1\0\0\0"), option(5, b"12345678"), option(1, b"heard while the radio was changing channel"),
            option(2989, receptions)]
    gone = [option(3, b"\2abcd"), option(1, b"seen at Anna's"), option(2989, struct.pack(">IB", 32473, 2) + b"Anna"),
            option(19373, struct.pack(">I", 32473) + b"Anna")]
    texts = [option(2, b"lab:wlx" + STATION.hex().encode()),
             option(3, b"sensor lab (id 1), interface " + STATION.hex(":").encode()),
             option(11, b"\0ether host Anna"), option(12, b"Anna's machine"), option(6, AP), option(1, b"Anna")]
    data = section() + interface(DOT11, *texts) + packet(0, frame(ack(AP)), *kept, *gone)
    out, _ = find(write(tmp_path, data), keys[0], "-q")
    assert out.endswith(b"".join(kept) + bytes(4) + out[-4:])
    assert b"Anna" not in out and AP not in out and b"abcd" not in out
    assert b"lab:wlx" + names.address(STATION).hex().encode() in out
    assert b"interface " + names.address(STATION).hex(":").encode() in out


@pytest.mark.parametrize("form", [
    "{0}{1}{2}{3}{4}{5}", "n{0}_{1}_{2}_{3}_{4}_{5}", "{0}{1}.{2}{3}.{4}{5}", "{0}.{1}.{2}.{3}.{4}.{5}",
    "{0}{1}{2}-{3}{4}{5}", "lab-2_{0}-{1}-{2}-{3}-{4}-{5}"])
@pytest.mark.parametrize("is_upper", [False, True])
def test_addresses_in_names(tmp_path, keys, form, is_upper):
    """A sensor's name may have letters, digits, dots, dashes and underscores."""
    def name(address):
        text = address.hex(":").upper() if is_upper else address.hex(":")
        return form.format(*text.split(":"))
    real, shown = name(STATION), name(Pseudonyms(KEY).address(STATION))
    texts = [option(2, f"{real}:{real}".encode()), option(3, f"sensor {real} (id 1), interface {real} by xdp".encode())]
    data = section() + interface(DOT11, *texts) + packet(0, frame(ack(AP)))
    out, _ = find(write(tmp_path, data), keys[0], "-q")
    assert real.encode() not in out
    assert f"{shown}:{shown}".encode() in out and f"sensor {shown} (id 1), interface {shown} by".encode() in out


def swapped(data):
    """The file in the other byte order; its options are texts and bytes."""
    out, at = [], 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        body, at = data[at + 8:at + size - 4], at + size
        formats = {0x0a0d0d0a: "IHHq", 1: "HHI", 6: "IIIII"}[kind]
        head = struct.calcsize("<" + formats)
        kept = struct.unpack_from("<I", body, 12)[0] + 3 & ~3 if kind == 6 else 0
        turned = struct.pack(">" + formats, *struct.unpack_from("<" + formats, body)) + body[head:head + kept]
        rest = body[head + kept:]
        while rest:
            code, length = struct.unpack_from("<HH", rest)
            turned += struct.pack(">HH", code, length) + rest[4:4 + (length + 3 & ~3)]
            rest = rest[4 + (length + 3 & ~3):]
        out.append(struct.pack(">II", kind, size) + turned + struct.pack(">I", size))
    return b"".join(out)


def test_the_other_byte_order(tmp_path, keys):
    texts = [option(2, b"lab:wlx" + STATION.hex().encode()), option(11, b"\0Anna"), option(3, b"odd")]
    comment = option(1, b"heard while the radio was changing channel")
    data = section() + interface(DOT11, *texts) + packet(0, frame(ack(AP)), comment, option(1, b"Anna")) + packet(
        0, frame(beacon(element(0, b"Anna"))))
    one = find(write(tmp_path, data), keys[0], "-q")[0]
    assert b"Anna" not in one and b"odd" in one and comment in one
    assert find(write(tmp_path, swapped(data)), keys[0], "-q")[0] == one


def test_searches_are_by_real_addresses(tmp_path, keys):
    folder = write(tmp_path, pcapng([frame(ack(AP)), frame(ack(STATION))]))
    out, said = find(folder, keys[0], "--mac", AP.hex(":"))
    assert Pseudonyms(KEY).address(AP) in out and Pseudonyms(KEY).address(STATION) not in out
    assert "1 addresses and 0 SSIDs replaced" in said


@pytest.mark.parametrize(("text", "says"), [
    (b"", "is not a key"), (b"x" * 44, "is not a key"), (base64.b64encode(bytes(32)), "is not a key"),
    (base64.b64encode(KEY[:16]), "is not a key"), (base64.b64encode(KEY) + b"\0", "is not a key"), (None, "No such file")])
def test_a_bad_key_file(tmp_path, text, says):
    path = tmp_path / "k"
    if text is not None:
        path.touch(0o600)
        path.write_bytes(text)
    out, said = find(write(tmp_path, pcapng([frame(ack(AP))])), path, status=1)
    assert not out and said.startswith("saluki-keep: --pseudonyms ") and says in said and len(said.splitlines()) == 1


def test_warnings_and_usage(tmp_path, keys):
    folder = write(tmp_path, pcapng([frame(ack(AP))]))
    assert "others can read it" not in find(folder, keys[0])[1]
    keys[0].chmod(0o644)
    assert f"warning: --pseudonyms {keys[0]}: others can read it; chmod 600 {keys[0]}" in find(folder, keys[0])[1]
    done = subprocess.run([PROGRAM, "find", folder, "--pseudonyms", keys[0]], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "-w" in done.stderr
    done = subprocess.run([PROGRAM, "find", folder, "-w", "-", "--pseudonyms", base64.b64encode(KEY)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "is a key itself" in done.stderr and base64.b64encode(KEY).decode() not in done.stderr
