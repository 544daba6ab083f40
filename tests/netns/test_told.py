# SPDX-License-Identifier: GPL-2.0
"""Log messages for the operator: each fault gives one line that names it and the remedy."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.live import small_store


def status(bed, interface, *args, ns=None):
    return (ns or bed.ns).run(testbed.BUILD / "saluki", "status", "-i", interface, *args,
                              capture_output=True).stdout


def test_a_full_store(bed):
    """Frames given up are dropped_store everywhere: in the log, in status, and in both ends'
    ledgers."""
    collector, relay, player, sensor, frames = small_store(bed)
    assert "dropped 0" in status(bed, "mon0")
    relay("cut")
    player.play()
    said = sensor.expect("the store is full")
    dropped = int(re.search(r"dropped_store (\d+);", said).group(1))
    assert dropped > 0 and "--store-bytes" in said
    text = status(bed, "mon0")
    agent = json.loads(status(bed, "mon0", "--json"))["interfaces"][0]["agent"]
    assert int(re.search(r", dropped_store (\d+)", text).group(1)) >= dropped, text
    assert "dropped 0" not in text and agent["dropped_store"] >= dropped
    relay("mend")
    said = sensor.expect("the store is no longer full; dropped_store", 40)
    testbed.wait_for(lambda: (s := collector.sensor_stats("lib"))["seen"] == len(frames) and
                     s["written"] + s["lost_missing"] == s["captured"], "the rest", 40)
    said = sensor.finish()[1]
    collector.finish()
    stats = collector.sensor_stats("lib")
    assert stats["balance"] == 0
    told = re.findall(r"dropped_store (\d+)", said)
    assert said.count("the store is") == 2, said
    assert int(told[-1]) == stats["dropped_store"] >= int(told[0]) == dropped, said


def test_what_was_left_at_the_end_is_in_the_same_number(bed):
    _, relay, player, sensor, _ = small_store(bed)
    relay("cut")
    player.play()
    sensor.expect("the store is full")
    _, said = sensor.finish(signal.SIGINT)
    numbers = set(re.findall(r"did not take all frames before the end; dropped_store (\d+)", said) +
                  re.findall(r"ledger: dropped_store (\d+)", said))
    assert len(numbers) == 1, said


# ---- the collector's name --------------------------------------------------------------------------


class Names:
    """The C library's sources of names in a namespace: /etc/hosts or a test name server."""

    DNS = """if True:
        import socket, sys
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("127.0.0.1", 53))
        print("ready", flush=True)
        while True:
            q, peer = s.recvfrom(512)
            end = q.index(0, 12) + 5
            is_a = q[end - 4:end - 2] == bytes([0, 1])
            answer = bytes.fromhex("c00c00010001000000000004") + socket.inet_aton(sys.argv[1])
            s.sendto(q[:2] + bytes.fromhex("8180") + q[4:6] + bytes([0, is_a, 0, 0, 0, 0]) +
                     q[12:end] + (answer if is_a else b""), peer)
        """

    def __init__(self, bed):
        """The namespace has its own /etc: a fresh machine may lack any of these files."""
        self.bed = bed
        etc = shutil.copytree("/etc", bed.tmp_path / "etc", symlinks=True)
        for name, text in (("hosts", "127.0.0.1 localhost\n"), ("nsswitch.conf", "hosts: files dns\n"),
                           ("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")):
            (etc / name).unlink(missing_ok=True)  # it may be a link
            (etc / name).write_text(text)
        self.hosts = etc / "hosts"
        bed.ns.run("mount", "--bind", etc, "/etc")

    def add(self, address, name):
        """Written at once, for concurrent readers."""
        with self.hosts.open("r+") as f:
            f.write(f"{address} {name}\n127.0.0.1 localhost\n")

    def serve(self, address):
        p = testbed.Process(self.bed.ns, ["/usr/bin/python3", "-c", self.DNS, address], None,
                            stdout=subprocess.PIPE)
        self.bed.stack.callback(p.kill)
        testbed.lines_until(p.popen.stdout, time.monotonic() + 10, "ready")


