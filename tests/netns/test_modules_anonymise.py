# SPDX-License-Identifier: GPL-2.0
"""A module gets addresses hashed or with prefixes kept, by the policy's key."""
import collections
import ipaddress
import itertools
import os
import random

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.test_modules import GRANTS, fixture_modules  # noqa: F401 (fixtures)
from reference import captures
from reference.test_reference import write_pcap

COUNT = 600
Shown = collections.namedtuple("Shown", "source destination mac")


def packets():
    """UDP from few networks, so that many addresses share prefixes; one in four is IPv6."""
    chance = random.Random(8)
    frames = []
    for i in range(COUNT):
        version = 6 if i % 4 == 3 else 4
        mac = bytes([2, 0, 0, 0, 0, i % 50])
        if version == 4:
            ends = [bytes([10, chance.randrange(3), chance.randrange(4), chance.randrange(256)])
                    for _ in range(2)]
            ip = b"".join((b"\x45\0\0\x1c\0\0\0\0\x40\x11\0\0", *ends))
        else:
            ends = [bytes.fromhex("20010db8") + bytes([0, chance.randrange(3)]) + bytes(6) +
                    chance.randbytes(4) for _ in range(2)]
            ip = b"".join((b"\x60\0\0\0\0\x08\x11\x40", *ends))
        data = b"\x02\xff\0\0\0\1" + mac + (b"\x08\0" if version == 4 else b"\x86\xdd") + ip
        data += b"\0\x35\0\x35\0\x08\0\0"
        frames.append((Shown(*map(ipaddress.ip_address, ends), mac),
                       captures.Frame(i, len(data), 1, data)))
    return frames


class Anonymised:
    def __init__(self, bed, modules):
        self.bed, self.modules = bed, modules
        self.frames = packets()
        write_pcap(bed.tmp_path / "wire.pcap", 1, [f for _, f in self.frames])
        testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
        self.collector = bed.collector()
        self.sensor = bed.sensor("lib", "tap0")
        self.obj = modules.copy("addresses")

    def key(self, show):
        """Sets a new key and loads the module with it. Returns the command's output."""
        path = self.bed.tmp_path / "anonymise.key"
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as f:
            f.write(self.bed.ns.run(testbed.BUILD / "saluki", "genpsk", capture_output=True).stdout)
        entries = GRANTS.format(events=1000000).replace("mac, ip, ports", show)
        self.modules.policy.write_text(f"[Keys]\nAnonymise = {path}\n[Module *]\n"
                                       f"Key = {self.modules.public}\n{entries}")
        return self.modules.load(self.obj)

    def without_keys(self):
        """Another module, whose policy has none."""
        self.modules.allow(GRANTS.format(events=0))
        self.modules.load(self.modules.copy("count"))

    def play(self):
        sender = self.bed.sender("veth0", self.bed.tmp_path / "wire.pcap", ["--rate", "5000"])
        assert sender.play() == COUNT

    def finish(self, times):
        """The addresses the module was shown, one list per run."""
        assert self.sensor.finish()[0] == 0
        self.collector.finish()
        assert_balanced(self.collector.sensor_stats("lib"), COUNT * times)
        said = [bytes.fromhex(s["data"]) for s in captures.said(self.bed.out)]
        assert len(said) == COUNT * times
        shown = []
        for (real, _), data in zip(self.frames * times, said):
            n = 4 if real.source.version == 4 else 16
            assert data[n:16] == data[16 + n:32] == bytes(16 - n)
            shown.append(Shown(*(ipaddress.ip_address(data[i:i + n]) for i in (0, 16)), data[32:]))
        return [shown[i:i + COUNT] for i in range(0, len(shown), COUNT)]

    def pairs(self, shown):
        """(real, shown), once per address."""
        found = {}
        for (real, _), got in zip(self.frames, shown):
            for a, b in ((real.source, got.source), (real.destination, got.destination)):
                assert found.setdefault(a, b) == b, "equal values stay equal"
        assert len(set(found.values())) == len(found), "different values stay different"
        return found


def common(a, b):
    """Length of the common prefix in bits."""
    return a.max_prefixlen - (int(a) ^ int(b)).bit_length()


@pytest.fixture(name="anonymised")
def fixture_anonymised(bed, modules):
    return Anonymised(bed, modules)


def test_prefixes_are_kept(anonymised):
    anonymised.key("mac hashed, ip prefix")
    anonymised.play()
    anonymised.without_keys()
    anonymised.play()  # from the cache
    anonymised.key("mac hashed, ip prefix")
    anonymised.play()  # by another key, the cache is empty
    first, again, other = anonymised.finish(3)
    assert first == again
    found = anonymised.pairs(first)
    for version in 4, 6:
        for (a, b), (c, d) in itertools.combinations(
                [p for p in found.items() if p[0].version == version], 2):
            assert common(a, c) == common(b, d), (a, b, c, d)
    changed = anonymised.pairs(other)
    assert sum(changed[a] == b for a, b in found.items()) < len(found) / 20
    assert sum(a == b for a, b in found.items()) < len(found) / 20


def test_hashed(anonymised):
    anonymised.key("mac hashed, ip hashed")
    anonymised.play()
    anonymised.without_keys()
    anonymised.play()
    anonymised.key("mac hashed, ip hashed")
    anonymised.play()
    first, again, other = anonymised.finish(3)
    assert first == again
    found, changed = anonymised.pairs(first), anonymised.pairs(other)
    assert not any(changed[a] == b for a, b in found.items())
    assert len({s.mac for s in first}) == 50
    for (real, _), got in zip(anonymised.frames, first):
        assert got.mac != real.mac and got.mac[0] & 3 == 2  # one station's address, locally administered


def test_another_key_is_said(anonymised):
    """A key change is reported, for running modules and with a load."""
    another = "tap0: hidden addresses and names are by another key from now on"
    assert another not in anonymised.key("mac hashed")
    assert another not in anonymised.modules.load(anonymised.obj, name="second")
    assert another in anonymised.key("mac hashed")
    anonymised.finish(0)
