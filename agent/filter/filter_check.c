// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, checked: see filter.h. The rules are those of Linux's bpf_check_classic()
 * (net/core/filter.c): known instructions, jumps forward and inside, scratch memory written before
 * it is read, no division by a constant 0, no shift by more than 31, a return at the end.
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>

/* Linux's extensions for sockets: loads from the last words of the address space. */
static const char *const extensions[] = {
	"the protocol",
	"the packet type (inbound, outbound)",
	"the interface's index",
	"a netlink attribute",
	"a nested netlink attribute",
	"the mark",
	"the queue",
	"the hardware type",
	"the receive hash",
	"the CPU",
	"an instruction of its own",
	"the VLAN tag",
	"whether there is a VLAN tag",
	"the payload's offset",
	"a random number",
	"the VLAN protocol",
};

static bool known(uint16_t code)
{
	switch (code) {
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_H | BPF_ABS:
	case BPF_LD | BPF_B | BPF_ABS:
	case BPF_LD | BPF_W | BPF_IND:
	case BPF_LD | BPF_H | BPF_IND:
	case BPF_LD | BPF_B | BPF_IND:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LD | BPF_IMM:
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_B | BPF_MSH:
	case BPF_LDX | BPF_IMM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
	case BPF_ALU | BPF_NEG:
	case BPF_JMP | BPF_JA:
	case BPF_RET | BPF_K:
	case BPF_RET | BPF_A:
	case BPF_MISC | BPF_TAX:
	case BPF_MISC | BPF_TXA:
		return true;
	}
	if (BPF_CLASS(code) == BPF_ALU)
		return code <= 0xff && BPF_OP(code) <= BPF_XOR && BPF_OP(code) != BPF_NEG;
	if (BPF_CLASS(code) == BPF_JMP)
		return code <= 0xff && BPF_OP(code) >= BPF_JEQ && BPF_OP(code) <= BPF_JSET;
	return false;
}

static const char *wrong_operand(const struct sock_filter *s)
{
	switch (s->code) {
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
		return s->k < BPF_MEMWORDS ? NULL : "uses a word of scratch memory beyond the 16th";
	case BPF_ALU | BPF_DIV | BPF_K:
	case BPF_ALU | BPF_MOD | BPF_K:
		return s->k ? NULL : "divides by 0";
	case BPF_ALU | BPF_LSH | BPF_K:
	case BPF_ALU | BPF_RSH | BPF_K:
		return s->k < 32 ? NULL : "shifts by more than 31 bits";
	default:
		return NULL;
	}
}

static const char *wrong_jump(const struct sock_filter *s, uint32_t behind)
{
	if (BPF_CLASS(s->code) != BPF_JMP)
		return NULL;
	if (s->code == (BPF_JMP | BPF_JA)) {
		/* libpcap's loops: jumps by a negative distance. */
		if ((int32_t)s->k < 0)
			return "jumps backwards: 'protochain' makes such loops, which the kernel "
			       "does not run; use 'proto'";
		return s->k < behind ? NULL : "jumps behind the end";
	}
	return s->jt < behind && s->jf < behind ? NULL : "jumps behind the end";
}

/* Allows two loads about a tag outside the frame. A filter sees the tag inside the frame, so both
 * give 0. Code that libpcap compiles for a live interface then looks for the tag inside the
 * frame. */
static const char *extension(const struct sock_filter *s)
{
	uint32_t n = s->k - (uint32_t)SKF_AD_OFF;

	if (BPF_CLASS(s->code) != BPF_LD || BPF_MODE(s->code) != BPF_ABS ||
	    s->k < (uint32_t)SKF_LL_OFF || n == SKF_AD_VLAN_TAG || n == SKF_AD_VLAN_TAG_PRESENT)
		return NULL;
	if (s->k >= (uint32_t)SKF_AD_OFF && n % 4 == 0 &&
	    n / 4 < sizeof(extensions) / sizeof(extensions[0]))
		return extensions[n / 4];
	return s->k >= (uint32_t)SKF_NET_OFF ? "the network header" : "the link header";
}

/* Scratch memory must be written before it is read, on every path. */
static int unwritten(const struct filter *f)
{
	uint16_t written[FILTER_LEN_MAX], now = 0;

	for (uint32_t i = 0; i < f->len; i++)
		written[i] = 0xffff;
	for (uint32_t i = 0; i < f->len; i++) {
		const struct sock_filter *s = &f->code[i];

		now &= written[i];
		if (s->code == BPF_ST || s->code == BPF_STX)
			now |= 1U << s->k;
		if ((s->code == (BPF_LD | BPF_MEM) || s->code == (BPF_LDX | BPF_MEM)) &&
		    !(now & 1U << s->k))
			return i;
		if (s->code == (BPF_JMP | BPF_JA)) {
			written[i + 1 + s->k] &= now;
			now = 0xffff;
		} else if (BPF_CLASS(s->code) == BPF_JMP) {
			written[i + 1 + s->jt] &= now;
			written[i + 1 + s->jf] &= now;
			now = 0xffff;
		}
	}
	return -1;
}

int filter_check(const struct filter *f, char *why, size_t why_len)
{
	int at;

	if (f->len == 0 || f->len > FILTER_LEN_MAX) {
		snprintf(why, why_len, "%u instructions; there must be 1 to %d: make it shorter",
			 f->len, FILTER_LEN_MAX);
		return -E2BIG;
	}
	for (uint32_t i = 0; i < f->len; i++) {
		const struct sock_filter *s = &f->code[i];
		const char *wrong = known(s->code) ? NULL : "is not one of classic BPF";

		wrong = wrong ?: wrong_operand(s);
		wrong = wrong ?: wrong_jump(s, f->len - i - 1);
		if (wrong) {
			snprintf(why, why_len, "instruction (%03u) %s", i, wrong);
			return -EINVAL;
		}
		wrong = extension(s);
		if (wrong) {
			snprintf(why, why_len,
				 "instruction (%03u) asks Linux for %s, which is not in the frame; "
				 "%s",
				 i, wrong,
				 s->k == (uint32_t)SKF_AD_OFF + SKF_AD_PKTTYPE
					 ? "use -Q in or -Q out"
					 : "leave that part out, or compile without an interface");
			return -EOPNOTSUPP;
		}
	}
	if (BPF_CLASS(f->code[f->len - 1].code) != BPF_RET) {
		snprintf(why, why_len, "the last instruction (%03u) is no return", f->len - 1);
		return -EINVAL;
	}
	at = unwritten(f);
	if (at >= 0) {
		snprintf(why, why_len,
			 "instruction (%03d) reads scratch memory that is not written "
			 "before it",
			 at);
		return -EINVAL;
	}
	return 0;
}
