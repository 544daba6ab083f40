# SPDX-License-Identifier: GPL-2.0
"""A bounded run of the differential fuzzer (`make fuzz` runs it longer), always the same one."""
from bpf import fuzz_trim
from reference import captures

FRAMES = 20000


def test_mutated_frames_are_cut_as_the_reference_cuts_them():
    done, finds = fuzz_trim.fuzz(1, lambda n: n >= FRAMES, sets=[captures.OWN])
    assert done >= FRAMES and not finds, "\n".join(map(fuzz_trim.report, finds))
