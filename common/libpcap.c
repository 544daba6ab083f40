// SPDX-License-Identifier: GPL-2.0
/* libpcap: see libpcap.h. */
#include "libpcap.h"

#include <dlfcn.h>
#include <stddef.h>

bool libpcap_load(struct libpcap *p)
{
	if (p->handle)
		return true;
	/* Debian's name of it, and everybody else's. */
	p->handle = dlopen("libpcap.so.0.8", RTLD_NOW | RTLD_LOCAL);
	if (!p->handle)
		p->handle = dlopen("libpcap.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!p->handle)
		return false;
	p->open_dead = dlsym(p->handle, "pcap_open_dead");
	p->compile = dlsym(p->handle, "pcap_compile");
	p->geterr = dlsym(p->handle, "pcap_geterr");
	p->freecode = dlsym(p->handle, "pcap_freecode");
	p->close = dlsym(p->handle, "pcap_close");
	p->match = dlsym(p->handle, "pcap_offline_filter");
	if (p->open_dead && p->compile && p->geterr && p->freecode && p->close && p->match)
		return true;
	dlclose(p->handle);
	p->handle = NULL;
	return false;
}
