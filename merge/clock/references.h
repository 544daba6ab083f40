/* SPDX-License-Identifier: GPL-2.0 */
/* References: when transmissions that are unique for long were heard first, and by which domain.
 * In: receptions as they arrive, by known clocks. Out: answers for clocks that are to be found. */
#ifndef MERGE_CLOCK_REFERENCES_H
#define MERGE_CLOCK_REFERENCES_H

#include <stdint.h>

#define REFERENCES_WAYS 4

struct reference {
	uint64_t key;
	int64_t unified_ns;
	uint32_t domain;
	uint32_t used; /* 0: free */
};

struct references {
	struct reference *of; /* `sets` times REFERENCES_WAYS */
	uint64_t sets;	      /* a power of two */
};

/* Returns 0 or -ENOMEM. */
int references_init(struct references *r, uint64_t sets);
void references_free(struct references *r);
/* Returns the reference with this key, or NULL. */
struct reference *references_find(const struct references *r, uint64_t key);
/* Replaces the oldest in the set. */
void references_add(struct references *r, uint64_t key, int64_t unified_ns, uint32_t domain);

#endif
