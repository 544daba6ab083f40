# SPDX-License-Identifier: GPL-2.0
"""The board: what `saluki-collector status` prints about sensors that run, fall silent, end, or never begin."""
import json
import os
import pty
import re
import select
import stat
import termios
import time

from netns import testbed
from netns.compare import assert_balanced

AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
NAMES = ("lib", "two", "room-0")


def status(bed, *args, **kwargs):
    return bed.ns.run(testbed.BUILD / "saluki-collector", "status", *args, capture_output=True, check=False,
                      **kwargs)


def state(bed, *names):
    """Sensors by their names."""
    p = status(bed, "--json", *names)
    assert p.returncode == 0 and not p.stderr, p
    return {s["name"]: s for s in json.loads(p.stdout)["sensors"]}


def until(bed, name, **wanted):
    """Waits until a sensor's members have these values."""
    testbed.wait_for(lambda: wanted.items() <= state(bed)[name].items(), f"{name}: {wanted}", 20, 0.2)


def test_a_fleet(bed, bundled):
    """One is killed, one ends, one goes on; the others never began."""
    collector = bed.collector(options=["--silent-after", "4s"])
    players = [bed.tun(f"mon{n}", 803, bundled) for n in range(len(NAMES))]
    sensors = [bed.sensor(name, f"mon{n}") for n, name in enumerate(NAMES)]
    frames = [p.play() for p in players]
    for name, count in zip(NAMES, frames):
        until(bed, name, state="up", written=count, seen=count, in_flight=0)
    lib = state(bed)["lib"]
    assert lib["address"] == "127.0.0.1" and lib["application"].startswith("saluki ") and lib["listed"], lib
    assert abs(lib["ahead_us"] - lib["behind_us"]) < 1e6 and lib["interfaces"][0]["name"] == "mon0", lib
    assert lib["interfaces"][0]["seen"] == frames[0]
    sensors[0].kill_all()
    sensors[1].finish()
    until(bed, "lib", state="silent")
    until(bed, "two", state="ended", final=1, balance=0)
    until(bed, "room-0", state="up")
    assert {s["state"] for n, s in state(bed).items() if n not in NAMES} == {"never"}
    said = status(bed).stdout
    rows = {row.split()[0]: row for row in said.splitlines()[3:]}
    assert "sensors 1 of 6 up; frames lost 0; ledger balanced" in said, said
    assert "silent since " in rows["lib"] and "ended at " in rows["two"] and "never heard" in rows["room-1"], said
    assert " up " in rows["room-0"] and "127.0.0.1" in rows["room-0"] and "GROUP" not in said, said
    sensors[2].finish()
    collector.finish()
    for name, count in zip(NAMES[1:], frames[1:]):
        assert_balanced(collector.sensor_stats(name), count)


def check(bed, *args):
    p = bed.ns.run(testbed.BUILD / "saluki-collector", "check", *args, capture_output=True, check=False)
    assert not p.stderr and p.stdout.count("\n") == 1, p
    return p.returncode, p.stdout


def test_check(bed, bundled):
    """For a monitoring system: one line, and exit statuses 0 to 3."""
    assert check(bed)[0] == 3 and "SALUKI UNKNOWN: /run/saluki-collector/board: no collector" in check(bed)[1]
    bed.collector(options=["--silent-after", "3s"])
    for n in range(2):
        bed.tun(f"mon{n}", 803, bundled)
    lib, two = bed.sensor("lib", "mon0"), bed.sensor("two", "mon1")
    until(bed, "lib", state="up")
    until(bed, "two", state="up")
    status_, line = check(bed, "lib", "two")
    assert status_ == 0 and line.startswith("SALUKI OK: 2 of 2 sensors up | up=2;;;0;2 seen=0c written="), line
    testbed.wait_for(lambda: check(bed)[0] == 2, "sensors that do not come", 20, 0.2)
    status_, line = check(bed)
    assert status_ == 2 and "CRITICAL: room-0, room-1, room-2 and 1 more never heard | up=2;;;0;6 " in line, line
    two.finish()
    until(bed, "two", state="ended")
    status_, line = check(bed, "lib", "two")
    assert status_ == 1 and line.startswith("SALUKI WARNING: two ended | "), line
    lib.kill_all()
    until(bed, "lib", state="silent")
    status_, line = check(bed, "lib", "two")
    assert status_ == 2 and line.startswith("SALUKI CRITICAL: lib silent; two ended | up=0;;;0;2 "), line
    p = bed.ns.run(testbed.BUILD / "saluki-collector", "check", "--loss", "x", capture_output=True, check=False)
    assert p.returncode == 3 and p.stderr.startswith("saluki-collector: --loss x: "), p


def test_a_collector_that_has_just_begun_awaits_its_sensors(bed, bundled):
    """After a restart, a monitoring system is not told that all sensors are silent."""
    bed.collector(options=["--silent-after", "1h"])
    bed.tun("mon0", 803, bundled)
    status_, line = check(bed)
    assert status_ == 0 and line.startswith("SALUKI OK: 0 of 6 sensors up; lib, two, room-0 and 3 more awaited "), line
    bed.sensor("lib", "mon0")
    until(bed, "lib", state="up", trouble="fine")
    assert state(bed)["two"]["trouble"] == "awaited" and re.search(r"two +awaited", status(bed).stdout)
    assert check(bed, "lib")[1].startswith("SALUKI OK: 1 of 1 sensors up | ")


