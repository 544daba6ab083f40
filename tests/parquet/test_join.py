# SPDX-License-Identifier: GPL-2.0
"""Files that are joined without decoding their pages."""
import random

import pyarrow.parquet as pq
import pytest

from parquet.table import Column, check, run, write
from parquet.test_metadata import excluded
from parquet.test_readers import ALL, values

COLUMNS = [*ALL, Column("address", "text", True, True)]


def make(folder, count=3, columns=COLUMNS):
    """Files, and the row groups of all; addresses tell where they are."""
    rng = random.Random(count)
    paths, groups = [], []
    for n in range(count):
        own = [[*(values(c, rows, rng) for c in columns[:-1]), rng.choices([None, b"file%d" % n, b"of%d" % rows], k=rows)]
               for rows in ((1, 500), (70,), ())[n % 3]]
        paths.append(write(folder / f"{n}.parquet", columns, own, [("sources", f"file-{n}")]))
        groups += own
    return paths, groups


def test_joined_files_have_all_rows(tmp_path):
    paths, groups = make(tmp_path, 4)
    out = tmp_path / "out.parquet"
    done = run("parquet_join", out, "sources", "a,b", *paths)
    assert (done.returncode, done.stderr) == (0, "")
    check(out, COLUMNS, groups)
    metadata = pq.ParquetFile(out).metadata
    assert metadata.metadata == {b"sources": b"a,b"}
    assert metadata.num_row_groups == len(groups)
    for text in (b"file0", b"file1", b"file3", b"of500", b"of70"):
        assert excluded(out, "address", text.decode()) == [ # there is no filter for no value
            text not in group[-1] and any(group[-1]) for group in groups]
    again = tmp_path / "again.parquet"
    assert run("parquet_join", again, "sources", "a,b", out, paths[0]).returncode == 0
    check(again, COLUMNS, groups + groups[:2])


def test_one_file_joined_is_the_same(tmp_path):
    paths, _ = make(tmp_path, 1)
    out = tmp_path / "out.parquet"
    assert run("parquet_join", out, "sources", "file-0", paths[0]).returncode == 0
    assert out.read_bytes() == paths[0].read_bytes().replace(b"parquet_write", b"parquet_join").replace(
        b"\x18\x0dparquet_", b"\x18\x0cparquet_")[:-8] + (
            int.from_bytes(paths[0].read_bytes()[-8:-4], "little") - 1).to_bytes(4, "little") + b"PAR1"


def test_values_of_keys(tmp_path):
    path = write(tmp_path / "a.parquet", ALL[:1], [[[0, 1]]], [("one", "first"), ("sources", "2,3"), ("last", "x" * 9999)])
    assert run("parquet_join", "sources", path).stdout == "2 2,3\n"
    assert run("parquet_join", "one", path).stdout == "2 first\n"
    assert run("parquet_join", "last", path).stdout == f"2 {'x' * 9999}\n"
    assert run("parquet_join", "source", path).stdout == "2 (none)\n"
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), tmp_path / "b.parquet") # of another writer
    assert run("parquet_join", "one", tmp_path / "b.parquet").stdout == "2 (none)\n"


def test_other_schemas_are_refused(tmp_path):
    """The others are joined all the same."""
    a = write(tmp_path / "a.parquet", [Column("a", "int32")], [[[1, 2]]])
    out = tmp_path / "out.parquet"
    for other in (Column("b", "int32"), Column("a", "int32", True), Column("a", "uint32"), Column("a", "int64")):
        b = write(tmp_path / "b.parquet", [other], [[[3]]])
        done = run("parquet_join", out, "k", "v", a, b, a)
        assert (done.returncode, done.stderr) == (3, f"{b}: Invalid argument\n")
        check(out, [Column("a", "int32")], [[[1, 2, 1, 2]]])


def test_malformed_files_are_refused(tmp_path):
    """Cut anywhere, or with any byte of the footer altered: no crash, and the rest can still be read."""
    columns = [Column("a", "int32"), Column("t", "text", True, True)]
    good = write(tmp_path / "good.parquet", columns, [[[1, 2], [b"x", None]]])
    bad, out = tmp_path / "bad.parquet", tmp_path / "out.parquet"
    data = good.read_bytes()
    for cut in {0, 3, 4, 8, 11, 12, 100, *range(len(data) - 16, len(data))}:
        bad.write_bytes(data[:cut])
        done = run("parquet_join", out, "k", "v", good, bad)
        assert (done.returncode, done.stderr) == (3, f"{bad}: Bad message\n"), cut
        check(out, columns, [[[1, 2], [b"x", None]]])
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    rng = random.Random(8)
    refused = 0
    for at in range(footer, len(data), 3):
        bad.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:])
        done = run("parquet_join", out, "k", "v", good, bad)
        assert done.returncode in (0, 3), (at, done.stderr)
        assert run("parquet_join", "k", bad).returncode in (0, 1)
        if done.returncode == 3:
            refused += 1
            check(out, columns, [[[1, 2], [b"x", None]]], ["pyarrow"])
    assert refused > 30


@pytest.mark.parametrize("name", ["/dev/null", "/"])
def test_what_is_no_file(tmp_path, name):
    good = make(tmp_path, 1)[0][0]
    done = run("parquet_join", tmp_path / "out.parquet", "k", "v", good, name)
    assert done.returncode in (1, 3)
    assert run("parquet_join", "k", name).returncode == 1