def test_a_name_that_is_not_known_yet(bed, bundled):
    """The capture begins, the unknown name is looked up until it resolves, and no frame is lost."""
    names = Names(bed)
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", to="collector.test:5600")
    sensor.expect("collector collector.test:5600: its name cannot be looked up: ")
    count = player.play()
    names.add("127.0.0.1", "collector.test")
    sensor.expect("its name was looked up", 40)
    testbed.wait_for(lambda: (s := collector.sensor_stats("lib")) and s["written"] == count,
                     "all frames", 20)
    status, said = sensor.finish()
    collector.finish()
    assert status == 0 and said.count("cannot be looked up") == 1, said
    assert_balanced(collector.sensor_stats("lib"), count)


def test_a_name_server_and_what_asks_it(bed, bundled):
    """A process without rights or descriptors, and with its own limits, asks the name server."""
    Names(bed).serve("127.0.0.1")
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", to="collector.test:5600")
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session", 10)
    privileged, unprivileged = testbed.with_children(sensor.pid())
    _, resolver = testbed.with_children(unprivileged)
    fields = dict(line.split(":\t", 1) for line in
                  pathlib.Path(f"/proc/{resolver}/status").read_text().splitlines() if ":\t" in line)
    assert int(fields["CapPrm"], 16) == int(fields["CapBnd"], 16) == 0
    assert fields["NoNewPrivs"] == "1" and privileged == sensor.pid()
    assert "sanitize" in str(testbed.BUILD) or fields["Seccomp"] == "2"
    assert len(os.listdir(f"/proc/{resolver}/fd")) == 4  # the standard three, and its socket
    count = player.play()
    assert sensor.finish()[0] == 0
    testbed.wait_ended(resolver)
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


@pytest.mark.long
def test_a_name_that_moves(bed, bundled):
    names = Names(bed)
    names.add("127.0.0.1", "collector.test")
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", to="collector.test:5600")
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session", 10)
    collector.kill_all()
    names.add("127.0.0.9", "collector.test")
    collector = bed.collector(listen="127.0.0.9:5600")
    sensor.expect("its name leads to another address now", 50)
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session", 10)
    count = player.play()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_the_end_of_who_looks_names_up_is_not_the_end(bed, bundled):
    Names(bed).add("127.0.0.1", "collector.test")
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", to="collector.test:5600")
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session", 10)
    resolver = testbed.with_children(testbed.with_children(sensor.pid())[1])[1]
    os.kill(resolver, signal.SIGKILL)
    sensor.expect("what looks names up has ended")
    count = player.play()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_a_file_and_a_name_that_leads_nowhere(bed, bundled):
    Names(bed)
    status, said = bed.reader("lib", bundled, to="collector.test:5600").finish(signo=None)
    assert status == 1 and "collector.test:5600: its name cannot be looked up: " in said, said
    assert "gave no session: its name could not be looked up" in said, said


@pytest.mark.parametrize("to", ["10.0.0.300:5600", "collector.test:nowhere", "[::zz]:5600", "[fe80]:1x"])
def test_what_can_be_no_collector_is_bad_usage(bed, bundled, to):
    status, said = bed.reader("lib", bundled, to=to).finish(signo=None)
    assert status == 2 and f"--to {to}: " in said, said


def test_no_route_yet(bed, bundled):
    """An address without a route at boot is waited for, too."""
    collector = bed.collector(listen=":5600")
    player = bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", to="10.99.0.1:5600")
    sensor.expect("10.99.0.1:5600: no route there at present")
    bed.ns.run("ip", "address", "add", "10.99.0.1/32", "dev", "lo")
    testbed.wait_for(lambda: collector.sensor_stats("lib"), "the session", 20)
    count = player.play()
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


