// SPDX-License-Identifier: GPL-2.0
/*
 * Filter: lists. In: comparisons of A with one constant after the other that all lead to one place,
 * as libpcap makes of "host a or b or c". Out: a search by halves, of the same verdict: eight
 * comparisons for 200 hosts, not 200. Always holds: nothing else leads into the list's middle, so
 * that its single comparisons need not be there.
 */
#include "filter_chain.h"

#include <stdlib.h>

#include "filter_parts.h"

#define CHAIN_MIN 8  /* fewer are as fast one after the other */
#define CHAIN_MAX 256 /* a classic jump reaches no further */
#define LEAF 4

static bool compares(const struct sock_filter *s)
{
	return s->code == (BPF_JMP | BPF_JEQ | BPF_K) && s->jf == 0 && s->jt > 0;
}

uint32_t chain_length(const struct filter *f, const struct filter_flow *w, uint32_t i)
{
	uint32_t n = 0, yes = i + 1 + f->code[i].jt;

	while (n < CHAIN_MAX && i + n < f->len && compares(&f->code[i + n]) &&
	       i + n + 1 + f->code[i + n].jt == yes && (n == 0 || w->ways[i + n] == 1))
		n++;
	return n < CHAIN_MIN ? 0 : n;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* `falls`: what lies behind is where `no` is. */
static void search(struct emitter *e, const uint32_t *k, uint32_t n, uint32_t yes, uint32_t no,
		   bool falls)
{
	uint32_t at = e->len;

	if (n <= LEAF) {
		for (uint32_t i = 0; i < n; i++)
			emit_jump(e, BPF_JMP32 | BPF_JEQ | BPF_K, A, 0, k[i], yes);
		if (!falls)
			emit_go(e, no);
		return;
	}
	emit(e, BPF_JMP32 | BPF_JGE | BPF_K, A, 0, 0, k[n / 2]);
	search(e, k, n / 2, yes, no, false);
	if (!e->no_memory)
		e->insns[at].off = e->len - at - 1;
	search(e, k + n / 2, n - n / 2, yes, no, falls);
}

void chain_emit(struct emitter *e, const struct filter *f, struct filter_flow *w, uint32_t i,
		uint32_t n)
{
	uint32_t k[CHAIN_MAX], yes = i + 1 + f->code[i].jt, no = i + n;

	for (uint32_t j = 0; j < n; j++)
		k[j] = f->code[i + j].k;
	qsort(k, n, sizeof(k[0]), by_value);
	search(e, k, n, yes, no, true);
	/* There are more ways now, each of which knows something else of A. */
	w->ways[yes] = w->ways[yes] < 2 ? 2 : w->ways[yes];
	w->ways[no] = w->ways[no] < 2 ? 2 : w->ways[no];
}
