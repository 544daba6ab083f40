# SPDX-License-Identifier: GPL-2.0
"""The Debian packages: how they are built, and what they do on a Debian 12 with systemd (tests/package/scenario)."""
import json
import re
import subprocess

import pytest

from netns.compare import assert_balanced

pytestmark = pytest.mark.package


def test_packages_are_reproducible(packages):
    one, other = packages
    names = sorted(p.name for p in one.glob("*.deb"))
    assert len(names) >= 5
    assert [n for n in names if (one / n).read_bytes() != (other / n).read_bytes()] == []


def test_lintian_has_no_complaint(packages):
    (changes,) = packages[0].glob("*.changes")
    got = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", changes], capture_output=True,
                         text=True, check=False)
    assert got.returncode == 0, got.stdout + got.stderr


def test_units_start(vm):
    """The collector waits for its first sensor. Then all are ready, and say how they do."""
    assert (vm / "before-sensors").read_text() == "inactive\n"
    started = (vm / "started").read_text()
    assert re.search(r"Status: \"\d of 3 sensors up\"", started)
    assert len(re.findall(r"Active: active \(running\)", started)) == 3
    assert re.search(r"Status: \"capturing, with(out)? a collector\"", started)
    assert "others can read it" not in (vm / "journal").read_text()  # the keys


def test_old_captures_are_kept(vm):
    said = (vm / "kept").read_text()
    assert re.search(r"Active: active \(running\)", said) and re.search(r"Status: \"\d+ files packed, 0 deleted\"", said)
    assert len(re.findall(r"^-rw-r----- saluki saluki \S+\.pcapng\.zst$", said, re.M)) >= 2
    assert len(re.findall(r"^-rw-r----- saluki saluki \S+\.idx$", said, re.M)) >= 2
    found = (vm / "found-after").read_text()
    assert found == (vm / "found-before").read_text() and int(found.split()[-2]) > 1000


def test_no_process_is_root(vm):
    lines = (vm / "users").read_text().splitlines()
    assert lines[0] == "saluki" and len(lines) >= 5
    users = {line.split()[1]: line.split()[0] for line in lines[1:]}
    assert users["/usr/sbin/saluki"] == users["/usr/sbin/saluki-collector"] == "saluki"
    assert users["/usr/sbin/saluki-web"] not in ("root", "saluki") and "root" not in [x.split()[0] for x in lines]


def test_who_may_read(vm):
    modes = (vm / "modes").read_text()
    assert re.search(r"^drwxr-x--- saluki saluki /var/lib/saluki-collector$", modes, re.M)
    assert re.search(r"^-rw-r----- saluki saluki /var/lib/saluki-collector/\S+\.pcapng$", modes, re.M)
    assert re.search(r"^srw-rw---- saluki saluki-board /run/saluki-collector/board$", modes, re.M)
    assert re.search(r"^srw-rw---- saluki saluki /run/saluki-collector/live$", modes, re.M)
    assert "lib-1" in (vm / "seen").read_text() and "lib-1" in (vm / "member").read_text()
    assert (vm / "stranger").read_text() == ""


def test_sensor_captures_in_the_kernel(vm):
    assert (vm / "sensor").read_text().startswith("wlan0: attached by tc")


def test_reload(vm):
    assert (vm / "reloaded").read_text() == "active\n"
    assert "--sensors /etc/saluki/sensors: read again, 200 sensors" in (vm / "collector-log").read_text()
    assert "sensors 3 of 199 up" in (vm / "fleet").read_text()


def test_the_collectors_files_are_merged(vm):
    """The sensors are wired, so the merge counts all frames as others."""
    merged = (vm / "merged").read_text()
    assert re.search(r"^balance +0$", merged, re.M) and int(re.search(r"not merged +other (\d+)", merged)[1]) > 0


def test_commands_show_the_fleet(vm):
    seen = (vm / "seen").read_text()
    assert 'saluki_sensor_up{sensor="lib-1"' in seen
    assert "SALUKI OK: 3 of 3 sensors up" in (vm / "check-before").read_text()
    assert "listening on" in seen


