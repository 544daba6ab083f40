// SPDX-License-Identifier: GPL-2.0
/* Sections: see sections.h. */
#include "sections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcapng/section.h"

/* Names are NAME:IF; saluki-merge's are channels. */
static void name_it(struct section_interface *to, const struct pcapng_interface *i)
{
	const char *group = strstr(i->comment, SECTION_GROUP);
	const char *name = i->name;
	unsigned int id = 0;

	if (pcapng_sensor(i->description, to->sensor, sizeof(to->sensor), &id)) {
		size_t len = strlen(to->sensor);

		to->id = id;
		if (!strncmp(name, to->sensor, len) && name[len] == ':')
			name += len + 1;
	} else {
		to->sensor[0] = 0;
	}
	if (group)
		snprintf(to->group, sizeof(to->group), "%.*s", (int)sizeof(to->group) - 1,
			 group + strlen(SECTION_GROUP));
	snprintf(to->name, sizeof(to->name), "%.*s", (int)sizeof(to->name) - 1, name);
}

static void forget(struct sections *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free(s->list[i].block);
	s->count = s->copied = 0;
}

static int add(struct sections *s, struct pcapng_block *b)
{
	const uint8_t *begin = b->end + 4 - b->len;
	struct pcapng_interface i;
	struct section_interface *to;
	uint8_t *block;

	if (s->count == SECTIONS_INTERFACES_MAX)
		return -EBADMSG;
	if (s->count == s->room) {
		uint32_t room = 2 * s->room + 16;
		struct section_interface *longer = realloc(s->list, room * sizeof(*longer));

		if (!longer)
			return -ENOMEM;
		s->list = longer;
		s->room = room;
	}
	block = malloc(b->len);
	if (!block)
		return -ENOMEM;
	memcpy(block, begin, b->len);
	pcapng_interface(b, &i);
	to = &s->list[s->count++];
	*to = (struct section_interface){
		.linktype = i.linktype,
		.ticks = i.ticks,
		.offset_s = i.offset_s,
		.number = -1,
		.copy = -1,
		.block = block,
		.block_len = b->len,
		.swapped = b->swapped,
	};
	name_it(to, &i);
	return 0;
}

int sections_block(struct sections *s, struct pcapng_block *b)
{
	if (b->type == BLOCK_INTERFACE)
		return add(s, b);
	forget(s);
	s->begun++;
	return 0;
}

struct section_interface *sections_interface(struct sections *s, const struct pcapng_block *b)
{
	return b->interface < s->count ? &s->list[b->interface] : NULL;
}

int64_t sections_ns(const struct section_interface *i, const struct pcapng_block *b)
{
	return pcapng_ns(b->ticks, i->ticks, i->offset_s);
}

void sections_free(struct sections *s)
{
	forget(s);
	free(s->list);
	*s = (struct sections){ .list = NULL };
}
