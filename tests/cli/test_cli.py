# SPDX-License-Identifier: GPL-2.0
"""The programs' output: golden --help texts, errors, and the README compared with both."""
import base64
import json
import os
import pathlib
import re
import subprocess

import pytest

from cli import habits, helptext
from netns.testbed import BUILD, ROOT

GOLDEN = pathlib.Path(__file__).with_name("golden")
README = (ROOT / "README.md").read_text()


def program(command, **kwargs):
    words = command.split()
    return subprocess.run([BUILD / words[0], *words[1:]], capture_output=True, text=True,
                          check=False, **kwargs)


@pytest.mark.parametrize("command", helptext.COMMANDS)
def test_help(command):
    got = program(command + " --help")
    assert got.returncode == 0 and got.stderr == ""
    assert got.stdout == (GOLDEN / (command.replace(" ", "-") + ".txt")).read_text()
    assert all(len(line) <= 100 for line in got.stdout.splitlines())
    assert program(command + " -h").stdout == got.stdout


@pytest.mark.parametrize("command", ["saluki", "saluki-collector", "saluki-kafka", "saluki-keep", "saluki-live",
                                     "saluki-merge", "saluki-merge-report", "saluki-swarm", "saluki-web", "saluki run",
                                     "saluki capture", "saluki status", "saluki module"])
def test_version(command):
    got = program(command + " --version")
    assert got.returncode == 0 and re.fullmatch(command.split()[0] + r" \d+\.\d+\.\d+\n", got.stdout)
    assert got.stdout.split()[1] == program("saluki --version").stdout.split()[1]


