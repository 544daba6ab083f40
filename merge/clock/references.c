// SPDX-License-Identifier: GPL-2.0
/* References: see references.h. */
#include "references.h"

#include <errno.h>
#include <stdlib.h>

int references_init(struct references *r, uint64_t sets)
{
	r->sets = sets;
	r->of = calloc(sets * REFERENCES_WAYS, sizeof(*r->of));
	return r->of ? 0 : -ENOMEM;
}

void references_free(struct references *r)
{
	free(r->of);
	r->of = NULL;
}

static struct reference *set_of(const struct references *r, uint64_t key)
{
	return &r->of[(key & (r->sets - 1)) * REFERENCES_WAYS];
}

struct reference *references_find(const struct references *r, uint64_t key)
{
	struct reference *set = set_of(r, key);

	for (int i = 0; i < REFERENCES_WAYS; i++)
		if (set[i].used && set[i].key == key)
			return &set[i];
	return NULL;
}

void references_add(struct references *r, uint64_t key, int64_t unified_ns, uint32_t domain)
{
	struct reference *set = set_of(r, key), *to = set;

	for (int i = 0; i < REFERENCES_WAYS; i++) {
		if (!set[i].used || set[i].key == key) {
			to = &set[i];
			break;
		}
		if (set[i].unified_ns < to->unified_ns)
			to = &set[i];
	}
	*to = (struct reference){ key, unified_ns, domain, 1 };
}
