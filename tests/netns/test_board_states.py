# SPDX-License-Identifier: GPL-2.0
"""The states of the board that need more than frames: links, places, refused keys, copied keys, restarts."""
import json
import os
import re
import signal
import time

import pytest

from netns import testbed
from netns.test_board import check, state, status, until
from netns.test_starts import other_machine


def all_of(bed):
    p = status(bed, "--json")
    assert p.returncode == 0, p
    return json.loads(p.stdout)


def test_an_interface_that_is_not_up(bed, bundled):
    """Of two interfaces, one goes down and comes back; another sensor's cable is pulled."""
    collector = bed.collector()
    for n in range(2):
        bed.tun(f"mon{n}", 803, bundled)
    testbed.veth(bed.ns, "far0", bed.ns, "tap0")
    lib = bed.sensor("lib", "mon0", options=["-i", "mon1"])
    bed.sensor("two", "tap0")
    until(bed, "lib", state="up", trouble="fine")
    until(bed, "two", state="up", trouble="fine")
    bed.ns.run("ip", "link", "set", "mon1", "down")
    bed.ns.run("ip", "link", "set", "far0", "down")
    until(bed, "lib", trouble="link")
    until(bed, "two", trouble="link")
    collector.expect("sensor lib: its interface mon1 is down")
    collector.expect("sensor two: its interface tap0 has no carrier")
    assert [i["link"] for i in state(bed)["lib"]["interfaces"]] == ["up", "down"]
    assert state(bed)["two"]["interfaces"][0]["link"] == "no carrier"
    said = status(bed).stdout
    assert re.search(r"lib +up, mon1: down", said) and re.search(r"two +up, tap0: no carrier", said), said
    status_, line = check(bed, "lib", "two")
    assert status_ == 2 and "lib, two with an interface that is not up" in line, line
    bed.ns.run("ip", "link", "set", "mon1", "up")
    bed.ns.run("ip", "link", "set", "far0", "up")
    until(bed, "lib", trouble="fine")
    until(bed, "two", trouble="fine")
    collector.expect("sensor lib: its interface mon1 is up again")
    bed.ns.run("ip", "link", "delete", "far0")
    until(bed, "two", trouble="link")
    assert state(bed)["two"]["interfaces"][0]["link"] == "absent"
    lib.finish()
    until(bed, "lib", state="ended", balance=0)
    collector.finish()


def test_places(bed):
    for words, wrong in (("floor=two", "a floor is a whole number"), ("x=0x10", "x= and y= are in metres"),
                         ("y=nan", "x= and y= are in metres"), ("x=1 x=2", "must be NAME ID PUBLIC-KEY"),
                         ("floor=10001", "a floor is a whole number"), ("x=", "x= and y= are in metres")):
        listed = bed.keys.sensors.read_text()
        bed.keys.sensor(f"wrong-{bed.keys.count}", words=words)
        p = bed.ns.run(testbed.BUILD / "saluki-collector", "--listen", "127.0.0.1:5600", "--key", bed.keys.collector,
                       "--sensors", bed.keys.sensors, "-w", bed.tmp_path, capture_output=True, check=False)
        assert p.returncode == 1 and wrong in p.stderr, p
        bed.keys.sensors.write_text(listed)
    bed.keys.sensor("attic", words="floor=-1 x=12.25 y=-3")
    bed.collector()
    attic = state(bed)["attic"]
    assert (attic["floor"], attic["x"], attic["y"]) == (-1, 12.25, -3), attic
    assert "floor" not in state(bed)["lib"]


def test_refused_keys(bed, bundled):
    """A sensor that is not listed is on the board by its key, so that it can be added. It is not taken for one with
    another collector's key."""
    collector = bed.collector()
    bed.tun("mon0", 803, bundled)
    path = bed.keys.sensor("stranger", listed=False)
    public = testbed.public_of(path.read_text().splitlines()[0] + "\n")
    bed.sensor("stranger", "mon0")
    testbed.wait_for(lambda: all_of(bed)["refused"], "a refused key")
    refused, = all_of(bed)["refused"]
    assert refused["key"] == public and refused["reason"] == "unlisted" and refused["address"] == "127.0.0.1", refused
    assert refused["count"] >= 1 and abs(refused["last"] - time.time()) < 30, refused
    said = status(bed).stdout
    assert f"127.0.0.1  {public}: its key is not in the sensors file (" in said, said
    # For longer than it takes until datagrams that open under no key are logged.
    testbed.wait_for(lambda: all_of(bed)["refused"][0]["last"] > refused["first"] + 15, "refused set-ups", 40, 0.5)
    assert [r["reason"] for r in all_of(bed)["refused"]] == ["unlisted"]
    assert "under no key" not in collector.finish()[1]


