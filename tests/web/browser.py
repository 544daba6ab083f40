# SPDX-License-Identifier: GPL-2.0
"""Debian's Chromium without windows, unpacked with its libraries and a font, not installed. Out: the path of a script
that runs it, in the cache (packaging/debian.py)."""
import re
import shutil
import subprocess

import debian
from debian import CACHE

PACKAGE = "chromium-headless-shell"
SUITE = "bookworm"
# The machine has the C library; programs that the closure's packages bring along are not needed.
LEFT_OUT = ("libc6", "debconf", "sysvinit-utils", "lsb-base", "libllvm15", "libgl1-mesa-dri", "x11-utils", "xdg-utils")
SCRIPT = """#!/bin/sh
tree=$(dirname "$(realpath "$0")")
export LD_LIBRARY_PATH=$tree/usr/lib/x86_64-linux-gnu:$tree/lib/x86_64-linux-gnu
export FONTCONFIG_FILE=$tree/fonts.conf
exec $tree/usr/lib/chromium/chromium-headless-shell "$@"
"""
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">usr/share/fonts</dir><cachedir prefix="relative">cache</cachedir></fontconfig>
"""


def _packages(apt):
    """Downloads the package, and those that it needs; returns their paths."""
    plan = apt.run("apt-get", "install", "-s", "--no-install-recommends", PACKAGE)
    names = [n for n in re.findall(r"(?m)^Inst (\S+)", plan) if n not in LEFT_OUT]
    apt.run("apt-get", "download", "-qq", *names, timeout=600)
    return sorted(apt.packages.glob("*.deb"))


def _unpack(packages):
    """The tree appears in the cache at once and whole."""
    tree = packages[0].parent / "tree"
    for package in packages:
        subprocess.run(["dpkg", "-x", package, tree], check=True)
    for folder in ("doc", "man", "locale", "icons", "info"):
        shutil.rmtree(tree / "usr/share" / folder, ignore_errors=True)
    (tree / "fonts.conf").write_text(FONTS, encoding="utf-8")
    (tree / "run").write_text(SCRIPT, encoding="utf-8")
    (tree / "run").chmod(0o755)
    version = next(p.name for p in packages if p.name.startswith(PACKAGE)).split("_")[1]
    return debian.keep(tree, f"{PACKAGE}-{version}")


def program():
    there = sorted(CACHE.glob(f"{PACKAGE}-*"))
    tree = there[-1] if there else debian.fetch("Chromium", [SUITE], lambda apt: _unpack(_packages(apt)))
    return tree / "run"
