# SPDX-License-Identifier: GPL-2.0
"""Blocks of pcapng files as saluki-collector writes them (docs/saluki-files.5). Packet blocks are made for many
receptions at once: a row of 32-bit words each, of which only as many count as the block has."""
import struct

import numpy as np

from merge.frames import FCS_LEN, KEPT
from merge.traffic import HT

SECTION, INTERFACE, STATISTICS, PACKET = 0x0a0d0d0a, 1, 5, 6
ENTERPRISE = 32473
OPT_COMBO_NAME, OPT_REPORT = 19373, 2989
READINGS, NOTHING_BEFORE, AHEAD = 1, 2, 3
RADIOTAP_LINKTYPE = 127

NAME = np.dtype([("code", "<u2"), ("length", "<u2"), ("enterprise", ">u4"), ("run", ">u8"), ("count", ">u8"),
                 ("first", ">u8"), ("frames", ">u4"), ("sensor", ">u2"), ("events", ">u2")])
NAME_WORDS = NAME.itemsize // 4
NAME_LEN, NAME_LEN_EVENTS = 34, 36

BAD_FCS, HAS_FCS = 0x40, 0x10
OFDM, GHZ_2, GHZ_5 = 0x40, 0x80, 0x100
_TSFT = [("tsft", "<u8")]
_LEGACY = [("flags", "u1"), ("rate", "u1"), ("mhz", "<u2"), ("channel", "<u2"), ("signal", "i1"), ("antenna", "u1")]
_HT = [("flags", "u1"), ("pad", "u1"), ("mhz", "<u2"), ("channel", "<u2"), ("signal", "i1"), ("antenna", "u1"),
       ("mcs_known", "u1"), ("mcs_flags", "u1"), ("mcs", "u1"), ("pad2", "u1")]
_HEAD = [("version", "<u2"), ("length", "<u2"), ("present", "<u4")]
# By (has a TSFT, is HT).
RADIOTAPS = {(tsft, ht): np.dtype(_HEAD + _TSFT * tsft + (_HT if ht else _LEGACY))
             for tsft in (False, True) for ht in (False, True)}
RADIOTAP_MOST = max(r.itemsize for r in RADIOTAPS.values())
SNAPLEN = RADIOTAP_MOST + KEPT
HEAD_WORDS, FLAGS_WORDS = 7, 2
WIDTH = HEAD_WORDS + SNAPLEN // 4 + FLAGS_WORDS + NAME_WORDS + 2
INBOUND = 1


# ---- blocks, one at a time -------------------------------------------------------------------------


def option(code, data):
    return struct.pack("<HH", code, len(data)) + data + bytes(-len(data) % 4)


def block(kind, body, *options):
    body += b"".join(options) + (bytes(4) if options else b"")
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def section():
    return block(SECTION, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1), option(3, b"Linux, simulated"),
                 option(4, b"saluki-collector simulated"))


def interface(sensor, number, interface_name, floor=None):
    description = f"sensor {sensor} (id {number}), interface {interface_name} by tc"
    comment = "saluki, simulated, keep all" + ("" if floor is None else f", floor={floor}")
    return block(INTERFACE, struct.pack("<HHI", RADIOTAP_LINKTYPE, 0, SNAPLEN),
                 option(2, f"{sensor}:{interface_name}".encode()), option(3, description.encode()),
                 option(9, b"\x09"), option(12, b"Linux, simulated"), option(1, comment.encode()))


def statistics(interface_id, time_ns, *options):
    return block(STATISTICS, struct.pack("<III", interface_id, time_ns >> 32, time_ns & 0xffffffff), *options)


def time_option(code, ns):
    return option(code, struct.pack("<II", ns >> 32, ns & 0xffffffff))


def last_statistics(interface_id, start_ns, end_ns, frames, comment):
    counted = ((4, frames), (5, 0), (6, frames), (7, 0), (8, frames))
    counts = [option(code, struct.pack("<Q", n)) for code, n in counted]
    return statistics(interface_id, end_ns, time_option(2, start_ns), time_option(3, end_ns), *counts,
                      *([option(1, comment.encode())] if comment else []))


def _report(kind, data):
    return option(OPT_REPORT, struct.pack(">IB", ENTERPRISE, kind) + data)


def readings(triples):
    """Option of readings: (MONOTONIC, REALTIME - MONOTONIC, RAW - MONOTONIC)."""
    return _report(READINGS, b"".join(struct.pack(">Qqq", *t) for t in triples))


def nothing_before(ns):
    return _report(NOTHING_BEFORE, struct.pack(">Q", ns))


def ahead(ahead_ns, round_trip_ns, collector_ns):
    return _report(AHEAD, struct.pack(">qQQ", ahead_ns, round_trip_ns, collector_ns))


def names(rows):
    """Options of combo names: rows of (run, count, first, frames, sensor, events)."""
    out = np.zeros(len(rows), NAME)
    out["code"], out["enterprise"] = OPT_COMBO_NAME, ENTERPRISE
    for n, field in enumerate(("run", "count", "first", "frames", "sensor", "events")):
        out[field] = [row[n] for row in rows]
    out["length"] = np.where(out["events"], NAME_LEN_EVENTS, NAME_LEN)
    return out