def test_a_copied_key(bed, bundled):
    collector = bed.collector()
    for n in range(2):
        bed.tun(f"mon{n}", 803, bundled)
    bed.sensor("lib", "mon0")
    until(bed, "lib", state="up", shared_key=None)
    copy = testbed.Process(bed.ns, other_machine(bed, [
        testbed.BUILD / "saluki", "run", "-i", "mon1", "--to", "127.0.0.1:5600", "--key", bed.keys.sensor("lib")]), None)
    bed.stack.callback(copy.kill)
    collector.expect("two machines use its key")
    until(bed, "lib", trouble="shared_key")
    assert [(r["reason"], r["name"]) for r in all_of(bed)["refused"]] == [("twice", "lib")]
    assert re.search(r"lib +up, two machines have its key", status(bed).stdout)
    assert check(bed, "lib")[1].startswith("SALUKI CRITICAL: lib sharing a key with another machine | ")


def test_last_heard_outlives_the_collector(bed, bundled):
    """A restarted collector knows when it last heard of a sensor that does not come back."""
    options = ["--state", bed.tmp_path / "state", "--silent-after", "3s"]
    collector = bed.collector(options=options)
    bed.tun("mon0", 803, bundled)
    lib = bed.sensor("lib", "mon0")
    until(bed, "lib", state="up")
    lib.kill_all()
    heard = state(bed)["lib"]["heard"]
    assert collector.finish()[0] == 0
    for _ in range(2):
        collector = bed.collector(options=options)
        until(bed, "lib", state="never", trouble="silent")
        again = state(bed)["lib"]["heard"]
        assert abs(again - heard) < 3, (again, heard)
        assert state(bed)["two"]["heard"] is None
        assert re.search(r"lib +not since the start; \d\d:\d\d:\d\d", status(bed).stdout)
        assert collector.finish()[0] == 0


def test_a_sensor_that_had_ended_is_not_missing(bed, bundled):
    """After a restart of the collector, too."""
    collector = bed.collector(options=["--state", bed.tmp_path / "state", "--silent-after", "3s"])
    bed.tun("mon0", 803, bundled)
    lib = bed.sensor("lib", "mon0")
    until(bed, "lib", state="up")
    lib.finish()
    until(bed, "lib", state="ended")
    assert collector.finish()[0] == 0
    collector = bed.collector(options=["--state", bed.tmp_path / "state", "--silent-after", "3s"])
    said = collector.expect("sensors not heard since the start")
    assert state(bed)["lib"]["state"] == "ended" and "lib" not in said.split("not heard since")[1]
    assert "sensor lib: ended" not in said and check(bed, "lib")[0] == 1
    bed.sensor("lib", "mon0")
    until(bed, "lib", state="up")


@pytest.mark.parametrize("how", ["none", "socket"])
def test_the_statistics_file_needs_no_socket(bed, bundled, how):
    """The file's process reads the board's memory, also without a socket; its last state is the end's."""
    path = bed.tmp_path / "board"
    collector = bed.collector(options=["--board", path if how == "socket" else "none"])
    player = bed.tun("mon0", 803, bundled)
    lib = bed.sensor("lib", "mon0")
    count = player.play()
    lib.finish()
    assert collector.finish()[0] == 0
    stats = collector.sensor_stats("lib")
    assert stats["written"] == count and stats["final"] == 1 and stats["balance"] == 0, stats


def test_the_statistics_process_is_ended(bed, bundled):
    """The capture goes on without it, and the log says so."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled)
    lib = bed.sensor("lib", "mon0")
    testbed.wait_for(collector.stats_file.exists, "statistics")
    _, statistics, _ = testbed.with_children(collector.pid())
    os.kill(statistics, signal.SIGKILL)
    collector.expect("--stats-file: is no longer written: its process was ended by signal 9")
    count = player.play()
    until(bed, "lib", state="up", written=count)
    lib.finish()
    assert collector.finish()[0] == 0