@pytest.mark.parametrize("command,said", [
    ("saluki", "Usage: saluki COMMAND"),
    ("saluki bark", "saluki: bark: no such command; 'saluki --help' lists them\n"),
    ("saluki stauts", "saluki: stauts: no such command; did you mean status? 'saluki --help' lists "
     "them\n"),
    ("saluki modul", "saluki: modul: no such command; did you mean module? 'saluki --help' lists them\n"),
    ("saluki module chekc", "saluki: module chekc: no such command; did you mean check? 'saluki module "
     "--help' lists them\n"),
    ("saluki module walk", "saluki: module walk: no such command; 'saluki module --help' lists them\n"),
    ("saluki run --snaplne=3", "saluki: --snaplne=3: no such option; did you mean --snaplen? See "
     "--help\n"),
    ("saluki run --store-byte", "saluki: --store-bytes: needs a value; see --help\n"),
    ("saluki run --elephant", "saluki: --elephant: no such option, or several begin so; see --help\n"),
    ("saluki run --combo 3", "saluki: --combo: no such option, or several begin so; see --help\n"),
    ("saluki-collector --sensor-file f", "saluki-collector: --sensor-file: no such option, or several "
     "begin so; see --help\n"),
    ("saluki-collector --lsiten :1", "saluki-collector: --lsiten: no such option; did you mean --listen? "
     "See --help\n"),
    ("saluki-collector clt lib focus 6 30s", "saluki-collector: clt: no such command; did you mean ctl? "
     "'saluki-collector --help' lists them\n"),
    ("saluki-collector --report 1023", "saluki-collector: --report 1023: Bad file descriptor\n"),
    ("saluki-collector go", "saluki-collector: go: takes no arguments; see 'saluki-collector --help'\n"),
    ("saluki-collector ctl lib focsu 6 30s", "saluki-collector: ctl: focsu: no such order; did you mean "
     "focus? See 'saluki-collector ctl --help'\n"),
    ("saluki-collector ctl lib set chanels 1,6", "saluki-collector: ctl: chanels: no such order; did you "
     "mean set channels? See 'saluki-collector ctl --help'\n"),
    ("saluki-collector ctl lib set snaplen x", "saluki-collector: ctl: snaplen takes one whole number; "
     "see 'saluki-collector ctl --help'\n"),
    (f"saluki-collector ctl lib set keys {43 * 'A'}=", "saluki-collector: ctl: the collector itself orders keys, when "
     "it has two --key; see 'saluki-collector ctl --help'\n"),
    ("saluki genkey now", "saluki: genkey: takes no arguments; see 'saluki genkey --help'\n"),
    ("saluki probe now", "saluki: probe: now: takes no arguments; see 'saluki probe --help'\n"),
    ("saluki run", "saluki: run: give either -i IF or -r FILE\n"),
    ("saluki run -i lo", "saluki: run: --to HOST:PORT is missing: where is the collector? To capture here, use "
     "'saluki capture -i IF'\n"),
    ("saluki run -i any", "saluki: -i any: give -i several times, once for each interface; 'saluki capture -D' "
     "lists the interfaces\n"),
    ("saluki run --keep heders", "saluki: --keep heders: must be headers or all; did you mean headers?\n"),
    ("saluki run --allow-control filter,chanels", "saluki: --allow-control filter,chanels: must be channels, filter "
     "or snaplen, or several with commas; did you mean channels?\n"),
    ("saluki run -F /dev/null tcp", "saluki: tcp: give an expression or -F, not both\n"),
    ("saluki run -F /nowhere", "saluki: -F /nowhere: No such file or directory\n"),
    ("saluki run -%", "saluki: -%: no such option; see --help\n"),
    ("saluki run -k", "saluki: -k: give --channel CHANNEL after the interface\n"),
    ("saluki run --relinquish-privileges", "saluki: --user: needs a value; see --help\n"),
    ("saluki run -r FILE --filter-code /dev/null", "saluki: --filter-code /dev/null: line 1: must be "
     "the number of instructions; give what 'tcpdump -ddd' prints\n"),
    ("saluki run -r FILE --channel 6 --to a:1 --key k", "saluki: run: --channel, --channels, --monitor, "
     "--consume, --source, -Q, --ring and -B go with -i\n"),
    ("saluki run -r FILE --dwell 1s --to a:1 --key k", "saluki: run: --channel, --channels, --monitor, "
     "--consume, --source, -Q, --ring and -B go with -i\n"),
    ("saluki run -i lo --channels 1,6x", "saluki: --channels 1,6x: '6x': behind x stands a weight, from 1 "
     "to 100\n"),
    ("saluki run -i lo --channels al", "saluki: --channels al: 'al': no channel; did you mean all?\n"),
    ("saluki run -i lo --channels 1@60s,6@60s --channels 1,36/7", "saluki: --channels 1,36/7: '36/7': the "
     "width must be 5, 10, 20, 40, 80, 160 or 320 MHz; 40+ or 40- at 2.4 GHz, 320-1 or 320-2 at 6 "
     "GHz\n"),
    ("saluki run -i lo --dwell 250", "saluki: --dwell 250: must be a time with its unit, us, ms, "
     "s, m or h: 5ms to an hour\n"),
    ("saluki run -i lo --settle 2s", "saluki: --settle 2s: must be a time with its unit, us, ms, "
     "s, m or h: 0ms to 1s\n"),
    ("saluki run --strategy random", "saluki: --strategy random: must be equal or proportional\n"),
    ("saluki run --compress best", "saluki: --compress best: must be auto, none or a whole number from -50 to "
     "9\n"),
    ("saluki run --floor 101", "saluki: --floor 101: must be a whole number from 0 to 100\n"),
    ("saluki run -i lo --channels 1,6 --dwell 3600s --to a:1 --key k", "saluki: --channels 1,6: all dwells "
     "are more than an hour\n"),
    ("saluki run -i lo --channel 0", "saluki: --channel 0: a channel is a number from 1 to 196, 6g:1 to "
     "6g:233, or MHz from 1000 to 7250\n"),
    ("saluki run -i lo --to a:1 --key k -B 64 -s 32768", "saluki: run: -B is too small: it must have "
     "room for four frames of -s bytes\n"),
    ("saluki run --store-bytes 63K", "saluki: --store-bytes 63K: must be from 65536 to 1073741824, K or "
     "M behind it\n"),
    ("saluki run --spool-bytes 512K", "saluki: --spool-bytes 512K: must be from 1M to 1024G; K, M or G "
     "may stand behind it\n"),
    ("saluki run --renew 4", "saluki: --renew 4: must be a whole number from 5 to 86400\n"),
    ("saluki run --to a:1 --to a:2 --to a:3 --to a:4 --to a:5", "saluki: --to a:5: at most 4 "
     "collectors\n"),
    ("saluki run -i lo --queue 3", "saluki: --queue 3: must be a power of two\n"),
    ("saluki attach", "saluki: attach: give an interface with -i IF\n"),
    ("saluki detach -i lo tcp", "saluki: detach: tcp: not an option; see 'saluki detach --help'\n"),
    ("saluki filter -i lo", "saluki: filter: give an expression ('' takes everything) or --filter-code; "
     "see 'saluki filter --help'\n"),
    ("saluki attach -i lo -i lo", "saluki: -i lo: given twice\n"),
    ("saluki detach", "saluki: detach: give an interface with -i IF\n"),
    ("saluki status now", "saluki: status: now: not an option; see 'saluki status --help'\n"),
    ("saluki swarm", "saluki: swarm: no such command; 'saluki --help' lists them\n"),
    ("saluki-swarm", "saluki-swarm: give --to, --sensors-file, or both\n"),
    ("saluki-swarm now", "saluki-swarm: now: not an option; see 'saluki-swarm --help'\n"),
    ("saluki-swarm --to a:1", "saluki-swarm: --to needs the collector's public key (--collector-key)\n"),
    ("saluki-swarm --collector-key x", "saluki-swarm: --collector-key: is no key; give what 'saluki pubkey' "
     "prints\n"),
    ("saluki-swarm --sensors-file - --first 65000 --count 1000", "saluki-swarm: --first and --count: ids"
     " end at 65535\n"),
    ("saluki-collector -C 100K", "saluki-collector: --rotate-size 100K: must be a whole number from 1 to 1000000, in "
     "millions of bytes, or with a suffix K, M or G, in powers of 1024\n"),
    ("saluki-collector -G 500ms", "saluki-collector: --rotate-time 500ms: must be a whole number from 1 to 31536000, "
     "in seconds, or a time in whole seconds such as 60s, 10m or 1h\n"),
    ("saluki-collector --listen :1 --key k --sensors s -w f -W 3", "saluki-collector: -W COUNT needs -C SIZE or -G "
     "TIME, which begin a new file\n"),
    ("saluki-collector --listen :1 --key k --sensors s -w f%D -G 60", "saluki-collector: -w f%D: a conversion makes a "
     "'/'; use those such as %Y, %m, %d, %H, %M and %S\n"),
    ("saluki-collector --listen :1 --key k --sensors s -w f%q -G 60", "saluki-collector: -w f%q: its conversions "
     "cannot be read back from a name; use those such as %Y, %m, %d, %H, %M and %S\n"),
    ("saluki capture -i lo -w - -C 1", "saluki: capture: -C and -G do not go with -w -: standard output cannot be "
     "rotated\n"),
    ("saluki capture -i lo -w f -W 3", "saluki: capture: -W COUNT needs -C SIZE or -G TIME, which begin a new file\n"),
    ("saluki capture -i lo -w f -C 1 -W 1", "saluki: --rotate-count 1: must be a whole number from 2 to 100000\n"),
    ("saluki capture -i lo -w f -C 100K", "saluki: --rotate-size 100K: must be a whole number from 1 to 1000000, in "
     "millions of bytes, or with a suffix K, M or G, in powers of 1024\n"),
    ("saluki capture -i lo -w f -G 500ms", "saluki: --rotate-time 500ms: must be a whole number from 1 to 31536000, "
     "in seconds, or a time in whole seconds such as 60s, 10m or 1h\n"),
    ("saluki-collector --live-bytes 3M", "saluki-collector: --live-bytes 3M: must be from 4M to 1G; K, M or G may "
     "stand behind it\n"),
    ("saluki-live --chanel 6", "saluki-live: --chanel: no such option; did you mean --channel? See --help\n"),
    ("saluki-live --collector here", "saluki-live: --collector here: must be a path with a slash, or USER@HOST\n"),
    ("saluki-live --channel 1,6x", "saluki-live: --channel 1,6x: '6x': a channel is a number from 1 to 196, 6g:1 to "
     "6g:233, or MHz from 1000 to 7250\n"),
    ("saluki-live -c 0", "saluki-live: --frames 0: must be a whole number from 1 to 1000000000\n"),
    ("saluki-kafka", "Usage: saluki-kafka COMMAND"),
    ("saluki-kafka topic", "saluki-kafka: topic: no such command; did you mean topics? 'saluki-kafka --help' lists them\n"),
    ("saluki-kafka put", "saluki-kafka: put: --socket PATH is missing: the path of the collector's --sink\n"),
    ("saluki-kafka put --socket s", "saluki-kafka: put: --brokers HOST:PORT is missing\n"),
    ("saluki-kafka get --socket s --brokers b:1", "saluki-kafka: get: --group NAME is missing; members of one group "
     "divide the partitions\n"),
    ("saluki-kafka put --brokers b", "saluki-kafka: --brokers b: must be HOST:PORT, or several with commas\n"),
    *((f"saluki-kafka put --brokers {b}", f"saluki-kafka: --brokers {b}: must be HOST:PORT, or several with commas\n")
      for b in ("b:99999", "b:0", "b:kafka", "b:9092,", ":9092", "[::1]", "::1:9092", "b:")),
    ("saluki-kafka put --topic-prefix a/b", "saluki-kafka: --topic-prefix a/b: must be 1 to 200 letters, digits, '.', '_' "
     "or '-'\n"),
    ("saluki-kafka put --acks 1", "saluki-kafka: --acks: no such option, or several begin so; see --help\n"),
    ("saluki-kafka topics --brokers b:1 --replicas 2", "saluki-kafka: topics: with fewer than 3 --replicas, brokers can "
     "lose acknowledged messages; --allow-weak accepts that\n"),
    ("saluki-kafka topics --retention 30s", "saluki-kafka: --retention 30s: must be a time with its unit, m or h: 1m to "
     "8760h\n"),
    ("saluki-kafka topics x", "saluki-kafka: topics: x: takes no arguments; see 'saluki-kafka topics --help'\n"),
    ("saluki-keep", "saluki-keep: give the folder of the capture files: saluki-keep DIR\n"),
    ("saluki-keep a b", "saluki-keep: one folder at a time: b is another one\n"),
    ("saluki-keep --max-age 14 d", "saluki-keep: --max-age 14: must be a number with h, d or w, such as 36h, 14d or 8w\n"),
    ("saluki-keep --max-bytes 5% d", "saluki-keep: --max-bytes 5%: must be a size such as 500G; for a percentage of the "
     "disk, use --min-free\n"),
    ("saluki-keep --compress gzip d", "saluki-keep: --compress gzip: must be zstd or none\n"),
    ("saluki-keep find", "saluki-keep: give the folder of the capture files: saluki-keep find DIR\n"),
    ("saluki-keep find --mac 00:11:22:33:44 d", "saluki-keep: --mac 00:11:22:33:44: must be an address such as "
     "00:11:22:aa:bb:cc\n"),
    ("saluki-keep find --from tuesday d", "saluki-keep: --from tuesday: must be a time such as 2026-11-24, "
     "'2026-11-24 10:30:00', 2026-11-24T10:30:00Z, @1795413740 or 36h (ago)\n"),
    ("saluki-keep find --from 2026-11-25 --to 2026-11-24 d", "saluki-keep: --from is not before --to\n"),
    ("saluki-keep find d prot 53", "saluki-keep: prot 53: can't parse filter expression: syntax error; 'prot': did you mean "
     "port? See pcap-filter(7)\n"),
    ("saluki-merge", "saluki-merge: give the files of saluki-collector, their folder, or -r - for its live stream\n"),
    ("saluki-merge chekc", "saluki-merge: chekc: no such command; did you mean check? 'saluki-merge --help' lists them\n"),
    ("saluki-merge -r - x", "saluki-merge: -r - does not go with files\n"),
    ("saluki-merge -C 5 x", "saluki-merge: -C and -G do not go with -w -: standard output cannot be rotated\n"),
    ("saluki-merge -w f -C 100K x", "saluki-merge: --rotate-size 100K: must be a whole number from 1 to 1000000, in "
     "millions of bytes, or with a suffix K, M or G, in powers of 1024\n"),
    ("saluki-merge --floor a x", "saluki-merge: --floor 'a': a floor is a whole number, from -10000 to 10000, or 'none'\n"),
    ("saluki-merge --floor 1, x", "saluki-merge: --floor '': a floor is a whole number, from -10000 to 10000, or 'none'\n"),
    ("saluki-merge --channel 1,300 x", "saluki-merge: --channel '300': a channel is a number from 1 to 196, 6g:1 to "
     "6g:233, or MHz from 1000 to 7250\n"),
    ("saluki-merge --floor 1 --all x", "saluki-merge: --all does not go with --floor and --channel\n"),
    ("saluki-merge --channel 1 --all x", "saluki-merge: --all does not go with --floor and --channel\n"),
    ("saluki-merge --reach 2 x", "saluki-merge: --reach goes with --floor\n"),
    ("saluki-merge --floor 1 --reach 0 x", "saluki-merge: --reach 0: must be a whole number from 1 to 10000\n"),
    ("saluki-merge --alll x", "saluki-merge: --alll: no such option; did you mean --all? See --help\n"),
    ("saluki-merge check", "saluki-merge: check: give a trace that saluki-merge has written; see 'saluki-merge check "
     "--help'\n"),
    ("saluki-web --listen 192.0.2.1:80", "saluki-web: --listen 192.0.2.1:80: only this machine may connect; for other "
     "machines, run a TLS reverse proxy, see docs/operate.md\n"),
    ("saluki-web --listen [::]:80", "saluki-web: --listen [::]:80: only this machine may connect; for other "
     "machines, run a TLS reverse proxy, see docs/operate.md\n"),
    ("saluki-web --listen :5680", "saluki-web: --listen :5680: must be 127.0.0.1:PORT, [::1]:PORT, or a path "
     "with a slash\n"),
    ("saluki-web --listen localhost:80", "saluki-web: --listen localhost:80: must be 127.0.0.1:PORT, [::1]:PORT, or a path "
     "with a slash\n"),
    ("saluki-web --host-name a:80", "saluki-web: --host-name a:80: must be a host's name without a port\n"),
    ("saluki-web x", "saluki-web: x: takes no arguments; see 'saluki-web --help'\n"),
    ("saluki-collector", "saluki-collector: --listen ADDR:PORT is missing\n")])
