// SPDX-License-Identifier: GPL-2.0
/* Links: see links.h. */
#include "links.h"

#include <string.h>

#include "common/log.h"

const char *links_word(char letter)
{
	switch (letter) {
	case INFO_LINK_DOWN:
		return "down";
	case INFO_LINK_NO_CARRIER:
		return "no carrier";
	case INFO_LINK_ABSENT:
		return "absent";
	default:
		return "";
	}
}

static void log_change(const struct sensor *s, const struct info *i, unsigned int number)
{
	const char *name = i->interfaces[number].name;

	switch (i->links[number]) {
	case INFO_LINK_DOWN:
		log_line("sensor %s: its interface %s is down", s->name, name);
		break;
	case INFO_LINK_NO_CARRIER:
		log_line("sensor %s: its interface %s has no carrier", s->name, name);
		break;
	case INFO_LINK_ABSENT:
		log_line("sensor %s: its interface %s is absent", s->name, name);
		break;
	default:
		log_line("sensor %s: its interface %s is up again", s->name, name);
	}
}

/* Returns the number of changed interfaces. */
static unsigned int look(struct sensor *s, unsigned int lines)
{
	unsigned int changed = 0;
	struct info i;

	info_read(&i, s->info.text, s->info.len);
	for (unsigned int n = 0; n < i.count; n++) {
		if (!strcmp(links_word(i.links[n]), links_word(s->links[n])))
			continue;
		if (lines + changed++ < LINKS_LINES)
			log_change(s, &i, n);
	}
	memcpy(s->links, i.links, sizeof(s->links));
	s->links_version = s->info.version;
	return changed;
}

void links_look(const struct sensors *sensors)
{
	unsigned int changed = 0;

	for (unsigned int i = 0; i < sensors->count; i++) {
		struct sensor *s = sensors->list[i];

		if (s->info.text && s->info.version != s->links_version)
			changed += look(s, changed);
	}
	if (changed > LINKS_LINES)
		log_line("the state of %u more interfaces has changed", changed - LINKS_LINES);
}
