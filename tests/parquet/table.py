# SPDX-License-Identifier: GPL-2.0
"""Tables for parquet_write, and what three readers make of a file."""
import dataclasses
import subprocess

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from netns.testbed import BUILD

BOOLEAN, INT32, INT64, TEXT = 0, 1, 2, 6
# By name: type, logical type, least and greatest value, and the type that pyarrow reads.
KINDS = {
    "boolean": (BOOLEAN, 0, 0, 1, pa.bool_()),
    "int32": (INT32, 0, -2**31, 2**31 - 1, pa.int32()),
    "int64": (INT64, 0, -2**63, 2**63 - 1, pa.int64()),
    "text": (TEXT, 0, 0, 0, pa.string()),
    "timestamp": (INT64, 1, -2**63, 2**63 - 1, pa.timestamp("ns")),
    "uint8": (INT32, 2, 0, 2**8 - 1, pa.uint8()),
    "uint16": (INT32, 3, 0, 2**16 - 1, pa.uint16()),
    "uint32": (INT32, 4, 0, 2**32 - 1, pa.uint32()),
    "uint64": (INT64, 5, 0, 2**64 - 1, pa.uint64()),
    "int8": (INT32, 6, -2**7, 2**7 - 1, pa.int8()),
    "int16": (INT32, 7, -2**15, 2**15 - 1, pa.int16()),
}


@dataclasses.dataclass
class Column:
    name: str
    kind: str
    optional: bool = False
    bloom: bool = False

    def line(self):
        type_, logical, *_ = KINDS[self.kind]
        return f"column {self.name} {type_} {logical} {self.optional:d} {self.bloom:d}"


def escaped(data):
    """The text for any bytes, as keep/parquet/parquet.h has it."""
    out, at = "", 0
    while at < len(data):
        for length in (1, 2, 3, 4):
            try:
                c = data[at:at + length].decode()
            except UnicodeDecodeError:
                continue
            if len(c) == 1 and c != "\\" and not (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0):
                out, at = out + c, at + length
                break
        else:
            out, at = out + f"\\x{data[at]:02x}", at + 1
    return out


def described(columns, groups, pairs=()):
    """The input of parquet_write. A group has a list of values for each column, None where there is none, and bytes
    for texts; or it is a pair of such lists and of the order of rows."""
    lines = [c.line() for c in columns]
    for group in groups:
        lists, order = group if isinstance(group, tuple) else (group, None)
        rows = len(lists[0])
        lines.append(f"group {rows} {order is not None:d} {' '.join(map(str, order or ()))}")
        for c, values in zip(columns, lists):
            assert len(values) == rows
            absent = None in values
            lines.append("some " + " ".join(f"{v is not None:d}" for v in values) if absent or c.bloom and c.optional
                         else "all")
            if c.kind == "text":
                texts = [b"nowhere", *dict.fromkeys(v for v in values if v is not None)]
                code = {text: n for n, text in enumerate(texts) if n or text not in values}
                lines.append(" ".join(str(4294967295 if v is None else code[v]) for v in values))
                lines.append(f"texts {len(texts)} " + " ".join(t.hex() or "-" for t in texts))
            else:
                lines.append(" ".join(str(123 if v is None else int(v)) for v in values))
    lines += [f"pair {key} {value}" for key, value in pairs]
    return "\n".join(lines) + "\n"


def run(program, *args, **kwargs):
    return subprocess.run([BUILD / "tests" / program, *map(str, args)], text=True, capture_output=True, timeout=300,
                          **kwargs)


def write(path, columns, groups, pairs=()):
    done = run("parquet_write", path, input=described(columns, groups, pairs))
    assert (done.returncode, done.stderr) == (0, "")
    return path


def expected(columns, groups):
    """By column: the values of all groups, in the order of rows that the file has."""
    out = {c.name: [] for c in columns}
    for group in groups:
        lists, order = group if isinstance(group, tuple) else (group, None)
        for c, values in zip(columns, lists):
            ordered = values if order is None else [values[n] for n in order]
            out[c.name] += [escaped(v) if isinstance(v, bytes) else bool(v) if c.kind == "boolean" and v is not None
                            else v for v in ordered]
    return out


def read_pyarrow(path, columns):
    table = pq.read_table(path)
    table.validate(full=True)
    assert table.schema == pa.schema([pa.field(c.name, KINDS[c.kind][4], c.optional) for c in columns])
    return {c.name: (table[c.name].cast(pa.int64()) if c.kind == "timestamp" else table[c.name]).to_pylist()
            for c in columns}


def read_duckdb(path, columns):
    names = [f"epoch_ns({c.name})" if c.kind == "timestamp" else c.name for c in columns]
    with duckdb.connect() as connection:
        rows = connection.execute(f"select {', '.join(names)} from read_parquet(?)", [str(path)]).fetchall()
    return {c.name: [row[n] for row in rows] for n, c in enumerate(columns)}


def read_polars(path, columns):
    frame = polars.read_parquet(path)
    return {c.name: (frame[c.name].cast(polars.Int64) if c.kind == "timestamp" else frame[c.name]).to_list()
            for c in columns}


READERS = {"pyarrow": read_pyarrow, "duckdb": read_duckdb, "polars": read_polars}


def check(path, columns, groups, readers=READERS):
    """All readers find these values in the file."""
    want = expected(columns, groups)
    for name in readers:
        got = READERS[name](path, columns)
        for c in columns:
            assert got[c.name] == want[c.name], (name, c)
