# SPDX-License-Identifier: GPL-2.0
"""docs/unified.md: its commands and scripts, run as the page has them, on simulated buildings. The truth is the judge."""
import dataclasses
import math

import numpy as np
import pytest

from merge import page, sim
from merge.building import Building
from merge.frames import addresses
from merge.kinds import ACK, BEACON, CTS, DATA, MGMT, RETRY
from merge.traffic import GROUP, HT
from netns.testbed import ROOT

NUMBERED = (BEACON, MGMT, DATA, RETRY)
BUILDING = {"seconds": 20.0, "batch": True}
SPARSE = {"seconds": 20.0, "sensors": 30, "batch": True}
LOCATED_M = (5, 14)  # median and nine tenths; the page says about 3 and 10


def address(number):
    return ":".join(f"{b:02x}" for b in addresses(np.array([number]), 40)[0])


@dataclasses.dataclass
class Place:
    """A folder with a trace of a simulated building, and the files that the page expects."""
    folder: object
    programs: object
    building: Building
    air: object

    def run(self, word):
        return page.run(page.commands(word), self.folder, self.programs)

    @property
    def far(self):
        """Whether each sensor is on floor 2."""
        return self.building.sensors[:, 0] > np.median(self.building.sensors[:, 0])


def place(tmp, **parameters):
    folder = tmp / "work"
    folder.mkdir()
    p = sim.Parameters(**parameters)
    out = Place(folder, page.programs(tmp / "bin"), Building(p), sim.simulate(**parameters))
    out.air.write_stream(tmp / "all.pcapng")
    lines = [f"s-{n + 1} {n + 1} KEY floor={1 + far} x={x:.2f} y={y:.2f}\n"
             for n, ((x, y), far) in enumerate(zip(out.building.sensors, out.far))]
    (folder / "sensors").write_text("".join(lines))
    (folder / "known").write_text(address(0) + "\n")
    page.scripts(folder)
    page.run(f"saluki-merge -q -w unified.pcapng {tmp}/all.pcapng", folder, out.programs)
    return out


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    return place(tmp_path_factory.mktemp("dense"), **BUILDING)


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    return place(tmp_path_factory.mktemp("sparse"), **SPARSE)


def test_five_minutes(tmp_path):
    """The bundled capture becomes a trace and a report."""
    text = page.commands("Five").replace("../build/air", str(tmp_path)).replace("build/air", str(tmp_path))
    assert text.count(str(tmp_path)) > 6
    first = page.run(text, ROOT, page.programs(tmp_path / "bin"))
    assert first.splitlines()[-1].startswith("1\t")
    assert (tmp_path / "report.html").read_text().count("<figure") == 9
    assert (tmp_path / "unified.clocks.tsv").stat().st_size > 1000


# ---- example 1 --------------------------------------------------------------------------------------------------------


def expected_us(sent, row, bursts):
    """By clauses 17 and 19 of 802.11: the simulator's HT frames are MCS 15 at 20 MHz, in A-MPDUs."""
    bits = 22 + 8 * int(sent["length"][row])
    if sent["rate"][row] != HT:
        return 20 + 4 * math.ceil(bits / (4 * int(sent["rate"][row])))
    burst = (int(sent["sender"][row]), int(sent["end_ns"][row]))
    if burst in bursts:
        return bits / 130
    bursts.add(burst)
    return 40 + 4 * math.ceil(bits / 520)


def stations_of(place):
    """Transmissions, air time, attempts, retransmissions and ties by transmitter, of those strongest on floor 2. Ties may
    be on either floor."""
    sent, r = place.air.sent, place.air.receptions
    good = r[~r["bad_fcs"]]
    best = np.full((2, len(sent["kind"])), -200)
    for floor in (0, 1):
        own = good[place.far[good["sensor"]] == floor]
        np.maximum.at(best[floor], own["transmission"], own["signal_dbm"])
    out, bursts = {}, set()
    for row in np.flatnonzero((best[1] >= best[0]) & (best[1] > -200) & ~np.isin(sent["kind"], (ACK, CTS))).tolist():
        unicast = sent["kind"][row] in (MGMT, DATA, RETRY) and sent["receiver"][row] != GROUP
        line = out.setdefault(address(sent["sender"][row]), np.zeros(5))
        line += (1, expected_us(sent, row, bursts), unicast, unicast and sent["kind"][row] == RETRY,
                 best[1][row] == best[0][row])
    return out


