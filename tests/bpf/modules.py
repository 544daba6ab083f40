# SPDX-License-Identifier: GPL-2.0
"""Modules on a capture file's frames (module_run.c), their consumers on the events, and frames for
such files."""
import ipaddress
import json
import struct
import subprocess

from netns.testbed import BUILD

FIN, SYN, RST, PUSH, ACK = 1, 2, 4, 8, 16


def run(name, capture, *options, maps=()):
    """A module's events on a capture: lines of JSON; and, if maps are requested, their values."""
    maps = [word for m in maps for word in ("--map", m)]
    got = subprocess.run([BUILD / "tests/module_run", *options, *maps, BUILD / f"modules/{name}.o",
                          capture], check=True, capture_output=True, text=True).stdout
    lines = got.splitlines(keepends=True)
    if not maps:
        return got
    values = {m["map"]: [bytes.fromhex(v) for v in m["values"]]
              for m in map(json.loads, lines[-len(maps) // 2:])}
    return "".join(lines[:-len(maps) // 2]), values


def consume(name, lines, *options):
    """Its consumer's output for these events."""
    got = subprocess.run([BUILD / f"modules/{name}", *options], input=lines, check=True,
                         capture_output=True, text=True)
    assert not got.stderr, got.stderr
    return got.stdout


def consume_json(name, lines, *options):
    return [json.loads(line) for line in consume(name, lines, "--json", *options).splitlines()]


def write(path, frames):
    """Frames (ns, bytes[, original length]) as a capture file."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for ns, data, *length in frames:
            f.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(data), *(length or [len(data)])))
            f.write(data)
    return path


# ---- frames --------------------------------------------------------------------------------------

def ethernet(body, ethertype, source=1, destination=2, tag=None):
    tag = struct.pack(">HH", 0x8100, tag) if tag is not None else b""
    return (struct.pack(">HI", 0x0200, destination) + struct.pack(">HI", 0x0200, source) + tag +
            struct.pack(">H", ethertype) + body)


def ip(source, destination, protocol, body, ttl=64, fragment=0, number=0):
    """A packet of either version, and its Ethernet type."""
    a, b = map(ipaddress.ip_address, (source, destination))
    if a.version == 4:
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), number, fragment, ttl, protocol, 0)
        return head + a.packed + b.packed + body, 0x800
    if fragment:
        body = struct.pack(">BBHI", protocol, 0, (fragment & 0x1fff) << 3 | fragment >> 13,
                           number) + body
        protocol = 44
    head = struct.pack(">IHBB", 6 << 28, len(body), protocol, ttl)
    return head + a.packed + b.packed + body, 0x86dd


def tcp(source, destination, flags, seq=0, ack=0, data=b"", words=5, **more):
    """A frame with a segment; ends are (address, port)."""
    head = struct.pack(">HHIIBBHHH", source[1], destination[1], seq % 2**32, ack % 2**32, words << 4,
                       flags, 65535, 0, 0)
    frame = {k: more.pop(k) for k in ("tag",) if k in more}
    return ethernet(*ip(source[0], destination[0], 6, head + data, **more), **frame)


def udp(source, destination, data, **more):
    """A frame with a datagram."""
    head = struct.pack(">HHHH", source[1], destination[1], 8 + len(data), 0)
    return ethernet(*ip(source[0], destination[0], 17, head + data, **more))
