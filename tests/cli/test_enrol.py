# SPDX-License-Identifier: GPL-2.0
"""saluki-collector add, enrol and remove, and saluki setup: all of their changes are made, or none."""
import os
import resource
import stat
import subprocess
import time

import pytest

from netns.testbed import BUILD, public_of, saluki

ENROL_S_MAX = 2  # 200 sensors


class Place:
    """A collector's files, and no collector."""

    def __init__(self, folder):
        self.folder, self.sensors, self.key = folder, folder / "sensors", folder / "collector.key"
        self.out, self.config = folder / "out", folder / "collector.conf"
        secret = saluki("genkey", check=True).stdout
        self.public = public_of(secret)
        self.key.touch(mode=0o600)
        self.key.write_text(secret)
        self.config.write_text(f"listen = :5600\nkey = {self.key}\nsensors = {self.sensors}\nwrite = -\n"
                               f"control = {folder}/control\n")

    def run(self, command, *args, config=True, **kwargs):
        options = ("--config", self.config) if config else ()
        return subprocess.run([BUILD / "saluki-collector", command, *options, *args], capture_output=True, text=True,
                              check=False, timeout=60, **kwargs)

    def enrol(self, *names, **kwargs):
        return self.run("enrol", "--to", "a.example:5600", "--out", self.out, *names, **kwargs)

    def content(self):
        return {str(p.relative_to(self.folder)): (p.stat().st_mode, p.is_file() and p.read_bytes())
                for p in self.folder.rglob("*")}

    def refused(self, said, got, before):
        assert (got.returncode, got.stdout) == (1, "") and said in got.stderr, got
        assert self.content() == before


@pytest.fixture(name="place")
def fixture_place(tmp_path):
    return Place(tmp_path)


def key():
    return public_of(saluki("genkey", check=True).stdout)


def fields(path):
    return [line.split(" = ") for line in path.read_text().splitlines() if not line.startswith("#")]


def test_a_sensor_is_added(place):
    before = f"# my sensors\n\ngroup west\nlib 7 {key()} # the library"  # no newline at the end
    place.sensors.write_text(before)
    place.sensors.chmod(0o640)
    added = key()
    got = place.run("add", "--group", "west", "new", added)
    assert (got.returncode, got.stderr) == (0, "")
    assert got.stdout == (f"new has id 8 in {place.sensors}\nno collector is running at {place.folder}/control; "
                          "it reads the file when it starts\n")
    assert place.sensors.read_text() == f"{before}\nnew 8 {added} group=west\n"
    assert stat.S_IMODE(place.sensors.stat().st_mode) == 0o640
    got = place.run("remove", "lib")
    assert got.returncode == 0 and got.stdout.startswith(f"1 sensor removed from {place.sensors}\n")
    assert place.sensors.read_text() == f"# my sensors\n\ngroup west\nnew 8 {added} group=west\n"


def test_the_first_sensor_makes_the_file(place):
    got = place.run("add", "--sensors", place.sensors, "one", key(), config=False)
    assert got.returncode == 0 and "one has id 1" in got.stdout
    assert stat.S_IMODE(place.sensors.stat().st_mode) == 0o600


def test_a_symbolic_link_stays(place):
    real = place.folder / "real"
    real.write_text(f"lib 65535 {key()}\n")
    place.sensors.symlink_to(real)
    assert place.run("add", "one", key()).returncode == 0
    assert place.sensors.is_symlink() and real.read_text().splitlines()[1].startswith("one 1 ")


@pytest.mark.parametrize("name,said", [
    ("lib", "lib: this name is taken, by line 1 of "), ("a/b", "a/b: a name is at most 31 letters"),
    ("x" * 32, ": a name is at most 31 letters"), ("group", "group: a name is"), ("", ": a name is"),
    ("li\x1bb", "li?b: a name is"), ("ok ok", "ok ok: a name is")])
def test_names_that_are_refused(place, name, said):
    place.sensors.write_text(f"lib 1 {key()}\n")
    before = place.content()
    place.refused(said, place.run("add", name, key()), before)
    place.refused(said, place.enrol("fine", name), before)
    place.refused("two: is given twice", place.enrol("two", "two"), before)


