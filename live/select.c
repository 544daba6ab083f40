// SPDX-License-Identifier: GPL-2.0
/* Select: see select.h. */
#include "select.h"

#include <errno.h>
#include <saluki/linktype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/suggest.h"
#include "dissect/radiotap.h"
#include "wire/channel.h"

int select_init(struct select *x)
{
	*x = (struct select){ .wanted = calloc(LIVE_SENSORS_MAX, sizeof(bool)) };
	return x->wanted ? 0 : -ENOMEM;
}

void select_free(struct select *x)
{
	free(x->sensors);
	free(x->group);
	free(x->wanted);
	expression_free(&x->expression);
	*x = (struct select){ 0 };
}

/* ---- sensors --------------------------------------------------------------------------------- */

static int replace(char **kept, const char *text)
{
	char *copy = text && *text ? strdup(text) : NULL;

	if (text && *text && !copy)
		return -ENOMEM;
	free(*kept);
	*kept = copy;
	return 0;
}

int select_sensors(struct select *x, const char *names)
{
	return replace(&x->sensors, names);
}

int select_group(struct select *x, const char *name)
{
	return replace(&x->group, name);
}

/* Takes the next name of a list. Returns the rest, or NULL at the end. */
static const char *next_name(const char *list, const char **name, size_t *len)
{
	list += strspn(list, ", ");
	*name = list;
	*len = strcspn(list, ", ");
	return *len ? list + *len : NULL;
}

static bool is_named(const struct live_sensor *s, const char *name, size_t len)
{
	const char *own = s->name;

	if (*name == '@') {
		own = s->group;
		name++, len--;
	}
	return strlen(own) == len && !memcmp(own, name, len);
}

static bool is_listed(const char *list, const struct live_sensor *s)
{
	const char *name;
	size_t len;

	while ((list = next_name(list, &name, &len)))
		if (is_named(s, name, len))
			return true;
	return false;
}

void select_apply(struct select *x, const struct directory *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		x->wanted[i] = (!x->sensors || is_listed(x->sensors, &d->list[i])) &&
			       (!x->group || !strcmp(x->group, d->list[i].group));
}

static bool is_known(const struct directory *d, const char *name, size_t len)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (d->list[i].listed && is_named(&d->list[i], name, len))
			return true;
	return false;
}

static void explain(const struct directory *d, const char *name, size_t len,
		    char why[SELECT_WHY_MAX])
{
	bool group = *name == '@';
	const char *kind = group ? "group" : "sensor";
	struct suggest s;

	suggest_begin(&s, name + group, len - group);
	for (uint32_t i = 0; i < d->count; i++)
		if (d->list[i].listed)
			suggest_offer(&s, group ? d->list[i].group : d->list[i].name);
	snprintf(why, SELECT_WHY_MAX, "%s %.*s: the collector knows no such %s%s%s%s", kind,
		 (int)s.len, s.given, kind, s.word ? "; did you mean " : "", s.word ?: "",
		 s.word ? "?" : "");
}

bool select_unknown(const struct select *x, const struct directory *d, char why[SELECT_WHY_MAX])
{
	const char *list = x->sensors ? x->sensors : "", *at;
	char group[SELECT_WHY_MAX];
	size_t len;

	while ((list = next_name(list, &at, &len)))
		if (!is_known(d, at, len)) {
			explain(d, at, len, why);
			return true;
		}
	snprintf(group, sizeof(group), "@%s", x->group ? x->group : "");
	if (!x->group || is_known(d, group, strlen(group)))
		return false;
	explain(d, group, strlen(group), why);
	return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

int select_channels(struct select *x, const char *list, char why[SELECT_WHY_MAX])
{
	uint16_t mhz[SELECT_CHANNELS_MAX] = { 0 };
	unsigned int count = 0;
	const char *name, *said;
	size_t len;

	while ((list = next_name(list, &name, &len))) {
		struct radio_channel c;

		if (channel_parse(&c, name, len, &said)) {
			snprintf(why, SELECT_WHY_MAX, "'%.*s': %s", (int)(len < 32 ? len : 32),
				 name, said);
			return -EINVAL;
		}
		if (count == SELECT_CHANNELS_MAX) {
			snprintf(why, SELECT_WHY_MAX, "at most %d channels", SELECT_CHANNELS_MAX);
			return -EINVAL;
		}
		mhz[count++] = c.mhz;
	}
	memcpy(x->mhz, mhz, sizeof(mhz));
	x->channels = count;
	return 0;
}

int select_expression(struct select *x, const char *text, char why[SELECT_WHY_MAX])
{
	return expression_set(&x->expression, text, why);
}

static bool on_channel(const struct select *x, uint16_t linktype, const struct block *b)
{
	uint16_t mhz = linktype == LINKTYPE_RADIOTAP ? radiotap_frequency(b->data, b->kept_len) : 0;

	for (unsigned int i = 0; i < x->channels; i++)
		if (x->mhz[i] == mhz)
			return true;
	return !x->channels;
}

bool select_frame(struct select *x, uint16_t linktype, const struct block *b)
{
	return on_channel(x, linktype, b) &&
	       expression_match(&x->expression, linktype, b->data, b->kept_len, b->orig_len);
}
