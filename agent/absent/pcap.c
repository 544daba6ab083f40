// SPDX-License-Identifier: GPL-2.0
/* Replaces the files that need libpcap (NEEDS_pcap in the Makefile): filters are given as code. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/remote/compile_filter.h"

const char compile_filter_none[] = "this saluki is built without libpcap, which compiles filter "
				   "expressions: compile with 'tcpdump -ddd' elsewhere and use "
				   "--filter-code";

int compile_filter_start(void)
{
	return -EOPNOTSUPP;
}

int compile_filter_ask(int sock, const char *expression, int linktype)
{
	return -EOPNOTSUPP;
}

int compile_filter_answer(int sock, struct compiled *c)
{
	return -EOPNOTSUPP;
}

int filter_compile(struct filter *f, const char *expression, int linktype, char *why,
		   size_t why_len)
{
	f->len = 0;
	f->is_code = false;
	snprintf(f->text, sizeof(f->text), "%s", expression);
	if (!expression[strspn(expression, " \t\n")])
		return 0;
	snprintf(why, why_len, "%s", compile_filter_none);
	return -EOPNOTSUPP;
}
