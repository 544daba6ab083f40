# SPDX-License-Identifier: GPL-2.0
"""A VM with a Debian kernel. In: an unpacked kernel (kernels.py), its modules, programs of this
machine with their libraries, an init, and files for its /data. Out: the init's output in /host
(guest.py)."""
import lzma
import os
import re
import subprocess

from vm import guest, kernels

# Needed by the VM to write to /host.
MODULES = ("virtio_pci", "9pnet_virtio", "9p")
# Hardening that costs an emulated kernel a sixth of its time. BPF and its verifier do not depend on it.
UNHARDENED = ("spectre_v2=off retbleed=off spec_rstack_overflow=off nopti init_on_alloc=0 hardened_usercopy=off "
              "randomize_kstack_offset=off no5lvl")


def _libraries(programs, folders):
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}
    out = subprocess.run(["ldd", *programs], check=True, capture_output=True, text=True,
                         env=env).stdout
    assert "not found" not in out, out
    return sorted(set(re.findall(r"(/\S+) \(0x", out)))


def base(root, init, programs, libraries=()):
    """A VM's base, as an archive: busybox, the programs in /bin with their libraries, searched in
    the folders `libraries` first, and the files already in `root`."""
    for name in ("bin", "sbin", "etc", "dev", "proc", "sys", "run", "tmp", "host", "modules",
                 "data"):
        (root / name).mkdir(parents=True, exist_ok=True)
    guest.install("/bin/busybox", root, "bin/busybox")
    for program in programs:
        guest.install(program, root, f"bin/{program.name}")
    for library in _libraries(programs, libraries):
        strange = any(library.startswith(str(folder)) for folder in libraries)
        guest.install(library, root,
                      f"usr/lib/{os.path.basename(library)}" if strange else library)
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    guest.install(init, root, "init")
    (root / "init").chmod(0o755)
    return guest.archive(root)


def own(root, tree, modules, files):
    """The rest: the kernel's modules, and further files of /data."""
    (root / "modules").mkdir(parents=True)
    (root / "data").mkdir()
    for n, module in enumerate(kernels.modules(tree, (*MODULES, *modules))):
        content = module.read_bytes()
        if module.suffix == ".xz":
            content = lzma.decompress(content)
        (root / f"modules/{n:02}-{module.name.removesuffix('.xz')}").write_bytes(content)
    for name, text in files.items():
        (root / "data" / name).write_text(text)


class Machine(guest.Guest):
    """`files` are those of /data by name; `base_` is the result of base()."""

    def __init__(self, folder, tree, base_, modules, files, cpus=2, append=""):
        folder.mkdir()
        version = kernels.version(tree)
        own(folder / "own", tree, modules, files)
        # The kernel unpacks concatenated archives.
        initrd = folder / "initrd"
        initrd.write_bytes(base_ + guest.archive(folder / "own"))
        # The CPUs take turns, which is no slower for three VMs on two cores. With a thread for
        # each, QEMU 7.2 reads the code to translate without a lock, while another CPU may be
        # replacing it. Once in some 30 VMs, a kernel that patched a static key hit a breakpoint
        # that was gone ("int3" in __netif_receive_skb_core). This explanation fits, but is not
        # proved.
        # With more than the oldest instructions (-cpu max), libraries would use those that are emulated most
        # slowly: a quarter of the VM's time.
        super().__init__(f"Linux {version}", folder, [
            "qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "qemu64", "-smp", str(cpus),
            "-m", "512", "-kernel", tree / "boot" / f"vmlinuz-{version}", "-initrd", initrd,
            "-append", f"console=ttyS0 quiet panic=-1 no_timer_check ipv6.disable=1 {UNHARDENED} {append}",
            "-nic", "none"])