def test_keys_and_groups_that_are_refused(place):
    public = key()
    place.sensors.write_text(f"lib 1 {public}\n")
    before = place.content()
    place.refused(f"new: this public key is lib's, in line 1 of {place.sensors}", place.run("add", "new", public),
                  before)
    place.refused(f"--group east: there is no such group; add a line 'group east' to {place.sensors}",
                  place.enrol("new", "--group", "east"), before)
    place.refused("no such sensor; did you mean lib?", place.run("remove", "lub"), before)
    place.refused("a collector needs at least one sensor", place.run("remove", "lib"), before)
    place.sensors.write_text("lib 1 what\n")
    before = place.content()
    place.refused(f"--sensors {place.sensors}: line 1: the public key is not", place.run("add", "new", public), before)
    got = place.run("add", "new", "what")
    assert got.returncode == 2 and "the public key is not 44 characters of base64" in got.stderr


def test_sensors_are_enrolled(place):
    got = place.run("enrol", "--to", "a:1", "--to", "b:2", "--out", place.out, "--psk", "one", "two")
    assert got.returncode == 0 and got.stdout.startswith(f"one has id 1 and {place.out}/one.conf\n")
    lines = [line.split() for line in place.sensors.read_text().splitlines()]
    for line, name, to in zip(lines, ("one", "two"), (["a:1", "b:2"], ["b:2", "a:1"]), strict=True):
        path = place.out / f"{name}.conf"
        options = fields(path)
        secret = dict(options)["key-text"]
        assert options == [["to", to[0]], ["to", to[1]], ["key-text", secret], ["collector", place.public],
                           ["preshared", line[3]]]
        assert line[0] == name and line[2] == public_of(secret)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and secret not in got.stdout
    assert stat.S_IMODE(place.sensors.stat().st_mode) == 0o600


def test_the_collectors_key_may_be_in_its_config_file(place):
    place.config.write_text(f"key-text = {place.key.read_text()}sensors = {place.sensors}\n")
    assert "others can read this file" in place.enrol("one").stderr
    place.config.chmod(0o600)
    assert place.enrol("one").returncode == 0
    assert dict(fields(place.out / "one.conf"))["collector"] == place.public


def test_nothing_is_written_where_a_file_exists(place):
    place.out.mkdir()
    (place.out / "b.conf").write_text("mine")
    before = place.content()
    place.refused("b.conf: File exists", place.enrol("a", "b", "c"), before)
    place.refused("out2", place.run("enrol", "--to", "a:1", "--out", place.folder / "none/out2", "a"), before)


def test_nothing_is_written_to_a_full_disk(place):
    """The files have room on the disk, or the first ones have, or all but the sensors file."""
    script = ('mount -t tmpfs -o size=$SIZE tmpfs "$ROOM" && cp "$LIST" "$ROOM/sensors" && cd "$ROOM" || exit 2\n'
              'before=$(ls -lR; cat sensors); "$@"; status=$?\n'
              '[ "$before" = "$(ls -lR; cat sensors)" ] || exit 9; exit $status')
    room, mine = place.folder / "room", place.folder / "mine"
    room.mkdir()
    mine.write_text(f"lib 1 {key()}\n" + "# much\n" * 1000)
    statuses = []
    for pages in range(3, 15):
        env = {**os.environ, "SIZE": str(pages * os.sysconf("SC_PAGE_SIZE")), "ROOM": str(room), "LIST": str(mine)}
        got = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", BUILD / "saluki-collector", "enrol",
                              "--sensors", room / "sensors", "--key", place.key, "--to", "a:1", "--control", "none",
                              "--out", room / "out", *(f"s{n}" for n in range(4))],
                             capture_output=True, text=True, check=False, env=env)
        statuses.append(got.returncode)
        assert got.returncode == 9 or "No space left on device" in got.stderr, got
        assert got.returncode != 9 or got.stdout.count("has id") == 4, got  # then it had room
    assert {1, 9} == set(statuses) and statuses == sorted(statuses)


