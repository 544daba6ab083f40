# SPDX-License-Identifier: GPL-2.0
"""hostapd, wpa_supplicant and the radio rules by country, unpacked from Debian's packages, as
installing them would start services. Out: a folder of the cache (packaging/debian.py)."""
import hashlib
import subprocess
import time

import debian

# With libraries that may be missing on a machine with only the Makefile's packages.
PACKAGES = ("hostapd", "wpasupplicant", "wireless-regdb", "libnl-3-200", "libnl-genl-3-200",
            "libnl-route-3-200", "libssl3", "libdbus-1-3", "libpcsclite1", "libreadline8")
SUITES = ("bookworm-security", "bookworm")
PROGRAMS = ("usr/sbin/hostapd", "sbin/wpa_supplicant")
LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
# The kernel has Debian's key.
RULES = {f"lib/firmware/{name}": f"lib/firmware/{name}-debian"
         for name in ("regulatory.db", "regulatory.db.p7s")}


def _unpack(apt, name):
    apt.run("apt-get", "download", "-qq", *PACKAGES, timeout=300)
    tree = apt.folder / "tree"
    for package in apt.packages.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, tree], check=True)
    for file in (*PROGRAMS, *RULES.values()):
        assert (tree / file).exists(), file
    return debian.keep(tree, name)


def tree():
    """The folder, fetched if needed, and the seconds this took (0: it was there)."""
    began = time.monotonic()
    name = "wifi-" + hashlib.sha256(repr((PACKAGES, SUITES)).encode()).hexdigest()[:12]
    if (debian.CACHE / name).exists():
        return debian.CACHE / name, 0
    made = debian.fetch("hostapd and wpa_supplicant", SUITES, lambda apt: _unpack(apt, name))
    return made, time.monotonic() - began
