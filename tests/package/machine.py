# SPDX-License-Identifier: GPL-2.0
"""A VM whose first process is Debian 12's systemd. In: an unpacked kernel, a Debian in an image (both in the cache),
and a folder with a scenario. Out: the files that the scenario leaves there."""
import hashlib
import pathlib
import shutil
import subprocess

import debian
from netns import testbed
from vm import guest, kernels, machine

INIT = pathlib.Path(__file__).parent / "init"
MODULES = ("virtio_blk", "ext4", "autofs4", "veth", "sch_ingress", "cls_bpf")
# What the packages depend on, and systemd.
PACKAGES = ("systemd", "systemd-sysv", "iproute2", "procps", "ethtool", "libpcap0.8", "libbpf1", "libxdp1",
            "libnl-3-200", "libnl-genl-3-200", "libseccomp2", "libsodium23", "libmicrohttpd12", "librdkafka1", "curl")
SERVICE = """[Service]
ExecStart=/bin/bash /host/scenario
StandardOutput=file:/host/said
StandardError=inherit
ExecStopPost=/bin/systemctl poweroff
"""


def _make(folder):
    tree = folder / "tree"
    tried = []
    for uri in debian.mirrors("bookworm"):
        made = subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", "bookworm", tree,
                               uri], capture_output=True, text=True, check=False)
        if made.returncode == 0:
            break
        tried.append(f"{uri}: {made.stdout[-500:]}{made.stderr[-500:]}")
        shutil.rmtree(tree, ignore_errors=True)
    else:
        raise RuntimeError("cannot make a Debian 12:\n" + "\n".join(tried))
    (tree / "etc/machine-id").write_text("")
    (tree / "etc/fstab").write_text("")
    shutil.rmtree(tree / "var/cache/apt/archives")
    made = folder / "image"
    made.mkdir()
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", tree, made / "root.ext4", "1G"], check=True)
    return made


def image():
    """Debian's root in the cache. It is made again if the list of packages changes."""
    name = f"debian-12-{hashlib.sha256(' '.join(PACKAGES).encode()).hexdigest()[:12]}"
    kept = debian.CACHE / name
    if not kept.exists():
        with debian.workshop() as folder:
            kept = debian.keep(_make(folder), name)
    return kept / "root.ext4"


class Machine(guest.Guest):
    """`shared` is the list of files of /host, beside the scenario. The image stays as it is."""

    def __init__(self, folder, scenario, shared):
        tree, _ = kernels.tree("6.1")
        (folder / "out").mkdir(parents=True)
        shutil.copy(scenario, folder / "out/scenario")
        for path in shared:
            shutil.copy(path, folder / "out")
        base = machine.base(folder / "base", INIT, [testbed.ROOT / "build/saluki-swarm"])
        machine.own(folder / "own", tree, MODULES, {"scenario.service": SERVICE})
        initrd = folder / "initrd"
        initrd.write_bytes(base + guest.archive(folder / "own"))
        super().__init__("Debian 12", folder, [
            "qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "qemu64", "-smp", "2", "-m", "768",
            "-kernel", tree / "boot" / f"vmlinuz-{kernels.version(tree)}", "-initrd", initrd, "-append",
            f"console=ttyS0 quiet panic=-1 no_timer_check {machine.UNHARDENED}", "-nic", "none",
            "-drive", f"file={image()},format=raw,if=virtio,snapshot=on"])
