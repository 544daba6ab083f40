# SPDX-License-Identifier: GPL-2.0
"""--monitor on simulated radios: the new interface is captured, and removed, whatever ends the
run."""
import pytest

from wifi import topology
from wifi.topology import (WHOLE, AccessPoint, Await, Command, Frames, Kill, Sensor, Station, Topology)

LIST = Command("listed", "iw dev")
LINKS = Command("links", "ip -br link")
# It fails before it reads its key.
IN_VAIN = "saluki run --to 127.0.0.1:1 --key /dev/null --monitor"


def interfaces(air, name):
    """{interface: type}, from iw"""
    words = [line.split() for line in air.said_by(name)]
    names = [w[1] for w in words if w[0] == "Interface"]
    return dict(zip(names, [w[1] for w in words if w[0] == "type"], strict=True))


def up(air, name="links"):
    """Interfaces that are up, at the end, or when `name` was told."""
    return {line.split()[0] for line in air.said_by(name) if ",UP" in line or "<UP" in line}


# ---- made interfaces -------------------------------------------------------------------------------

MADE = Topology(
    access_points=(AccessPoint("six", 6), AccessPoint("one", 1)),
    stations=(Station("a", "six"), Station("b", "one")),
    traffic=((Frames("a", "six", 40), Frames("b", "one", 40)),
             (Command("during", "iw dev"),
              Command("apart", f"{IN_VAIN} -i six --channel 1"),
              Command("twice", f"{IN_VAIN} -i radio"),
              Command("wired", f"{IN_VAIN} -i lo")),
             (Command("air0", f"{IN_VAIN} -i hwsim0 -i lo"),)),
    sensors=(Sensor("hall", f"-i radio --monitor --channel 6 {WHOLE}", lacks="nothing"),
             Sensor("attic", f"--monitor -i left --channel 1 -i averylongname01 --channel 6 {WHOLE}")),
    after=(LIST, LINKS))


@pytest.mark.topology(MADE)
@pytest.mark.parametrize("sensor,channels", [("hall", {"radiomon": 6}),
                                             ("attic", {"leftmon": 1, "rylongname01mon": 6})])
def test_what_is_made_hears_its_channel(air, sensor, channels):
    for interface, channel in channels.items():
        assert air.heard(sensor, interface) == air.hearable(channel)
    air.assert_balanced(sensor, sum(len(air.hearable(c)) for c in channels.values()))


@pytest.mark.topology(MADE)
def test_it_is_made_beside_the_station_and_removed(air):
    during, after = interfaces(air, "during"), interfaces(air, "listed")
    assert during["radiomon"] == during["leftmon"] == during["rylongname01mon"] == "monitor"
    assert during["radio"] == after["radio"] == after["left"] == "managed"
    assert not [name for name in after if name.endswith("mon")]
    said = air.said_by("hall")
    assert any(": radio: made the monitor interface radiomon on the same radio, phy" in s
               for s in said), said
    # As `iw dev NAME interface add NAMEmon type monitor flags control otherbss` does.
    assert [s for s in said if s.startswith("flags")] == ["flags: control otherbss"]


@pytest.mark.topology(MADE)
def test_a_station_that_holds_the_channel_is_down_meanwhile(air):
    said = air.said_by("hall")
    assert "saluki: radio: is down until the end, for it holds the channel of radiomon" in said
    assert "saluki: radio: is up again" in said
    assert {"radio", "left", "averylongname01"} <= up(air)


@pytest.mark.topology(MADE)
@pytest.mark.parametrize("command,why", [
    ("apart", "six: its radio's channel is held by six, which is no station: an access point? Stop "
     "that, or give no channel"),
    ("twice", "radio: another saluki has it by --monitor; stop that first"),
    ("wired", "lo: --monitor is for Wi-Fi interfaces, and this is none ('iw dev' lists them)"),
    ("air0", "lo: --monitor is for Wi-Fi interfaces, and this is none ('iw dev' lists them)")])
