# SPDX-License-Identifier: GPL-2.0
"""What a merge has made of each reception. In: the truth, and the table that `saluki-merge receptions` prints. Out:
the table's columns in the order of the truth's receptions."""
import dataclasses

import numpy as np

from merge import table
from merge.kinds import FLAGS

NOBODY = -1  # a sensor that the truth does not know
SPAN_BITS = 46  # stamps of one simulation: 19 hours
INTEGERS = ("transmission", "time_ns", "stamp_ns", "interface", "sigma_ns", "part")


def flags_of(word):
    """A number, or names with commas between them."""
    if word[:1].isdigit():
        return int(word, 0)
    return sum(FLAGS[w] for w in word.split(",") if w not in ("", "-"))


@dataclasses.dataclass
class Assignment:
    """For each of the truth's receptions. `transmission`: -1 if the table has no row for the reception, otherwise a
    small number instead of the table's own. `unknown`: rows of receptions that never were. `repeated`: further rows
    of one reception."""
    transmission: np.ndarray
    time_ns: np.ndarray
    sigma_ns: np.ndarray
    flags: np.ndarray
    part: np.ndarray
    unknown: int = 0
    repeated: int = 0

    @property
    def found(self):
        return self.transmission >= 0


def _ranks(keys):
    """The place of each key among the equal ones before it."""
    order = np.argsort(keys, kind="stable")
    s = keys[order]
    begin = np.flatnonzero(np.concatenate([[True], s[1:] != s[:-1]])) if len(s) else np.zeros(0, int)
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys)) - np.repeat(begin, np.diff(np.append(begin, len(s))))
    return ranks


def places(truth, rows):
    """For each row the reception with its sensor, interface and stamp, in order where several have these; or -1."""
    base = int(truth.stamp_ns.min()) if len(truth) else 0
    key = lambda c: (c["sensor"] << 3 | c["interface"]) << SPAN_BITS | c["stamp_ns"] - base
    own = key({"sensor": truth.sensor.astype(np.int64), "interface": truth.interface.astype(np.int64),
               "stamp_ns": truth.stamp_ns})
    offset = rows["stamp_ns"] - base
    possible = (rows["sensor"] != NOBODY) & (offset >= 0) & (offset < 1 << SPAN_BITS) & (rows["interface"] < 8)
    wanted = np.where(possible, key(rows), -1)
    order = np.argsort(own, kind="stable")
    first = np.searchsorted(own[order], wanted)
    at = np.minimum(first + _ranks(wanted), len(own) - 1)
    hit = possible & (own[order][at] == wanted) if len(own) else np.zeros(len(wanted), bool)
    return np.where(hit, order[at] if len(own) else 0, -1)


def assign(truth, rows):
    """Of rows as columns by name (INTEGERS, sensor, flags)."""
    at = places(truth, rows)
    taken, first = np.unique(at[at >= 0], return_index=True)
    first = np.flatnonzero(at >= 0)[first]
    number = np.unique(rows["transmission"], return_inverse=True)[1]
    out = {"transmission": np.full(len(truth), -1, np.int64)}
    out["transmission"][taken] = number[first]
    for name in ("time_ns", "sigma_ns", "flags", "part"):
        out[name] = np.zeros(len(truth), np.int64)
        out[name][taken] = rows[name][first]
    known = np.isin(rows["stamp_ns"], truth.stamp_ns) & (rows["sensor"] != NOBODY)
    repeated = int(np.count_nonzero(known & (at < 0)))
    return Assignment(unknown=int(np.count_nonzero(at < 0)) - repeated, repeated=repeated, **out)


def read(path, truth):
    numbers = {name: n for n, name in enumerate(truth.names.tolist())}
    rows = table.read(path, INTEGERS, {"sensor": lambda word: numbers.get(word, NOBODY), "flags": flags_of})
    return assign(truth, rows)
