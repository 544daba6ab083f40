# SPDX-License-Identifier: GPL-2.0
"""OpenWrt's package: the recipe builds and installs, and its init script makes procd start a
sensor. OpenWrt is simulated: its makefiles by those in buildroot/, its scripts by rc.common, with
its shell (busybox). Compiler and libraries are this machine's."""
import os
import pathlib
import re
import subprocess

import pytest

from bench.ap70 import OPENWRT
from cli import helptext
from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.conftest import bed  # noqa: F401 (a fixture)
from netns.test_pipeline import as_seen
from reference import captures

HERE = testbed.ROOT / "tests/ap70"
PACKAGE = testbed.ROOT / "packaging/openwrt/saluki"
INIT = PACKAGE / "files/saluki.init"
CONFIG = PACKAGE / "files/saluki.config"
DOCUMENT = testbed.ROOT / "docs/ap70.md"
ASH = ["busybox", "ash"]


def recipe(folder, target):
    return subprocess.run(["make", "-s", "-C", PACKAGE, f"TOPDIR={HERE / 'buildroot'}",
                           f"BUILD_DIR={folder / 'build'}", f"ROOT={folder / 'root'}", target],
                          check=True, text=True, stdout=subprocess.PIPE).stdout


@pytest.fixture(name="root", scope="module")
def fixture_root(tmp_path_factory):
    """The folder in which the package is installed."""
    folder = tmp_path_factory.mktemp("openwrt")
    folder.chmod(0o755)  # programs under test drop their rights
    recipe(folder, "package")
    return folder / "root"


def test_what_is_built_anew_for(root):
    """OpenWrt rebuilds if any file that the build read from this clone has changed."""
    folders = [pathlib.Path(f) for f in recipe(root.parent, "depends").split()]
    read = {testbed.ROOT / f for path in (root.parent / "build").rglob("*.d")
            for f in re.findall(r"[^\s:\\]+\.[ch]\b", path.read_text()) if f[0] != "/"}
    assert len(read) > 50 and all(f.exists() for f in folders)
    assert [f for f in read if not any(f.is_relative_to(folder) for folder in folders)] == []


class Told:
    """The requests to procd: each instance's command line and parameters, and the triggers for a
    restart."""

    def __init__(self, text):
        self.commands, self.parameters, self.triggers = {}, {}, []
        name = None
        for call, *words in (line.split("\t") for line in text.splitlines()):
            if call == "open_instance":
                name, = words
                self.parameters[name] = {}
            elif call == "close_instance":
                name = None
            elif call == "add_reload_trigger":
                self.triggers += words
            elif name and words[0] == "command":
                before = self.commands.get(name, []) if call == "append_param" else []
                self.commands[name] = before + words[1:]
            else:
                assert name and call == "set_param", (call, words)
                self.parameters[name][words[0]] = words[1:]


def init(folder, config, command, program="/usr/sbin/saluki", script=INIT):
    """Runs the init script; returns its output and its log."""
    (folder / "saluki").write_text(config)
    got = subprocess.run([*ASH, HERE / "rc.common", script, command], check=True, text=True,
                         capture_output=True, env={**os.environ, "UCI_CONFIG": str(folder),
                                                   "SALUKI": str(program)})
    return got.stdout, got.stderr


def configured(**changes):
    """The default configuration with other values; comments become options."""
    text = CONFIG.read_text()
    for name, value in changes.items():
        text, count = re.subn(rf"^\t#?(option|list) {name} '.*'$", rf"\t\1 {name} '{value}'", text,
                              flags=re.M)
        assert count == 1, name
    return text


@pytest.fixture(name="key")
def fixture_key(tmp_path):
    path = tmp_path / "keys/main.key"
    path.parent.mkdir()
    path.write_text("secret\npublic\n")
    return path


@pytest.mark.parametrize("shell", [ASH, ["sh"]], ids=["ash", "sh"])
@pytest.mark.parametrize("script", [INIT, CONFIG, HERE / "rc.common"], ids=lambda p: p.name)
def test_shells_take_the_scripts(shell, script):
    subprocess.run([*shell, "-n", script], check=True)


def test_the_default_starts_nothing(tmp_path):
    """A fresh installation starts no capture."""
    out, log = init(tmp_path, CONFIG.read_text(), "start")
    told = Told(out)
    assert told.commands == {} and told.triggers == ["saluki"] and log == ""


def test_a_sensor(tmp_path, key):
    out, log = init(tmp_path, configured(enabled=1, key=key), "start")
    told = Told(out)
    assert told.commands == {"main": [
        "/usr/sbin/saluki", "run", "-i", "mon0", "--to", "collector.example.org:5600", "--key",
        str(key), *OPENWRT]}
    assert told.parameters["main"] == {"file": [str(key)], "stderr": ["1"], "term_timeout": ["15"],
                                       "respawn": ["3600", "10", "0"]}
    assert log == ""


def test_several_sensors_and_interfaces(tmp_path, key):
    two = (f"config sensor 'a'\n\tlist interface 'mon0'\n\tlist interface 'mon1'\n"
           f"\toption collector '[2001:db8::1]:5600'\n\toption key '{key}'\n"
           f"config sensor 'b'\n\toption interface 'eth1'\n\toption collector 'c:1'\n"
           f"\toption key '{key}'\n\toption enabled 'off'\n")
    out, log = init(tmp_path, two, "start")
    assert list(Told(out).commands) == ["a"] and log == ""
    command = Told(out).commands["a"]
    assert command[:8] == ["/usr/sbin/saluki", "run", "-i", "mon0", "-i", "mon1", "--to",
                           "[2001:db8::1]:5600"]
    out, _ = init(tmp_path, two.replace("'off'", "'on'"), "start")
    assert Told(out).commands["b"][2:4] == ["-i", "eth1"]


