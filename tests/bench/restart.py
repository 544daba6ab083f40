# SPDX-License-Identifier: GPL-2.0
"""An agent is killed under load and started again: every frame has a number, so lost and repeated
frames can be found."""
import struct
import time

from bench import cable
from netns import testbed

RATE = 500_000
SECONDS_MIN = 5
KILLS = 4
RING_KIB = 131072  # 0.25 GiB/s of records for half a second
NUMBER_AT = 6  # generate.h


def numbers(path):
    """The numbers in a pcapng file's frames: block by block, for there are millions."""
    with open(path, "rb") as f:
        while head := f.read(8):
            kind, size = struct.unpack("<II", head)
            block = f.read(size - 8)
            if kind == 6:  # enhanced packet
                yield struct.unpack_from("<I", block, 20 + NUMBER_AT)[0]


def _sensor(c):
    p = testbed.Process(c.sensor, cable.on_cpu(
        cable.CONSUMER_CPU, testbed.BUILD / "saluki", "run", "-i", "cap0", "--to", cable.COLLECTOR,
        "--key", c.keys.sensor("bench"), "--consume", "--keep", "headers", "-B", RING_KIB),
        "capturing by")
    c.stack.callback(p.kill)
    return p


def measure(c, trace, seconds, say):
    collector = testbed.Collector(c.collector, c.keys, c.written, listen=cable.COLLECTOR)
    c.stack.callback(collector.kill)
    sensor = _sensor(c)
    generator = c.start_generator(trace, RATE, seconds, "number")
    for _ in range(KILLS):
        time.sleep(seconds / (KILLS + 1))  # under load, which is measured
        began = time.monotonic()
        sensor.kill_all()
        sensor = _sensor(c)
        say(f"    killed, and capturing again after {(time.monotonic() - began) * 1000:.0f} ms")
    sent = c.sent(generator)
    status, said = sensor.finish(seconds=60)
    collector.finish()
    stats = collector.sensor_stats("bench")
    if status or stats["ring_full"] or stats["balance"]:
        raise RuntimeError(f"the run itself went wrong: {stats} {said}")
    count = stats["seen"]
    seen = bytearray(sent.frames)
    written = 0
    for n in numbers(c.written):
        seen[n] = 1
        written += 1
    distinct = sum(seen)
    say(f"    sent {sent.frames:,} at {sent.frames / sent.seconds:,.0f}/s, at the hook {count:,}, "
        f"written {written:,}")
    # Frames lost on the cable never came to the hook.
    return {"restart_lost_frames": count - distinct,
            "restart_duplicated_frames": written - distinct}
