// SPDX-License-Identifier: GPL-2.0
/* Names: see names.h. */
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/extcap.h"

/* Returns the place of the name, or of the first one behind it. */
static unsigned int place_of(const struct names *n, const char *name)
{
	unsigned int from = 0, to = n->count;

	while (from < to) {
		unsigned int middle = from + (to - from) / 2;

		if (strcmp(n->list[middle].name, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static int add(struct names *n, const struct index_sensor *s)
{
	unsigned int at = place_of(n, s->name);
	struct name *to;

	if (at < n->count && !strcmp(n->list[at].name, s->name))
		return 0;
	if (n->count == NAMES_MAX)
		return -E2BIG;
	if (n->count == n->room) {
		unsigned int room = 2 * n->room + 16;
		struct name *longer = realloc(n->list, room * sizeof(*longer));

		if (!longer)
			return -ENOMEM;
		n->list = longer;
		n->room = room;
	}
	to = &n->list[at];
	memmove(to + 1, to, (n->count - at) * sizeof(*to));
	memcpy(to->name, s->name, sizeof(to->name));
	memcpy(to->group, s->group, sizeof(to->group));
	if (!extcap_is_plain(to->group))
		*to->group = 0;
	n->count++;
	return 0;
}

int names_index(struct names *n, const struct index *x)
{
	struct index_cursor c = index_sensors(x), heard;
	struct index_sensor s;
	int err = 0;

	while (!err && index_sensor_next(&c, &s, &heard))
		err = extcap_is_plain(s.name) ? add(n, &s) : 0;
	return err;
}

void names_free(struct names *n)
{
	free(n->list);
	*n = (struct names){ 0 };
}
