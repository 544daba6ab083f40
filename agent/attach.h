/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The BPF programs: load, attach, detach. Needs privilege. The maps live as long as this
 * object: when an interface comes back the programs are loaded anew around the same ring and
 * counters, so the other process notices nothing.
 */
#ifndef AGENT_ATTACH_H
#define AGENT_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "link.h"
#include "options.h"
#include "pin.h"

struct attach {
	const struct run_options *o;
	const char *interface;
	const char *source; /* "xdp native", "xdp generic", "tc"; NULL while not attached */
	bool keep_headers;  /* as decided for the link type */
	struct link_state link;
	int ring_fd, mapped_fd, counters_fd, wakeup_fd;
	uint32_t cpus;	    /* possible ones: slots of counters */
	uint32_t mapped;    /* CPUs with a mapped ring; 0: the BPF ring buffer */
	int xdp_link;	    /* BPF link, -1 */
	bool tc_in, tc_out; /* filters attached */
	bool tc_qdisc;	    /* we made the clsact qdisc */
	struct pin pin;
	int told[3]; /* the last refusal of each hook that was said */
};

/* Returns 0 where this kernel makes a BPF ring buffer for us, or -errno. */
int attach_ring_supported(void);
/* As before attach_init and after attach_free. */
void attach_zero(struct attach *a);
/* The same for mapped rings (--ring mapped), and whether they are sound on this machine. */
int attach_mapped_supported(void);
/* Makes the maps. Returns 0, or -errno after a line that says what failed. */
int attach_init(struct attach *a, const struct run_options *o, const char *interface);
/* Loads the programs for the interface as it is now, and attaches them by the best hook that
 * takes them. Returns 0, or -errno after a line a hook tried; with `again`, what was said the last
 * time is not repeated. */
int attach_attach(struct attach *a, bool again);
/* One hook, without falling back; for probe too. The lock of attach_pin must be held. Returns 0
 * or -errno. */
enum attach_hook { ATTACH_XDP_NATIVE, ATTACH_XDP_GENERIC, ATTACH_TC };
int attach_hook(struct attach *a, enum attach_hook hook);
const char *attach_hook_name(enum attach_hook hook);
/* What a negative errno of the kernel means here, and what to do. */
const char *attach_reason(int err);
/* Locks the interface and pins the maps (pin.h). Returns 0, or -errno after a line. */
int attach_pin(struct attach *a);
/* Takes the programs off. When it returns none is running any more and the counters are final. */
void attach_detach(struct attach *a);
/* Detaches, unpins, closes. Takes an attach_init that failed, too. */
void attach_free(struct attach *a);

#endif
