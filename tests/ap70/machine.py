# SPDX-License-Identifier: GPL-2.0
"""The virtual AP70: QEMU's malta with a 4Kc and 28 MiB, in a network namespace whose one cable
leads to its card. In: a namespace, programs and other files for its folder /host. Out: the files
its init has written there (vm/guest.py). Its clock starts in 1970: an AP70 has no clock."""
from netns import testbed
from vm import guest

BUILD = testbed.ROOT / "build/ap70/mips"
CABLE = "ap70"
HOST, SELF = "10.0.0.1", "10.0.0.2"  # see init
MEMORY_MIB = 28

# Neither the emulator's firmware nor Linux makes the board treat interrupts as level-triggered, as
# PCI's are. If two cards share one, a request during the other's service is lost. The network card
# has 10, as do slots 18 and 19 (arch/mips/pci/fixup-malta.c); this slot, 20, has 11.
SLOT = "0x14"


def _initrd(busybox, init, root):
    """A shell and its first files, as an archive."""
    for name in ("dev", "proc", "sys", "run", "tmp", "host", "etc", "sbin"):
        (root / name).mkdir(parents=True)
    guest.install(busybox, root, "bin/busybox")
    guest.install(init, root, "init")
    (root / "init").chmod(0o755)
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    return guest.archive(root)


def plug_in(ns):
    """The namespace's end of the card's cable, a guest's only way out."""
    ns.run("ip", "tuntap", "add", CABLE, "mode", "tap")
    ns.run("ip", "address", "add", f"{HOST}/24", "dev", CABLE)
    ns.run("ip", "link", "set", CABLE, "up")


class Ap70(guest.Guest):
    """`folder/out` becomes /host: the guest's files must be there. With one channel each its radios
    would hear the others' too."""

    def __init__(self, folder, ns, kernel, busybox, init, programs, options=(), radios=0):
        for program in programs:
            guest.install(program, folder / "out", f"bin/{program.name}")
        initrd = folder / "initrd"
        initrd.write_bytes(_initrd(busybox, init, folder / "root"))
        super().__init__("the virtual AP70", folder, ns.command([
            "qemu-system-mips", "-M", "malta", "-cpu", "4Kc", "-m", MEMORY_MIB, "-kernel", kernel,
            "-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1 "
            f"mac80211_hwsim.radios={radios} mac80211_hwsim.channels=2", "-rtc",
            "base=1970-01-01", "-vga", "none", "-nic",
            f"tap,model=pcnet,ifname={CABLE},script=no,downscript=no", *options]), SLOT)
