# SPDX-License-Identifier: GPL-2.0
"""Remakes the captures of this folder (make captures): all, or the named parts.

    python -m captures [air|headers|wire|bad]...
"""
import sys

from captures import air, bad, headers, wire
from netns import testbed

PARTS = {"air": air.make, "headers": headers.make, "wire": wire.make, "bad": bad.make}


def main(names):
    unknown = set(names) - set(PARTS)
    if unknown:
        print(f"captures: {' '.join(unknown)}: no such part; there are {' '.join(PARTS)}", file=sys.stderr)
        return 2
    testbed.private_mounts()
    for name in names or PARTS:
        PARTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
