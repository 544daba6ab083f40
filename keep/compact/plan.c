// SPDX-License-Identifier: GPL-2.0
/* Plan: see plan.h. */
#include "plan.h"

/* Chooses from `first` on, until a file does not fit: rows keep their order. */
static uint64_t choose(struct day *d, unsigned int first, uint64_t most)
{
	uint64_t bytes = 0;
	unsigned int count = 0;

	for (unsigned int i = 0; i < d->count; i++)
		d->list[i].is_chosen = false;
	for (unsigned int i = first; i < d->count; i++) {
		struct day_file *f = &d->list[i];

		if (f->schema != d->list[first].schema)
			continue;
		if ((uint64_t)f->st.st_size > most - bytes)
			break;
		bytes += (uint64_t)f->st.st_size;
		f->is_chosen = true;
		count++;
	}
	return count > 1 ? bytes : 0;
}

uint64_t plan(struct day *d, uint64_t most)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; !bytes && i < d->count; i++)
		bytes = choose(d, i, most);
	return bytes;
}
