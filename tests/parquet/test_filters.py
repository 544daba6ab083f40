# SPDX-License-Identifier: GPL-2.0
"""Readers leave out row groups by their statistics and bloom filters: the rows that they find stay right."""
import random

import duckdb
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from parquet.table import KINDS, Column, escaped, write
from parquet.test_readers import value

KINDS_TRIED = [kind for kind in KINDS if kind != "boolean"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file of a column for each kind, and its values; row groups have ranges of their own, and one no value."""
    rng = random.Random(9)
    columns = [Column(kind, kind, True, kind == "text") for kind in KINDS_TRIED]
    groups = []
    for group in range(6):
        lists = []
        for c in columns:
            _, _, least, most, _ = KINDS[c.kind]
            if group == 5:
                lists.append([None] * 50)
            elif c.kind == "text":
                lists.append([rng.choice([None, b"%c%d" % (97 + group, n), rng.randbytes(2)]) for n in range(50)])
            else:
                low = least + 2 + (most - least - 3) // 5 * group
                lists.append([rng.choice([None, rng.randint(low, low + (most - least) // 6), value(c.kind, rng)])
                              for _ in range(50)])
        groups.append(lists)
    path = write(tmp_path_factory.mktemp("made") / "a.parquet", columns, groups)
    return path, {c.name: [v for lists in groups for v in lists[n]] for n, c in enumerate(columns)}


@pytest.mark.parametrize("kind", KINDS_TRIED)
def test_found_rows(made, kind):
    rng = random.Random(10)
    path, values = made[0], [escaped(v) if isinstance(v, bytes) else v for v in made[1][kind]]
    there = [v for v in values if v is not None]
    tried = [min(there), max(there), *rng.sample(there, 15)]
    tried += [escaped(v) if isinstance(v, bytes) else v for v in (value(kind, rng) for _ in range(5))]
    frame, dataset = polars.scan_parquet(path), ds.dataset(path)
    column = "epoch_ns(timestamp)" if kind == "timestamp" else kind
    # As DuckDB takes it for its statistics: a constant of the column's own type.
    constant = "make_timestamp_ns(?)" if kind == "timestamp" else "?"
    arrow = pq.read_schema(path).field(kind).type
    for v in tried:
        for operator, want in (("=", [x for x in there if x == v]), ("<", [x for x in there if x < v]),
                               (">=", [x for x in there if x >= v])):
            got = duckdb.execute(f"select {column} from read_parquet(?) where {kind} {operator} {constant}",
                                 [str(path), v]).fetchall()
            assert [x for x, in got] == want, ("duckdb", operator, v)
            method = {"=": "__eq__", "<": "__lt__", ">=": "__ge__"}[operator]
            literal = polars.lit(v).cast(polars.Datetime("ns")) if kind == "timestamp" else polars.lit(v)
            got = frame.filter(getattr(polars.col(kind), method)(literal)).collect()[kind]
            assert (got.cast(polars.Int64) if kind == "timestamp" else got).to_list() == want, ("polars", operator, v)
            typed = ds.scalar(pa.scalar(v, type=arrow))
            got = dataset.to_table(filter=getattr(ds.field(kind), method)(typed))[kind]
            assert (got.cast("int64") if kind == "timestamp" else got).to_pylist() == want, ("pyarrow", operator, v)
