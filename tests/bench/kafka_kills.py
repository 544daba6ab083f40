# SPDX-License-Identifier: GPL-2.0
"""Each program of the whole way (tests/kafka/way.py) is killed under load, sensors move between two collectors, and the
broker is away for a minute. Out: the frames that are not in the files, and the combos that are there twice."""
import collections
import contextlib
import shutil
import signal
import time

from kafka import way
from kafka.broker import Broker
from netns import live, testbed
from netns.conftest import Bed
from netns.test_swarm import COUNT, Swarm

KILLED = ("broker", "put", "collector", "get", "source")
COMBOS = 60  # of each sensor: 140 MB, as fast as they are taken
BEGUN_BYTES = 30 << 20  # in the log or in the files, when a program is killed
OUTAGE_S, OUTAGE_COMBOS, OUTAGE_RATE = 60, 45, 2500  # datagrams a second of all sensors
ROOM_RATE, ROOM_TIMES = 400, 27  # of the real sensor: frames a second, and so often the bundled capture
PATIENCE_S = 300

Loss = collections.namedtuple("Loss", "sent lost twice again")


def lost(whole, swarm, more=0):
    """All that sensors have sent, and what is not in the files. `more`: frames of other sensors, which have ended."""
    status, report = swarm.report(signal.SIGINT)
    if status:
        raise RuntimeError(f"not all combos are settled: {report}")
    log = way.combos(way.log(whole.broker, whole.prefix))
    whole.finish(PATIENCE_S)
    frames = {(m.name.run, m.name.count): m.name.frames for m in log}
    names, found = way.in_files(whole.out)
    names = {(int.from_bytes(n[:8]), int.from_bytes(n[8:])): times for n, times in names.items()}
    twice = sum(times - 1 for times in names.values())
    extra = sum((times - 1) * frames[n] for n, times in names.items())
    sent = report["frames"] + more
    if found - extra > sent:
        raise RuntimeError(f"{found - extra} frames are in the files, but sensors have sent {sent}")
    return Loss(sent, sent - (found - extra), twice, len(log) - len(frames))


@contextlib.contextmanager
def whole_way(directory, name, collectors=1):
    """With a broker of its own, as it may be killed."""
    folder = directory / name
    folder.mkdir()
    folder.chmod(0o755)
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(Broker(folder / "broker")).start()
        bed = Bed(stack, folder)
        yield bed, way.Way(bed, broker, "saluki", collectors)
    shutil.rmtree(folder)


def swarm_of(bed, trace, combos=COMBOS, rate=0, **kwargs):
    return Swarm(bed, "-r", trace, "--combos", combos, "--seconds", 600, "--rate", rate, **kwargs)


def begun(whole, what, times=1):
    """Waits until so much is in the log; or in the files, if a program behind the log is to be killed."""
    paths = (whole.out, "*.pcapng") if what in ("get", "source") else (whole.broker.data, "saluki.combos-*/*.log")
    testbed.wait_for(lambda: sum(f.stat().st_size for f in paths[0].glob(paths[1])) > times * BEGUN_BYTES, "bytes", 120)


def all_settled(swarm, combos=COMBOS):
    swarm.expect(f"all {COUNT * combos} combos are settled", PATIENCE_S)


def killed(directory, trace, what):
    with whole_way(directory, f"killed-{what}") as (bed, whole):
        swarm = swarm_of(bed, trace)
        begun(whole, what)
        whole.kill(what)
        all_settled(swarm)
        return lost(whole, swarm)


def moved(directory, trace):
    """All sensors move to the second collector, and come back."""
    with whole_way(directory, "moved", 2) as (bed, whole):
        network = bed.relay()
        swarm = swarm_of(bed, trace, to=network.address)
        begun(whole, "sensors")
        network("to 5601")
        begun(whole, "sensors", 2)
        network("to 5600")
        all_settled(swarm)
        return lost(whole, swarm)


def outage(directory, trace):
    """The swarm sends more than the window of a collector's sink takes. A real sensor has a store and a spool."""
    with whole_way(directory, "outage") as (bed, whole):
        whole["collector"].finish()
        bed.keys.count = 1000  # after the swarm's
        bed.keys.sensor("room")
        whole.begin("collector")
        path, frames = live.long_trace(bed, ROOM_TIMES)
        player = bed.tun("mon0", 803, path, ["--rate", str(ROOM_RATE)])
        sensor = bed.sensor("room", "mon0", options=["--store-bytes", "1M", "--spool", bed.tmp_path / "spool"])
        player.go()
        swarm = swarm_of(bed, trace, OUTAGE_COMBOS, OUTAGE_RATE)
        way.wait_until_written(whole["source"], COUNT // 4)
        whole.broker.kill()
        time.sleep(OUTAGE_S)  # the outage to measure
        whole.broker.start()
        all_settled(swarm, OUTAGE_COMBOS)
        player.played()
        status, said = sensor.finish(seconds=PATIENCE_S)
        if status:
            raise RuntimeError(said)
        return lost(whole, swarm, len(frames))


def measure(directory, trace, say):
    """`trace`: a capture whose combos have many bytes."""
    found = {}
    for what in KILLED:
        found[f"{what} killed"] = killed(directory, trace, what)
    found["sensors moved"] = moved(directory, trace)
    for name, f in found.items():
        say(f"    {name}: {f.sent:,} frames sent, {f.lost} lost; combos twice: {f.again} in the log, {f.twice} in files")
    away = outage(directory, trace)
    say(f"    {OUTAGE_S} s without a broker: {away.sent:,} frames sent, {away.lost} lost, {away.twice} combos twice")
    return {"kafka_lost": sum(f.lost for f in found.values()),
            "kafka_twice_in_files": sum(f.twice for f in [*found.values(), away]),
            "kafka_twice_in_log": sum(f.again for f in [*found.values(), away]),
            "kafka_outage_lost": away.lost}
