# SPDX-License-Identifier: GPL-2.0
"""Round-trip times of real TCP connections over a path of known delay, with the sensor in its
middle: client - slow - tap - slow - server (slow.c)."""
import collections
import json
import statistics
import subprocess
import sys
import time

import pytest

from bpf import modules as halves
from netns import testbed
from netns.compare import assert_balanced
from netns.test_consume import Consumer
from netns.test_modules import fixture_modules  # noqa: F401 (fixtures)
from netns.testbed import ROOT
from reference import captures
from wifi import figures

SLOW = ROOT / "build/tests/slow"
TRAFFIC = ROOT / "tests/netns/rtt_traffic.py"
PORTS, TIMES = range(8000, 8008), 6
CLIENT_US, SERVER_US = 2000, 3000  # one way, to the nearest port; eight times that to the furthest
SERVERS = "10.9.0.2", "fd09::2"

GRANTS = """Interface = *
Show = {show}
Helper = map_lookup_elem, map_update_elem, map_delete_elem
Map = array, percpu_array, lru_hash
MapMemory = 4M
Instructions = 50000
Events = 10000
Priority = 100
"""


class Slow:
    def __init__(self, bed, a, b, delay_us):
        self.popen = bed.ns.start(SLOW, a, b, delay_us, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        bed.stack.callback(self.popen.kill)
        testbed.lines_until(self.popen.stdout, time.monotonic() + 10, "ready")

    def end(self):
        """Frames: a in, a out, b in, b out."""
        out, _ = self.popen.communicate(timeout=20)
        return list(map(int, out.split()))


class Path:
    """Client, server, and the path between them except the tap."""

    def __init__(self, bed):
        self.bed, self.client, self.server = bed, bed.namespace(), bed.namespace()
        testbed.veth(self.client, "c0", bed.ns, "c1")
        testbed.veth(bed.ns, "t0", bed.ns, "tap0")
        testbed.veth(self.server, "s0", bed.ns, "s1")
        for ns, name in ((self.client, "c0"), (self.server, "s0"), (bed.ns, "c1"), (bed.ns, "t0"),
                         (bed.ns, "tap0"), (bed.ns, "s1")):
            ns.run("ethtool", "-K", name, "tx", "off", "tso", "off", "gso", "off", "gro", "off",
                   capture_output=True)
        for ns, name, number in ((self.client, "c0", 1), (self.server, "s0", 2)):
            ns.run("sh", "-c", f"echo 0 > /proc/sys/net/ipv6/conf/{name}/disable_ipv6")
            ns.run("ip", "addr", "add", f"10.9.0.{number}/24", "dev", name)
            ns.run("ip", "addr", "add", f"fd09::{number}/64", "dev", name, "nodad")

    def join(self):
        """The half after the tap first: frames at the tap go on."""
        self.behind = Slow(self.bed, "tap0", "s1", SERVER_US)
        self.before = Slow(self.bed, "c1", "t0", CLIENT_US)

    def traffic(self):
        """The ends of each connection."""
        ports = f"{PORTS[0]}-{PORTS[-1]}"
        server = self.server.start(sys.executable, TRAFFIC, "serve", ports, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.bed.stack.callback(server.kill)
        testbed.lines_until(server.stdout, time.monotonic() + 20, "ready")
        got = self.client.run(sys.executable, TRAFFIC, "fetch", ports, str(TIMES), *SERVERS,
                              capture_output=True, timeout=120)
        server.communicate(timeout=20)
        return [tuple(c) for c in json.loads(got.stdout)]

    def end(self):
        """Frames that the tap has seen."""
        into = self.before.end()[3]
        return into + self.behind.end()[1]


def away(port, delay_us):
    """A round trip, in ns."""
    return 2 * delay_us * 1000 * (1 + (port & 7))


def ends(report):
    return tuple(report[k] for k in ("client", "client_port", "server", "server_port"))


def errors(reports):
    found = collections.defaultdict(list)
    for r in reports:
        for kind, delay_us in (("whole_ns", CLIENT_US + SERVER_US), ("client_ns", CLIENT_US),
                               ("server_ns", SERVER_US)):
            true = away(r["server_port"], delay_us)
            found[kind].append(abs(r[kind] - true) / true)
    return found


def hide(modules, show):
    """Policy: plain addresses, or not."""
    key = modules.bed.tmp_path / "anonymise.key"
    key.write_text(testbed.saluki("genpsk", check=True).stdout)
    key.chmod(0o600)
    modules.allow(GRANTS.format(show=show) + f"[Keys]\nAnonymise = {key}\n")


@pytest.mark.paired
@pytest.mark.parametrize("show", ["ip, ports", "ip hashed, ports", "ip prefix, ports"])
def test_every_connection_is_measured(bed, modules, show):
    path = Path(bed)
    hide(modules, show)
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["--source", "tc", "-Q", "inout", "-B", "16384"])
    modules.load(modules.copy("rtt"))
    modules.load(modules.copy("lrd"))
    consumer = Consumer(bed, "rtt", "--json", program=ROOT / "build/modules/rtt", ready=None)
    testbed.wait_for(lambda: len(testbed.with_children(consumer.popen.pid)) > 1, "the consumer")
    path.join()
    connections = path.traffic()
    frames = path.end()
    stats = modules.stats()
    modules.unload("rtt")
    consumer.ended()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), frames)

    assert len(connections) == len(PORTS) * TIMES * 2 == stats["rtt"]["events"]
    said = [json.dumps(s) + "\n" for s in captures.said(bed.out)]
    *found, histogram = halves.consume_json("rtt", "".join(said))
    here = list(map(json.loads, consumer.lines()))
    for report in (*here, *found):
        report.pop("time_ns", None)
        report.pop("sensor")
        report.pop("interface", None)
    assert here[:-1] == found
    histogram.pop("sensor")
    assert here[-1] == histogram  # of the map, and of the events

    assert {tuple(r["why"]) for r in found} == {()} and {r["state"] for r in found} == {"opened"}
    by_ports = {(r["client_port"], r["server_port"], ":" in r["server"]) for r in found}
    assert by_ports == {(c[1], c[3], ":" in c[2]) for c in connections}
    if show == "ip, ports":
        assert sorted(map(ends, found)) == sorted(connections)
    else:
        hidden = {r["server"] for r in found} | {r["client"] for r in found}
        assert len(hidden) == 4 and not hidden & {SERVERS[0], SERVERS[1], "10.9.0.1", "fd09::1"}
    error = {kind: statistics.median(e) for kind, e in errors(found).items()}
    if show == "ip, ports":
        figures.tell(rtt_error=error["whole_ns"])
    assert max(error.values()) <= .05, error

    # The other module has seen the same frames, in each direction.
    series = halves.consume_json("lrd", "".join(said))
    assert {(s["direction"], s["series"]) for s in series} == {
        (d, w) for d in ("in", "out") for w in ("bytes", "packets")}
    assert all(s["intervals"] > 100 for s in series)
    assert stats["lrd"]["frames"] == stats["rtt"]["frames"] == frames
