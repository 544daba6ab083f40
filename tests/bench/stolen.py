# SPDX-License-Identifier: GPL-2.0
"""CPU time that a hypervisor gave to others ("steal"), by the kernel's count."""
import collections
import os

Ticks = collections.namedtuple("Ticks", "all stolen")
STOLEN = 7  # user, nice, system, idle, iowait, irq, softirq, steal; guests' time is in user and nice


def parse(stat, cpu=None):
    """The ticks so far of one CPU, or of all, from /proc/stat."""
    name = "cpu" if cpu is None else f"cpu{cpu}"
    fields, = (line.split()[1:] for line in stat.splitlines() if line.split()[:1] == [name])
    numbers = list(map(int, fields[:STOLEN + 1]))
    return Ticks(sum(numbers), numbers[STOLEN])


def ticks(cpu=None):
    with open("/proc/stat", encoding="ascii") as f:
        return parse(f.read(), cpu)


def share(before, after):
    """Of the time between two counts."""
    return (after.stolen - before.stolen) / max(after.all - before.all, 1)


def nanoseconds(before, after):
    return (after.stolen - before.stolen) * 10**9 // os.sysconf("SC_CLK_TCK")
