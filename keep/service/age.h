/* SPDX-License-Identifier: GPL-2.0 */
/* Age: whether the clock can be trusted to say how old files are. A clock that was set wrong would
 * make all files old. */
#ifndef KEEP_SERVICE_AGE_H
#define KEEP_SERVICE_AGE_H

#include <stdbool.h>
#include <stdint.h>

struct age {
	int64_t now_ns;	   /* CLOCK_REALTIME that was found right: 0: none is known */
	int64_t ahead_ns;  /* CLOCK_REALTIME before CLOCK_BOOTTIME, at the last look; 0: none yet */
	int64_t jumped_ns; /* CLOCK_BOOTTIME of the last jump */
	bool has_jumped, once;
	int last; /* a descriptor: see age_begin() */
};

/* `last`: a descriptor of a file whose time tells when the last program worked here. A gap of more
 * than 8 days, or 40 if there is `once` only one look, is taken for a clock that is wrong, like one
 * that was set. */
void age_begin(struct age *a, int last, bool once);
/* Sets `now_ns`. It is 0 in the hour after the clock was set by more than an hour, which is logged.
 * The clock may be set at any moment: only this time is checked. */
void age_look(struct age *a);

#endif