@pytest.mark.parametrize("missing", ["interface", "collector", "key"])
def test_what_is_missing_is_logged(tmp_path, key, missing):
    config = re.sub(rf"^\t\w+ {missing} .*\n", "", configured(enabled=1, key=key), flags=re.M)
    out, log = init(tmp_path, config, "start")
    assert Told(out).commands == {} and "sensor main: needs an interface" in log
    key.write_text("")
    assert "sensor main: needs" in init(tmp_path, configured(enabled=1, key=key), "start")[1]


def test_a_key_is_not_looked_for_just_anywhere(tmp_path, key, root, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = configured(enabled=1, key=key.relative_to(tmp_path))
    out, log = init(tmp_path, config, "start")
    assert Told(out).commands == {} and "a path that begins with /" in log
    out, log = init(tmp_path, configured(key="main.key"), "genkey", root / "usr/sbin/saluki")
    assert out == "" and "sensor main: needs a 'key', a path that begins with /" in log
    assert not (tmp_path / "main.key").exists()


# A value of each option, different from the program's default.
VALUES = {"snaplen": "128", "keep": "all", "direction": "inout", "filter_code": None,
          "ring_size": "512", "combo_size": "8192", "combo_age": "500", "queue": "4",
          "channel": "6", "compress": "-5", "user": "daemon", "collector_keys": None}


def test_every_option_is_taken(tmp_path, key, root):
    """The command line is accepted up to the interface, which does not exist."""
    code = tmp_path / "code"
    code.write_text("1\n6 0 0 262144\n")
    values = {**VALUES, "filter_code": code, "collector_keys": tmp_path / "collector.keys"}
    config = configured(enabled=1, key=key, interface="nowhere", collector="127.0.0.1:5600",
                        **values)
    program = root / "usr/sbin/saluki"
    out, _ = init(tmp_path, config, "start", program)
    command = Told(out).commands["main"]
    for name, value in values.items():
        at = command.index("--" + name.replace("_", "-"))
        assert command[at + 1] == str(value)
    # With its own /run, where it notes the slots it has used.
    got = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c",
                          'mount -t tmpfs none /run && exec "$@"', "sh", *command],
                         capture_output=True, text=True, check=False)
    assert got.returncode == 1 and "nowhere: " in got.stderr, got


def test_every_option_is_explained(root):
    """Script, default configuration and page have the same options, with the program's names."""
    script = INIT.read_text()
    passed = dict(re.findall(r'pass_on "\$1" (\w+) (--\S+)', script)) | {"interface": "-i"}
    assert set(passed) - {"interface", "collector", "key"} == set(VALUES)
    assert set(passed.values()) <= helptext.names("saluki run")
    taken = set(re.findall(r'config_get(?:_bool)? \w+ "\$1" (\w+)', script)) | set(passed)
    offered = re.findall(r"^\t#?(?:option|list) (\w+) ", CONFIG.read_text(), re.M)
    assert sorted(offered) == sorted(taken)
    explained = dict(re.findall(r"^\| `(\w+)` \| (?:`(-\S+)`)?.* \|$", DOCUMENT.read_text(), re.M))
    assert explained == {name: passed.get(name, "") for name in taken}
    assert (root / "etc/config/saluki").read_text() == CONFIG.read_text()


def test_keys_are_made_once(tmp_path, root):
    key = tmp_path / "etc/saluki/main.key"
    program = root / "usr/sbin/saluki"
    out, _ = init(tmp_path, configured(key=key), "genkey", program)
    secret = key.read_text()
    public = subprocess.run([program, "pubkey"], input=secret, text=True, capture_output=True,
                            check=True).stdout.strip()
    assert out == f"main: {public}\nmain: add the collector's public key: echo KEY >> {key}\n"
    assert key.stat().st_mode & 0o777 == 0o600 and key.parent.stat().st_mode & 0o777 == 0o700
    key.write_text(secret + public + "\n")
    assert init(tmp_path, configured(key=key), "genkey", program)[0] == f"main: {public}\n"


def test_what_is_installed_captures(bed, bundled, root):  # noqa: F811
    """A sensor started from the package's files captures, up to the collector's file."""
    collector = bed.collector()
    player = bed.tun("mon0", 803, bundled, ["--rate", "10000"])
    config = configured(enabled=1, collector="127.0.0.1:5600", key=bed.keys.sensor("lib"))
    out, _ = init(bed.tmp_path, config, "start", root / "usr/sbin/saluki",
                  root / "etc/init.d/saluki")
    sensor = testbed.Process(bed.ns, Told(out).commands["main"], "capturing by mmap v3")
    bed.stack.callback(sensor.kill)
    assert "ring 256 KiB" in sensor.said
    count = player.play()
    status, said = sensor.finish()
    assert status == 0, said
    collector.finish()
    assert_same(as_seen(captures.frames(bundled)), captures.frames(bed.out), stamps=False)
    assert_balanced(collector.sensor_stats("lib"), count)
