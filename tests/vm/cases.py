# SPDX-License-Identifier: GPL-2.0
"""The table of cases: what is done on which kernel, with the expected results. A row of RUNS is a
sensor and a collector in a VM, with frames played in between; a row of TRIMS is the capture program
alone."""
import dataclasses
import itertools
import random
import shutil
import struct

from bpf import filters, holes
from netns import testbed
from netns.testbed import ROOT
from reference import captures, shapes
from reference.test_reference import write_pcap


@dataclasses.dataclass(frozen=True)
class Run:
    interface: str  # mon0 or tap0, see init
    options: str
    by: str  # the source that captures; "": none, and the run fails
    said: tuple = ()  # each a tuple of words of one line
    kernel: str = "with_all"  # or the feature it lacks: see init
    verb: str = "run"  # or killed, attached: see init


NO_DRIVER = ("xdp native refused", "the driver does not support it")
# bpf_xdp_load_bytes came with Linux 5.18, arrays of some MiB with 6.0.
NO_XDP = (("xdp native refused", "a BPF feature it lacks"),
          ("xdp generic refused", "a BPF feature it lacks"))
NO_TC = ("tc refused", "sch_ingress and cls_bpf")
TAKES_OVER = ("takes over",)
# The VMs' 512 MiB are too few for two mapped rings of 4 MiB by default, and enough for 1 MiB. Linux before 5.12 takes no
# exchange.
BPF, BPF_SMALL, MAPPED_SMALL = (("ring bpf 4096 KiB",), ("ring bpf 1024 KiB",),
                                ("ring mapped 1024 KiB for each CPU",))
NO_LARGE_ARRAY = ("no mapped ring of 4096 KiB", "smaller -B", "--ring bpf")

# AF_XDP's program needs neither.
XSK = {
    "xsk": Run("mon0", "--source xsk", "xsk copy generic", (NO_DRIVER,)),
    "xsk wired": Run("tap0", "--source xsk", "xsk copy native"),
}

# Filters that check every frame and take it.
TAKES_ALL, TAKES_ALL_WIRED = "not wlan host 02:00:00:00:09:09", "not host 203.0.113.5"
FILTER = ("filter 'not ",)

NEW = {
    **XSK,
    "auto": Run("mon0", "", "xdp generic", (NO_DRIVER, BPF)),
    "auto wired": Run("tap0", "-B 1024", "xdp native", (MAPPED_SMALL,)),
    "tc": Run("mon0", "--source tc", "tc"),
    "tc wired": Run("tap0", "--source tc", "tc"),
    "mapped": Run("mon0", "--ring mapped", "xdp generic", (NO_DRIVER,)),
    "mapped wired": Run("tap0", "--ring mapped", "xdp native"),
    "mapped tc": Run("mon0", "--ring mapped --source tc", "tc"),
    "killed": Run("mon0", "", "xdp generic", (TAKES_OVER,), verb="killed"),
    "killed wired": Run("tap0", "--ring mapped", "xdp native", (TAKES_OVER,), verb="killed"),
    "killed tc": Run("mon0", "--source tc", "tc", (TAKES_OVER,), verb="killed"),
    "attached": Run("tap0", "", "xdp native", (TAKES_OVER,), verb="attached"),
    "attached tc": Run("tap0", "--source tc", "tc", (TAKES_OVER,), verb="attached"),
    "filter": Run("mon0", TAKES_ALL, "xdp generic", (FILTER,)),
    "filter wired": Run("tap0", TAKES_ALL_WIRED, "xdp native", (FILTER,)),
    "filter tc": Run("tap0", f"--source tc {TAKES_ALL_WIRED}", "tc", (FILTER,)),
    "no BTF": Run("mon0", TAKES_ALL, "xdp generic", (FILTER,), kernel="no_btf"),
    "mmap": Run("mon0", f"--source mmap {TAKES_ALL}", "mmap v3", (FILTER,)),
    "mmap wired": Run("tap0", "--source mmap", "mmap v3"),
    "no tc": Run("mon0", "--source tc", "", (NO_TC,), "no_tc"),
}

