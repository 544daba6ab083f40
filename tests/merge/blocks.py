# SPDX-License-Identifier: GPL-2.0
"""The blocks of a pcapng section with little-endian numbers, and changes of many blocks at once. In: the bytes of a
simulated stream, or of a tool that has read one."""
import struct

import numpy as np

from merge.pcapng import INTERFACE, NOTHING_BEFORE, OPT_REPORT, PACKET, STATISTICS

OPT_NAME = 2
OPT_START = 2  # of statistics at the end of a run
STAMP, LENGTHS, FRAME = 12, 20, 28  # places in a packet's block; STAMP also in that of statistics
REPORT_KIND, REPORT = 28, 29  # places in the block of statistics whose first option is a report
ADDRESS_1, ADDRESS_2 = 7, 13  # places in a MAC frame: inside of its first and second address
LONG = 16  # bytes of a MAC frame with two addresses


class Blocks:
    """`at`: where each block begins. `data` may be changed."""

    def __init__(self, data):
        self.data = np.frombuffer(data, np.uint8).copy()
        self.at = np.array(list(self._places(data)), np.int64)
        self.kind, self.length, self.interface = (self.words(self.at + n) for n in (0, 4, 8))

    @staticmethod
    def _places(data):
        at, size = 0, len(data)
        while at + 12 <= size:
            yield at
            at += struct.unpack_from("<I", data, at + 4)[0]

    def _bytes(self, places, count):
        return self.data[places[:, None] + np.arange(count)]

    def words(self, places):
        return self._bytes(places, 4).view("<u4").reshape(-1).astype(np.int64)

    def stamps(self, places):
        """Of packets or statistics whose blocks begin at these places."""
        return self.words(places + STAMP) << 32 | self.words(places + STAMP + 4)

    def set_stamps(self, places, ns):
        words = np.column_stack([ns >> 32, ns & 0xffffffff]).astype("<u4")
        self.data[places[:, None] + STAMP + np.arange(8)] = words.view(np.uint8).reshape(-1, 8)

    def of(self, kind):
        """The places of all blocks of a kind."""
        return self.at[self.kind == kind]

    def names(self):
        """The names of the interfaces."""
        return [self._option(at, 16, OPT_NAME).decode() for at in self.of(INTERFACE).tolist()]

    def _option(self, block, first, code):
        at = block + first
        while True:
            found, size = struct.unpack("<HH", self.data[at:at + 4].tobytes())
            if found == code:
                return self.data[at + 4:at + 4 + size].tobytes()
            if not found:
                raise ValueError(f"no option {code}")
            at += 4 + -(-size // 4) * 4

    def _first_option(self):
        """The codes of the first option of statistics, by block; 0 for other blocks."""
        codes = np.zeros(len(self.at), np.int64)
        some = (self.kind == STATISTICS) & (self.length > 24)
        codes[some] = self.words(self.at[some] + 20) & 0xffff
        return codes

    def is_last_words(self):
        """Whether each block is statistics of a whole run."""
        return self._first_option() == OPT_START

    def heartbeats(self):
        """The places of reports that nothing comes before a time."""
        at = self.at[self._first_option() == OPT_REPORT]
        return at[self.data[at + REPORT_KIND] == NOTHING_BEFORE]

    def add_to_heartbeats(self, places, ns):
        columns = places[:, None] + REPORT + np.arange(8)
        times = self.data[columns].view(">u8").reshape(-1) + ns
        self.data[columns] = times.astype(">u8").view(np.uint8).reshape(-1, 8)

    def mac_frames(self):
        """(where the MAC frame of each packet begins, how many bytes of it are kept)"""
        at = self.of(PACKET)
        radiotap = self._bytes(at + FRAME + 2, 2).view("<u2").reshape(-1).astype(np.int64)
        return at + FRAME + radiotap, self.words(at + LENGTHS) - radiotap

    def rename_stations(self, number, short_ones=True):
        """Changes all addresses by a number of 16 bits. Without `short_ones`, frames that have only one address, as
        acknowledgements, stay as they are."""
        begin, kept = self.mac_frames()
        change = np.frombuffer(struct.pack("<H", number), np.uint8)
        long = kept >= LONG
        for some, place in ((begin if short_ones else begin[long], ADDRESS_1), (begin[long], ADDRESS_2)):
            self.data[some[:, None] + place + np.arange(2)] ^= change

    def chosen(self, which):
        """The bytes of some blocks."""
        inside = np.zeros(len(self.data) + 1, np.int8)
        np.add.at(inside, self.at[which], 1)
        np.add.at(inside, (self.at + self.length)[which], -1)
        return self.data[np.cumsum(inside[:-1], dtype=np.int8).astype(bool)].tobytes()