def test_where_it_cannot_be(air, command, why):
    """Where a monitor interface cannot be made, the reason is logged, and earlier steps are
    undone."""
    said = air.said_by(command)
    assert f"saluki: {why}" in said and said[-1] == "ended 1", said
    assert (command == "apart") == ("saluki: sixmon: removed" in said), said
    assert (command == "air0") == (
        "saluki: hwsim0: is a monitor interface already: --monitor has nothing to do" in said)


# ---- where the driver takes no second interface ----------------------------------------------------

CHANGED = Topology(
    access_points=(AccessPoint("six", 6),),
    stations=(Station("a", "six"),),
    traffic=((Frames("a", "six", 40),),
             (Command("during", "iw dev"),),
             (Kill("hall"),),
             (Command("killed", "iw dev"),),
             (Sensor("later", f"-i radio --monitor --channel 6 {WHOLE}", lacks="second",
                     again="hall"),),
             (Frames("a", "six", 30),)),
    sensors=(Sensor("hall", f"-i radio --monitor --channel 6 --bad-fcs keep {WHOLE}",
                    lacks="second,fcsfail"),),
    after=(LIST, LINKS))


@pytest.mark.topology(CHANGED)
def test_the_interface_itself_becomes_one(air):
    assert interfaces(air, "during")["radio"] == interfaces(air, "killed")["radio"] == "monitor"
    assert "radiomon" not in interfaces(air, "during")
    assert interfaces(air, "listed")["radio"] == "managed" and "radio" in up(air)
    assert air.heard("hall", "radio") == air.hearable(6)
    said = air.said_by("hall")
    assert any("radio: is a monitor interface itself until the end" in s for s in said), said
    said = air.said_by("later")
    assert ("saluki: radio: goes on with the monitor interface radio of a run that was killed" in
            said), said
    assert said[-3:] == ["saluki: radio: is no monitor interface any more",
                         "saluki: radio: is up again", "ended 0"]


@pytest.mark.topology(CHANGED)
def test_what_a_driver_refuses_is_said_and_left_out(air):
    said = air.said_by("hall")
    assert [s for s in said if s.startswith("flags")] == [
        "flags: fcsfail control otherbss", "flags: control otherbss",  # to make a second one,
        "flags: control", "flags:",
        "flags: fcsfail control otherbss", "flags: control otherbss"]  # and to change this one
    assert ("saluki: radio: its driver refuses monitor flags: fcsfail; such frames may be missing"
            in said), said


# ---- other ends ------------------------------------------------------------------------------------

ENDS = Topology(
    traffic=((Command("during", "ip -br link"),),
             (Command("deletes", "iw dev dwarfmon del"), Kill("orphan", child=True)),
             (Command("first", "ip link set elkmon down"),),
             (Command("then", "ip link set elkmon name moose"),)),
    sensors=(Sensor("gone", f"-i dwarf --monitor {WHOLE}"),
             Sensor("orphan", f"-i bear --monitor --channel 1 {WHOLE}"),
             Sensor("renamed", f"-i elk --monitor {WHOLE}"),
             Sensor("several", f"-i fox --monitor --channels 1,6 {WHOLE}"),
             Sensor("ordered", f"-i goat --monitor --allow-control channels {WHOLE}")),
    after=(LIST, LINKS))


@pytest.mark.topology(ENDS)
def test_whatever_ends_a_run_or_its_interface(air):
    """An interface deleted or renamed by another program, or a killed process, leaves nothing
    behind."""
    after = interfaces(air, "listed")
    assert not after.keys() & {"dwarfmon", "bearmon", "elkmon", "moose"}, after
    assert after["dwarf"] == after["bear"] == after["elk"] == "managed"
    assert {"dwarf", "bear", "elk"} <= up(air)
    assert "saluki: dwarfmon: disappeared; waiting for it" in air.said_by("gone")
    assert air.said_by("gone")[-1] == air.said_by("renamed")[-1] == "ended 0"
    assert "saluki: moose: removed" in air.said_by("renamed")
    said = air.said_by("orphan")
    assert "saluki: bearmon: removed" in said and said[-1] == "ended 1"