def test_bad_usage(command, said):
    got = program(command)
    assert got.returncode == 2 and got.stdout == ""
    assert got.stderr.startswith(said) if said.startswith("Usage") else got.stderr == said


def choices():
    """Every option whose argument is a list of words, from --help."""
    for command in helptext.COMMANDS:
        for option in helptext.options(command):
            words = (option.argument or "").split("|")
            if len(words) > 1 and all(w.islower() for w in words):
                yield pytest.param(command, option.names[-1], words, id=f"{command} {option.names[-1]}")


@pytest.mark.parametrize("command,option,words", choices())
def test_a_choice_that_there_is_not(command, option, words):
    """The error for an unknown choice names all choices."""
    listed = ", ".join(words[:-1]) + " or " + words[-1]
    for given in ("both", ""):
        got = subprocess.run([*map(str, [BUILD / command.split()[0]]), *command.split()[1:], option, given],
                             capture_output=True, text=True, check=False)
        assert got.returncode == 2
        assert got.stderr == f"{command.split()[0]}: {option} {given}: must be {listed}\n"


def test_every_choice_is_listed_somewhere():
    assert len(list(choices())) >= 8


def test_keys():
    secret = program("saluki genkey").stdout
    assert len(base64.b64decode(secret)) == 32 and len(secret) == 45
    assert secret != program("saluki genkey").stdout
    assert len(base64.b64decode(program("saluki genpsk").stdout)) == 32
    public = program("saluki pubkey", input=secret)
    assert public.returncode == 0 and len(base64.b64decode(public.stdout)) == 32
    bad = program("saluki pubkey", input="nonsense\n")
    assert bad.returncode == 1 and bad.stdout == ""
    assert bad.stderr == ("saluki: standard input: the first line is not a private key; make one "
                          "with 'saluki genkey'\n")


