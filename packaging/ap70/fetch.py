# SPDX-License-Identifier: GPL-2.0
"""What the sensor for the AP70 is built from, as folders of the cache (packaging/debian.py): the
compiler from PyPI, and sources from Debian, as their authors made them, each known by its hash.
Called with a folder and names, it links these there: whoever uses them need not know versions."""
import hashlib
import pathlib
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import debian

# Its version, and SHA-256 of its wheels for x86-64 and for ARM64.
ZIG = "0.17.1"
ZIG_WHEELS = ("ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54",
              "b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e")

# Debian's name of a source, its version, suites that have it, and SHA-256 of the archive.
SOURCES = {
    "libzstd": ("1.5.7", ("trixie", "forky", "sid"),
                "0c092ef267edce57ba7f3f2645c861f72eaf5e76273c6c3632869423464b90a5"),
    "libsodium": ("1.0.18", ("bookworm", "trixie", "sid"),
                  "d59323c6b712a1519a5daf710b68f5e7fde57040845ffec53850911f10a5d4f4"),
    # the shell of the virtual machine in which it is tested (tests/ap70/system.py)
    "busybox": ("1.35.0", ("bookworm",),
                "faeeb244c35a348a334f4a59e44626ee870fb07b6884d68c10ae8bc19f83a694"),
    # what unit tests are written with
    "cmocka": ("1.1.5", ("bookworm",),
               "f0ccd8242d55e2fd74b16ba518359151f6f8383ff8aef4976e48393f77bba8b6"),
}


def zig():
    """From a pip of its own: none need be installed."""
    name = f"zig-{ZIG}"
    if not (debian.CACHE / name).exists():
        with debian.workshop() as folder:
            venv, made, wanted = (folder / name for name in ("venv", "zig", "wanted"))
            wanted.write_text(f"ziglang=={ZIG}" +
                              "".join(f" --hash=sha256:{digest}" for digest in ZIG_WHEELS))
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check",
                            "--no-cache-dir", "--no-compile", "--only-binary", ":all:",
                            "--require-hashes", "--target", made, "-r", wanted], check=True)
            debian.keep(made / "ziglang", name)
    return debian.CACHE / name


def _unpack(apt, name, version, digest):
    apt.run("apt-get", "source", "--download-only", "-qq", "--only-source", name, timeout=300)
    archive = next((f for f in apt.packages.iterdir()
                    if hashlib.sha256(f.read_bytes()).hexdigest() == digest), None)
    if not archive:
        raise debian.NotThere(f"has another {name} than {version}")
    with tarfile.open(archive) as tar:
        tar.extractall(apt.folder / "unpacked")
    return debian.keep(next((apt.folder / "unpacked").iterdir()), f"{name}-{version}")


def source(name):
    version, suites, digest = SOURCES[name]
    if not (debian.CACHE / f"{name}-{version}").exists():
        debian.fetch(f"the source of {name} {version}", suites,
                     lambda apt: _unpack(apt, name, version, digest), sources=True)
    return debian.CACHE / f"{name}-{version}"


def link(folder, name):
    kept, there = zig() if name == "zig" else source(name), folder / name
    if there.is_symlink() and there.readlink() == kept:
        return
    folder.mkdir(parents=True, exist_ok=True)
    there.unlink(missing_ok=True)
    there.symlink_to(kept)


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        link(pathlib.Path(sys.argv[1]), wanted)
