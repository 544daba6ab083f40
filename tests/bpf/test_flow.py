# SPDX-License-Identifier: GPL-2.0
"""Address flow in a module (agent/module/flow.c) against the running kernel's verifier, on the same
random programs. A kernel that guards against speculation shows less; tests/vm/test_proof.py has one
that does not."""
import json
import subprocess

import pytest

from bpf import holes
from netns.testbed import BUILD


def flow_kernel(program, seed, count):
    return subprocess.run([program, str(seed), str(count)], capture_output=True, text=True, check=False)


def table(seed, counts):
    """The verdicts on programs that root may load, and each side's reasons."""
    rows = [(counts["agreed"], "taken by both"), (counts["leaking"], "refused by both"),
            (counts["unloaded"], "refused by the verifier as soon as zeros are written"),
            *((n, f"refused by the kernel alone: {why}") for why, n in counts["kernel_refuses"].items()),
            *((n, f"refused by flow.c alone: {why}") for why, n in counts["saluki_refuses"].items())]
    kernel = "without guards" if counts["unguarded"] else "with guards against speculation"
    return "\n".join([f"\n{counts['run']} programs of seed {seed}, by a kernel {kernel}:",
                      *(f"{n:6} {what}" for n, what in rows)])


def assert_compared(seed, counts):
    """There were programs of all kinds, and few were refused without need."""
    print(table(seed, counts))
    refused = sum(counts["saluki_refuses"].values())
    assert counts["taken"] > 300 and counts["leaking"] > 300 and counts["zeros"] > 300, counts
    assert refused < counts["run"] / 20 and counts["unloaded"] < counts["taken"] / 100, counts
    # After such a refusal the verifier reports no other.
    assert counts["kernel_refuses"].get("a record that was given back is kept", 0) < counts["taken"] / 30, counts
    assert counts["taken"] == counts["agreed"] + counts["unloaded"] + sum(counts["kernel_refuses"].values())


@pytest.mark.parametrize("seed", range(1, 5))
def test_what_is_taken_the_verifier_takes_without_privilege(seed):
    got = flow_kernel(BUILD / "tests/flow_kernel", seed, 25000)
    assert got.returncode == 0, got.stderr
    assert_compared(seed, json.loads(got.stdout))


@pytest.mark.parametrize("name", [name for name, hole in holes.HOLES.items() if hole.guarded])
def test_a_planted_hole_is_found(tmp_path, name):
    got = flow_kernel(holes.build(name, tmp_path), 1, 25000)
    assert got.returncode == 1 and "flow.c takes this, with its zeros; " in got.stderr, got
