# SPDX-License-Identifier: GPL-2.0
"""trajectory's consumer turns several sensors' labels, invented here, into paths, delays and
losses."""
import json
import struct
import subprocess

import pytest

from netns.testbed import BUILD

CONSUMER = BUILD / "modules/trajectory"
SECOND, MS = 10**9, 10**6
START = 1_700_000_000 * SECOND
ALL = 2**32 - 1


def line(point, label, time_ns, flow=1, below=ALL, addresses=False, data=None, direction="in"):
    """One sensor's line about a packet, as the collector writes it."""
    if data is None:
        data = struct.pack("<QQIIHHBBBB", label, flow, below, 100, 1234, 80, 4, 6, 60, 0)
        if addresses:
            data += bytes([10, 0, 0, 1]).ljust(16, b"\0") + bytes([10, 0, 0, 2]).ljust(16, b"\0")
    return json.dumps({"sensor": point, "interface": "eth0", "module": "trajectory", "serial": 1,
                       "time_ns": START + int(time_ns), "direction": direction, "data": data.hex()})


def run(lines, *options, status=0):
    text = "\n".join(lines) + "\n" if not isinstance(lines, str) else lines
    got = subprocess.run([CONSUMER, *options], input=text, capture_output=True, text=True, check=False)
    assert got.returncode == status, got
    return got


def consume(lines, *options):
    *before, last = map(json.loads, run(lines, "--json", *options).stdout.splitlines())
    return before, last


def links(summary):
    return {(k["from"].split("/")[0], k["to"].split("/")[0]): k for k in summary["links"]}


def paths(summary):
    return {"".join(p.split("/")[0] for p in w["points"]): w["packets"] for w in summary["paths"]}


def test_paths_of_three_points_in_the_order_of_their_times():
    lines = []
    for n in range(100):  # c's events come first, as if it were nearer
        at = n * 10 * MS
        lines += [line("c", n + 1, at + 5 * MS), line("a", n + 1, at), line("b", n + 1, at + 2 * MS)]
    _, got = consume(lines)
    assert paths(got) == {"abc": 100} and got["packets"] == 100
    between = links(got)
    assert set(between) == {("a", "b"), ("b", "c")}
    assert between["a", "b"]["min_ms"] == between["a", "b"]["max_ms"] == 2
    assert between["b", "c"]["mean_ms"] == 3 and between["b", "c"]["packets"] == 100
    assert all(k["lost"] == k["unjudged"] == 0 for k in between.values())


def test_both_directions_of_an_interface_are_two_points():
    _, got = consume([line("a", 1, 0), line("a", 1, MS, direction="out")])
    assert [w["points"] for w in got["paths"]] == [["a/eth0", "a/eth0 out"]]


def test_delays():
    """Median delays are exact to a hundredth, all other values completely."""
    lines = [text for n in range(1001) for text in
             (line("a", n + 1, n * MS), line("b", n + 1, n * MS + (n % 11 + 1) * MS + n))]
    _, got = consume(lines)
    link = links(got)["a", "b"]
    assert link["packets"] == 1001 and link["min_ms"] == 1 and link["max_ms"] == pytest.approx(
        11 + 1000e-6, abs=2e-4)
    assert link["median_ms"] == pytest.approx(6, rel=0.01)
    assert link["mean_ms"] == pytest.approx(6.0005, rel=0.001)


