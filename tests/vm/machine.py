# SPDX-License-Identifier: GPL-2.0
"""A VM that runs the cases it is given. Goes in: an unpacked kernel, the programs under test,
frames, and a list of cases (see init); comes out: a folder a case (guest.py)."""
import lzma
import pathlib
import re
import subprocess

from netns import testbed
from vm import cases, guest, kernels

MODULES = ("virtio_pci", "9pnet_virtio", "9p", "tun", "veth", "sch_ingress", "cls_bpf",
           "mac80211_hwsim")
PROGRAMS = [*(testbed.ROOT / "build" / p for p in ("saluki", "saluki-collector", "tests/play",
                                                   "tests/trim_run", "tests/filter_run")),
            *(pathlib.Path("/sbin") / p for p in ("ip", "ethtool", "iw"))]
INIT = pathlib.Path(__file__).parent / "init"


def _libraries(programs):
    out = subprocess.run(["ldd", *programs], check=True, capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(/\S+) \(0x", out)))


def common(root):
    """The part of the initial file system that is the same for every kernel, as an archive:
    busybox, the programs with their libraries, and the frames."""
    for name in ("bin", "sbin", "etc", "dev", "proc", "sys", "run", "tmp", "host", "modules",
                 "data"):
        (root / name).mkdir(parents=True)
    guest.install("/bin/busybox", root, "bin/busybox")
    for program in PROGRAMS:
        guest.install(program, root, f"bin/{program.name}")
    for library in _libraries(PROGRAMS):
        guest.install(library, root, library)
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    cases.write(root / "data")
    guest.install(INIT, root, "init")
    (root / "init").chmod(0o755)
    return guest.archive(root)


def _own(root, tree, lines):
    """The rest of it: the kernel's modules, and what is to be done."""
    (root / "modules").mkdir(parents=True)
    (root / "data").mkdir()
    for n, module in enumerate(kernels.modules(tree, MODULES)):
        content = module.read_bytes()
        if module.suffix == ".xz":
            content = lzma.decompress(content)
        (root / f"modules/{n:02}-{module.name.removesuffix('.xz')}").write_bytes(content)
    (root / "data/cases").write_text("".join(f"{line}\n" for line in lines))


class Machine(guest.Guest):
    """A kernel of Debian, and its cases."""

    def __init__(self, folder, tree, base, lines):
        folder.mkdir()
        version = kernels.version(tree)
        _own(folder / "own", tree, lines)
        # The kernel unpacks archives that follow one another.
        initrd = folder / "initrd"
        initrd.write_bytes(base + guest.archive(folder / "own"))
        # The two CPUs take turns, which is no slower for three VMs on two cores. With a thread for each,
        # QEMU 7.2 reads the code that it translates without a lock, so it can take from it what the
        # other CPU is replacing just then: once in some 30 VMs a kernel that patched a static key ran
        # into a breakpoint that was gone ("int3" in __netif_receive_skb_core). Not proved, but fitting.
        super().__init__(f"Linux {version}", folder, [
            "qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "max", "-smp", "2", "-m",
            "512", "-kernel", tree / "boot" / f"vmlinuz-{version}", "-initrd", initrd, "-append",
            "console=ttyS0 quiet panic=-1 ipv6.disable=1", "-nic", "none"])
