# SPDX-License-Identifier: GPL-2.0
"""The systemd units, as systemd's own tools judge them: every line is understood, and the sandbox is as tight as
designed. tests/package/test_machine.py starts them."""
import re
import subprocess

import pytest

from netns.testbed import BUILD, ROOT

UNITS = ROOT / "packaging/systemd"
# Overall exposure of `systemd-analyze security`, at most: 0 is none, 10 is root without limits.
EXPOSURE = {"saluki-collector.service": 2.0, "saluki-collector-source.service": 1.0, "saluki-kafka-get.service": 1.2,
            "saluki-kafka-put.service": 1.2, "saluki-keep.service": 0.5, "saluki@.service": 5.0, "saluki-web.service": 1.0}


def test_every_unit_has_an_aim():
    assert {unit.name for unit in UNITS.glob("*.service")} == set(EXPOSURE)


@pytest.mark.parametrize("unit", EXPOSURE)
def test_verifier_has_no_complaint(unit, tmp_path):
    """With programs of this build in place of installed ones."""
    text = (UNITS / unit).read_text()
    program = re.search(r"^ExecStart=/usr/s?bin/(\S+)", text, re.M)
    built = BUILD / program[1] if (BUILD / program[1]).exists() else "/bin/true"
    there = tmp_path / unit.replace("@", "@eth0")
    there.write_text(text.replace(program[0], f"ExecStart={built}"))
    got = subprocess.run(["systemd-analyze", "verify", "--man=no", there], capture_output=True, text=True, check=False)
    assert (got.returncode, got.stdout, got.stderr) == (0, "", "")


@pytest.mark.parametrize("unit", EXPOSURE)
def test_exposure(unit):
    said = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", UNITS / unit],
                          capture_output=True, text=True, check=True).stdout
    assert float(re.search(r"Overall exposure level for \S+: ([\d.]+)", said)[1]) <= EXPOSURE[unit]


def test_users_and_groups(tmp_path):
    """systemd-sysusers makes them."""
    (tmp_path / "etc").mkdir()
    subprocess.run(["systemd-sysusers", f"--root={tmp_path}", UNITS / "saluki.sysusers"], check=True,
                   capture_output=True)
    users = (tmp_path / "etc/passwd").read_text()
    assert re.findall(r"^(saluki[\w-]*):.*:/usr/sbin/nologin$", users, re.M) == ["saluki", "saluki-kafka"]
    groups = (tmp_path / "etc/group").read_text()
    assert {line.split(":")[0] for line in groups.splitlines()} >= {"saluki", "saluki-board", "saluki-kafka"}
