# SPDX-License-Identifier: GPL-2.0
"""The metrics of saluki-web against the board, as `saluki-collector status --json` prints it."""
import os
import subprocess

from netns import testbed
from netns.conftest import SENSORS
from web import server
from web.pretended import Pretended
from web.server import get, metrics, samples, value

LOSSES = {"ring_full": "ring_full", "copy_failed": "copy_failed", "send": "dropped_send", "shutdown": "dropped_shutdown",
          "vanished": "vanished", "missing": "lost_missing", "disk": "lost_disk", "refused": "lost_refused"}


def until(bed, what, condition, seconds=20):
    testbed.wait_for(lambda: condition(metrics(bed)), what, seconds, 0.2)


def is_up(found, name):
    return value(found, "saluki_sensor_up", sensor=name) == 1


def test_a_fleet(bed, bundled):
    """One sensor is killed, one ends, four never begin. The sums of the series equal the ledger."""
    bed.collector(options=["--silent-after", "4s"])
    server.start(bed)
    frames = {}
    sensors = {}
    for n, name in enumerate(SENSORS[:2]):
        player = bed.tun(f"mon{n}", 803, bundled)
        sensors[name] = bed.sensor(name, f"mon{n}")
        frames[name] = player.play()
    for name, count in frames.items():
        until(bed, name, lambda m, n=name, c=count: value(m, "saluki_sensor_frames_written_total", sensor=n) == c)
    found = metrics(bed)
    assert {has["sensor"]: v for has, v in found["saluki_sensor_up"]} == {n: float(n in frames) for n in SENSORS}
    assert value(found, "saluki_collector_sensors") == 6 and value(found, "saluki_collector_sensors_present") == 2
    assert value(found, "saluki_sensor_last_heard_timestamp_seconds", sensor="room-0") == 0
    assert value(found, "saluki_radio_frames_seen_total", sensor="lib", interface="mon0") == frames["lib"]
    assert value(found, "saluki_interface_up", sensor="lib", interface="mon0") == 1
    assert 0 < value(found, "saluki_sensor_lag_seconds", sensor="lib") < 60, found["saluki_sensor_lag_seconds"]
    assert abs(value(found, "saluki_sensor_clock_offset_seconds", sensor="lib")) < 1
    assert value(found, "saluki_disk_size_bytes") > value(found, "saluki_disk_free_bytes") > 0
    sensors["lib"].kill_all()
    sensors["two"].finish()
    until(bed, "lib is not up", lambda m: not is_up(m, "lib") and not is_up(m, "two"))
    until(bed, "two has ended", lambda m: value(m, "saluki_sensor_ended", sensor="two") == 1)
    compare(metrics(bed), {s["name"]: s for s in server.status(bed)["sensors"]})


def compare(found, sensors):
    """Quiet sensors: each series is the ledger's, and all frames seen are in one of the others."""
    for name, s in sensors.items():
        pairs = {"seen": "seen", "filtered": "filtered", "written": "written", "earlier": "earlier"}
        for family, member in pairs.items():
            assert value(found, f"saluki_sensor_frames_{family}_total", sensor=name) == s[member], (name, family)
        for reason, member in LOSSES.items():
            assert value(found, "saluki_sensor_frames_lost_total", sensor=name, reason=reason) == s[member], (name, reason)
        assert value(found, "saluki_sensor_kept_bytes_total", sensor=name) == s["kept_bytes"]
        assert value(found, "saluki_sensor_received_bytes_total", sensor=name) == s["received_bytes"]
        assert value(found, "saluki_sensor_runs_total", sensor=name) == s["runs"]
    parts = ("filtered_total", "written_total", "earlier_total", "lost_total", "waiting")
    total = sum(value(found, f"saluki_sensor_frames_{part}") for part in parts)
    assert total == value(found, "saluki_sensor_frames_seen_total") > 0
    assert value(found, "saluki_collector_ledger_imbalance") == 0


def test_losses_are_in_the_sums(bed, bundled):
    """Frames of a link type that the sensor may not send are lost."""
    bed.keys.sensor("odd", words="linktypes=1")
    bed.collector()
    server.start(bed)
    player = bed.tun("mon0", 803, bundled)
    odd = bed.sensor("odd", "mon0")
    count = player.play()
    until(bed, "losses", lambda m: value(m, "saluki_sensor_frames_lost_total", sensor="odd", reason="refused") == count)
    odd.finish()
    until(bed, "its end", lambda m: value(m, "saluki_sensor_ended", sensor="odd") == 1)
    compare(metrics(bed), {s["name"]: s for s in server.status(bed)["sensors"]})


