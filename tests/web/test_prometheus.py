# SPDX-License-Identifier: GPL-2.0
"""The metrics and the alerts by Debian's promtool and Prometheus."""
import subprocess
import time

import pytest

from netns import testbed
from web import server
from web.prometheus import RULES, Prometheus, binaries
from web.server import get, metrics, value

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
