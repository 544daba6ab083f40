# SPDX-License-Identifier: GPL-2.0
"""Worst cases of wired templates: traffic for which they find nothing to leave out. The same frames
are stored once as Ethernet and once under a link type that has no templates; ratios of the sensor's
time per frame from append to send, and of the bytes. And flows of ciphertext among flows of text,
compared with the same flows in combos of their own."""
import random
import struct

from bench import frames

COUNT = 8192
SEED = 23
OTHER_LINKTYPE = 147  # LINKTYPE_USER0
BUCKETS = 2048  # wire/wired_templates.h
WORDS = "the quick sensor sends a frame to its collector and waits for an answer".split()


def tcp(r, source, dest, ports, payload=b""):
    """An Ethernet frame with TCP, whose numbers are random."""
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40 + len(payload), r.getrandbits(16), 0, 64, 6,
                     r.getrandbits(16)) + source + dest
    return (b"\2\0\0\0\0\1\2\0\0\0\0\2\10\0" + ip + ports +
            struct.pack("!IIBBHHH", r.getrandbits(32), r.getrandbits(32), 0x50, 0x18,
                        r.getrandbits(16), r.getrandbits(16), 0) + payload)


def mix(a, b):
    return (a ^ b * 0x85ebca6b) * 0x9e3779b1 & 0xffffffff


def bucket(source, dest, ports):
    """As flow_bucket() of wire/wired_append.c, on a little-endian machine."""
    port = struct.unpack("!HH", ports)
    ends = [mix(p, struct.unpack("<I", a)[0]) for p, a in zip(port, (source, dest))]
    return ((ends[0] ^ ends[1]) * 0x9e3779b1 & 0xffffffff) >> 20 & (BUCKETS - 2) | (ends[0] < ends[1])


def random_addresses(r):
    """A flood with forged sources: each frame is a new flow."""
    return [tcp(r, r.randbytes(4), r.randbytes(4), r.randbytes(4)) for _ in range(COUNT)]


def collisions(r):
    """Flows that an attacker chose to share one bucket, in turn."""
    found = []
    while len(found) < 64:
        flow = r.randbytes(4), b"\12\0\0\1", r.randbytes(4)
        if bucket(*flow) == 2:
            found.append(flow)
    return [tcp(r, *found[n % len(found)]) for n in range(COUNT)]


def payload(r):
    """Ciphertext of a few flows, kept."""
    flows = [(r.randbytes(4), r.randbytes(4), r.randbytes(4)) for _ in range(8)]
    return [tcp(r, *flows[n % 8], r.randbytes(138)) for n in range(COUNT)]


def text(r):
    """Text of a few flows, kept."""
    flows = [(r.randbytes(4), r.randbytes(4), r.randbytes(4)) for _ in range(8)]
    return [tcp(r, *flows[n % 8], " ".join(r.choices(WORDS, k=40)).encode()[:138])
            for n in range(COUNT)]


CASES = {"random": random_addresses, "collisions": collisions, "payload": payload}
STAGES = ("append", "close", "compress", "seal", "send")


def cost(directory, stages, name, played, linktype=1):
    """Nanoseconds and bytes a frame."""
    trace = directory / f"{name}{linktype}.pcap"
    frames.write_pcap(trace, played, linktype)
    got = stages(trace)
    return sum(got[s] for s in STAGES), got["bytes_compressed"]


def measure(directory, stages, say):
    """`stages`: runs the stages over a trace, and returns their figures."""
    out = {}
    for name, make in CASES.items():
        played = make(random.Random(SEED))
        (ns, size), (plain_ns, plain_size) = (cost(directory, stages, name, played, linktype)
                                              for linktype in (1, OTHER_LINKTYPE))
        say(f"    {name:12} {ns:6.1f} ns and {size:6.2f} bytes a frame; without templates "
            f"{plain_ns:6.1f} and {plain_size:6.2f}")
        out |= {f"worst_{name}_ns_x_plain": ns / plain_ns,
                f"worst_{name}_bytes_x_plain": size / plain_size}
    return out | measure_mixed(directory, stages, say)


def measure_mixed(directory, stages, say):
    """Mixes flows of ciphertext and text. Apart, all frames of a combo are of one kind."""
    kinds = payload(random.Random(SEED)), text(random.Random(SEED))
    found = []
    for name, played in ("ciphertext", kinds[0]), ("text", kinds[1]), (
            "mixed", [f for both in zip(*kinds) for f in both]):
        found.append(cost(directory, stages, name, played))
        say(f"    {name:12} {found[-1][0]:6.1f} ns and {found[-1][1]:6.2f} bytes a frame")
    apart = [sum(both) / 2 for both in zip(*found[:2])]
    return {"worst_mixed_ns_x_apart": found[2][0] / apart[0],
            "worst_mixed_bytes_x_apart": found[2][1] / apart[1]}
