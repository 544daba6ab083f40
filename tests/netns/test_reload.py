# SPDX-License-Identifier: GPL-2.0
"""On SIGHUP the collector reads the sensors file again. A removed sensor is not heard from then on;
the others' sessions continue; a faulty file changes nothing."""
import signal
import time

from netns import testbed
from netns.compare import assert_balanced, assert_same
from reference import captures


def reload(collector, said):
    seen = len(collector.said)
    collector.send_signal(signal.SIGHUP)
    collector.said += testbed.lines_until(collector.popen.stderr, time.monotonic() + 20, said)
    return collector.said[seen:]


def heard(collector, name):
    return testbed.wait_for(lambda: collector.sensor_stats(name), f"{name}'s ledger")


def test_a_sensor_is_removed_and_comes_back(bed, bundled):
    collector = bed.collector()
    lib, two = (bed.tun(f"mon{n}", 803, bundled, ["--rate", "20000"]) for n in range(2))
    sensors = [bed.sensor("lib", "mon0"), bed.sensor("two", "mon1")]
    for name in ("lib", "two"):
        heard(collector, name)
    whole = bed.keys.sensors.read_text()
    bed.keys.sensors.write_text("".join(
        line for line in whole.splitlines(True) if not line.startswith("lib ")))
    reload(collector, "read again")
    before = collector.stats()
    count = two.play()
    assert lib.play() == count
    testbed.wait_for(lambda: collector.sensor_stats("two")["written"] == count, "two's frames")
    testbed.wait_for(lambda: collector.stats()["not_ours"] > before["not_ours"], "lib's attempts")
    stats = collector.stats()
    assert collector.sensor_stats("lib")["written"] == 0
    assert stats["sessions"] == before["sessions"]  # two's continues
    # The frames are still in lib's store: its return loses none.
    bed.keys.sensors.write_text(whole)
    reload(collector, "read again")
    testbed.wait_for(lambda: collector.sensor_stats("lib")["written"] == count, "lib's frames", 30)
    for s in sensors:
        assert s.finish()[0] == 0
    assert collector.finish()[0] == 0
    for name in ("lib", "two"):
        assert_balanced(collector.sensor_stats(name), count)
    assert len(list(captures.frames(bed.out))) == 2 * count


def test_a_new_sensor_comes(bed, bundled):
    collector = bed.collector()
    key = bed.keys.sensor("late")
    reload(collector, "read again")
    status, said = bed.reader("late", bundled, key).finish(signo=None)
    assert status == 0, said
    collector.finish()
    assert_same(list(captures.frames(bundled)), list(captures.frames(bed.out)))
    assert_balanced(collector.sensor_stats("late"), len(list(captures.frames(bundled))))


def test_a_mistake_changes_nothing(bed, bundled):
    collector = bed.collector()
    whole = bed.keys.sensors.read_text()
    for wrong, word in ((whole + "lib\n", "NAME ID PUBLIC-KEY"), ("# nobody\n", "lists no sensor"),
                        (whole + whole, "is taken")):
        bed.keys.sensors.write_text(wrong)
        assert word in reload(collector, "the sensors stay as they are")
    bed.keys.sensors.unlink()
    assert "No such file" in reload(collector, "the sensors stay as they are")
    assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
    assert collector.finish()[0] == 0
    assert_same(list(captures.frames(bundled)), list(captures.frames(bed.out)))


def test_preshared_keys(bed, bundled):
    """The preshared key is a fourth column, and a line in the sensor's key file; with another one,
    or none, no handshake succeeds."""
    key = bed.keys.sensor("lib")
    psk = testbed.saluki("genpsk", check=True).stdout
    lines = [line + (" " + psk.strip() if line.startswith("lib ") else "")
             for line in bed.keys.sensors.read_text().splitlines()]
    bed.keys.sensors.chmod(0o600)
    bed.keys.sensors.write_text("\n".join(lines) + "\n")
    collector = bed.collector()
    status, said = bed.reader("lib", bundled, key).finish(signo=None)
    assert status == 1, said
    with key.open("a") as f:
        f.write("preshared " + psk)
    status, said = bed.reader("lib", bundled, key).finish(signo=None)
    assert status == 0, said
    _, said = collector.finish()
    assert "others can read" not in said
    assert_same(list(captures.frames(bundled)), list(captures.frames(bed.out)))
