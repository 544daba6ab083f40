# SPDX-License-Identifier: GPL-2.0
"""A stream for hours: an air again and again. The sensors' clocks run on, and all stations have other addresses each
time, so that no frame comes twice. In: an air. Out: bytes as saluki-collector writes them."""
import numpy as np

from merge.blocks import Blocks
from merge.output import sensor_name
from merge.pcapng import INTERFACE, PACKET, SECTION, STATISTICS

ROUNDS_MOST = 1 << 16  # addresses


class Rounds:
    """`receptions`, `seconds`: of each round."""

    def __init__(self, air):
        whole = Blocks(b"".join(data for _, data in air.stream()))
        is_head = np.isin(whole.kind, (SECTION, INTERFACE))
        self.head = whole.chosen(is_head)
        self.blocks = Blocks(whole.chosen(~is_head & ~whole.is_last_words()))
        self.body = self.blocks.data
        self.seconds, self.receptions = air.parameters.seconds, len(air.receptions)
        spans = {sensor_name(n): self._span(clock) for n, clock in enumerate(air.clocks)}
        self.spans_ns = np.array([spans[name.partition(":")[0]] for name in whole.names()])
        timed = np.isin(self.blocks.kind, (PACKET, STATISTICS))
        self.timed, self.timed_on = self.blocks.at[timed], self.blocks.interface[timed]
        self.heartbeats = self.blocks.heartbeats()
        self.heartbeats_on = self.blocks.words(self.heartbeats + 8)

    def _span(self, clock):
        """How far the sensor's clock comes in a round."""
        begin, end = clock.realtime(np.array([0, int(self.seconds * 1e9)])).tolist()
        return end - begin

    def round(self, number):
        """The bytes of a round, the first of which is 0."""
        assert number < ROUNDS_MOST
        blocks, more_ns = self.blocks, number * self.spans_ns
        blocks.data = self.body.copy()
        blocks.set_stamps(self.timed, blocks.stamps(self.timed) + more_ns[self.timed_on])
        blocks.add_to_heartbeats(self.heartbeats, more_ns[self.heartbeats_on].astype(np.uint64))
        blocks.rename_stations(number)
        return (b"" if number else self.head) + blocks.data.tobytes()
