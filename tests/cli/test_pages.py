# SPDX-License-Identifier: GPL-2.0
"""The man pages are the reference: they match --help and the programs' behaviour."""
import re
import subprocess

import pytest

from cli import helptext, manpage
from netns import testbed
from netns.testbed import BUILD, ROOT

EVERY_COMMAND = pytest.mark.parametrize("command", helptext.COMMANDS)
EVERY_PAGE = pytest.mark.parametrize("page", manpage.PAGES)


@EVERY_PAGE
def test_pages_are_clean(page):
    page = manpage.PAGES[page]
    got = subprocess.run(["mandoc", "-Tlint", "-Wwarning", page], capture_output=True, text=True,
                         check=False)
    assert got.returncode == 0 and got.stdout + got.stderr == ""
    assert all(len(line) <= 80 for line in page.read_text().splitlines())


def test_every_command_has_its_place():
    def subsections(page):
        return [sub for section, sub in manpage.sections(page) if section == "COMMANDS" and sub]
    below = helptext.commands("saluki module")
    assert subsections("saluki") == helptext.commands()
    assert subsections("saluki-module") == below
    assert subsections("saluki-kafka") == helptext.commands("saluki-kafka")
    assert helptext.COMMANDS == ["saluki", *(f"saluki {c}" for c in helptext.commands()),
                                 *(f"saluki module {c}" for c in below),
                                 "saluki-collector", "saluki-collector ctl", "saluki-collector status",
                                 "saluki-collector top", "saluki-collector check",
                                 "saluki-collector add", "saluki-collector enrol", "saluki-collector remove",
                                 "saluki-kafka", "saluki-kafka put", "saluki-kafka get", "saluki-kafka topics",
                                 "saluki-keep", "saluki-keep find", "saluki-live", "saluki-merge",
                                 "saluki-merge receptions", "saluki-merge check",
                                 "saluki-merge stats", "saluki-merge-report",
                                 "saluki-swarm", "saluki-web"]


@EVERY_COMMAND
def test_options_are_those_of_help(command):
    page = {(o.names, o.argument) for o in manpage.options(command)}
    program = {(o.names, o.argument) for o in helptext.options(command)}
    if " " in command:  # the page says once that every command takes it
        program.remove((("-h", "--help"), None))
    assert page == program


@EVERY_COMMAND
def test_synopsis_has_all_options(command):
    synopsis, more = manpage.synopsis(command)
    known = {n: o.argument or "" for o in helptext.options(command) for n in o.names}
    assert synopsis.items() <= known.items()
    for option in helptext.options(command):
        if "--help" not in option.names and not more:
            assert set(option.names) & synopsis.keys(), option.names


@EVERY_COMMAND
def test_defaults_are_those_of_help(command):
    pages = {o.names: o.text for o in manpage.options(command)}
    for option in helptext.options(command):
        if option.names not in pages:  # --help
            continue
        said = re.search(r"\(default ([\w.-]+)", option.text)
        written = re.search(r"The default is ([\w.-]+?)(?=[,:;.]? |[,:;.]?$)", pages[option.names])
        if said and said[1] == "on":  # depends on the link type
            assert written and " on 802.11" in pages[option.names]
        else:
            assert (said and said[1]) == (written and written[1]), option.names


@EVERY_COMMAND
def test_ranges_are_those_that_are_taken(command):
    words = command.split()
    for option in manpage.options(command):
        if not option.argument or option.argument in ("IF", "FILE", "NAME", "PATH"):
            continue
        if command == "saluki-merge-report" and option.argument == "DIR":  # any name of a folder is right
            continue
        said = subprocess.run([BUILD / words[0], *words[1:], option.names[-1], "x"],
                              capture_output=True, text=True, check=False)
        assert said.returncode == (3 if command == "saluki-collector check" else 2)  # as monitoring plugins
        taken = re.search(r"from -?\d+ to -?\d+", said.stderr)
        written = re.search(r"from -?\d+ to -?\d+", option.text)
        assert (taken and taken[0]) == (written and written[0]), option.names


@pytest.fixture(name="ledgers", scope="module")
def fixture_ledgers(tmp_path_factory):
    """Both ends' report of one run: the sensor's last lines, the collector's JSON."""
    folder = tmp_path_factory.mktemp("ledgers")
    folder.chmod(0o755)  # programs under test drop their rights
    keys = testbed.Keys(folder)
    key = keys.sensor("lib")
    ns = testbed.Namespace()
    collector = testbed.Collector(ns, keys, folder / "out.pcapng")
    try:
        trace = folder / "hwsim.pcap"
        subprocess.run(["zstd", "-qd", ROOT / "tests/demo/hwsim.pcap.zst", "-o", trace], check=True)
        status, said = testbed.Process(ns, [BUILD / "saluki", "run", "-r", trace, "--to",
                                            "127.0.0.1:5600", "--key", key], None).finish(None)
        assert status == 0, said
        collector.finish()
        return said, collector.stats()
    finally:
        collector.kill()
        ns.close()


def test_every_counter_of_the_sensor_is_explained(ledgers):
    said = "\n".join(line for line in ledgers[0].splitlines() if " ledger: " in line)
    counters = set(re.findall(r"(?:ledger: |= |\+ )([a-z_ ]+) \d+", said))
    # Counters printed elsewhere, and only if they are not 0.
    elsewhere = {"malformed", "dropped_store", "bad_fcs"}
    assert counters == set(manpage.items("saluki-diagnostics", "SENSOR COUNTERS", "", "Li")) - elsewhere


