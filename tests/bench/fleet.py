# SPDX-License-Identifier: GPL-2.0
"""A fleet of 10,000 sensors: what showing its state costs the collector's receiving process, how long Prometheus takes
to read it, and how long the page takes to draw it; and how long the making of keys for 200 takes."""
import contextlib
import statistics
import subprocess
import time
import types

from bench import consumers, page
from bench.export import SENSORS, Many, all_up
from netns import testbed
from web import server
from web.prometheus import Prometheus

PAIRS = 9
MEASURED_S = 6
ENROLLED = 200  # sensors
SCRAPES = 3
SCRAPE_S = 15  # between two
RATE = 500  # datagrams per second of all sensors


def share(many, *options):
    """CPU share of the receiving process while all sensors are up and send a little. The statistics file would need
    the board, too."""
    with contextlib.ExitStack() as stack:
        collector = many.collector(options, stats=False)
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


def scrape(directory, say):
    """The longest scrape of a real Prometheus while all sensors are up."""
    with contextlib.ExitStack() as stack:
        many = Many(stack, directory, SENSORS)
        many.collector()
        all_up(many, "--rate", str(RATE))
        bed = types.SimpleNamespace(ns=many.ns, stack=stack, tmp_path=directory)
        web, prometheus = server.start(bed), Prometheus(bed, SCRAPE_S)
        testbed.wait_for(lambda: prometheus.query("count_over_time(scrape_duration_seconds[5m])").get((), 0) >= SCRAPES,
                         f"{SCRAPES} scrapes", 120, 1)
        took = prometheus.query("max_over_time(scrape_duration_seconds[5m])")[()]
        series = prometheus.query("min_over_time(scrape_samples_scraped[5m])")[()]
        up = prometheus.query("sum(saluki_sensor_up)")[()]
        assert up == SENSORS and prometheus.query("min_over_time(up[5m])")[()] == 1, up
        memory = {"web_kib": sum(map(testbed.anonymous_kib, testbed.with_children(web.pid()))),
                  "prometheus_kib": testbed.anonymous_kib(prometheus.pid())}
        say(f"    {series:,.0f} series of {up:,.0f} sensors: a scrape takes at most {took:.2f} s; "
            f"memory: saluki-web {memory['web_kib']:,} KiB, Prometheus {memory['prometheus_kib']:,} KiB")
        return {"scrape_10000_s": took, "scrape_10000_series": series, **memory}


def measure(directory, say):
    enrolled = directory / "enrol"
    enrolled.mkdir()
    seconds = enrol_s(enrolled)
    say(f"    {seconds:.2f} s to enrol {ENROLLED} sensors")
    costs = []
    with contextlib.ExitStack() as stack:
        many = Many(stack, directory, SENSORS)
        for _ in range(PAIRS):
            none, board = share(many, "--board", "none"), share(many)
            costs.append(board - none)
            say(f"    {SENSORS:,} sensors: {none:.2%} of a CPU without the board, {board:.2%} with it")
    return {"enrol_200_s": seconds, "board_cpu_share": statistics.median(costs), **scrape(directory, say),
            **page.measure(directory, say)}
