# SPDX-License-Identifier: GPL-2.0
"""Tables as a merge prints them, made from the truth: for tests of the judge."""
import numpy as np

COLUMNS = ("transmission", "time_ns", "stamp_ns", "sensor", "interface", "signal_dbm", "mhz", "off_ns", "sigma_ns",
           "flags", "part")


def perfect(truth):
    """Columns by name: each reception at its true time, with its stamp's error, in its true transmission."""
    n = len(truth)
    return {"transmission": truth.transmission.astype(np.int64) + 10**10, "time_ns": truth.true_ns + truth.jitter_ns,
            "stamp_ns": truth.stamp_ns.copy(), "sensor": truth.names[truth.sensor], "interface": truth.interface,
            "signal_dbm": truth.signal_dbm, "mhz": np.full(n, 2412), "off_ns": truth.jitter_ns,
            "sigma_ns": np.full(n, 500), "flags": np.where(truth.bad_fcs, 2, 0), "part": np.ones(n, np.int64)}


def chosen(columns, rows):
    return {name: values[rows] for name, values in columns.items()}


def write(path, columns):
    lists = [columns[name].tolist() for name in COLUMNS]
    with open(path, "w") as f:
        f.write("\t".join(COLUMNS) + "\n")
        f.writelines("\t".join(map(str, row)) + "\n" for row in zip(*lists))
