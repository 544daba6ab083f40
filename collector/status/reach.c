// SPDX-License-Identifier: GPL-2.0
/* Reach: see reach.h. */
#include "reach.h"

#include <errno.h>
#include <string.h>

#include "board/why.h"
#include "common/log.h"
#include "common/suggest.h"

int reach_states(struct board_states *s, const char *path)
{
	char why[BOARD_WHY_MAX];
	int err = board_states_open(s, path);

	if (err)
		log_line("--board %s", board_why(why, path, err));
	return err;
}

static bool is_known(const struct board_state *s, char *name)
{
	const struct status_names one = { &name, 1 };

	for (uint32_t i = 0; i < s->collector.sensors; i++)
		if (status_is_named(&one, &s->sensors[i]))
			return true;
	return false;
}

static void log_unknown(const struct board_state *s, const char *name)
{
	struct suggest g;

	suggest_begin(&g, name, strlen(name));
	for (uint32_t i = 0; i < s->collector.sensors; i++) {
		suggest_offer(&g, s->sensors[i].name);
		suggest_offer(&g, s->sensors[i].group);
	}
	if (g.word)
		log_line("%s: the collector knows no such sensor or group; did you mean '%s'?",
			 name, g.word);
	else
		log_line("%s: the collector knows no such sensor or group", name);
}

int reach_names(const struct board_states *s, const struct status_names *n)
{
	for (int i = 0; i < n->count; i++)
		if (!is_known(&s->now, n->list[i])) {
			log_unknown(&s->now, n->list[i]);
			return -ENOENT;
		}
	return 0;
}
