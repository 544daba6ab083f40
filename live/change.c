// SPDX-License-Identifier: GPL-2.0
/* Change: see change.h. If a word is wrong, the earlier choice remains. */
#include "change.h"

#include "say.h"

static void sensors(struct take *t, const char *names)
{
	char why[SELECT_WHY_MAX];

	if (select_sensors(&t->select, names)) {
		say("out of memory");
		return;
	}
	select_apply(&t->select, &t->directory);
	say("sensors: %s", *names ? names : "all");
	t->warns = !select_unknown(&t->select, &t->directory, why);
	if (!t->warns)
		say("%s", why);
}

static void filter(struct take *t, const struct toolbar *bar, const char *text)
{
	char why[SELECT_WHY_MAX] = "out of memory";

	if (select_expression(&t->select, text, why)) {
		say("filter '%.120s': %s", text, why);
		toolbar_send(bar, TOOLBAR_FILTER, TOOLBAR_STATUS, why);
		return;
	}
	say("filter: %s", *text ? text : "all frames");
}

/* Shows the choices of the settings. */
static void initialize(const struct take *t, const struct toolbar *bar)
{
	const struct select *s = &t->select;

	if (s->sensors)
		toolbar_send(bar, TOOLBAR_SENSORS, TOOLBAR_SET, s->sensors);
	if (s->expression.text)
		toolbar_send(bar, TOOLBAR_FILTER, TOOLBAR_SET, s->expression.text);
}

void change(struct take *t, struct toolbar *bar)
{
	struct toolbar_message m;

	while (toolbar_next(bar, &m)) {
		if (m.command == TOOLBAR_INITIALIZED)
			initialize(t, bar);
		else if (m.command == TOOLBAR_SET && m.control == TOOLBAR_SENSORS)
			sensors(t, m.text);
		else if (m.command == TOOLBAR_SET && m.control == TOOLBAR_FILTER)
			filter(t, bar, m.text);
	}
}
