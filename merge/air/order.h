/* SPDX-License-Identifier: GPL-2.0 */
/* Order: things that wait until nothing can come before them. */
#ifndef MERGE_AIR_ORDER_H
#define MERGE_AIR_ORDER_H

#include <stdint.h>

struct order_entry {
	int64_t at_ns;
	uint64_t tie; /* decides between equal times: the lower one is first */
	void *what;   /* the caller's */
};

struct order {
	struct order_entry *heap; /* the earliest first */
	uint32_t count, room;
};

/* Returns 0 or -ENOMEM. */
int order_put(struct order *o, int64_t at_ns, uint64_t tie, void *what);
/* Returns the earliest if it is before `before_ns` (INT64_MAX: in any case), or NULL. */
void *order_get(struct order *o, int64_t before_ns);
void order_free(struct order *o);

#endif