def test_kafka(bed):
    """The sink's and the source's series are the board's; without these options there are none."""
    board = Pretended(bed, 2)
    server.start(bed)
    until(bed, "the board", lambda m: value(m, "saluki_web_board_ok") == 1)
    assert not [name for name in metrics(bed) if name.startswith(("saluki_sink_", "saluki_source_"))]
    board.order("0 sink", "0 source")
    until(bed, "Kafka", lambda m: "saluki_sink_connected" in m and "saluki_source_connected" in m)
    found, state = metrics(bed), server.status(bed)
    sink, source = state["sink"], state["source"]
    for name in ("connected", "full"):
        assert value(found, f"saluki_sink_{name}") == sink[name]
    assert value(found, "saluki_sink_waiting_messages") == sink["waiting"] == 12
    assert value(found, "saluki_sink_waiting_bytes") == sink["waiting_bytes"]
    assert value(found, "saluki_sink_oldest_seconds") == 0.03
    outcomes = {has["outcome"]: v for has, v in found["saluki_sink_messages_total"]}
    assert outcomes == {name: sink[name] for name in ("delivered", "refused", "skipped")}
    buckets = [(has["le"], v) for has, v in found["saluki_sink_ack_seconds_bucket"]]
    assert [v for _, v in buckets] == [sum(sink["acks"][:n + 1]) for n in range(16)]
    assert [le for le, _ in buckets] == [*(str(2 ** n / 1000).rstrip("0").rstrip(".") for n in range(15)), "+Inf"]
    assert value(found, "saluki_sink_ack_seconds_count") == sum(sink["acks"])
    assert abs(value(found, "saluki_sink_ack_seconds_sum") - sink["acks_ns"] / 1e9) < 1e-6
    assert value(found, "saluki_source_connected") == 1 and value(found, "saluki_source_lag_messages") == 34000
    outcomes = {has["outcome"]: v for has, v in found["saluki_source_messages_total"]}
    assert outcomes == {name: source[name] for name in outcomes} and sum(outcomes.values()) == source["messages"]
    assert value(found, "saluki_sink_stopped_seconds") == value(found, "saluki_source_stopped_seconds") == 0
    board.order("0 stopped")
    until(bed, "stopped", lambda m: value(m, "saluki_sink_stopped_seconds") == 75)
    assert value(metrics(bed), "saluki_source_stopped_seconds") == 75


def test_a_collector_restarts(bed):
    """Requests are answered while the collector is away, and the new one is found."""
    web = server.start(bed)
    web.expect("no collector is there")
    assert samples(get(bed, "/metrics"))["saluki_web_board_ok"] == [({}, 0.0)]
    assert "saluki_collector_sensors" not in get(bed, "/metrics")
    assert get(bed, "/").startswith("<!doctype html>")
    collector = bed.collector()
    until(bed, "the board", lambda m: value(m, "saluki_web_board_ok") == 1)
    first = value(metrics(bed), "saluki_collector_start_timestamp_seconds")
    collector.finish()
    until(bed, "no board", lambda m: value(m, "saluki_web_board_ok") == 0)
    bed.collector()
    until(bed, "the board again", lambda m: value(m, "saluki_web_board_ok") == 1)
    assert value(metrics(bed), "saluki_collector_start_timestamp_seconds") > first
    status, said = web.finish()
    assert status == 0 and said.count("no collector is there") == 2 and said.count(": 6 sensors") == 2, said


def test_a_collector_that_is_stopped(bed):
    """The state is not shown when it is old. The collector's other process still answers."""
    collector = bed.collector()
    web = server.start(bed)
    until(bed, "the board", lambda m: value(m, "saluki_web_board_ok") == 1)
    receiver = testbed.with_children(collector.pid())[1:]
    for pid in receiver:
        os.kill(pid, 19)  # SIGSTOP
    web.expect("does not renew its state")
    assert value(metrics(bed), "saluki_web_board_ok") == 0
    for pid in receiver:
        os.kill(pid, 18)  # SIGCONT
    until(bed, "the board", lambda m: value(m, "saluki_web_board_ok") == 1)


def test_has_no_rights(bed):
    """Neither process has capabilities; the one that serves can open nothing, and cannot reach frames."""
    bed.collector()
    web = server.start(bed)
    until(bed, "the board", lambda m: value(m, "saluki_web_board_ok") == 1)
    server_, connector = testbed.with_children(web.pid())
    for pid in (server_, connector):
        said = open(f"/proc/{pid}/status", encoding="utf-8").read()
        assert "CapEff:\t0000000000000000\n" in said and "CapBnd" in said and "NoNewPrivs:\t1\n" in said, said
    assert "Uid:\t65534\t65534\t65534\t65534\n" in open(f"/proc/{server_}/status", encoding="utf-8").read()
    if "sanitize" not in str(testbed.BUILD):
        assert "Seccomp:\t2\n" in said


def test_as_a_service(bed):
    """A user in the group saluki-board gets the board, and cannot get the frames."""
    groups = bed.tmp_path / "group"
    groups.write_text("root:x:0:\nnogroup:x:65534:\nsaluki-board:x:4242:\nsaluki:x:4243:\n", encoding="utf-8")
    bed.ns.run("mount", "--bind", groups, "/etc/group")
    bed.collector()
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--groups", "4242"]
    p = testbed.Process(bed.ns, [*user, testbed.BUILD / "saluki-web"], "listening on")
    bed.stack.callback(p.kill)
    until(bed, "the board", lambda m: value(m, "saluki_web_board_ok") == 1)
    for groups, refused in (("4242", True), ("4243", False)):
        ran = bed.ns.run("timeout", "2", *user[:-1], groups, testbed.BUILD / "saluki-live", "-w", "/dev/null",
                         capture_output=True, check=False)
        assert ("ermission denied" in ran.stderr) == refused, ran
    assert p.finish()[0] == 0


def test_listens_on_a_socket(bed):
    path = bed.tmp_path / "web"
    web = server.start(bed, "--listen", path)
    assert path.stat().st_mode & 0o7777 == 0o660
    said = bed.ns.run("curl", "-sS", "--unix-socket", path, "http://localhost/metrics", stdout=subprocess.PIPE).stdout
    assert samples(said)["saluki_web_board_ok"] == [({}, 0.0)]
    second = server.start(bed, "--listen", path, ready=None).finish(signo=None)
    assert second[0] == 1 and f"--listen {path}: another process listens there" in second[1], second
    web.kill()
    assert server.start(bed, "--listen", path).finish()[0] == 0
