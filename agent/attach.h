/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF programs on one interface: load, attach, detach, around maps that outlive them. Needs
 * privilege.
 */
#ifndef AGENT_ATTACH_H
#define AGENT_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "maps.h"
#include "tap.h"

struct capture_bpf;

enum attach_hook { ATTACH_XDP_NATIVE, ATTACH_XDP_GENERIC, ATTACH_TC, ATTACH_HOOKS };

struct attach {
	const struct capture_options *o;
	const struct maps *maps;
	struct tap_interface *interface;
	unsigned int number;
	int counters_fd;    /* the interface's own */
	int xdp_link;	    /* BPF link, -1 */
	bool tc_in, tc_out; /* filters attached */
	bool tc_qdisc;	    /* we made the clsact qdisc */
	int told[ATTACH_HOOKS]; /* the last refusal of each hook that was said */
};

/* As before attach_init and after attach_free. */
void attach_zero(struct attach *a);
/* Makes the interface's counters. `interface` is its state in the tap, kept up to date from here.
 * Returns 0, or -errno after a line. */
int attach_init(struct attach *a, const struct capture_options *o, const struct maps *maps,
		struct tap_interface *interface, unsigned int number);
/* Loads the programs for the interface as tap_query has found it, and attaches them by the best
 * hook that takes them. Returns 0, or -errno after a line a hook tried; with `again`, what was said
 * the last time is not repeated. */
int attach_attach(struct attach *a, bool again);
/* One hook, without falling back; for probe too. Returns 0 or -errno. */
int attach_hook(struct attach *a, enum attach_hook hook);
const char *attach_hook_name(enum attach_hook hook);
/* What a negative errno of the kernel means here, and what to do. */
const char *attach_reason(int err);
/* Takes the programs off. When it returns none is running any more and the counters are final. */
void attach_detach(struct attach *a);
/* Detaches, closes. Takes an attach_init that failed, too. */
void attach_free(struct attach *a);
/* Sets an open object to load no program: for its maps alone. */
void attach_load_none(struct capture_bpf *skel);

#endif
