# SPDX-License-Identifier: GPL-2.0
"""What saluki-merge costs: frames per second, and its memory after minutes and after a day of a live stream."""
import fcntl
import pathlib
import re
import resource
import statistics
import subprocess
import termios
import time

from bench.cable import CONSUMER_CPU, on_cpu
from merge import sim
from merge.program import PROGRAM
from merge.rounds import Rounds

RUNS = 5
EARLY_S = 120  # of the stream's time: memory must not grow from then on
DEADLINE_S = 60
# Both airs play again and again. Clocks whose rate does not walk go on exactly.
MINUTES = {"seconds": 20.0, "walk": 0.0, "batch": True}
MINUTES_S = 600
DAY = {"seconds": 120.0, "walk": 0.0, "batch": True, "sensors": 20, "aps": 6, "stas": 12, "load": 1.6}
DAY_S = 24 * 3600


def rate(stream, frames, directory, say):
    """With parsing and writing to a file, on one CPU. Per second of CPU time, which other programs' turns do not
    change."""
    out, rates = directory / "rate.pcapng", []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        subprocess.run(on_cpu(CONSUMER_CPU, PROGRAM, "-q", "-w", out, stream), check=True)
        took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        rates.append(frames / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        out.unlink()
    say(f"    {', '.join(f'{r / 1e6:.2f}' for r in rates)} M receptions per s of CPU time; the last run took {took:.1f} s")
    return {"merge_frames_per_s": statistics.median(rates)}


def peak_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)[1]) / 1024


def drained(pipe, pid):
    """Waits until the program has read everything, and waits for more."""
    deadline = time.monotonic() + DEADLINE_S
    unread = lambda: int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), "little")
    while unread() or "poll" not in pathlib.Path(f"/proc/{pid}/wchan").read_text():
        if time.monotonic() > deadline:
            raise RuntimeError("saluki-merge does not read its input")
        time.sleep(.01)


def play(replay, seconds, say):
    """(peak MiB after EARLY_S of the stream's time, peak MiB after all). The stream comes as fast as the merge takes
    it. Its memory depends on the stream's time alone."""
    merge = subprocess.Popen([PROGRAM, "-q", "-r", "-", "-w", "/dev/null"], stdin=subprocess.PIPE)
    rounds, early = round(seconds / replay.seconds), None
    began = time.monotonic()
    try:
        for number in range(rounds):
            merge.stdin.write(replay.round(number))
            if early is None and (number + 1) * replay.seconds >= EARLY_S:
                drained(merge.stdin, merge.pid)
                early = peak_mib(merge.pid)
        drained(merge.stdin, merge.pid)
        late = peak_mib(merge.pid)
        merge.stdin.close()
        if merge.wait(DEADLINE_S):
            raise RuntimeError(f"saluki-merge ended with {merge.returncode}")
    finally:
        merge.kill()
        merge.wait()
    say(f"    {rounds * replay.seconds / 3600:.2f} h at {replay.receptions / replay.seconds:,.0f} receptions/s: the peak is "
        f"{early:.1f} MiB after {max(EARLY_S, replay.seconds):.0f} s, {late:.1f} MiB at the end "
        f"(played in {time.monotonic() - began:.0f} s)")
    return early, late


def memory(seed, say):
    """The aim "without growth": the peak at the end is at most 5 % above the peak after EARLY_S."""
    early, late = play(Rounds(sim.simulate(seed=seed, **MINUTES)), MINUTES_S, say)
    day_early, day_late = play(Rounds(sim.simulate(seed=seed, **DAY)), DAY_S, say)
    return {"merge_memory_mib": late, "merge_memory_growth_10min": late / early - 1,
            "merge_memory_growth_24h": day_late / day_early - 1}
