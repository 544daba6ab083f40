# SPDX-License-Identifier: GPL-2.0
"""The board: what `saluki-collector status` prints about sensors that run, fall silent, end, or never begin."""
import json
import os
import stat

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
