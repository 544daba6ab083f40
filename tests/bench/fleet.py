# SPDX-License-Identifier: GPL-2.0
"""A fleet of 10,000 sensors: what showing its state costs the collector's receiving process, and how long the making of
keys for 200 takes."""
import contextlib
import statistics
import subprocess
import time

from bench import consumers
from bench.export import SENSORS, Many, all_up
from netns import testbed

PAIRS = 5
MEASURED_S = 6
ENROLLED = 200  # sensors
RATE = 500  # datagrams per second of all sensors


def share(many, *options):
    """CPU share of the receiving process while all sensors are up and send a little."""
    with contextlib.ExitStack() as stack:
        collector = many.collector(options)
        stack.callback(collector.kill_all)
        swarm, _ = all_up(many, "--rate", str(RATE))
        stack.callback(swarm.kill)
        receiving = [testbed.receiving(collector.pid())]
        cpu, begun = consumers.cpu_seconds(receiving), time.monotonic()
        time.sleep(MEASURED_S)  # the time to measure
        return (consumers.cpu_seconds(receiving) - cpu) / (time.monotonic() - begun)


def enrol_s(directory):
    """Seconds to make keys and config files for sensors."""
    keys = testbed.Keys(directory)
    begun = time.monotonic()
    subprocess.run([testbed.BUILD / "saluki-collector", "enrol", "--key", keys.collector, "--sensors", keys.sensors,
                    "--to", "127.0.0.1:5600", "--control", "none", "--out", directory / "enrolled",
                    *(f"room-{n}" for n in range(ENROLLED))], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


def measure(directory, say):
    enrolled = directory / "enrol"
    enrolled.mkdir()
    seconds = enrol_s(enrolled)
    say(f"    {seconds:.2f} s to enrol {ENROLLED} sensors")
    with contextlib.ExitStack() as stack:
        many = Many(stack, directory, SENSORS)
        costs = []
        for _ in range(PAIRS):
            none, board = share(many, "--board", "none"), share(many)
            costs.append(board - none)
            say(f"    {SENSORS:,} sensors: {none:.2%} of a CPU without the board, {board:.2%} with it")
        return {"enrol_200_s": seconds, "board_cpu_share": statistics.median(costs)}
