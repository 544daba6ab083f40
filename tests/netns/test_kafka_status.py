# SPDX-License-Identifier: GPL-2.0
"""What status, check, JSON, the status line and the service manager are told about --sink and --source."""
import json

import pytest

from cli import manpage
from netns import put, putter, testbed
from netns.put import Put
from netns.test_board import check, status
from netns.test_notify import Manager
from netns.test_source import frames_of
from netns.test_status_line import Terminal
from netns.test_swarm import Swarm, listed
from web.pretended import Pretended

NOBODY = "kafka: no saluki-kafka is connected; "


def shown(bed):
    return json.loads(status(bed, "--json").stdout)


def line(bed):
    """The table's line about Kafka."""
    return next(row for row in status(bed).stdout.splitlines() if row.startswith("kafka: "))


def until(bed, what, condition):
    testbed.wait_for(lambda: condition(shown(bed)), what, 20, 0.2)


def peer_of(bed, **kwargs):
    peer = Put(bed.tmp_path / "sink", **kwargs)
    bed.stack.callback(peer.close)
    return peer


def test_a_sink(bed, bundled):
    """From nobody there, over a reason why nothing goes, to delivered."""
    collector = bed.collector(sink=bed.tmp_path / "sink")
    sensor = bed.reader("lib", bundled)
    until(bed, "messages", lambda s: s["sink"]["waiting"] > 3)
    sink = shown(bed)["sink"]
    assert sink["connected"] == 0 and sink["stopped"] >= sink["oldest"] - 2 and sink["delivered"] == 0, sink
    assert line(bed).startswith(NOBODY) and "acknowledged" not in line(bed), line(bed)
    assert ", puts into Kafka\n" in status(bed).stdout
    peer = peer_of(bed, confirms=lambda m: False)
    peer.state(topic="saluki.combos", brokers="b1:9092", why="b1:9092: Connection refused")
    until(bed, "a reason", lambda s: s["sink"]["why"] == "b1:9092: Connection refused")
    assert shown(bed)["sink"]["connected"] == 1
    assert line(bed).startswith("kafka: b1:9092: Connection refused; "), line(bed)
    assert ", puts into saluki.combos of b1:9092\n" in status(bed).stdout
    peer.state(topic="saluki.combos", brokers="b1:9092")
    peer.wait(lambda p: p.of(put.SENSORS))
    peer.state(why="topic saluki.combos is missing")
    until(bed, "another reason", lambda s: s["sink"]["why"])
    peer.close()
    until(bed, "nobody", lambda s: s["sink"]["connected"] == 0)
    assert line(bed).startswith(NOBODY + "the last one said: topic saluki.combos is missing; "), line(bed)
    peer_of(bed).state(topic="saluki.combos", brokers="b1:9092")
    assert sensor.finish(signo=None)[0] == 0
    until(bed, "all delivered", lambda s: s["sink"]["waiting"] == 0)
    sink = shown(bed)["sink"]
    assert sink["stopped"] is None and sink["oldest"] is None and sink["why"] == "", sink
    assert sink["delivered"] == sum(sink["acks"]) > 3 and sink["acks_ns"] > 0 == sink["refused"], sink
    said = line(bed)
    assert said.startswith("kafka: 0 messages (0 kB) wait; acknowledged ") and said.endswith(", refused 0"), said
    assert " kafka_waiting=0\n" in check(bed, "lib")[1]
    assert collector.finish()[0] == 0
    assert json.loads(collector.stats_file.read_text(encoding="utf-8"))["sink"]["delivered"] >= sink["delivered"]


