# SPDX-License-Identifier: GPL-2.0
"""Reads some millions of rows of tab-separated values quickly. The first line names the columns."""
import numpy as np

CHUNK = 1 << 26
TAB, NEWLINE, MINUS, ZERO = b"\t\n-0"


class Malformed(ValueError):
    pass


class Chunk:
    """Whole lines of `columns` values each."""

    def __init__(self, data, columns):
        self.data = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero((self.data == TAB) | (self.data == NEWLINE))
        if len(ends) % columns or (self.data[ends[columns - 1::columns]] != NEWLINE).any() or \
                np.count_nonzero(self.data == NEWLINE) != len(ends) // columns:
            raise Malformed(f"a row has not {columns} columns")
        self.ends = ends.reshape(-1, columns)
        self.begins = np.concatenate([[0], ends + 1])[:-1].reshape(-1, columns)

    def integers(self, column):
        at, end = self.begins[:, column].copy(), self.ends[:, column]
        negative = self.data[at] == MINUS
        at += negative
        if (at >= end).any():
            raise Malformed("a number without digits")
        value = np.zeros(len(at), np.int64)
        for _ in range(int((end - at).max(initial=0))):
            more = at < end
            digit = self.data[np.minimum(at, end)].astype(np.int64) - ZERO
            if (more & ((digit < 0) | (digit > 9))).any():
                raise Malformed("a number has something else than digits")
            value = np.where(more, value * 10 + digit, value)
            at += 1
        return np.where(negative, -value, value)

    def words(self, column):
        """The different words, as str, and the number of each row's word."""
        at, end = self.begins[:, column], self.ends[:, column]
        width = int((end - at).max(initial=1))
        width = 8 if width <= 8 else width
        place = at[:, None] + np.arange(width)
        letters = np.where(place < end[:, None], self.data[np.minimum(place, len(self.data) - 1)], 0).astype(np.uint8)
        coded = np.ascontiguousarray(letters).view("<u8" if width == 8 else f"S{width}").reshape(-1)
        found, numbers = np.unique(coded, return_inverse=True)
        return [w.decode() for w in np.ascontiguousarray(found).view(f"S{width}")], numbers


def chunks(file, size=CHUNK):
    """The names of the columns, then the lines in chunks."""
    names = file.readline().decode().rstrip("\n").split("\t")
    yield names
    while data := file.read(size):
        data += file.readline()
        yield Chunk(data if data.endswith(b"\n") else data + b"\n", len(names))


def read(path, integers=(), words=None):
    """The columns of a file, by name. `words` has a function for each such column, which gives a word's number."""
    words = words or {}
    with open(path, "rb") as f:
        parts = chunks(f)
        names = next(parts)
        missing = {*integers, *words} - {*names}
        if missing:
            raise Malformed(f"{path}: no column {', '.join(sorted(missing))}")
        found = {name: [np.zeros(0, np.int64)] for name in (*integers, *words)}
        for chunk in parts:
            for name in integers:
                found[name].append(chunk.integers(names.index(name)))
            for name, number in words.items():
                different, numbers = chunk.words(names.index(name))
                found[name].append(np.array([number(w) for w in different], np.int64)[numbers])
    return {name: np.concatenate(parts) for name, parts in found.items()}
