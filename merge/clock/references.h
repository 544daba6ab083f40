/* SPDX-License-Identifier: GPL-2.0 */
/* References: when transmissions that are unique for long were heard first, and by which domain.
 * In: receptions as they arrive, by known clocks. Out: answers for clocks that are to be found. */
#ifndef MERGE_CLOCK_REFERENCES_H
#define MERGE_CLOCK_REFERENCES_H

#include <stdbool.h>
#include <stdint.h>

#define REFERENCES_WAYS 4
#define REFERENCES_HEARD 4 /* domains that are known to have heard it, besides the first one */
#define REFERENCES_TWICE_NS 1000000 /* one transmission's receptions are nearer */

struct reference {
	uint64_t key;
	int64_t unified_ns;
	uint32_t domain;
	bool used, replayed;
	uint8_t heard_count;
	uint16_t heard[REFERENCES_HEARD]; /* domains, modulo 2^16 */
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
/* Notes that the domain has heard it at this time. Returns true if one domain has heard it twice:
 * then somebody replays it, and its time says nothing. */
bool references_replayed(struct reference *r, uint32_t domain, int64_t unified_ns);
/* Replaces the oldest in the set. */
void references_add(struct references *r, uint64_t key, int64_t unified_ns, uint32_t domain);

#endif
