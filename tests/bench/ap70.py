# SPDX-License-Identifier: GPL-2.0
"""The sensor's cost on an AP70: instructions and memory, on the virtual one (tests/ap70), under the
emulator's exact clock (-icount). Each instruction takes 4 ns there, nothing else takes time, and
idle time passes as it does outside.

The guest's scheduler adds up each thread's run time by that clock, from switch to switch, in the
kernel too, without interrupts (CONFIG_IRQ_TIME_ACCOUNTING). A known loop runs as well, as the guest
has its own idea of the clock's rate. A listener's time before the first frame, with its handshake,
is left out. The result is the slope: the same frames are played once and twice, which removes the
cost of the end too. Each measurement takes ROUNDS rounds and the least counts: the kernel's other
work, a million instructions now and then, only adds. No frame may be lost, and no thread may run
longer with half of the frames.

default, all: frames come at RATE, so that the capture waits for the next ones, and combos are full.
field: they come as slowly as in the trace, so that combos are closed by age, and the cost per
second is shared by few frames. fast, bare, nobody, null: one frame after the other, without
waiting, into a ring with room for all. The player's time is the sender's own, without an interface.
With no listener it includes the kernel's receiving (the device's part is TUN's, which copies into
its own buffer, as a driver copies from its card). With bare, which only counts frames, or with the
sensor, it also includes the kernel's copy into the ring. ap70_rate_x_bare is the addition of bare
to the sender's own time, both included, over the sensor's addition: the whole agent's frames per
time over bare's."""
import contextlib
import pathlib
import re

from ap70 import machine, system
from bench.backbone import EXPORT
from netns import testbed
from reference import captures
from reference.test_reference import write_pcap

NS_PER_INSN = 4
ICOUNT = ("-icount", "shift=2", "-rtc", "base=1970-01-01,clock=vm")
LOOP = 50_000_000
RATE = 4000  # frames per virtual second
FIELD_RATE, FIELD_FRAMES = 100, 3000  # the trace's own rate, and the number of frames
RING_KIB = 4096  # the default
# Sensors whose memory is measured, and their rates: the smallest one, and OpenWrt's default.
SMALL = ["-B", "64", "--queue", "1", "--combo-size", "4096"]
OPENWRT = ["--snaplen", "192", "--ring-size", "256", "--queue", "2"]
SMALL_RATE = 1000
ROUNDS = 3
SECONDS = 2400  # with other load it may take several times as long as alone
PORT = 5600
PROGRAMS = [machine.BUILD / p for p in ("saluki", "tests/play", "tests/spent", "tests/bare",
                                        "tests/loop")]

# name: the listener and its options; the frame rate, 0: one after the other
RUNS = {
    "default": ("sensor {port}", RATE),
    "field": ("sensor {port}", FIELD_RATE),
    "all": ("sensor {port} --keep all -s 192", RATE),
    "fast": ("sensor {port}", 0),
    "bare": (f"bare {RING_KIB}", 0),
    "nobody": ("nobody", 0),
    "null": ("null", 0),
}
LEVELS = {f"{keep}-{level}": (f"sensor {{port}} --compress {level}{options}", RATE)
          for keep, options in (("headers", ""), ("all", " --keep all -s 192"))
          for level in (1, -1, -3, -5, -10, "none")}
# Level, frames' bytes, combo size: full combos; those of one second's frames, with the dictionary.
STAGES = {"headers": "1 headers 14336", "second": "1 headers 2000",
          "second--3": "-3 headers 2000", "all": "1 all 14336",
          "all--5": "-5 all 14336"}
STAGES_PASSES = 2  # instructions are exact; the first pass fills the machine's file cache


