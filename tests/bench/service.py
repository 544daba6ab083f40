# SPDX-License-Identifier: GPL-2.0
"""The collector's rate, the agent's memory, a lone frame's delay."""
import itertools
import subprocess
import time

from bench import frames as bench_frames
from bench.cable import CONSUMER_CPU, GENERATOR_CPU
from netns import testbed

COLLECTOR_FRAMES = 4_000_000


def collector_rate(bed, frames, say):
    """Frames per second that a collector on one CPU takes from one sensor on the other, and writes
    to disk. The frames come through a pipe, over and over. The time runs from the first byte into
    the pipe until the collector has confirmed the last frame."""
    trace = bed.directory / "chunk.pcap"
    bench_frames.write_pcap(trace, frames)
    data = trace.read_bytes()
    head, body = data[:24], data[24:]
    rounds = COLLECTOR_FRAMES // len(frames)
    collector = bed.collector(cpu=GENERATOR_CPU)
    reader = bed.reader("-", ["-s", "192", "--keep", "headers"], cpu=CONSUMER_CPU,
                        stdin=subprocess.PIPE)
    pipe = reader.popen.stdin.buffer
    testbed.wait_for(lambda: bed.stats(collector), "the session")
    started = time.monotonic()
    for chunk in itertools.chain([head], itertools.repeat(body, rounds)):
        pipe.write(chunk)
    pipe.close()
    reader.popen.stdin = None
    status, said = reader.finish(signo=None, seconds=300)
    took = time.monotonic() - started
    cpu = bed.collector_cpu(collector)
    if status or not bed.balanced(collector):
        raise RuntimeError(said)
    count = rounds * len(frames)
    say(f"    collector: {count:,} frames in {took:.2f} s, {cpu / count * 1e9:.0f} ns of CPU a frame")
    return {"collector_frames_per_s": count / took,
            "collector_cpu_frames_per_s": count / cpu, "ns_collector_wired": cpu / count * 1e9}


def memory(bed, trace, say):
    """Anonymous and shared memory of the agent's two processes, after real work."""
    collector = bed.collector()
    player = bed.tun(trace, ["--rate", "50000"])
    sensor = bed.sensor("mon0")
    count = player.play()
    testbed.wait_for(lambda: (bed.stats(collector) or {}).get("written") == count, "all")
    kib = testbed.anonymous_kib(sensor.pid())
    sensor.finish()
    player.close()
    if not bed.balanced(collector):
        raise RuntimeError("the ledger does not balance")
    say(f"    agent: {kib} KiB anonymous and shared memory")
    return {"agent_anon_beyond_rings_kib": kib}


def lone_frame(bed, frame, say):
    """From the air to the collector's output."""
    trace = bed.directory / "one.pcap"
    bench_frames.write_pcap(trace, [frame.data], frame.linktype)
    collector = bed.collector()
    player = bed.tun(trace)
    sensor = bed.sensor("mon0")
    before = bed.out.stat().st_size
    started = time.monotonic()
    player.play()
    testbed.wait_for(lambda: bed.out.stat().st_size > before, "the frame", 5, 0.002)
    delay = time.monotonic() - started
    sensor.finish()
    player.close()
    if not bed.balanced(collector):
        raise RuntimeError("the ledger does not balance")
    say(f"    a lone frame is in the output after {delay * 1e3:.0f} ms")
    return {"lone_frame_delay_ms": delay * 1e3}
