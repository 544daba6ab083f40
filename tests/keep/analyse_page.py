# SPDX-License-Identifier: GPL-2.0
"""docs/analyse.md: its code blocks, and how a test runs them; its tables of columns."""
import contextlib
import re

import duckdb
import pandas as pd
from matplotlib import pyplot
from netns.testbed import ROOT

PAGE = ROOT / "docs/analyse.md"
COMMENT = {"sql": "--", "python": "#"}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def named(language):
    """Name -> code, of the blocks that begin with a comment of one word."""
    found = {}
    for text in blocks(language):
        head = re.match(rf"{COMMENT[language]} (\w+)\n", text)
        if head:
            assert head[1] not in found
            found[head[1]] = text
    return found


def plots():
    """File -> code."""
    return {head[1]: text for text in blocks("python") if (head := re.match(r"# plot (\S+)\n", text))}


def columns():
    """Heading -> name of the column -> (type, whether it may be empty)."""
    found, heading = {}, ""
    for line in PAGE.read_text().splitlines():
        heading = line.strip("# `") if line.startswith("#") else heading
        row = re.match(r"\| `(\w+)`( \*)? \| ([\w\[\]]+) \|", line)
        if row:
            found.setdefault(heading, {})[row[1]] = (row[3], bool(row[2]))
    return found


def open_sql():
    """A connection with the page's views. The folder is the current one."""
    db = duckdb.connect()
    for text in blocks("sql"):
        if text.startswith("create view"):
            db.execute(text)
    return db


def open_python():
    """What the page's first blocks of Python define."""
    names = {}
    for text in blocks("python"):
        if not text.startswith("# "):
            exec(text, names)
    return names


def by_python(names, code, name):
    exec(code, names)
    return names[name]


def draw(names, file, folder):
    """The page's code saves the plot in the current folder."""
    pyplot.switch_backend("agg")
    with contextlib.chdir(folder), pyplot.rc_context({"font.size": 8, "xtick.labelsize": 7, "ytick.labelsize": 7,
                                                      "axes.spines.top": False, "axes.spines.right": False}):
        exec(plots()[file], dict(names))
    pyplot.close("all")


def assert_equal(one, other):
    """Two answers, whatever their integers' widths are."""
    assert list(one.columns) == list(other.columns)
    assert len(one) == len(other) > 0
    for column in one:
        a, b = (frame[column].reset_index(drop=True) for frame in (one, other))
        if pd.api.types.is_numeric_dtype(a) or pd.api.types.is_bool_dtype(a):
            pd.testing.assert_series_equal(a.astype(float), b.astype(float), check_names=False, rtol=1e-9)
        else:
            assert a.tolist() == b.tolist(), column
