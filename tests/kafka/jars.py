# SPDX-License-Identifier: GPL-2.0
"""Kafka's jars, which Maven fetches as pom.xml says. Out: a folder of the cache (packaging/debian.py), kafka-VERSION.
A folder that exists is not fetched again, and needs neither Maven nor a network.

    python -m kafka.jars        fetches them; prints why if they are missing"""
import functools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import debian

POM = pathlib.Path(__file__).parent / "pom.xml"
VERSION = re.search(r"<artifactId>kafka_[\d.]+</artifactId>\s*<version>([\d.]+)<", POM.read_text())[1]
SECONDS = 600


class Missing(Exception):
    """Why there is no broker, in one line."""


def _java():
    """The version that is installed, 0 without one."""
    if not shutil.which("java"):
        return 0
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


@functools.cache
def folder():
    """The folder with the jars. Raises Missing."""
    if _java() < 17:
        raise Missing("Kafka needs Java 17 (openjdk-17-jre-headless)")
    kept = debian.CACHE / f"kafka-{VERSION}"
    return kept if kept.exists() else _fetch(kept.name)


def _fetch(name):
    if not shutil.which("mvn"):
        raise Missing(f"Kafka {VERSION} is not in {debian.CACHE}, and Maven is not installed (maven)")
    debian.CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=debian.CACHE) as work:
        jars = pathlib.Path(work) / "jars"
        try:
            subprocess.run(["mvn", "-q", "-B", "-Dstyle.color=never", "-f", POM, "dependency:copy-dependencies",
                            f"-DoutputDirectory={jars}", "-DincludeScope=runtime"], check=True, capture_output=True,
                           text=True, timeout=SECONDS)
        except subprocess.SubprocessError as e:
            said = [line for line in (e.stdout or "").splitlines() if "ERROR" in line] if isinstance(e.stdout, str) else []
            raise Missing(f"Maven cannot fetch Kafka {VERSION}: {(said or [e])[0]}") from e
        jars.chmod(0o755)
        return debian.keep(jars, name)


if __name__ == "__main__":
    try:
        folder()
    except Missing as why:
        print(why)
        sys.exit(1)
