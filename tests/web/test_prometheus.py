# SPDX-License-Identifier: GPL-2.0
"""The metrics and the alerts by Debian's promtool and Prometheus."""
import subprocess
import time

import pytest

from netns import testbed
from web import server
from web.pretended import Pretended
from web.prometheus import RULES, Prometheus, binaries
from web.server import get, metrics, samples, value

@pytest.mark.parametrize("command", [("check", "rules", "saluki.rules.yml"), ("test", "rules", "saluki.rules.test.yml")],
                         ids=" ".join)
def test_rules(command):
    p = subprocess.run([binaries() / "promtool", *command], cwd=RULES, capture_output=True, text=True, check=False)
    assert p.returncode == 0 and "SUCCESS" in p.stdout, p


@pytest.mark.parametrize("options", [(), ("--metrics-channels",)], ids=["groups", "sensors"])
def test_format(bed, bundled, options):
    bed.collector()
    bed.tun("mon0", 803, bundled).go()
    server.start(bed, *options)
    bed.sensor("lib", "mon0")
    testbed.wait_for(lambda: value(metrics(bed), "saluki_radio_channels", sensor="lib") is not None, "radio", 20, 0.2)
    text = get(bed, "/metrics")
    p = subprocess.run([binaries() / "promtool", "check", "metrics"], input=text, capture_output=True, text=True,
                       check=False)
    assert p.returncode == 0 and not p.stdout and not p.stderr, p


@pytest.mark.parametrize("options", [(), ("--metrics-channels",)], ids=["groups", "sensors"])
def test_many_troubles(bed, options):
    """Invented sensors with channels, and with hostile texts."""
    board = Pretended(bed, 60)
    board.order("3 silent", "7 unlisted", "9 unlisted", "12 never", "5 hostile", "refused", "0 sink", "0 source")
    server.start(bed, *options)
    testbed.wait_for(lambda: value(metrics(bed), "saluki_sensor_frames_seen_total", sensor="(unlisted)"), "a state", 20, 0.2)
    testbed.wait_for(lambda: "saluki_source_connected" in metrics(bed), "Kafka", 20, 0.2)
    text = get(bed, "/metrics")
    p = subprocess.run([binaries() / "promtool", "check", "metrics"], input=text, capture_output=True, text=True,
                       check=False)
    assert p.returncode == 0 and not p.stdout and not p.stderr, p
    found = samples(text)
    names = [has["sensor"] for has, _ in found["saluki_sensor_up"]]
    assert len(names) == 58 and "s-7" not in names and "(unlisted)" not in names
    channels = found["saluki_channel_frames_total"]
    assert {"channel", *(("sensor", "interface") if options else ("group",))} == set(channels[0][0])
    # Counters only rise, also when sensors leave.
    board.order("20 never", "21 never")
    testbed.wait_for(lambda: not value(metrics(bed), "saluki_sensor_up", sensor="s-21"), "the next state", 20, 0.2)
    if not options:
        later = {tuple(has.values()): v for has, v in metrics(bed)["saluki_channel_frames_total"]}
        assert all(later[tuple(has.values())] >= v > 0 for has, v in channels)


@pytest.mark.long
def test_a_sensor_is_killed(bed, bundled):
    """With the defaults of all programs: its series is 0 within 20 s, and its alert fires; the other's does not."""
    bed.collector()
    server.start(bed)
    sensors = {}
    for n, name in enumerate(("lib", "two")):
        bed.tun(f"mon{n}", 803, bundled).go()
        sensors[name] = bed.sensor(name, f"mon{n}")
    prometheus = Prometheus(bed)
    up = 'saluki_sensor_up{sensor=~"lib|two"}'
    testbed.wait_for(lambda: prometheus.query(up) == {("lib",): 1, ("two",): 1}, "both are up", 20, 0.2)
    began = time.monotonic()
    sensors["lib"].kill_all()
    testbed.wait_for(lambda: prometheus.query(up) == {("lib",): 0, ("two",): 1}, "one is not up", 25, 0.2)
    assert time.monotonic() - began < 20
    testbed.wait_for(lambda: ("SalukiSensorSilent", "lib") in prometheus.firing(), "the alert", 10, 0.2)
    assert {name for alert, name in prometheus.firing() if alert == "SalukiSensorNeverCame"} == {
        "room-0", "room-1", "room-2", "room-3"}
    assert {name for alert, name in prometheus.firing() if alert == "SalukiSensorSilent"} == {"lib"}
    written = prometheus.query("sum(saluki_sensor_frames_written_total)")
    assert written[()] == sum(s["written"] for s in server.status(bed)["sensors"])
