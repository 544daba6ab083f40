/* SPDX-License-Identifier: GPL-2.0 */
/* Want: references for which domains without clock wait. Its functions are in wanted.h. */
#ifndef MERGE_CLOCK_WANT_H
#define MERGE_CLOCK_WANT_H

#include <stdbool.h>
#include <stdint.h>

struct wanted_entry {
	uint32_t domain;  /* number */
	uint32_t waiting; /* index in the domain's list of references */
	uint32_t next;	  /* entry with the same hash: its index + 1; 0: none */
};

struct wanted {
	bool active; /* otherwise all domains are looked at */
	struct wanted_entry *of;
	uint32_t *first; /* by hash: an entry's index + 1; 0: none */
	uint64_t mask;
	uint64_t *look, *cross; /* a bit for each domain */
	uint32_t words;
	uint32_t from; /* no domain before this number is alone */
};

#endif
