# SPDX-License-Identifier: GPL-2.0
"""Files of keep/parquet/, value by value in pyarrow, DuckDB and polars."""
import random

import pytest

from parquet.table import KINDS, READERS, TEXT, Column, check, escaped, write

ALL = [Column(f"{kind}_{'optional' if optional else 'required'}", kind, optional)
       for kind in KINDS for optional in (False, True)]


def value(kind, rng):
    """Any value, often an extreme one."""
    type_, _, least, most, _ = KINDS[kind]
    if type_ == TEXT:
        return rng.choice([b"", rng.randbytes(rng.randrange(30)), b"a" * rng.randrange(300)])
    # Readers have no timestamp for the least number, and DuckDB none for the greatest.
    least, most = (least + 2, most - 1) if kind == "timestamp" else (least, most)
    return rng.choice([least, most, 0, rng.randint(least, most), rng.randint(least, most)])


def values(column, rows, rng):
    """Values for one column: how many distinct ones, how long their runs are and how many are absent differs."""
    distinct = rng.choice([1, 2, 3, 9, 200, 5000, rows])
    pool = [value(column.kind, rng) for _ in range(max(1, distinct))]
    how = rng.choice(["random", "runs", "ascending"])
    if how == "random":
        out = rng.choices(pool, k=rows)
    elif how == "runs":
        out = []
        while len(out) < rows:
            out += [rng.choice(pool)] * rng.choice([1, 2, 7, 8, 9, 30, 1000])
    else:
        out = sorted(rng.choices(pool, k=rows))
    absent = rng.choice([0, 0, .01, .5, .99, 1]) if column.optional else 0
    return [None if rng.random() < absent else v for v in out[:rows]]


def shuffled(rows, rng):
    order = list(range(rows))
    rng.shuffle(order)
    return order


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 31, 33, 129, 3000])
@pytest.mark.parametrize("ordered", [False, True])
def test_every_type(tmp_path, rows, ordered):
    rng = random.Random(rows)
    for _ in range(3):
        groups = [[values(c, rows, rng) for c in ALL] for _ in range(2)]
        if ordered:
            groups = [(group, shuffled(rows, rng)) for group in groups]
        check(write(tmp_path / "a.parquet", ALL, groups), ALL, groups)


@pytest.mark.parametrize("kind", KINDS)
def test_extremes(tmp_path, kind):
    _, _, least, most, _ = KINDS[kind]
    if kind == "timestamp":
        least, most = least + 2, most - 1
    columns = [Column("a", kind, True, bloom=kind == "text")]
    middle = [b"a", b"b"] if kind == "text" else [least, most]
    for some in ([], middle, [None], [None, *middle], [*middle, *middle, None], middle[:1] * 100, [None] * 100,
                 [*middle[:1] * 100, None], middle * 100):
        check(write(tmp_path / "a.parquet", columns, [[some]]), columns, [[some]])


def test_no_rows(tmp_path):
    check(write(tmp_path / "a.parquet", ALL, []), ALL, [])
    nothing = [[] for _ in ALL]
    check(write(tmp_path / "b.parquet", ALL, [nothing, nothing]), ALL, [nothing])


def test_large_row_groups(tmp_path):
    """More rows than a writer's first buffers have, then fewer, and values that fill 16 bits."""
    rng = random.Random(5)
    columns = [Column("time", "timestamp"), Column("number", "uint16", True), Column("far", "int64"),
               Column("address", "text", True, True), Column("odd", "boolean")]
    groups = []
    for rows in (100, 122880, 30000):
        texts = [b"%012x" % rng.getrandbits(48) for _ in range(rows // 20)]
        groups.append(([[10**18 + n * 1000 for n in range(rows)],
                        [rng.choice([None, rng.getrandbits(16)]) for _ in range(rows)],
                        [rng.choice([1, 10**15, -10**15]) for _ in range(rows)],
                        [rng.choice([None, *texts[:3], rng.choice(texts)]) for _ in range(rows)],
                        [n % 1000 == 1 for n in range(rows)]], shuffled(rows, rng)))
    check(write(tmp_path / "a.parquet", columns, groups), columns, groups)


def undone(text):
    out = b""
    while text:
        n = 4 if text[0] == "\\" else 1
        out, text = out + (bytes([int(text[2:4], 16)]) if n == 4 else text[0].encode()), text[n:]
    return out


def test_all_bytes(tmp_path):
    """All readers show each byte, by itself and amid a text, as the same text, and it can be undone."""
    rng = random.Random(6)
    texts = [bytes([n]) for n in range(256)] + [b"a%cb" % n for n in range(256)] + [bytes(range(256)), b"", b"\\x41"]
    texts += ["é€😀\u00a0\u200f\ufeff\ufffe\U0010ffff".encode(), b"\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82", b"a\0b"]
    texts += [rng.randbytes(20) for _ in range(100)]
    texts += [bytes(rng.choices(b"A\x80\x8f\x90\x9f\xa0\xbf\xc2\xe0\xed\xf0\xf4", k=12)) for _ in range(500)]
    columns = [Column("a", "text", bloom=True)]
    check(write(tmp_path / "a.parquet", columns, [[texts]]), columns, [[texts]])
    for reader in READERS.values():
        got = reader(tmp_path / "a.parquet", columns)["a"]
        assert [undone(text) for text in got] == texts
        assert all(c.isprintable() or ord(c) > 0x9f for text in got for c in text)
    assert escaped(b"\0\\\xff\xc3\xa9") == "\\x00\\x5c\\xffé"