# ---- packets, many at a time -----------------------------------------------------------------------


class Packets:
    """`plain`, `with_fcs`: the MAC frames' first bytes, a row for each transmission. `limits`: how many of these bytes
    are kept at most. `damage`: what is XORed to receptions with a wrong FCS."""

    def __init__(self, sent, plain, with_fcs, limits, damage, radios):
        self.length, self.rate, self.mhz, self.limits = sent["length"], sent["rate"], sent["mhz"], limits
        self.plain, self.with_fcs, self.damage = (m.view("<u4") for m in (plain, with_fcs, damage))
        self.gives_fcs, self.gives_tsft = (np.array([getattr(r, name) for r in radios], bool)
                                           for name in ("gives_fcs", "gives_tsft"))

    def mac_len(self, r):
        """(bytes of the MAC frame kept, its length with the FCS where the radio gives one)."""
        whole = self.length[r["transmission"]] - np.where(self.gives_fcs[r["radio"]], 0, FCS_LEN)
        return np.minimum(whole, self.limits[r["transmission"]]), whole

    def radiotap_len(self, r):
        ht, tsft = self.rate[r["transmission"]] == HT, self.gives_tsft[r["radio"]]
        return np.select([tsft & ht, tsft, ht], [RADIOTAPS[k].itemsize for k in
                                                 ((True, True), (True, False), (False, True))],
                         RADIOTAPS[False, False].itemsize)

    def kept_len(self, r):
        return self.radiotap_len(r) + self.mac_len(r)[0]

    def _radiotap(self, r, tsft, ht):
        """Radiotap headers of receptions that all have this form."""
        out = np.zeros(len(r), RADIOTAPS[tsft, ht])
        t = r["transmission"]
        out["length"] = out.itemsize
        out["present"] = tsft | 1 << 1 | 1 << 3 | 1 << 5 | 1 << 11 | 1 << (19 if ht else 2)
        out["flags"] = np.where(self.gives_fcs[r["radio"]], HAS_FCS, 0) | np.where(r["bad_fcs"], BAD_FCS, 0)
        out["mhz"], out["signal"] = self.mhz[t], r["signal_dbm"]
        out["channel"] = OFDM | np.where(self.mhz[t] < 3000, GHZ_2, GHZ_5)
        if tsft:
            out["tsft"] = r["tsft_us"]
        if ht:
            out["mcs_known"], out["mcs"] = 0x02, 15
        else:
            out["rate"] = 2 * self.rate[t]
        return out.view("<u4").reshape(len(r), out.itemsize // 4)

    def _fill(self, rows, r):
        """Writes headers and frames from HEAD_WORDS on."""
        is_ht, has_tsft = self.rate[r["transmission"]] == HT, self.gives_tsft[r["radio"]]
        damaged = np.flatnonzero(r["damage"] >= 0)
        for tsft, ht in RADIOTAPS:
            at = np.flatnonzero((has_tsft == tsft) & (is_ht == ht))
            head = self._radiotap(r[at], tsft, ht)
            begin = HEAD_WORDS + head.shape[1]
            rows[at, HEAD_WORDS:begin] = head
            fcs = self.gives_fcs[r["radio"][at]]
            for matrix, some in ((self.plain, at[~fcs]), (self.with_fcs, at[fcs])):
                rows[some, begin:begin + KEPT // 4] = matrix[r["transmission"][some]]
            some = damaged[np.isin(damaged, at, assume_unique=True)]
            rows[some, begin:begin + KEPT // 4] ^= self.damage[r["damage"][some]]

    def blocks(self, r, interface_ids, named, name_options):
        """The blocks of receptions as bytes, and the place where each begins and the last one ends. `named`: the
        rows with a name; `name_options`: these names."""
        rows, each = np.zeros((len(r), WIDTH), "<u4"), np.arange(len(r))
        self._fill(rows, r)
        kept, whole = self.mac_len(r)
        radiotap = self.radiotap_len(r)
        rows[:, 0], rows[:, 2] = PACKET, interface_ids
        rows[:, 3], rows[:, 4] = r["stamp_ns"] >> 32, r["stamp_ns"] & 0xffffffff
        rows[:, 5], rows[:, 6] = radiotap + kept, radiotap + whole
        words = HEAD_WORDS + (radiotap + kept + 3) // 4
        rows[each, words - 1] &= np.array([0xffffffff, 0xff, 0xffff, 0xffffff], "<u4")[(radiotap + kept) % 4]
        rows[each, words], rows[each, words + 1] = 2 | 4 << 16, INBOUND
        words = words + FLAGS_WORDS
        columns = words[named][:, None] + np.arange(NAME_WORDS)
        rows[named[:, None], columns] = name_options.view("<u4").reshape(-1, NAME_WORDS)
        words[named] += NAME_WORDS
        rows[each, words] = 0
        total = 4 * (words + 2)
        rows[each, words + 1] = rows[:, 1] = total
        inside = np.arange(WIDTH) < (words + 2)[:, None]
        return rows[inside].tobytes(), np.concatenate([[0], np.cumsum(total)])
