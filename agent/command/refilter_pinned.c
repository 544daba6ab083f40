// SPDX-License-Identifier: GPL-2.0
/* A new filter without an agent: see refilter.h. */
#include "refilter.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/tap/adopt.h"
#include "agent/tap/attach.h"

static int replace(struct attach *a, struct tap_interface *f, struct capture_options *o,
		   struct maps *maps, struct filter *new, char *why, size_t why_len)
{
	int found = adopt_config(f->name, &a->pin, &a->config, &a->config_fd), err;

	if (found < 1) {
		snprintf(why, why_len, "nothing is attached there; 'saluki status' lists what is");
		return found ? found : -ENOENT;
	}
	err = adopt_options(o, &a->config);
	o->persistent = a->config.persistent;
	err = err ?: maps_adopt(maps, &a->config, &a->pin);
	err = err ?: attach_adopt(a, maps, f);
	if (err) {
		snprintf(why, why_len, "cannot use what is pinned: %s", strerror(-err));
		return err;
	}
	f->keep_headers = a->config.keep_headers;
	f->filter = new;
	return attach_filter(a, why, why_len);
}

int refilter_pinned(const char *interface, struct filter *new, const struct interface_state *link,
		    char *why, size_t why_len)
{
	struct tap_interface f = { .name = interface, .link = *link };
	struct capture_options o = { .interfaces = { interface }, .count = 1 };
	struct attach a;
	struct maps maps;
	struct lock lock;
	int err;

	attach_zero(&a);
	maps_zero(&maps);
	lock_zero(&lock);
	a.o = &o;
	a.name = interface;
	libbpf_set_print(NULL);
	why[0] = 0; /* these two log it themselves */
	err = lock_take(&lock, interface, "");
	err = err ?: pin_take(&a.pin, interface);
	err = err ?: replace(&a, &f, &o, &maps, new, why, why_len);
	attach_free(&a);
	maps_free(&maps);
	lock_release(&lock);
	return err;
}
