# SPDX-License-Identifier: GPL-2.0
"""Runs saluki-merge on a simulation, and reads what it made of each reception. In: an air. Out: an assignment."""
import subprocess

from merge import assignment
from merge.kinds import FIRST_ATTEMPTS
from merge.program import PROGRAM
from merge.truth import Truth


class Simulated:
    """An air with its stream and truth in a folder, which programs without privileges can enter."""

    def __init__(self, folder, air, name="air"):
        self.folder, self.air, self.stream = folder, air, folder / f"{name}.pcapng"
        air.write_stream(self.stream)
        air.write_truth(folder / f"{name}.npz")
        self.truth = Truth(folder / f"{name}.npz")

    def _table(self, trace):
        table = trace.with_suffix(".tsv")
        with table.open("wb") as out:
            subprocess.run([PROGRAM, "receptions", trace], stdout=out, check=True)
        try:
            return assignment.read(table, self.truth)
        finally:
            table.unlink()
            trace.unlink()

    def merge(self, *inputs):
        """Merges the stream as a file, or other inputs."""
        trace = self.folder / "unified.pcapng"
        subprocess.run([PROGRAM, "-q", "-w", trace, *(inputs or [self.stream])], check=True)
        return self._table(trace)

    def merge_live(self):
        """Merges the stream as it comes through a pipe."""
        trace = self.folder / "live.pcapng"
        with self.stream.open("rb") as stream:
            subprocess.run([PROGRAM, "-q", "-r", "-", "-w", trace], stdin=stream, check=True)
        return self._table(trace)


def first_attempts(merges):
    """(share of merges missed, share of receptions in another's transmission) of frames with unique identities."""
    each = [merges.of(kind) for kind in FIRST_ATTEMPTS]
    total = lambda name: sum(e[name] for e in each)
    possible = total("receptions") - total("transmissions")
    return total("missed") / max(possible, 1), total("false") / max(total("receptions"), 1)


def share(figures, kind):
    """The same of one class, from the judge's figures."""
    of = figures.get(kind, {"missed_percent": 0, "false_ppm": 0})
    return of["missed_percent"] / 100, of["false_ppm"] / 1e6
