/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame's time in a short line, in tcpdump's five forms.
 */
#ifndef PRINT_STAMP_H
#define PRINT_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

struct stamp {
	unsigned int form; /* -t, counted: 0 time of day, 1 none, 2 seconds since 1970, 3 since the
			    * previous frame, 4 date and time, 5 since the first frame */
	bool started;
	uint64_t reference_ns; /* time of the frame to which differences are printed */
};

/* Loads the local time zone, for which files are opened. */
void stamp_init(struct stamp *s, unsigned int form);
/* Appends the time and a blank, if there is any. */
void stamp_add(struct stamp *s, struct text *t, uint64_t time_ns);

#endif
