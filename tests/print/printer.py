# SPDX-License-Identifier: GPL-2.0
"""The printing process on its own (printer.c), and tcpdump's and tshark's output for the same captures."""
import os
import re
import struct
import subprocess

from netns.testbed import BUILD
from reference import captures

PRINTER = BUILD / "tests/printer"
ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}
FOLDERS = ("hwsim", "radiotap", "dot11-other", "wired")


def run(data, *args, env=ENVIRONMENT, check=True):
    """Prints a capture's bytes. Returns its text, and what it said on standard error."""
    done = subprocess.run([PRINTER, *args], input=data, capture_output=True, check=False, env=env)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.decode(), done.stderr.decode()


def tcpdump(data, *args):
    """tcpdump's own lines, as the screen would show them."""
    done = subprocess.run(["tcpdump", "-r", "-", *args], input=data, capture_output=True, check=True, env=ENVIRONMENT)
    return visible(done.stdout)


def tshark(data, *fields):
    """For each frame a list of texts, one a field: the first of several values."""
    words = [word for field in fields for word in ("-e", field)]
    out = subprocess.run(["tshark", "-n", "-r", "-", "-T", "fields", "-E", "occurrence=f", "-E", "separator=/t",
                          *words], input=data, capture_output=True, check=True,
                         env={**ENVIRONMENT, "HOME": "/nonexistent"}).stdout.decode()
    return [line.split("\t") for line in out.split("\n")[:-1]]


def visible(data):
    """What may reach a terminal of these bytes, written apart from print/screen.c."""
    def of(c):
        n = ord(c)
        if 0xdc80 <= n < 0xdd00:  # a byte that is no UTF-8
            return f"\\x{n - 0xdc00:02x}"
        if (n < 0x20 and c not in "\n\t") or n == 0x7f:
            return f"\\x{n:02x}"
        hidden = (0x80, 0xa0), (0x200e, 0x2010), (0x2028, 0x202f), (0x2066, 0x206a), (0x61c, 0x61d)
        return f"\\u{n:04x}" if any(low <= n < high for low, high in hidden) else c
    return "".join(map(of, data.decode(errors="surrogateescape")))


def own(*folders):
    """The project's captures of these folders."""
    return [path for folder in folders for path in captures.OWN.folder(folder)]


def pcap(linktype, frames):
    """A capture of frames, each of the same second."""
    out = struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, linktype)
    for data in frames:
        out += struct.pack("<IIII", 1_700_000_000, 5000, len(data), len(data)) + data
    return out


def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def section():
    return block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))


def interface(linktype, name=b""):
    option = struct.pack("<HH", 2, len(name)) + name + b"\0" * (-len(name) % 4) if name else b""
    return block(1, struct.pack("<HHI", linktype, 0, 0) + option)


def packet(number, data):
    return block(6, struct.pack("<IIIII", number, 0, 0, len(data), len(data)) + data)


def values(line, label):
    """The values of a label in a line: RA:00:11:22:33:44:55."""
    return re.findall(rf"\b{label}:((?:[0-9a-f]{{2}}:){{5}}[0-9a-f]{{2}})", line)
