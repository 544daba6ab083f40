# SPDX-License-Identifier: GPL-2.0
"""The project's own captures (tests/captures) are exactly the output of its scripts, complete and
small."""
import os
import subprocess
import sys

import pytest

from captures import bad, files, headers, wire, wraps
from reference import captures

MOST = 8_000_000
FOLDERS = ("hwsim", "radiotap", "dot11-other", "wired", "malformed")

@pytest.fixture(name="packed")
def fixture_packed(monkeypatch):
    """A part's output, by file name."""
    made = {}
    monkeypatch.setattr(files, "pack", lambda name, data: made.update({f"{name}.zst": data}))
    monkeypatch.setattr(files, "forget", lambda pattern: None)
    return made

def of(*patterns):
    return {str(p.relative_to(files.HERE)) for pattern in patterns for p in files.HERE.glob(pattern)}

def test_they_are_small_and_all_in_their_folders():
    paths = [p for p in files.HERE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert sum(p.stat().st_size for p in paths) < MOST
    assert {p.parent.name for p in paths if p.parent != files.HERE} == set(FOLDERS)
    assert all(captures.OWN.folder(name) for name in FOLDERS)

def test_bad_files_are_those_that_the_script_makes():
    """The malformed files equal the script's output byte for byte."""
    made = {f"pcap-{name}.pcap": data for name, data in bad.pcaps()}
    made |= {f"pcapng-{name}.pcapng": data for name, data in bad.pcapngs()}
    made |= {f"frames-{name}.pcap": files.pcap(linktype, bad.numbered(datas))
             for name, linktype, datas in bad.frame_files()}
    assert made == {p.name: p.read_bytes() for p in captures.OWN.folder("malformed")}

def test_other_headers_are_those_that_the_script_makes(packed):
    headers.make()
    assert set(packed) == of("dot11-other/*", "radiotap/as-*")
    assert all(captures.file_bytes(files.HERE / name) == data for name, data in packed.items())

def test_each_recording_is_there():
    assert of("wired/*") == {f"wired/{name}.pcap.zst" for name, *_ in wire.recordings()}

@pytest.mark.parametrize("wrap", wraps.WRAPS)
def test_what_is_wrapped_is_taken_out_again(wrap):
    """Unwrapping returns the frame as the trunk's other end must have it."""
    wrap, changed = wraps.WRAPS[wrap], 0
    for name in "web-4", "web-6", "control-4", "pieces-4":
        for f in captures.frames(files.HERE / f"wired/{name}.pcap.zst"):
            there = wrap.wrap(f.data)
            changed += there != f.data
            assert wrap.unwrap(there) == f.data
    assert changed > 300 or wrap.name == "plain"


def test_the_page_names_each_part():
    page = (files.HERE / "README.md").read_text()
    for name in of("hwsim/*", "radiotap/school-*", "radiotap/attack*"):
        assert f"`{name.partition('.')[0]}`" in page, name
    for what in {what for _, what, *_ in wire.recordings()} | {"large", "bad-path"}:
        assert f"`{what}`" in page, what


def collected(foreign):
    """The tests that pytest would run for a file that reads captures, and its output."""
    env = {k: v for k, v in os.environ.items() if k != "SALUKI_CAPTURES"} | ({"SALUKI_CAPTURES": foreign} if foreign
                                                                             else {})
    return subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
                           "bpf/test_rtt.py"], cwd=captures.ROOT / "tests", env=env, capture_output=True, text=True,
                          check=False)


def test_foreign_ones_are_an_addition(tmp_path):
    own, foreign = (f"test_captures_against_tshark[{name}]" for name in ("own", "foreign"))
    alone = collected(None)
    assert own in alone.stdout and foreign not in alone.stdout
    assert "\n1 more tests with SALUKI_CAPTURES" in alone.stdout
    both = collected(str(tmp_path))
    assert own in both.stdout and foreign in both.stdout and "more tests" not in both.stdout
    absent = collected(str(tmp_path / "absent"))
    assert absent.returncode == 4 and "no such folder" in absent.stderr
