/* SPDX-License-Identifier: GPL-2.0 */
/* Order: decided transmissions until none can come before them. */
#ifndef MERGE_AIR_ORDER_H
#define MERGE_AIR_ORDER_H

#include "merge/model/transmission.h"

struct order {
	struct transmission **heap; /* the earliest first */
	uint32_t count, room;
};

/* Returns 0 or -ENOMEM. */
int order_put(struct order *o, struct transmission *t);
/* Returns the earliest if it is before `unified_ns` (INT64_MAX: in any case), or NULL. */
struct transmission *order_get(struct order *o, int64_t unified_ns);
void order_free(struct order *o);

#endif
