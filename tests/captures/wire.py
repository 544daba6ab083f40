# SPDX-License-Identifier: GPL-2.0
"""Ethernet traffic, recorded in network namespaces: wired/CONVERSATION-WRAP.pcap.zst. A client and
a server have a conversation (talk.py) over a trunk (relay.py), on which tcpdump listens. The kernel
here has no 8021q, MPLS or tunnels, so the relay wraps the frames."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from captures import files, talk
from captures.relay import END
from netns import testbed
from reference import captures

MTU, LARGE, SMALL = 1400, 60000, 1280  # with less, an interface has no IPv6
TESTS = testbed.ROOT / "tests"
IPV6_ON = ("for f in all default eth0; do echo 0 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; "
           "echo 0 > /proc/sys/net/ipv6/conf/$f/accept_dad; done")
# Each conversation's wraps, MTU, and IP version.
PLAIN = ("web", "secure", "names", "mail", "voice", "control", "bulk")
WRAPPED = {
    "web": ("vlan-1", "vlan-100", "mpls-100", "pppoe", "vxlan", "gre", "extensions", "ip-in-ip"),
    "names": ("vlan-1", "vlan-10-20", "mpls-100000-1024", "pppoe", "geneve", "snap", "extensions"),
    "mail": ("vlan-100", "vlan-3-4", "mpls-100", "gre"),
    "voice": ("vlan-1", "vlan-10-20", "pppoe", "vxlan", "geneve", "extensions"),
    "control": ("vlan-3-4", "mpls-100000-1024", "snap", "gre", "extensions"),
    "secure": ("vlan-100",), "bulk": ("vlan-1", "pppoe"), "links": ("plain", "vlan-1", "vlan-10-20"),
}
WRAPPED_6 = {"web": ("vlan-1", "pppoe", "6in4", "extensions", "vxlan"), "names": ("vlan-100", "extensions", "mpls-100"),
             "voice": ("vlan-1", "6in4"), "control": ("vlan-1", "pppoe", "extensions"), "mail": ("vlan-10-20",)}


def recordings():
    """(name, conversation, IP version, wrap, MTU, whether the trunk loses frames)"""
    for what in PLAIN:
        yield f"{what}-4", what, 4, "plain", MTU, False
        yield f"{what}-6", what, 6, "plain", MTU, False
    for version, wrapped in ((4, WRAPPED), (6, WRAPPED_6)):
        for what, wraps in wrapped.items():
            for wrap in wraps:
                yield f"{what}-{version}-{wrap}", what, version, wrap, MTU, False
    for version in 4, 6:
        yield f"pieces-{version}", "pieces", version, "plain", SMALL, False
        yield f"bad-path-{version}", "web", version, "plain", MTU, True
        yield f"large-{version}", "bulk", version, "plain", LARGE, False
    yield "pieces-4-vlan-100", "pieces", 4, "vlan-100", SMALL, False
    yield "pieces-4-extensions", "pieces", 4, "extensions", SMALL, False
    yield "bad-path-4-mpls-100", "web", 4, "mpls-100", MTU, True


def module(ns, name, *args):
    """Entering a namespace changes the folder, so the path names the module's place."""
    return ns.start(sys.executable, "-m", f"captures.{name}", *args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    env={**os.environ, "PYTHONPATH": str(TESTS)})


class Line:
    """client - trunk - server"""

    def __init__(self, stack, folder):
        self.folder = folder
        self.client, self.trunk, self.server = (testbed.Namespace() for _ in range(3))
        for ns in (self.client, self.trunk, self.server):
            stack.callback(ns.close)
        large = ("mtu", "65535")
        testbed.veth(self.client, "eth0", self.trunk, "left", *large)
        testbed.veth(self.server, "eth0", self.trunk, "right", *large)
        testbed.veth(self.trunk, "trunk0", self.trunk, "trunk1", *large)
        for ns, addresses in ((self.client, talk.CLIENTS), (self.server, talk.SERVERS)):
            self.set_up(ns, addresses)
        certificate(folder)
        server = module(self.server, "talk", "serve", folder)
        stack.callback(ended, server)
        ready(server)

    @staticmethod
    def set_up(ns, addresses):
        # Checksums and segments are made here: the trunk takes frames as on a cable.
        ns.run("ethtool", "-K", "eth0", "tx", "off", "tso", "off", "gso", "off", "gro", "off", capture_output=True)
        ns.run("sh", "-c", IPV6_ON)
        for version in 4, 6:
            ns.run("ip", "-batch", "-", input="".join(f"address add {a} dev eth0\n" for a in addresses[version]))
            ns.run("ip", f"-{version}", "route", "add", "default", "dev", "eth0")

    def record(self, name, what, version, wrap, mtu, bad):
        for ns in (self.client, self.server):
            ns.run("ip", "link", "set", "eth0", "mtu", str(mtu))
            ns.run("sh", "-c", "ip neigh flush dev eth0; " + IPV6_ON)
        seed = str(sum(name.encode()))
        trace = self.folder / f"{name}.pcap"
        with contextlib.ExitStack() as stack:
            tcpdump = testbed.Process(self.trunk, ["tcpdump", "-i", "trunk0", "-w", trace, "-Z", "root", "-U", "-B", "32768",
                                                   "--time-stamp-precision=nano", "--immediate-mode"], "listening on")
            stack.callback(tcpdump.kill)
            relay = module(self.trunk, "relay", wrap, *[seed] * bad)
            ready(relay)
            client = module(self.client, "talk", what, str(version), seed, self.folder)
            failed = client.wait(60)
            ended(client)
            ended(relay)
            if failed:
                raise RuntimeError(f"{name}: the conversation has failed")
            testbed.wait_for(lambda: END in trace.read_bytes(), "the end of the recording")
            tcpdump.finish()
        files.write(f"wired/{name}", 1, [f for f in captures.frames(trace) if f.data != END])


def ready(process):
    testbed.lines_until(process.stdout, time.monotonic() + 20, "ready")


def ended(process):
    process.stdin.close()
    process.wait(20)
    process.stdout.close()


def certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=www.example.org", "-days",
                    "365", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)


def make(*names):
    if not names:
        files.forget("wired/*")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        line = Line(stack, pathlib.Path(folder))
        for recording in recordings():
            if not names or recording[0] in names:
                line.record(*recording)
