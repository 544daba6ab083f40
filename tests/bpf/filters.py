# SPDX-License-Identifier: GPL-2.0
"""Filters for comparing the kernel's verdict with libpcap's: expressions for each link type, with
addresses and ports of real frames, random expressions and random classic BPF; and the frames. The
same ones every time."""
import itertools
import random
import struct

from reference import captures

ETHERNET, DOT11, PRISM, RADIOTAP = 1, 105, 119, 127
FOLDERS = ("wired", "radiotap", "dot11-other", "hwsim", "malformed")

# ---- frames ----------------------------------------------------------------------------------------


def frames_of(path):
    """All frames up to the file's end or first error."""
    try:
        yield from captures.frames(path)
    except (captures.Corrupt, IndexError, struct.error, EOFError, OSError):
        pass


def files(traces):
    return [p for folder in FOLDERS for p in traces.folder(folder)]


def every_frame(sets):
    """All distinct frames of all files, of all link types."""
    seen = set()
    for path in (p for traces in sets for p in files(traces)):
        for f in frames_of(path):
            key = (f.linktype, f.data)
            if f.data and key not in seen:
                seen.add(key)
                yield key


def some_frames(traces, count):
    """So many distinct ones, in turn from all files."""
    chosen = {}
    paths = files(traces)
    each = max(200, count // len(paths))
    columns = itertools.zip_longest(*(list(itertools.islice(frames_of(p), each)) for p in paths))
    for f in itertools.chain.from_iterable(columns):
        if f and f.data:
            chosen[(f.linktype, f.data)] = None
        if len(chosen) == count:
            break
    return list(chosen)


def write_frames(path, frames):
    with open(path, "wb") as out:
        for linktype, data in frames:
            out.write(struct.pack("=II", len(data), linktype) + data)


def write_filters(path, chosen):
    with open(path, "w", encoding="ascii") as out:
        out.writelines(f"{linktype}\t{text}\n" for linktype, text in chosen)


# ---- expressions -----------------------------------------------------------------------------------

RELATIONS = ("=", "!=", "<", "<=", ">", ">=")

NETWORK = """
ip|ip6|arp|rarp|tcp|udp|icmp|icmp6|igmp|sctp|ah|esp|pim|vrrp|igrp|carp|ip proto 47|ip6 proto 58
ip proto \\tcp|ip6 proto \\udp|proto 6|not ip|not ip6|ip or ip6|ip and not tcp|tcp or udp|ip multicast
ip6 multicast|host 10.0.0.1|src host 192.168.1.1|dst host 224.0.0.251|net 10|net 192.168|net 172.16.0.0/12
src net 192.168.0.0 mask 255.255.0.0|dst net 224.0.0.0/4|net 10.0.0.0/7|ip6 net fe80::/10|ip6 net 2001::/16
ip6 host ::1|src net fe80::/10|dst net ff02::/16|port 53|port 80|src port 443|dst port 22|tcp port 80
udp port 67 or udp port 68|portrange 1-1023|src portrange 1024-65535|dst portrange 5060-5070
tcp portrange 20-25|udp portrange 5353-5355|port 0|port 65535|portrange 0-65535|not port 80
tcp[tcpflags] & tcp-syn != 0|tcp[tcpflags] & (tcp-syn|tcp-fin) != 0|tcp[tcpflags] = tcp-ack
tcp[tcpflags] & (tcp-rst|tcp-push) == tcp-push|tcp[13] & 0x3f = 0x12|tcp[tcpflags] == tcp-syn|tcp-ack
icmp[icmptype] = icmp-echo|icmp[icmptype] != icmp-echo and icmp[icmptype] != icmp-echoreply|icmp[icmpcode] = 3
icmp[0] = 8|icmp6[icmp6type] = 135|icmp6[0] >= 128|ip6[40] = 6|ip[0] & 0xf != 5|ip[6:2] & 0x1fff = 0
ip[6] & 0x20 != 0|ip[8] < 5|ip[2:2] > 576|ip[9] = 17|ip[12:4] = 0xc0a80101|ip[16] >= 224|ip6[6] = 17
ip6[0:4] & 0xfffff != 0|ip6[4:2] > 100|udp[4:2] > 100|udp[8:4] = 0x53495020|tcp[2:2] = 80|tcp[12] & 0xf0 > 0x50
tcp[14:2] > 0x2000|tcp[tcp[12] >> 4] = 0|tcp[((tcp[12] & 0xf0) >> 2):4] = 0x47455420
((ip[2:2] - ((ip[0] & 0xf) << 2)) - ((tcp[12] & 0xf0) >> 2)) != 0|ip[2:2] / 4 > 20|ip[8] % 64 = 0
ip[8] / ip[9] > 3|ip[4:2] % ip[9] = 1|ip[0] >> 4 = 4|ip[8] << 2 > 200|ip[1] ^ 0x10 = 0x10|ip[8] + ip[9] = 70
ip[12:4] - ip[16:4] > 0|ip[4:2] * 3 > 65535|-ip[8] < 0xffffff00|ip[ip[0] & 0xf] = 0|ip[2:2] != len - 14
len > 100|len = 60|less 64|greater 1000|len - 14 > ip[2:2]|len / 2 > 40|len & 1 = 0|len > 5
tcp and (port 80 or port 443) and not host 10.0.0.1|udp and not port 53 and len < 200|ip and ip[6:2] & 0x3fff != 0
(tcp or udp) and portrange 1-100|sctp port 2905|tcp src port 80 and tcp[tcpflags] & tcp-fin != 0
"""

ON_ETHERNET = """
ether proto 0x88cc|ether proto 0x0800|ether proto \\arp|ether[12:2] = 0x0806|ether broadcast|ether multicast
broadcast|multicast|ether host 00:00:00:00:00:00|ether src ff:ff:ff:ff:ff:ff|ether dst 01:80:c2:00:00:00
ether[0] & 1 = 0|ether[0] & 1 != 0|ether[6:2] = 0|ether[0:4] = 0xffffffff|ether[8:4] > 0x80000000|ether[10:2] > 0x8000
ether[10:4] > 0x7fffffff|ether[11:2] = 8|ether[11:4] & 0xff = 0|ether[9:4] != 0|ether[12] = 8|ether[13] = 0
ether[14] = 0x45|ether[14:2] & 0xfff = 5|ether[12:4] = 0x81000001|ether[13:2] > 100|ether[13:4] > 0x10000
ether[14:4] > 0x1000000|ether[15:2] = 0x08|ether[15:4] & 0xffff00 != 0|ether[15] = 0|ether[16:2] = 0x0800
ether[17:4] > 5|ether[60:4] = 0|ether[1000] > 5|ether[1513] > 5|ether[1514] >= 0|ether[4000:4] >= 0
ether[65530:4] >= 0|ether[65535] >= 0|ether[100000] >= 0|ether[ether[14] & 0xf] > 10|ether[ether[20]:2] > 100
ether[ether[21] * 4:4] > 100|ether[(ether[22] & 7) + 8:2] > 1000|ether[(ether[23] & 7) + 10:4] > 1000
ether[len - 4:4] > 100|ether[len - 1] = 0|ether[len - 2:2] != 0|ether[len] = 0|ether[len - 3:4] = 0
vlan|vlan 1|vlan 100|not vlan|vlan and ip|vlan and ip6|vlan and arp|vlan 1 and tcp port 80|vlan and tcp
vlan and vlan|vlan and vlan and ip|vlan 10 and vlan 20 and ip|vlan or ip|ip or vlan|vlan and not ip
vlan and (tcp or udp) and port 53|vlan and host 10.0.0.1|vlan and ip[8] > 60|vlan and ether[14:2] & 0xfff = 5
(vlan and ip) or arp|vlan and vlan 3 and not tcp|vlan and portrange 1-1000|vlan and ip6 and udp|vlan 0|vlan 4095
mpls|mpls 100|mpls and ip|mpls and mpls|mpls 100000 and mpls 1024|mpls and host 10.0.0.1|mpls and tcp
vlan and mpls|pppoed|pppoes|pppoes and ip|pppoes 1 and ip6|pppoes and tcp port 80|vlan and pppoes
geneve|geneve 5|geneve and ip|stp|aarp|atalk|decnet|iso|clnp|esis|isis|ipx|netbeui|lat|moprc|mopdl
isis proto 4|l1|iih|lsp|snp|csnp|psnp|llc|llc i|llc s|llc u|ether proto \\stp|ether[14:2] = 0xaaaa
ether proto 0x8100|ether proto 0x88a8|ether[12:2] = 0x8100 and ether[16:2] = 0x0800|ether[12:2] <= 1500
ether[16:2] = 0x8100|ether[18:2] & 0xfff = 20|ether[12:2] = 0x88a8 or ether[12:2] = 0x9100
ether src host 02:00:00:00:00:01 or ether dst host 02:00:00:00:00:01|ip6 and not ip6 multicast and udp
gateway-free|arp[6:2] = 1|arp[6:2] = 2 or rarp|arp[7] = 2|arp host 192.168.1.1|rarp src host 10.0.0.1
"""

ON_WIFI = """
type mgt|type ctl|type data|not type data|type mgt subtype beacon|type mgt subtype probe-req
type mgt subtype probe-resp|type mgt subtype deauth|type mgt subtype auth|type mgt subtype assoc-req
type ctl subtype ack|type ctl subtype rts|type ctl subtype cts|type ctl subtype ps-poll
type data subtype data|type data subtype null
type data subtype qos-data|type data subtype qos|type data subtype qos-data or subtype null
wlan type mgt|wlan type data|wlan type mgt subtype beacon|subtype beacon|subtype ack|subtype deauth or subtype disassoc
type mgt and not subtype beacon|type mgt and not type mgt subtype probe-req|type data or type ctl subtype cts
dir nods|dir tods|dir fromds|dir dstods|dir tods or dir fromds|direction 1|not dir nods|dir 3
wlan host ff:ff:ff:ff:ff:ff|wlan src ff:ff:ff:ff:ff:ff|wlan dst ff:ff:ff:ff:ff:ff|wlan addr1 ff:ff:ff:ff:ff:ff
wlan addr2 00:00:00:00:00:00|wlan addr3 ff:ff:ff:ff:ff:ff|wlan addr4 ff:ff:ff:ff:ff:ff
wlan ra ff:ff:ff:ff:ff:ff|wlan ta 00:00:00:00:00:00|wlan broadcast|wlan multicast|broadcast|multicast
ether host ff:ff:ff:ff:ff:ff|ether src 00:00:00:00:00:00|wlan[0] = 0x80|wlan[0] & 0xc = 4|wlan[0] & 0xfc = 0x88
wlan[1] & 0x40 != 0|wlan[1] & 3 = 1|wlan[1] & 0x08 != 0|wlan[4] & 1 = 0|wlan[2:2] > 300|wlan[22:2] & 0xf = 0
wlan[24:4] > 0|wlan[36] = 0|wlan[10:4] = wlan[16:4]|wlan[0] >> 2 & 3 = 2|wlan[1000] >= 0|wlan[len - 4:4] > 0
type mgt and wlan[24:4] != 0|type mgt subtype beacon and wlan[32:2] = 100|type data and wlan[1] & 0x40 = 0
type mgt and (wlan addr2 02:00:00:00:00:00 or wlan addr2 02:00:00:00:01:00)|link[0] = 0|link[2:2] > 18
link[0] = 0x80|link[4:4] & 1 != 0|link[8] > 10|link[100:4] >= 0|link[link[2]] = 0x80|link[link[2] + 1] & 1 = 0
"""

ON_RADIOTAP = """
radio[0] = 0|radio[1] = 0|radio[2:2] > 18|radio[2] = 18|radio[4:4] & 0x4 != 0|radio[7] & 0x80 != 0
radio[8:4] = 0|radio[4] & 2 != 0 and radio[8] & 0x10 != 0|radio[10:2] > 2400|radio[14] > 0x80
radio[radio[2]] = 0x80|radio[radio[2] + 4:4] = 0xffffffff|radio[2:2] + 24 < len|radio[radio[2:2]] = 8
radio[3] * 256 + radio[2] > 20|radio[2] < 8|radio[17] & 0x40 = 0|radio[65000] >= 0
"""

REFUSED = {
    "ip6 protochain 6": "protochain", "ip protochain 51": "protochain", "inbound": "-Q in",
    "outbound and tcp": "-Q in", "host": "syntax error", "tcp[": "syntax error",
    "port http or nonsense": "nonsense", "ip[0] / 0 = 1": "division by zero",
    "ifindex 3": "ifindex", "wlan addr5 1": "addr5",
    "ip[0] << 40 = 1": "shift", "ip broadcast": "'ether broadcast'",
}


def words(text):
    return [e.strip() for e in text.replace("\n", "|").split("|") if e.strip()]


def expressions(text):
    """Lists are separated by |, which is also an operator of tcpdump's language: such expressions
    are joined again."""
    out = []
    for w in words(text):
        if out and (out[-1].count("(") > out[-1].count(")") or w in ("tcp-ack",)):
            out[-1] += "|" + w
        elif w != "gateway-free":
            out.append(w)
    return out


def mac(b):
    return ":".join(f"{x:02x}" for x in b)


def address(b):
    return ".".join(map(str, b))


def of_ethernet_frames(frames, rng):
    """Expressions for values in real frames."""
    for linktype, data in rng.sample(frames, min(len(frames), 4000)):
        if linktype != ETHERNET or len(data) < 54:
            continue
        yield f"ether host {mac(data[6:12])}"
        yield f"ether dst {mac(data[:6])} and not arp"
        if data[12:14] == b"\x08\0":
            a, b = address(data[26:30]), address(data[30:34])
            port = int.from_bytes(data[34:36], "big")
            yield from (f"host {a}", f"src host {a} and dst host {b}", f"net {a.rsplit('.', 1)[0]}.0/24",
                        f"port {port}", f"host {b} and (port {port} or icmp)",
                        f"tcp src port {port} or udp dst port {port}",
                        f"portrange {port}-{min(port + 100, 65535)}",
                        f"ip[16:4] = {int.from_bytes(data[30:34], 'big'):#x}",
                        f"dst host {b}")
        if data[12] in (0x81, 0x88):
            tag = int.from_bytes(data[14:16], "big") & 0xfff
            yield f"vlan {tag}"
            yield f"vlan {tag} and (ip or ip6)"


def of_wifi_frames(frames, linktype, rng):
    found = [d for link, d in frames if link == linktype]
    for data in rng.sample(found, min(len(found), 400)):
        at = int.from_bytes(data[2:4], "little") if linktype == RADIOTAP else \
            144 if linktype == PRISM else 0
        if len(data) < at + 24:
            continue
        f = data[at:]
        yield from (f"wlan host {mac(f[4:10])}", f"wlan addr1 {mac(f[4:10])}",
                    f"wlan addr2 {mac(f[10:16])}", f"wlan addr3 {mac(f[16:22])}",
                    f"wlan ta {mac(f[10:16])} and type data", f"wlan src {mac(f[10:16])}",
                    f"wlan dst {mac(f[4:10])} or type ctl", f"ether host {mac(f[16:22])}",
                    f"wlan[0] = {f[0]} and wlan[1] = {f[1]}")


class Random:
    """Random expressions."""

    def __init__(self, rng, pool, base):
        self.rng, self.pool, self.base = rng, pool, base

    def value(self, depth):
        r = self.rng
        way = r.random()
        if depth <= 0 or way < 0.35:
            size = r.choice(("", ":1", ":2", ":4"))
            return f"{r.choice(self.base)}[{r.randrange(0, 80)}{size}]"
        if way < 0.5:
            return str(r.choice((r.randrange(256), r.randrange(1 << 32), 1, 2)))
        if way < 0.58:
            return "len"
        if way < 0.65:
            return f"{r.choice(self.base)}[{self.value(depth - 1)} & {r.choice((3, 15, 63, 255))}]"
        if way < 0.7:
            return f"(-{self.value(depth - 1)})"
        if way < 0.8:
            return f"({self.value(depth - 1)} {r.choice(('<<', '>>'))} {r.randrange(1, 31)})"
        op = r.choice("+-*&|^/%")
        if op in "/%":
            return f"({self.value(depth - 1)} {op} {r.choice((r.randrange(1, 300), self.value(0)))})"
        return f"({self.value(depth - 1)} {op} {self.value(depth - 1)})"

    def test(self):
        return f"{self.value(3)} {self.rng.choice(RELATIONS)} {self.value(2)}"

    def expression(self, depth=3):
        r = self.rng
        way = r.random()
        if depth == 0 or way < 0.25:
            return r.choice(self.pool) if r.random() < 0.6 else self.test()
        if way < 0.4:
            return f"not ({self.expression(depth - 1)})"
        return (f"({self.expression(depth - 1)}) {r.choice(('and', 'or'))} "
                f"({self.expression(depth - 1)})")


ALU = (0x04, 0x14, 0x24, 0x34, 0x44, 0x54, 0x64, 0x74, 0x94, 0xa4)
JUMPS = (0x15, 0x25, 0x35, 0x45)


def random_code(rng):
    """Valid random classic BPF: "code COUNT C JT JF K ..."."""
    count = rng.randrange(2, 60)
    stored = rng.sample(range(16), rng.randrange(0, 5))
    code = [(rng.choice((0x02, 0x03)), 0, 0, m) for m in stored]
    off = lambda: rng.choice((rng.randrange(24), rng.randrange(24), rng.randrange(80),
                              rng.randrange(80), rng.randrange(2000), rng.randrange(1 << 32)))
    k = lambda: rng.choice((rng.randrange(16), rng.randrange(256), rng.randrange(1 << 16),
                            rng.randrange(1 << 32)))
    for i in range(count):
        left = count - i - 1  # instructions before the return
        way = rng.random()
        if way < 0.3:
            code.append((rng.choice((0x20, 0x28, 0x30)), 0, 0, min(off(), 0xffdfffff)))
        elif way < 0.4:
            code.append((rng.choice((0x40, 0x48, 0x50)), 0, 0, off()))
        elif way < 0.5:
            code.append((rng.choice((0x00, 0x01, 0x80, 0x81, 0xb1, 0x07, 0x87)), 0, 0,
                         rng.randrange(100)))
        elif way < 0.55 and stored:
            code.append((rng.choice((0x02, 0x03, 0x60, 0x61)), 0, 0, rng.choice(stored)))
        elif way < 0.75:
            op = rng.choice(ALU)
            by_x = rng.random() < 0.4
            value = rng.randrange(32) if op in (0x64, 0x74) else k()
            code.append((op | 8 if by_x else op, 0, 0, value or 1))
        elif way < 0.77:
            code.append((0x84, 0, 0, 0))
        elif way < 0.95 and left:
            jump = rng.choice(JUMPS) | (8 if rng.random() < 0.3 else 0)
            code.append((jump, rng.randrange(min(left + 1, 8)), rng.randrange(min(left + 1, 8)),
                         k()))
        elif way < 0.97 and left:
            code.append((0x05, 0, 0, rng.randrange(min(left + 1, 6))))
        else:
            code.append((0x16 if rng.random() < 0.5 else 0x06, 0, 0, rng.choice((0, 1, 65535))))
    code.append((0x16, 0, 0, 0) if rng.random() < 0.6 else (0x06, 0, 0, rng.choice((0, 1, 262144))))
    return f"code {len(code)} " + " ".join(f"{c} {jt} {jf} {value}" for c, jt, jf, value in code)


def long_lists(rng):
    """Long lists, as users write them."""
    ip = lambda: ".".join(str(rng.randrange(1, 255)) for _ in range(4))
    station = lambda: mac(bytes([2, 0, 0]) + rng.randbytes(3))
    yield ETHERNET, " or ".join(f"host {ip()}" for _ in range(200))
    yield ETHERNET, " or ".join(f"net {ip().rsplit('.', 1)[0]}.0/24" for _ in range(100))
    yield ETHERNET, " or ".join(f"port {rng.randrange(65536)}" for _ in range(60))
    yield ETHERNET, " or ".join(f"tcp portrange {p}-{p + 9}" for p in range(1000, 3000, 40))
    yield ETHERNET, " or ".join(f"ip6 host 2001:db8::{rng.randrange(1, 65536):x}" for _ in range(40))
    yield ETHERNET, "vlan and (" + " or ".join(f"host {ip()}" for _ in range(50)) + ")"
    yield RADIOTAP, " or ".join(f"wlan host {station()}" for _ in range(100))
    yield RADIOTAP, " or ".join(f"wlan addr2 {station()}" for _ in range(60))
    yield DOT11, " or ".join(f"wlan host {station()}" for _ in range(60))


def lists_of_frames(frames, rng):
    """Long lists, half of their entries in the frames. In a list of more than 255, classic BPF's
    jumps do not reach the end, and are built differently."""
    ip = [d for link, d in frames if link == ETHERNET and len(d) >= 54 and d[12:14] == b"\x08\0"]
    hosts = unique((address(d[26:30]) for d in ip), 150)
    ports = unique((int.from_bytes(d[34:36], "big") for d in ip), 60)
    stations = unique((mac(d[6:12]) for link, d in frames if link == ETHERNET and len(d) >= 14), 60)
    for count in (12, 100, 300):
        some = hosts[:count // 2] and hosts[:count // 2] + [
            f"10.{rng.randrange(256)}.{n % 256}.9" for n in range(count // 2)]
        rng.shuffle(some)
        listed = " or ".join(f"host {h}" for h in some)
        if some:
            yield from (listed, f"not ({listed})", f"tcp and not ({listed})",
                        " or ".join(f"src host {h}" for h in some))
    yield " or ".join(f"udp port {p}" for p in ports + list(range(1, 120, 2)))
    if stations:
        yield "not (" + " or ".join(f"ether src {s}" for s in stations) + ")"


def unique(items, count):
    return list(itertools.islice(dict.fromkeys(items), count))


def by_hand():
    """(those for Ethernet, those for 802.11)"""
    return (expressions(NETWORK) + expressions(ON_ETHERNET),
            expressions(ON_WIFI) + [e for e in expressions(NETWORK)[::6] if "14" not in e])


def by_chance():
    """Random (link type, expression), the same whatever frames there are. libpcap refuses some, as
    'llc' after 'pppoes'."""
    rng = random.Random(4)
    ethernet, wifi = by_hand()
    makers = {ETHERNET: (Random(rng, ethernet, ["ether", "ip", "tcp", "udp", "ip6"]), 60),
              RADIOTAP: (Random(rng, wifi, ["wlan", "radio", "link"]), 40),
              DOT11: (Random(rng, wifi, ["wlan", "link"]), 20)}
    return [(linktype, maker.expression()) for linktype, (maker, count) in makers.items() for _ in range(count)]


def chosen(frames):
    """All of them: (link type, expression or code)."""
    rng = random.Random(4)
    ethernet, wifi = by_hand()
    out = [(ETHERNET, e) for e in ethernet]
    out += [(ETHERNET, e) for e in unique(of_ethernet_frames(frames, rng), 60)]
    for linktype, count in ((RADIOTAP, 50), (DOT11, 25), (PRISM, 10)):
        step = {RADIOTAP: 1, DOT11: 2, PRISM: 4}[linktype]
        out += [(linktype, e) for e in wifi[::step]]
        out += [(linktype, e) for e in unique(of_wifi_frames(frames, linktype, rng), count)]
    out += [(RADIOTAP, e) for e in expressions(ON_RADIOTAP)]
    out += by_chance()
    out += [(ETHERNET, random_code(rng)) for _ in range(120)]
    out += [(ETHERNET, e) for e in lists_of_frames(frames, rng)]
    return out + list(long_lists(rng))
