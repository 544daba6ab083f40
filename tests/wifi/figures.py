# SPDX-License-Identifier: GPL-2.0
"""Measured values of tests: printed, and added to build/bench.json."""
import fcntl
import json

from netns import testbed

JSON = testbed.ROOT / "build/bench.json"


def tell(**figures):
    for name, value in figures.items():
        print(f"{name} {value:g}")
    with open(JSON.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(JSON.read_text()) if JSON.exists() else {}
        JSON.write_text(json.dumps({**known, **figures}, indent=1) + "\n")
