# SPDX-License-Identifier: GPL-2.0
"""Test bed: network namespaces, a virtual monitor interface, sensors and a collector.

Namespaces are anonymous and held by a process that ends when this one does, so nothing is left
behind even after SIGKILL. Nothing outside of them is touched. Used by the tests and by `make run`.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SALUKI_BUILD", ROOT / "build"))
PLAYER = ROOT / "build/tests/play"
# With a preexec_fn, Python would copy its page tables for each program: 8 ms.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")
_libc = ctypes.CDLL(None)

for _signo in (signal.SIGHUP, signal.SIGINT):
    # Tests in the background ignore these, and the programs that they start must not. Unlike a signal that is
    # ignored, a handler is not inherited.
    if signal.getsignal(_signo) is signal.SIG_IGN:
        signal.signal(_signo, lambda *_: None)


def private_mounts():
    """Makes later mounts visible only to this process and its children."""
    if _libc.unshare(0x00020000):  # CLONE_NEWNS
        raise OSError("cannot make a mount namespace (as root)")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


class Namespace:
    """A network and mount namespace with its own bpffs, and loopback up. No IPv6, so that no
    interface sends anything by itself."""

    def __init__(self):
        setup = ("mount -t bpf bpf /sys/fs/bpf && mount -t tmpfs none /run && "
                 "for f in all default; do echo 1 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; done; "
                 "ip link set lo up && echo ok && exec cat")
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", setup],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ok\n":
            raise RuntimeError("cannot make a network namespace (unshare, as root)")

    def command(self, args):
        pid = self.holder.pid
        # The holder's root and folder too: entering a mount namespace leaves a chroot.
        return ["nsenter", f"--net=/proc/{pid}/ns/net", f"--mount=/proc/{pid}/ns/mnt",
                f"--root=/proc/{pid}/root", f"--wd=/proc/{pid}/cwd", "--", *map(str, args)]

    def run(self, *args, **kwargs):
        kwargs.setdefault("check", True)
        return subprocess.run(self.command(args), text=True, **kwargs)

    def start(self, *args, **kwargs):
        return subprocess.Popen([*DIE_WITH_PARENT, *self.command(args)], text=True, **kwargs)

    def close(self):
        self.holder.stdin.close()
        self.holder.wait()
        self.holder.stdout.close()


def in_namespace(ns, function):
    """Runs a function on its own thread inside a network namespace (setns applies to a thread)."""
    result = []

    def enter():
        fd = os.open(f"/proc/{ns.holder.pid}/ns/net", os.O_RDONLY)
        assert _libc.setns(fd, 0x40000000) == 0
        os.close(fd)
        result.append(function())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    return result[0]


class Host:
    """The machine itself, for `make run IFACE=...`: the same calls, no namespace."""

    def command(self, args):
        return list(map(str, args))

    run = Namespace.run
    start = Namespace.start

    def close(self):
        pass


def keep_tags(ns, name):
    """Makes an end of a cable send VLAN tags within its frames, as XDP does not see tags stored
    beside them."""
    ns.run("ethtool", "-K", name, "rxvlan", "off", "txvlan", "off", "tx-vlan-stag-hw-insert", "off",
           capture_output=True)


def module_object(name):
    """A module as it was built: a shipped one, or one of tests/modules/runs."""
    shipped = ROOT / f"build/modules/{name}.o"
    return shipped if shipped.exists() else ROOT / f"build/tests/modules/runs/{name}.bpf.o"


def for_anybody(program, folder):
    """A copy of a program for users that cannot enter its build folder, such as /root."""
    here = folder / program.name
    return here if here.exists() else shutil.copy(program, here)


def veth(a, name_a, b, name_b, *options, queues=1):
    """A cable between two namespaces."""
    count = ["numtxqueues", str(queues), "numrxqueues", str(queues)]
    subprocess.run(["ip", "link", "add", name_a, "netns", str(a.holder.pid), *count, "type", "veth",
                    "peer", "name", name_b, "netns", str(b.holder.pid), *count], check=True)
    ends = ((a, name_a), (b, name_b))
    for ns, name in ends:
        keep_tags(ns, name)
        ns.run("ip", "link", "set", name, "up", *options)
    for ns, name in ends:
        wait_for(lambda ns=ns, name=name: not drops_all(ns, name), f"{name}'s carrier")


def drops_all(ns, name):
    """Whether an interface still drops all that is sent, without an error: an end of a cable that is up gets
    its qdisc when the kernel's link watch has run, which may be late on a busy machine. Since Linux 6.8 this
    question makes it run."""
    return " qdisc noop " in ns.run("ip", "link", "show", "dev", name, capture_output=True).stdout


# The local time before a message of a program that runs until it is stopped.
TIME = re.compile(r"(?m)^((?:[\w-]+: )?)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?=saluki(?:-collector)?: )")


def without_times(said):
    """Messages as they are without the times before them; another program's name may be before both."""
    return TIME.sub(r"\1", said)


