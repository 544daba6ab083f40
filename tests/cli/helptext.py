# SPDX-License-Identifier: GPL-2.0
"""Reads the output of --help: the table of options that pages, README and completion must match."""
import collections
import functools
import re
import subprocess

from netns.testbed import BUILD

COMMANDS = ["saluki", "saluki capture", "saluki run", "saluki attach", "saluki detach", "saluki status",
            "saluki filter", "saluki setup", "saluki genkey", "saluki genpsk", "saluki pubkey", "saluki probe",
            "saluki module", "saluki module genkey", "saluki module pubkey", "saluki module sign",
            "saluki module check", "saluki module load", "saluki module unload", "saluki module fill",
            "saluki module list", "saluki module stats", "saluki module consume", "saluki-collector",
            "saluki-collector ctl", "saluki-collector status", "saluki-collector top", "saluki-collector check",
            "saluki-collector add", "saluki-collector enrol", "saluki-collector remove", "saluki-kafka",
            "saluki-kafka put", "saluki-kafka get", "saluki-kafka topics", "saluki-keep", "saluki-keep find",
            "saluki-live", "saluki-merge", "saluki-merge receptions", "saluki-merge check", "saluki-merge stats",
            "saluki-merge-report", "saluki-swarm", "saluki-web"]

# names: ("-s", "--snaplen"); argument: "BYTES" or None; text: its description, on one line
Option = collections.namedtuple("Option", "names argument text")

HEAD = re.compile(r"^  (?:(-\w), |    )(--[a-z-]+)(?: (\S+))? +(\S.*)$")


@functools.cache
def text(command):
    words = command.split()
    return subprocess.run([BUILD / words[0], *words[1:], "--help"], capture_output=True, text=True,
                          check=True).stdout


def options(command):
    found = []
    for line in text(command).splitlines():
        head = HEAD.match(line)
        if head:
            short, name, argument, said = head.groups()
            found.append(Option(tuple(filter(None, (short, name))), argument, said))
        elif found and line.startswith(" " * 31):
            found[-1] = found[-1]._replace(text=f"{found[-1].text} {line.strip()}")
    assert found, command
    return found


def names(command):
    return {n for o in options(command) for n in o.names}


def commands(of="saluki"):
    listed = text(of).split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]
