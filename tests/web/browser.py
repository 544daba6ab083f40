# SPDX-License-Identifier: GPL-2.0
"""Debian's Chromium without windows, unpacked with its libraries and a font, not installed, in the cache
(packaging/debian.py); and pages in it, within a test's namespace."""
import os
import re
import shlex
import shutil
import subprocess

from playwright.sync_api import sync_playwright

import debian
from debian import CACHE

PACKAGE = "chromium-headless-shell"
SUITE = "bookworm"
# The machine has the C library; programs that the closure's packages bring along are not needed.
LEFT_OUT = ("libc6", "debconf", "sysvinit-utils", "lsb-base", "libllvm15", "libgl1-mesa-dri", "x11-utils", "xdg-utils")
SCRIPT = """#!/bin/sh
tree=$(dirname "$(realpath "$0")")
lib=$tree/usr/lib/x86_64-linux-gnu # libpulse looks for a part of it in the machine's own folder
export LD_LIBRARY_PATH=$lib:$lib/pulseaudio:$tree/lib/x86_64-linux-gnu
export FONTCONFIG_FILE=$tree/fonts.conf
exec $tree/usr/lib/chromium/chromium-headless-shell "$@"
"""
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
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
    """A script that runs it."""
    there = sorted(CACHE.glob(f"{PACKAGE}-*"))
    tree = there[-1] if there else debian.fetch("Chromium", [SUITE], lambda apt: _unpack(_packages(apt)))
    return tree / "run"


class Page:
    """A page in a namespace's browser. Notes what it says in its console, and requests elsewhere, which are refused."""

    def __init__(self, bed, address, **settings):
        script = bed.tmp_path / "chromium"
        script.write_text(f"#!/bin/sh\nexec {shlex.join(bed.ns.command([program()]))} \"$@\"\n", encoding="utf-8")
        script.chmod(0o755)
        # With a home of its own, as it writes there.
        chromium = bed.stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=script, args=["--no-sandbox"], env={**os.environ, "XDG_CACHE_HOME": str(bed.tmp_path)})
        bed.stack.callback(chromium.close)
        settings = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", "timezone_id": "UTC", **settings}
        context = chromium.new_context(**settings)
        self.said, self.elsewhere, self.address = [], [], address
        context.route("**/*", self._route)
        self.page = context.new_page()
        self.page.on("console", lambda m: self.said.append(m.text))
        self.page.on("pageerror", lambda e: self.said.append(str(e)))
        self.page.set_default_timeout(20000)

    def _route(self, route):
        if route.request.url.startswith(self.address + "/"):
            route.continue_()
        else:
            self.elsewhere.append(route.request.url)
            route.abort()

    def open(self, rest=""):
        self.page.goto(f"{self.address}/{rest}")
        return self.page

    def square(self, name):
        return self.page.locator(f'#squares a[href="#sensor={name}"]')