def test_every_field_of_the_statistics_is_explained(ledgers):
    written = [field for subsection in ("The collector", "Sensors")
               for field in manpage.items("saluki-diagnostics", "COLLECTOR COUNTERS", subsection, "Li")]
    stats = ledgers[1]
    assert sorted(written) == sorted([*stats, *stats["sensors"][0]])


@pytest.mark.parametrize("program", ["saluki", "saluki-collector"])
def test_messages_are_those_of_the_programs(program):
    """Each message of the page, without its numbers and names, is in the sources."""
    folder, section = {"saluki": ("agent", "SENSOR MESSAGES"),
                       "saluki-collector": ("collector", "COLLECTOR MESSAGES")}[program]
    source = "".join(path.read_text() for path in (ROOT / folder).rglob("*.[ch]"))
    source = re.sub(r'"\s*(PRI\w+\s*)?"', "", source)
    source = re.sub(r"(\w)%s", r"\1s", source)  # a plural
    messages = manpage.items("saluki-diagnostics", section, "", "Sy")
    assert len(messages) >= 25
    for message in messages:
        for part in re.split(r"\b[A-Z]+\b|\d+|ahead of|:", message):
            part = part.strip(' ":;.,')
            assert len(part) < 8 or part in source, message


@pytest.mark.parametrize("page", ["saluki", "saluki-capture", "saluki-module", "saluki-collector", "saluki-kafka",
                                  "saluki-keep", "saluki-live", "saluki-merge"])
def test_examples_can_be_typed(page):
    text = "\n".join(manpage.sections(page)[("EXAMPLES", "")])
    assert len(list(manpage.typed(text))) >= 4
    assert manpage.mistakes(text) == []


def test_pages_point_at_pages():
    """Each page is found from saluki(1) or saluki-collector(8), and pages name only pages there are."""
    there = {(path.stem, path.suffix[1:]) for path in manpage.PAGES.values()}
    named = {name: set(re.findall(r"^\.Xr (saluki[\w-]*) (\d)", path.read_text(), re.M))
             for name, path in manpage.PAGES.items()}
    assert set().union(*named.values()) <= there
    assert there <= named["saluki"] | named["saluki-collector"]


def test_the_first_page_is_short():
    assert len(manpage.PAGES["saluki"].read_text().splitlines()) <= 900


@pytest.mark.parametrize("name,least", [("README.md", 8), ("docs/options.md", 12), ("docs/ap70.md", 2),
                                        ("docs/wifi.md", 8)])
def test_documents_can_be_typed(name, least):
    text = (ROOT / name).read_text()
    assert len(list(manpage.typed(text))) >= least
    assert manpage.mistakes(text) == []


def test_lists_of_channels_are_taken():
    """Each list of channels in the page is accepted: a faulty list is reported before anything
    else."""
    page = (ROOT / "docs/wifi.md").read_text()
    lists = set(re.findall(r"--channels? ([\w:/.,@+-]+)", page))
    assert len(lists) >= 5
    for text in lists | {"6/40+", "6/40-"}:
        got = subprocess.run([BUILD / "saluki", "run", "-i", "none", "--channels", text, "--to", "::1:1"],
                             capture_output=True, text=True, check=False)
        assert got.returncode == 2 and "--to" in got.stderr, (text, got.stderr)
    got = subprocess.run([BUILD / "saluki", "run", "-i", "none", "--channels", "6x0", "--to", "::1:1"],
                         capture_output=True, text=True, check=False)
    assert got.returncode == 2 and "--channels" in got.stderr


def test_options_of_the_page_are_those_of_help():
    """The tables of docs/options.md: each option exists, and has an argument where it takes one."""
    known = {n: o for c in ("saluki-collector", "saluki run") for o in helptext.options(c)
             for n in o.names}
    rows = re.findall(r"^\| (`-.*?) \|", (ROOT / "docs/options.md").read_text(), re.M)
    shown = [span.split() for row in rows for span in re.findall(r"`([^`]*)`", row)]
    assert len(shown) >= 10
    for option, *argument in shown:
        assert option in known, option
        assert bool(argument) == bool(known[option].argument), option


def test_install_and_uninstall_are_one_list(tmp_path):
    def make(target):
        return subprocess.run(["make", "-s", target, f"DESTDIR={tmp_path}", "PREFIX=/usr"],
                              cwd=ROOT, capture_output=True, text=True, check=True)
    make("install")
    installed = {str(p.relative_to(tmp_path / "usr")) for p in tmp_path.rglob("*") if p.is_file()}
    pages = {f"share/man/man{page.suffix[1:]}/{page.name}" for page in manpage.PAGES.values()}
    assert pages | {"sbin/saluki", "sbin/saluki-collector", "bin/saluki-live", "bin/saluki-merge",
                    "bin/saluki-merge-report", "share/saluki/merge-report/main.py",
                    "share/doc/saluki/design.md",
            "share/bash-completion/completions/saluki",
            "share/bash-completion/completions/saluki-collector",
            "share/bash-completion/completions/saluki-swarm"} <= installed
    links = {p.name: p for p in tmp_path.rglob("*") if p.is_symlink()}
    assert all(p.match("usr/lib/*/wireshark/extcap/*") for p in links.values())
    assert {name: str(p.readlink()) for name, p in links.items()} == {
        "saluki": "/usr/bin/saluki-live", "saluki-archive": "/usr/bin/saluki-keep"}
    make("uninstall")
    assert not [p for p in tmp_path.rglob("*") if p.is_file() or p.is_symlink()]
