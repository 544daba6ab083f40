# SPDX-License-Identifier: GPL-2.0
"""A merge as plain as possible, which knows the true clocks: it shows what the files allow, whatever a merge does about
clocks. In: the truth, and the frames in its order. Out: the number of a transmission for each reception."""
import numpy as np

from merge.identity import Malformed, identify
from merge.kinds import BAD_FCS
from reference import captures

WINDOW_NS = 60_000  # W
REMEMBERED = 4  # transmissions of one key


def in_order_of_truth(truth, path):
    """The frames of a stream, in the order of the truth's receptions."""
    left, found = {}, [None] * len(truth)
    for row, (sensor, interface) in enumerate(zip(truth.sensor.tolist(), truth.interface.tolist())):
        left.setdefault(f"{truth.names[sensor]}:wlan{interface}", []).append(row)
    rows = {name: iter(its) for name, its in left.items()}
    for name, frame in captures._pcapng(path.read_bytes()):
        found[next(rows[name])] = frame
    return found


class Transmission:
    def __init__(self, number, time_ns):
        self.number, self.time_ns, self.radios = number, time_ns, set()


def merge(truth, frames):
    """A reception joins the nearest transmission with its key in the window, which its radio is not yet in."""
    times = (truth.true_ns + truth.jitter_ns).tolist()
    radios = (truth.sensor.astype(int) << 3 | truth.interface).tolist()
    numbers, by_key, count = np.zeros(len(truth), np.int64), {}, 0
    for row in np.argsort(times, kind="stable").tolist():
        try:
            identity = identify(frames[row].data, frames[row].orig_len)
        except Malformed:
            identity = None
        nearest = None
        if identity and identity.kind != BAD_FCS:
            known = by_key.setdefault(identity[:3], [])
            window = identity.window_ns(WINDOW_NS)
            free = [t for t in known if times[row] - t.time_ns <= window and radios[row] not in t.radios]
            nearest = max(free, key=lambda t: t.time_ns, default=None)
            if not nearest:
                nearest = Transmission(count, times[row])
                count += 1
                known[:] = [*known[1 - REMEMBERED:], nearest]
            nearest.radios.add(radios[row])
            numbers[row] = nearest.number
        else:
            numbers[row], count = count, count + 1
    return numbers
