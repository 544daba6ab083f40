// SPDX-License-Identifier: GPL-2.0
/*
 * Filter: lists. In: consecutive comparisons of A with constants that all jump to one place, as
 * libpcap compiles "host a or b or c". Out: a binary search with the same verdict: eight
 * comparisons for 200 hosts instead of 200. Always holds: no jump leads into the list's middle, so
 * the single comparisons can go.
 */
#include "filter_chain.h"

#include <stdlib.h>

#include "filter_parts.h"

#define CHAIN_MIN 8 /* below this, single comparisons are as fast */
#define LEAF 4

/* Parses the comparison at `i`: its targets if A is the constant, and if not. For a far target,
 * libpcap makes the comparison skip an unconditional jump. */
static bool compares(const struct filter *f, const struct filter_flow *w, uint32_t i, uint32_t *yes,
		     uint32_t *no)
{
	const struct sock_filter *s = &f->code[i];
	bool skips;

	if (s->code != (BPF_JMP | BPF_JEQ | BPF_K))
		return false;
	skips = s->jt == 0 && s->jf == 1 && s[1].code == (BPF_JMP | BPF_JA) && w->ways[i + 1] == 1;
	if (!skips && (s->jf || !s->jt))
		return false;
	*yes = skips ? i + 2 + s[1].k : i + 1 + s->jt;
	*no = skips ? i + 2 : i + 1;
	return true;
}

bool chain_find(struct chain *c, const struct filter *f, const struct filter_flow *w, uint32_t i)
{
	uint32_t yes, no;

	c->count = 0;
	for (c->no = i; compares(f, w, c->no, &yes, &no); c->no = no) {
		if (c->count && (yes != c->yes || w->ways[c->no] != 1))
			break;
		c->yes = yes;
		c->k[c->count++] = f->code[c->no].k;
	}
	return c->count >= CHAIN_MIN;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void search(struct emitter *e, const uint32_t *k, uint32_t n, uint32_t no)
{
	uint32_t at = e->len;

	if (n <= LEAF) {
		for (uint32_t i = 0; i < n; i++)
			emit_jump(e, BPF_JMP32 | BPF_JEQ | BPF_K, A, 0, k[i], LISTED);
		emit_go(e, no);
		return;
	}
	emit(e, BPF_JMP32 | BPF_JGE | BPF_K, A, 0, 0, k[n / 2]);
	search(e, k, n / 2, no);
	if (!e->no_memory)
		e->insns[at].off = e->len - at - 1;
	search(e, k + n / 2, n - n / 2, no);
}

void chain_emit(struct emitter *e, struct chain *c, struct filter_flow *w)
{
	qsort(c->k, c->count, sizeof(c->k[0]), by_value);
	search(e, c->k, c->count, c->no);
	emit_label(e, LISTED);
	emit_go(e, c->yes); /* may be far: see emit_relays */
	if (!e->no_memory)
		emit_resolve(e, LISTED);
	/* The paths from here know different facts about A. */
	w->ways[c->yes] = w->ways[c->yes] < 2 ? 2 : w->ways[c->yes];
	w->ways[c->no] = w->ways[c->no] < 2 ? 2 : w->ways[c->no];
}
