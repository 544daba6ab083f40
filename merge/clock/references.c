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

bool references_replayed(struct reference *r, uint32_t domain, int64_t unified_ns)
{
	bool heard = r->domain == domain;

	for (int i = 0; i < r->heard_count; i++)
		heard |= r->heard[i] == (uint16_t)domain;
	if (heard)
		r->replayed |= llabs(unified_ns - r->unified_ns) > REFERENCES_TWICE_NS;
	else if (r->heard_count < REFERENCES_HEARD)
		r->heard[r->heard_count++] = domain;
	return r->replayed;
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
	*to = (struct reference){
		.key = key, .unified_ns = unified_ns, .domain = domain, .used = true
	};
}
