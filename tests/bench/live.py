# SPDX-License-Identifier: GPL-2.0
"""Viewers: the time from a frame to tshark's line, the viewers' cost for the collector, and whether a viewer's
count of missed frames is exact."""
import itertools
import os
import signal
import statistics
import subprocess
import time

from bench import frames as bench_frames
from bench.cable import CONSUMER_CPU, GENERATOR_CPU, on_cpu
from netns import testbed
from netns.test_live import last_statistics
from reference import captures

LIVE = testbed.BUILD / "saluki-live"
VIEWERS = 16
FRAMES = 2_000_000
PAIRS = 5
AGE_MS = 100  # --combo-age
AWAITED_S = 3.2  # LIVE_AWAITED_NS of collector/live/live.h: without viewers, nothing is written from then on
LONE_FRAMES = 7


def viewer(bed, *options, **kwargs):
    p = testbed.Process(bed.ns, [*on_cpu(CONSUMER_CPU, "nice", "-n", "19", LIVE), *options], "looking at", **kwargs)
    bed.stack.callback(p.kill)
    return p


def as_extcap(bed):
    """A home in which tshark finds the interface."""
    home = bed.directory / "home"
    home.mkdir(exist_ok=True)
    env = {**os.environ, "HOME": str(home)}
    env.pop("XDG_CONFIG_HOME", None)
    subprocess.run([LIVE, "--install-extcap"], env=env, check=True, capture_output=True)
    return env


def lone_frames(bed, frame, say):
    """From the air to a line of tshark, beyond the combo's age: the median of some frames, each alone."""
    trace = bed.directory / "one.pcap"
    bench_frames.write_pcap(trace, [frame.data], frame.linktype)
    collector = bed.collector()
    tshark = testbed.Process(bed.ns, ["tshark", "-n", "-l", "-i", "saluki"], "Capturing on", env=as_extcap(bed),
                             stdout=subprocess.PIPE)
    bed.stack.callback(tshark.kill)
    took = []
    for n in range(LONE_FRAMES + 1):
        player = bed.tun(trace)
        sensor = bed.sensor("mon0", "--combo-age", str(AGE_MS))
        begun = time.monotonic()
        player.play()
        testbed.lines_until(tshark.popen.stdout, begun + 20, "\n")
        if n:  # the first one also waits for tshark's start
            took.append((time.monotonic() - begun) * 1e3 - AGE_MS)
        sensor.finish()
        player.close()
    tshark.finish(signal.SIGINT)
    collector.finish()
    median = statistics.median(took)
    say(f"    a lone frame is in tshark after {median:.0f} ms and the combo's age ({', '.join(f'{t:.0f}' for t in took)})")
    return {"live_frame_ms": median}


def rate(bed, frames, viewers, *options):
    """Frames per second of the collector's CPU time, which other programs' turns do not change."""
    trace = bed.directory / "chunk.pcap"
    bench_frames.write_pcap(trace, frames)
    data = trace.read_bytes()
    rounds = FRAMES // len(frames)
    collector = bed.collector(cpu=GENERATOR_CPU, options=options)
    looking = [viewer(bed, "-w", "/dev/null") for _ in range(viewers)]
    if not viewers:
        time.sleep(AWAITED_S)
    reader = bed.reader("-", ["-s", "192", "--keep", "headers"], cpu=CONSUMER_CPU, stdin=subprocess.PIPE)
    testbed.wait_for(lambda: bed.stats(collector), "the session")
    before = bed.collector_cpu(collector)
    pipe = reader.popen.stdin.buffer
    for chunk in itertools.chain([data[:24]], itertools.repeat(data[24:], rounds)):
        pipe.write(chunk)
    pipe.close()
    reader.popen.stdin = None
    status, said = reader.finish(signo=None, seconds=300)
    cpu = bed.collector_cpu(collector) - before
    for p in looking:
        p.finish()
    if status or not bed.balanced(collector):
        raise RuntimeError(said)
    return rounds * len(frames) / cpu


def viewers_cost(bed, frames, say):
    """Runs with and without are next to each other, and the median of the quotients counts."""
    with_viewers, with_small, with_ring = [], [], []
    for _ in range(PAIRS):
        none, ring, full, small = (rate(bed, frames, count, *options) for count, options in
                                   ((0, ("--live", "none")), (0, ()), (VIEWERS, ()), (VIEWERS, ("--live-bytes", "8M"))))
        with_ring.append(ring / none)
        with_viewers.append(full / ring)
        with_small.append(small / ring)
        say(f"    collector, M frames per s of CPU: {none / 1e6:.2f} without the ring, {ring / 1e6:.2f} without viewers, "
            f"{full / 1e6:.2f} with {VIEWERS} viewers, {small / 1e6:.2f} with these and a ring of 8 MiB")
    return {f"live_x_{VIEWERS}": statistics.median(with_viewers), f"live_8m_x_{VIEWERS}": statistics.median(with_small),
            "live_ring_x_none": statistics.median(with_ring)}


def missed(bed, frames, say):
    """A viewer is stopped until its ring was overwritten. Its count of missed frames, divided by the true gap."""
    trace = bed.directory / "chunk.pcap"
    bench_frames.write_pcap(trace, frames)
    data = trace.read_bytes()
    rounds = FRAMES // 2 // len(frames)
    collector = bed.collector(options=("--live-bytes", "8M"))
    out = bed.directory / "view.pcapng"
    p = viewer(bed, "-w", out)
    reader = bed.reader("-", ["-s", "192", "--keep", "headers"], stdin=subprocess.PIPE)
    pipe = reader.popen.stdin.buffer
    pipe.write(data)
    pipe.flush()
    for n in range(rounds):
        if n in (rounds // 4, rounds // 2):
            p.send_signal(signal.SIGSTOP if n == rounds // 4 else signal.SIGCONT)
        pipe.write(data[24:])
    pipe.close()
    reader.popen.stdin = None
    reader.finish(signo=None, seconds=300)
    count = (rounds + 1) * len(frames)
    testbed.wait_for(lambda: sum(s[0] for s in last_statistics(out).values()) == count, "the viewer", 60, 0.5)
    p.finish()
    said = sum(s[2] for s in last_statistics(out).values())
    gap = count - len(list(captures.frames(out, captures.INTERFACES_MAX)))
    if not bed.balanced(collector) or not gap:
        raise RuntimeError("the viewer missed nothing, or the ledger does not balance")
    say(f"    a stopped viewer says that it missed {said:,} of {count:,} frames; the true gap is {gap:,}")
    return {"live_missed_exact": said / gap}
