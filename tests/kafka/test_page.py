# SPDX-License-Identifier: GPL-2.0
"""docs/kafka.md: its readers read what a sensor has sent."""
import os
import re
import struct
import subprocess
import sys

import duckdb
import pytest

from kafka import way
from kafka.test_whole import bed  # noqa: F401
from netns import testbed
from reference import captures

PAGE = testbed.ROOT / "docs/kafka.md"
CONSUMER = testbed.ROOT / "docs/kafka_consumer.py"


def strangers(broker, prefix):
    """Messages that saluki-kafka has not put into the topics, in the partition of the sensor `lib`."""
    combo = struct.pack(">BBHLQQQ8x", 1, 1, 1, 9, 0, 0, 0)
    for value, key, header in ((None, b"lib", None), (None, b"lib", combo), (os.urandom(500), b"lib", combo),
                               (b"", None, combo), (b"x", b"lib", b"z" * 50), (b"x", b"lib", None)):
        broker.produce(f"{prefix}.combos", value, key, {"saluki": header}, partitioner="murmur2_random")
    broker.produce(f"{prefix}.sensors", None, b"lib/0000000000000000")


@pytest.fixture(name="sent")
def fixture_sent(bed, bundled, broker, prefix):  # noqa: F811
    """A sensor's frames in the log behind messages of strangers, and the way to it."""
    way.make_topics(broker, prefix)
    strangers(broker, prefix)
    sink = bed.tmp_path / "sink"
    collector, put = bed.collector(sink=sink), way.Kafka(bed.stack, "put", sink, broker, prefix)
    assert bed.reader("lib", bundled, options=["--keep", "all"]).finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0
    way.stop(put)
    return list(captures.frames(bundled))


def test_the_consumer(sent, broker, prefix):
    """It prints each frame once, and passes over messages of strangers. It has 60 lines, as the page says."""
    lines = [line for line in CONSUMER.read_text().split('"""', 2)[2].splitlines() if line.strip()]
    assert len(lines) <= 60
    p = subprocess.Popen([sys.executable, "-u", CONSUMER, broker.address, prefix, "reader"], stdout=subprocess.PIPE,
                         text=True)
    try:
        rows = [p.stdout.readline().split() for _ in sent]
    finally:
        p.kill()
        p.communicate()
    assert rows == [[str(f.time_ns), "lib", "0", str(f.linktype)] for f in sent]


def test_columns_of_the_files(sent, bed, broker, prefix):  # noqa: F811
    """What --source writes becomes columns as any capture does, and the page's query counts the frames."""
    path, out = bed.tmp_path / "source.sock", bed.tmp_path / "files"
    source, get = way.Source(bed, path, out), way.Kafka(bed.stack, "get", path, broker, prefix)
    testbed.wait_for(lambda: way.caught_up(broker, prefix), "commits", 60)
    way.stop(get)
    assert source.finish()[0] == 0
    columns = bed.tmp_path / "columns"
    columns.mkdir()
    subprocess.run([testbed.BUILD / "saluki-keep", "-q", "--once", "--finished", "--columns", columns, out], check=True)
    query = re.search(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)[1].replace("columns/", f"{columns}/")
    (row,) = duckdb.sql(query).fetchall()
    assert row[:2] == ("lib", len(sent))
