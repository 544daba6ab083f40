# SPDX-License-Identifier: GPL-2.0
"""What the sensor for the AP70 is built from, as folders of the cache (packaging/debian.py): the
compiler from PyPI, and sources from Debian, as their authors made them, each known by its hash."""
import hashlib
import pathlib
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import debian  # noqa: E402

ZIG = "0.17.1"

# Debian's name of a source, its version, suites that have it, and SHA-256 of the archive.
SOURCES = {
    "libzstd": ("1.5.7", ("trixie", "forky", "sid"),
                "0c092ef267edce57ba7f3f2645c861f72eaf5e76273c6c3632869423464b90a5"),
    "libsodium": ("1.0.18", ("bookworm", "trixie", "sid"),
                  "d59323c6b712a1519a5daf710b68f5e7fde57040845ffec53850911f10a5d4f4"),
}


def zig():
    name = f"zig-{ZIG}"
    if (debian.CACHE / name).exists():
        return
    debian.CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="download.", dir=debian.CACHE) as folder:
        made = pathlib.Path(folder) / "zig"
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                        "--no-compile", "--target", made, f"ziglang=={ZIG}"], check=True)
        debian.keep(made / "ziglang", name)


def _unpack(apt, name, version, digest):
    apt.run("apt-get", "source", "--download-only", "-qq", "--only-source", name, timeout=300)
    archive = next((f for f in apt.packages.iterdir()
                    if hashlib.sha256(f.read_bytes()).hexdigest() == digest), None)
    if not archive:
        raise debian.NotThere(f"has another {name} than {version}")
    with tarfile.open(archive) as tar:
        tar.extractall(apt.folder / "unpacked")
    debian.keep(next((apt.folder / "unpacked").iterdir()), f"{name}-{version}")


def source(name):
    version, suites, digest = SOURCES[name]
    if not (debian.CACHE / f"{name}-{version}").exists():
        debian.fetch(f"the source of {name} {version}", suites,
                     lambda apt: _unpack(apt, name, version, digest), sources=True)


if __name__ == "__main__":
    zig()
    for source_name in SOURCES:
        source(source_name)