def test_a_source(bed, bundled):
    collector = putter.Collector(bed.ns, bed.tmp_path, bed.out)
    bed.stack.callback(collector.kill)
    until(bed, "nobody", lambda s: s["source"]["connected"] == 0 and s["source"]["stopped"])
    assert line(bed).startswith(NOBODY + "lag 0 messages; "), line(bed)
    get = collector.get()
    bed.stack.callback(get.close)
    record = putter.Record(words=["linktypes=any"])
    combo = putter.Run(record, 5).combo(frames_of(bundled, 1))
    get.say(lag=9, topic="saluki.combos", brokers="b1:9092")
    get.send(combo, record.message, combo, combo)
    get.await_done()
    until(bed, "messages", lambda s: s["source"]["messages"] == 4)
    source = shown(bed)["source"]
    assert source == {**source, "connected": 1, "why": "", "topic": "saluki.combos", "lag": 9, "unknown_record": 1,
                      "records": 1, "totals": 0, "repeated": 1, "combos": 1}, source
    assert line(bed) == "kafka: lag 9 messages; combos 1, repeated 1, passed over 1"
    until(bed, "no progress", lambda s: s["source"]["stopped"])
    get.say(lag=0)
    until(bed, "all well", lambda s: s["source"]["stopped"] is None)
    get.say(why="b1:9092: Connection refused")
    until(bed, "a reason", lambda s: s["source"]["stopped"] and s["source"]["why"])
    assert "sink" not in shown(bed) and " kafka_lag=0\n" in check(bed)[1]


@pytest.mark.parametrize("option", ["sink", "source"])
def test_check(bed, option):
    """Critical after a minute without progress. A '|' of the reason does not begin the counters."""
    board = Pretended(bed, 2)
    board.order(f"0 {option}")
    until(bed, option, lambda s: option in s)
    assert check(bed)[0] == 0 and check(bed)[1].startswith("SALUKI OK: 2 of 2 sensors up | "), check(bed)
    board.order("0 stopped")
    until(bed, "stopped", lambda s: s[option]["stopped"])
    code, said = check(bed)
    what = {"sink": "Kafka has taken no message", "source": "no message has come from Kafka"}[option]
    assert code == 2, said
    assert said.startswith(f"SALUKI CRITICAL: {what} for 75 s: b1:9092/1: <b>Connection refused</b> | up=2;;;0;2 "), said


def test_every_field_is_explained(bed):
    Pretended(bed, 0).order("0 sink", "0 source")
    until(bed, "both", lambda s: "sink" in s and "source" in s)
    fields = set(shown(bed)["sink"]) | set(shown(bed)["source"])
    assert fields == set(manpage.items("saluki-diagnostics", "COLLECTOR COUNTERS", "Kafka", "Li"))


def test_the_line_of_a_sink(bed):
    """The median is of all acknowledgements if the last second had none."""
    board = Pretended(bed, 2)
    board.order("0 sink", "1 held")
    until(bed, "sink", lambda s: "sink" in s and s["sensors"][1]["held"])
    assert line(bed) == ("kafka: 12 messages (38 kB) wait, oldest 0.03 s; acknowledged within 8 ms (median); "
                         "delivered 5120, refused 1")
    assert "up, waits for saluki-kafka" in status(bed).stdout
    code, said = check(bed)
    assert code == 1 and said.startswith("SALUKI WARNING: s-1 waiting for saluki-kafka | "), said


def test_a_full_sink(bed):
    """The status line and the service manager say what the sensors wait for."""
    listed(bed)
    manager = Manager(bed, False)
    args = [testbed.BUILD / "saluki-collector", "--listen", "127.0.0.1:5600", "--key", bed.keys.collector, "--sensors",
            bed.keys.sensors, "--sink", bed.tmp_path / "sink"]
    terminal = Terminal(bed, args, **manager.env)
    terminal.read(lambda: "listening on" in "".join(terminal.rows))
    Swarm(bed, "--combos", 100000)
    terminal.read(lambda: "  waiting for saluki-kafka" in terminal.rows[-1], 60)
    testbed.wait_for(lambda: (manager.take()[0] or {}).get("STATUS", "").endswith(" up; waiting for saluki-kafka"),
                     "the service manager", 20, 0)
    assert shown(bed)["sink"]["full"] == 1 and shown(bed)["holding"] == 0
