# SPDX-License-Identifier: GPL-2.0
"""Debian's kernels, unpacked from their packages, not installed. In: the name of a row of KERNELS.
Out: the folder of its tree, in the cache (packaging/debian.py)."""
import pathlib
import re
import shutil
import subprocess
import time

import debian
from debian import CACHE, output

# A kernel's release, and the Debian suites that have it, the first to ask first.
KERNELS = {
    "5.10": ("bullseye-security", "bullseye"),
    "6.1": ("bookworm-security", "bookworm"),
    "6.12": ("bookworm-backports", "trixie"),
}


def _download(apt):
    """Downloads the package behind linux-image-amd64; returns its path."""
    depends = apt.run("apt-cache", "depends", "--important", "linux-image-amd64")
    apt.run("apt-get", "download", "-qq", re.search(r"Depends: (\S+)", depends)[1], timeout=300)
    return next(apt.packages.glob("*.deb"))


def _unpack(package, name):
    """The tree appears in the cache at once and whole."""
    tree = package.parent / "tree"
    subprocess.run(["dpkg", "-x", package, tree], check=True)
    if not (tree / "lib/modules").exists():  # all under /usr
        (tree / "lib").symlink_to("usr/lib")
    shutil.rmtree(tree / "usr/share", ignore_errors=True)
    output("depmod", "-b", tree, version(tree))
    assert version(tree).startswith(name), f"{package.name}: this is not Linux {name}"
    return debian.keep(tree, package.name.partition("_")[0])


def version(tree):
    return next((tree / "lib/modules").iterdir()).name


def tree(name):
    """The unpacked kernel, fetched if needed, and the seconds this took (0: it was there)."""
    began = time.monotonic()
    there = sorted(CACHE.glob(f"linux-image-{name}.*"))
    if there:
        return there[-1], 0
    fetched = debian.fetch(f"Linux {name}", KERNELS[name], lambda apt: _unpack(_download(apt), name))
    return fetched, time.monotonic() - began


def modules(tree_, names):
    """The modules behind `names`, in the order of loading."""
    if not (tree_ / "lib/modules" / version(tree_) / "modules.dep.bin").exists():
        output("depmod", "-b", tree_, version(tree_))
    lines = output("modprobe", "-C", "/dev/null", "-d", tree_, "-S", version(tree_),
                   "--show-depends", "-a", *names).splitlines()
    return list(dict.fromkeys(pathlib.Path(line.split()[1]) for line in lines
                              if line.startswith("insmod")))
