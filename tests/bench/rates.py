# SPDX-License-Identifier: GPL-2.0
"""The ladder: paced rates and full speed, every consumer at every rate, one after the other. The
paper's figures 2 to 4: frames captured, frames lost, CPU; and memory."""
import collections
import statistics

from bench import consumers
from reference import captures, trim

LADDER = [250_000, 500_000, 750_000, 1_000_000, 1_250_000, 1_500_000, 1_750_000, 2_000_000,
          2_500_000, 3_000_000, 3_500_000, 4_000_000, 4_500_000]
COARSE = [500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000]
FULL_BLAST = 0
LIMITS = ["drop", "pass"]  # programs that count each frame and drop or pass it
HELD = 3
COMPARED_RATE = 100_000
# A rate that the generator's CPU does not reach is already full speed, and so are higher ones.
REACHED = 0.97
# CPU is compared at the highest of these rates that saluki and tcpdump hold without loss.
EQUAL_LOADS = [1_000_000, 750_000, 500_000, 250_000]



class Run(collections.namedtuple("Run", "offered rate lost captured process_s busy_s memory_kib "
                                        "threads")):
    @property
    def lost_share(self):
        return self.lost / (self.captured + self.lost)

    @property
    def captured_rate(self):
        return self.rate * (1 - self.lost_share)


