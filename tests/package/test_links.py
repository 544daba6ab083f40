# SPDX-License-Identifier: GPL-2.0
"""librdkafka is in one program and one package only: it has threads and sockets, and other programs have keys."""
import os
import re
import subprocess

import pytest

from netns.testbed import BUILD, ROOT


def linked(program):
    said = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(lib\w+)", said)


def test_one_program_links_librdkafka():
    programs = [p for p in sorted(BUILD.glob("saluki*")) if p.is_file() and not p.is_symlink() and os.access(p, os.X_OK)]
    assert len(programs) >= 7
    assert [p.name for p in programs if "librdkafka" in linked(p)] == ["saluki-kafka"]


def test_sensors_without_libraries_need_no_librdkafka():
    """As on OpenWrt (packaging/openwrt), where it is not there."""
    full, lesser = [subprocess.run(["make", "-nBs", "-C", ROOT, "all", *without], capture_output=True, text=True,
                                   check=True).stdout for without in ([], ["WITHOUT=bpf pcap seccomp nl80211"])]
    assert "-lrdkafka" in full and "-lsodium" in lesser and "kafka" not in lesser


@pytest.mark.package
def test_one_package_depends_on_librdkafka(packages):
    depend = {p.name.partition("_")[0]: subprocess.run(["dpkg-deb", "-f", p, "Depends"], capture_output=True, text=True,
                                                       check=True).stdout for p in packages[0].glob("*.deb")}
    assert len(depend) >= 7
    assert [name for name, of in depend.items() if "librdkafka" in of] == ["saluki-kafka"]
