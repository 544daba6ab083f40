#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Links as `zig cc` does, by the linker's own command, with options that zig does not pass on:

- --icf=safe: functions that are the same are there once, unless their address is taken: 11 KB;
- instructions stay in the order of the source: the compiler's two schedulers keep more values alive
  than MIPS has registers, and the code that spills them is 12 KB;
- a branch's delay slot may be filled from the branch's target: 7 KB;
- no instruction is moved to a new block between two others, and addresses in a structure are computed from each
  other: 2.5 KB;
- a function of another file is put in line only where the code becomes smaller: 3 KB;
- a function whose stack frame exceeds 1 KB is not put in line: its caller, often main(), would have this frame for
  as long as it runs.

The compiler's options are given here, because it compiles when it links (-flto).
Called as link.py zig cc ... -o FILE ..."""
import hashlib
import os
import pathlib
import shlex
import subprocess
import sys

# The linker would warn of musl's _start, which has no address table.
MORE = ["--no-warnings", "--icf=safe"] + [word for option in (
    "enable-misched=false", "pre-RA-sched=source", "disable-mips-df-succbb-search=false",
    "machine-sink-split=false", "consthoist-gep", "inline-threshold=-20", "inline-max-stacksize=1024")
    for word in ("-mllvm", f"-{option}")]

INPUTS = (".o", ".a")


def asked_of_zig(command, inputs):
    """The linker's words for the command. zig prints them before it links. To save that link's time, zig gets only
    the first input, and the link fails; the words then have INPUTS in its place, and OUTPUT in the output's."""
    words = [word for word in command if word not in inputs] + inputs[:1]
    out = subprocess.run(words, env={**os.environ, "ZIG_VERBOSE_LINK": "1"}, text=True,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    links = [shlex.split(line) for line in out.stderr.splitlines()
             if line.startswith("ld.lld ") and inputs[0] in line]
    if len(links) != 1:
        sys.exit(f"{out.stderr}zig did not print its link command")
    output = command[command.index("-o") + 1]
    return [{inputs[0]: "INPUTS", output: "OUTPUT"}.get(word, word) for word in links[0][1:]]


def link_command(command, inputs):
    """The linker's words, with their inputs and output. zig takes as long to print them as the linker to link, so
    they are kept among zig's own files, for each set of options."""
    output = command[command.index("-o") + 1]
    options = [word for word in command if word not in (output, *inputs)]
    kept = pathlib.Path(os.environ["ZIG_LOCAL_CACHE_DIR"],
                        "link-" + hashlib.sha256(shlex.join(options).encode()).hexdigest())
    words = kept.read_text().splitlines() if kept.exists() else []
    # zig's library is in a cache that others may have emptied.
    if not words or not all(os.path.exists(word) for word in words if word.startswith("/")):
        words = asked_of_zig(command, inputs)
        kept.parent.mkdir(parents=True, exist_ok=True)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_text("".join(f"{word}\n" for word in words))
        written.rename(kept)
    at = words.index("INPUTS")
    return [output if word == "OUTPUT" else word for word in [*words[:at], *inputs, *words[at + 1:]]]


def main(command):
    inputs = [word for word in command if word.endswith(INPUTS)]
    return subprocess.run([command[0], "ld.lld", *MORE, *link_command(command, inputs)]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
