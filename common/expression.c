// SPDX-License-Identifier: GPL-2.0
/* Expression: see expression.h. */
#include "expression.h"

#include <errno.h>
#include <saluki/linktype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_words.h"

static struct libpcap pcap;

/* Link types whose numbers differ between files (LINKTYPE_) and libpcap (DLT_). */
static int dlt_of(uint16_t linktype)
{
	return linktype == 101 ? DLT_RAW : linktype;
}

static int compile(struct expression *e, uint16_t linktype, char why[EXPRESSION_WHY_MAX])
{
	pcap_t *dead = pcap.open_dead(dlt_of(linktype), LIBPCAP_SNAPLEN);
	struct bpf_program program = { 0 };
	char hint[FILTER_WORDS_HINT_MAX];
	int err = dead ? 0 : -ENOMEM;

	if (dead && pcap.compile(dead, &program, e->text, 1, PCAP_NETMASK_UNKNOWN)) {
		snprintf(why, EXPRESSION_WHY_MAX, "%s%s", pcap.geterr(dead),
			 filter_words_hint(e->text, hint));
		err = -EINVAL;
	}
	if (dead)
		pcap.close(dead);
	e->list[e->count].linktype = linktype;
	e->list[e->count].none = err != 0;
	e->list[e->count].program = program;
	e->count++;
	return err;
}

void expression_free(struct expression *e)
{
	for (unsigned int i = 0; i < e->count; i++)
		if (!e->list[i].none)
			pcap.freecode(&e->list[i].program);
	free(e->text);
	*e = (struct expression){ 0 };
}

int expression_set(struct expression *e, const char *text, char why[EXPRESSION_WHY_MAX])
{
	struct expression next = { 0 };
	int radio, wired;

	if (!text || !text[strspn(text, " \t\n")]) {
		expression_free(e);
		return 0;
	}
	if (!libpcap_load(&pcap)) {
		snprintf(why, EXPRESSION_WHY_MAX,
			 "filters are compiled by libpcap, which is not on "
			 "this machine: install libpcap0.8");
		return -ENOENT;
	}
	next.text = strdup(text);
	if (!next.text)
		return -ENOMEM;
	wired = compile(&next, LINKTYPE_ETHERNET, why);
	radio = compile(&next, LINKTYPE_RADIOTAP, why);
	if (wired && radio) {
		expression_free(&next);
		return radio;
	}
	expression_free(e);
	*e = next;
	return 0;
}

bool expression_match(struct expression *e, uint16_t linktype, const uint8_t *data,
		      uint32_t kept_len, uint32_t orig_len)
{
	struct pcap_pkthdr head = { .caplen = kept_len, .len = orig_len };
	char why[EXPRESSION_WHY_MAX];
	unsigned int i = 0;

	if (!e->text)
		return true;
	while (i < e->count && e->list[i].linktype != linktype)
		i++;
	if (i == EXPRESSION_LINKTYPES_MAX)
		return false;
	if (i == e->count)
		compile(e, linktype, why);
	return !e->list[i].none && pcap.match(&e->list[i].program, &head, data);
}
