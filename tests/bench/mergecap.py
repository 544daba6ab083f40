# SPDX-License-Identifier: GPL-2.0
"""mergecap beside saluki-merge, on the same files of one sensor each: whether packets are in the order of true time, and
how many packets stand for a transmission."""
import dataclasses
import subprocess

import numpy as np

from merge import assignment
from merge.blocks import Blocks
from merge.pcapng import PACKET


@dataclasses.dataclass
class Order:
    """Of packets in the order of a file, with their true times."""
    packets: int
    unordered: float  # share of packets behind one that was truly later
    late_us: tuple  # by how much: median, p99, most

    @classmethod
    def of(cls, true_ns):
        late = (np.maximum.accumulate(true_ns) - true_ns) / 1e3
        out = late[late > 0]
        return cls(len(true_ns), len(out) / len(true_ns), tuple(np.percentile(out, (50, 99, 100))) if len(out) else (0,) * 3)


def merged_by_mergecap(folder, truth):
    """The true times of the packets of mergecap's file."""
    out = folder.with_suffix(".mergecap")
    subprocess.run(["mergecap", "-w", out, *sorted(folder.iterdir())], check=True)
    blocks = Blocks(out.read_bytes())
    out.unlink()
    sensors, interfaces = zip(*(name.split(":wlan") for name in blocks.names()))
    number = {name: n for n, name in enumerate(truth.names.tolist())}
    of = blocks.interface[blocks.kind == PACKET]
    rows = {"sensor": np.array([number[s] for s in sensors])[of], "interface": np.array(list(map(int, interfaces)))[of],
            "stamp_ns": blocks.stamps(blocks.of(PACKET))}
    at = assignment.places(truth, rows)
    if (at < 0).any() or len(at) != len(truth):
        raise RuntimeError("mergecap's file has other packets than its inputs")
    return truth.true_ns[at]


def transmissions_in_order(truth, a):
    """The true time of each transmission of the merge, in the order of the file: that of its receptions' middle."""
    order = np.lexsort((truth.true_ns, a.transmission))
    made = a.transmission[order]
    begin = np.flatnonzero(np.concatenate([[True], made[1:] != made[:-1]]))
    return truth.true_ns[order][begin + (np.diff(np.append(begin, len(made))) - 1) // 2]


def compare(s, clocks, say):
    """The figures, and a table."""
    folder = s.folder / "sensors"
    s.air.write_files(folder)
    a = s.merge(folder)
    rows = {"mergecap": Order.of(merged_by_mergecap(folder, s.truth)),
            "saluki-merge --all": Order.of(s.truth.true_ns[np.argsort(a.time_ns, kind="stable")]),
            "saluki-merge": Order.of(transmissions_in_order(s.truth, a))}
    for f in folder.iterdir():
        f.unlink()
    heard = len(np.unique(s.truth.transmission))
    say(f"    {heard:,} transmissions, heard by {len(s.truth.names)} sensors; {clocks}:")
    say(f"      {'program':20}{'packets':>11}{'each transm.':>14}{'out of order':>14}{'by us: median':>15}{'p99':>12}{'most':>12}")
    for name, row in rows.items():
        say(f"      {name:20}{row.packets:11,}{row.packets / heard:14.3f}{row.unordered:14.4%}"
            + "".join(f"{us:{width},.1f}" for us, width in zip(row.late_us, (15, 12, 12))))
    theirs, ours = rows["mergecap"], rows["saluki-merge"]
    return {"mergecap_unordered": theirs.unordered, "mergecap_unordered_p99_us": theirs.late_us[1],
            "mergecap_packets_x_transmissions": theirs.packets / heard, "merge_unordered": ours.unordered,
            "merge_unordered_p99_us": ours.late_us[1], "merge_packets_x_transmissions": ours.packets / heard}
