# SPDX-License-Identifier: GPL-2.0
"""Reads the sources of the man pages: sections, options, examples."""
import functools
import re
import shlex

from cli import helptext
from cli.helptext import Option
from netns.testbed import ROOT

PAGES = {"saluki": ROOT / "docs/saluki.1", "saluki-collector": ROOT / "docs/saluki-collector.8",
         "saluki-swarm": ROOT / "docs/saluki-swarm.8"}

OPTION = re.compile(r"\.It Fl (?:(\w) , Fl )?(-[a-z-]+)(?: Ar (\S+))?$")


@functools.cache
def sections(program):
    """(section, subsection or '') -> lines of source"""
    found, section, subsection = {}, "", ""
    for line in PAGES[program].read_text().splitlines():
        if line.startswith(".Sh "):
            section, subsection = line[4:], ""
        elif line.startswith(".Ss "):
            subsection = line[4:]
        else:
            found.setdefault((section, subsection), []).append(line)
    return found


def plain(lines):
    """The words, without macros."""
    text = " ".join(re.sub(r"^\.[A-Z][a-z] ?", "", line) for line in lines)
    return re.sub(r" ([.,;:])(?= |$)", r"\1", text.replace(r"\-", "-"))


def options(command):
    """The options that the page of this command describes, as helptext.options has them."""
    program, _, subsection = command.partition(" ")
    found, body = [], []
    for line in sections(program)[("DESCRIPTION", subsection)]:
        if line.startswith(".It Fl"):
            head = OPTION.match(line)
            assert head, f"cannot read {line}"
            short, name, argument = head.groups()
            body = []
            found.append((tuple("-" + n for n in (short, name) if n), argument, body))
        else:
            body.append(line)
    return [Option(names, argument, plain(body)) for names, argument, body in found]


def synopsis(command):
    """option -> argument, over all lines of the SYNOPSIS that begin with the command"""
    program = command.split()[0]
    found, current = {}, ""
    for line in sections(program)[("SYNOPSIS", "")]:
        if line.startswith(".Nm"):
            current = line[4:] or program
        elif current == command and "Fl " in line:
            for option in re.sub(r"^\.(Op )?Fl ", "", line).split(" | "):
                name, _, argument = option.partition(" Ar ")
                found["-" + name.removeprefix("-") if len(name) == 1 else "-" + name] = argument
    return found


def items(program, section, subsection, macro):
    """What the heads of a list name: `.It Li a , b` -> a, b"""
    heads = [line for line in sections(program)[(section, subsection)]
             if line.startswith(f".It {macro} ")]
    return [n for h in heads for n in h[len(f".It {macro} "):].split(" , ")]


def typed(text):
    """The commands of ours in a text with things to type: (command, its words)"""
    for part in re.split(r"[|()`\n]|\$\(", text.replace("\\e\n", " ").replace("\\\n", " ")):
        words = part.replace("\\(dq", "").split()
        while words and words[0] in (".Dl", "eval", "sudo", "echo"):
            words = words[1:]
        if not words or words[0] not in PAGES:
            continue
        words = shlex.split(" ".join(words))
        if words[:2] == ["saluki", "module"] and len(words) > 2:
            yield f"saluki module {words[2]}", words[3:]
        elif words[0] == "saluki" and len(words) > 1 and not words[1].startswith("-"):
            yield f"saluki {words[1]}", words[2:]
        elif words[:2] == ["saluki-collector", "ctl"]:
            yield "saluki-collector ctl", words[2:]
        else:
            yield words[0], words[1:]


# These take an expression, an order or a file behind their options.
EXPRESSIONS = ("saluki run", "saluki attach", "saluki filter", "saluki-collector ctl",
               "saluki module sign", "saluki module check", "saluki module load",
               "saluki module unload", "saluki module fill", "saluki module consume")


def mistakes(text):
    """What of that would not be taken."""
    wrong = []
    for command, words in typed(text):
        if command not in helptext.COMMANDS:
            wrong.append(command)
            continue
        known = {n: o for o in helptext.options(command) for n in o.names}
        while words:
            word = words.pop(0)
            if word in known:
                if known[word].argument and not words:
                    wrong.append(f"{command} {word}: without its argument")
                words = words[1 if known[word].argument else 0:]
            elif word == "--":  # another program's
                break
            elif word.startswith("-"):
                wrong.append(f"{command} {word}")
            elif word in ("<", ">", ">>"):
                words = words[1:]
            elif command not in ("saluki-collector", "saluki", *EXPRESSIONS):
                wrong.append(f"{command} {word}")
    return wrong
