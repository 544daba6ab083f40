# SPDX-License-Identifier: GPL-2.0
"""Modules at a rate: FLAME's four applications in their slots of a capture, loaded as by an
operator, and frames of 64 bytes: the frames lost, and the receiving CPU's time left per frame, at
each rate (FLAME's figure 5, which used a busy loop; here the generator counts its idle runs)."""
import json

from bench import consumers, rates
from netns import testbed

NAMES = ["rtt", "lrd", "trajectory", "worm"]
SIZE = 64
RATES = [250_000, 500_000, 750_000, 1_000_000, 1_250_000, 1_500_000]
AIMED_AT = 1_000_000

POLICY = """[Keys]
Trajectory = {secret}
[Module *]
Key = {public}
Interface = *
Show = label, ip, ports, payload 128
Helper = map_lookup_elem, map_update_elem, map_delete_elem
Map = array, percpu_array, lru_hash
MapMemory = 16M
Instructions = 50000
Events = 10000
Priority = 100
"""


class Operator:
    """Signs and grants modules."""

    def __init__(self, cable):
        self.ns, self.directory = cable.sensor, cable.directory
        self.ns.run("mount", "-t", "tmpfs", "none", "/var/lib")  # serials
        self.serial = 0
        self.secret = self._file("sign.key", self.run("genkey"))
        public = self.run("pubkey", input=self.secret.read_text()).strip()
        trajectory = self._file("trajectory.key", self.run("genkey"))
        self.policy = self._file("modules.conf", POLICY.format(secret=trajectory, public=public))
        self.policy.chmod(0o644)

    def _file(self, name, text):
        path = self.directory / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def run(self, *args, **kwargs):
        got = self.ns.run(testbed.BUILD / "saluki", "module", *args, capture_output=True,
                          check=False, **kwargs)
        if got.returncode:
            raise RuntimeError(f"saluki module {args[0]}: {got.stdout}{got.stderr}")
        return got.stdout

    def load(self, name, source=None):
        self.serial += 1
        obj = self.directory / f"{name}.o"
        obj.write_bytes((source or testbed.BUILD / f"modules/{name}.o").read_bytes())
        self.run("sign", "--key", self.secret, "--serial", str(self.serial), obj)
        self.run("load", "-i", "cap0", "--policy", self.policy, obj)

    def stats(self):
        return {m["name"]: m for m in json.loads(self.run("stats", "--json", "-i", "cap0"))}


def capture_with(operator, names):
    class Capture(consumers.Saluki):
        """Reports at its end how many frames its modules have seen."""
        modules = {}

        def listen(self):
            super().listen()
            for name in names:
                operator.load(name)

        def stop(self):
            Capture.modules = operator.stats()
            return super().stop()
    return Capture


def check(count, modules, names):
    """Every module has seen every frame."""
    seen = {n: modules[n]["frames"] for n in names}
    if any(s != count.captured + count.lost for s in seen.values()):
        raise RuntimeError(f"of {count} modules have seen {seen}")
    if any(modules[n]["skipped"] or modules[n]["missing"] for n in names):
        raise RuntimeError(f"modules were left out: {modules}")


def run(ladder, kind, names, rate):
    """(frames lost, nanoseconds left per frame, frames/s)"""
    consumer = kind(ladder.cable)
    consumer.listen()
    sent = ladder.cable.generate(ladder.trace, rate, ladder.seconds)
    consumers.settled(consumer.pids)
    count = consumer.stop()
    if names:
        check(count, kind.modules, names)
    # Frames lost on the cable count, too: the receiver was too slow for them.
    return sent.frames - count.captured, sent.idle * ladder.idle_s / sent.frames * 1e9, \
        sent.frames / sent.seconds


def measure(cable, trace, seconds, say):
    ladder = rates.Ladder(cable, trace, seconds, [], say)
    operator = Operator(cable)
    out = {}
    for names, key in (([], "modules0"), (NAMES, "modules4")):
        kind = capture_with(operator, names)
        for rate in RATES:
            lost, left_ns, got = run(ladder, kind, names, rate)
            say(f"    {len(names)} modules {rate:>10,} frames/s: {got / 1e6:5.2f} M/s sent, "
                f"lost {lost}, left {left_ns:6.0f} ns a frame")
            if got < rate * rates.REACHED:
                break  # the rate cannot rise further
            if lost == 0:
                out[f"{key}_left_ns_{rate // 1000}k"] = left_ns
            if rate == AIMED_AT and names:
                out["modules4_lost_1mpps"] = lost
    return out
