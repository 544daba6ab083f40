# SPDX-License-Identifier: GPL-2.0
"""--config: the options of a file come before those of the command line; mistakes name file and line."""
import os
import subprocess

import pytest

from netns.testbed import BUILD

SECRET = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo="  # RFC 7748, section 6.1
PUBLIC = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="


@pytest.fixture(name="config")
def fixture_config(tmp_path):
    path = tmp_path / "a.conf"
    path.touch(mode=0o600)
    return path


def run(*args, program="saluki"):
    got = subprocess.run([BUILD / program, *args], capture_output=True, text=True, check=False, timeout=20)
    return got.returncode, got.stderr


def refused(config, text, said, *args, command=("run",), program="saluki"):
    config.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert run(*command, "--config", config, *args, program=program) == (2, f"{program}: {said}\n")


@pytest.mark.parametrize("text,said", [
    ("snaplen = -1", "FILE:1: --snaplen -1: must be a whole number from 1 to 32768"),
    ("# one\n\nsnaplne = 5\n", "FILE:3: snaplne: no such option; did you mean snaplen?"),
    ("to", "FILE:1: to: needs a value: to = HOST:PORT"),
    ("to = nowhere\n", "FILE:1: --to nowhere: must be HOST:PORT, or [ADDRESS]:PORT for IPv6"),
    ("interface = a\ninterface = a\n", "FILE:2: -i a: given twice"),
    ("pad = no\n", "FILE:1: pad: takes no value; give 'pad' alone, or 'pad = yes'"),
    ("config = other\n", "FILE:1: config: goes on the command line, not into a file"),
    ("key-text = x\n", "FILE:1: key-text: is not a private key; 'saluki genkey' makes one"),
    (f"key-text = {SECRET}\n" * 2, "FILE:2: key-text: is given twice"),
    ("collector = x\n", "FILE:1: collector: is not a public key; 'saluki pubkey' prints the collector's"),
    (f"collector = {PUBLIC}\n" * 5, "FILE:5: collector: there are more than 4"),
    (f"next = {PUBLIC}\n", "FILE:1: next: goes after the collector's present key, once for each"),
    (f"preshared = {PUBLIC}\n", "FILE:1: preshared: goes after the collector's key, once for each"),
    (b"\x7fELF\2\1\1\0\0", "FILE:1: the line has a NUL byte; is this a text file?"),
    (b"\xff\xfe", "FILE:1: the line has no option; it must be 'option = value'"),
    ("x" * 5000, "FILE:1: the line is too long"),
    ("interface = lo\nto = a:1\n", "run: --key FILE is missing; make a key with 'saluki genkey'"),
    (f"interface = lo\nto = a:1\ncollector = {PUBLIC}", "run: the config file has no key-text; make a key with "
     "'saluki genkey'"),
    (f"interface = lo\nto = a:1\nkey-text = {SECRET}", "run: the config file has no 'collector = PUBLIC-KEY'"),
    (f"interface = lo\nto = a:1\nkey = k\nkey-text = {SECRET}\ncollector = {PUBLIC}", "run: give --key FILE, or "
     "key-text and collector, not both"),
])
def test_mistakes(config, text, said):
    config.write_bytes(text if isinstance(text, bytes) else text.encode())
    got = subprocess.run([BUILD / "saluki", "run", "--config", config], capture_output=True, check=False, timeout=20)
    said = f"saluki: {said.replace('FILE', str(config), 1) if said.startswith(('FILE', '--config')) else said}\n"
    assert (got.returncode, got.stderr.decode(errors="surrogateescape")) == (2, said)


def test_other_programs_files(config):
    refused(config, "listen = 5600\n", f"{config}:1: --listen 5600: must be ADDRESS:PORT, [ADDRESS]:PORT for IPv6, or "
            ":PORT", command=(), program="saluki-collector")
    refused(config, "to = a:1\n", f"{config}:1: to: no such option", command=(), program="saluki-collector")
    refused(config, "version", f"{config}:1: version: goes on the command line, not into a file", command=(),
            program="saluki-collector")
    refused(config, "frames = 0\n", f"{config}:1: --frames 0: must be a whole number from 1", command=("capture",))
    refused(config, "key-text = x\n", f"{config}:1: key-text: no such option", command=("capture",))


def test_what_is_no_file(config, tmp_path):
    os.mkfifo(fifo := tmp_path / "fifo")
    for path, said in ((tmp_path, "is not a regular file"), (fifo, "is not a regular file"),
                       ("/dev/zero", "is not a regular file"), ("/nowhere", "No such file or directory")):
        assert run("run", "--config", path) == (2, f"saluki: --config {path}: {said}\n")
    refused(config, "\n" * 300_000, f"--config {config}: is larger than 256 KiB")
    assert run("run", "--config", config, "--config", config) == (2, f"saluki: --config {config}: give one file\n")
    assert run("run", "--config", "/nowhere", "--help") == (0, "")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
@pytest.mark.parametrize("name", ["key-text", "collector", "preshared", "next"])
def test_keys_stand_only_in_private_files(config, mode, name):
    config.chmod(mode)
    refused(config, f"# keys\n{name} = {SECRET}\n",
            f"{config}:2: {name}: others can read this file; chmod 600 {config}")


@pytest.mark.parametrize("option", ["--key-text", "--preshared"])
def test_keys_never_stand_on_a_command_line(option):
    status, said = run("run", option, SECRET)
    assert status == 2 and "no such option" in said and SECRET not in said


def test_the_command_line_wins(config):
    """-B 64 has no room for the file's snaplen, but for the command line's."""
    config.write_text("ring-size = 64\nsnaplen = 32768\ninterface = lo\nto = a:1\n")
    small = "saluki: run: -B is too small: it must have room for four frames of -s bytes\n"
    assert run("run", "--key", "k", "--config", config) == (2, small)
    assert run("run", "--key", "k", "--config", config, "-s", "100", "--one-way", "--to", "b:1")[1] == (
        "saluki: run: --one-way goes with one --to: nobody tells that another is to be tried\n")
    config.write_text("ring-size = 64\nsnaplen = 100\ninterface = lo\nto = a:1\n")
    assert run("run", "--key", "k", "-s", "32768", "--config", config) == (2, small)