def test_air_time_of_a_floor(dense):
    shown = dense.run("Example 1")
    assert shown.count("\n") == 5
    rows = [line.split("\t") for line in (dense.folder / "stations.tsv").read_text().splitlines()[1:]]
    assert shown.splitlines()[0].split("\t")[0] == max(rows, key=lambda row: float(row[4]))[0]
    found = {row[0]: (int(row[2]), 1e3 * float(row[3]), int(row[5]), int(row[6])) for row in rows}
    expected = {name: line for name, line in stations_of(dense).items() if line[0] >= 300}
    off = []  # air time, and share of retransmissions
    for name, (transmissions, us, attempts, retries, ties) in expected.items():
        # On the border, an attempt that was not merged counts on both floors.
        assert .97 * (transmissions - ties) <= found[name][0] <= 1.05 * transmissions, name
        if ties > .01 * transmissions:
            continue
        off.append((found[name][1] / us - 1, found[name][3] / found[name][2] - retries / attempts))
        assert found[name][2] == pytest.approx(attempts, rel=.03), name
    time, again = 100 * np.array(off).T
    print(f"{len(off)} stations: air time {np.median(time):+.2f} % at the median, {abs(time).max():.2f} % at most; share of "
          f"retransmissions {np.median(again):+.2f} and {abs(again).max():.2f} points")
    assert len(off) > 20 and abs(np.median(time)) < 1 and abs(time).max() < 4
    assert abs(np.median(again)) < 1 and abs(again).max() < 3


# ---- example 2 --------------------------------------------------------------------------------------------------------


def truly_missed(air):
    """Numbers that no sensor heard at any attempt, between those of the first and the last heard frame; and the same
    without these borders; by sender."""
    sent, r = air.sent, air.receptions
    heard = np.zeros(len(sent["kind"]), bool)
    heard[r["transmission"][~r["bad_fcs"]]] = True
    out = {}
    for sender in np.unique(sent["sender"]).tolist():
        own = np.flatnonzero(np.isin(sent["kind"], NUMBERED) & (sent["sender"] == sender))
        number = np.cumsum(sent["kind"][own] != RETRY)
        known = set(number[heard[own]].tolist())
        between = range(min(known), max(known) + 1) if known else ()
        out[address(sender)] = len(set(between) - known), int(number[-1]) - len(known)
    return out


def test_frames_that_all_missed(sparse):
    last = sparse.run("Example 2").split("\t")
    truth = truly_missed(sparse.air)
    missed, all_missed = map(sum, zip(*truth.values()))
    print(f"found {last[2].strip()}, between heard ones {missed}, all {all_missed}")
    assert missed > 2000 and last[0] == "all" and int(last[2]) == pytest.approx(missed, rel=.03)
    assert missed > .8 * all_missed
    found = dict(line.split("\t")[::2] for line in (sparse.folder / "missed.tsv").read_text().splitlines())
    many = [name for name, (m, _) in truth.items() if m >= 100]
    assert len(many) >= 5
    for name in many:
        assert int(found[name]) == pytest.approx(truth[name][0], rel=.1), name


# ---- example 3 --------------------------------------------------------------------------------------------------------


def test_a_rogue_is_located(dense):
    dense.run("Example 3")
    rows = [line.split("\t") for line in (dense.folder / "rogues.tsv").read_text().splitlines()]
    number = {address(n): n for n in range(40)}
    assert len(rows) >= 37 and address(0) not in [row[0] for row in rows]
    away = [math.dist((float(row[1]), float(row[2])), dense.building.transmitters[number[row[0]]]) for row in rows]
    print(f"error: median {np.median(away):.1f} m, nine tenths {np.percentile(away, 90):.1f} m, worst {max(away):.1f} m")
    assert np.median(away) < LOCATED_M[0] and np.percentile(away, 90) < LOCATED_M[1]