def test_a_dead_sensor_is_seen_everywhere(vm):
    """By status, check, the metrics, the page's JSON and the log, within 20 s."""
    assert int((vm / "dead").read_text()) <= 20
    assert (vm / "check-after").read_text().startswith("SALUKI CRITICAL: lib-3 silent")
    assert (vm / "check-status").read_text() == "2\n"


def test_the_collector_changes_its_key(vm):
    log = (vm / "collector-log").read_text()
    assert "sensors know the first --key" in log


@pytest.mark.parametrize("unit", ["saluki-collector", "saluki@wlan0"])
def test_watchdog(vm, unit):
    """A process that hangs is ended, and the unit starts again."""
    assert (vm / f"watchdog-{unit}").read_text().splitlines() == ["Result=success", "NRestarts=1", "ActiveState=active"]
    assert f"{unit}.service: Watchdog timeout" in (vm / "journal").read_text()


def test_upgrade_under_load(vm):
    """The collector and the sensor are started again amid traffic, twice, and no frame is lost."""
    (sensor,) = [s for s in json.loads((vm / "stats-after").read_text())["sensors"] if s["name"] == "lib-1"]
    assert_balanced(sensor, sensor["seen"], earlier=sensor["earlier"])
    assert sensor["seen"] > 300 and sensor["final"] == 1
    assert len(re.findall("Started saluki-collector.service", (vm / "journal").read_text())) >= 5


def test_kafkas_services_wait_for_an_operator(vm):
    """Only root can read the passwords. Without brokers, put ends, and is not started again."""
    assert (vm / "kafka-enabled").read_text().split() == ["disabled"] * 3
    modes = (vm / "kafka-modes").read_text()
    assert re.search(r"^-rw------- root root /etc/saluki/kafka.conf$", modes, re.M)
    assert sorted((vm / "kafka-early").read_text().split()) == ["ExecMainStatus=2", "NRestarts=0"]
    assert "put: --brokers HOST:PORT is missing" in (vm / "journal").read_text()


def test_kafkas_services_run(vm):
    """They are ready without brokers, and say so. The password file is one that saluki-kafka accepts."""
    assert len(re.findall(r"Active: active \(running\)", (vm / "kafka-started").read_text())) == 4
    lines = (vm / "kafka-users").read_text().splitlines()
    assert sorted(line.split()[2] for line in lines) == ["get", "put"]
    assert {line.split()[0] for line in lines} == {"saluki-kafka"}
    assert (vm / "kafka-ended").read_text().split() == ["Result=success"] * 3
    assert "writes to /var/lib/saluki-collector/" in (vm / "kafka-source-status").read_text()


@pytest.mark.parametrize("socket", ["sink", "source"])
def test_who_may_connect_to_the_collectors(vm, socket):
    assert re.search(rf"^srw-rw---- saluki saluki-kafka /run/saluki-collector/{socket}$", (vm / "kafka-modes").read_text(),
                     re.M)
    line = ["sink", "source"].index(socket)
    assert (vm / "kafka-of-saluki-kafka").read_text().splitlines()[line] in ("connected", "Resource temporarily unavailable")
    assert (vm / "kafka-of-4711").read_text().splitlines()[line] == "Permission denied"


def test_an_upgrade_restarts_what_runs(vm):
    pids = (vm / "kafka-upgraded").read_text().strip().split(":")
    assert len(set(pids)) == 6 and "0" not in pids


def test_two_collectors_share_a_folder(vm):
    """With --sink and with --source: the end of one leaves the other's sockets."""
    modes = (vm / "kafka-modes").read_text()
    assert re.search(r"^srw-rw---- saluki saluki-board /run/saluki-collector/board-source$", modes, re.M)
    assert set((vm / "kafka-sockets").read_text().split()) >= {"source", "board-source", "live"}


def test_purge_leaves_nothing(vm):
    assert (vm / "left").read_text() == "" and (vm / "processes").read_text() == ""
