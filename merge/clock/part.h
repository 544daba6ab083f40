/* SPDX-License-Identifier: GPL-2.0 */
/* Part: a set of domains that share frames. Its functions are in parts.h. */
#ifndef MERGE_CLOCK_PART_H
#define MERGE_CLOCK_PART_H

#include "domain.h"

struct part {
	struct clock common;	     /* what all its clocks have in common (anchor.h) */
	struct domain *first, *last; /* by `member`; valid after parts_gather() */
	bool is_free;
	int64_t freed_ns; /* at this unified time */
	uint32_t next;	  /* the one that was freed after it */
	int64_t shift_ns; /* while parts are shifted */
};

struct parts {
	struct part *of; /* by number */
	uint32_t room, count;
	uint32_t free; /* parts without a domain, and the first and the last one of them */
	uint32_t oldest, newest;
};

#endif
