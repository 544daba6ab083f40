# SPDX-License-Identifier: GPL-2.0
"""--monitor on interfaces where none can be made. tests/wifi tests it on radios."""
import pytest

from netns import testbed
from netns.compare import assert_balanced
from netns.test_without import HERE

NONE = "{}: --monitor is for Wi-Fi interfaces, and this is none"
ALREADY = "{}: is a monitor interface already: --monitor has nothing to do"


def records(bed):
    return bed.ns.run("sh", "-c", "ls /run/saluki", capture_output=True,
                      check=False).stdout.split()


@pytest.mark.parametrize("saluki", [testbed.BUILD / "saluki", *HERE])
@pytest.mark.parametrize("options,interface", [
    (["-i", "tap0", "--monitor"], "tap0"),
    (["--monitor", "-i", "tap0"], "tap0"),
    (["-i", "lo", "-i", "tap0", "--monitor"], "tap0"),
    (["--monitor", "-i", "mon0", "-i", "lo"], "lo")])
def test_what_is_no_wifi(bed, bundled, saluki, options, interface):
    """An interface that is no radio is refused by name, and no interface is captured."""
    bed.tun("mon0", 803, bundled)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    got = bed.ns.run(saluki, "run", *options, "--to", "127.0.0.1:5600", "--key",
                     bed.keys.sensor("lib"), capture_output=True, check=False)
    *before, last = testbed.without_times(got.stderr).splitlines()
    assert got.returncode == 1 and last.startswith("saluki: " + NONE.format(interface)), got
    assert before == ([f"saluki: {ALREADY.format('mon0')}"] if "mon0" in options else []), got
    assert not [name for name in records(bed) if name.endswith(".monitor")]


def test_what_is_a_monitor_interface_is_captured_as_it_is(bed, bundled):
    player = bed.tun("mon0", 803, bundled)
    collector = bed.collector()
    sensor = bed.sensor("lib", "mon0", options=["--monitor"])
    frames = player.play()
    _, said = sensor.finish()
    assert ALREADY.format("mon0") in said
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), frames)
    assert not [name for name in records(bed) if name.endswith(".monitor")]


def test_a_record_that_cannot_be_read_is_in_nobodys_way(bed, bundled):
    """A record that nobody here can undo blocks nothing, and stays for a run that can."""
    bed.tun("mon0", 803, bundled)
    bed.ns.run("sh", "-c", "mkdir -p /run/saluki; cd /run/saluki; n=$(stat -Lc %i /proc/self/ns/net)."
               "; echo 'made x' >$n''bad.monitor; echo 'made wlan9mon 7 0 0' >$n''wlan9.monitor")
    bed.collector()
    status, said = bed.sensor("lib", "mon0").finish()
    assert status == 0 and "wlan9" not in said and "bad" not in said
    assert len([name for name in records(bed) if name.endswith(".monitor")]) == 2
