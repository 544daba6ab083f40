# SPDX-License-Identifier: GPL-2.0
"""What is done in the virtual AP70, and what is expected of it: the table. Each row is a sensor
there and a collector on the host, with frames of the bundled trace played in between."""
import dataclasses

from reference import captures
from reference.test_reference import write_pcap

SNAPLEN = 192


@dataclasses.dataclass(frozen=True)
class Case:
    by: str  # the source that captures
    packets: str = "v3"  # the newest packet sockets that the kernel has (old_kernel)
    verb: str = "run"  # or stopped, pressed: see init
    options: str = "-B 512"  # the ring, in KiB


CASES = {
    "v3": Case("mmap v3"),
    "v2": Case("mmap v2", "v2"),
    "v1": Case("mmap v1", "v1"),
    "recv": Case("mmap recv", "recv", options="-B 2048"),  # a frame takes some 1,000 bytes there
    "full v3": Case("mmap v3", verb="stopped", options="-B 256"),
    "full recv": Case("mmap recv", "recv", verb="stopped", options="-B 256"),
    "pressed": Case("mmap v3", verb="pressed"),
}


def folder(name):
    return name.replace(" ", "-")


def played():
    """What mon0 hears: each frame as if it were whole."""
    return [f._replace(orig_len=len(f.data)) for f in captures.frames(captures.BUNDLED)]


def write(path):
    sent = played()
    write_pcap(path, sent[0].linktype, sent)