def test_no_route_to_the_end(bed, bundled):
    """A missing route is logged once, and is also the reason at the end."""
    status, said = bed.reader("lib", bundled, to="10.99.0.1:5600").finish(signo=None)
    why = "no route there at present: Network is unreachable; "
    assert status == 1 and said.count(f"10.99.0.1:5600: {why}") == 1, said
    assert f"10.99.0.1:5600: gave no session: {why}" in said, said
    assert "no answer" not in said, said


def test_a_name_without_a_route(bed, bundled):
    """The name's address is known: the message names the missing route instead."""
    names = Names(bed)
    bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", to="collector.test:5600")
    sensor.expect("collector collector.test:5600: its name cannot be looked up: ")
    names.add("10.99.0.1", "collector.test")
    sensor.expect("collector.test:5600: no route there at present: Network is unreachable; ", 40)
    _, said = sensor.finish()
    assert "could not be looked up" not in said, said


def test_a_route_that_comes_and_nobody_there(bed, bundled):
    """When a route appears but nothing listens, the log has the new reason."""
    bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", to="10.99.0.1:5600")
    sensor.expect("10.99.0.1:5600: no route there at present")
    bed.ns.run("ip", "address", "add", "10.99.0.1/32", "dev", "lo")
    sensor.expect("10.99.0.1:5600: nothing listens there; ", 30)


# ---- mount namespaces ------------------------------------------------------------------------------


def in_netns(bed, *args):
    """As an operator runs it: `ip netns exec` gives each command its own /sys."""
    return bed.ns.run("ip", "netns", "exec", "there", testbed.BUILD / "saluki", *args, check=False,
                      capture_output=True)


@pytest.fixture
def netns(bed):
    bed.ns.run("ip", "netns", "add", "there")
    bed.ns.run("ip", "link", "add", "out", "type", "veth", "peer", "name", "in", "netns", "there")
    yield
    bed.ns.run("ip", "netns", "delete", "there")


def assert_remedy(bed, said):
    """The remedy works."""
    remedy = re.search(r"use '(nsenter --net=/run/netns/there saluki attach) \.\.\.'", said)
    assert remedy, said
    words = remedy.group(1).replace("saluki", str(testbed.BUILD / "saluki"), 1).split()
    assert "in: attached by" in bed.ns.run(*words, "-i", "in", capture_output=True).stderr


def test_attach_that_would_not_stay(bed, netns):
    """Attaching where pins would not stay is refused, and the named remedy works."""
    got = in_netns(bed, "attach", "-i", "in")
    assert got.returncode == 1 and "nothing would stay attached" in got.stderr, got
    assert_remedy(bed, got.stderr)
    enter = ["nsenter", "--net=/run/netns/there", testbed.BUILD / "saluki"]
    assert "in: attached by" in bed.ns.run(*enter, "status", capture_output=True).stdout
    # From where the pins are not visible, the message shows the way there.
    for args in ([], ["-i", "in"]):
        got = in_netns(bed, "status", *args)
        where = re.search(r"in: saluki captures there; its pins are in another mount namespace, see "
                          r"'nsenter --mount=(\S+) saluki (status -i in)'", got.stderr)
        assert got.returncode == len(args) // 2 and where, got
        # Entering a mount namespace leaves a chroot, in which the tests may run.
        got = subprocess.run(["nsenter", f"--mount={where.group(1)}", f"--root=/proc/{bed.ns.holder.pid}/root",
                              *map(str, enter), *where.group(2).split()], capture_output=True, text=True,
                             check=True)
        assert "in: attached by" in got.stdout
    bed.ns.run(*enter, "detach", "-i", "in", capture_output=True)


def test_attach_that_others_keep(bed, netns):
    """With another process in the namespace, the message says how long the programs stay."""
    got = bed.ns.run("ip", "netns", "exec", "there", "sh", "-c",
                     f"{testbed.BUILD}/saluki attach -i in; {testbed.BUILD}/saluki status",
                     capture_output=True)
    assert "ends when the namespace does" in got.stderr and "in: attached by" in got.stdout, got


