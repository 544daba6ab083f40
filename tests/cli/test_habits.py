# SPDX-License-Identifier: GPL-2.0
"""The options of tcpdump and dumpcap: docs/tcpdump.md has all of them, and our programs answer as it says."""
import gzip
import pathlib
import re
import subprocess

import pytest

from cli import habits, helptext
from netns.testbed import BUILD

TCPDUMP_PAGE = pathlib.Path("/usr/share/man/man8/tcpdump.8.gz")

# Values that are taken, for options that work.
VALUES = {"IF": "lo", "FILE": "/dev/null", "SIZE": "1", "TIME": "1", "COUNT": "2", "BYTES": "262144", "KIB": "64",
          "DIRECTION": "in", "USER": "nobody"}
# These print what they ask for, and end.
PRINTING = ("-h", "--help", "--version", "-D", "--list-interfaces")


def tcpdump_flags():
    page = gzip.decompress(TCPDUMP_PAGE.read_bytes()).decode().replace("\\-", "-")
    options = page.split(".SH OPTIONS")[1].split(".SH ")[0]
    return set(re.findall(r"^\.BI? (-[^-\s]|--[a-z-]+)", options, re.M))


def dumpcap_flags():
    said = subprocess.run(["dumpcap", "--help"], capture_output=True, text=True, check=True).stdout
    heads = re.findall(r"^  (-.*)$", said, re.M)
    return {flag for head in heads for flag in re.findall(r"(?:^|, )(-\w|--[a-z-]+)", head)}


def test_the_table_has_every_option():
    flags = [flag for row in habits.rows() for flag in row.flags]
    assert len(flags) == len(set(flags))
    there = tcpdump_flags() | dumpcap_flags()
    assert len(tcpdump_flags()) > 60 and len(dumpcap_flags()) > 40
    assert there - set(flags) == set()
    assert set(flags) - there == set()


def cases():
    for command, (column, number) in habits.PROGRAMS.items():
        for row in habits.rows():
            for flag, argument in row.flags.items():
                yield pytest.param(command, flag, argument, row.cells[column], number, id=f"{command} {flag}")


@pytest.mark.parametrize("command,flag,argument,cell,number", cases())
def test_each_option_is_answered(command, flag, argument, cell, number):
    """An option that works leaves the error to the next one."""
    program, *words = command.split()
    value = [VALUES.get(argument, "x")] if argument else []
    got = subprocess.run([BUILD / program, *words, flag, *value, number, "x"], capture_output=True, text=True,
                         check=False)
    if cell == "works" and flag in PRINTING:
        assert got.returncode == 0 and got.stdout
        return
    name = program if program == "saluki-collector" else "saluki"
    assert got.returncode == 2 and got.stdout == "" and got.stderr.count("\n") == 1 and len(got.stderr) < 180
    if cell in ("works", "accepted"):
        assert got.stderr.startswith(f"{name}: {number} x: must be")
        return
    assert got.stderr.startswith(f"{name}: {flag}: ") and "no such option" not in got.stderr
    for span in habits.spans(cell) or [cell]:
        assert span in got.stderr


def test_foreign_options_are_not_listed():
    """Neither --help nor completion has them."""
    ours = {name for command in helptext.COMMANDS for name in helptext.names(command)}
    for command, (column, _) in habits.PROGRAMS.items():
        foreign = {flag for row in habits.rows() if row.cells[column] != "works" for flag in row.flags}
        assert len(foreign) > 50 and not foreign & helptext.names(command)
        completed = subprocess.run([BUILD / command.split()[0], "--completion"], capture_output=True, text=True,
                                   check=True).stdout
        assert not [flag for flag in foreign - ours if flag.startswith("--") and flag in completed]


@pytest.mark.parametrize("words,said", [
    ("run -i lo -nw f", "saluki: -n: "),
    ("run -w", "saluki: -w: "),
    ("run --monitor-mode=1", "saluki: --monitor-mode: "),
    ("run -pUl -s0 -i lo", "saluki: run: --to HOST:PORT is missing"),
    ("run --snapshot-length=0 -Z nobody -i lo", "saluki: run: --to HOST:PORT is missing"),
    ("run --snapshot-length", "saluki: --snaplen: needs a value; see --help\n"),
    ("run -Z", "saluki: --user: needs a value; see --help\n"),
    ("run -%", "saluki: -%: no such option; see --help\n"),
    ("run --montior", "saluki: --montior: no such option; did you mean --monitor? See --help\n"),
    ("run -- -w f", "saluki: run: give either -i IF"),
])
def test_in_other_words(words, said):
    got = subprocess.run([BUILD / "saluki", *words.split()], capture_output=True, text=True, check=False)
    assert got.returncode == 2 and got.stderr.startswith(said), got.stderr
