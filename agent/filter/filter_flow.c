// SPDX-License-Identifier: GPL-2.0
/* Filter, its flow: see filter_flow.h. Jumps go forward only, so one pass each way is enough. */
#include "filter_flow.h"

#include <string.h>

/* Lists the one or two possible next instructions. Returns their number. */
static int followers(const struct filter *f, uint32_t i, uint32_t next[2])
{
	const struct sock_filter *s = &f->code[i];

	next[0] = i + 1;
	if (BPF_CLASS(s->code) == BPF_RET)
		return 0;
	if (BPF_CLASS(s->code) != BPF_JMP)
		return 1;
	if (BPF_OP(s->code) == BPF_JA) {
		next[0] += s->k;
		return 1;
	}
	next[0] = i + 1 + s->jt;
	next[1] = i + 1 + s->jf;
	return s->jt == s->jf ? 1 : 2;
}

static bool reads_a(uint16_t code)
{
	switch (BPF_CLASS(code)) {
	case BPF_ST:
	case BPF_ALU:
		return true;
	case BPF_JMP:
		return BPF_OP(code) != BPF_JA;
	case BPF_RET:
		return BPF_RVAL(code) == BPF_A;
	case BPF_MISC:
		return code == (BPF_MISC | BPF_TAX);
	default:
		return false;
	}
}

static bool reads_x(uint16_t code)
{
	switch (BPF_CLASS(code)) {
	case BPF_STX:
		return true;
	case BPF_ALU:
	case BPF_JMP:
		return BPF_SRC(code) == BPF_X;
	case BPF_LD:
		return BPF_MODE(code) == BPF_IND;
	case BPF_MISC:
		return code == (BPF_MISC | BPF_TXA);
	default:
		return false;
	}
}

/* ALU instructions read their destination. */
static bool writes_a(uint16_t code)
{
	return BPF_CLASS(code) == BPF_LD || code == (BPF_MISC | BPF_TXA);
}

static bool writes_x(uint16_t code)
{
	return BPF_CLASS(code) == BPF_LDX || code == (BPF_MISC | BPF_TAX);
}

void filter_flow(struct filter_flow *w, const struct filter *f)
{
	uint32_t next[2];

	memset(w, 0, sizeof(*w));
	w->ways[0] = 1;
	for (uint32_t i = 0; i < f->len; i++) {
		int n = w->ways[i] ? followers(f, i, next) : 0;

		while (n-- > 0)
			w->ways[next[n]]++;
	}
	for (uint32_t i = f->len; i-- > 0;) {
		uint16_t code = f->code[i].code;
		int n = followers(f, i, next);

		while (n-- > 0) {
			w->a[i] |= w->a[next[n]];
			w->x[i] |= w->x[next[n]];
		}
		w->a[i] = reads_a(code) || (w->a[i] && !writes_a(code));
		w->x[i] = reads_x(code) || (w->x[i] && !writes_x(code));
	}
}
