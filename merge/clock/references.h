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

#define REFERENCES_DOMAIN_BITS 24
#define REFERENCES_DOMAINS (1U << REFERENCES_DOMAIN_BITS)

/* There are many, so that the numbers of domains are packed. */
struct reference {
	uint64_t key;
	int64_t unified_ns;
	uint32_t domain : REFERENCES_DOMAIN_BITS;
	uint32_t used : 1, replayed : 1, heard_count : 3;
	uint16_t heard_low[REFERENCES_HEARD]; /* domains that have heard it, too: 16 bits, */
	uint8_t heard_high[REFERENCES_HEARD]; /* and 8 bits */
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
/* Forgets what is of domains that retire: references, and that they have heard one. */
void references_forget(struct references *r, bool (*retires)(void *context, uint32_t domain),
		       void *context);
/* Replaces the oldest in the set. */
void references_add(struct references *r, uint64_t key, int64_t unified_ns, uint32_t domain);

#endif
