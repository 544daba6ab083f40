# SPDX-License-Identifier: GPL-2.0
"""Debian's Prometheus, which scrapes saluki-web."""
import functools
import json
import subprocess
import urllib.parse

from netns import testbed
from web import programs
from web.server import ADDRESS

RULES = testbed.ROOT / "packaging/prometheus"
CONFIG = """
global: {{scrape_interval: {scrape_s}s, scrape_timeout: {scrape_s}s, evaluation_interval: {scrape_s}s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: saluki
    static_configs: [{{targets: ["{target}"]}}]
"""


@functools.cache
def binaries():
    return programs.tree("prometheus") / "usr/bin"


class Prometheus(testbed.Process):
    """A server in the test's namespace, with a `for` of 2 s in all alerts."""

    def __init__(self, bed, scrape_s=1, config=None):
        folder = bed.tmp_path / "prometheus"
        folder.mkdir()
        rules = folder / "saluki.rules.yml"
        rules.write_text((RULES / "saluki.rules.yml").read_text().replace("for: 2m", "for: 2s"))
        (folder / "config.yml").write_text(
            config or CONFIG.format(rules=rules, target=ADDRESS, scrape_s=scrape_s))
        self.bed = bed
        super().__init__(bed.ns, [binaries() / "prometheus", f"--config.file={folder / 'config.yml'}",
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
