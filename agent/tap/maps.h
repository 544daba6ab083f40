/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maps: the maps that all interfaces of a run share: the ring, the wake-up word, the journal. They
 * live as long as this object. When an interface returns, its programs are loaded again with the
 * same ring, so the other process is not affected. Needs privilege.
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
	uint32_t ring_size; /* bytes; per CPU if mapped */
	uint32_t mapped;    /* CPUs with a mapped ring; 0: the BPF ring buffer */
	uint32_t cpus;	    /* possible CPUs: slots of counters */
};

/* Disables all programs of an open object, to make only its maps. */
void maps_alone(struct capture_bpf *skel);
/* The state before maps_init and after maps_free. */
void maps_zero(struct maps *m);
/* Makes them. Returns 0, or -errno after a line. */
int maps_init(struct maps *m, const struct capture_options *o);
/* Opens them from an interface's pins, and checks them against its config. Returns 0 or -errno. */
int maps_adopt(struct maps *m, const struct saluki_config *c, const struct pin *p);
/* Pins them for an interface. Returns 0 or -errno. */
int maps_pin(const struct maps *m, const struct pin *p);
void maps_free(struct maps *m);

/* Returns 0 if this kernel makes a BPF ring buffer for us, or -errno. */
int maps_ring_supported(void);
/* The same for mapped rings (--ring mapped), and whether they work on this machine. */
int maps_mapped_supported(void);

#endif
