# SPDX-License-Identifier: GPL-2.0
"""No tracked file, binary or text, names a folder of the machine it was made on; nor do the built
and installed BPF objects."""
import re
import subprocess

import pytest

from netns.testbed import BUILD, ROOT

PART = rb"[\w.@+-]+"
# Home folders, and where build machines check out.
HOMES = re.compile(rb"(?<![\w.$})~-])/(?:home|root|Users|work|workspace|builds)/" + PART)
TEMPORARY = re.compile(rb"(?<![\w.$})~-])/(?:var/)?tmp/" + PART)
# A path with more parts than an example in a page needs.
DEEP = re.compile(TEMPORARY.pattern + rb"/" + PART)
ABSOLUTE = re.compile(rb"(?<![\w.$})~:/-])(?:/" + PART + rb")+")
# These set up a machine of their own.
GUESTS = {"tests/chroot": {b"/" + b"root/saluki"}}


def tracked():
    """For a tree without a repository, such as a release: all files except built ones."""
    if not (ROOT / ".git").exists():
        names = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        return [str(name) for name in names if name.parts[0] != "build"]
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, check=True,
                            capture_output=True)
    return [name.decode() for name in listed.stdout.split(b"\0") if name]


def content(path):
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-qdc", path], check=True, capture_output=True).stdout
    return path.read_bytes()


def checkouts(text, files):
    """Absolute paths that end with the name of a file here, such as agent/main.c below a home
    folder."""
    for path in ABSOLUTE.findall(text):
        parts = path.decode("utf-8", "replace").split("/")
        if any("/".join(parts[n:]) in files for n in range(2, len(parts) - 1)):
            yield path


def machine_paths(text, files):
    """In a text a plain /tmp/NAME is an example; binary files have no examples."""
    temporary = TEMPORARY if b"\0" in text else DEEP
    return {*HOMES.findall(text), *temporary.findall(text), *checkouts(text, files)}


def test_no_file_names_a_folder_of_a_machine():
    files = set(tracked())
    found = {name: paths for name in sorted(files) if (ROOT / name).is_file()
             and (paths := machine_paths(content(ROOT / name), files) - GUESTS.get(name, set()))}
    assert len(files) > 500 and not found


# Slashes are written as bars, as this file is searched, too.
@pytest.mark.parametrize("text", [
    b"\0\0|tmp|h-d|tests|modules|no_pointer.bpf.c\0", b"\x7fELF\0|tmp|x\0", b"cd |home|ann|src\n",
    b'"|root|saluki"', b"see |Users|ann|saluki.", b"cp |tmp|build-3|out.pcap x", b"|srv|git|saluki|agent|main.c:12"])
def test_a_path_of_a_machine_is_found(text):
    assert machine_paths(text.replace(b"|", b"/"), {"agent/main.c"})


@pytest.mark.parametrize("text", [
    b"make run OUT=|tmp|x\n", b'"|tmp|spool.XXXXXX"', b"$HOME|work|x", b"..|home|x", b"build|tmp|a|b",
    b"https:||example.org|home|x|agent|main.c", b"|usr|share|saluki|main.c"])
def test_an_example_is_none(text):
    assert not machine_paths(text.replace(b"|", b"/"), {"agent/main.c"})


def test_programs_for_bpf_name_no_folder():
    """The installed BPF programs name no folder: the same source gives the same object, wherever it
    is built."""
    built = [*BUILD.glob("modules/*.o"), *BUILD.glob("bpf/*.bpf.o"), *BUILD.glob("tests/modules/*.bpf.o")]
    assert len(built) > 50
    assert [path.name for path in built if str(ROOT).encode() in path.read_bytes()] == []
