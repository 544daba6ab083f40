# SPDX-License-Identifier: GPL-2.0
"""The files of `make ap70` run on MIPS32 release 1 without a floating-point unit, by their headers
and every instruction. objdump decodes each for release 1 and for release 2: an instruction that
differs, or is unknown to the first, is newer."""
import collections
import re
import subprocess

import pytest

from netns.testbed import ROOT

SIZE_MAX = 512_000  # bytes of flash
MACHINES = {"mips": "big", "mipsel": "little"}
EACH = pytest.mark.parametrize("machine", MACHINES)
TOOLS = "mips-linux-gnu-"  # know both byte orders

# An extension that objdump counts as part of release 1; rotations are in it, as in release 2.
SMARTMIPS = {"ror", "rorv", "lwxs", "maddp", "multp", "mflhxu", "mtlhx", "pperm"}

Instruction = collections.namedtuple("Instruction", "address word text")

# The only one of release 2: it locates a thread's own data. Linux emulates it.
RDHWR = 0x7c03e83b
# The linker's filling between functions: on any release it stops a program that gets there.
SIGRIE = 0x04170001
# musl's _start has these addresses after its first two instructions (arch/mips/crt_arch.h).
START_DATA = range(8, 20, 4)


def binary(machine):
    return ROOT / "build/ap70" / machine / "saluki"


def tool(name, *args, **kwargs):
    return subprocess.run([TOOLS + name, *map(str, args)], capture_output=True, text=True,
                          check=True, **kwargs).stdout


def disassembled(path, release):
    out = tool("objdump", "-d", "-z", "-m", f"mips:{release}", path)
    rows = re.findall(r"^ *([0-9a-f]+):\t([0-9a-f]{8}) \t(.*)$", out, re.M)
    return [Instruction(int(address, 16), int(word, 16), text) for address, word, text in rows]


def newer(path):
    """The instructions that release 1 lacks, or decodes as another."""
    first, second = disassembled(path, "isa32"), disassembled(path, "isa32r2")
    assert [i[:2] for i in first] == [i[:2] for i in second] and first
    return [b for a, b in zip(first, second)
            if a != b or a.text.startswith(".word") or a.text.split()[0] in SMARTMIPS]


def floating(path):
    """The instructions of the floating-point unit, by their code (MIPS32 volume II, tables A.2 and
    A.3): coprocessor 1 and moves of its registers; branches on its flags are in SPECIAL."""
    unit = {0o21, 0o23, 0o61, 0o65, 0o71, 0o75}  # COP1 COP1X LWC1 LDC1 SWC1 SDC1
    return [i for i in disassembled(path, "isa32")
            if i.word >> 26 in unit or (i.word >> 26, i.word & 63) == (0, 1)]


@EACH
def test_what_it_says_of_itself(machine):
    path = binary(machine)
    head, abi = tool("readelf", "-h", path), tool("readelf", "-A", path)
    assert f"2's complement, {MACHINES[machine]} endian" in head
    assert re.search(r"Flags: .*, o32, mips32$", head, re.M), head
    assert re.search(r"^ISA: MIPS32$", abi, re.M) and "ASEs:\n\tNone\n" in abi, abi
    assert re.search(r"^FP ABI: Soft float$", abi, re.M), abi


@EACH
def test_it_is_static_stripped_and_small(machine):
    path = binary(machine)
    segments = re.findall(r"^  ([A-Z_]+) +0x", tool("readelf", "-lW", path), re.M)
    assert "LOAD" in segments and not {"INTERP", "DYNAMIC"} & set(segments), segments
    assert ".symtab" not in tool("readelf", "-SW", path)
    assert path.stat().st_size <= SIZE_MAX
    loaded = tool("size", "-B", path).splitlines()[1].split()
    print(f"{machine}: {path.stat().st_size} bytes; code and constants {loaded[0]}, "
          f"data {loaded[1]}, zeros {loaded[2]}")


@EACH
def test_no_instruction_is_newer(machine):
    path = binary(machine)
    entry = int(re.search(r"Entry point address: +(0x\S+)", tool("readelf", "-h", path))[1], 16)
    found = [i for i in newer(path) if i.address - entry not in START_DATA]
    assert [i for i in found if i.word not in (RDHWR, SIGRIE)] == []
    assert any(i.word == RDHWR for i in found), "errno is a thread's own"


@EACH
def test_no_instruction_is_of_the_floating_point_unit(machine):
    assert floating(binary(machine)) == []


NEWER = ["ext $2,$3,4,5", "ins $2,$3,4,5", "seb $2,$3", "seh $2,$3", "wsbh $2,$3", "di", "pause",
         "rotr $2,$3,4", "rotrv $2,$3,$4", "synci 0($2)", "rdhwr $3,$29", "rdhwr $2,$0",
         "mfhc1 $2,$f4", "lwxs $2,$3($4)"]
FLOATING = ["mul.d $f0,$f2,$f4", "add.s $f0,$f2,$f4", "lwc1 $f0,0($2)", "sdc1 $f0,0($2)",
            "mtc1 $2,$f0", "cvt.d.w $f0,$f2", "c.eq.d $f0,$f2", "bc1t 0", "movf $2,$3,$fcc0"]


def assembled(tmp_path, machine, instruction):
    """An object with one instruction, and harmless ones around it."""
    path = tmp_path / "object.o"
    order = "-EB" if machine == "mips" else "-EL"
    tool("as", order, "-march=mips32r2", "-msmartmips", "-mhard-float", "-mfp64", "-o", path, "-",
         input=f".set noreorder\naddu $2,$3,$4\n{instruction}\nclz $2,$3\n")
    return path


@EACH
@pytest.mark.parametrize("instruction", NEWER)
def test_newer_ones_are_found(tmp_path, machine, instruction):
    path = assembled(tmp_path, machine, instruction)
    assert [i.address for i in newer(path)] == [4]
    assert "mips32r" in tool("readelf", "-h", path)


@EACH
@pytest.mark.parametrize("instruction", FLOATING)
def test_floating_ones_are_found(tmp_path, machine, instruction):
    assert [i.address for i in floating(assembled(tmp_path, machine, instruction))] == [4]
