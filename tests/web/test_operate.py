# SPDX-License-Identifier: GPL-2.0
"""docs/operate.md, "Metrics and alerts": its commands and configurations, with folders of the test, by Debian's nginx
and Prometheus."""
import re
import subprocess

import pytest

from netns import testbed
from web import programs, server
from web.prometheus import RULES, Prometheus

pytestmark = pytest.mark.full
PAGE = testbed.ROOT / "docs/operate.md"
NGINX = """
daemon off; master_process off; pid {0}/nginx.pid; error_log stderr; events {{}}
http {{ access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
{1}
}}
"""


def blocks(begin):
    """The indented blocks of the page that begin so, without their indent."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)
    lines = [[line[4:] for line in b.strip("\n").split("\n")] for b in "\n\n".join(found).split("\n\n")]
    return ["\n".join(b) + "\n" for b in lines if b[0].startswith(begin)]


QUICK = "global: {scrape_interval: 2s, scrape_timeout: 2s}\n"


def config(bed, text):
    """In the test's folder, with the rules of this tree."""
    rules = RULES / "saluki.rules.yml"
    text = text.replace("/usr/local/share/saluki/prometheus/saluki.rules.yml", str(rules))
    return re.sub(r"/etc/(nginx|prometheus)", str(bed.tmp_path), text)


def test_prometheus_beside_the_collector(bed):
    bed.collector()
    server.start(bed)
    local, _ = blocks("# prometheus.yml")
    prometheus = Prometheus(bed, config=QUICK + config(bed, local))
    testbed.wait_for(lambda: prometheus.query("count(saluki_sensor_up)") == {(): 6}, "a scrape", 90, 1)


def test_a_proxy_with_tls(bed):
    """Prometheus reads the metrics through it with the password; without it, nobody does."""
    bed.collector()
    server.start(bed)
    (bed.tmp_path / "saluki.password").write_text("a long password", encoding="utf-8")
    subprocess.run(["sh", "-ec", config(bed, blocks("openssl req")[0])], check=True, cwd=bed.tmp_path, capture_output=True)
    bed.tmp_path.joinpath("hosts").write_text("127.0.0.1 localhost fleet.example.org\n", encoding="utf-8")
    bed.ns.run("mount", "--bind", bed.tmp_path / "hosts", "/etc/hosts")
    proxy, = blocks("# nginx")
    bed.tmp_path.joinpath("nginx.conf").write_text(NGINX.format(bed.tmp_path, config(bed, proxy)), encoding="utf-8")
    nginx = testbed.Process(bed.ns, [programs.tree("nginx") / "usr/sbin/nginx", "-e", "stderr", "-c",
                                     bed.tmp_path / "nginx.conf"], None)
    bed.stack.callback(nginx.kill)

    def status(*options):
        p = bed.ns.run("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", bed.tmp_path / "fleet.pem",
                       *options, "https://fleet.example.org:9443/metrics", capture_output=True, check=False)
        return p.stdout

    testbed.wait_for(lambda: status() == "401", "nginx", 20, 0.1)
    assert status("-u", "prometheus:wrong") == "401" and status("-u", "prometheus:a long password") == "200"
    _, remote = blocks("# prometheus.yml")
    prometheus = Prometheus(bed, config=QUICK + config(bed, remote))
    testbed.wait_for(lambda: prometheus.query("count(saluki_sensor_up)") == {(): 6}, "a scrape", 90, 1)
