/* SPDX-License-Identifier: GPL-2.0 */
/* Closed: the columns of days that get no more rows: joined, and deleted when they are too old. */
#ifndef KEEP_SERVICE_CLOSED_H
#define KEEP_SERVICE_CLOSED_H

#include <stdbool.h>

#include "keep/compact/compact.h"

struct closed {
	struct compact compact;
	uint64_t max_age_us; /* 0: columns live for ever */
	uint64_t rest_ns;    /* CLOCK_BOOTTIME: until then nothing is to be done */
	uint64_t deleted;    /* files so far */
};

/* `folder`: of the columns, -1: none. */
void closed_begin(struct closed *c, int folder, uint64_t max_age_us);
/* Deletes days by their age, and makes one part at most. `now_ns`: CLOCK_REALTIME; with 0,
 * which is not known, the call does nothing. `min_free`: so many bytes stay free. Returns 1: there
 * may be more to do now; 0; -ENOSPC: a part needs compact.wanted bytes, more than at the last call;
 * -EINTR after a signal to stop; or -errno after a line. */
int closed_look(struct closed *c, int64_t now_ns, uint64_t min_free);
void closed_end(struct closed *c);

#endif