class Ladder:
    """Runs of the named consumers, over one cable, with one trace's frames."""

    def __init__(self, cable, trace, seconds, names, say):
        self.cable, self.trace, self.seconds, self.say = cable, trace, seconds, say
        self.names = [n for n in names if consumers.ALL[n].at_hand()]
        self.runs = {n: [] for n in self.names}
        self.limits = {n: [] for n in LIMITS}  # frames/s at full blast, round by round
        self.idle_s = self._idle_s()
        self.cpu = {}

    def _dropped(self, rate, seconds, into="drop"):
        """The generator and the cable alone: into a program that drops or passes all."""
        off = self.cable.attached(self.cable.sensor, into, "cap0")
        sent = self.cable.generate(self.trace, rate, seconds)
        off()
        return sent

    def limit(self, into):
        """One run at full blast of the machine without a capture program."""
        sent = self._dropped(FULL_BLAST, self.seconds, into)
        self.limits[into].append(sent.frames / sent.seconds)
        self.say(f"    {'only ' + into:14} full blast  {self.limits[into][-1] / 1e6:5.2f} M/s")

    def _idle_s(self):
        """The time of one idle run of the generator."""
        sent = self._dropped(1, 1)
        return sent.cpu_s / sent.idle

    def _busy_s(self, sent):
        """Seconds per million frames that the generator's CPU has worked."""
        return (sent.cpu_s - sent.idle * self.idle_s) / sent.frames * 1e6

    def run(self, name, rate, opened=False):
        consumer = consumers.ALL[name](self.cable, opened)
        consumer.listen()
        before = consumers.thread_seconds(consumer.pids)
        sent = self.cable.generate(self.trace, rate, self.seconds)
        consumers.settled(consumer.pids)
        after = consumers.thread_seconds(consumer.pids)
        ran = {n: s - before[n] for n, s in after.items()}
        memory = consumers.memory_kib(consumer.pids)
        count = consumer.stop()
        # Frames lost on the cable were never offered to the consumer.
        run = Run(rate, count.received / sent.seconds, count.lost, count.captured,
                  sum(ran.values()) / count.received * 1e6, self._busy_s(sent), memory,
                  {n: s / count.received * 1e9 for n, s in ran.items()})
        if count.received != count.captured + count.lost:
            raise RuntimeError(f"{name}: {count} does not add up: {consumer.said}")
        self.runs[name].append(run)
        self.say(f"    {name:14} {'full blast' if not rate else f'{rate:>10,}'}  received "
                 f"{run.rate / 1e6:5.2f} M/s  lost {run.lost_share:7.2%}  CPU s/M "
                 f"{run.process_s:.3f}  {memory} KiB")
        return run

    def climb(self, ladder, blasts):
        """All rates, side by side. A consumer that lost frames at two rates, or was not reached at
        two by the generator's rate, goes to full speed, which all run several times, in turn."""
        climbing = list(self.names)
        short = collections.Counter()
        for rate in ladder:
            for name in list(climbing):
                run = self.run(name, rate)
                lossy = [r for r in self.runs[name] if r.lost]
                short[name] += run.rate < rate * REACHED
                if len(lossy) == 2 or short[name] == 2:
                    climbing.remove(name)
        for _ in range(blasts):
            for into in self.limits:
                self.limit(into)
            for name in self.names:
                self.run(name, FULL_BLAST)

    def blasts(self, name):
        return [r for r in self.runs[name] if r.offered == FULL_BLAST]

    def loss_free(self, name):
        """The highest rate held without losing one frame, in frames/s. A consumer without loss at
        full speed, in HELD runs at least, is as fast as the generator's CPU in that second, and
        that varies: the median of such runs counts."""
        held = [r.rate for r in self.blasts(name) if r.lost == 0]
        if len(held) >= HELD:
            return statistics.median(held)
        return max((r.rate for r in self.runs[name] if r.lost == 0), default=None)

    def faster(self, name, than):
        """The ratio of two such rates: the median of the ratios in rounds where neither lost a
        frame, as a round's two runs are seconds apart. (A minute in which the machine is so fast
        that the consumer is the limit is left out, to its disadvantage.)"""
        ratios = [a.rate / b.rate for a, b in
                  zip(self.blasts(name), self.blasts(than), strict=True)
                  if not a.lost and not b.lost]
        if len(ratios) >= HELD:
            return statistics.median(ratios)
        return self.loss_free(name) / self.loss_free(than)

    def share_of(self, name, into):
        """The same ratio to the machine's limit. Without enough rounds free of loss, the frames
        captured at full blast count."""
        rounds = list(zip(self.blasts(name), self.limits[into], strict=True))
        held = [run.rate / limit for run, limit in rounds if not run.lost]
        if len(held) >= HELD:
            return statistics.median(held)
        return statistics.median(run.captured_rate / limit for run, limit in rounds)

    def blast(self, name):
        """The full-speed run with the median of frames captured per second."""
        runs = sorted(self.blasts(name), key=lambda r: r.captured_rate)
        return runs[len(runs) // 2] if runs else None

    def holds(self, name, rate):
        return any(r.offered == rate and r.lost == 0 and r.rate > rate * REACHED
                   for r in self.runs.get(name, ()))

    def compare_cpu(self, rounds):
        """CPU seconds per million frames at one load, for all that hold it: the run time of a
        program's processes, and its addition to the generator's CPU, where the kernel receives,
        over a program that drops all. The second is a small difference of large numbers, so all are
        measured again in each of some rounds, and the median counts."""
        rate = next((r for r in EQUAL_LOADS
                     if self.holds("saluki", r) and self.holds("tcpdump", r)), None)
        if rate is None:
            return
        self.say(f"    CPU at {rate:,} frames/s, rounds: {rounds}")
        found = collections.defaultdict(list)
        for _ in range(rounds):
            self.idle_s = self._idle_s()
            base_s = self._busy_s(self._dropped(rate, self.seconds))
            for name in self.names:
                if self.holds(name, rate):
                    run = self.run(name, rate)
                    found[name].append((run.process_s, run.busy_s - base_s, run.threads))
        for name, measured in found.items():
            self.cpu[name] = (statistics.median(m[0] for m in measured),
                              statistics.median(m[1] for m in measured),
                              {t: statistics.median(m[2].get(t, 0) for m in measured)
                               for t in measured[0][2]})


def compare_frames(ladder, played):
    """The frames that a collector writes must be frames that were played, truncated as the
    reference truncates them. Returns how many were compared."""
    compared = 0
    for name in ladder.names:
        if not issubclass(consumers.ALL[name], consumers.Saluki):
            continue
        run = ladder.run(name, COMPARED_RATE, opened=True)
        headers = "headers" in consumers.ALL[name].options
        known = {f[:trim.keep(f, len(f), 1, consumers.SNAPLEN, headers)[0]]: None for f in played}
        got = list(captures.frames(ladder.cable.written))
        if not got or any(f.data not in known for f in got):
            raise RuntimeError(f"{name}: of {len(got)} frames at the collector, "
                               f"{sum(f.data not in known for f in got)} were never sent")
        ladder.say(f"    {name:14} {len(got)} of {run.captured} frames opened and compared")
        compared += len(got)
    return compared


def figures(ladder, suffix):
    """The ladder's results as names and numbers; those of a size end in it."""
    out = {}
    for name in ladder.names:
        out[f"rate_{name}{suffix}"] = ladder.loss_free(name)
        blast = ladder.blast(name)
        if blast:
            out[f"blast_captured_{name}{suffix}"] = blast.captured_rate
            out[f"blast_lost_share_{name}{suffix}"] = blast.lost_share
            out[f"memory_kib_{name}{suffix}"] = blast.memory_kib
    for name, (process_s, kernel_s, threads) in ladder.cpu.items():
        if kernel_s <= 0:
            continue  # lost in the noise: not measured
        out[f"cpu_s_per_m_{name}{suffix}"] = process_s + kernel_s
        out[f"cpu_s_per_m_process_{name}{suffix}"] = process_s
        out[f"cpu_s_per_m_kernel_{name}{suffix}"] = kernel_s
        if name.startswith("saluki"):
            out[f"ns_hook_{name}{suffix}"] = kernel_s * 1e3
        for thread in ("capture", "export"):
            if thread in threads:
                out[f"ns_thread_{thread}_{name}{suffix}"] = threads[thread]
    return {k: v for k, v in out.items() if v is not None}


def compare(ladder, out):
    """The project's main ratios."""
    have = {n for n in ladder.names if ladder.loss_free(n)}
    if "tcpdump" not in have:
        return {}
    rates = {"rate_x_tcpdump": "saluki", "rate_x_tcpdump_bpf": "saluki_bpf",
             "rate_x_tcpdump_all": "saluki_all", "rate_x_tcpdump_pass": "saluki_pass",
             "rate_x_tcpdump_rival": "rival",
             "xsk_x_tcpdump": "saluki_xsk", "mmap_x_tcpdump": "saluki_mmap"}
    limits = {"share_of_limit": ("saluki", "drop"), "share_of_limit_bpf": ("saluki_bpf", "drop"),
              "share_of_limit_pass": ("saluki_pass", "pass")}
    cpus = {"cpu_x_tcpdump": "saluki", "cpu_x_tcpdump_bpf": "saluki_bpf",
            "cpu_x_tcpdump_pass": "saluki_pass", "cpu_x_tcpdump_rival": "rival"}
    found = {k: ladder.faster(n, "tcpdump") for k, n in rates.items() if n in have}
    found |= {k: out[f"cpu_s_per_m_{n}"] / out["cpu_s_per_m_tcpdump"] for k, n in cpus.items()
              if {f"cpu_s_per_m_{n}", "cpu_s_per_m_tcpdump"} <= out.keys()}
    found |= {k: ladder.share_of(n, into) for k, (n, into) in limits.items() if ladder.blasts(n)}
    if {"saluki", "tcpdump"} <= ladder.cpu.keys():
        found["user_ns_x_tcpdump"] = ladder.cpu["saluki"][0] / ladder.cpu["tcpdump"][0]
    return found
