# SPDX-License-Identifier: GPL-2.0
"""The compared programs, each on one CPU with a ring of RING_KIB: saluki with everything on
(exporting to a collector), tcpdump, dumpcap, netsniff-ng. A consumer is started, listens until
stopped, and reports the frames received, captured and lost."""
import collections
import os
import re
import shutil
import signal
import subprocess
import time

from bench.cable import COLLECTOR, CONSUMER_CPU, on_cpu
from netns import testbed

RING_KIB = 4096
SNAPLEN = 192

Count = collections.namedtuple("Count", "received captured lost")


def thread_seconds(pids):
    """The threads' run time so far, to the nanosecond, by name."""
    total = collections.Counter()
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/comm", encoding="ascii") as name, \
                    open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
                total[name.read().strip()] += int(f.read().split()[0]) / 1e9
    return total


def cpu_seconds(pids):
    return sum(thread_seconds(pids).values())


def memory_kib(pids):
    """Resident memory of all processes together, with shared pages counted once."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
            total += int(re.search(r"^Pss: *(\d+) kB", f.read(), re.M)[1])
    return total


def settled(pids):
    """Waits until a consumer is idle: until it has run for less than 2 ms in 1.2 s. A packet ring's
    last block reaches its reader a second late."""
    before = cpu_seconds(pids)
    for _ in range(20):
        time.sleep(1.2)
        now = cpu_seconds(pids)
        if now - before < 0.002:
            return
        before = now


class Consumer:
    """`command` captures on cap0, prints `ready` on standard error, and ends with SIGINT. `opened`:
    what is exported is opened and written."""
    ready = "listening on"
    xdp = False  # takes the frames at XDP; the others need a stand-in there (see listen)
    cpu = CONSUMER_CPU

    def __init__(self, cable, opened=False):
        self.cable = cable
        self.collector_program = testbed.BUILD / ("saluki-collector" if opened else "tests/sink")

    @classmethod
    def at_hand(cls):
        return shutil.which(cls.command[0]) is not None

    def listen(self):
        # Without a program at XDP and without GRO, a veth does not receive by NAPI, and with GRO
        # the kernel would merge frames; so the others get a program that passes all.
        self.off = None if self.xdp else self.cable.attached(self.cable.sensor, "pass", "cap0")
        self.popen = self.cable.sensor.start(*on_cpu(self.cpu, "stdbuf", "-o0", *self.command),
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.cable.stack.callback(self.kill)
        self.said = testbed.lines_until(self.popen.stdout, time.monotonic() + 20, self.ready)
        self.pids = testbed.with_children(self.popen.pid)

    def interrupt(self):
        self.popen.send_signal(signal.SIGINT)

    def stop(self):
        self.interrupt()
        self.said += self.popen.communicate(timeout=60)[0]
        if self.off:
            self.off()
        return self.count()

    def kill(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.communicate()

    def numbers(self, pattern):
        found = re.search(pattern, self.said)
        if not found:
            raise RuntimeError(f"{self.command[0]} has not printed its counts: {self.said}")
        return [int(n) for n in found.groups()]

    def number(self, pattern):
        return self.numbers(pattern)[0]


class Tcpdump(Consumer):
    command = ["tcpdump", "-i", "cap0", "-n", "-s", str(SNAPLEN), "-B", str(RING_KIB),
               "-w", "/dev/null"]

    def count(self):
        return Count(self.number(r"(\d+) packets received by filter"),
                     self.number(r"(\d+) packets captured"),
                     self.number(r"(\d+) packets dropped by kernel"))


class Rival(Tcpdump):
    """The whole job from programs that everybody has: capture, compress, encrypt, send. (Debian
    12's `ncat --ssl` ends with EIO as soon as its socket is full.)"""
    port = 5601
    command = ["bash", "-c", "exec 3>&1; " + " ".join(Tcpdump.command[:-1]) +
               " - -U 2>&3 | zstd -1 -q | "
               f"socat -u - OPENSSL:{COLLECTOR.split(':')[0]}:{port},verify=0"]

    @classmethod
    def at_hand(cls):
        return all(map(shutil.which, ["tcpdump", "zstd", "socat", "openssl"]))

    def listen(self):
        pem = self.cable.directory / "rival.pem"
        self.cable.collector.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj",
                                 "/CN=rival", "-keyout", pem, "-out", pem, "-batch",
                                 stderr=subprocess.DEVNULL)
        self.receiver = self.cable.collector.start(
            *on_cpu(self.cpu, "socat", "-u", "-d", "-d",
                    f"OPENSSL-LISTEN:{self.port},cert={pem},verify=0,reuseaddr", "-"),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.cable.stack.callback(self.kill_receiver)
        testbed.lines_until(self.receiver.stderr, time.monotonic() + 20, "listening on")
        super().listen()

    def interrupt(self):
        for pid in self.pids:
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                if f.read().strip() == "tcpdump":
                    os.kill(pid, signal.SIGINT)

    def stop(self):
        count = super().stop()
        self.kill_receiver()
        return count

    def kill_receiver(self):
        if self.receiver.poll() is None:
            self.receiver.kill()
            self.receiver.communicate()


class Dumpcap(Consumer):
    command = ["dumpcap", "-i", "cap0", "-q", "-s", str(SNAPLEN), "-B", str(RING_KIB // 1024),
               "-w", "/dev/null"]
    ready = "File:"

    def count(self):
        captured, dropped = self.numbers(r"on interface 'cap0': (\d+)/(\d+)")
        return Count(captured + dropped, captured, dropped)


class NetsniffNg(Consumer):
    """It has no snaplen: it writes whole frames."""
    command = ["netsniff-ng", "--in", "cap0", "--out", "/dev/null", "--silent", "--no-sock-mem",
               "--ring-size", f"{RING_KIB}KiB"]
    ready = "Running"

    def count(self):
        lost = self.number(r"(\d+)  packets failed filter")
        return Count(self.number(r"(\d+)  packets incoming") + lost,
                     self.number(r"(\d+)  packets passed"), lost)


class Saluki(Consumer):
    """Exports to tests/bench/sink.c, which shares the consumer's CPU; --consume, as on a
    capture-only port (the others cannot)."""
    xdp = True
    ready = "capturing by"
    options = ["--keep", "headers"]

    @classmethod
    def at_hand(cls):
        return True

    @property
    def command(self):
        return [testbed.BUILD / "saluki", "run", "-i", "cap0", "--to", COLLECTOR, "--key",
                self.cable.keys.sensor("bench"), "--consume", "-s", str(SNAPLEN), "-B",
                str(RING_KIB), *self.options]

    def listen(self):
        self.cable.written.unlink(missing_ok=True)
        self.collector = testbed.Collector(
            self.cable.collector, self.cable.keys, self.cable.written, listen=COLLECTOR,
            before=on_cpu(self.cpu), program=self.collector_program)
        self.cable.stack.callback(self.collector.kill)
        super().listen()
        testbed.wait_for(lambda: self.collector.sensor_stats("bench"), "the session")

    def stop(self):
        count = super().stop()
        self.collector.finish()
        if self.number(r"\+ dropped_send (\d+)") or "+ on the way 0\n" not in self.said:
            raise RuntimeError("frames were dropped on the way to the collector: " + self.said)
        return count

    def count(self):
        """Captured frames that the store gave up are lost as well."""
        given_up = self.number(r"dropped_store (\d+)") if "dropped_store" in self.said else 0
        return Count(self.number(r"ledger: seen (\d+)"),
                     self.number(r"(\d+) packets captured") - given_up,
                     self.number(r"(\d+) packets dropped by kernel") + given_up)


class SalukiBpf(Saluki):
    """With the ring that is used where mapped rings do not work."""
    options = [*Saluki.options, "--ring", "bpf"]


class SalukiXsk(Saluki):
    """AF_XDP: the frames are consumed anyway."""
    options = [*Saluki.options, "--source", "xsk"]


class SalukiAll(Saluki):
    options = ["--keep", "all"]


class SalukiPass(Saluki):
    """Without --consume: the frames continue to the network stack."""
    @property
    def command(self):
        return [c for c in super().command if c != "--consume"]


class SalukiMmap(SalukiPass):
    """With a packet socket, as the others."""
    xdp = False
    options = [*Saluki.options, "--source", "mmap"]


ALL = {"saluki": Saluki, "saluki_bpf": SalukiBpf,
       "saluki_xsk": SalukiXsk, "saluki_all": SalukiAll, "saluki_pass": SalukiPass,
       "saluki_mmap": SalukiMmap, "tcpdump": Tcpdump, "rival": Rival, "dumpcap": Dumpcap,
       "netsniff_ng": NetsniffNg}