class Guest:
    """The virtual AP70 with all programs to measure; a collector on the host for each sensor."""

    def __init__(self, stack, directory, frames):
        self.out = directory / "out"
        self.out.mkdir()
        self.stack, self.ns = stack, testbed.Namespace()
        stack.callback(self.ns.close)
        machine.plug_in(self.ns)
        self.frames, self.collectors, self.verbs, self.lines = frames, {}, {}, []
        for times in (1, 2):
            for name, some in (("all", frames), ("few", frames[:FIELD_FRAMES])):
                write_pcap(self.out / f"{name}-{times}.pcap", frames[0].linktype, some * times)

    def add(self, verb, name, *words):
        folder = self.out / name
        folder.mkdir()
        self.verbs[name] = verb
        if "{port}" in " ".join(words):
            port = PORT + len(self.collectors)
            keys = testbed.Keys(folder)
            keys.sensor("lib")
            c = testbed.Collector(self.ns, keys, folder / "out.pcapng", f"{machine.HOST}:{port}")
            self.stack.callback(c.kill)
            self.collectors[name] = c
            words = [w.format(port=port) for w in words]
        self.lines.append(f"{verb} {name} {' '.join(words)}\n")

    def run(self, directory, programs=()):
        (self.out / "cases").write_text("".join(self.lines))
        kernel, busybox, _ = system.both()
        vm = machine.Ap70(directory, self.ns, kernel, busybox, system.HERE / "init",
                          [*PROGRAMS, *programs], ICOUNT)
        self.stack.callback(vm.end)
        wrong = vm.finish(SECONDS)
        if wrong:
            raise RuntimeError(wrong)
        for name, c in self.collectors.items():
            c.finish()
            if self.verbs[name] != "measure":
                continue
            s = c.sensor_stats("lib")
            sent = int((self.out / name / "played").read_text())
            if not s["written"] == s["seen"] == sent or s["balance"]:
                raise RuntimeError(f"{name}: frames were lost: {s}")
        return vm.seconds

    def measure(self, name, *words):
        for n in range(ROUNDS):
            self.add("measure", f"{name}-{n}", *words)

    def _us(self, name, who):
        """Run time of the player or the loop in a round; or the listener's, from the first frame
        on."""
        us = int((self.out / name / f"{who}_us").read_text())
        before = self.out / name / "before"
        if who == "listener" and before.exists():
            us -= sum(self._threads(before).values()) / 1000
        return us

    def _threads(self, path):
        """Nanoseconds by the thread's name. Both processes have one thread without its own name."""
        ns = {}
        for n, row in enumerate(path.read_text().splitlines()):
            thread, ran = row.rsplit(" ", 1)
            ns["control" if n and thread == "saluki" else thread] = int(ran)
        return ns

    def threads(self, run):
        """Each listener thread's run time for the second half of the frames, in microseconds."""
        us = {}
        for times in (1, 2):
            rounds = [[self._threads(self.out / f"{run}-{times}-{n}" / f)
                       for f in ("before", "after")] for n in range(ROUNDS)]
            us[times] = {thread: min(after[thread] - before[thread] for before, after in rounds)
                         for thread in rounds[0][0]}
        more = {thread: (us[2][thread] - us[1][thread]) / 1000 for thread in us[2]}
        if min(more.values()) < 0:
            raise RuntimeError(f"{run}: a thread has run for less with more frames: {us}")
        return more

    def more(self, run, who):
        """The player's or the loop's time for the second half; or the listener's, to its end."""
        one, two = (min(self._us(f"{run}-{times}-{n}", who) for n in range(ROUNDS))
                    for times in (1, 2))
        return two - one

    def sent(self, name):
        """Bytes, and the number of combos."""
        sent, combos, _ = EXPORT.findall((self.out / name / "said").read_text())[-1]
        return int(sent), int(combos)

    def sent_more(self, run):
        """The same for the second half."""
        one, two = (self.sent(f"{run}-{times}-0") for times in (1, 2))
        return two[0] - one[0], two[1] - one[1]

    def memory_kib(self, name, field):
        text = (self.out / name / "memory").read_text()
        return [int(n) for n in re.findall(rf"(?m)^{field}:\s+(\d+) kB", text)]

    def mappings(self, name):
        """Pss in KiB by mapped object."""
        pattern = (r"(?m)^[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ \d+ *(.*)\n(?:[A-Z]\w+:.*\n)*?"
                   r"Pss: +(\d+) kB")
        kib = {}
        for rights, what, pss in re.findall(pattern, (self.out / name / "memory").read_text()):
            what = f"{what.rpartition('/')[2] or 'anonymous'} {rights}"
            kib[what] = kib.get(what, 0) + int(pss)
        return kib


def played(stack, directory, frames, runs, say, small=False):
    """The guest after all of `runs`, and instructions per microsecond of its clock."""
    guest = Guest(stack, directory, frames)
    for times in (1, 2):
        for n in range(ROUNDS):
            guest.add("loop", f"loop-{times}-{n}", str(LOOP * times))
    for name, (who, rate) in runs.items():
        for times in (1, 2):
            trace = "few" if name == "field" else "all"
            guest.measure(f"{name}-{times}", f"{trace}-{times}.pcap", str(rate), who)
    for name, options in (("small", SMALL), ("openwrt", OPENWRT)) if small else ():
        guest.add("measure", name, "all-1.pcap", str(SMALL_RATE),
                  f"sensor {{port}} {' '.join(options)}")
    say(f"    the virtual AP70 was up for {guest.run(directory):.0f} s")
    insns_per_us = LOOP / guest.more("loop", "listener")
    say(f"    a known loop: {1000 / insns_per_us:.4f} ns an instruction by the guest's clock")
    if abs(insns_per_us * NS_PER_INSN / 1000 - 1) > 0.01:
        raise RuntimeError("the guest does not count instructions")
    return guest, insns_per_us


