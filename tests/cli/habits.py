# SPDX-License-Identifier: GPL-2.0
"""Reads docs/tcpdump.md: the options of tcpdump and dumpcap, and the answers of our programs."""
import collections
import re

from netns.testbed import ROOT

# Our programs, the column that answers for each, and an option that takes a number.
PROGRAMS = {"saluki capture": (2, "--combo-size"), "saluki run": (3, "--combo-size"),
            "saluki-collector": (4, "--rotate-count")}

# flags: {"-w": "FILE", ...}, with None for one without a value; cells: the columns' text
Row = collections.namedtuple("Row", "flags cells")


def spans(cell):
    """What a cell quotes."""
    return [span.replace(r"\|", "|") for span in re.findall(r"`([^`]*)`", cell)]


def rows():
    found = []
    for line in (ROOT / "docs/tcpdump.md").read_text().splitlines():
        if line.startswith("| `-"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            flags = dict((span.split() + [None])[:2] for span in spans(cells[0]))
            found.append(Row(flags, cells))
    return found
