# SPDX-License-Identifier: GPL-2.0
"""Kernels that lack a feature, simulated: strace makes system calls fail as they fail there.
tests/vm has the real kernels."""
import pytest

from netns import testbed
from netns.compare import assert_balanced, assert_same
from netns.test_pipeline import as_seen
from reference import captures

# Errors of bpf(), the kernels that give them, and the words for people.
NO_BPF = {
    "EPERM": ("not permitted", "root", "CAP_BPF"),
    "ENOSYS": ("this kernel has no bpf()",),
    "EINVAL": ("a BPF feature it lacks",),  # no ring buffer: before Linux 5.8
}


class Lacking:
    """saluki run on mon0 under strace, which traces as a grandchild (-D): the process is the
    sensor."""

    def __init__(self, bed, trace, options):
        self.bed = bed
        self.file = bed.tmp_path / "trace"
        self.collector = bed.collector()
        self.player = bed.tun("mon0", 803, bed.tmp_path / "hwsim.pcap", ["--rate", "5000"])
        self.sensor = testbed.Process(
            bed.ns, ["strace", "-D", "-f", "-o", self.file, *trace, testbed.BUILD / "saluki", "run",
                     "-i", "mon0", "--to", "127.0.0.1:5600", "--key", bed.keys.sensor("lib"),
                     *options], None)
        bed.stack.callback(self.sensor.kill)

    def calls(self):
        """The first process's calls, one per line."""
        lines = self.file.read_text().splitlines()
        return [line for line in lines if line.split()[0] == lines[0].split()[0]]

    def captures_by(self, source):
        """Plays the trace, which must arrive whole. Returns the sensor's log."""
        self.sensor.expect(f"mon0: capturing by {source},")
        sent = list(captures.frames(captures.BUNDLED))
        assert self.player.play() == len(sent)
        status, said = self.sensor.finish()
        assert status == 0, said
        self.collector.finish()
        assert_same(as_seen(sent), captures.frames(self.bed.out), stamps=False)
        assert_balanced(self.collector.sensor_stats("lib"), len(sent))
        return said


def assert_line(said, *words):
    assert any(all(w in line for w in words) for line in said.splitlines()), said


@pytest.mark.parametrize("error", NO_BPF)
def test_without_bpf(bed, bundled, error):
    """Without bpf(), auto continues with packet sockets, and logs the kernel's error and its
    meaning."""
    lacking = Lacking(bed, [f"--inject=bpf:error={error}"], [])
    said = lacking.captures_by("mmap v3")
    assert_line(said, "mon0", *NO_BPF[error])
    assert f" {error} " in lacking.file.read_text() and "(INJECTED)" in lacking.file.read_text()


@pytest.mark.parametrize("source", ["xdp", "tc"])
@pytest.mark.parametrize("error", NO_BPF)
def test_without_bpf_there_is_no(bed, bundled, error, source):
    """A missing source that was requested explicitly is not replaced."""
    lacking = Lacking(bed, [f"--inject=bpf:error={error}"], ["--source", source])
    status, said = lacking.sensor.finish(signo=None)
    assert status == 1 and "capturing by" not in said, said
    assert_line(said, "mon0", *NO_BPF[error])


@pytest.mark.parametrize("refused,source", [(0, "mmap v3"), (1, "mmap v2"), (2, "mmap v1"),
                                            (3, "mmap recv")])
def test_older_packet_sockets(bed, bundled, refused, source):
    """If PACKET_VERSION gives EINVAL, the next older version is taken, and each refusal is
    logged."""
    trace = ["-e", "trace=setsockopt"]
    if refused:
        first = version_call(bed)
        trace.append(f"--inject=setsockopt:error=EINVAL:when={first}..{first + refused - 1}")
    lacking = Lacking(bed, trace, ["--source", "mmap"])
    said = lacking.captures_by(source)
    for version in ("mmap v3", "mmap v2", "mmap v1")[:refused]:
        assert_line(said, f"{version} refused", "this kernel does not have it")
    asked = [call for call in lacking.calls() if "PACKET_VERSION" in call]
    assert sum("(INJECTED)" in call for call in asked) == refused


def version_call(bed):
    """Which of a sensor's setsockopt() calls requests a version first: 1 is its first one."""
    lacking = Lacking(bed, ["-e", "trace=setsockopt"], ["--source", "mmap"])
    lacking.sensor.expect("capturing by mmap v3,")
    lacking.sensor.finish()
    lacking.player.close()
    lacking.collector.finish()
    calls = [call for call in lacking.calls() if "setsockopt(" in call]
    return 1 + next(n for n, call in enumerate(calls) if "PACKET_VERSION" in call)


def bpf_call(bed, *words):
    """Which of a sensor's bpf() calls has these words: 1 is its first one."""
    lacking = Lacking(bed, ["-e", "trace=bpf"], [])
    lacking.sensor.expect("ring mapped 4096 KiB for each CPU")
    lacking.sensor.finish()
    lacking.player.close()
    lacking.collector.finish()
    calls = [call for call in lacking.calls() if "bpf(" in call]
    (found,) = [n for n, call in enumerate(calls) if all(w in call for w in words)]
    return 1 + found


@pytest.mark.parametrize("words,error", [
    (("BPF_MAP_CREATE", "saluki_mapped"), "E2BIG"),  # before Linux 6.0
    (("BPF_MAP_CREATE", "saluki_mapped"), "ENOMEM"),
    (("BPF_PROG_LOAD", "saluki_probe"), "EINVAL")])  # before 5.12 it takes no exchange
def test_without_mapped_rings(bed, bundled, words, error):
    """If the kernel does not take what mapped rings need, the default is the BPF ring buffer, and
    all frames arrive."""
    lacking = Lacking(bed, [f"--inject=bpf:error={error}:when={bpf_call(bed, *words)}"], [])
    said = lacking.captures_by("xdp generic")
    assert_line(said, "mon0: capturing by", "ring bpf 4096 KiB")
    assert sum("(INJECTED)" in call for call in lacking.calls()) == 1
