# SPDX-License-Identifier: GPL-2.0
"""Files of one sensor each are merged as well as the collector's file of all sensors."""
import pytest

from merge import judge, merged, sim

# Two of the seeds with which sensors whose files were read too far alone became parts of their own.
SEEDS = (1, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_files_of_one_sensor_each(seed, tmp_path):
    tmp_path.chmod(0o755)
    air = sim.simulate(seconds=12.0, batch=True, seed=seed)
    simulated = merged.Simulated(tmp_path, air)
    air.write_files(tmp_path / "each")
    stream, each = (judge.Merges(simulated.truth, a).of()
                    for a in (simulated.merge(), simulated.merge(tmp_path / "each")))
    print("missed % and false ppm:", *((f["missed_percent"], f["false_ppm"]) for f in (stream, each)))
    assert each["missed_percent"] < 1.2 * stream["missed_percent"]
    assert each["false_ppm"] < 1.2 * stream["false_ppm"]
