# SPDX-License-Identifier: GPL-2.0
"""Readers of an archive's tables that are too large for each run of the tests: ClickHouse (as chdb) and Spark. They run
the lines of docs/analyse.md, and say what DuckDB says. `make test-readers` installs them and runs this."""
import json
import os
import pathlib
import re
import subprocess

import duckdb
import pytest

from keep import made
from merge import program, sim
from netns.testbed import BUILD, ROOT

PYTHON = BUILD / "readers/bin/python"
PAGE = (ROOT / "docs/analyse.md").read_text()
TABLES = ("frames", "transmissions", "receptions")
CLICKHOUSE = """
import chdb, json, sys
print(json.dumps([json.loads(chdb.query(sql, "JSON").bytes())["data"] for sql in json.load(sys.stdin)]))
"""
SPARK = """
import json, sys
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
setting, asked, others = json.load(sys.stdin)
exec(setting)
answers = [{row["sensor"]: row["count"] for row in eval(asked).collect()}]
answers += [list(spark.sql(sql).first().asDict().values()) for sql in others]
spark.stop()
print("answers", json.dumps(answers))
"""


@pytest.fixture(name="place", scope="module")
def fixture_place(tmp_path_factory):
    place = tmp_path_factory.mktemp("readers")
    captures, tables = place / "captures", place / "tables"
    captures.mkdir()
    tables.mkdir()
    made.make_series(captures, 3, made.bundled(), sensors=("lib-1",))
    made.make_series(captures, 1, made.bundled(), "b", sensors=("lib-2",))
    sim.simulate(seconds=4.0, sensors=6, aps=4, stas=9).write_stream(place / "air.pcapng")
    program.run("-q", "-w", captures / "unified.pcapng", place / "air.pcapng")
    made.keep("--once", "--finished", "--columns", tables, captures)
    return place


def line(beginning):
    """A line of the page."""
    return re.search(rf"^    ({re.escape(beginning)}.*)$", PAGE, re.MULTILINE)[1]


def ask(place, script, question):
    done = subprocess.run([PYTHON, "-c", script], cwd=place, input=json.dumps(question), text=True, check=True,
                          stdout=subprocess.PIPE, env={**os.environ, "HOME": str(place)})
    return json.loads(done.stdout.rpartition("answers ")[2])


def by_sensor(place):
    return dict(duckdb.sql(f"select sensor, count(*) from '{place}/tables/frames/*/*.parquet' group by sensor").fetchall())


def sums(place, table):
    """Rows, first and last time in nanoseconds, and how many have a condition."""
    flag = "retry" if table != "receptions" else "part = 0"
    return duckdb.sql(f"select count(*), min(epoch_ns(time)), max(epoch_ns(time)), count(*) filter ({flag}) "
                      f"from '{place}/tables/{table}/*/*.parquet'").fetchall()[0]


def test_clickhouse(place):
    asked = re.search(r'"(.*)"', line("clickhouse local -q"))[1]
    others = [f"select count() as a, toUnixTimestamp64Nano(min(time)) as b, toUnixTimestamp64Nano(max(time)) as c, "
              f"countIf({'retry' if t != 'receptions' else 'part = 0'}) as d from file('tables/{t}/*/*.parquet', Parquet)"
              for t in TABLES]
    sensors, *rest = ask(place, CLICKHOUSE, [asked, *others])
    assert {r["sensor"]: int(r["count()"]) for r in sensors} == by_sensor(place)
    assert [tuple(int(v) for v in r[0].values()) for r in rest] == [sums(place, t) for t in TABLES]


def test_spark(place):
    others = [f"select count(*) as a, min(time) as b, max(time) as c, "
              f"count_if({'retry' if t != 'receptions' else 'part = 0'}) as d from parquet.`tables/{t}`" for t in TABLES]
    asked = line("spark.read.parquet").removesuffix(".show()")
    sensors, *rest = ask(place, SPARK, [line("spark.conf.set"), asked, others])
    assert sensors == by_sensor(place)
    assert [tuple(r) for r in rest] == [sums(place, t) for t in TABLES]


def test_the_page_has_these_versions():
    for name, version in re.findall(r"(\w+)==(\d+\.\d+)", (pathlib.Path(__file__).parent / "requirements.txt").read_text()):
        shown = {"chdb": "chdb", "pyspark": "Spark"}[name]
        assert f"{shown} {version}" in PAGE