def test_check_of_losses(bed, bundled):
    """Frames of a link type that the sensor may not send are lost."""
    bed.keys.sensor("odd", words="linktypes=1")
    bed.collector()
    player = bed.tun("mon0", 803, bundled)
    odd = bed.sensor("odd", "mon0")
    count = player.play()
    until(bed, "odd", state="up", lost_refused=count, seen=count)
    status_, line = check(bed, "odd")
    assert status_ == 1 and line.startswith("SALUKI WARNING: odd losing frames | ") and f"lost={count}c" in line, line
    assert check(bed, "odd", "--loss", "100")[0] == 0
    odd.finish()


def test_top(bed, bundled):
    """On a terminal, the worst first, and again each second, until 'q'."""
    bed.collector(options=["--silent-after", "3s"])
    bed.tun("mon0", 803, bundled)
    lib = bed.sensor("lib", "mon0")
    until(bed, "lib", state="up")
    args = [testbed.BUILD / "saluki-collector", "top", "lib", "two"]
    p = bed.ns.run(*args, capture_output=True, check=False)
    assert p.returncode == 1 and "needs a terminal" in p.stderr, p
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    top = bed.ns.start(*args, stdin=theirs, stdout=theirs, stderr=theirs)
    bed.stack.callback(top.kill)

    def screen(wanted, deadline=20):
        said, end = "", time.monotonic() + deadline
        while not re.search(wanted, said.split("\033[H")[-1], re.S):
            left = end - time.monotonic()
            assert left > 0 and select.select([ours], [], [], left)[0], said
            said += os.read(ours, 65536).decode()

    screen(r"two +never heard.*lib +up ")
    lib.kill_all()
    screen(r"lib +silent since.*two +never heard")
    os.write(ours, b"q")
    assert top.wait(10) == 0
    assert termios.tcgetattr(theirs) == before


def test_equals_the_stats_file(bed, bundled):
    """Both show the same numbers of a run that has ended."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled)
    sensor = bed.sensor("lib", "mon0")
    count = player.play()
    sensor.finish()
    until(bed, "lib", state="ended", written=count)
    shown = state(bed)["lib"]
    testbed.wait_for(lambda: collector.sensor_stats("lib")["final"], "the file", 10)
    stats = collector.sensor_stats("lib")
    names = {"runs", "run", "id", "said", "module_events", "interfaces", "held", "held_disk_ns"}
    numbers = {k: v for k, v in stats.items() if k not in names}
    assert len(numbers) > 35 and {k: shown[k] for k in numbers} == numbers
    assert shown["run"] == stats["run"] and shown["runs"] == stats["runs"] == 1
    collector.finish()


def test_names_and_groups(bed, bundled):
    bed.keys.sensor("east-1", words="group=east")
    with bed.keys.sensors.open("a") as f:
        f.write("group east\n")
    bed.collector()
    assert set(state(bed, "lib", "east")) == {"lib", "east-1"}
    assert state(bed, "east")["east-1"]["group"] == "east"
    assert "GROUP" in status(bed).stdout
    p = status(bed, "lbi")
    assert p.returncode == 1 and not p.stdout
    assert p.stderr == "saluki-collector: lbi: the collector knows no such sensor or group; did you mean 'lib'?\n", p


def test_the_socket(bed):
    """Without a collector, without rights, with a socket elsewhere, and with none."""
    p = status(bed)
    assert p.returncode == 1 and "no collector is there" in p.stderr, p
    path = bed.tmp_path / "board"
    collector = bed.collector(options=["--board", path])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600, "there is no group saluki-board"
    assert "--board" in collector.said and "groupadd --system saluki-board" in collector.said
    assert status(bed, "--board", path).returncode == 0
    p = bed.ns.run(*AS_NOBODY, testbed.BUILD / "saluki-collector", "status", "--board", path, capture_output=True,
                   check=False)
    assert p.returncode == 1 and "are you in the group saluki-board?" in p.stderr, p
    collector.finish()
    assert not path.exists()
    bed.collector(options=["--board", "none"])
    assert status(bed).returncode == 1


def test_only_the_collector_writes(bed):
    """The memory that the socket gives away can be mapped for reading only, and keeps its size."""
    path = bed.tmp_path / "board"
    bed.collector(options=["--board", path])
    script = """if 1:
        import array, mmap, os, socket, sys
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(sys.argv[1])
        hello, rights, *_ = s.recvmsg(64, 256)
        fds = array.array("i", rights[0][2])
        assert len(hello) == 8 and len(fds) == 1, (hello, fds)
        size = os.fstat(fds[0]).st_size
        mmap.mmap(fds[0], size, prot=mmap.PROT_READ)
        for wrong in (lambda: mmap.mmap(fds[0], size, prot=mmap.PROT_READ | mmap.PROT_WRITE),
                      lambda: os.write(fds[0], b"x"), lambda: os.ftruncate(fds[0], 0)):
            try:
                wrong()
            except PermissionError:
                continue
            sys.exit("allowed")
        """
    p = bed.ns.run("python3", "-c", script, path, capture_output=True, check=False)
    assert p.returncode == 0, p.stderr
    assert os.path.exists(path)


def test_output_that_fails(bed):
    bed.collector()
    with open("/dev/full", "w", encoding="ascii") as full:
        p = bed.ns.run(testbed.BUILD / "saluki-collector", "status", stdout=full, stderr=-1, check=False)
    assert p.returncode == 1 and p.stderr == "saluki-collector: cannot print: No space left on device\n", p
