# SPDX-License-Identifier: GPL-2.0
"""The virtual AP70's kernel and shell, built from Debian's sources, as Debian no longer has
big-endian MIPS. In: kernel.config and busybox.config beside this file. Out: one file each in the
cache (packaging/debian.py). Its folder is named by version and a hash of the inputs, so a change
builds it again."""
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import debian

sys.path.append(str(pathlib.Path(debian.__file__).parent / "ap70"))
import fetch

HERE = pathlib.Path(__file__).parent
ZIG = debian.CACHE / f"zig-{fetch.ZIG}" / "zig"

# Debian's cross compiler only has libraries for MIPS32 release 2, which a kernel does not use.
KERNEL_MAKE = ("make", "-s", "ARCH=mips", "CROSS_COMPILE=mips-linux-gnu-")
BUSYBOX_MAKE = ("make", "-s", f"AR={ZIG} ar", "SKIP_STRIP=y",
                f"CC={ZIG} cc -target mips-linux-musleabi -mcpu=mips32 -msoft-float -s")
# Zig's linker does not write these reports.
BUSYBOX_NO_REPORTS = ("sed", "-i", "s/-Wl,--warn-common.*--verbose//", "scripts/trylink")


def _digest(config, *recipe):
    text = (HERE / config).read_text() + repr(recipe).replace(str(debian.CACHE), "")
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _build(commands, cwd):
    """Raises RuntimeError with the end of the output: then no other mirror is tried. A signal that
    ends us also ends make and its children, so that no file is written during the clean-up."""
    for command in commands:
        with subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True,
                              env={**os.environ, "LC_ALL": "C",
                                   "ZIG_GLOBAL_CACHE_DIR": str(debian.CACHE / "zig-cache")}) as p:
            try:
                said, _ = p.communicate()
            except BaseException:
                os.killpg(p.pid, signal.SIGKILL)
                raise
        if p.returncode:
            raise RuntimeError(f"{' '.join(command)}: {said[-4000:]}")


def _wanted(config):
    return re.findall(r"(?m)^CONFIG_\w+=y$", (HERE / config).read_text())


def _check(config, made):
    have = set(made.read_text().splitlines())
    missing = [line for line in _wanted(config) if line not in have]
    if missing:
        raise RuntimeError(f"{config}: these are missing from the result: {' '.join(missing)}")


def _keep(file, name):
    folder = file.parent / "kept"
    folder.mkdir()
    file.rename(folder / file.name)
    return debian.keep(folder, name)


# ---- the kernel ------------------------------------------------------------------------------------


def _make_kernel(apt, digest):
    apt.run("apt-get", "download", "-qq", "linux-source-6.1", timeout=300)
    package = next(apt.packages.glob("*.deb"))
    subprocess.run(["dpkg", "-x", package, apt.folder / "package"], check=True)
    archive = next((apt.folder / "package").rglob("linux-source-*.tar.xz"))
    subprocess.run(["tar", "-xJf", archive, "-C", apt.folder], check=True)
    tree = apt.folder / "linux-source-6.1"
    _build([(*KERNEL_MAKE, f"KCONFIG_ALLCONFIG={HERE}/kernel.config", "allnoconfig")], tree)
    _check("kernel.config", tree / ".config")
    _build([(*KERNEL_MAKE, f"-j{os.cpu_count()}", "vmlinux"),
            ("mips-linux-gnu-strip", "--strip-debug", "vmlinux")], tree)
    return _keep(tree / "vmlinux", f"ap70-linux-{package.name.split('_')[1]}-{digest}")


def kernel():
    digest = _digest("kernel.config", KERNEL_MAKE)
    there = sorted(debian.CACHE.glob(f"ap70-linux-*-{digest}"))
    folder = there[-1] if there else debian.fetch(
        "the AP70's kernel", ("bookworm-security", "bookworm"),
        lambda apt: _make_kernel(apt, digest))
    return folder / "vmlinux"


# ---- the shell -------------------------------------------------------------------------------------


def _configure_busybox(tree):
    """Its allnoconfig has no exceptions: the wanted options replace their "not set" lines."""
    _build([("make", "-s", "allnoconfig")], tree)
    wanted = _wanted("busybox.config")
    names = {line.partition("=")[0] for line in wanted}
    config = tree / ".config"
    lines = [line for line in config.read_text().splitlines()
             if not names & set(re.findall(r"CONFIG_\w+", line))]
    config.write_text("\n".join(lines + wanted) + "\n")
    _build([("sh", "-c", "yes '' | make -s oldconfig")], tree)
    _check("busybox.config", config)


def busybox():
    name = f"busybox-{fetch.SOURCES['busybox'][0]}"
    built = f"ap70-{name}-{_digest('busybox.config', BUSYBOX_MAKE, BUSYBOX_NO_REPORTS)}"
    if not (debian.CACHE / built).exists():
        fetch.zig()
        source = fetch.source("busybox")
        with debian.workshop() as folder:
            subprocess.run(["cp", "-r", source, folder], check=True)
            tree = folder / name
            _configure_busybox(tree)
            _build([BUSYBOX_NO_REPORTS, (*BUSYBOX_MAKE, f"-j{os.cpu_count()}", "busybox")], tree)
            _keep(tree / "busybox", built)
    return debian.CACHE / built / "busybox"


def both():
    """(kernel, busybox), and the seconds that building them took."""
    began = time.monotonic()
    return kernel(), busybox(), time.monotonic() - began