def test_a_limit_of_file_sizes_is_like_a_full_disk(place):
    place.sensors.write_text(f"lib 1 {key()}\n" + "# much\n" * 200)
    before = place.content()
    got = place.enrol("one", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    place.refused("File too large", got, before)


def test_two_at_once_have_ids_of_their_own(place):
    started = [subprocess.Popen([BUILD / "saluki-collector", "add", "--config", place.config, f"s{n}", key()],
                                stdout=subprocess.DEVNULL) for n in range(20)]
    assert [p.wait(20) for p in started] == [0] * 20
    lines = [line.split() for line in place.sensors.read_text().splitlines()]
    assert sorted(int(line[1]) for line in lines) == list(range(1, 21)) and len({line[0] for line in lines}) == 20


def test_nobody_reads_what_is_printed(place):
    """As with `| head -n 1`: the sensors file and the config files are still of the same sensors."""
    ours, theirs = os.pipe()
    os.close(ours)
    names = [f"room-{n}" for n in range(9)]
    with os.fdopen(theirs, "w") as pipe:
        p = subprocess.run([BUILD / "saluki-collector", "enrol", "--config", place.config, "--to", "a:1", "--out",
                            place.out, *names], stdout=pipe, timeout=60, check=False)
    assert p.returncode >= 0, "it is not killed"
    assert [line.split()[0] for line in place.sensors.read_text().splitlines()] == names
    assert sorted(path.name for path in place.out.iterdir()) == [f"{name}.conf" for name in names]


@pytest.mark.alone
def test_200_sensors_take_at_most_two_seconds(place):
    begun = time.monotonic()
    got = place.enrol("--psk", *(f"room-{n}" for n in range(200)))
    taken = time.monotonic() - begun
    assert got.returncode == 0 and len(list(place.out.iterdir())) == 200
    assert len(place.sensors.read_text().splitlines()) == 200
    assert taken <= ENROL_S_MAX, taken


@pytest.mark.parametrize("command,said", [
    (["add"], "add: --sensors FILE is missing, or --config FILE that has it"),
    (["remove", "--sensors", "s"], "remove: give the names of sensors"),
    (["add", "--sensors", "s", "x"], "add: give a sensor's name and its public key"),
    (["enrol", "--sensors", "s", "x"], "enrol: --to HOST:PORT is missing: where do sensors find the collector?"),
    (["enrol", "--sensors", "s", "--to", "a"], "--to a: must be HOST:PORT, or [ADDRESS]:PORT for IPv6"),
    (["enrol", "--sensors", "s", "--to", "a#b:1"], "--to a#b:1: must be HOST:PORT, or [ADDRESS]:PORT for IPv6"),
    (["enrol", "--sensors", "s", "--to", "a:1", "x"], "enrol: --out DIR is missing: where shall the sensors' config "
     "files go?"),
    (["enrol", "--sensors", "s", "--to", "a:1", "--out", "o", "x"], "enrol: the collector's key is missing: give its "
     "--key FILE, or --config FILE")])
def test_usage(command, said):
    got = subprocess.run([BUILD / "saluki-collector", *command], capture_output=True, text=True, check=False)
    assert (got.returncode, got.stdout, got.stderr) == (2, "", f"saluki-collector: {said}\n")


def setup(*args):
    return subprocess.run([BUILD / "saluki", "setup", *args], capture_output=True, text=True, check=False)


def test_setup(place):
    path = place.folder / "sensor.conf"
    got = setup("--to", "a:1", "--to", "b:2", "--collector", place.public, "--out", path)
    command = got.stdout.split()
    assert got.returncode == 0
    assert command[:4] == ["saluki-collector", "add", "--config", "/etc/saluki/collector.conf"], command
    options = fields(path)
    secret = dict(options)["key-text"]
    assert options == [["to", "a:1"], ["to", "b:2"], ["key-text", secret], ["collector", place.public]]
    assert public_of(secret) == command[5] and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert place.run("add", *command[4:]).returncode == 0
    before = path.read_text()
    got = setup("--to", "a:1", "--collector", place.public, "--out", path)
    assert (got.returncode, got.stdout) == (1, "") and path.read_text() == before
    assert got.stderr == f"saluki: --out {path}: File exists; its key stays as it is\n"


@pytest.mark.parametrize("args,said", [
    ([], "setup: --to HOST:PORT is missing: where is the collector?"),
    (["--to", "a"], "--to a: must be HOST:PORT, or [ADDRESS]:PORT for IPv6"),
    (["--to", "a:1"], "setup: --collector PUBLIC-KEY is missing; 'saluki pubkey' prints it from the collector's "
     "private key"),
    (["--collector", "x"], "--collector x: is not a public key of 44 characters of base64"),
    (["now"], "setup: takes no arguments; see 'saluki setup --help'")])
def test_usage_of_setup(args, said):
    got = setup(*args)
    assert (got.returncode, got.stdout, got.stderr) == (2, "", f"saluki: {said}\n")
