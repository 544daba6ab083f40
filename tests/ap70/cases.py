# SPDX-License-Identifier: GPL-2.0
"""The table of cases for the virtual AP70, with the expected results. Each row is a sensor there
and a collector on the host, with frames of the bundled trace played in between, or a program
alone."""
import dataclasses

from reference import captures
from reference.test_reference import write_pcap
from vm.cases import beacons

SNAPLEN = 192


@dataclasses.dataclass(frozen=True)
class Case:
    by: str  # the source that captures; "": none does
    packets: str = "v3"  # the newest version of packet sockets in the kernel (old_kernel)
    verb: str = "run"  # or another: see init
    options: str = "-B 512"  # the ring, in KiB


CASES = {
    "v3": Case("mmap v3"),
    "v2": Case("mmap v2", "v2"),
    "v1": Case("mmap v1", "v1"),
    "recv": Case("mmap recv", "recv", options="-B 2048"),  # a frame takes some 1,000 bytes there
    "full v3": Case("mmap v3", verb="stopped", options="-B 64"),
    "full recv": Case("mmap recv", "recv", verb="stopped", options="-B 256"),
    "pressed": Case("mmap v3", verb="pressed"),
    "returns v3": Case("mmap v3", verb="returns"),
    "returns v2": Case("mmap v2", "v2", verb="returns"),
    "asked": Case("mmap v2", "v2", verb="asked"),
    "keys": Case("", "v2", verb="keys"),
    "calls v2": Case("", "v2", verb="calls"),
    "calls v1": Case("", "v1", verb="calls"),
    "calls recv": Case("", "recv", verb="calls"),
    "calls": Case("", "none", verb="calls"),
    "radio on 6": Case("mmap v3", verb="radio", options="-B 512 --channel 6"),
    "radio on 1": Case("mmap v3", verb="radio", options="-B 512 --channel 1"),
}


def of(*verbs):
    return [name for name, case in CASES.items() if case.verb in verbs]


def folder(name):
    return name.replace(" ", "-")


def played(interface="mon0"):
    """The frames sent to it, each as if it were whole."""
    if interface == "wlan0":
        return beacons()
    return [f._replace(orig_len=len(f.data)) for f in captures.frames(captures.BUNDLED)]


def write(folder_):
    for interface in ("mon0", "wlan0"):
        sent = played(interface)
        write_pcap(folder_ / f"{interface}.pcap", sent[0].linktype, sent)
