# SPDX-License-Identifier: GPL-2.0
"""--channel on interfaces where it cannot be set. tests/vm and tests/ap70 test it on radios."""
import pytest

from netns import testbed
from netns.test_without import HERE

NO_RADIO = "{}: cannot set channel {}: nothing here can tune it"
NO_MONITOR = "{}: cannot set channel {}: it is not an 802.11 monitor interface"


@pytest.mark.parametrize("saluki", [testbed.BUILD / "saluki", *HERE])
@pytest.mark.parametrize("options,interface,channel", [
    (["-i", "mon0", "--channel", "6"], "mon0", 6),
    (["-i", "tap0", "--channel", "196"], "tap0", 196),
    (["-i", "mon0", "-i", "tap0", "--channel", "6"], "tap0", 6),
    (["--channel", "1", "-i", "mon0", "-i", "tap0", "--channel", "6"], "mon0", 1),
    (["-i", "tap0", "--channel", "1", "-i", "mon0"], "tap0", 1)])
def test_what_is_no_radio(bed, bundled, saluki, options, interface, channel):
    """An interface that is no radio is refused by name, and no interface is captured."""
    bed.tun("mon0", 803, bundled)
    testbed.veth(bed.ns, "veth0", bed.ns, "tap0")
    got = bed.ns.run(saluki, "run", *options, "--to", "127.0.0.1:5600", "--key",
                     bed.keys.sensor("lib"), capture_output=True, check=False)
    lines = testbed.without_times(got.stderr).splitlines()
    assert got.returncode == 1 and len(lines) == 1, got
    said = NO_MONITOR if interface == "tap0" else NO_RADIO
    assert lines[0].startswith("saluki: " + said.format(interface, channel)), got


def test_who_gives_no_channel_is_not_asked(bed, bundled):
    """The option applies to one interface, and a failure leaves nothing behind."""
    bed.tun("mon0", 803, bundled)
    failed = bed.sensor("lib", "mon0", options=["--channel", "6"], ready=None)
    status, said = failed.finish(signo=None)
    assert status == 1 and NO_RADIO.format("mon0", 6) in said
    _, said = bed.sensor("lib", "mon0").finish()
    assert "channel" not in said
