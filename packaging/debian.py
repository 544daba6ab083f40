# SPDX-License-Identifier: GPL-2.0
"""Fetches from Debian without installing: kernels for the tests, sources for the AP70. In: names of
suites, and a task for an apt that has one. Out: a folder of the cache,
${SALUKI_CACHE:-~/.cache/saluki}, which all clones share. A folder that exists is not fetched again:
remove it to renew it.

The user's apt gives the mirror and is not changed: lists, cache and sources used here are in a
folder that is removed afterwards."""
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

CACHE = pathlib.Path(os.environ.get("SALUKI_CACHE") or pathlib.Path.home() / ".cache/saluki")

# Debian's own address, for a machine whose sources name no mirror.
DEBIAN = "http://deb.debian.org"


def output(*args, **kwargs):
    return subprocess.run([str(a) for a in args], check=True, capture_output=True, text=True,
                          **kwargs).stdout


def _signed_by(path, uri):
    """The keys by which the user's sources let `uri` be signed, as written there; '' if none. A
    sources file has paragraphs (deb822), in the older format lines."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    old = path.endswith(".list")
    for part in text.splitlines() if old else re.split(r"\n\s*\n", text):
        if uri.rstrip("/") in part and not part.startswith("#"):
            found = re.search(r"signed-by=([^\]\s]+)" if old
                              else r"(?im)^Signed-By:(.*(?:\n[ \t].*)*)", part)
            return found[1].strip() if found else ""
    return ""


def _sources(*options):
    """(origin, release, address, file:number) of the user's apt's main components."""
    out = output("apt-get", "indextargets", *options, "--format",
                 "$(ORIGIN)|$(RELEASE)|$(REPO_URI)|$(SOURCESENTRY)", "Created-By: Packages",
                 "Component: main")
    return [row.split("|") for row in out.splitlines()]


def mirrors(suite):
    """The addresses to ask for a suite, as {address: keys}: the user's apt's for Debian itself, or
    for its security updates, and Debian's own."""
    security = suite.endswith("-security")
    end = "/debian-security" if security else "/debian"
    rows = [r for r in _sources() if r[0] == "Debian"]
    if not rows:  # without lists apt does not know a source's origin: the path must show it
        rows = [r for r in _sources("--no-release-info") if r[2].rstrip("/").endswith(end)]
    found = {uri.rstrip("/"): _signed_by(entry.rpartition(":")[0], uri)
             for _, release, uri, entry in rows if release.endswith("-security") == security}
    found.setdefault(DEBIAN + end, "")
    return found


class NotThere(Exception):
    """A mirror does not have the requested version."""


class Apt:
    """apt with a list of one suite, of packages or of their sources, and all files it writes in a
    folder of its own. Downloads are in `packages`."""

    def __init__(self, folder, uri, keys, suite, sources=False):
        self.folder = pathlib.Path(folder)
        self.packages = self.folder / "packages"
        for name in ("sources", "state", "lists/partial", "cache/archives/partial", "packages"):
            (self.folder / name).mkdir(parents=True)
        what = ("Types: deb-src\nTargets: Sources\n" if sources else
                "Types: deb\nTargets: Packages\nArchitectures: amd64\n")
        (self.folder / "sources/debian.sources").write_text(
            f"{what}URIs: {uri}\nSuites: {suite}\nComponents: main\n" +
            (f"Signed-By: {keys}\n" if keys else ""), encoding="utf-8")
        settings = {
            "Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": self.folder / "sources",
            "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
            "Dir::State": self.folder / "state", "Dir::State::lists": self.folder / "lists",
            "Dir::State::status": "/dev/null", "Dir::Cache": self.folder / "cache",
            "APT::Sandbox::User": "root", "APT::Architecture": "amd64",
            "Acquire::http::Timeout": "30", "Acquire::https::Timeout": "30",
            # An old kernel's suite is not updated any more; it is still signed.
            "Acquire::Check-Valid-Until": "false",
        }
        self.settings = [f"-o{name}={value}" for name, value in settings.items()]
        self.run("apt-get", "update", "-qq", "--error-on=any", timeout=120)

    def run(self, program, *args, timeout=60):
        return output(program, *self.settings, *args, timeout=timeout, cwd=self.packages,
                      env={**os.environ, "LC_ALL": "C"})


@contextlib.contextmanager
def _locked(folder, how):
    """Whether `folder` is locked by this process; another's lock ends with its process."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, how)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(fd)


def _end(signo, _):
    raise SystemExit(128 + signo)


@contextlib.contextmanager
def _told_to_end():
    """A termination signal is an exception, so that unfinished files are removed. CPython raises it
    between system calls: a signal that comes just before waitpid(2) has its effect when the child
    ends. Terminals, timeout(1) and systemd signal the child, too."""
    defaults = {signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL,
                signal.SIGINT: signal.default_int_handler}
    signals = [s for s, default in defaults.items() if signal.getsignal(s) == default]
    for s in signals:
        signal.signal(s, _end)
    try:
        yield
    finally:
        for s in signals:
            signal.signal(s, defaults[s])


@contextlib.contextmanager
def workshop():
    """A folder on the cache's disk for unfinished files, removed at the end. Folders left by killed
    processes are removed, too."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with _told_to_end(), contextlib.ExitStack() as stack:
        with _locked(CACHE, fcntl.LOCK_EX):
            for left in CACHE.glob("making.*"):
                with _locked(left, fcntl.LOCK_EX | fcntl.LOCK_NB) as nobodys:
                    if nobodys:
                        shutil.rmtree(left, ignore_errors=True)
            folder = tempfile.mkdtemp(prefix="making.", dir=CACHE)
            stack.enter_context(_locked(folder, fcntl.LOCK_EX))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield pathlib.Path(folder)


def keep(folder, name):
    """Moves a folder on the cache's disk into the cache, at once and whole; returns its path.
    Another run may have been faster."""
    kept = CACHE / name
    if not kept.exists():
        folder.rename(kept)
    return kept


def fetch(what, suites, take, sources=False):
    """Calls take(apt) for one suite and mirror after the other until one succeeds; returns its
    result. `take` puts the files to keep into the cache. `what` is a name for messages."""
    told = []
    for suite in suites:
        for uri, keys in mirrors(suite).items():
            try:
                with workshop() as folder:
                    return take(Apt(folder, uri, keys, suite, sources))
            except subprocess.CalledProcessError as e:
                told.append(f"{uri} {suite}: {e.stderr.strip()}")
            except NotThere as e:
                told.append(f"{uri} {suite}: {e}")
            except subprocess.TimeoutExpired as e:
                told.append(f"{uri} {suite}: no end after {e.timeout:.0f} s")
    raise RuntimeError(f"{what} is not in {CACHE}, and cannot be fetched:\n" + "\n".join(told))
