/* SPDX-License-Identifier: GPL-2.0 */
/* Dwells: the table `coverage`: when each interface has listened to which channel
 * (docs/analyse.md). */
#ifndef KEEP_COLUMNS_DWELLS_H
#define KEEP_COLUMNS_DWELLS_H

#include "keep/model/sections.h"
#include "table.h"

struct dwell_row {
	int64_t start_ns, stop_ns;
	uint64_t frames, switch_ns, marked;
	uint32_t mhz, width, center;
	uint32_t error; /* 0: none */
};

/* Reads a statistics block. Returns false if it is about something else. */
bool dwell_read(struct dwell_row *d, const struct section_interface *i, struct pcapng_block b);
/* Returns as table_open(). */
int dwells_open(struct table *t, int fd);
/* Returns 0 or -errno. */
int dwells_row(struct table *t, const struct section_interface *i, const struct dwell_row *d,
	       const char *file);

#endif
