# SPDX-License-Identifier: GPL-2.0
"""Debian's kernels, unpacked from their packages, not installed. Goes in: the name of a row of
KERNELS; comes out: the folder of its tree. Trees stay in ${SALUKI_CACHE:-~/.cache/saluki}. A kernel
that is there is not asked for again: remove its folder to have a newer one.

The user's apt is asked which mirror it has, and left alone: lists, cache and sources of what is
fetched here are in a folder that is removed afterwards."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

CACHE = pathlib.Path(os.environ.get("SALUKI_CACHE") or pathlib.Path.home() / ".cache/saluki")

# The release of a kernel, and Debian's suites that have it, the one to be asked first in front.
KERNELS = {
    "5.10": ("bullseye-security", "bullseye"),
    "6.1": ("bookworm-security", "bookworm"),
    "6.12": ("bookworm-backports", "trixie"),
}

# Where Debian says that it is, for a machine whose sources name no mirror of it.
DEBIAN = "http://deb.debian.org"


def _output(*args, **kwargs):
    return subprocess.run([str(a) for a in args], check=True, capture_output=True, text=True,
                          **kwargs).stdout


def _signed_by(path, uri):
    """The keys by which the user's sources let `uri` be signed, as written there; '' if none are
    named. A file of sources has paragraphs (deb822), one of the older form has lines."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    old = path.endswith(".list")
    for part in text.splitlines() if old else re.split(r"\n\s*\n", text):
        if uri.rstrip("/") in part and not part.startswith("#"):
            found = re.search(r"signed-by=([^\]\s]+)" if old
                              else r"(?im)^Signed-By:(.*(?:\n[ \t].*)*)", part)
            return found[1].strip() if found else ""
    return ""


def _sources(*options):
    """(origin, release, address, file:number) of the main components that the user's apt has."""
    out = _output("apt-get", "indextargets", *options, "--format",
                  "$(ORIGIN)|$(RELEASE)|$(REPO_URI)|$(SOURCESENTRY)", "Created-By: Packages",
                  "Component: main")
    return [row.split("|") for row in out.splitlines()]


def mirrors(suite):
    """The places to ask for a suite, as {address: keys}: what the user's apt has for Debian itself,
    or for its security updates, and Debian's own."""
    security = suite.endswith("-security")
    end = "/debian-security" if security else "/debian"
    rows = [r for r in _sources() if r[0] == "Debian"]
    if not rows:  # without lists apt does not know whose a source is: the path has to tell
        rows = [r for r in _sources("--no-release-info") if r[2].rstrip("/").endswith(end)]
    found = {uri.rstrip("/"): _signed_by(entry.rpartition(":")[0], uri)
             for _, release, uri, entry in rows if release.endswith("-security") == security}
    found.setdefault(DEBIAN + end, "")
    return found


class Apt:
    """apt with a list of one suite, and everything it writes in a folder of its own."""

    def __init__(self, folder, uri, keys, suite):
        self.folder = pathlib.Path(folder)
        for name in ("sources", "state", "lists/partial", "cache/archives/partial", "packages"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "sources/debian.sources").write_text(
            f"Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\nArchitectures: amd64\n"
            f"Targets: Packages\n" + (f"Signed-By: {keys}\n" if keys else ""), encoding="utf-8")
        settings = {
            "Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": self.folder / "sources",
            "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
            "Dir::State": self.folder / "state", "Dir::State::lists": self.folder / "lists",
            "Dir::State::status": "/dev/null", "Dir::Cache": self.folder / "cache",
            "APT::Sandbox::User": "root", "APT::Architecture": "amd64",
            "Acquire::http::Timeout": "30", "Acquire::https::Timeout": "30",
            # What is not updated any more is what an old kernel is; it is signed all the same.
            "Acquire::Check-Valid-Until": "false",
        }
        self.settings = [f"-o{name}={value}" for name, value in settings.items()]

    def run(self, program, *args, timeout=60):
        return _output(program, *self.settings, *args, timeout=timeout, cwd=self.folder /
                       "packages", env={**os.environ, "LC_ALL": "C"})

    def kernel(self):
        """Downloads the package that linux-image-amd64 stands for; returns its path."""
        self.run("apt-get", "update", "-qq", "--error-on=any", timeout=120)
        depends = self.run("apt-cache", "depends", "--important", "linux-image-amd64")
        package = re.search(r"Depends: (\S+)", depends)[1]
        self.run("apt-get", "download", "-qq", package, timeout=300)
        return next((self.folder / "packages").glob("*.deb"))


def _unpack(package, name):
    """The tree appears in the cache at once and whole."""
    tree = package.parent / "tree"
    subprocess.run(["dpkg", "-x", package, tree], check=True)
    if not (tree / "lib/modules").exists():  # all under /usr
        (tree / "lib").symlink_to("usr/lib")
    shutil.rmtree(tree / "usr/share", ignore_errors=True)
    _output("depmod", "-b", tree, version(tree))
    assert version(tree).startswith(name), f"{package.name}: this is not Linux {name}"
    kept = CACHE / package.name.partition("_")[0]
    if not kept.exists():  # another run of the tests may have been quicker
        tree.rename(kept)
    return kept


def _fetch_from(uri, keys, suite, name):
    with tempfile.TemporaryDirectory(prefix="download.", dir=CACHE) as folder:
        return _unpack(Apt(folder, uri, keys, suite).kernel(), name)


def _fetch(name):
    CACHE.mkdir(parents=True, exist_ok=True)
    told = []
    for suite in KERNELS[name]:
        for uri, keys in mirrors(suite).items():
            try:
                return _fetch_from(uri, keys, suite, name)
            except subprocess.CalledProcessError as e:
                told.append(f"{uri} {suite}: {e.stderr.strip()}")
            except subprocess.TimeoutExpired as e:
                told.append(f"{uri} {suite}: no end after {e.timeout:.0f} s")
    raise RuntimeError(f"Linux {name} is not in {CACHE}, and cannot be fetched:\n" +
                       "\n".join(told))


def version(tree):
    return next((tree / "lib/modules").iterdir()).name


def tree(name):
    """The unpacked kernel, fetched if need be, and the seconds that took (0: it was there)."""
    began = time.monotonic()
    there = sorted(CACHE.glob(f"linux-image-{name}.*"))
    if there:
        return there[-1], 0
    return _fetch(name), time.monotonic() - began


def modules(tree_, names):
    """The modules behind `names`, in the order in which they must be loaded."""
    if not (tree_ / "lib/modules" / version(tree_) / "modules.dep.bin").exists():
        _output("depmod", "-b", tree_, version(tree_))
    lines = _output("modprobe", "-C", "/dev/null", "-d", tree_, "-S", version(tree_),
                    "--show-depends", "-a", *names).splitlines()
    return list(dict.fromkeys(pathlib.Path(line.split()[1]) for line in lines
                              if line.startswith("insmod")))
