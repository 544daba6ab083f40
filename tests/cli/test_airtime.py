# SPDX-License-Identifier: GPL-2.0
"""airtime's consumer at the collector: a sender with invented addresses takes neither memory nor
time."""
import json
import struct
import subprocess

from netns.testbed import BUILD

ROWS = 32768  # bpf/modules/airtime/airtime.c


def lines(count):
    for i in range(count):
        event = b"\x02" + i.to_bytes(5, "big") + struct.pack(
            "<HIIQQQQQIb3x", 2412, 1, 1000, 5, 5, 0, 500, 1000, 0, -50)
        yield json.dumps({"sensor": "lib", "interface": "mon0", "module": "airtime", "serial": 1,
                          "time_ns": 10**18 + i, "direction": "in", "data": event.hex()}) + "\n"


def report(text):
    return subprocess.run([BUILD / "modules/airtime", "--json"], input=text, capture_output=True,
                          text=True, check=False, timeout=20)


def test_made_up_stations():
    got = report("".join(lines(3 * ROWS)))
    assert got.returncode == 0
    assert f"more than {ROWS} stations: {2 * ROWS} times one was in no row" in got.stderr
    assert len(got.stdout.splitlines()) == ROWS


def test_nothing_that_is_good():
    got = report("no line\n" + "".join(lines(1)).replace("02000000", "0200"))
    assert got.stdout == "" and "none of this airtime" in got.stderr
