# SPDX-License-Identifier: GPL-2.0
"""A VM under software emulation that runs the cases it is given and powers itself off. Goes in: an
unpacked kernel, the programs under test, frames, and a list of cases (see init); comes out: a
folder a case, which the guest writes over 9p, and the console."""
import lzma
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from netns import testbed
from vm import cases, kernels

MODULES = ("virtio_pci", "9pnet_virtio", "9p", "tun", "veth", "sch_ingress", "cls_bpf",
           "mac80211_hwsim")
PROGRAMS = [testbed.ROOT / f"build/{p}" for p in ("saluki", "saluki-collector", "tests/play", "tests/trim_run",
                                                  "tests/filter_run")] + [pathlib.Path("/sbin") / p for p in ("ip", "ethtool", "iw")]
INIT = pathlib.Path(__file__).parent / "init"
CONSOLE_LINES = 60


def _libraries(programs):
    out = subprocess.run(["ldd", *programs], check=True, capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(/\S+) \(0x", out)))


def _install(source, root, name):
    target = root / name.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def _archive(root):
    return subprocess.run("find . | cpio --quiet -o -H newc", shell=True, cwd=root, check=True,
                          capture_output=True).stdout


def common(root):
    """The part of the initial file system that is the same for every kernel, as an archive:
    busybox, the programs with their libraries, and the frames."""
    for name in ("bin", "sbin", "etc", "dev", "proc", "sys", "run", "tmp", "host", "modules",
                 "data"):
        (root / name).mkdir(parents=True)
    _install("/bin/busybox", root, "bin/busybox")
    for program in PROGRAMS:
        _install(program, root, f"bin/{program.name}")
    for library in _libraries(PROGRAMS):
        _install(library, root, library)
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    cases.write(root / "data")
    _install(INIT, root, "init")
    (root / "init").chmod(0o755)
    return _archive(root)


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


class Machine:
    """One VM, from its start to the moment when it has powered itself off."""

    def __init__(self, folder, tree, base, lines):
        self.version = kernels.version(tree)
        self.console = folder / "console"
        self.out = folder / "out"
        self.out.mkdir(parents=True)
        _own(folder / "own", tree, lines)
        # The kernel unpacks archives that follow one another.
        initrd = folder / "initrd"
        initrd.write_bytes(base + _archive(folder / "own"))
        self.began = time.monotonic()
        self.seconds = None
        with self.console.open("wb") as console:
            self.popen = subprocess.Popen(
                ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2",
                 "-m", "512", "-nographic", "-no-reboot", "-kernel",
                 tree / "boot" / f"vmlinuz-{self.version}", "-initrd", initrd, "-append",
                 "console=ttyS0 quiet panic=-1 ipv6.disable=1", "-nic", "none", "-virtfs",
                 f"local,path={self.out},mount_tag=out,security_model=none"],
                stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT,
                preexec_fn=testbed._die_with_parent)

    def finish(self, seconds):
        """Waits for the end, at most so long after the start; a VM that hangs is ended. Returns
        what went wrong, with the end of the console, or None."""
        if self.seconds is None:
            try:
                self.popen.wait(max(0, self.began + seconds - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.end()
            self.seconds = time.monotonic() - self.began
        if (self.out / "done").exists():
            return None
        lines = self.console.read_text(errors="replace").replace("\r", "").splitlines()
        how = "hung, and was ended" if self.popen.returncode == -signal.SIGKILL else "ended early"
        return "\n".join([f"Linux {self.version}: the VM {how}; its console:",
                          *lines[-CONSOLE_LINES:]])

    def end(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()

