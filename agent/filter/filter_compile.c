// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, compiled by libpcap: the only file that knows it. In: a pcap-filter(7) expression and a
 * link type. Out: classic BPF, checked.
 *
 * libpcap is loaded when there is an expression, and not before: with it come D-Bus, systemd and
 * gcrypt libraries, which a sensor has no other use for, and a sensor without libpcap still runs.
 * Then it stays, for another link type, and a process may have given up the right to open files by
 * then.
 */
#include "filter.h"

#include <dlfcn.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#define SNAPLEN 262144 /* of the frames that filters see, not of what is kept */

struct libpcap {
	void *handle;
	__typeof__(pcap_open_dead) *open_dead;
	__typeof__(pcap_compile) *compile;
	__typeof__(pcap_geterr) *geterr;
	__typeof__(pcap_freecode) *freecode;
	__typeof__(pcap_close) *close;
};

static int libpcap_open(struct libpcap *p, char *why, size_t why_len)
{
	if (p->handle)
		return 0;
	/* Debian's name of it, and everybody else's. */
	p->handle = dlopen("libpcap.so.0.8", RTLD_NOW | RTLD_LOCAL);
	if (!p->handle)
		p->handle = dlopen("libpcap.so.1", RTLD_NOW | RTLD_LOCAL);
	if (p->handle) {
		p->open_dead = dlsym(p->handle, "pcap_open_dead");
		p->compile = dlsym(p->handle, "pcap_compile");
		p->geterr = dlsym(p->handle, "pcap_geterr");
		p->freecode = dlsym(p->handle, "pcap_freecode");
		p->close = dlsym(p->handle, "pcap_close");
		if (p->open_dead && p->compile && p->geterr && p->freecode && p->close)
			return 0;
		dlclose(p->handle);
		p->handle = NULL;
	}
	snprintf(why, why_len,
		 "filter expressions are compiled by libpcap, which is not on this machine: "
		 "install libpcap0.8, or compile with 'tcpdump -ddd' elsewhere and use "
		 "--filter-code");
	return -ENOENT;
}

/* What the link types of files are called inside libpcap, where it differs. */
static int dlt_of(int linktype)
{
	return linktype == 101 ? DLT_RAW : linktype;
}

/* What libpcap says, and what it does not. */
static void explain(const char *expression, const char *said, char *why, size_t why_len)
{
	const char *hint = "";

	if (strstr(said, "inbound/outbound"))
		hint = "; use -Q in or -Q out";
	else if (strstr(said, "netmask not known"))
		hint = "; use 'ether broadcast' or 'dst host'";
	snprintf(why, why_len, "filter '%.120s': %s%s; see pcap-filter(7)", expression, said, hint);
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
	dead = p.open_dead(dlt_of(linktype), SNAPLEN);
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
