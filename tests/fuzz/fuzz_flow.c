// SPDX-License-Identifier: GPL-2.0
/*
 * links: agent/module/flow.o agent/module/flow_helper.o agent/module/flow_state.o
 * agent/module/flow_step.o agent/module/flow_value.o
 *
 * Programs of modules, as instructions. Always holds: a refused one has a reason; zeros go to
 * called functions or to the first.
 */
#include "fuzz.h"

#include "agent/module/flow.h"

static const struct flow_map maps[] = {
	{ 0, BPF_MAP_TYPE_ARRAY, 4, 8 },	 { 1, BPF_MAP_TYPE_HASH, 16, 40 },
	{ 2, BPF_MAP_TYPE_QUEUE, 0, 16 },	 { 3, BPF_MAP_TYPE_RINGBUF, 0, 0 },
	{ 4, BPF_MAP_TYPE_LRU_HASH, 256, 8192 },
};

static bool is_called(const struct bpf_insn *insns, size_t count, size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && insns[i].src_reg == BPF_PSEUDO_CALL &&
		    (int64_t)i + 1 + insns[i].imm == (int64_t)n)
			return true;
	return n == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct flow_maps all = { maps, sizeof(maps) / sizeof(maps[0]) };
	size_t count = len / sizeof(struct bpf_insn);
	struct bpf_insn *insns = malloc(count * sizeof(*insns) + 1);
	uint64_t *zeros = calloc(count + 1, sizeof(*zeros));
	char why[FLOW_WHY_LEN] = "";

	memcpy(insns, data, count * sizeof(*insns));
	if (count && flow_check(insns, count, 0, &all, zeros, why))
		CHECK(*why);
	for (size_t n = 0; n < count; n++)
		CHECK(!zeros[n] || is_called(insns, count, n));
	free(zeros);
	free(insns);
	return 0;
}
