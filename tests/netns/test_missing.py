# SPDX-License-Identifier: GPL-2.0
"""Kernels that lack something, simulated: strace makes system calls fail as they fail there. The
real ones are in tests/vm."""
import pytest

from netns import testbed

# What bpf() says, on which kernel, and what is made of it for people.
NO_BPF = {
    "EPERM": ("not permitted", "root", "CAP_BPF"),
    "ENOSYS": ("this kernel has no bpf()",),
    "EINVAL": ("a BPF feature it lacks",),  # no ring buffer: before Linux 5.8
}


def lacking(bed, inject, *options):
    """saluki run on mon0 with a system call that fails; strace traces from aside (-D), so that the
    process is the sensor."""
    trace = bed.tmp_path / "trace"
    p = testbed.Process(bed.ns, ["strace", "-D", "-f", "-o", trace, f"--inject={inject}",
                                 testbed.BUILD / "saluki", "run", "-i", "mon0", "--to",
                                 "127.0.0.1:5600", "--key", bed.keys.sensor("lib"), *options], None)
    bed.stack.callback(p.kill)
    return p, trace


@pytest.mark.parametrize("source", ["auto", "xdp", "tc"])
@pytest.mark.parametrize("error", NO_BPF)
def test_without_bpf(bed, bundled, error, source):
    """No source is left: one line says what the kernel said and what it means."""
    bed.tun("mon0", 803, bundled)
    sensor, trace = lacking(bed, f"bpf:error={error}", "--source", source)
    status, said = sensor.finish(signo=None)
    assert status == 1 and "capturing by" not in said, said
    assert any(all(w in line for w in ("mon0", *NO_BPF[error])) for line in said.splitlines()), said
    assert f" {error} " in trace.read_text() and "(INJECTED)" in trace.read_text()