OLD = {
    **XSK,
    "auto": Run("mon0", "", "tc", (*NO_XDP, BPF)),
    "auto wired": Run("tap0", "-B 1024", "tc", (*NO_XDP, BPF_SMALL)),
    "xdp": Run("mon0", "--source xdp", "", NO_XDP),
    "mapped": Run("mon0", "--ring mapped --source tc -B 1024", "tc"),
    "mapped, large": Run("mon0", "--ring mapped --source tc", "", (NO_LARGE_ARRAY,)),
    "killed": Run("mon0", "", "tc", (TAKES_OVER,), verb="killed"),
    "attached": Run("tap0", "", "tc", (*NO_XDP, TAKES_OVER), verb="attached"),
    "filter": Run("mon0", TAKES_ALL, "tc", (FILTER,)),
    "filter wired": Run("tap0", TAKES_ALL_WIRED, "tc", (FILTER,)),
    "no BTF": Run("mon0", TAKES_ALL, "tc", (FILTER,), kernel="no_btf"),
    "no tc": Run("mon0", "", "mmap v3", (*NO_XDP, NO_TC), "no_tc"),
    "no tc wired": Run("tap0", "", "mmap v3", (*NO_XDP, NO_TC), "no_tc"),
    "mmap": Run("mon0", "--source mmap", "mmap v3"),
    "mmap wired": Run("tap0", f"--source mmap {TAKES_ALL_WIRED}", "mmap v3", (FILTER,)),
}

# Since Linux 6.6 tc programs are attached by links, for which no module is needed.
NEWEST = {**NEW, "no tc": Run("mon0", "--source tc", "tc", kernel="no_tc")}

RUNS = {"5.10": OLD, "6.1": NEW, "6.12": NEWEST}

# Machines booted differently from Debian's: the kernel, and additions to its command line.
UNGUARDED = "6.12-unguarded"
BOOTED = {UNGUARDED: ("6.12", "mitigations=off")}


@dataclasses.dataclass(frozen=True)
class Radio:
    """A sensor on wlan0, on one channel, while another radio sends on channel 6."""
    verb: str  # see init
    options: str
    heard: bool = True  # None: by a station, which hears any frames
    said: tuple = ()  # words of one line, if it does not start, or is not heard


# The same on every kernel.
RADIOS = {
    "radio on 6": Radio("run", "wlan0 --channel 6"),
    "radio on 1": Radio("run", "wlan0 --channel 1", heard=False),
    "radio away": Radio("away", "wlan0 --channel 6 --source mmap"),
    "radio down": Radio("refused", "down -i wlan0 --channel 6",
                        said=("wlan0: cannot set channel 6", "the interface must be up")),
    "radio without": Radio("refused", "up -i wlan0 --channel 15",
                           said=("wlan0: cannot set channel 15", "does not have this channel")),
    "radio none": Radio("refused", "up --channel 6 -i wlan0 -i tap0",
                        said=("tap0: cannot set channel 6", "not an 802.11 monitor interface")),
    "radio station": Radio("station", "up -i wlan0 --channel 6",
                           said=("wlan0: cannot set channel 6", "it is wired, or a station")),
    "radio shared": Radio("shared", "up -i wlan0 --channel 1 -i second --channel 6",
                          said=("wlan0: is on channel 6 and not on 1", "shares its radio")),
    "radio lost": Radio("lost", "wlan0 --channel 6 --source mmap", heard=None,
                        said=("wlan0: cannot set channel 6", "it is wired, or a station")),
}

# Modules that see and report each frame: a row of RUNS with the verb "module".
MODULES = {
    "5.10": {"module": Run("tap0", "--source tc", "tc", verb="module"),
             "module mapped": Run("tap0", "--ring mapped --source tc -B 1024", "tc", verb="module")},
    "6.1": {"module": Run("tap0", "", "xdp native", verb="module"),
            "module mapped": Run("mon0", "--ring mapped", "xdp generic", verb="module")},
    "6.12": {"module": Run("tap0", "", "xdp native", verb="module"),
             "module mapped tc": Run("mon0", "--ring mapped --source tc", "tc", verb="module")},
    UNGUARDED: {"module": Run("tap0", "", "xdp native", verb="module")},
}

# Random programs for the oracle (tests/bpf/flow_kernel.c): seeds, and programs per seed. A quarter
# can be compared. 20,000 take half a minute. A planted hole must show within UNTIL_FOUND.
SEEDS, PROGRAMS, UNTIL_FOUND = (1,), 20000, 35000
# From tests/modules: modules that the kernel's verifier refuses, that the policy refuses, and that
# flow.c refuses.
HOSTILE = ("past_view", "past_payload", "view_kept", "endless", "kernel_read", "address_said", "map_followed")
# Linux 5.10 refuses an exchange in one step.
REFUSED = {"5.10": {"lrd"}}

