# SPDX-License-Identifier: GPL-2.0
"""What the footer of a file of keep/parquet/ says: statistics, encodings, codec, bloom filters."""
import random

import duckdb
import pyarrow.parquet as pq
import pytest

from parquet.table import Column, escaped, write

ROWS = 10000
COLUMNS = [Column("time", "timestamp"), Column("few", "int32", True), Column("one", "uint64"), Column("sensor", "text"),
           Column("address", "text", True, True), Column("many", "uint32"), Column("flag", "boolean"),
           Column("nothing", "text", True, True), Column("long", "text")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file, and the values of its two row groups."""
    rng = random.Random(7)
    groups = []
    for group in range(2):
        addresses = [b"%02x:%02x" % (group, n) for n in range(200)]
        groups.append([[10**18 + group * ROWS + n for n in range(ROWS)],
                       [rng.choice([None, -5, 7, 1000000]) for _ in range(ROWS)], [2**64 - 1] * ROWS,
                       [b"b"] * 4000 + [b"a"] * 4000 + [b"c\xff"] * 2000,
                       [rng.choice([None, *addresses]) for _ in range(ROWS)],
                       rng.sample(range(2**32), ROWS), [group > 0] * ROWS, [None] * ROWS,
                       [rng.choice([b"x" * 300, b"y"]) for _ in range(ROWS)]])
    path = tmp_path_factory.mktemp("made") / "a.parquet"
    return write(path, COLUMNS, groups, [("sources", "one,two"), ("key", "v")]), groups


def chunks(made):
    """Each chunk, with its values."""
    metadata = pq.ParquetFile(made[0]).metadata
    for g in range(metadata.num_row_groups):
        for n, c in enumerate(COLUMNS):
            yield c.name, metadata.row_group(g).column(n), made[1][g][n]


def test_file(made):
    f = pq.ParquetFile(made[0])
    assert (f.metadata.num_rows, f.metadata.num_row_groups, f.metadata.created_by) == (2 * ROWS, 2, "parquet_write")
    assert f.metadata.metadata == {b"sources": b"one,two", b"key": b"v"}
    assert f.metadata.serialized_size + 8 < made[0].stat().st_size


def test_encodings(made):
    plain = {"PLAIN", "RLE"}
    want = {"time": plain, "many": plain, "flag": plain, "nothing": plain}
    for name, chunk, _ in chunks(made):
        assert chunk.compression == "ZSTD"
        assert set(chunk.encodings) == want.get(name, {"PLAIN", "RLE", "RLE_DICTIONARY"}), name
        assert chunk.has_dictionary_page == (name not in want)


def test_statistics(made):
    for name, chunk, values in chunks(made):
        there = [escaped(v) if isinstance(v, bytes) else v for v in values if v is not None]
        s = chunk.statistics
        assert (s.null_count, s.num_values) == (values.count(None), len(there))
        assert s.has_min_max == (name not in ("flag", "nothing", "long")), name # a text that is too long has none
        if name == "time":
            assert (s.min.value, s.max.value) == (min(there), max(there))
        elif s.has_min_max:
            assert (s.min, s.max) == (min(there), max(there))
    exact = duckdb.execute("select path_in_schema, min_is_exact, max_is_exact from parquet_metadata(?)", [str(made[0])])
    for name, *both in exact.fetchall():
        assert both == [None if name in ("flag", "nothing", "long") else True] * 2


def test_pages_are_in_a_row(made):
    """Chunks follow each other from the magic on, each with its filter behind it; totals add up."""
    metadata = pq.ParquetFile(made[0]).metadata
    at = 4
    for g in range(2):
        group = metadata.row_group(g)
        all_ = [group.column(n) for n in range(len(COLUMNS))]
        for chunk in all_:
            assert at == (chunk.dictionary_page_offset or chunk.data_page_offset)
            at += chunk.total_compressed_size
            if chunk.bloom_filter_offset is not None:
                assert chunk.bloom_filter_offset == at
                at += chunk.bloom_filter_length
        assert group.total_byte_size == sum(chunk.total_uncompressed_size for chunk in all_)
    assert at == made[0].stat().st_size - metadata.serialized_size - 8


def excluded(path, column, value):
    """By row group: whether DuckDB says that the bloom filter excludes the value."""
    rows = duckdb.execute("select row_group_id, bloom_filter_excludes from parquet_bloom_probe(?, ?, ?)",
                          [str(path), column, value]).fetchall()
    return [out for _, out in sorted(rows)]


def test_bloom_filters_find_all(made):
    for text in {v for values in made[1] for v in values[4]} - {None}:
        for out, values in zip(excluded(made[0], "address", text.decode()), made[1]):
            assert not (out and text in values[4])


def test_bloom_filters_exclude_others(made):
    out = [excluded(made[0], "address", f"absent-{n}") for n in range(500)]
    assert sum(map(sum, out)) > .98 * 1000


def test_bloom_filters_are_small(made):
    size = {name: chunk.bloom_filter_length for name, chunk, _ in chunks(made)}
    assert size["address"] < 600 # 200 texts
    assert size["time"] is None


def test_rows_of_frames_are_small(tmp_path):
    """Cheap columns: constant ones and runs take next to nothing."""
    rows = 122880
    columns = [Column("sensor", "text"), Column("run", "uint64"), Column("noise", "int8", True), Column("combo", "uint64"),
               Column("bad", "boolean")]
    group = [[b"s%d" % (n // 6000) for n in range(rows)], [n // 6000 * 10**15 for n in range(rows)], [-95] * rows,
             [n // 280 for n in range(rows)], [0] * rows]
    path = write(tmp_path / "a.parquet", columns, [group])
    assert path.stat().st_size < 5000
