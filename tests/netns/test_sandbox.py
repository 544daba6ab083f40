# SPDX-License-Identifier: GPL-2.0
"""The remaining rights of each of the five processes, tried from inside."""
import ctypes
import os
import signal
import subprocess
import time

import pytest

from netns import testbed
from netns.compare import assert_balanced
from reference import captures

SANITIZED = "sanitize" in str(testbed.BUILD)
_libc = ctypes.CDLL(None, use_errno=True)
# Without Landlock only file modes protect files, and these processes are root's.
LANDLOCK = _libc.syscall(444, None, 0, 1) > 0
needs_landlock = pytest.mark.skipif(not LANDLOCK, reason="this kernel has no Landlock")

TRIALS = ["open a file", "make a file", "remove a file", "execute", "start a process",
          "UDP socket", "TCP socket", "packet socket", "netlink socket", "make a map",
          "executable memory", "trace", "mount", "become root", "signal others",
          "punch a hole"]

# Trials that end each process; all others leave it running.
FATAL = {
    "sensor": {"execute", "UDP socket", "TCP socket", "packet socket", "netlink socket",
               "make a map", "trace", "mount"},
    "receiving": {"execute", "UDP socket", "TCP socket", "packet socket", "netlink socket",
                  "make a map", "trace", "mount"},
    "statistics": {"execute", "UDP socket", "TCP socket", "packet socket", "netlink socket",
                   "make a map", "trace", "mount"},
    "privileged": {"execute", "trace"},
    "files": {"execute", "UDP socket", "TCP socket", "packet socket", "netlink socket",
              "make a map", "trace", "mount"},
}
# Trials that belong to a process's work.
ALLOWED = {"privileged": {"packet socket", "netlink socket", "make a map"}}
# Allowed too, but not possible in this test: no spool is open to punch holes in.
UNTRIED = {("sensor", "punch a hole")}

CAPABILITIES = {"kill": 5, "dac_override": 1, "net_admin": 12, "net_raw": 13, "ipc_lock": 14,
                "perfmon": 38, "bpf": 39}
KEPT = {"sensor": [], "receiving": [], "statistics": [], "files": ["kill", "dac_override"],
        "privileged": ["kill", "net_admin", "net_raw", "ipc_lock", "perfmon", "bpf"]}


def bits(names):
    return sum(1 << CAPABILITIES[n] for n in names)


