// SPDX-License-Identifier: GPL-2.0
/* Wants: see wants.h. */
#include "wants.h"

#include <linux/bpf.h>
#include <string.h>

#include "agent/programs/insn.h"
#include "words.h"

#define JCOND 0xe0 /* BPF_JCOND, Linux 6.9 */

const char *const wants_denied_names[WANTS_DENIED] = {
	[WANTS_UNKNOWN] = "an instruction that is not known here",
	[WANTS_KFUNC] = "a function of the kernel (kfunc)",
	[WANTS_KERNEL] = "a variable of the kernel",
	[WANTS_CALLBACK] = "a function as a callback",
	[WANTS_MAY_LOOP] = "a loop that the verifier does not go through (may_goto)",
	[WANTS_PACKET] = "the packet itself",
};

static void want_call(struct module_wants *w, const struct bpf_insn *i)
{
	if (i->src_reg == BPF_PSEUDO_CALL)
		return;
	if (i->src_reg == BPF_PSEUDO_KFUNC_CALL)
		w->denied[WANTS_KFUNC] = true;
	else if (i->src_reg || (uint32_t)i->imm >= GRANT_HELPERS || !words_helper_name(i->imm))
		w->denied[WANTS_UNKNOWN] = true;
	else
		w->helpers[i->imm / 64] |= 1ULL << i->imm % 64;
}

static void want_imm64(struct module_wants *w, const struct bpf_insn *i)
{
	switch (i->src_reg) {
	case 0:
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_VALUE:
		break;
	case BPF_PSEUDO_BTF_ID:
		w->denied[WANTS_KERNEL] = true;
		break;
	case BPF_PSEUDO_FUNC:
		w->denied[WANTS_CALLBACK] = true;
		break;
	default: /* maps by a loader's own numbers */
		w->denied[WANTS_UNKNOWN] = true;
	}
}

static void want_jump(struct module_wants *w, const struct bpf_insn *i)
{
	uint8_t op = BPF_OP(i->code);

	if (i->code == (BPF_JMP | BPF_CALL))
		want_call(w, i);
	else if (op == BPF_CALL)
		w->denied[WANTS_UNKNOWN] = true;
	else if (op == JCOND)
		w->denied[WANTS_MAY_LOOP] = true;
	else if (op > JCOND)
		w->denied[WANTS_UNKNOWN] = true;
}

void wants_insns(struct module_wants *w, const struct bpf_insn *insns, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		const struct bpf_insn *i = &insns[n];
		uint8_t class = BPF_CLASS(i->code), mode = BPF_MODE(i->code);

		if (insn_is_wide(i)) {
			want_imm64(w, i);
			n++;
		} else if (class == BPF_LD) {
			w->denied[mode == BPF_ABS || mode == BPF_IND ? WANTS_PACKET
								     : WANTS_UNKNOWN] = true;
		} else if (class == BPF_JMP || class == BPF_JMP32) {
			want_jump(w, i);
		} else if ((class == BPF_ALU || class == BPF_ALU64) && BPF_OP(i->code) > BPF_END) {
			w->denied[WANTS_UNKNOWN] = true;
		}
	}
}

bool wants_granted(const struct module_wants *w, const struct module_grant *g)
{
	for (unsigned int i = 0; i < WANTS_DENIED; i++)
		if (w->denied[i])
			return false;
	for (unsigned int i = 0; i < GRANT_HELPERS / 64; i++)
		if (w->helpers[i] & ~g->helpers[i])
			return false;
	return true;
}
