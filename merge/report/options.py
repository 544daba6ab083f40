# SPDX-License-Identifier: GPL-2.0
"""The options of saluki-merge-report: one table for parsing, the help text and completion.

In: the command line. Out: the options. A mistake ends the program with one line and status 2."""
import argparse
import re
import sys

PROGRAM = "saluki-merge-report"
VERSION = "0.1.0"  # as in common/version.h
KINDS = ("pdf", "svg", "png")


def kind(given):
    if given not in KINDS:
        raise argparse.ArgumentTypeError(f"{given}: must be {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    return given


# Letter, name, argument, help text, settings of argparse. An argument in capitals is one word of that kind.
TABLE = (
    ("w", "write", "FILE", ("write the page here; - is standard output (default -)",), {"default": "-"}),
    ("t", "title", "NAME", ("the page's title",), {"default": "The unified trace"}),
    ("", "figures", "DIR", ("write each figure into this folder, too",), {}),
    ("", "format", "|".join(KINDS), ("format of --figures (default pdf)",), {"type": kind, "default": "pdf"}),
    ("", "completion", "", ("print completion for bash",), {"action": "store_true"}),
    ("", "version", "", ("print the version",), {"action": "version", "version": f"{PROGRAM} {VERSION}"}),
    ("h", "help", "", ("print this",), {"action": "help"}),
)
HEAD = f"""Usage: {PROGRAM} [OPTION]... [FILE]

Makes a page with figures of a unified trace. FILE is the output of
'saluki-merge stats --json'; without FILE, the program reads standard input.
"""
TAIL = """
The program needs matplotlib: the Debian package python3-matplotlib.
Exit status: 0 finished, 1 failed, 2 bad usage.
"""
COMPLETION = """# Completion for bash, written by '{program} --completion'.

_{program}()
{{
	local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
	local IFS=$' \\t\\n' words= files=

	if [[ $word == = ]]; then
		word=
	elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then
		before=${{COMP_WORDS[COMP_CWORD - 2]}}
	fi
	case $before in
{cases}
	*) words="{options}" ;;
	esac
	mapfile -t COMPREPLY < <(compgen $files -W "$words" -- "$word")
	[[ ! $files ]] || compopt -o filenames 2>/dev/null
}}
complete -F _{program} {program}
"""
OFFERED = {"FILE": "files=-f", "DIR": "files=-d", "NAME": ":"}


def flags(letter, name):
    return ([f"-{letter}"] if letter else []) + [f"--{name}"]


def help_text():
    lines = []
    for letter, name, argument, texts, _ in TABLE:
        head = f"  -{letter}, --{name} {argument}" if letter else f"      --{name} {argument}"
        lines += [f"{begin:<31}{text}".rstrip() for begin, text in zip((head, *[""] * len(texts)), texts)]
    return "\n".join((HEAD, *lines)) + "\n" + TAIL


def completion():
    cases = [f"	{' | '.join(flags(letter, name))}) {OFFERED.get(argument) or 'words=' + repr(argument.replace('|', ' '))} ;;"
             for letter, name, argument, *_ in TABLE if argument]
    options = " ".join(flag for letter, name, *_ in TABLE for flag in flags(letter, name))
    return COMPLETION.format(program=PROGRAM, cases="\n".join(cases), options=options)


class Parser(argparse.ArgumentParser):
    def format_help(self):
        return help_text()

    def error(self, message):
        option = re.fullmatch(r"argument (?:-\w/)?(--\w+): (.*)", message, re.S)
        if option and option[2].startswith("expected"):
            message = f"{option[1]}: needs a value; see --help"
        elif option:
            message = f"{option[1]} {option[2]}"
        else:
            message += "; see --help"
        print(f"{PROGRAM}: {message}", file=sys.stderr)
        sys.exit(2)


def parse():
    parser = Parser(prog=PROGRAM, add_help=False)
    parser.add_argument("json", nargs="?", default="-")
    for letter, name, _, _, settings in TABLE:
        parser.add_argument(*flags(letter, name), **settings)
    return parser.parse_args()
