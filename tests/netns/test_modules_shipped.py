# SPDX-License-Identifier: GPL-2.0
"""The grants in docs/modules.md for the shipped modules are sufficient, and minimal."""
import re

import pytest

from netns import testbed
from netns.test_modules import fixture_modules  # noqa: F401 (fixtures)
from netns.testbed import ROOT

PAGE = (ROOT / "docs/modules.md").read_text()
# Their policy sections as printed, except the key.
GRANTS = {name: dict(re.findall(r"^    (\w+) = (.*)$", entries, re.M))
          for name, entries in re.findall(r"^    \[Module (\w+)\]\n((?:    \w+ = .*\n)+)", PAGE, re.M)
          if (ROOT / f"bpf/modules/{name}/{name}.bpf.c").exists()}


def check(modules, name, grant):
    key = modules.bed.tmp_path / "secret.key"
    if not key.exists():
        key.write_text(testbed.saluki("genpsk", check=True).stdout)
        key.chmod(0o600)
    modules.policy.write_text(
        f"[Keys]\nTrajectory = {key}\nAnonymise = {key}\n[Module {name}]\n" +
        "".join(f"{word} = {value}\n" for word, value in {**grant, "Key": modules.public}.items()))
    return modules.run("check", "--policy", modules.policy, modules.bed.tmp_path / f"{name}.o")


def test_they_are_all_there():
    assert {"rtt", "lrd", "trajectory", "worm"} <= set(GRANTS)


@pytest.mark.parametrize("name", sorted(GRANTS))
def test_what_the_page_grants(modules, name):
    grant, obj = GRANTS[name], modules.copy(name)
    assert modules.run("sign", "--key", modules.key, "--serial", "1", obj).returncode == 0
    got = check(modules, name, grant)
    assert got.returncode == 0 and "refused" not in got.stdout, got
    for word in "Helper", "Map":
        values = grant[word].split(", ")
        for one in values:
            fewer = ", ".join(v for v in values if v != one)
            less = {**grant, word: fewer} if fewer else {w: v for w, v in grant.items() if w != word}
            assert check(modules, name, less).returncode == 1, (word, one)
