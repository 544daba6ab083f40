# SPDX-License-Identifier: GPL-2.0
"""Every example in docs/bpftool.md prints the lines that the page shows."""
import re
import shlex

import pytest

from netns import testbed
from netns.test_loader import attach, cable, pins_of, saluki, sender
from netns.test_restart import numbered

PAGE = (testbed.ROOT / "docs/bpftool.md").read_text()


def examples():
    """(command, the printed lines shown); an indented line is saluki's."""
    found = []
    for saluki_line, block in re.findall(r"^    saluki ([^\n]*)$|^```\n(.*?)^```$", PAGE, re.M | re.S):
        if saluki_line:
            found.append(("saluki " + saluki_line, []))
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


# Lines with these words have Saluki's own numbers, which are the same everywhere. The number of
# mapped rings is the machine's number of CPUs.
OURS = re.compile(r"\b(layout|version|linktype|snaplen|snaplen_max|keep|keep_headers|choice|direction|consume|"
                  r"number|count|ring_size|persistent|filter =|bad_fcs|pad|name)\b|;$|^struct")


def shape(line):
    """A line's words, without the numbers that differ between machines."""
    line = " ".join(line.split())
    if OURS.search(line):
        # A tag, ids, and the kernel's memory.
        return re.sub(r"^\d+:|\b[0-9a-f]{16}\b|memlock \d+B|run_\w+ \d+", "#", line)
    return re.sub(r'[^\s"(]*\d[^\s",]*', "#", line)


@pytest.fixture(name="statistics")
def fixture_statistics(bed):
    """Restores the kernel's statistics setting at the end."""
    before = bed.ns.run("sysctl", "-n", "kernel.bpf_stats_enabled", capture_output=True).stdout
    yield
    bed.ns.run("sysctl", "-q", f"kernel.bpf_stats_enabled={before.strip()}")


@pytest.mark.alone
def test_every_example(bed, bundled, statistics):
    assert statistics is None and len(examples()) >= 15
    testbed.veth(bed.ns, "veth0", bed.ns, "wlan0")
    source = None
    for command, shown in examples():
        if command.startswith("saluki attach "):
            assert ">" not in re.sub("'.*?'", "", command)  # a shell would write to a file
            attach(bed, *shlex.split(command)[2:])
            if not source:
                source = sender(bed, numbered(bundled, 20000), rate=500)
                source.go()
            continue
        got = bed.ns.run("sh", "-c", command, check=False, capture_output=True)
        assert got.returncode == 0 and got.stderr == "", (command, got)
        lines = iter(map(shape, got.stdout.splitlines()))
        for line in map(shape, shown):
            if line.startswith("balance"):  # frames arrive meanwhile
                assert "balance" in got.stdout
                continue
            assert any(line == said or said.startswith(line + " ") for said in lines), (
                command, line, got.stdout)
    assert pins_of(bed, "wlan0") == []


def test_the_page_names_all_pins(bed):
    """The page names the pins of each hook and each ring."""
    cable(bed)
    named = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| `.*$", PAGE, re.M))))
    for options in (["--source", "xdp"], ["--source", "tc", "-Q", "inout", "--ring", "mapped"]):
        attach(bed, "-i", "tap0", *options)
        assert set(pins_of(bed)) <= named
        assert saluki(bed, "detach", "-i", "tap0") == (0, "")
