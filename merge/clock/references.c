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

static uint32_t heard_by(const struct reference *r, unsigned int i)
{
	return (uint32_t)r->heard_high[i] << 16 | r->heard_low[i];
}

static void note_heard(struct reference *r, unsigned int i, uint32_t domain)
{
	r->heard_low[i] = domain;
	r->heard_high[i] = domain >> 16;
}

bool references_replayed(struct reference *r, uint32_t domain, int64_t unified_ns)
{
	bool heard = r->domain == domain;

	for (unsigned int i = 0; i < r->heard_count; i++)
		heard |= heard_by(r, i) == domain;
	if (heard)
		r->replayed |= llabs(unified_ns - r->unified_ns) > REFERENCES_TWICE_NS;
	else if (r->heard_count < REFERENCES_HEARD)
		note_heard(r, r->heard_count++, domain);
	return r->replayed;
}

static void forget_heard(struct reference *r, bool (*retires)(void *, uint32_t), void *context)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < r->heard_count; i++)
		if (!retires(context, heard_by(r, i)))
			note_heard(r, kept++, heard_by(r, i));
	r->heard_count = kept;
}

void references_forget(struct references *r, bool (*retires)(void *, uint32_t), void *context)
{
	for (uint64_t i = 0; i < r->sets * REFERENCES_WAYS; i++) {
		struct reference *e = &r->of[i];

		if (!e->used)
			continue;
		if (retires(context, e->domain))
			e->used = false;
		else
			forget_heard(e, retires, context);
	}
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
