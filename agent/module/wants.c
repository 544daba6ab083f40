// SPDX-License-Identifier: GPL-2.0
/* Wants: see wants.h. */
#include "wants.h"

#include <linux/bpf.h>
#include <string.h>

#include "words.h"

#define IMM64 (BPF_LD | BPF_IMM | BPF_DW)
#define JCOND 0xe0	       /* BPF_JCOND, Linux 6.9 */
#define MAP_SIDE_MAX (1 << 20) /* bytes of a key or a value; entries */

#ifndef BPF_F_PRESERVE_ELEMS
#define BPF_F_PRESERVE_ELEMS (1U << 11)
#endif

const char *const wants_denied_names[WANTS_DENIED] = {
	[WANTS_UNKNOWN] = "an instruction that is not known here",
	[WANTS_KFUNC] = "a function of the kernel (kfunc)",
	[WANTS_KERNEL] = "a variable of the kernel",
	[WANTS_CALLBACK] = "a function as a callback",
	[WANTS_MAY_LOOP] = "a loop that the verifier does not go through (may_goto)",
	[WANTS_PACKET] = "the packet itself",
};

/* ---- instructions ---------------------------------------------------------------------------- */

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
	default: /* maps by numbers of a loader's own */
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

		if (i->code == IMM64) {
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

/* ---- maps ------------------------------------------------------------------------------------ */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t power_of_two(uint64_t n)
{
	uint64_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/* As the kernel's map_alloc functions have it, generously: kernel/bpf/arraymap.c, hashtab.c and so
 * on. A map that is no larger than this is measured when it has been made. */
uint64_t wants_map_bytes(const struct bpf_map *map)
{
	const uint64_t head = 1024, page = 4096, cpus = libbpf_num_possible_cpus();
	uint64_t key = bpf_map__key_size(map), value = round_up(bpf_map__value_size(map), 8);
	uint64_t n = bpf_map__max_entries(map);

	if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
		return n > (1ULL << 30) ? UINT64_MAX : n + 4 * page;
	if (key > MAP_SIDE_MAX || value > MAP_SIDE_MAX || n > (MAP_SIDE_MAX << 4) || cpus > 8192)
		return UINT64_MAX;
	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
		return head + round_up(n * value, page);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return head + n * (8 + value * cpus);
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
		return head + 16 * power_of_two(n) + (n + cpus) * (64 + round_up(key, 8) + value) +
		       256 * cpus;
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return head + 16 * power_of_two(n) +
		       (n + cpus) * (72 + round_up(key, 8) + value * cpus) + 256 * cpus;
	case BPF_MAP_TYPE_LPM_TRIE: /* with a node between any two */
		return head + 2 * n * (64 + round_up(key, 8) + value);
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		return head + (n + 1) * value;
	case BPF_MAP_TYPE_BLOOM_FILTER:
		return head + power_of_two(4 * n) * 8;
	default:
		return UINT64_MAX;
	}
}

const char *wants_map_denied(const struct bpf_map *map)
{
	uint32_t flags = bpf_map__map_flags(map);

	if (!strncmp(bpf_map__name(map), "saluki_", strlen("saluki_")))
		return "names with saluki_ are the capture's own; give it another";
	if (bpf_map__pin_path(map))
		return "its map would be pinned, and another's of that name be its; remove "
		       "'pinning'";
	if (bpf_map__inner_map((struct bpf_map *)map))
		return "a map of maps; remove 'values'";
	if (!words_map_type_grantable(bpf_map__type(map)))
		return "no policy can grant a map of this type";
	/* Its memory would grow behind the check; a trie has no other way, but is bounded. */
	if (bpf_map__type(map) == BPF_MAP_TYPE_LPM_TRIE)
		flags &= ~BPF_F_NO_PREALLOC;
	if (flags & ~(BPF_F_MMAPABLE | BPF_F_RDONLY_PROG | BPF_F_NO_COMMON_LRU))
		return "its map_flags are none that a module can have; remove them";
	if (bpf_map__ifindex(map) || bpf_map__numa_node(map))
		return "its map would be elsewhere; remove 'numa_node'";
	return NULL;
}
