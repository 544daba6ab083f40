# SPDX-License-Identifier: GPL-2.0
"""saluki-web in a test's namespace, requests to it, and its metrics."""
import json
import re
import subprocess

from netns import testbed

ADDRESS = "127.0.0.1:5680"
SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def start(bed, *options, ready="listening on", **kwargs):
    p = testbed.Process(bed.ns, [testbed.BUILD / "saluki-web", *options], ready, **kwargs)
    bed.stack.callback(p.kill)
    return p


def get(bed, path, *options, check=True):
    """The body, by curl."""
    p = bed.ns.run("curl", "-sS", *(["-f"] if check else []), "--max-time", "20", *options, f"http://{ADDRESS}{path}",
                   capture_output=True, check=check)
    return p.stdout


def samples(text):
    """{name: [(labels, value)]}"""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        found.setdefault(name, []).append((dict(LABEL.findall(labels or "")), float(value)))
    return found


def metrics(bed):
    return samples(get(bed, "/metrics"))


def value(found, name, **labels):
    """The sum of a family's samples that have these labels; None: there are none."""
    values = [v for has, v in found.get(name, ()) if labels.items() <= has.items()]
    return sum(values) if values else None


def status(bed):
    p = bed.ns.run(testbed.BUILD / "saluki-collector", "status", "--json", stdout=subprocess.PIPE)
    return json.loads(p.stdout)
