# SPDX-License-Identifier: GPL-2.0
"""The truth of a simulation, in an .npz file. Times are in ns since 1970; grid_ns counts from base_ns.

For each reception, in the order of each sensor's stream: transmission, sensor (index into names), interface, true_ns
(the frame's end), stamp_ns, jitter_ns (how late the stamp was taken), tsft_us and tsft_error_ns (0 without a TSFT),
bad_fcs, signal_dbm.
For each transmission: sent_end_ns, sent_kind (kinds.py), sent_channel, sent_sender, sent_receiver, sent_length.
For each sensor: sigma_ns of its stamps; clock_ns, by how much REALTIME is ahead of true time at grid_ns.
events, parameters: JSON."""
import json

import numpy as np

RECEPTION = ("transmission", "sensor", "interface", "stamp_ns", "jitter_ns", "tsft_us", "tsft_error_ns", "bad_fcs",
             "signal_dbm")
SENT = ("end_ns", "kind", "channel", "sender", "receiver", "length")


def write(path, receptions, sent, base_ns, **more):
    columns = {name: receptions[name] for name in RECEPTION}
    columns["true_ns"] = receptions["true_ns"] + base_ns
    columns.update({f"sent_{name}": sent[name] for name in SENT if name in sent})
    columns["sent_end_ns"] = sent["end_ns"] + base_ns
    np.savez(path, base_ns=base_ns, **columns, **more)


class Truth:
    """The columns as attributes."""

    def __init__(self, path):
        with np.load(path) as z:
            for name in z.files:
                setattr(self, name, z[name])
        self.events = json.loads(str(self.events))
        self.base_ns = int(self.base_ns)
        self.kind = np.where(self.bad_fcs, 9, self.sent_kind[self.transmission]).astype(np.uint8)
        self.second = (self.true_ns - self.base_ns) / 1e9

    def __len__(self):
        return len(self.transmission)
