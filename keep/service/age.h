/* SPDX-License-Identifier: GPL-2.0 */
/* Age: whether the clock can be trusted to say how old files are. A clock that was set wrong would
 * make all files old. */
#ifndef KEEP_SERVICE_AGE_H
#define KEEP_SERVICE_AGE_H

#include <stdbool.h>
#include <stdint.h>

struct age {
	int64_t ahead_ns;  /* CLOCK_REALTIME before CLOCK_BOOTTIME, at the last look; 0: none yet */
	int64_t jumped_ns; /* CLOCK_BOOTTIME of the last jump */
	bool has_jumped;
};

/* Returns false in the hour after the clock was set by more than an hour, which is logged. */
bool age_is_known(struct age *a);

#endif