def lines_until(stream, deadline, wanted):
    """Reads lines of a pipe until one contains `wanted`; returns them all."""
    seen = ""
    fd = stream.fileno()
    while wanted not in seen:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            raise TimeoutError(f"no {wanted!r} in: {seen}")
        chunk = os.read(fd, 65536).decode(errors="replace")
        if not chunk:
            raise EOFError(f"ended before {wanted!r}: {seen}")
        seen += chunk
    return seen


def wait_for(condition, what, seconds=10, interval=0.02):
    """Polls for a state that no descriptor announces (a file's content, a kernel state); without a
    pause for very short waits (interval 0)."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds} s for {what}")
        if interval:
            time.sleep(interval)


def wait_ended(pid, seconds=10):
    """Waits until a process has ended with all its threads. Its number may stay for longer: init
    adopts a process whose parent was killed, and may collect its status late."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if not select.select([fd], [], [], seconds)[0]:
            raise TimeoutError(f"waited {seconds} s for the end of process {pid}")
    finally:
        os.close(fd)


def saluki(*args, program="saluki", **kwargs):
    return subprocess.run([BUILD / program, *map(str, args)], text=True, capture_output=True,
                          **kwargs)


def with_children(pid):
    """A process and its children, as process ids."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [pid, *map(int, f.read().split())]


def receiving(pid):
    """The collector's process that receives: its last child, after the one for statistics."""
    return with_children(pid)[-1]


def anonymous_kib(pid):
    """Anonymous and shared memory of a process and its children."""
    total = 0
    for p in with_children(pid):
        with open(f"/proc/{p}/status", encoding="ascii") as f:
            total += sum(int(line.split()[1]) for line in f
                         if line.startswith(("RssAnon", "RssShmem")))
    return total


def proportional_kib(pid):
    """The same, where a page that n processes share counts for each with an n-th."""
    total = 0
    for p in with_children(pid):
        with open(f"/proc/{p}/smaps_rollup", encoding="ascii") as f:
            total += sum(int(line.split()[1]) for line in f if line.startswith(("Pss_Anon", "Pss_Shmem")))
    return total


def public_of(secret):
    """The public key of a secret one, as text."""
    return saluki("pubkey", input=secret, check=True).stdout.strip()


class Keys:
    """Key files of a collector and its sensors."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.sensors = self.directory / "sensors"
        self.collector = self.directory / "collector.key"
        self.collector_public = self._pair(self.collector)
        self.sensors.write_text("# name id public-key\n")
        self.count = 0

    def _pair(self, path, second_line=""):
        secret = saluki("genkey", check=True).stdout
        public = public_of(secret)
        path.touch(mode=0o600)
        path.write_text(secret + second_line)
        return public

    def sensor(self, name, listed=True, words=""):
        """Returns a sensor's key file, made if needed. The collector will know it if `listed`, with
        `words` after its key; collectors read the list when they start."""
        path = self.directory / f"{name}.key"
        if path.exists():
            return path
        public = self._pair(path, self.collector_public + "\n")
        self.count += 1
        if listed:
            with self.sensors.open("a") as f:
                f.write(f"{name} {self.count} {public} {words}\n")
        return path


class Process:
    """A program under test, whose output is read from a pipe."""

    def __init__(self, ns, args, ready, env=None, **kwargs):
        self.name = pathlib.Path(args[0]).name
        kwargs.setdefault("stderr", subprocess.PIPE)
        self.popen = ns.start(*args, env={**os.environ, **(env or {})}, **kwargs)
        self.said = ""
        if ready:
            self.expect(ready)

    def expect(self, text, seconds=20):
        """Waits until the program has printed `text` on standard error."""
        if text not in self.said:
            self.said += lines_until(self.popen.stderr, time.monotonic() + seconds, text)
        return self.said

    def expect_again(self, signo, text, seconds=20):
        """Sends the signal, and waits until the program has printed `text` once more."""
        before, self.said = self.said, ""
        self.send_signal(signo)
        self.expect(text, seconds)
        self.said = before + self.said

    def pid(self):
        """setpriv and nsenter are replaced by the program."""
        return self.popen.pid

    def send_signal(self, signo):
        os.kill(self.popen.pid, signo)

    def finish(self, signo=signal.SIGINT, seconds=30):
        """Ends it in order; returns (exit status, all output)."""
        if signo and self.popen.poll() is None:
            self.send_signal(signo)
        try:
            _, rest = self.popen.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.said += rest or ""
        return self.popen.returncode, self.said

    def kill(self):
        """Its children end by themselves. One that a test has stopped would keep the pipe open."""
        if self.popen.poll() is None:
            for pid in with_children(self.popen.pid)[1:]:
                with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                    os.kill(pid, signal.SIGCONT)
            self.popen.kill()
            self.popen.communicate()

    def kill_all(self):
        """Sends SIGKILL to all its processes, the children first, and waits for all of them. A process
        closes its standard error before its sockets, so the pipe's end is too early."""
        pids = with_children(self.popen.pid)[::-1]
        ended = [os.pidfd_open(pid) for pid in pids]
        for fd in ended:
            with contextlib.suppress(ProcessLookupError):  # it has ended with the one before
                signal.pidfd_send_signal(fd, signal.SIGKILL)
        self.popen.wait()
        for fd in ended:
            select.select([fd], [], [])
            os.close(fd)


