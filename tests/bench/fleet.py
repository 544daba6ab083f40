# SPDX-License-Identifier: GPL-2.0
"""A fleet of 10,000 sensors: what showing its state costs the collector's receiving process."""
import contextlib
import statistics
import time

from bench import consumers
from bench.export import SENSORS, Many, all_up
from netns import testbed

PAIRS = 5
MEASURED_S = 6
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


def measure(directory, say):
    with contextlib.ExitStack() as stack:
        many = Many(stack, directory, SENSORS)
        costs = []
        for _ in range(PAIRS):
            none, board = share(many, "--board", "none"), share(many)
            costs.append(board - none)
            say(f"    {SENSORS:,} sensors: {none:.2%} of a CPU without the board, {board:.2%} with it")
        return {"board_cpu_share": statistics.median(costs)}
