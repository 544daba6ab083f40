# SPDX-License-Identifier: GPL-2.0
"""`make run KAFKA=1`, for 3 s: nothing is killed."""
import os
import subprocess
import sys

from netns import testbed


def test_demo(tmp_path):
    paths = f"{testbed.ROOT}/tests:{testbed.ROOT}/packaging"
    run = subprocess.run([sys.executable, testbed.ROOT / "tests/demo/kafka_demo.py", tmp_path, "3"], capture_output=True,
                         text=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": paths})
    assert run.returncode == 0, run.stdout + run.stderr
    assert "every frame is accounted for" in run.stdout and " 3 s " in run.stdout
