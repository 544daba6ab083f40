// SPDX-License-Identifier: GPL-2.0
/* Directory: see directory.h. Always holds: names are those that a sensors file may have. */
#include "directory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void clean(char name[LIVE_NAME_MAX])
{
	name[LIVE_NAME_MAX - 1] = 0;
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '?';
}

bool directory_update(struct directory *x, const struct source *s)
{
	uint32_t seq = __atomic_load_n(&s->table->sensors_seq, __ATOMIC_ACQUIRE), count;
	struct live_sensor *list;

	if ((seq & 1) || (x->list && seq == x->seq))
		return false;
	count = __atomic_load_n(&s->table->sensors, __ATOMIC_RELAXED);
	count = count < LIVE_SENSORS_MAX ? count : LIVE_SENSORS_MAX;
	list = malloc((count + 1) * sizeof(*list));
	if (!list)
		return false;
	memcpy(list, source_sensors(s), count * sizeof(*list));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&s->table->sensors_seq, __ATOMIC_RELAXED) != seq) {
		free(list);
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		clean(list[i].name);
		clean(list[i].group);
	}
	free(x->list);
	*x = (struct directory){ .list = list, .count = count, .seq = seq };
	return true;
}

void directory_free(struct directory *x)
{
	free(x->list);
	*x = (struct directory){ 0 };
}
