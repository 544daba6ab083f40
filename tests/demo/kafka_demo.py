# SPDX-License-Identifier: GPL-2.0
"""`make run KAFKA=1`: sensors, two collectors, a real broker, and files. A collector and the broker are killed, and each
frame is still once in the files.

Sensors and collectors are in a network namespace. The broker and saluki-kafka are on the machine's loopback.
"""
import contextlib
import copy
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from demo import private_directory, unpack
from kafka import jars, way
from kafka.broker import Broker
from netns import testbed

SENSORS = ("attic", "hall", "yard")
ADDRESSES = ("127.0.0.1:5600", "127.0.0.1:5601")
PREFIX = "demo"
RATE = 300  # frames per second of each sensor
EVENTS = {8: "kill collector 1", 28: "kill broker", 34: "start broker", 44: "start collector 1"}
SECONDS = 60
HEADER = "   time    heard  exported  acknowledged by the brokers   in the files\n" \
         "          frames    frames   collector 1   collector 2         frames"


class Demo:
    def __init__(self, stack, folder, out):
        self.stack, self.folder, self.out, self.tmp_path = stack, folder, out, folder
        self.keys = testbed.Keys(folder)
        self.sensor_keys = {name: self.keys.sensor(name) for name in SENSORS}
        self.ns = testbed.Namespace()
        stack.callback(self.ns.close)
        self.broker = stack.enter_context(Broker(folder / "broker"))
        self.sinks = [folder / f"sink-{n}" for n in (1, 2)]
        self.collectors, self.before = [None, None], [0, 0]

    def say(self, text):
        print(f"{'':8}-- {text}", flush=True)

    def collector(self, n):
        keys = copy.copy(self.keys)
        keys.directory = self.folder / f"collector-{n + 1}"
        keys.directory.mkdir(exist_ok=True)
        options = ["--control", "none", "--board", "none", "--state", keys.directory / "state"]
        self.collectors[n] = testbed.Collector(self.ns, keys, None, listen=ADDRESSES[n], sink=self.sinks[n], options=options)
        self.stack.callback(self.collectors[n].kill)

    def begin(self):
        self.say("starting a broker (Java)")
        self.broker.start()
        subprocess.run([way.KAFKA, "topics", "--brokers", self.broker.address, "--topic-prefix", PREFIX, "--allow-weak",
                        "--replicas", "1", "--partitions", "4", "-q"], check=True)
        self.puts = []
        for n in (0, 1):
            self.collector(n)
            self.puts.append(way.Kafka(self.stack, "put", self.sinks[n], self.broker, PREFIX))
        self.source = way.Source(self, self.folder / "source.sock", self.out)
        self.get = way.Kafka(self.stack, "get", self.folder / "source.sock", self.broker, PREFIX)
        trace = unpack(self.folder)
        self.players, self.sensors = [], []
        for n, name in enumerate(SENSORS):
            player = testbed.Player.tun(self.ns, f"mon{n}", 803, trace, ["--loop", "--rate", str(RATE)])
            self.stack.callback(player.close)
            first, second = ADDRESSES if n % 2 == 0 else ADDRESSES[::-1]
            sensor = testbed.Sensor(self.ns, self.sensor_keys[name], f"mon{n}", first, ["--to", second])
            self.stack.callback(sensor.kill)
            self.players.append(player)
            self.sensors.append(sensor)
        for player in self.players:
            player.go()

    def event(self, what):
        self.say(what)
        if what == "kill collector 1":
            self.before[0] = self.acknowledged(0)
            self.collectors[0].kill_all()
        elif what == "start collector 1":
            self.collector(0)
        elif what == "kill broker":
            self.broker.kill()
        else:
            self.broker.launch()

    def stats(self, n):
        with contextlib.suppress(FileNotFoundError):
            return self.collectors[n].stats()["sensors"]
        return []

    def acknowledged(self, n):
        return self.before[n] + sum(s["written"] for s in self.stats(n)) if self.collectors[n].popen.poll() is None else \
            self.before[n]

    def written(self):
        return sum(s["written"] for s in way.sensors_of(self.source))

    def row(self, at):
        known = {}
        for s in [*self.stats(0), *self.stats(1)]:
            known[s["name"]] = max(known.get(s["name"], (0, 0)), (s["seen"], s["exported"]))
        heard, exported = (sum(k[i] for k in known.values()) for i in (0, 1))
        print(f"{at:5} s {heard:9} {exported:9} {self.acknowledged(0):13} {self.acknowledged(1):13} "
              f"{self.written():14}", flush=True)

    def run(self, seconds):
        print(HEADER)
        begun = time.monotonic()
        for at in range(1, seconds + 1):
            time.sleep(max(0, begun + at - time.monotonic()))  # the rows' pace
            if at in EVENTS:
                self.event(EVENTS[at])
            self.row(at)

    def end(self):
        if not self.broker.process:  # DURATION ended between its kill and its start
            self.event("start broker")
        self.say("the sensors end")
        for player in self.players:
            player.stop()
        ended = [sensor.finish(seconds=60)[0] for sensor in self.sensors]
        testbed.wait_for(lambda: way.caught_up(self.broker, PREFIX), "the last commits", 60)
        for process in (self.get, self.source, *self.collectors, *self.puts):
            ended.append(process.finish()[0])
        return ended


def report(demo):
    """Compares what the sensors exported with the files."""
    balance = 0
    print("\nThe ledgers of the files (--source):")
    for s in sorted(way.sensors_of(demo.source), key=lambda s: s["name"]):
        lost = s["lost_missing"] + s["lost_disk"] + s["lost_refused"]
        print(f"  {s['name']:6} seen {s['seen']} = captured {s['captured']} + others; exported {s['exported']} = written "
              f"{s['written']} + lost {lost}; balance {s['balance']}")
        balance += abs(s["balance"]) + abs(s["exported"] - s["written"] - lost)
    names, frames = way.in_files(demo.out)
    written = demo.written()
    twice = sum(n - 1 for n in names.values())
    print(f"  {frames} frames of {len(names)} combos are in {demo.out.resolve()}; {twice} combos are there twice")
    print("  " + ("every frame is accounted for" if not balance and frames == written and not twice
                  else "FRAMES ARE MISSING OR TWICE"), flush=True)
    return 1 if balance or frames != written or twice else 0


def main(out, seconds):
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        jars.folder()
    except jars.Missing as why:
        print(why, file=sys.stderr)
        return 1
    with contextlib.ExitStack() as stack:
        demo = Demo(stack, private_directory(), out)
        demo.begin()
        with contextlib.suppress(KeyboardInterrupt):
            demo.run(seconds)
        ended = demo.end()
        return report(demo) or max(ended)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else testbed.ROOT / "build/run-kafka"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pcapng"):
        old.unlink()
    sys.exit(main(folder, int(sys.argv[2]) if len(sys.argv) > 2 else SECONDS))