def test_series():
    lines = [text for n in range(40) for text in
             (line("a", n + 1, n * 100 * MS), line("b", n + 1, n * 100 * MS + (n // 10 + 1) * MS))]
    before, _ = consume(lines, "--series", "1")
    assert [(s["begin_ns"] - START, s["packets"], s["min_ms"], s["max_ms"]) for s in before] == [
        (n * SECOND, 10, n + 1, n + 1) for n in range(4)]
    text = run(lines, "--series", "1").stdout.splitlines()
    assert text[0] == ("1700000000.000 a/eth0 > b/eth0: 10 packets, 0 lost, min 1.000 median 1.000 max "
                       "1.000 ms")


def test_packets_lost_between():
    """Every tenth packet ends at a; the first two do, before the flow is known to continue. Packets
    sent before b began or after its last event are not judged."""
    lines = [line("b", 10**6, 0, flow=9)]
    for n in range(100):
        lines.append(line("a", n + 1, (n + 1) * MS, addresses=n == 0))
        if n > 1 and n % 10:
            lines.append(line("b", n + 1, (n + 1) * MS + MS // 2))
    lines += [line("a", 200 + n, (200 + n) * MS) for n in range(5)]
    _, got = consume(lines)
    link = links(got)["a", "b"]
    assert (link["packets"], link["lost"], link["unjudged"]) == (89, 11, 5)


def test_a_lower_rate_loses_nothing():
    """If b samples half of a's labels, no packet counts as lost."""
    lines = []
    for n in range(100):
        label = n << 32 | (n % 2) << 31 | 5
        lines.append(line("a", label, n * MS))
        if not n % 2:
            lines.append(line("b", label, n * MS + 1, below=2**31))
    lines.append(line("b", 1, 200 * MS, flow=7, below=2**31))
    _, got = consume(lines)
    assert links(got)["a", "b"]["lost"] == links(got)["a", "b"]["unjudged"] == 0
    assert [p["rate"] for p in got["points"]] == [1, 0.5]


def test_ambiguous_labels_are_discarded():
    """Labels copied on the way, sent twice, or shared by two flows have no delay."""
    lines = [line("a", 1, 0), line("b", 1, MS), line("b", 1, 2 * MS),
             line("a", 2, 0, flow=2), line("a", 2, MS, flow=3), line("b", 2, 2 * MS, flow=2),
             line("a", 3, 0), line("a", 3, MS), line("b", 3, MS), line("b", 3, 2 * MS),
             line("a", 4, 0), line("b", 4, 3 * MS)]
    before, got = consume(lines, "--packets")
    assert got["discarded"] == {"repeated": 2, "collided": 1, "too_long": 0}
    assert got["packets"] == links(got)["a", "b"]["packets"] == 1
    assert [p.get("discarded") for p in before] == ["repeated", "collided", "repeated", None]


def test_a_label_may_come_again_later():
    """After the window, an equal label is another packet."""
    lines = [line("a", 1, 0), line("b", 1, MS), line("a", 2, 21 * SECOND), line("a", 1, 22 * SECOND),
             line("b", 1, 22 * SECOND + 3 * MS)]
    _, got = consume(lines)
    assert links(got)["a", "b"]["packets"] == 2 and links(got)["a", "b"]["max_ms"] == 3


def test_late_events():
    """Late events of a sensor that was cut off are joined within the window, and counted after
    it."""
    late = [line("b", n + 1, n * MS + MS) for n in range(10)]
    early = [line("a", n + 1, n * MS) for n in range(10)]
    _, got = consume([*early, line("a", 99, 4 * SECOND), *late])
    assert links(got)["a", "b"]["packets"] == 10 and got["late"] == 0
    _, got = consume([*early, line("a", 99, 6 * SECOND), *late])
    assert not got["links"] and got["late"] == 10
    assert {p["name"]: p["late"] for p in got["points"]} == {"a/eth0": 0, "b/eth0": 10}
    _, got = consume([*early, line("a", 99, 6 * SECOND), *late], "--window", "7")
    assert links(got)["a", "b"]["packets"] == 10


def test_a_sensor_of_another_time():
    """A clock that is a day ahead makes no other sensor late; after a night without packets all are
    ahead."""
    lines = []
    for n in range(200):
        lines += [line("a", n + 1, n * MS), line("c", n + 1000, n * MS + 86400 * SECOND),
                  line("b", n + 1, n * MS + MS)]
    _, got = consume(lines)
    assert links(got)["a", "b"]["packets"] == 200 and got["late"] == 200
    lines = [line("a", n + 1, n * MS + (n > 0) * 40000 * SECOND) for n in range(200)]
    _, got = consume(lines)
    assert got["late"] == 63 and got["packets"] == 137


def test_memory_is_bounded():
    """With more labels under way than there is room for, the oldest are closed and counted."""
    lines = [line("a", n + 1, n) for n in range(1000)] + [line("b", n + 1, n + MS) for n in range(1000)]
    _, got = consume(lines, "--labels", "100")
    assert got["closed_early"] == 1900 and not got["links"]
    _, got = consume(lines, "--labels", "1000")
    assert got["closed_early"] == 0 and links(got)["a", "b"]["packets"] == 1000
    points = [line(f"p{n}", n, n) for n in range(300)]
    _, got = consume(points)
    assert len(got["points"]) == 256 and got["beyond"] == 44


def test_too_many_points_of_one_packet():
    _, got = consume([line(f"p{n}", 1, n) for n in range(17)])
    assert got["discarded"]["too_long"] == 1 and not got["paths"]


def test_changes_of_path():
    lines = [line(p, n + 1, n * MS + i) for n in range(10)
             for i, p in enumerate("abd" if n < 5 else "acd")]
    _, got = consume(lines)
    assert paths(got) == {"abd": 5, "acd": 5} and got["rerouted"] == 1


def test_addresses_are_those_that_the_policy_shows():
    before, _ = consume([line("a", 1, 0, addresses=True), line("b", 1, MS)], "--packets")
    assert (before[0]["source"], before[0]["source_port"]) == ("10.0.0.1", 1234)
    assert (before[0]["destination"], before[0]["destination_port"]) == ("10.0.0.2", 80)


def test_what_is_no_event():
    lines = [line("a", 1, 0), line("a", 1, 0, data=b"short"), "{}", "no line at all",
             line("b\x1b[2J\"", 1, MS)]
    _, got = consume(lines)
    assert got["bad_events"] >= 3 and got["packets"] == 1
    assert got["links"][0]["to"] == "b?[2J\"/eth0"
    text = run(lines).stdout
    assert "1 packets" in text and "\x1b" not in text


@pytest.mark.parametrize("options", [["--window", "x"], ["--labels", "0"], ["--fill-rate", "0"],
                                     ["--fill-rate", "1.5"], ["--nonsense"], ["file"]])
def test_usage(options):
    assert "trajectory: " in run("", *options, status=2).stderr


def test_rates():
    for rate, below in (1, ALL), (0.5, 2**31), (1e-9, 4):
        key, value = run("", "--fill-rate", str(rate)).stdout.split()
        assert bytes.fromhex(key) == bytes(4)
        assert struct.unpack("<II", bytes.fromhex(value)) == (below, 0)
