# SPDX-License-Identifier: GPL-2.0
"""Prometheus and nginx, unpacked from Debian's packages, as installing them would start services. Out: a folder of
the cache (packaging/debian.py)."""
import hashlib
import subprocess

import debian

SUITES = ("bookworm-security", "bookworm")
# name: packages, with libraries that may be missing; programs
NEEDED = {
    "prometheus": (("prometheus",), ("usr/bin/prometheus", "usr/bin/promtool")),
    "nginx": (("nginx", "libpcre2-8-0", "libssl3", "libcrypt1"), ("usr/sbin/nginx",)),
}


def _unpack(apt, packages, programs, name):
    apt.run("apt-get", "download", "-qq", *packages, timeout=300)
    tree = apt.folder / "tree"
    for package in apt.packages.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, tree], check=True)
    for program in programs:
        assert (tree / program).exists(), program
    return debian.keep(tree, name)


def tree(what):
    packages, programs = NEEDED[what]
    name = f"{what}-" + hashlib.sha256(repr((packages, SUITES)).encode()).hexdigest()[:12]
    if (debian.CACHE / name).exists():
        return debian.CACHE / name
    return debian.fetch(what, SUITES, lambda apt: _unpack(apt, packages, programs, name))
