# SPDX-License-Identifier: GPL-2.0
"""The packages, built twice in two folders, and a VM in which they are installed."""
import re
import subprocess

import pytest

from netns.test_restart import numbered
from netns.testbed import BUILD, ROOT
from package import machine
from reference.test_reference import write_pcap

SECONDS = 900
# The blocks of commands in docs/operate.md.
STEPS = ("install", "keep", "enrol", "hall", "remove", "start", "see", "rotate")


def blocks():
    return re.findall(r"^```\n(.*?)^```$", (ROOT / "docs/operate.md").read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(name="packages", scope="session")
def fixture_packages(tmp_path_factory):
    """Two folders with the same packages."""
    folders = [tmp_path_factory.mktemp("packages") / name for name in ("one", "another-longer-name")]
    for folder in folders:
        made = subprocess.run(["make", "-s", "-C", ROOT, "packages", f"PACKAGES_FOLDER={folder}"], capture_output=True,
                              text=True, check=False)
        assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    return folders


@pytest.fixture(name="vm", scope="session")
def fixture_vm(packages, tmp_path_factory):
    """The folder in which the scenario has left its results."""
    folder = tmp_path_factory.mktemp("machine")
    trace = folder / "hwsim.pcap"
    subprocess.run(["zstd", "-qd", ROOT / "tests/demo/hwsim.pcap.zst", "-o", trace], check=True)
    write_pcap(folder / "frames.pcap", 1, numbered(trace, 3000))
    for name, commands in zip(STEPS, blocks(), strict=True):
        (folder / f"step-{name}").write_text(commands)
    debs = [p for p in packages[0].glob("*.deb") if "dbgsym" not in p.name and "-dev_" not in p.name]
    vm = machine.Machine(folder / "vm", ROOT / "tests/package/scenario",
                         [*debs, BUILD / "tests/play", folder / "frames.pcap", *folder.glob("step-*")])
    try:
        wrong = vm.finish(SECONDS)
    finally:
        vm.end()
    print(f"the VM took {vm.seconds:.0f} s")
    if wrong:
        said = (vm.out / "said").read_text() if (vm.out / "said").exists() else ""
        pytest.fail("\n".join([wrong, *said.splitlines()[-60:]]), pytrace=False)
    return vm.out
