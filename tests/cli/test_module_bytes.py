# SPDX-License-Identifier: GPL-2.0
"""saluki module check: modules that no compiler makes, altered byte by byte and then signed."""
import struct
import subprocess

import pytest

from cli.test_module import fixture_bench, fixture_ns  # noqa: F401 (fixtures)
from netns.testbed import ROOT

# The load of 0x7fff0000 becomes a reference to a map by its descriptor.
DESCRIPTOR = """
int module(struct frame_view *v)
{
	__u32 zero = 0;
	void *map;

	if (!v)
		return 0;
	asm volatile("%0 = 0x7fff0000 ll" : "=r"(map));
	return bpf_map_lookup_elem(map, &zero) != 0;
}
"""

# 4096 runs of the innermost; the verifier checks it once if each claims to be global.
NESTED = """
#define CALLS(name, of)                                                                            \\
	static __attribute__((noinline)) int name(struct frame_view *v)                            \\
	{                                                                                          \\
		int n = 0;                                                                         \\
		asm volatile("" : "+r"(v));                                                        \\
		if (!v)                                                                            \\
			return 0;                                                                  \\
		_Pragma("unroll") for (int i = 0; i < 16; i++)                                     \\
		{                                                                                  \\
			n += of;                                                                   \\
			asm volatile("" : "+r"(n));                                                \\
		}                                                                                  \\
		return n;                                                                          \\
	}
CALLS(f0, v->ttl)
CALLS(f1, f0(v))
CALLS(f2, f1(v))

int module(struct frame_view *v)
{
	return v ? f2(v) : 0;
}
"""


class Object:
    """An object's bytes, and the offsets of its parts."""

    def __init__(self, bench, source):
        c = bench.folder / "made.bpf.c"
        c.write_text(f"#include <saluki/module.h>\n{source}")
        self.path = bench.folder / "made.o"
        subprocess.run(["make", "-s", "-C", ROOT, "module", f"SRC={c}", f"OUT={self.path}"], check=True)
        self.data = bytearray(self.path.read_bytes())

    def section(self, name):
        """Offset and bytes."""
        table, count, names = (struct.unpack_from(f, self.data, at)[0]
                               for f, at in (("<Q", 40), ("<H", 60), ("<H", 62)))
        heads = [struct.unpack_from("<I20xQQ", self.data, table + 64 * i) for i in range(count)]
        return next((at, size) for string, at, size in heads
                    if self.string(heads[names][1] + string) == name)

    def string(self, at):
        return self.data[at:self.data.index(0, at)].decode()

    def functions(self):
        """The types of functions: (offset, name, offset of the name)."""
        begin, _ = self.section(".BTF")
        head, at, size, strings = struct.unpack_from("<4I", self.data, begin + 4)
        at += begin + head
        end = at + size
        while at < end:
            name, info, _ = struct.unpack_from("<3I", self.data, at)
            kind, n = info >> 24 & 31, info & 0xffff
            if kind == 12:
                yield at, self.string(begin + head + strings + name), name
            at += 12 + {1: 4, 3: 12, 14: 4, 17: 4}.get(kind, 0)
            at += n * {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}.get(kind, 0)

    def sign(self, bench):
        self.path.write_bytes(self.data)
        return bench.sign(self.path)


@pytest.mark.parametrize("kind", [1, 2])  # BPF_PSEUDO_MAP_FD, BPF_PSEUDO_MAP_VALUE
@pytest.mark.parametrize("hidden", [False, True])
def test_a_map_by_its_descriptor(bench, kind, hidden):
    """A map by its descriptor is refused: it could be any that 'saluki module load' has open, such
    as the slots with keys and grants. Hidden, it is in a function that is not called, where it
    looks like the second half of an instruction."""
    obj = Object(bench, DESCRIPTOR)
    begin, size = obj.section(".text")
    at = next(at for at in range(begin, begin + size, 8)
              if obj.data[at] == 0x18 and obj.data[at + 4:at + 8] == bytes.fromhex("0000ff7f"))
    if hidden:
        obj.data[at - 8] = 0x18
    obj.data[at + 1] |= kind << 4
    struct.pack_into("<I", obj.data, at + 4, 6)
    assert bench.refused(obj.sign(bench)) == [
        "wants to be linked: refused: .text: its references are not those of clang"]


def test_functions_that_the_verifier_would_go_through_once(bench):
    """Functions that claim to be global, by the global one's name, are refused: the linker takes
    them for that one."""
    obj = Object(bench, NESTED)
    line, = bench.refused(obj.sign(bench))
    assert int(line.split()[1]) > 4096 and "instructions a frame, at most: refused" in line
    module = next(name for _, text, name in obj.functions() if text == "module")
    for at, text, _ in list(obj.functions()):
        if text in ("f0", "f1", "f2"):
            struct.pack_into("<II", obj.data, at, module, 12 << 24 | 1)
    line, = bench.refused(obj.sign(bench))
    assert "wants to be known by its types (BTF): refused: " in line and "as global what is not" in line