LINKTYPES = (1, 105, 119, 127)
TRIMS = {kernel: [(hook, str(linktype)) for hook in hooks for linktype in LINKTYPES]
         for kernel, hooks in {"5.10": ("tc", "tc-mapped"), "6.1": ("xdp", "tc", "xdp-mapped"),
                               "6.12": ("xdp", "tc", "xdp-mapped")}.items()}


def folder(name):
    return name.replace(" ", "-").replace(",", "")


def unguarded():
    """On a kernel that proves modules: its verdicts, and whether flow.c misses anything."""
    yield "with_all check check proved.conf"
    yield "with_all proof proof tap0"
    for seed in SEEDS:
        yield f"with_all oracle oracle.{seed} flow_kernel {seed} {PROGRAMS}"
    for n in range(len(holes.HOLES)):
        yield f"with_all oracle hole.{n} /data/holes/hole{n} 1 {UNTIL_FOUND}"
    for name, r in MODULES[UNGUARDED].items():
        yield f"{r.kernel} {r.verb} {folder(name)} {r.interface} {r.options}"


def lines(kernel):
    """The guest's list of tasks."""
    if kernel == UNGUARDED:
        yield from unguarded()
        return
    yield "with_all probe probe tap0"
    yield "with_all filter filter"
    for hook, linktype in TRIMS[kernel]:
        yield f"with_all trim {hook}.{linktype} {hook} {linktype}"
    yield "with_all check check modules.conf"
    yield "with_all proof proof tap0"
    for name, r in (RUNS[kernel] | MODULES[kernel]).items():
        yield f"{r.kernel} {r.verb} {folder(name)} {r.interface} {r.options}"
    for name, r in RADIOS.items():
        yield f"with_radios {r.verb} {folder(name)} {r.options}"


# ---- frames ----------------------------------------------------------------------------------------


def shaped(linktype):
    """Frames of every shape for the capture program."""
    return [f for _, link, f in shapes.whole() if link == linktype and 60 <= len(f) < 3400]


def played(interface):
    """The frames played to the interface: the bundled trace, or Ethernet frames that fit a usual
    MTU."""
    if interface == "mon0":
        return [f._replace(orig_len=len(f.data)) for f in captures.frames(captures.BUNDLED)]
    return [captures.Frame(0, len(f), 1, f) for f in shaped(1) if len(f) <= 1514]


def beacons():
    """The other radio's frames: never acknowledged, each with its own name."""
    def one(n):
        return (bytes([0, 0, 8, 0, 0, 0, 0, 0, 0x80, 0, 0, 0]) + b"\xff" * 6 +
                bytes.fromhex("020000000909") * 2 + bytes(2 + 8) + b"\x64\0\x01\0\0\x08" +
                b"beacon%02d" % n)
    return [captures.Frame(0, len(f), 127, f) for f in map(one, range(50))]


def modules():
    """Objects to check: the shipped ones, and the hostile."""
    own = [p.parent.name for p in (ROOT / "bpf/modules").glob("*/*.bpf.c")]
    return ([ROOT / f"build/modules/{name}.o" for name in own],
            [ROOT / f"build/tests/modules/{name}.bpf.o" for name in HOSTILE])


def write_modules(folder_):
    for name in ("modules", "holes"):
        (folder_ / name).mkdir()
    for name in holes.HOLES:
        holes.build(name, folder_ / "holes")
    for path in itertools.chain(*modules()):
        shutil.copy(path, folder_ / "modules")
    shutil.copy(testbed.module_object("each"), folder_ / "each.o")


def filtered():
    """Some of the filters and frames of tests/bpf/test_filter.py: (frames, filters)."""
    frames = [(f.linktype, f.data) for f in list(captures.frames(captures.BUNDLED))[::10]]
    frames += [(1, f) for f in shaped(1)[::4]]
    chosen = filters.chosen(frames)
    return frames, chosen[::12] + list(filters.long_lists(random.Random(5)))


def write(folder_):
    """The files that every guest has as /data."""
    folder_.mkdir(parents=True)
    write_modules(folder_)
    frames, chosen = filtered()
    filters.write_frames(folder_ / "frames", frames)
    filters.write_filters(folder_ / "filters", chosen)
    for interface in ("mon0", "tap0", "wlan0"):
        sent = beacons() if interface == "wlan0" else played(interface)
        write_pcap(folder_ / f"{interface}.pcap", sent[0].linktype, sent)
    for linktype in LINKTYPES:
        (folder_ / f"in.{linktype}").write_bytes(
            b"".join(struct.pack("<I", len(f)) + f for f in shaped(linktype)))
