/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps that all interfaces of a run share: the ring, what wakes its reader. They live as long
 * as this object: when an interface comes back the programs are loaded anew around the same ring,
 * so the other process notices nothing. Needs privilege.
 */
#ifndef AGENT_MAPS_H
#define AGENT_MAPS_H

#include <stdint.h>

#include <saluki/record.h>

#include "agent/model/capture_options.h"
#include "pin.h"

struct capture_bpf;

struct maps {
	int ring_fd, mapped_fd, wakeup_fd, journal_fd;
	uint32_t ring_size; /* bytes; of each CPU's where it is mapped */
	uint32_t mapped;    /* CPUs with a mapped ring; 0: the BPF ring buffer */
	uint32_t cpus;	    /* possible ones: slots of counters */
};

/* Sets an open object to load no program: for its maps alone. */
void maps_alone(struct capture_bpf *skel);
/* As before maps_init and after maps_free. */
void maps_zero(struct maps *m);
/* Makes them. Returns 0, or -errno after a line that says what failed. */
int maps_init(struct maps *m, const struct capture_options *o);
/* Takes them from an interface's pins, made as its config says. Returns 0 or -errno. */
int maps_adopt(struct maps *m, const struct saluki_config *c, const struct pin *p);
/* Pins them for an interface. Returns 0 or -errno. */
int maps_pin(const struct maps *m, const struct pin *p);
void maps_free(struct maps *m);

/* Returns 0 where this kernel makes a BPF ring buffer for us, or -errno. */
int maps_ring_supported(void);
/* The same for mapped rings (--ring mapped), and whether they are sound on this machine. */
int maps_mapped_supported(void);

#endif