def by_thread(guest, run, insns_per_us):
    return ", ".join(f"{t} {us * insns_per_us:.0f}" for t, us in guest.threads(run).items())


def levels(directory, frames, say):
    """The cost and effect of zstd's levels there: a table, no results."""
    with contextlib.ExitStack() as stack:
        guest, insns_per_us = played(stack, directory, frames, LEVELS, say)
        for run in LEVELS:
            insns = guest.more(run, "listener") * insns_per_us / len(frames)
            sent, combos = guest.sent_more(run)
            say(f"    {run:14} {insns:8,.0f} instructions, "
                f"{sent / len(frames):6.2f} bytes a frame, "
                f"{len(frames) / combos:.0f} frames a combo; by thread " +
                by_thread(guest, run, insns_per_us / len(frames)))
    return {}


def stages(directory, frames, say, others=()):
    """Each sensor stage's time there alone, without the kernel's part except sending: a table.
    `others` are other builds of tests/bench/stages.c, for comparison."""
    programs = [machine.BUILD / "tests/stages", *map(pathlib.Path, others)]
    with contextlib.ExitStack() as stack:
        guest = Guest(stack, directory, frames)
        for program in programs:
            for name, arguments in STAGES.items():
                guest.add("stages", f"{program.name}-{name}", program.name, "all-1.pcap", "{port}",
                          arguments, str(STAGES_PASSES))
        guest.run(directory, programs)
        for name in guest.verbs:
            rows = map(str.split, (guest.out / name / "stages").read_text().splitlines())
            found = {stage: float(value) for stage, value in rows}
            say(f"    {name:24} " + ", ".join(
                f"{stage} {found[stage] / NS_PER_INSN:,.0f}"
                for stage in ("append", "close", "compress", "seal", "send")) +
                f" instructions, {found['bytes_compressed']:.2f} bytes a frame, "
                f"{found['bytes_frames_a_combo']:.1f} frames a combo")
    return {}


def measure(directory, frames, say):
    with contextlib.ExitStack() as stack:
        guest, insns_per_us = played(stack, directory, frames, RUNS, say, small=True)
        return figures(guest, insns_per_us, len(frames), say)


def figures(guest, insns_per_us, count, say):
    def frames_of(name):
        return FIELD_FRAMES if name == "field" else count

    def slope(name, who):
        return guest.more(name, who) * insns_per_us / frames_of(name)

    for name in ("default", "field", "all", "fast"):
        _, combos = guest.sent_more(name)
        n = frames_of(name)
        say(f"    {name}: {slope(name, 'listener'):.0f} instructions a frame, {combos} combos of "
            f"{n / combos:.0f} frames; by thread " + by_thread(guest, name, insns_per_us / n))
    player = {name: slope(name, "player") for name in ("fast", "bare", "nobody", "null")}
    total = {name: player[name] + slope(name, "listener") for name in ("fast", "bare")}
    say("    as fast as they can be played, instructions a frame: the player without an interface "
        f"{player['null']:.0f}, nobody listening {player['nobody']:.0f}; together with bare "
        f"{player['bare']:.0f} and {total['bare'] - player['bare']:.0f}, with the sensor "
        f"{player['fast']:.0f} and {total['fast'] - player['fast']:.0f}")
    _, combos_all = guest.sent_more("all")
    pss = {run: sum(guest.memory_kib(run, "Pss")) for run in ("small", "openwrt", "default-2-0")}
    say(f"    Pss in KiB: {' '.join(SMALL)}: {pss['small']}, VmRSS of each process "
        f"{guest.memory_kib('small', 'VmRSS')}; as OpenWrt's default has it, {' '.join(OPENWRT)}: "
        f"{pss['openwrt']}; with the program's defaults: {pss['default-2-0']}")
    for run in ("small", "openwrt"):
        say(f"    by mapping, {run}: " + ", ".join(
            f"{what} {kib}" for what, kib in sorted(guest.mappings(run).items(),
                                                    key=lambda i: -i[1]) if kib))
    return {
        "ap70_insns_per_frame": slope("default", "listener"),
        "ap70_insns_per_frame_field": slope("field", "listener"),
        "ap70_insns_per_combo_all": slope("all", "listener") * count / combos_all,
        "ap70_rate_x_bare": (total["bare"] - player["null"]) / (total["fast"] - player["null"]),
        "ap70_rss_kib": pss["small"],
        "ap70_rss_openwrt_kib": pss["openwrt"],
        "ap70_binary_kib": (machine.BUILD / "saluki").stat().st_size / 1024,
    }


def trace():
    """hwsim-ch1, each frame as if it were whole."""
    path = captures.more_real().root / "hwsim/hwsim-ch1.pcap.zst"
    return [f._replace(orig_len=len(f.data)) for f in captures.frames(path)]
