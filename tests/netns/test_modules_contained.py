# SPDX-License-Identifier: GPL-2.0
"""Modules that mean harm, or meet a capture that changes, affect only themselves."""
import json
import pathlib
import platform
import subprocess

import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_modules import GRANTS, fixture_modules, fixture_wire  # noqa: F401 (fixtures)
from netns.test_restart import written
from reference import captures

ALL = GRANTS.replace("mac, ip, ports", "radiotap, mac, ssid, ip, ports, payload 128")
NOTHING = GRANTS.replace("Show = mac, ip, ports\n", "")


def both(public, first, of_first, of_others):
    """A policy with an own section for one module."""
    return "".join(f"[Module {name}]\nKey = {public}\n{entries.format(events=1000000)}"
                   for name, entries in ((first, of_first), ("*", of_others)))


@pytest.mark.parametrize("options", [("--source", "xdp"), ("--source", "tc")])
def test_what_one_writes_nobody_else_sees(bed, modules, wire, options):
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384", *options])
    modules.load(modules.copy("scribble"))
    modules.load(modules.copy("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    assert_same(wire, captures.frames(bed.out), stamps=False)
    assert [bytes.fromhex(s["data"]) for s in captures.said(bed.out)] == [
        f.data[6:12] for f in wire]


@pytest.mark.parametrize("others", [True, False])
def test_what_is_not_granted_is_not_in_the_view(bed, modules, wire, others):
    """Fields not granted are empty: neither this frame's nor another module's values are left in
    them."""
    modules.policy.write_text(both(modules.public, "peek", NOTHING, ALL))
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    if others:
        modules.load(modules.copy("scribble"))
        modules.load(modules.copy("each"))
    modules.load(modules.copy("peek"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    peeked = [s for s in captures.said(bed.out) if s["module"] == "peek"]
    assert len(peeked) == len(wire)
    frames = list(captures.frames(bed.out))
    assert [(s["time_ns"], s["direction"]) for s in peeked] == [(f.time_ns, "in") for f in frames]
    for said in peeked:
        data = bytes.fromhex(said["data"])
        assert int.from_bytes(data[:8], "little") & 0xffff == 0  # `has` of the granted fields
        assert set(data[8:]) == {0}


def test_what_is_left_on_the_stack(bed, modules, wire):
    """Linux since 6.3 lets root read unwritten stack slots; a module finds zeros there."""
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("stain"))
    obj = modules.copy("unwritten")
    if tuple(map(int, platform.release().split(".")[:2])) < (6, 3):
        assert modules.run("sign", "--key", modules.key, obj).returncode == 0
        got = modules.run("load", "-i", "tap0", "--policy", modules.policy, obj)
        assert got.returncode == 1 and "the verifier: invalid read from stack" in got.stdout + got.stderr
        return
    modules.load(obj)
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    said = [s["data"] for s in captures.said(bed.out)]
    assert said == ["00" * 16] * len(wire)


def test_how_far_each_reaches(bed, modules, wire):  # pylint: disable=unused-argument
    """A module's view is filled only as far as the module reads, by the verifier's record."""
    modules.policy.write_text(both(modules.public, "peek", ALL, GRANTS))
    bed.collector()
    sensor = bed.sensor("lib", "tap0")
    for name in "count", "each", "peek":
        modules.load(modules.copy(name))
    stats = modules.stats()
    # include/saluki/module.h: addresses, payload, the end
    assert {n: s["reach"] for n, s in stats.items()} == {"count": 80, "each": 224, "peek": 424}
    assert sensor.finish()[0] == 0


def test_a_flood_of_events(bed, modules, wire):
    """A flood of events is limited to its grant and length; neither frames nor another module's
    events are lost."""
    modules.policy.write_text(both(modules.public, "flood", GRANTS.replace("{events}", "50"), GRANTS))
    collector = bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    modules.load(modules.copy("flood"))
    modules.load(modules.copy("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    flood = modules.stats()["flood"]
    assert flood["frames"] == len(wire) == flood["events"] + flood["events_limited"]
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    said = captures.said(bed.out)
    floods = [s for s in said if s["module"] == "flood"]
    assert len(floods) == flood["events"] <= 50 * 4  # of 2 s, begun and ended within one
    assert {s["data"] for s in floods} == {"21" * 64}
    assert [bytes.fromhex(s["data"]) for s in said if s["module"] == "each"] == [
        f.data[6:12] for f in wire]


def test_object_and_policy_are_read_once(bed, modules, wire):  # pylint: disable=unused-argument
    """A file swapped after the check has no effect: no file is opened twice."""
    bed.collector()
    bed.sensor("lib", "tap0")
    obj = modules.copy("each")
    assert modules.run("sign", "--key", modules.key, obj).returncode == 0
    log = bed.tmp_path / "opened"
    got = bed.ns.run("strace", "-f", "-qq", "-o", log, "-e", "trace=open,openat,openat2",
                     testbed.BUILD / "saluki", "module", "load", "-i", "tap0", "--policy",
                     modules.policy, obj, capture_output=True, check=False)
    assert got.returncode == 0, got
    opened = [line for line in log.read_text().splitlines() if "ENOENT" not in line]
    for name in obj.name, obj.name + ".sig", modules.policy.name:
        assert sum(f'{name}"' in line for line in opened) == 1, (name, opened)


def held_load(bed, modules, obj, then=":"):
    """Returns a load that has nearly started its module, and the process that holds it up until
    that process gets a line and has run `then`."""
    bed.ns.run("mkdir", "-p", "/var/lib/saluki/modules")
    held = bed.ns.start("flock", "/var/lib/saluki/modules", "sh", "-c", f"echo; read l; {then}",
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert held.stdout.readline()
    load = bed.ns.start(testbed.BUILD / "saluki", "module", "load", "-i", "tap0", "--policy",
                        modules.policy, obj, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    waiting = f"-> FLOCK  ADVISORY  WRITE {load.pid} "
    testbed.wait_for(lambda: load.poll() is not None or waiting in pathlib.Path("/proc/locks").read_text(),
                     "the load to wait")
    return held, load


def test_a_serial_that_falls_meanwhile(bed, modules, wire):  # pylint: disable=unused-argument
    """Of two loads at once on two interfaces, the older one, checked before the newer was kept,
    does not replace it."""
    bed.collector()
    bed.sensor("lib", "tap0")
    obj = modules.copy("each")
    modules.load(obj)
    assert modules.run("sign", "--key", modules.key, "--serial", "5", obj).returncode == 0
    held, load = held_load(bed, modules, obj, "echo 8 > /var/lib/saluki/modules/each.serial")
    held.communicate("\n")
    said = load.communicate()
    assert load.returncode == 1 and "each: serial 8 was loaded meanwhile, and 5 is older" in said[1], said
    assert bed.ns.run("cat", "/var/lib/saluki/modules/each.serial", capture_output=True).stdout == "8\n"
    assert modules.stats()["each"]["serial"] == 1


def bpftool(bed, *what):
    return json.loads(bed.ns.run("/usr/sbin/bpftool", "-j", *what, capture_output=True).stdout)


@pytest.mark.parametrize("how", ["error=ENOSPC", "signal=KILL"])
def test_a_load_that_ends_amid(bed, modules, wire, how):  # pylint: disable=unused-argument
    """A load is ended at each of its last calls. A running module is pinned, continues, and can be
    unloaded. A load refused by the kernel does not count: except for the very last step, the older
    one can be loaded again."""
    bed.collector()
    sensor = bed.sensor("lib", "tap0")
    obj, log = modules.copy("count"), bed.tmp_path / "calls"
    modules.load(obj)
    pins = "/sys/fs/bpf/saluki/tap0"

    def load(*inject):
        return bed.ns.run("strace", "-qq", "-o", log, "-e", "trace=bpf", *inject, testbed.BUILD / "saluki",
                          "module", "load", "-i", "tap0", "--policy", modules.policy, obj,
                          capture_output=True, check=False)

    assert load().returncode == 0
    calls = len([line for line in log.read_text().splitlines() if line.startswith("bpf(")])
    ended = ahead = 0
    for call in range(calls - 30, calls + 1):
        modules.sign(obj)
        got = load("-e", f"inject=bpf:{how}:when={call}")
        ended += got.returncode != 0
        assert set(modules.stats()) == {"count"} and modules.stats()["count"]["missing"] == 0
        if how == "error=ENOSPC":
            running = {int.from_bytes(bytes(int(b, 16) for b in e["value"]), "little")
                       for e in bpftool(bed, "map", "dump", "pinned", f"{pins}/slots_xdp") if "value" in e}
            assert bpftool(bed, "prog", "show", "pinned", f"{pins}/module:count")["id"] in running, call
            kept = bed.ns.run("cat", "/var/lib/saluki/modules/count.serial", capture_output=True).stdout
            ahead += int(kept) != modules.stats()["count"]["serial"]
        else:
            modules.unload("count")
            left = bed.ns.run("ls", pins, capture_output=True).stdout.split()
            assert not [name for name in left if name.startswith(("module:", "module_new:"))]
            assert modules.stats() == {}
            modules.load(obj)
    assert ended > 4 and ahead <= 1
    assert sensor.finish()[0] == 0


def test_no_room_for_a_ninth(bed, modules, wire):
    bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["-B", "16384"])
    obj = modules.copy("count")
    for n in range(8):
        modules.load(obj, name=f"count-{n}")
    modules.serial += 1
    assert modules.run("sign", "--key", modules.key, "--name", "ninth", "--serial", "1",
                       obj).returncode == 0
    got = modules.run("load", "-i", "tap0", "--policy", modules.policy, obj)
    assert got.returncode == 1 and "unload" in got.stderr and "8 modules" in got.stderr, got
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "10000"])
    assert sender.play() == len(wire)
    stats = modules.stats()
    assert set(stats) == {f"count-{n}" for n in range(8)}
    assert {(s["frames"], s["missing"]) for s in stats.values()} == {(len(wire), 0)}
    status = bed.ns.run(testbed.BUILD / "saluki", "status", "-i", "tap0", "--json", capture_output=True)
    assert sorted(json.loads(status.stdout)["interfaces"][0]["modules"].split(", ")) == sorted(stats)
    assert sensor.finish()[0] == 0


def test_killed_under_load(bed, modules, wire):
    """Modules outlive the agent, and each of their events is there once, as frames are."""
    collector = bed.collector()
    key = bed.keys.sensor("lib")
    sensor = bed.sensor("lib", "tap0", key=key, options=["-B", "16384"])
    modules.load(modules.copy("each"))
    sender = bed.sender("veth0", bed.tmp_path / "wire.pcap", ["--rate", "5000"])
    sender.go()
    for part in 0.2, 0.5:
        testbed.wait_for(lambda p=part: written(collector) > len(wire) * p, "frames")
        sensor.kill_all()
        sensor = bed.sensor("lib", "tap0", key=key, options=["-B", "16384"])
        sensor.expect("goes on")
    assert sender.played() == len(wire)
    each = modules.stats()["each"]
    assert each["frames"] == each["events"] == len(wire)
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(wire))
    assert [bytes.fromhex(s["data"]) for s in captures.said(bed.out)] == [
        f.data[6:12] for f in wire]


def test_they_end_with_the_run(bed, modules, wire):  # pylint: disable=unused-argument
    bed.collector()
    sensor = bed.sensor("lib", "tap0")
    modules.load(modules.copy("count"))
    assert sensor.finish()[0] == 0
    got = modules.run("list", "-i", "tap0")
    assert got.returncode == 1 and "nothing is attached there" in got.stderr, got
    bed.sensor("lib", "tap0")
    assert modules.stats() == {}


def test_pins_that_were_left(bed, modules, wire):  # pylint: disable=unused-argument
    """Pins left by a load while the capture ended do not join the next capture."""
    bed.collector()
    sensor = bed.sensor("lib", "tap0")
    modules.load(modules.copy("count"))
    pins, kept = "/sys/fs/bpf/saluki/tap0", "/sys/fs/bpf/saluki/kept"
    bed.ns.run("sh", "-ec", f"mkdir {kept}; ln {pins}/module* {kept}/")
    assert sensor.finish()[0] == 0
    bed.ns.run("sh", "-ec", f"mkdir {pins}; mv {kept}/* {pins}/; rmdir {kept}")
    sensor = bed.sensor("lib", "tap0")
    assert modules.stats() == {}
    modules.load(modules.copy("count"))
    assert set(modules.stats()) == {"count"}
    assert sensor.finish()[0] == 0


@pytest.mark.parametrize("source", ["mmap", "xsk"])
def test_sources_without_modules(bed, modules, wire, source):  # pylint: disable=unused-argument
    bed.collector()
    sensor = bed.sensor("lib", "tap0", options=["--source", source])
    for args in ("list", "-i", "tap0"), ("unload", "-i", "tap0", "count"):
        got = modules.run(*args)
        assert got.returncode == 1 and "XDP or tc" in got.stderr, got
    assert sensor.finish()[0] == 0


def test_another_link_type(bed, modules, bundled):
    """After a change of the link type, modules made for the old one are unloaded, which is
    logged."""
    collector = bed.collector()
    player = bed.tun("tap0", 1, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "tap0")
    modules.load(modules.copy("count"))
    bed.ns.run("ip", "link", "set", "tap0", "down")
    player.retype(803)
    bed.ns.run("ip", "link", "set", "tap0", "up")
    sensor.expect("its modules are gone")
    sensor.expect("link type IEEE802_11_RADIO")
    assert modules.stats() == {}
    modules.load(modules.copy("count"))
    count = player.play()
    assert modules.stats()["count"]["frames"] == count
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)


@pytest.mark.parametrize("last", [True, False])
def test_another_link_type_amid_a_load(bed, modules, bundled, last):
    """A module prepared for the old link type sees no frame of the new one, whether or not one ran
    before."""
    collector = bed.collector()
    player = bed.tun("tap0", 1, bundled, ["--rate", "5000"])
    sensor = bed.sensor("lib", "tap0")
    if last:
        modules.load(modules.copy("count"))
    obj = modules.copy("each")
    modules.sign(obj)
    held, load = held_load(bed, modules, obj)
    bed.ns.run("ip", "link", "set", "tap0", "down")
    player.retype(803)
    bed.ns.run("ip", "link", "set", "tap0", "up")
    sensor.expect("its modules are gone")  # of the load, too, as far as it got
    sensor.expect("link type IEEE802_11_RADIO")
    held.communicate("\n")
    said = load.communicate()
    assert load.returncode == 1 and "cannot load each: its capture changed meanwhile" in said[1], said
    assert modules.stats() == {}
    left = bed.ns.run("ls", "/sys/fs/bpf/saluki/tap0", capture_output=True).stdout.split()
    assert not [name for name in left if name.startswith(("module:", "module_new:"))]
    count = player.play()
    modules.load(obj)
    assert modules.stats()["each"]["frames"] == 0
    assert sensor.finish()[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), count)
    assert not captures.said(bed.out)


def test_the_capture_ends_amid_a_load(bed, modules, wire):  # pylint: disable=unused-argument
    bed.collector()
    sensor = bed.sensor("lib", "tap0")
    obj = modules.copy("each")
    modules.sign(obj)
    held, load = held_load(bed, modules, obj)
    assert sensor.finish()[0] == 0
    held.communicate("\n")
    said = load.communicate()
    assert load.returncode == 1 and "cannot load each: its capture changed meanwhile" in said[1], said
    sensor = bed.sensor("lib", "tap0")
    assert modules.stats() == {}
    assert sensor.finish()[0] == 0


def test_a_load_while_the_capture_is_changed(bed, modules, wire):  # pylint: disable=unused-argument
    """While the config has no version, its values may be old and the table of slots new: a load is
    refused."""
    bed.collector()
    sensor = bed.sensor("lib", "tap0")
    obj = modules.copy("each")
    modules.sign(obj)
    config = "/sys/fs/bpf/saluki/tap0/config"
    value = bed.ns.run("/usr/sbin/bpftool", "-j", "map", "dump", "pinned", config, capture_output=True).stdout
    value = [int(b, 16) for b in json.loads(value)[0]["value"]]
    version = bed.ns.run(testbed.BUILD / "saluki", "--version", capture_output=True).stdout.split()[1]
    at = bytes(value).index(version.encode() + bytes(1))

    def put(*changed):
        bed.ns.run("/usr/sbin/bpftool", "map", "update", "pinned", config, "key", "0", "0", "0", "0", "value",
                   *map(str, [*value[:at], *changed, *value[at + len(changed):]]))

    put(0)
    got = modules.run("load", "-i", "tap0", "--policy", modules.policy, obj)
    assert got.returncode == 1 and "tap0: its capture is being changed; try again" in got.stderr, got
    assert modules.run("list", "-i", "tap0").returncode == 0
    put()
    modules.load(obj)
    assert sensor.finish()[0] == 0