class Collector(Process):
    def __init__(self, ns, keys, write, listen="127.0.0.1:5600", options=(), ready="listening on",
                 before=(), program=BUILD / "saluki-collector", stats=True, sink=None, **kwargs):
        """`before` is a command that executes the collector in its own place. Without `stats`, the collector
        writes no statistics file. With `sink`, it passes combos to this socket instead of writing to `write`."""
        self.stats_file = keys.directory / "stats.json"
        with contextlib.suppress(FileNotFoundError):
            self.stats_file.unlink()
        super().__init__(ns, [*before, program, "--listen", listen, "--key",
                              keys.collector, "--sensors", keys.sensors,
                              *(["--sink", sink] if sink else ["-w", write]),
                              *(["--stats-file", self.stats_file] if stats else []), *options], ready, **kwargs)

    def stats(self):
        """The first statistics come shortly after the collector has reported that it listens."""
        wait_for(self.stats_file.exists, "statistics")
        return json.loads(self.stats_file.read_text())

    def sensor_stats(self, name):
        """None if that sensor has no statistics yet, or there are none at all."""
        with contextlib.suppress(FileNotFoundError):
            for s in json.loads(self.stats_file.read_text())["sensors"]:
                if s["name"] == name:
                    return s
        return None


class Sensor(Process):
    def __init__(self, ns, key, interface, to="127.0.0.1:5600", options=(), ready="capturing by",
                 **kwargs):
        super().__init__(ns, [BUILD / "saluki", "run", "-i", interface, "--to", to, "--key", key,
                              *options], ready, **kwargs)


class Player:
    """Plays a capture over a TUN device that it makes, or sends it from an interface."""

    def __init__(self, ns, target, file, options=()):
        self.popen = ns.start(PLAYER, *target, "-r", file, "--wait", *options,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        lines_until(self.popen.stdout, time.monotonic() + 10, "ready")

    @classmethod
    def tun(cls, ns, name, arphrd, file, options=()):
        return cls(ns, ["--tun", f"{name}:{arphrd}"], file, options)

    @classmethod
    def send(cls, ns, interface, file, options=()):
        return cls(ns, ["--send", interface], file, options)

    def retype(self, arphrd):
        """Changes the type of the device, which must be down."""
        self.popen.stdin.write(f"type {arphrd}\n")
        self.popen.stdin.flush()
        lines_until(self.popen.stdout, time.monotonic() + 10, "ready")

    def go(self):
        self.popen.stdin.write("go\n")
        self.popen.stdin.flush()

    def played(self, seconds=120):
        """Waits until the whole capture is played and has arrived; returns the frames played."""
        return int(lines_until(self.popen.stdout, time.monotonic() + seconds, "\n"))

    def play(self, seconds=120):
        self.go()
        return self.played(seconds)

    def stop(self):
        """Stops playing; returns the frames played."""
        self.popen.terminate()
        return self.played()

    def close(self):
        """The interface is removed too."""
        if self.popen.poll() is None:
            self.popen.terminate()
        self.popen.stdin.close()
        self.popen.wait()
        self.popen.stdout.close()