@pytest.mark.topology(ENDS)
def test_where_no_channel_can_be_asked_for_a_station_is_left_up(air):
    during = up(air, "during")
    assert {"dwarf", "elk", "dwarfmon", "elkmon", "foxmon", "goatmon"} <= during
    assert not during & {"bear", "fox", "goat"} and {"fox", "goat"} <= up(air)


# ---- a card that is removed and returns ------------------------------------------------------------


def _replugged(lacks, captured):
    """`radio` is the third of all; the new one has the first free name."""
    return Topology(
        access_points=(AccessPoint("six", 6),),
        stations=(Station("a", "six"),),
        traffic=((Frames("a", "six", 20),),
                 (Command("out", "replug out 2"),),
                 (Await("hall", f"{captured}: disappeared; waiting for it"),),
                 (Command("in", "replug in"),),
                 (Command("named", "ip link set wlan0 name radio"),),
                 (Await("hall", f"{captured}: is back"),),
                 (Frames("a", "six", 30),)),
        sensors=(Sensor("hall", f"-i radio --monitor --channel 6 {WHOLE}", lacks=lacks),),
        after=(LIST,))


BACK = {"beside it": _replugged("nothing", "radiomon"), "itself": _replugged("second", "radio")}


@pytest.mark.parametrize("captured", [pytest.param(c, marks=pytest.mark.topology(t)) for c, t in
                                      zip(("radiomon", "radio"), BACK.values())], ids=BACK)
def test_a_card_that_is_back_is_a_monitor_again(air, captured):
    sent = [f.data[14:] for f in topology.numbered(air.topology, air.topology.traffic[-1][0])]
    heard = [f[-200:] for f in air.heard("hall", captured)]
    assert heard.count(sent[0]) == 2 and [f for f in heard if f in sent][-30:] == sent
    assert interfaces(air, "listed").get("radiomon") is None
    assert interfaces(air, "listed")["radio"] == "managed"
    assert air.said_by("hall")[-1] == "ended 0"


# ---- killed ----------------------------------------------------------------------------------------

KILLED = Topology(
    access_points=(AccessPoint("six", 6),),
    stations=(Station("a", "six"),),
    traffic=((Frames("a", "six", 40),),
             (Kill("hall"), Kill("attic")),
             (Frames("a", "six", 30),),
             (Command("killed", "iw dev"),),
             (Sensor("later", f"-i radio --monitor --channel 6 --bad-fcs keep {WHOLE}",
                     again="hall", lacks="nothing"),),
             (Command("begun", "iw dev"),),
             (Frames("a", "six", 20),)),
    sensors=(Sensor("hall", f"-i radio --monitor --channel 6 {WHOLE}"),
             Sensor("attic", f"-i other --monitor --channel 1 {WHOLE}")),
    after=(LIST, LINKS))


@pytest.mark.topology(KILLED)
def test_the_next_run_goes_on_with_what_a_killed_one_has_made(air):
    """The next run continues with a killed run's interface and its ring: no frame in between is
    missing."""
    assert air.heard("hall", "radiomon") == air.hearable(6)
    assert ("saluki: radio: goes on with the monitor interface radiomon of a run that was killed" in
            air.said_by("later"))
    killed, begun = interfaces(air, "killed"), interfaces(air, "begun")
    assert killed["radiomon"] == begun["radiomon"] == killed["othermon"] == "monitor"


@pytest.mark.topology(KILLED)
def test_the_next_run_lets_through_what_it_asks_for(air):
    """The killed run had not requested frames with a wrong FCS; the next run gets them."""
    assert "flags: fcsfail control otherbss" in air.said_by("later")


@pytest.mark.topology(KILLED)
def test_the_next_run_undoes_what_it_does_not_use(air):
    said = air.said_by("later")
    assert "saluki: other: a run that was killed has left it changed" in said
    assert "othermon" not in interfaces(air, "begun")
    assert not [name for name in interfaces(air, "listed") if name.endswith("mon")]
    assert {"radio", "other"} <= up(air)
