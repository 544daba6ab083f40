# SPDX-License-Identifier: GPL-2.0
"""Runs saluki-merge, and reads what it writes."""
import re
import subprocess

from netns.testbed import BUILD

PROGRAM = BUILD / "saluki-merge"


def run(*arguments, status=0, program=PROGRAM, **kwargs):
    """Returns standard error."""
    kwargs.setdefault("stdout", subprocess.DEVNULL)
    done = subprocess.run([program, *arguments], stderr=subprocess.PIPE, timeout=60, check=False, **kwargs)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stderr.decode()


def check(*traces, status=0):
    """The ledger that `saluki-merge check` prints: name -> number."""
    done = subprocess.run([PROGRAM, "check", *traces], capture_output=True, text=True, check=False)
    assert done.returncode == status, (done.stdout, done.stderr)
    return ledger(done.stdout)


def ledger(text):
    return {name: int(number) for name, number in re.findall(r"\b([a-z_]+) +(\d+)", text)}


def rows(trace):
    """The table of receptions, as dictionaries of texts."""
    done = subprocess.run([PROGRAM, "receptions", trace], capture_output=True, text=True, check=True)
    head, *lines = (line.split("\t") for line in done.stdout.splitlines())
    return [dict(zip(head, line, strict=True)) for line in lines]


def tshark(trace, *fields):
    arguments = [word for field in fields for word in ("-e", field)]
    done = subprocess.run(["tshark", "-r", trace, "-T", "fields", *arguments], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and not re.search("malformed|damaged|cut short", done.stderr), done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]
