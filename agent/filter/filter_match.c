// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, run in user space, for frames from a file. In: a checked filter, a frame. Out: the
 * verdict of libpcap's bpf_filter(). Always holds: no byte beyond the captured ones is read; a load
 * there refuses the frame.
 */
#include "filter.h"

struct machine {
	const uint8_t *frame;
	uint32_t cap_len, orig_len;
	uint32_t a, x, memory[BPF_MEMWORDS];
};

/* Returns whether the bytes exist. */
static bool load(const struct machine *m, uint64_t off, uint16_t size, uint32_t *out)
{
	uint32_t len = size == BPF_W ? 4 : size == BPF_H ? 2 : 1, value = 0;

	if (off + len > m->cap_len)
		return false;
	for (uint32_t i = 0; i < len; i++)
		value = value << 8 | m->frame[off + i];
	*out = value;
	return true;
}

static bool do_load(struct machine *m, const struct sock_filter *s)
{
	uint32_t *to = BPF_CLASS(s->code) == BPF_LD ? &m->a : &m->x;

	switch (BPF_MODE(s->code)) {
	case BPF_IMM:
		*to = s->k;
		return true;
	case BPF_MEM:
		*to = m->memory[s->k];
		return true;
	case BPF_LEN:
		*to = m->orig_len;
		return true;
	case BPF_MSH:
		if (!load(m, s->k, BPF_B, to))
			return false;
		*to = (*to & 0xf) << 2;
		return true;
	case BPF_IND:
		return load(m, (uint64_t)m->x + s->k, BPF_SIZE(s->code), to);
	default: /* BPF_ABS; extensions that filter_check allows: there is no tag outside the frame
		  */
		if (s->k >= (uint32_t)SKF_AD_OFF) {
			*to = 0;
			return true;
		}
		return load(m, s->k, BPF_SIZE(s->code), to);
	}
}

/* Returns false for a division by 0. */
static bool do_alu(struct machine *m, const struct sock_filter *s)
{
	uint32_t by = BPF_SRC(s->code) == BPF_X ? m->x : s->k;

	switch (BPF_OP(s->code)) {
	case BPF_ADD:
		m->a += by;
		break;
	case BPF_SUB:
		m->a -= by;
		break;
	case BPF_MUL:
		m->a *= by;
		break;
	case BPF_DIV:
		if (by == 0)
			return false;
		m->a /= by;
		break;
	case BPF_MOD:
		if (by == 0)
			return false;
		m->a %= by;
		break;
	case BPF_OR:
		m->a |= by;
		break;
	case BPF_AND:
		m->a &= by;
		break;
	case BPF_XOR:
		m->a ^= by;
		break;
	case BPF_LSH:
		m->a = by < 32 ? m->a << by : 0;
		break;
	case BPF_RSH:
		m->a = by < 32 ? m->a >> by : 0;
		break;
	case BPF_NEG:
		m->a = -m->a;
		break;
	}
	return true;
}

static uint32_t jump(const struct machine *m, const struct sock_filter *s)
{
	uint32_t by = BPF_SRC(s->code) == BPF_X ? m->x : s->k;

	switch (BPF_OP(s->code)) {
	case BPF_JEQ:
		return m->a == by ? s->jt : s->jf;
	case BPF_JGT:
		return m->a > by ? s->jt : s->jf;
	case BPF_JGE:
		return m->a >= by ? s->jt : s->jf;
	case BPF_JSET:
		return m->a & by ? s->jt : s->jf;
	default: /* BPF_JA */
		return s->k;
	}
}

bool filter_match(const struct filter *f, const uint8_t *frame, uint32_t cap_len, uint32_t orig_len)
{
	struct machine m = { .frame = frame, .cap_len = cap_len, .orig_len = orig_len };

	for (uint32_t i = 0; i < f->len; i++) {
		const struct sock_filter *s = &f->code[i];

		switch (BPF_CLASS(s->code)) {
		case BPF_LD:
		case BPF_LDX:
			if (!do_load(&m, s))
				return false;
			break;
		case BPF_ST:
			m.memory[s->k] = m.a;
			break;
		case BPF_STX:
			m.memory[s->k] = m.x;
			break;
		case BPF_ALU:
			if (!do_alu(&m, s))
				return false;
			break;
		case BPF_JMP:
			i += jump(&m, s);
			break;
		case BPF_RET:
			return BPF_RVAL(s->code) == BPF_A ? m.a : s->k;
		case BPF_MISC:
			if (s->code == (BPF_MISC | BPF_TAX))
				m.x = m.a;
			else
				m.a = m.x;
			break;
		}
	}
	return true; /* only an empty filter has no return */
}