def status_of(pid, task=None):
    path = f"/proc/{pid}/task/{task or pid}/status"
    with open(path, encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def wait_until_limited(pid):
    """A process sets its filter last; see sandbox.h for sanitized builds."""
    def limited():
        status = status_of(pid)
        return status["NoNewPrivs"] == "1" if SANITIZED else status["Seccomp"] == "2"
    testbed.wait_for(limited, f"the limits of {pid}")


def folder_for_trials(bed):
    """A folder where not everybody may do everything."""
    folder = bed.tmp_path.with_name(bed.tmp_path.name + "-elsewhere")
    folder.mkdir()
    (folder / "old").touch()
    for path in (folder, folder / "old"):
        os.chown(path, 65534, 65534)
    return folder


def trial_env(folder):
    return {"LD_PRELOAD": str(testbed.ROOT / "build/tests/trial.so"),
            "TRIAL_MAKE": str(folder / "new"), "TRIAL_REMOVE": str(folder / "old")}


class All:
    """A sensor on an interface and its collector, or the one with `role`, with the trials in all
    their processes."""

    def __init__(self, bed, bundled, role=None):
        self.bed = bed
        self.elsewhere = folder_for_trials(bed)
        env = {} if SANITIZED else trial_env(self.elsewhere)
        output = bed.tmp_path / "output"
        output.mkdir()
        self.player = bed.tun("mon0", 803, bundled, ["--rate", "20000"])
        self.pids = {}
        if role in (None, "files", "receiving", "statistics"):
            self.collector = bed.collector(write=output, env=env)
            self.add(self.collector, "files", "statistics", "receiving")
        if role in (None, "privileged", "sensor"):
            self.sensor = bed.sensor("lib", "mon0", env=env)
            self.add(self.sensor, "privileged", "sensor")

    def add(self, program, *roles):
        pids = testbed.with_children(program.pid())
        self.pids.update(zip(roles, pids))
        for pid in pids:
            wait_until_limited(pid)

    def program(self, role):
        return self.sensor if role in ("sensor", "privileged") else self.collector

    def send(self, role, trial):
        value = ctypes.c_void_p(TRIALS.index(trial))
        if _libc.sigqueue(self.pids[role], signal.SIGUSR2, value):
            raise OSError(ctypes.get_errno(), "sigqueue")

    def attempt(self, role, trial):
        """Returns "done", or the error's name."""
        stream = self.program(role).popen.stderr
        said = ""
        self.send(role, trial)
        for wanted in (f"trial: {trial}: ", "\n"):  # a line may come in parts
            if wanted not in said.rpartition("trial: ")[2] or wanted != "\n":
                said += testbed.lines_until(stream, time.monotonic() + 10, wanted)
        return said.rpartition(f"trial: {trial}: ")[2].split("\n", 1)[0]


def all_nonfatal():
    return [(role, [t for t in TRIALS if t not in fatal]) for role, fatal in FATAL.items()]


def test_trials_are_done_where_nothing_forbids_them(bed):
    """The trials themselves work: a root process does them all."""
    folder = folder_for_trials(bed)
    p = testbed.Process(bed.ns, ["cat"], None, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        env=trial_env(folder))
    bed.stack.callback(p.kill)
    p.popen.stdin.write("started\n")
    p.popen.stdin.flush()
    testbed.lines_until(p.popen.stdout, time.monotonic() + 10, "started")
    for trial in [t for t in TRIALS if t not in ("execute", "trace")]:
        _libc.sigqueue(p.pid(), signal.SIGUSR2, ctypes.c_void_p(TRIALS.index(trial)))
        p.expect(f"trial: {trial}: done\n")
    _libc.sigqueue(p.pid(), signal.SIGUSR2, ctypes.c_void_p(TRIALS.index("execute")))
    assert os.listdir(folder) == ["new"]
    assert p.popen.wait(10) == 0  # true(1) has replaced it; cat would wait for us


def test_capabilities_and_filters(bed, bundled):
    all_ = All(bed, bundled)
    for role, pid in all_.pids.items():
        for task in os.listdir(f"/proc/{pid}/task"):
            status = status_of(pid, task)
            for field in ("CapPrm", "CapEff", "CapBnd"):
                assert int(status[field], 16) == bits(KEPT[role]), (role, task, field)
            for field in ("CapInh", "CapAmb"):
                assert int(status[field], 16) == 0, (role, task, field)
            assert status["NoNewPrivs"] == "1", (role, task)
            assert SANITIZED or status["Seccomp"] == "2", (role, task)
    assert all_.sensor.finish()[0] == 0


@pytest.mark.skipif(SANITIZED, reason="a sanitizer does not lock memory")
def test_keys_are_not_swapped_out(bed, bundled):
    """Keys are neither swapped out, nor readable by another process of the same user, nor in a core
    dump."""
    all_ = All(bed, bundled)
    for role, program in (("sensor", "sensor"), ("receiving", "collector")):
        pid = all_.pids[role]
        status = status_of(pid, pid)
        assert int(status["VmLck"].split()[0]) >= 4, (role, status["VmLck"])
        assert "memory that may be swapped out" not in getattr(all_, program).said
        assert os.stat(f"/proc/{pid}/mem").st_uid == 0, role  # it cannot be dumped
    assert all_.sensor.finish()[0] == 0


@needs_landlock
def test_what_is_refused_leaves_them_running(bed, bundled):
    """After refused calls the work continues, up to a ledger of zero."""
    all_ = All(bed, bundled)
    for role, fatal in FATAL.items():
        for trial in TRIALS:
            if trial in fatal or (role, trial) in UNTRIED:
                continue
            got = all_.attempt(role, trial)
            if trial in ALLOWED.get(role, ()):
                assert got == "done", (role, trial)
            else:
                assert got in ("EACCES", "EPERM", "ENOSYS"), (role, trial, got)
    assert os.listdir(all_.elsewhere) == ["old"]
    count = all_.player.play()
    assert all_.sensor.finish()[0] == 0
    assert all_.collector.finish()[0] == 0
    assert_balanced(all_.collector.sensor_stats("lib"), count)


@pytest.mark.parametrize("role,trial", [(r, t) for r in ("sensor", "receiving")
                                        for t in sorted(FATAL[r])])
def test_what_ends_the_unprivileged_processes(bed, bundled, role, trial):
    """The fatal trials end an unprivileged process; the privileged one reports this, and fails."""
    all_ = All(bed, bundled, role)
    all_.send(role, trial)
    status, said = all_.program(role).finish(signo=None)
    assert status == 1 and "process was ended by signal 31" in said, said
    assert "trial:" not in said


@pytest.mark.parametrize("role,trial", [("privileged", "execute"), ("privileged", "trace"),
                                        ("files", "execute"), ("files", "UDP socket"),
                                        ("files", "mount")])
def test_what_ends_the_privileged_processes(bed, bundled, role, trial):
    """If the privileged process ends, the other process notices, and ends in order."""
    all_ = All(bed, bundled, role)
    child = all_.pids["sensor" if role == "privileged" else "receiving"]
    all_.send(role, trial)
    assert all_.program(role).popen.wait(20) == -signal.SIGSYS
    testbed.wait_ended(child)


# ---- allowed actions -----------------------------------------------------------------------------


def test_reading_a_file_keeps_no_rights(bed, bundled):
    """With -r, nothing is attached: the privileged process only handles signals."""
    collector = bed.collector()
    read_end, write_end = os.pipe()
    reader = bed.reader("lib", "-", stdin=read_end)
    os.close(read_end)
    child = testbed.wait_for(lambda: testbed.with_children(reader.pid())[1:], "two processes")[0]
    for pid in (reader.pid(), child):
        wait_until_limited(pid)
    status = status_of(reader.pid())
    assert int(status["CapEff"], 16) == bits(["kill"]) and status["NoNewPrivs"] == "1"
    data = bundled.read_bytes()
    with open(write_end, "wb") as pipe:
        pipe.write(data)
    assert reader.finish(signo=None)[0] == 0
    collector.finish()
    assert_balanced(collector.sensor_stats("lib"), len(list(captures.frames(bundled))))


@pytest.mark.parametrize("write", ["file", "existing", "folder", "link", "/dev/null"])
def test_outputs_of_every_kind(bed, bundled, write):
    """Landlock allows the output named by -w, whatever kind of file it is."""
    folder = bed.tmp_path / "there"
    folder.mkdir()
    where = {"file": folder / "new.pcapng", "existing": folder / "old.pcapng", "folder": folder,
             "link": folder / "link"}.get(write, write)
    if write == "existing":
        bed.collector(write=where).finish()
    if write == "link":
        (bed.tmp_path / "target").touch()
        where.symlink_to(bed.tmp_path / "target")
    collector = bed.collector(write=where)
    assert bed.reader("lib", bundled).finish(signo=None)[0] == 0
    status, said = collector.finish()
    assert status == 0, said
    assert_balanced(collector.sensor_stats("lib"), len(list(captures.frames(bundled))))
