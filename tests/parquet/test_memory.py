# SPDX-License-Identifier: GPL-2.0
"""Without memory. Not for sanitized builds: sanitizers have their own malloc()."""
import os

from netns.testbed import BUILD
from parquet.table import described, run, write
from parquet.test_errors import COLUMNS, GROUP


def test_every_allocation_may_fail(tmp_path):
    """The programs say so and end: they neither crash nor take what they wrote for a file."""
    good, out = write(tmp_path / "good.parquet", COLUMNS, [GROUP], [("k", "v" * 999)]), tmp_path / "out.parquet"
    for program, args, given in (("parquet_write", [out], described(COLUMNS, [GROUP])),
                                 ("parquet_join", [out, "k", "v", good, good], ""), ("parquet_join", ["k", good], "")):
        whole = run(program, *args, input=given)
        want = out.read_bytes()
        failed = 0
        for nth in range(1, 100):
            done = run(program, *args, input=given, env={**os.environ, "FAIL_AT": str(nth),
                                                         "LD_PRELOAD": str(BUILD / "tests/failing.so")})
            assert done.returncode in (0, 1), (program, nth)
            if done.returncode == 0: # libc does without
                assert (done.stdout, out.read_bytes()) == (whole.stdout, want)
            else:
                failed += 1
                assert "Cannot allocate memory" in done.stderr or program == "parquet_write", nth
        assert 0 < failed < 90
