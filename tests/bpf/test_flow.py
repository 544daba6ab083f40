# SPDX-License-Identifier: GPL-2.0
"""Where a module's addresses go (agent/module/flow.c), against what the kernel's verifier says of the same
programs, which are made at random."""
import json
import subprocess

import pytest

from netns.testbed import BUILD


@pytest.mark.parametrize("seed", range(1, 5))
def test_what_is_taken_the_verifier_takes_without_privilege(seed):
    got = subprocess.run([BUILD / "tests/flow_kernel", str(seed), "50000"], capture_output=True, text=True,
                         check=False)
    assert got.returncode == 0, got.stderr
    counts = json.loads(got.stdout)
    # Programs of all kinds were among them, and few are refused that need not be.
    assert counts["taken"] > 300 and counts["leaking"] > 300, counts
    assert counts["strict"] < counts["run"] / 20 and counts["unloaded"] < counts["taken"] / 20, counts
