# SPDX-License-Identifier: GPL-2.0
"""mergecap beside saluki-merge, on the same files of one sensor each: whether packets are in the order of true time, and
how many packets stand for a transmission."""
import bisect
import dataclasses
import subprocess

import numpy as np

from merge import assignment
from merge.blocks import Blocks
from merge.pcapng import PACKET


def kept(times):
    """Which of them stay where they are if as few as possible are moved: the longest part that never decreases."""
    ends, at, before = [], [], []  # of the best such part of each length: the last time and its place; the one before
    for n, time in enumerate(times.tolist()):
        length = len(ends) if not ends or time >= ends[-1] else bisect.bisect_right(ends, time)
        before.append(at[length - 1] if length else -1)
        ends[length:length + 1], at[length:length + 1] = [time], [n]
    out, n = np.zeros(len(times), bool), at[-1]
    while n >= 0:
        out[n], n = True, before[n]
    return out


@dataclasses.dataclass
class Order:
    """Of packets in the order of a file, with their true times."""
    packets: int
    unordered: float  # share of packets that must be moved for the order of true time
    off_us: tuple  # true time of such a packet, and of the nearest other one in the file: median, p99, most

    @classmethod
    def of(cls, true_ns):
        stays = kept(true_ns)
        moved, places = np.flatnonzero(~stays), np.flatnonzero(stays)
        behind = np.searchsorted(places, moved)
        neighbours = true_ns[places[[np.maximum(behind - 1, 0), np.minimum(behind, len(places) - 1)]]]
        off = np.abs(neighbours - true_ns[moved]).min(0) / 1e3
        return cls(len(true_ns), len(moved) / len(true_ns),
                   tuple(np.percentile(off, (50, 99, 100)).tolist()) if len(off) else (0.0,) * 3)


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
    say(f"      {'program':20}{'packets':>11}{'a transmission':>16}{'out of order':>14}"
        f"{'off by us: p50':>17}{'p99':>13}{'most':>13}")
    for name, row in rows.items():
        say(f"      {name:20}{row.packets:11,}{row.packets / heard:16.3f}{row.unordered:14.4%}"
            + "".join(f"{us:{width},.1f}" for us, width in zip(row.off_us, (17, 13, 13))))
    theirs, ours = rows["mergecap"], rows["saluki-merge"]
    return {"mergecap_unordered": theirs.unordered, "mergecap_off_p99_us": theirs.off_us[1],
            "mergecap_packets_x_transmissions": theirs.packets / heard, "merge_unordered": ours.unordered,
            "merge_off_p99_us": ours.off_us[1], "merge_packets_x_transmissions": ours.packets / heard}
