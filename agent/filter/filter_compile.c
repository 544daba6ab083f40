// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, compiled by libpcap: the only file of the agent that uses it. In: a pcap-filter(7)
 * expression and a link type. Out: classic BPF, checked.
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/filter_words.h"
#include "common/libpcap.h"

static int libpcap_open(struct libpcap *p, char *why, size_t why_len)
{
	if (libpcap_load(p))
		return 0;
	snprintf(why, why_len,
		 "filter expressions are compiled by libpcap, which is not on this machine: "
		 "install libpcap0.8, or compile with 'tcpdump -ddd' elsewhere and use "
		 "--filter-code");
	return -ENOENT;
}

/* Link types whose numbers differ between files (LINKTYPE_) and libpcap (DLT_). */
static int dlt_of(int linktype)
{
	return linktype == 101 ? DLT_RAW : linktype;
}

/* libpcap's error message, with a remedy. */
static void explain(const char *expression, const char *said, char *why, size_t why_len)
{
	const char *remedy = "";
	char hint[FILTER_WORDS_HINT_MAX];

	if (strstr(said, "inbound/outbound"))
		remedy = "; use -Q in or -Q out";
	else if (strstr(said, "netmask not known"))
		remedy = "; use 'ether broadcast' or 'dst host'";
	snprintf(why, why_len, "filter '%.120s': %s%s%s", expression, said, remedy,
		 filter_words_hint(expression, hint));
}

static int take(struct filter *f, const struct bpf_program *program, const char *expression,
		char *why, size_t why_len)
{
	char reason[FILTER_WHY_LEN - 160];
	int err;

	f->len = program->bf_len;
	if (f->len <= FILTER_LEN_MAX)
		for (uint32_t i = 0; i < f->len; i++)
			f->code[i] = (struct sock_filter){ program->bf_insns[i].code,
							   program->bf_insns[i].jt,
							   program->bf_insns[i].jf,
							   program->bf_insns[i].k };
	err = filter_check(f, reason, sizeof(reason));
	if (err)
		snprintf(why, why_len, "filter '%.120s': %s", expression, reason);
	return err;
}

int filter_compile(struct filter *f, const char *expression, int linktype, char *why,
		   size_t why_len)
{
	static struct libpcap p;
	struct bpf_program program = { 0 };
	pcap_t *dead;
	int err;

	f->len = 0;
	f->is_code = false;
	snprintf(f->text, sizeof(f->text), "%s", expression);
	if (!expression[strspn(expression, " \t\n")])
		return 0;
	err = libpcap_open(&p, why, why_len);
	if (err)
		return err;
	dead = p.open_dead(dlt_of(linktype), LIBPCAP_SNAPLEN);
	if (!dead) {
		snprintf(why, why_len, "filter '%.120s': no memory to compile it", expression);
		err = -ENOMEM;
	} else if (p.compile(dead, &program, expression, 1, PCAP_NETMASK_UNKNOWN)) {
		explain(expression, p.geterr(dead), why, why_len);
		err = -EINVAL;
	} else {
		err = take(f, &program, expression, why, why_len);
		p.freecode(&program);
	}
	if (dead)
		p.close(dead);
	if (err)
		f->len = 0;
	return err;
}
