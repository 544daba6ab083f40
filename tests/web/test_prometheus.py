# SPDX-License-Identifier: GPL-2.0
"""The metrics and the alerts by Debian's promtool and Prometheus."""
import json
import subprocess
import time
import urllib.parse

import pytest

from netns import testbed
from web import programs, server
from web.server import get, metrics, value

RULES = testbed.ROOT / "packaging/prometheus"
CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: saluki
    static_configs: [{{targets: ["{target}"]}}]
"""


@pytest.fixture(scope="session")
def binaries():
    return programs.tree("prometheus") / "usr/bin"


class Prometheus(testbed.Process):
    """A server in the test's namespace, with a `for` of 2 s in all alerts."""

    def __init__(self, bed, binaries, config=None):
        folder = bed.tmp_path / "prometheus"
        folder.mkdir()
        rules = folder / "saluki.rules.yml"
        rules.write_text((RULES / "saluki.rules.yml").read_text().replace("for: 2m", "for: 2s"))
        (folder / "config.yml").write_text(config or CONFIG.format(rules=rules, target=server.ADDRESS))
        self.bed = bed
        super().__init__(bed.ns, [binaries / "prometheus", f"--config.file={folder / 'config.yml'}",
                                  f"--storage.tsdb.path={folder / 'data'}", "--web.listen-address=127.0.0.1:9090"],
                         "Server is ready to receive web requests")
        bed.stack.callback(self.kill)

    def ask(self, path):
        p = self.bed.ns.run("curl", "-sSf", f"http://127.0.0.1:9090/api/v1/{path}", stdout=subprocess.PIPE)
        return json.loads(p.stdout)["data"]

    def query(self, text):
        """{labels' values: value}"""
        found = self.ask("query?query=" + urllib.parse.quote(text))["result"]
        return {tuple(v for k, v in sorted(r["metric"].items()) if k not in ("__name__", "job", "instance")):
                float(r["value"][1]) for r in found}

    def firing(self):
        return {(a["labels"]["alertname"], a["labels"].get("sensor")) for a in self.ask("alerts")["alerts"]
                if a["state"] == "firing"}


@pytest.mark.parametrize("command", [("check", "rules", "saluki.rules.yml"), ("test", "rules", "saluki.rules.test.yml")],
                         ids=" ".join)
def test_rules(binaries, command):
    p = subprocess.run([binaries / "promtool", *command], cwd=RULES, capture_output=True, text=True, check=False)
    assert p.returncode == 0 and "SUCCESS" in p.stdout, p


@pytest.mark.parametrize("options", [(), ("--metrics-channels",)], ids=["groups", "sensors"])
def test_format(bed, bundled, binaries, options):
    bed.collector()
    bed.tun("mon0", 803, bundled).go()
    server.start(bed, *options)
    bed.sensor("lib", "mon0")
    testbed.wait_for(lambda: value(metrics(bed), "saluki_radio_channels", sensor="lib") is not None, "radio", 20, 0.2)
    text = get(bed, "/metrics")
    p = subprocess.run([binaries / "promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert p.returncode == 0 and not p.stdout and not p.stderr, p


@pytest.mark.long
def test_a_sensor_is_killed(bed, bundled, binaries):
    """With the defaults of all programs: its series is 0 within 20 s, and its alert fires; the other's does not."""
    bed.collector()
    server.start(bed)
    sensors = {}
    for n, name in enumerate(("lib", "two")):
        bed.tun(f"mon{n}", 803, bundled).go()
        sensors[name] = bed.sensor(name, f"mon{n}")
    prometheus = Prometheus(bed, binaries)
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
