# SPDX-License-Identifier: GPL-2.0
"""Reads the sources of the man pages: sections, options, examples."""
import functools
import re
import shlex

from cli import helptext
from cli.helptext import Option
from netns.testbed import ROOT

PAGES = {page.stem: page for page in sorted((ROOT / "docs").glob("*.[1-8]"))}
PROGRAMS = ("saluki", "saluki-collector", "saluki-kafka", "saluki-keep", "saluki-live", "saluki-merge",
            "saluki-merge-report",
            "saluki-swarm", "saluki-web")

# Sections of options that belong to commands, besides those in the command's own subsection.
OPTIONS = {"saluki": [("OPTIONS", "General")],
           "saluki run": [("OPTIONS", "Capture (run and attach)"), ("OPTIONS", "Radio (run)"),
                          ("OPTIONS", "Export (run)")],
           "saluki attach": [("OPTIONS", "Capture (run and attach)")],
           "saluki capture": [("OPTIONS", "")],
           "saluki-collector": [("OPTIONS", "")], "saluki-kafka": [("OPTIONS", "General")],
           "saluki-kafka put": [("OPTIONS", "All commands"), ("OPTIONS", "put and get")],
           "saluki-kafka get": [("OPTIONS", "All commands"), ("OPTIONS", "put and get")],
           "saluki-kafka topics": [("OPTIONS", "All commands")],
           "saluki-keep": [("OPTIONS", "")], "saluki-live": [("OPTIONS", "")],
           "saluki-merge": [("OPTIONS", "")], "saluki-merge-report": [("OPTIONS", "")],
           "saluki-swarm": [("DESCRIPTION", "")], "saluki-web": [("DESCRIPTION", "")]}

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


def place(command):
    """The page that describes a command, and the command's name in its subsections."""
    program, _, name = command.partition(" ")
    if name == "capture":
        return "saluki-capture", ""
    if name.startswith("module "):
        return "saluki-module", name.removeprefix("module ")
    return program, name


def options(command):
    """The options that the page of this command describes, as helptext.options has them."""
    page, name = place(command)
    places = [("COMMANDS", name)] if name else []
    found, body = [], []
    for at in places + OPTIONS.get(command, []):
        for line in sections(page)[at]:
            if line.startswith(".It Fl"):
                head = OPTION.match(line)
                assert head, f"cannot read {line}"
                short, option, argument = head.groups()
                body = []
                found.append((tuple("-" + n for n in (short, option) if n), argument, body))
            else:
                body.append(line)
    described = [Option(names, argument, plain(body)) for names, argument, body in found]
    return described + inherited(described) if command == "saluki capture" else described


def inherited(own):
    """What saluki-capture takes over from `saluki run`: all but its own options and those that it names."""
    named = {n for option in own for n in option.names}
    lines = sections("saluki-capture")[("OPTIONS", "Options of saluki run")]
    named |= {"-" + line.split()[1] for line in lines if line.startswith(".Fl -")}
    return [option for option in options("saluki run") if not named & set(option.names)]


def synopsis(command):
    """option -> argument, over all lines of the SYNOPSIS that begin with the command; and whether
    other options are left to OPTIONS"""
    program = command.split()[0]
    found, current, more = {}, "", False
    for line in sections(place(command)[0])[("SYNOPSIS", "")]:
        if line.startswith(".Nm"):
            current = line[4:] or program
        elif current == command and line == ".Op Ar OPTION ...":
            more = True
        elif current == command and "Fl " in line:
            for option in re.sub(r"\b(Op )?Fl ", "", line[1:]).split(" | "):
                name, _, argument = option.partition(" Ar ")
                found["-" + name.removeprefix("-") if len(name) == 1 else "-" + name] = argument
    return found, more


def items(page, section, subsection, macro):
    """What the heads of a list name: `.It Li a , b` -> a, b"""
    heads = [line for line in sections(page)[(section, subsection)]
             if line.startswith(f".It {macro} ")]
    return [n for h in heads for n in h[len(f".It {macro} "):].split(" , ")]


def typed(text):
    """Our commands in a text with commands to type: (command, its words)"""
    for part in re.split(r"[|()`\n]|\$\(", text.replace("\\e\n", " ").replace("\\\n", " ")):
        words = part.replace("\\(dq", "").split()
        while words and words[0] in (".Dl", "eval", "sudo", "echo"):
            words = words[1:]
        if not words or words[0] not in PROGRAMS:
            continue
        words = shlex.split(" ".join(words))
        if words[:2] == ["saluki", "module"] and len(words) > 2:
            yield f"saluki module {words[2]}", words[3:]
        elif words[0] == "saluki" and len(words) > 1 and not words[1].startswith("-"):
            yield f"saluki {words[1]}", words[2:]
        elif " ".join(words[:2]) in helptext.COMMANDS:
            yield " ".join(words[:2]), words[2:]
        else:
            yield words[0], words[1:]


# These take an expression, an order or a file after their options.
EXPRESSIONS = ("saluki capture", "saluki run", "saluki attach", "saluki filter", "saluki-collector ctl",
               "saluki module sign", "saluki module check", "saluki module load",
               "saluki module unload", "saluki module fill", "saluki module consume", "saluki-live",
               "saluki-collector status", "saluki-collector top", "saluki-collector check", "saluki-collector add",
               "saluki-collector enrol", "saluki-collector remove", "saluki-merge", "saluki-merge receptions",
               "saluki-merge check", "saluki-merge stats", "saluki-merge-report", "saluki-keep", "saluki-keep find")


def mistakes(text):
    """The words that the command would refuse."""
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
