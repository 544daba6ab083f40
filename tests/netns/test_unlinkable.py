# SPDX-License-Identifier: GPL-2.0
"""The programs' own datagrams are compared with random ones, as tests/wire/test_unlinkable.py does
with far more datagrams of the same functions. Ten sensors and a collector, each sensor through its
own relay, which records both ways and loses some, so that much is sent again. Each sensor's frames
differ from the others' in each byte, and are not compressed.

Each run has its own interval, by a moved clock, except those of the last test."""
import collections
import dataclasses

import numpy as np
import pytest

from netns.compare import assert_balanced
from netns.relay import recorded
from reference import captures
from reference.test_reference import write_pcap
from wire import test_unlinkable as simulated
from wire.test_unlinkable import LABELS, OVERALL, PADDED, SENSORS, Recording, examine

RUNS = 3       # per sensor, one after the other, each with its own keys and ports
FRAMES = 600   # per run
FRAME_LEN = 800
EACH_NS = 1000000  # between frames: datagrams sent at once are acknowledged at once
LEAST, LEAST_DOWN = 10000, 400
STARTS = 12    # in one interval: without memory, two would take one slot with a chance of 91 %
APART = 480    # seconds: unanswered handshakes use an interval's neighbours, too
WAYS = ("sensor", "way")  # a recording does not show kinds


def telling(bed, sensor, count):
    """A capture whose frames have only one byte value, the sensor's."""
    path = bed.tmp_path / f"{sensor}.pcap"
    data = bytes([sensor]) * FRAME_LEN
    write_pcap(path, 1, [captures.Frame(10**18 + n * EACH_NS, FRAME_LEN, 1, data) for n in range(count)])
    return path


def labelled(recordings):
    """One label for those of all sensors."""
    seen = [(sensor, r) for sensor, recording in enumerate(recordings) for r in recording]
    labels = np.array([(sensor, r.down, r.down, 0, len(r.data), 0) for sensor, r in seen], LABELS)
    lengths = labels["length"].astype(np.int64)
    data = np.frombuffer(b"".join(r.data for _, r in seen), np.uint8).copy()
    return Recording(labels, data, np.cumsum(lengths) - lengths)


class Sensors:
    """Ten sensors or fewer, each behind a recording relay, and their collector."""

    def __init__(self, bed, count, frames):
        self.bed, self.frames, self.clock = bed, frames, bed.clock()
        self.names = [f"sensor-{i}" for i in range(count)]
        for name in self.names:
            bed.keys.sensor(name)
        # The collector changes its key: the sensors know the old one, and are told the new one.
        old, bed.keys.collector = bed.keys.collector, bed.tmp_path / "new.key"
        bed.keys._pair(bed.keys.collector)
        self.collector = bed.collector(options=["--key", old], env=self.clock.env)
        self.relays = [bed.relay(port=5700 + i) for i in range(count)]
        self.files = [bed.tmp_path / f"{name}.recording" for name in self.names]
        self.traces = [telling(bed, i, frames) for i in range(count)]
        for i, relay in enumerate(self.relays):
            relay(f"seed {i}", "loss 2", f"record {self.files[i]}")

    def run(self, options):
        """Runs all at once, to their ends."""
        options = ("--compress", "none", "--keep", "all", "-s", FRAME_LEN, "--pace",
                   "--combo-size", "4096", *options)
        readers = [self.bed.reader(name, trace, to=relay.address, env=self.clock.env,
                                   options=[*options, "--collector-keys", self.bed.tmp_path / f"{name}.keys"])
                   for name, trace, relay in zip(self.names, self.traces, self.relays)]
        for reader in readers:
            status, said = reader.finish(signo=None, seconds=100)
            assert status == 0, said

    def finish(self, runs):
        """Returns each one's recording."""
        assert self.collector.finish()[0] == 0
        for name, relay in zip(self.names, self.relays):
            relay("record")
            assert_balanced(self.collector.sensor_stats(name), self.frames * runs)
            assert len((self.bed.tmp_path / f"{name}.keys").read_text().split()) == 4
        return [recorded(file) for file in self.files]


def bytes_tell(recording, findings):
    simulated.byte_positions(recording, findings)
    simulated.classifiers(recording, findings, False, WAYS)


def planted(recording):
    """Yields the recording with planted leaks and the test that must find each: is the sample large
    enough?"""
    labels, starts = recording.labels, recording.starts
    some = np.random.default_rng(2).random(len(labels)) < 0.25
    last = starts + labels["length"] - 1
    for name, places, values in (
            ("a sensor's number in a quarter", starts[some] + 9, labels["sensor"][some]),
            ("a bit of the way", last, recording.data[last] & 0xfe | labels["way"]),
            ("a byte that is often one", starts[some] + 3, 0x45)):
        data = recording.data.copy()
        data[places] = values
        yield name, bytes_tell, dataclasses.replace(recording, data=data)
    data = recording.data.copy()  # with retransmissions that are not sealed again
    one, two = starts[:2]
    length = labels["length"][:2].min()
    data[two:two + length] = data[one:one + length]
    yield "a datagram said twice", simulated.repeated_strings, dataclasses.replace(recording, data=data)


@pytest.mark.parametrize("options", [["--pad"], []], ids=["pad", "plain"])
def test_nothing_links_what_programs_send(bed, options):
    sensors = Sensors(bed, SENSORS, FRAMES)
    for n in range(RUNS):
        sensors.clock.move(n * APART)
        sensors.run(options)
    recording = labelled(sensors.finish(RUNS))
    labels = recording.labels
    findings, lines = examine(recording, bool(options), WAYS)
    down = int(labels["way"].sum())
    print(f"\n{' '.join(options) or 'plain'}: {len(labels)} datagrams of {SENSORS} sensors in "
          f"{SENSORS * RUNS} runs, {down} of them down; {findings.tests} tests, "
          f"{len(findings.found)} significant at {OVERALL} overall")
    for line in lines:
        print("  " + line)
    assert len(labels) >= LEAST and down >= LEAST_DOWN
    assert not options or set(labels["length"]) == {PADDED}
    assert not findings.found, findings.found[:10]
    for name, find, leaky in planted(recording):
        findings = simulated.Findings()
        find(leaky, findings)
        print(f"  planted, {name}: {len(findings.found)} findings: {findings.found[:1]}")
        assert findings.found, name


def test_starts_in_one_interval_repeat_nothing(bed):
    """An agent knows which slots an earlier one on this machine used: starts in one interval repeat
    nothing."""
    sensors = Sensors(bed, 1, 20)
    for _ in range(STARTS):
        sensors.run(["--pad"])
    seen = sensors.finish(STARTS)[0]
    places = collections.defaultdict(list)
    for n, r in enumerate(seen):
        for at in range(len(r.data) - 7):
            places[r.data[at:at + 8]].append((n, at))
    ports = {r.port for r in seen if not r.down}
    print(f"\n{STARTS} starts from {len(ports)} ports, {len(places)} strings of 8 bytes")
    assert len(ports) >= STARTS
    assert not [p for p in places.values() if len(p) > 1]
