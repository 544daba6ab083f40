# SPDX-License-Identifier: GPL-2.0
"""`saluki capture`: its rate and CPU beside `saluki run` with a collector, and how soon the first frame is there."""
import os
import statistics
import struct
import subprocess
import time

from bench import frames
from netns import testbed
from netns.testbed import BUILD

ROUNDS = 5
FRAMES = 400_000
STARTS = 7
WHOLE = ["-s", "0", "--keep", "all"]  # as `saluki capture` has them
PACKETS = 1000  # per second, while the first frame is awaited
SENDER = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print("ready", flush=True)
while True:
    s.sendto(b"x" * 64, ("127.0.0.1", 9)); time.sleep(1 / {PACKETS})
"""


def ended(popen):
    """Waits for a program; returns the CPU seconds of it and of all children that it has waited for."""
    _, status, used = os.wait4(popen.pid, 0)
    popen.returncode = os.waitstatus_to_exitcode(status)
    if popen.returncode:
        raise RuntimeError(f"{popen.args} ended with {popen.returncode}")
    return used.ru_utime + used.ru_stime


def captured_here(bed, trace):
    """(seconds, CPU seconds)"""
    began = time.monotonic()
    p = bed.ns.start(BUILD / "saluki", "capture", "-q", "-r", trace, "-w", bed.out, "--combo-age", "1000",
                     stderr=subprocess.DEVNULL)
    cpu = ended(p)
    return time.monotonic() - began, cpu


def run_with_collector(bed, trace):
    """The same by two commands. The collector's start and end do not count in the seconds, but in the CPU's."""
    bed.out.unlink(missing_ok=True)
    key = bed.keys.sensor("lib")
    collector = testbed.Collector(bed.ns, bed.keys, bed.out, options=["-q", "--state", "none"], ready=None,
                                  stderr=subprocess.DEVNULL)
    bed.stack.callback(collector.kill)
    collector.stats()  # it runs
    began = time.monotonic()
    p = bed.ns.start(BUILD / "saluki", "run", "-q", "-r", trace, "--to", "127.0.0.1:5600", "--key",
                     key, *WHOLE, stderr=subprocess.DEVNULL)
    cpu = ended(p)
    seconds = time.monotonic() - began
    collector.send_signal(2)
    return seconds, cpu + ended(collector.popen)


def compare(bed, trace, say):
    """Both in turn: `capture_x_run` is the ratio of the rates, `capture_cpu_x_run` that of the CPU time."""
    real = list(frames.real())
    count = len(real) * max(1, FRAMES // len(real))
    frames.write_pcap(trace, real * (count // len(real)))
    rates, cpus = [], []
    for _ in range(ROUNDS):
        here, apart = captured_here(bed, trace), run_with_collector(bed, trace)
        rates.append(apart[0] / here[0])
        cpus.append(here[1] / apart[1])
        say(f"    capture {count / here[0] / 1e6:.2f} M frames/s, {here[1] / count * 1e9:.0f} ns CPU a frame; run "
            f"{count / apart[0] / 1e6:.2f}, {apart[1] / count * 1e9:.0f}")
    return {"capture_x_run": statistics.median(rates), "capture_cpu_x_run": statistics.median(cpus)}


def first_frame(stream):
    """Reads pcapng up to the end of the first enhanced packet block."""
    kind = None
    while kind != 6:
        head = stream.read(8)
        if len(head) < 8:
            raise RuntimeError("the capture ended before its first frame")
        kind, length = struct.unpack("<II", head)
        stream.read(length - 8)


def seconds_to_first(bed, command):
    began = time.monotonic()
    p = bed.ns.start(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        first_frame(p.stdout.buffer)
        return time.monotonic() - began
    finally:
        p.terminate()
        p.stdout.close()
        p.wait()


def starts(bed, say):
    """Of `saluki capture -w -`, and beside it of tshark."""
    sender = bed.ns.start("/usr/bin/python3", "-c", SENDER, stdout=subprocess.PIPE)
    bed.stack.callback(lambda: (sender.kill(), sender.communicate()))
    sender.stdout.readline()
    out = {}
    for name, command in (("first_frame_s", [BUILD / "saluki", "capture", "-i", "lo", "-w", "-"]),
                          ("first_frame_tshark_s", ["tshark", "-i", "lo", "-w", "-"])):
        out[name] = statistics.median(seconds_to_first(bed, command) for _ in range(STARTS))
        say(f"    {command[0]}: the first frame after {out[name]:.2f} s")
    return out
