# SPDX-License-Identifier: GPL-2.0
"""A writer that cannot write, or is given what no file can hold."""
import subprocess

import pytest

from parquet.table import Column, described, run, write

COLUMNS = [Column("a", "int64"), Column("t", "text", True, True)]
GROUP = [[n**5 for n in range(3000)], [b"%d" % (n**7) for n in range(3000)]]


def failure(path, columns, groups):
    done = run("parquet_write", path, input=described(columns, groups))
    assert done.returncode == 1
    return done.stderr


def test_full_device():
    assert failure("/dev/full", COLUMNS, [GROUP]) == "close: No space left on device\n"
    assert failure("/dev/full", COLUMNS, []) == "close: No space left on device\n"
    many = [list(range(0, 100000 * 7919**2, 7919**2)), [b"%x" % (n**7) for n in range(100000)]]
    assert failure("/dev/full", COLUMNS, [many]) == "row group: No space left on device\n"


@pytest.fixture
def small_disk(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", tmp_path], check=True)
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def test_full_disk(small_disk, tmp_path_factory):
    assert failure(small_disk / "a.parquet", COLUMNS, [GROUP] * 20) == "row group: No space left on device\n"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    paths = [write(elsewhere / f"{n}.parquet", COLUMNS, [GROUP]) for n in range(3)]
    done = run("parquet_join", small_disk / "a.parquet", "k", "v", *paths)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"{small_disk / 'a.parquet'}: No space left on device")


@pytest.mark.parametrize("column", [Column("a", "timestamp"), Column("a", "text"), Column("a", "boolean")])
def test_types_that_contradict_themselves(tmp_path, column):
    line = column.line().split()
    for logical in {2, 6} | ({1} if column.kind != "timestamp" else set()):
        done = run("parquet_write", tmp_path / "a", input=" ".join([*line[:3], str(logical), *line[4:]]))
        assert (done.returncode, done.stderr) == (1, "open: Invalid argument\n")
    for type_ in (0, 1, 2): # with a bloom filter
        done = run("parquet_write", tmp_path / "a", input=f"column a {type_} 0 0 1")
        assert done.stderr == "open: Invalid argument\n"
    assert run("parquet_write", tmp_path / "a", input="").stderr == "open: Invalid argument\n"


def test_values_that_are_not_there(tmp_path):
    required = described([Column("a", "int32")], [[[1, None, 2]]])
    assert run("parquet_write", tmp_path / "a", input=required).stderr == "row group: Invalid argument\n"
    beyond = "column a 6 0 1 0 group 2 0 some 1 1 0 2 texts 2 61 62"
    assert run("parquet_write", tmp_path / "a", input=beyond).stderr == "row group: Invalid argument\n"
    absent = "column a 6 0 1 0 group 2 0 some 1 0 0 2 texts 2 61 62"
    assert run("parquet_write", tmp_path / "a", input=absent).returncode == 0
