# SPDX-License-Identifier: GPL-2.0
"""A prototype's figures, and saluki-merge: on the same airs, no figure may be worse than 1.5 times the prototype's."""
import dataclasses

import numpy as np
import pytest

from merge import cut, judge, merged, sim
from reference import captures

WORSE = 1.5
FIRST_MISSED = .0001  # of merges of frames with unique identities; none of them may be false
SHORT_S = 20.0  # the clocks count from second 5 on
TROUBLES = {"seconds": 60.0, "batch": True, "steps": 6, "slews": 4, "restarts": 4, "outages": 3}
TROUBLED = 17


@dataclasses.dataclass
class Row:
    """Figures of the prototype. `clock`: median and p99 of the clocks' error in us. Merges missed in percent and
    receptions in another's transmission in millionths: all, acknowledgements, and retransmissions."""
    clock: tuple
    missed: tuple
    false: tuple


LATE = {"batch": True}
ROWS = {
    "1 us, no late stamps": (dict(jitter=(1, 1), outliers=0), Row((.09, .5), (0, 0, 0), (0, 0))),
    "1 us": (dict(jitter=(1, 1), **LATE), Row((.09, .6), (.43, .90, 1.4), (163, 545))),
    "5 us": (dict(jitter=(5, 5), **LATE), Row((.23, 1.2), (.44, .91, 1.4), (208, 694))),
    "1-20 us": (LATE, Row((.33, 1.9), (.67, 1.5, 1.9), (325, 1049))),
    "1-20 us, late one by one": ({}, Row((.32, 1.8), (.72, 1.8, 1.7), (404, 1336))),
    "20 us": (dict(jitter=(20, 20), **LATE), Row((.66, 3.4), (.68, 1.5, 2.0), (505, 1682))),
    "20 us, late one by one": (dict(jitter=(20, 20)), Row((.69, 3.6), (.85, 2.1, 2.0), (583, 1990))),
    "400 sensors": (dict(sensors=400, aps=160, stas=800, seconds=15.0, **LATE),
                    Row((.32, 2.2), (.61, 1.4, 1.6), (342, 1129))),
    "steps, slews, restarts, outages": (TROUBLES, Row((.34, 2.4), (.64, 1.4, 1.8), (355, 1185))),
    "two buildings": (dict(islands=1, seconds=60.0, **LATE), Row((.30, 2.2), (.91, 2.1, 2.4), (275, 895))),
}
IN_TIME = Row((.33, 1.9), (.28, .68, .64), (40, 138))
UNTROUBLED_CLOCK = (.32, 2.0)
FAR_CLOCK = (2.1, 82)
HWSIM = Row((.80, 3.9), (1.1, 2.5), (421, 921))


def run(folder, air):
    """The truth, what was made of it, and all figures."""
    folder.chmod(0o755)
    simulated = merged.Simulated(folder, air)
    a = simulated.merge()
    simulated.stream.unlink()
    return simulated.truth, a, judge.judge(simulated.truth, a)


def worse(found, row, merges="merges"):
    """The figures that are too high, as text: found, at most."""
    of = lambda figure, *kinds: [found[merges][kind][figure] for kind in kinds]
    rows = [("clock p50, p99 in us", (found["clock"]["p50_us"], found["clock"]["p99_us"]), row.clock),
            ("missed %", of("missed_percent", *("all", "ack", "retry")[:len(row.missed)]), row.missed),
            ("false ppm", of("false_ppm", "all", "ack"), row.false)]
    print(*(f"{name}: {tuple(values)} ({limits})" for name, values, limits in rows), sep="; ")
    return [f"{name}: {value}, at most {WORSE} x {limit}" for name, values, limits in rows
            for value, limit in zip(values, limits, strict=True) if value > WORSE * limit]


def check_first_attempts(truth, a, chosen=None):
    missed, false = merged.first_attempts(judge.Merges(truth, a, chosen))
    print(f"first attempts: {missed:.1e} missed, {false:.1e} false")
    assert missed <= WORSE * FIRST_MISSED and false == 0


@pytest.mark.parametrize("name", ROWS)
def test_a_row(name, tmp_path):
    parameters, row = ROWS[name]
    truth, a, found = run(tmp_path, sim.simulate(**{"seconds": SHORT_S, **parameters}))
    assert found["rows"]["absent"] == found["rows"]["unknown"] == found["rows"]["radio_twice"] == 0
    wrong = worse(found, row)
    if name == "1-20 us":
        wrong += worse(found, IN_TIME, "in_time")
    if parameters is TROUBLES:
        assert len({e["sensor"] for e in truth.events}) == TROUBLED
        untroubled = {**found, "clock": found["clock_without_events"]}
        wrong += worse(untroubled, dataclasses.replace(row, clock=UNTROUBLED_CLOCK))
    if parameters.get("islands"):
        far = truth.sensor % 4 == 0
        clock = judge.Clock(truth, a, part=judge.main_part(a, far)).figures()
        assert clock["receptions"] > 10_000 and not np.isin(a.part[far & a.found], a.part[~far & a.found]).any()
        wrong += worse({**found, "clock": clock}, dataclasses.replace(row, clock=FAR_CLOCK))
    assert not wrong
    # The few sensors of the far building share too few frames at the start.
    check_first_attempts(truth, a, truth.sensor % 4 > 0 if parameters.get("islands") else None)


def test_real_frames(tmp_path):
    """Those of a capture that heard all channels, as heard by 12 sensors."""
    path = captures.OWN.root / "hwsim/hwsim-all-groundtruth.pcap.zst"
    truth, a, found = run(tmp_path, cut.cut(cut.transmissions(path)))
    assert not worse(found, HWSIM)
    check_first_attempts(truth, a)