def test_genkey_says_when_nobody_reads():
    with open("/dev/full", "w", encoding="ascii") as full:
        got = subprocess.run([BUILD / "saluki", "genkey"], stdout=full, stderr=subprocess.PIPE,
                             text=True, check=False)
    assert got.returncode == 1 and "standard output: No space left" in got.stderr


def test_probe_as_json():
    got = program("saluki probe --json")
    assert got.returncode == 0
    said = json.loads(got.stdout)
    assert said["kernel"] == os.uname().release and "interface" not in said
    assert all(f["supported"] or f["reason"] for f in said["features"].values())
    assert {"packet_sockets", "btf"} <= set(said["features"])


def test_probe_of_the_kernel():
    got = program("saluki probe")
    assert got.returncode == 0
    assert re.search(r"^BPF ring buffer +yes$", got.stdout, re.M)


def test_every_option_of_the_readme_exists():
    """Every option in the README exists in --help."""
    known = "".join(f.read_text() for f in GOLDEN.glob("*.txt"))
    known += program_targets()
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)):
        assert option in known or option in READER_OPTIONS, option


def consumers_options():
    """The options of the modules' consumers, which have their own tables, and of the bench."""
    sources = [f.read_text() for f in (ROOT / "bpf/modules").glob("*/*.[ch]")]
    found = set(re.findall(r'{ "([a-z-]+)", (?:\d|\w+_argument), NULL,', "".join(sources)))
    bench = "".join(f.read_text() for f in (ROOT / "tests/bench").glob("*.py"))
    return {f"--{name}" for name in found} | set(re.findall(r'"(--[a-z-]+)"', bench))


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_every_option_of_the_docs_exists(page):
    known = {name for c in helptext.COMMANDS for o in helptext.options(c) for name in o.names}
    known |= consumers_options()
    if page.name == "tcpdump.md":
        known |= {flag for row in habits.rows() for flag in row.flags}
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page.read_text())):
        assert option in known, option


READER_OPTIONS = {"--help"}


def program_targets():
    return subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout


def test_make_help_names_what_the_readme_names():
    targets = program_targets()
    for target in set(re.findall(r"(?:^\$ |`)make ([a-z-]+)", README, re.M)):
        assert re.search(rf"^ +{target}\b", targets, re.M), target
