# SPDX-License-Identifier: GPL-2.0
"""Holes planted into agent/module/flow*.c: each is a check removed from a copy. In: a hole's name.
Out: a tests/flow_kernel with that hole, which should find it."""
import dataclasses
import subprocess

from netns.testbed import BUILD, ROOT

SOURCES = ("flow", "flow_helper", "flow_state", "flow_step", "flow_value")
OTHERS = (*(f"tests/bpf/flow_{part}" for part in ("kernel", "refusal", "random", "calls")),
          "agent/module/proof", "agent/module/zeros", "agent/programs/insert")


@dataclasses.dataclass(frozen=True)
class Hole:
    source: str
    there: str  # once in the source
    instead: str
    guarded: bool = True  # found also by a kernel that guards against speculation


HOLES = {
    "an address is stored where others read it": Hole(
        "flow_step", "if (!flow_is_data(&value) && !sure)", "if (0)"),
    "an address is compared with a number": Hole("flow_step", 'return "it compares an address";', "return NULL;"),
    "an address is reckoned with": Hole(
        "flow_step", "if (!flow_is_data(to) || !flow_is_data(&by))\n\t\treturn made;",
        "if (!flow_is_data(to) || !flow_is_data(&by)) {\n\t\t*to = flow_data();\n\t\treturn NULL;\n\t}"),
    "two addresses are subtracted": Hole(
        "flow_step", 'return "it reckons with two addresses";', "{\n\t*to = flow_data();\n\treturn NULL;\n}"),
    "the address of a map is followed": Hole(
        "flow_step",
        "if (at.may & FLOW_MAP)\n\t\treturn followed;\n\tif (at.may & FLOW_STACK)\n\t\twhy = flow_stack_load",
        "if (at.may & FLOW_STACK)\n\t\twhy = flow_stack_load"),
    "an address on the stack is read as data": Hole("flow_state", "if (slot->value.may & FLOW_ADDRESS)", "if (0)"),
    "a load needs no zeros": Hole(
        "flow_state", "flow_value_join(out, &data);\n\t\ts->unwritten[at->frame] |= 1ULL << r.from / 8;",
        "flow_value_join(out, &data);"),
    "a helper needs no zeros": Hole(
        "flow_state", "if ((slot->written & bytes) != bytes)", "if (0)"),
    "one way of two has written": Hole(
        "flow_state", "written = to->written & from->written", "written = to->written | from->written"),
    "the place of a queue's entry is known": Hole(
        "flow_helper", "if (is != PLACE || !map->is_queue || v->span || v->is_indexed)",
        "if (is != PLACE || !map->is_queue)", guarded=False),
    "an address is given as a number": Hole("flow_helper", "return flow_is_data(v) ? NULL", "return true ? NULL"),
    "an address that data has moved is compared with 0": Hole(
        "flow_step", "!v->is_indexed &&\n", "\n", guarded=False),
    "the sign of what is loaded is forgotten": Hole(
        "flow_step", "if (BPF_MODE(i->code) == MEMSX)", "if (0)", guarded=False),
    "what is negated or turned around is as large as before": Hole(
        "flow_step", "*to = turned ||", "if (!turned)\n\t\t*to =", guarded=False),
    "what is negated has 32 bits at most": Hole(
        "flow_step", "*to = turned || i->off", "*to = op == BPF_END || i->off", guarded=False),
    "more is known of a remainder than the verifier knows": Hole(
        "flow_value", "\tif (op == BPF_RSH &&",
        "\tif (op == BPF_MOD && by)\n\t\treturn flow_below(by - 1);\n\tif (op == BPF_RSH &&", guarded=False),
    "a record that was given back is moved and compared with 0": Hole(
        "flow_helper", "FLOW_MEMORY | FLOW_LOOSE | FLOW_DATA }", "FLOW_MEMORY | FLOW_DATA }"),
}


def build(name, folder):
    """The program, in that folder."""
    hole = HOLES[name]
    text = (ROOT / f"agent/module/{hole.source}.c").read_text()
    assert text.count(hole.there) == 1, f"{hole.source}.c has changed; plant '{name}' elsewhere"
    (folder / f"{hole.source}.c").write_text(text.replace(hole.there, hole.instead))
    objects = [BUILD / f"agent/module/{s}.o" for s in SOURCES if s != hole.source]
    program = folder / f"hole{list(HOLES).index(name)}"
    subprocess.run(["cc", "-std=gnu11", "-O1", f"-I{ROOT}", f"-I{ROOT}/include", f"-I{ROOT}/agent/module", "-o",
                    program, folder / f"{hole.source}.c", *objects, *(BUILD / f"{o}.o" for o in OTHERS),
                    BUILD / "common.a", "-lbpf"],
                   check=True)
    return program
