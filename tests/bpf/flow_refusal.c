// SPDX-License-Identifier: GPL-2.0
/* Refusals: see flow_refusal.h. */
#include "flow_refusal.h"

#include <stdio.h>
#include <string.h>

/* Lines are "12: (79) r9 = *(u64 *)(r6 +8) ; R6=map_value(...)"; the last other line has the
 * reason. */
void refusal_read(const char *log, struct refusal *out)
{
	*out = (struct refusal){ 0 };
	for (const char *line = log; *line;) {
		int len = strcspn(line, "\n");
		unsigned int n, code;

		if (len && sscanf(line, "%u: (%x)", &n, &code) == 2)
			out->at = n;
		else if (len && strncmp(line, "processed ", 10) &&
			 strncmp(line, "verification ", 13) && strncmp(line, "stack depth ", 12))
			snprintf(out->why, sizeof(out->why), "%.*s", len, line);
		line += len + (line[len] == '\n');
	}
}

/* The log's last state of a register, such as "map_value(ks=4,vs=32,off=8)". "": none. */
static void state_of(const char *log, unsigned int reg, char out[256])
{
	char name[8];
	int len = snprintf(name, sizeof(name), " R%u", reg);

	*out = 0;
	while ((log = strstr(log, name))) {
		log += len;
		if (!strncmp(log, "_w=", 3) || *log == '=')
			snprintf(out, 256, "%.*s", (int)strcspn(log, " \n"), strchr(log, '=') + 1);
	}
}

/* `moved`: whether by a constant. Data that moves an address leaves bounds in its state. */
static bool is_address(const char *log, unsigned int reg, bool *moved)
{
	static const char *const bounds[] = { "var_off=", "min=", "max=", "min32=", "max32=" };
	char state[256];

	state_of(log, reg, state);
	*moved = strstr(state, "off=") || !strncmp(state, "fp", 2);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		if (strstr(state, bounds[i]))
			return false;
	return *state && strncmp(state, "scalar", 6);
}

static bool asks_for_null(const struct bpf_insn *i)
{
	return !i->imm &&
	       (i->code == (BPF_JMP | BPF_JEQ | BPF_K) || i->code == (BPF_JMP | BPF_JNE | BPF_K));
}

/* The address of a returned record is data for root's programs. For others it may not be read, not
 * even to be moved to another register. */
static bool keeps_record(const char *log, const struct bpf_insn *i)
{
	char where[256];
	bool moved;

	if (asks_for_null(i))
		return is_address(log, i->dst_reg, &moved) && !moved;
	state_of(log, i->dst_reg, where);
	return i->code == (BPF_ALU64 | BPF_MOV | BPF_X) ||
	       (i->code == (BPF_STX | BPF_MEM | BPF_DW) &&
		(i->dst_reg == BPF_REG_10 || !strncmp(where, "fp", 2)));
}

const char *refusal_is_harmless(const struct refusal *r, const char *log,
				const struct bpf_insn *insns, bool unguarded)
{
	/* Speculative paths are refused too, and use stack. */
	static const char *const guards[] = { "prohibited for !root", "variable stack access",
					      "too complex", "too large", "combined stack size" };
	const struct bpf_insn *at = &insns[r->at];
	bool moved;

	/* Whether an address is 0 reveals nothing, unless data has moved it: then it confirms a
	 * guess. */
	if (strstr(r->why, "pointer comparison prohibited") && asks_for_null(at) &&
	    is_address(log, at->dst_reg, &moved))
		return "an address is compared with 0";
	if (strstr(r->why, "!read_ok") && keeps_record(log, at))
		return "a record that was given back is kept";
	/* For flow.c the rest of the address stays an address (FLOW_REST). */
	if (strstr(r->why, "attempt to corrupt spilled pointer") ||
	    strstr(r->why, "spilled ptr in range of var-offset stack write"))
		return "a part of an address is overwritten";
	for (size_t i = 0; !unguarded && i < sizeof(guards) / sizeof(guards[0]); i++)
		if (strstr(r->why, guards[i]))
			return "guards against speculation";
	return NULL;
}
