# SPDX-License-Identifier: GPL-2.0
"""Which kernels prove that a module leaks nothing: Linux 6.12 booted with mitigations=off does.
There it is the oracle for Saluki's own analysis (agent/module/flow.c)."""
import json

import pytest

from bpf import holes
from bpf.test_flow import assert_compared
from vm import cases

GUARDED = pytest.mark.parametrize("kernel", cases.RUNS)
UNGUARDED = pytest.mark.parametrize("kernel", [cases.UNGUARDED])
PER_BYTE = "worm"  # reads single payload bytes, which guards against speculation forbid


@UNGUARDED
@pytest.mark.parametrize("seed", cases.SEEDS)
def test_what_is_taken_the_kernel_takes_without_privilege(vm, kernel, seed):
    out = vm / f"oracle.{seed}"
    assert (out / "status").read_text() == "0\n", (out / "said").read_text()
    counts = json.loads((out / "counts").read_text())
    assert counts["unguarded"] and counts["programs"] == cases.PROGRAMS
    assert set(counts["kernel_refuses"]) <= {"an address is compared with 0", "a part of an address is overwritten",
                                             "a record that was given back is kept"}
    assert_compared(seed, counts)
    assert counts["agreed"] > counts["taken"] * 0.9


@UNGUARDED
@pytest.mark.parametrize("name", holes.HOLES)
def test_a_planted_hole_is_found(vm, kernel, name):
    out = vm / f"hole.{list(holes.HOLES).index(name)}"
    said = (out / "said").read_text()
    assert (out / "status").read_text() == "1\n" and "flow.c takes this, with its zeros; " in said, said


@UNGUARDED
def test_shipped_modules_are_proved_by_the_kernel(vm, kernel):
    """The kernel proves the shipped modules, and none of the hostile, which are refused as
    everywhere."""
    good, hostile = cases.modules()
    assert len(good) == 8
    for path in good:
        said = (vm / "check" / path.name).read_text()
        assert "wants to run in the kernel, proof kernel: granted\n" in said and "refused" not in said, said
    for path in hostile:
        assert ": refused: " in (vm / "check" / path.name).read_text()


def listed(out, policy):
    """Who proved the running modules, as text and as JSON."""
    (each,) = json.loads((out / f"{policy}-json").read_text())
    assert each["name"] == PER_BYTE and f", proof {each['proof']}, since " in (out / f"{policy}-list").read_text()
    return each


@UNGUARDED
def test_list_says_that_the_kernel_has_proved_it(vm, kernel):
    out = vm / "proof"
    for policy in ("modules", "proved"):
        assert (out / f"{policy}-status").read_text() == "0\n", (out / policy).read_text()
        assert listed(out, policy)["proof"] == "kernel"
    assert listed(out, "modules")["serial"] < listed(out, "proved")["serial"]
    (each,) = json.loads((vm / "module/list-modules").read_text())
    assert each["proof"] == "kernel"


@GUARDED
def test_a_policy_may_ask_for_more_than_a_kernel_can(vm, kernel):
    """If a policy requires more than the kernel can prove, the message says how to boot, and the
    cost; running modules continue."""
    out = vm / "proof"
    assert (out / "modules-status").read_text() == "0\n", (out / "modules").read_text()
    assert listed(out, "modules")["proof"] == "saluki"
    (line,) = [line for line in (out / "proved").read_text().splitlines() if ": refused: " in line]
    assert line.startswith("wants to run in the kernel, proof saluki: refused: the policy says Proof = kernel, ")
    assert "boot Linux 6.7 or later with mitigations=off, which leaves the whole machine unguarded" in line
    assert (out / "proved-status").read_text() == "1\n"
    assert listed(out, "proved") == listed(out, "modules")
