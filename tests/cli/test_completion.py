# SPDX-License-Identifier: GPL-2.0
"""Completion in bash offers what --help lists, option by option and argument by argument."""
import os
import shlex
import subprocess

import pytest

from cli import helptext
from netns.testbed import BUILD

NET = "/sys/class/net"

# Does bash's work: splits the line, calls the function, shows COMPREPLY. No bash-completion.
DRIVER = """
source {file}
compopt() {{ return 1; }}	# nothing is being completed here
COMP_WORDS=({words})
COMP_CWORD=$(({count} - 1))
$(complete -p {program} | sed 's/.* -F \\([^ ]*\\) .*/\\1/') {program}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def complete(line, cwd="/"):
    """The completions of the line's last word; '' if it ends in a blank."""
    words = line.replace("=", " = ").split(" ")
    words = words[:-2] + ["="] if words[-2:] == ["=", ""] else words
    program = words[0]
    script = DRIVER.format(file=shlex.quote(str(BUILD / "completion" / program)), program=program,
                           words=" ".join(map(shlex.quote, words)), count=len(words))
    got = subprocess.run(["bash", "--norc", "--noprofile", "-c", script], capture_output=True,
                         text=True, check=True, cwd=cwd, env={"PATH": os.environ["PATH"]})
    assert got.stderr == ""
    return sorted(got.stdout.split("\n")[:-1]) if got.stdout != "\n" else []


def names(command):
    return sorted(helptext.names(command))


def test_files_are_what_the_programs_print():
    for program in ("saluki", "saluki-collector", "saluki-kafka", "saluki-keep", "saluki-live", "saluki-merge",
                    "saluki-merge-report", "saluki-swarm", "saluki-web"):
        said = subprocess.run([BUILD / program, "--completion"], capture_output=True, text=True,
                              check=True).stdout
        assert (BUILD / "completion" / program).read_text() == said


def test_commands_come_first():
    assert complete("saluki ") == sorted(helptext.commands() + names("saluki"))
    assert complete("saluki p") == ["probe", "pubkey"]
    assert complete("saluki bark ") == []


@pytest.mark.parametrize("command", helptext.COMMANDS[1:])
def test_every_option_of_help_is_offered_and_no_other(command):
    beside = {"saluki-collector": ["add", "check", "ctl", "enrol", "remove", "status", "top"],
              "saluki-kafka": ["get", "put", "topics"], "saluki-keep": ["find"],
              "saluki-merge": ["check", "receptions", "stats"],
              "saluki module": helptext.commands("saluki module")}.get(command, [])
    assert complete(command + " ") == sorted(names(command) + beside)
    assert complete(command + " -") == names(command)
    for option in helptext.options(command):
        assert complete(f"{command} {option.names[-1]}") == [
            n for n in names(command) if n.startswith(option.names[-1])]


@pytest.mark.parametrize("command", helptext.COMMANDS[1:])
def test_arguments_are_what_their_names_say(command, tmp_path):
    (tmp_path / "a file").touch()
    (tmp_path / "folder").mkdir()
    for option in helptext.options(command):
        expected = []
        for kind in (option.argument or "").split("|"):
            if kind == "IF":
                expected += [n for n in os.listdir(NET) if os.path.isdir(f"{NET}/{n}")]
            elif kind == "FILE":
                expected += ["a file", "folder"]
            elif kind == "DIR":
                expected += ["folder"]
            elif not any(c.isupper() for c in kind):
                expected += [kind]
        if not option.argument:
            expected = names(command)
            if command in ("saluki module", "saluki-kafka"):
                continue  # a command follows, and no option
        for name in option.names:
            assert complete(f"{command} {name} ", tmp_path) == sorted(set(expected)), name
        if option.argument:
            assert complete(f"{command} {option.names[-1]}=", tmp_path) == sorted(set(expected))


def test_what_is_typed_already_counts(tmp_path):
    (tmp_path / "lib.key").touch()
    (tmp_path / "other").touch()
    assert complete("saluki run --keep h") == ["headers"]
    assert complete("saluki run --keep=h") == ["headers"]
    assert complete("saluki run --keep headers --so") == ["--source"]
    assert complete("saluki run -i lo -Q in") == ["in", "inout"]
    assert complete("saluki run -i l") == [n for n in sorted(os.listdir(NET)) if n[0] == "l"]
    assert complete("saluki run --key li", tmp_path) == ["lib.key"]
    assert complete("saluki run -s ") == complete("saluki run --to ") == []
    assert complete("saluki run --compress n") == ["none"]
    assert complete(f"saluki-collector -w {tmp_path}/l") == [f"{tmp_path}/lib.key"]
