# SPDX-License-Identifier: GPL-2.0
"""The clocks of saluki-merge, judged by the truth: sensors whose clocks step and slew, or that hear little, and radios
with a TSFT. The bounds are about 1.5 times of what is measured."""
import subprocess

import pytest

from merge import assignment, judge, sim
from merge.kinds import FLAGS
from merge.program import PROGRAM, ledger, rows, run
from merge.truth import Truth

SPARSE = {"sensors": 60, "aps": 24, "stas": 120, "batch": True}
EVENTS = {"steps": 3, "slews": 3, "restarts": 3, "outages": 2}


def judged(folder, **parameters):
    """The judge's figures, and the ledger."""
    air = sim.simulate(**{**SPARSE, **parameters})
    air.write_stream(folder / "all.pcapng")
    air.write_truth(folder / "truth.npz")
    folder.chmod(0o755)
    said = ledger(run("-w", folder / "unified.pcapng", folder / "all.pcapng"))
    with open(folder / "receptions.tsv", "wb") as out:
        subprocess.run([PROGRAM, "receptions", folder / "unified.pcapng"], stdout=out, check=True)
    truth = Truth(folder / "truth.npz")
    return judge.judge(truth, assignment.read(folder / "receptions.tsv", truth)), said


def test_slews_are_no_steps(tmp_path):
    """Without readings. Restarts let the sweep wait, while arrivals go on by clocks that are being slewed."""
    found, said = judged(tmp_path, seed=2, seconds=45.0, **EVENTS)
    assert said["steps"] == EVENTS["steps"]
    assert found["clock"]["p99_us"] < 6.6 and found["clock"]["p99.9_us"] < 200
    assert found["clock_without_events"]["p99_us"] < 4.5 and found["clock_without_events"]["max_us"] < 500


def test_readings_tell_steps_and_slews(tmp_path):
    found, said = judged(tmp_path, seed=2, seconds=45.0, readings=True, ahead=True, **EVENTS)
    assert said["steps"] == 0 and found["clock"]["p99_us"] < 4.5


@pytest.mark.parametrize("seed, p99_us", [(1, .6), (2, 1.2)])
def test_radios_with_tsft(tmp_path, seed, p99_us):
    """Seed 2 has a radio that hears two frames a second. Late stamps of a sensor do not move its radios' clocks."""
    found, _ = judged(tmp_path, seed=seed, seconds=20.0, tsft=1.0)
    assert found["merges"]["all"]["missed"] == found["merges"]["all"]["false"] == 0
    assert found["clock"]["p99_us"] < p99_us and found["clock"]["max_us"] < 5
    assert found["calibration"]["within_1_sigma"] > .5


@pytest.mark.parametrize("sensors, restarts", [(30, 1), (30, 2), (100, 5)])
def test_radios_with_tsft_of_a_restarted_sensor(tmp_path, sensors, restarts):
    """A sensor's clock may be another one after a restart, so that a run's stamps say nothing about the run before."""
    found, said = judged(tmp_path, seed=12, seconds=45.0, sensors=sensors, aps=12 if sensors < 100 else 40, tsft=1.0,
                         restarts=restarts)
    assert said["steps"] == 0 and found["clock"]["p99_us"] < 3 and found["clock"]["max_us"] < 1000


@pytest.mark.parametrize("offset, ahead", [(30.0, False), (1000.0, False), (3000.0, True)])
def test_nothing_is_late_in_a_file_of_clocks_that_are_far_apart(tmp_path, offset, ahead):
    found, said = judged(tmp_path, seed=3, seconds=20.0, offset=offset, ahead=ahead)
    assert said["late_found"] == said["late_new"] == said["steps"] == 0
    assert found["clock"]["p99_us"] < 4.5


def test_a_clock_that_was_never_found_is_unaligned(tmp_path):
    """Late receptions of a run whose clock is not yet known, in a stream."""
    air = sim.simulate(**{**SPARSE, "seed": 12, "seconds": 60.0, "sensors": 30, "aps": 12, "stas": 200, "restarts": 2})
    air.write_stream(tmp_path / "all.pcapng")
    tmp_path.chmod(0o755)
    with (tmp_path / "all.pcapng").open("rb") as stream:
        run("-q", "-r", "-", "-w", tmp_path / "u.pcapng", stdin=stream)
    found = rows(tmp_path / "u.pcapng")
    assert found and not [r for r in found if int(r["sigma_ns"]) == 0]
    unknown = [r for r in found if int(r["sigma_ns"]) >= 10**9]
    assert unknown and all(int(r["flags"]) & FLAGS["unaligned"] for r in unknown)
