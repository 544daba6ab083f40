/* SPDX-License-Identifier: GPL-2.0 */
/* Transmissions and receptions: the tables of a unified trace (docs/analyse.md). They are joined by
 * trace and transmission. */
#ifndef KEEP_COLUMNS_TRANSMISSIONS_H
#define KEEP_COLUMNS_TRANSMISSIONS_H

#include "pcapng/receptions.h"
#include "row.h"
#include "table.h"

/* A transmission's place in its trace. */
struct transmission_row {
	uint64_t trace; /* 0: not known */
	const struct trace_receptions *receptions;
};

/* Each returns as table_open(). */
int transmissions_open(struct table *t, int fd);
int receptions_open(struct table *t, int fd);
/* Returns 0 or -errno. `file`: the capture file's name. */
int transmissions_row(struct table *t, const struct row *r, const struct transmission_row *x,
		      const char *file);
/* `sensor`: the name of the reception's sensor. */
int receptions_row(struct table *t, const struct row *r, const struct transmission_row *x,
		   const struct trace_reception *of, const char *sensor);

#endif
