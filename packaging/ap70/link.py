#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Links as `zig cc` does, by the linker's own command, with orders that zig does not pass on:

- functions that are the same are there once (--icf=safe: but those whose address is asked for), 4 KB;
- a branch's delay slot is filled from where the branch goes, too: 1,200 fewer are empty, 5 KB;
- of what is in several files, only what is smaller that way is put in line, 2 KB; 1 % more
  instructions a frame.

Called as link.py zig cc ... -o FILE ..."""
import os
import shlex
import subprocess
import sys

# What there is to warn of, the first time has; this one would that musl's _start has no list of such.
MORE = ["--no-warnings", "--icf=safe", "-mllvm", "-disable-mips-df-succbb-search=false",
        "-mllvm", "-inline-threshold=-20"]


def main(command):
    out = subprocess.run(command, env={**os.environ, "ZIG_VERBOSE_LINK": "1"}, text=True,
                         stderr=subprocess.PIPE)
    lines = out.stderr.splitlines()
    links = [line for line in lines if line.startswith("ld.lld ")]
    sys.stderr.writelines(f"{line}\n" for line in lines if line not in links)
    if out.returncode:
        return out.returncode
    if len(links) != 1:
        sys.exit("zig has not said how it links")
    return subprocess.run([command[0], "ld.lld", *MORE, *shlex.split(links[0])[1:]]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