@pytest.mark.parametrize("wrapper", [["timeout", "9"], ["sh", "-c", '"$@"; exit', "sh"]])
def test_attach_by_another_program(bed, netns, wrapper):
    """A short-lived program keeps the namespace: the message names it, and the remedy."""
    got = bed.ns.run("ip", "netns", "exec", "there", *wrapper, testbed.BUILD / "saluki", "attach", "-i",
                     "in", capture_output=True)
    assert re.search(rf"ends when the namespace does, with its last process \(now {wrapper[0]}, "
                     r"\d+\)", got.stderr), got
    assert bed.ns.run("nsenter", "--net=/run/netns/there", testbed.BUILD / "saluki", "status",
                      capture_output=True).stdout == "nothing is attached\n"
    assert_remedy(bed, got.stderr)
    bed.ns.run("nsenter", "--net=/run/netns/there", testbed.BUILD / "saluki", "detach", "-i", "in",
               capture_output=True)


# Its /proc has two processes that see the pins, and the first has no program, as a kernel thread.
FEW_PROCESSES = """
set -e
mount -t tmpfs few "$1"
for pid in 300 2; do
    mkdir -p "$1/$pid/root/sys/fs/bpf"
    mount --bind /sys/fs/bpf "$1/$pid/root/sys/fs/bpf"
done
ln -s /bin/true "$1/300/exe"
mkdir "$1/self"
mount --rbind "/proc/$$" "$1/self"
mount -t tmpfs none /sys/fs/bpf
mount --rbind "$1" /proc
exec "$2" status -i tap0
"""


def test_the_process_that_is_named_is_no_kernel_thread(bed):
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    bed.ns.run(testbed.BUILD / "saluki", "attach", "-i", "tap0", capture_output=True)
    few = bed.tmp_path / "few"
    few.mkdir()
    got = bed.ns.run("unshare", "--mount", "--propagation", "private", "sh", "-c", FEW_PROCESSES, "sh",
                     few, testbed.BUILD / "saluki", check=False, capture_output=True)
    bed.ns.run(testbed.BUILD / "saluki", "detach", "-i", "tap0", capture_output=True)
    assert "nsenter --mount=/proc/300/ns/mnt saluki status" in got.stderr, got


def test_status_where_nothing_is_attached(bed, netns):
    got = in_netns(bed, "status")
    assert got.returncode == 0 and got.stdout == "nothing is attached\n", got
    assert "seen with 'nsenter --net=/run/netns/there saluki status'" in got.stderr, got


# ---- the cable -------------------------------------------------------------------------------------


def test_a_cable_that_is_pulled(bed):
    """A pulled cable is logged when it goes and returns, and status shows it meanwhile, with or
    without an agent."""
    far = bed.namespace()
    testbed.veth(bed.ns, "tap0", far, "veth0")
    sensor = bed.sensor("lib", "tap0")
    assert "carrier" not in sensor.said
    far.run("ip", "link", "set", "veth0", "down")
    sensor.expect("tap0: lost its carrier; is the cable in, and its other end up?")
    assert "  link     no carrier\n" in status(bed, "tap0")
    assert json.loads(status(bed, "tap0", "--json"))["interfaces"][0]["link"] == "no carrier"
    far.run("ip", "link", "set", "veth0", "up")
    sensor.expect("tap0: the carrier is back; capturing")
    assert "  link " not in status(bed, "tap0")
    bed.ns.run("ip", "link", "set", "tap0", "down")
    sensor.expect("tap0: went down; waiting for it")
    assert "  link     down\n" in status(bed, "tap0")
    far.run("ip", "link", "set", "veth0", "down")
    bed.ns.run("ip", "link", "set", "tap0", "up")
    sensor.expect("tap0: is up again, without a carrier")
    sensor.finish()
    sensor = bed.sensor("lib", "tap0")
    sensor.expect("tap0: has no carrier: no cable, or nothing at its other end")
    assert sensor.finish()[1].count("lost its carrier") == 0


