#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Links as `zig cc` does, by the linker's own command, with options that zig does not pass on:

- --icf=safe: functions that are the same are there once, unless their address is taken: 11 KB;
- instructions stay in the order of the source: the compiler's two schedulers keep more values alive
  than MIPS has registers, and the code that spills them is 12 KB;
- a branch's delay slot may be filled from the branch's target: 7 KB;
- a function of another file is put in line only where the code becomes smaller: 3 KB.

The compiler's options are given here, because it compiles when it links (-flto).
Called as link.py zig cc ... -o FILE ..."""
import os
import shlex
import subprocess
import sys

# The first link warns; this one would warn again, and of musl's _start, which has no address table.
MORE = ["--no-warnings", "--icf=safe"] + [word for option in (
    "enable-misched=false", "pre-RA-sched=source", "disable-mips-df-succbb-search=false",
    "inline-threshold=-20") for word in ("-mllvm", f"-{option}")]


def main(command):
    out = subprocess.run(command, env={**os.environ, "ZIG_VERBOSE_LINK": "1"}, text=True,
                         stderr=subprocess.PIPE)
    lines = out.stderr.splitlines()
    links = [line for line in lines if line.startswith("ld.lld ")]
    sys.stderr.writelines(f"{line}\n" for line in lines if line not in links)
    if out.returncode:
        return out.returncode
    if len(links) != 1:
        sys.exit("zig did not print its link command")
    return subprocess.run([command[0], "ld.lld", *MORE, *shlex.split(links[0])[1:]]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
