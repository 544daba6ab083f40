// SPDX-License-Identifier: GPL-2.0
/* Expression: see expression.h. */
#include "expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/filter_words.h"
#include "common/libpcap.h"

/* LINKTYPE_ values: radiotap, 802.11, Ethernet, Prism. libpcap's DLT_ values are the same. */
static const uint16_t linktypes[] = { 127, 105, 1, 119 };
#define LINKTYPES (sizeof(linktypes) / sizeof(linktypes[0]))

struct expression {
	struct bpf_program programs[LINKTYPES]; /* bf_len 0: not valid for the link type */
};

static struct libpcap libpcap;

/* 'protochain' compiles to a loop, and a frame could choose its length. */
static bool has_loop(const struct bpf_program *p)
{
	for (unsigned int i = 0; i < p->bf_len; i++)
		if (p->bf_insns[i].code == (BPF_JMP | BPF_JA) && (int32_t)p->bf_insns[i].k < 0)
			return true;
	return false;
}

/* Compiles the expression for a link type. Returns whether it can; `why` keeps the first
 * failure. */
static bool compile(struct bpf_program *p, const char *text, int linktype, char *why,
		    size_t why_len)
{
	pcap_t *dead = libpcap.open_dead(linktype, LIBPCAP_SNAPLEN);
	const char *wrong = "no memory to compile it";
	char hint[FILTER_WORDS_HINT_MAX];

	memset(p, 0, sizeof(*p));
	if (dead && libpcap.compile(dead, p, text, 1, PCAP_NETMASK_UNKNOWN)) {
		wrong = libpcap.geterr(dead);
		memset(p, 0, sizeof(*p));
	} else if (dead && has_loop(p)) {
		wrong = "'protochain' makes a loop; use 'proto'";
		libpcap.freecode(p);
		memset(p, 0, sizeof(*p));
	}
	if (!p->bf_len && !*why)
		snprintf(why, why_len, "%s%s", wrong, filter_words_hint(text, hint));
	if (dead)
		libpcap.close(dead);
	return p->bf_len != 0;
}

struct expression *expression_new(const char *text, char *why, size_t why_len)
{
	struct expression *e = calloc(1, sizeof(*e));
	bool any = false;

	*why = 0;
	if (!e || !libpcap_load(&libpcap)) {
		snprintf(why, why_len, "%s",
			 e ? "expressions are compiled by libpcap, which is not on this machine: "
			     "install libpcap0.8"
			   : "out of memory");
		free(e);
		return NULL;
	}
	for (size_t i = 0; i < LINKTYPES; i++)
		any |= compile(&e->programs[i], text, linktypes[i], why, why_len);
	if (any)
		return e;
	expression_free(e);
	return NULL;
}

void expression_free(struct expression *e)
{
	for (size_t i = 0; e && i < LINKTYPES; i++)
		if (e->programs[i].bf_len)
			libpcap.freecode(&e->programs[i]);
	free(e);
}

bool expression_match(const struct expression *e, const struct combo_frame *f)
{
	struct pcap_pkthdr h = { .caplen = f->kept_len, .len = f->orig_len };

	for (size_t i = 0; i < LINKTYPES; i++)
		if (linktypes[i] == f->linktype)
			return e->programs[i].bf_len && libpcap.match(&e->programs[i], &h, f->data);
	return false;
}