# ---- clocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds,sensor_says,collector_says", [
    (86400, "this machine's clock is 24 h ahead of the collector's, and frames are stamped by it",
     "sensor lib: its clock is 24 h ahead of this machine's, and its frames have its stamps"),
    (-864000, "this machine's clock is 10 days behind the collector's",
     "sensor lib: its clock is 10 days behind this machine's"),
    (30, None, None)])
def test_a_wrong_clock(bed, bundled, seconds, sensor_says, collector_says):
    """Both ends log a wrong clock, once."""
    collector = bed.collector()
    bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", env=bed.clock(seconds).env)
    if sensor_says:
        sensor.expect(sensor_says)
        collector.expect(collector_says)
    testbed.wait_for(lambda: (s := collector.sensor_stats("lib")) and s["round_trip_us"], "the measurement")
    said = sensor.finish()[1] + collector.finish()[1]
    assert said.count("clock is") == (2 if sensor_says else 0), said


@pytest.mark.long
def test_a_clock_that_is_set(bed, bundled):
    clock = bed.clock(86400)
    collector = bed.collector()
    bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0", env=clock.env)
    sensor.expect("ahead of the collector's")
    collector.expect("sensor lib: its clock is 24 h ahead")
    clock.move(0)
    sensor.expect("its clock and this machine's agree again", 100)
    collector.expect("sensor lib: its clock and this machine's agree again", 100)


# ---- the collector's control socket ----------------------------------------------------------------


def test_the_usual_control_socket_is_taken(bed):
    """The message says what the second collector lacks, and the option for it."""
    first = bed.collector()
    second = bed.collector(write=bed.tmp_path / "second.pcapng", listen="127.0.0.1:5601")
    status, said = second.finish()
    assert status == 0
    assert "--control /run/saluki-collector/control: another process listens there\n" in said, said
    assert "'saluki-collector ctl' does not reach this collector; --control PATH gives it a socket" in said
    third = bed.collector(write=bed.tmp_path / "third.pcapng", listen="127.0.0.1:5602",
                          options=["--control", bed.tmp_path / "own"])
    assert "--control" not in third.said
    assert third.finish()[0] == first.finish()[0] == 0


# ---- VLAN tags -------------------------------------------------------------------------------------


def test_a_card_that_takes_vlan_tags_off(bed):
    """A card that removes VLAN tags gives one line and no refusal: tc is as good, and the line
    names XDP's requirement."""
    testbed.veth(bed.ns, "tap0", bed.namespace(), "veth0")
    bed.ns.run("ethtool", "-K", "tap0", "rxvlan", "on", capture_output=True)
    said = bed.sensor("lib", "tap0").finish()[1]
    lines = [line for line in testbed.without_times(said).splitlines() if "VLAN" in line]
    assert len(lines) == 1 and "refused" not in said, said
    assert lines[0].startswith("saluki: tap0: tc, not XDP, since the card takes VLAN tags off")
    assert "'ethtool -K tap0 rxvlan off'" in lines[0] and "tap0: capturing by tc" in said


# ---- times and numbers -----------------------------------------------------------------------------


def test_how_long_the_ring_lasts(bed, bundled):
    """The ring's duration is printed in a readable unit, with the right singular."""
    player = bed.tun("mon0", 803, bundled, ["--rate", "5", "--loop"])
    player.go()
    sensor = bed.sensor("lib", "mon0")
    said = sensor.expect("at the present")
    assert re.search(r"frames of \d+ bytes, \d+ (min|h) at the present \d frames?/s(, if one CPU receives all)?\n",
                     said), said


def test_one_is_not_many(bed, bundled):
    """Counts of one are in the singular, as in tcpdump."""
    bed.collector()
    one = bed.tmp_path / "one.pcap"
    data = bundled.read_bytes()
    one.write_bytes(data[:40 + int.from_bytes(data[32:36], "little")])
    status, said = bed.reader("lib", one).finish(signo=None)
    assert status == 0, said
    assert "\n1 packet captured\n1 packet received by filter\n0 packets dropped by kernel\n" in "\n" + said
    assert "in 1 combo, " in said
