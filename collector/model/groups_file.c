// SPDX-License-Identifier: GPL-2.0
/* Groups' lines: see groups_file.h. */
#include "groups_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/duration.h"
#include "wire/channel.h"

#define BLANKS " \t"
#define GROUP_USAGE                                                                                \
	"must be 'group NAME', then 'channels LIST' and 'dwell TIME' where it has a plan; no "     \
	"sensor can be named group"
#define REFOCUS_USAGE "must be 'refocus GROUP for TIME EXPRESSION'; no sensor can be named refocus"
#define CHANNELS_MAX 128
#define CYCLE_MAX_US 3600000000ULL /* longest plan that sensors accept */

static bool begins(const char *line, const char *word)
{
	size_t len = strlen(word);

	line += strspn(line, BLANKS);
	return !strncmp(line, word, len) && (!line[len] || strchr(BLANKS, line[len]));
}

int groups_file_has(const char *line)
{
	return begins(line, "group") || begins(line, "refocus");
}

static bool name_valid(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	return strlen(name) < GROUP_NAME_MAX && name[strspn(name, allowed)] == 0;
}

unsigned int groups_file_find(const struct groups_file *f, const char *name)
{
	for (unsigned int i = 0; i < f->groups_count; i++)
		if (!strcmp(f->groups[i].name, name))
			return i + 1;
	return 0;
}

/* ---- group ----------------------------------------------------------------------------------- */

/* Adds a channel to the list. `taken`: the channels before it. */
static const char *add_channel(struct groups_file *f, struct group_line *l, const char *text,
			       size_t len, uint64_t dwell_us, struct radio_channel *taken,
			       unsigned int *count)
{
	size_t at = strlen(l->list);
	const char *why = "a plan has at most 128 channels";
	struct radio_channel *c = &taken[*count];
	char canonical[CHANNEL_TEXT_LEN];

	if (*count < CHANNELS_MAX && channel_parse(c, text, len, &why) == 0) {
		why = NULL;
		for (unsigned int i = 0; i < *count; i++)
			if (channel_is(&taken[i], c))
				why = "is listed twice; to hear more of it, add sensors";
	}
	if (why) {
		snprintf(f->why, sizeof(f->why), "channel '%.*s': %s", len < 30 ? (int)len : 30,
			 text, why);
		return f->why;
	}
	++*count;
	channel_text(canonical, c);
	at += snprintf(l->list + at, sizeof(l->list) - at, "%s%s@%llu%s", at ? "," : "", canonical,
		       (unsigned long long)(dwell_us % 1000 ? dwell_us : dwell_us / 1000),
		       dwell_us % 1000 ? "us" : "ms");
	return at < sizeof(l->list) ? NULL : "has more channels than an order has room for";
}

static const char *add_list(struct groups_file *f, struct group_line *l, const char *text,
			    uint64_t dwell_us)
{
	struct radio_channel taken[CHANNELS_MAX + 1];
	const char *wrong = NULL;
	unsigned int count = 0;

	while (!wrong) {
		size_t len = strcspn(text, ",");

		wrong = add_channel(f, l, text, len, dwell_us, taken, &count);
		if (!text[len])
			break;
		text += len + 1;
	}
	if (!wrong && dwell_us * count > CYCLE_MAX_US)
		wrong = "all dwells are more than an hour";
	return wrong;
}

static const char *add_group(struct groups_file *f, struct group_line *l, char *save)
{
	char *name = strtok_r(NULL, BLANKS, &save), *list = NULL, *dwell = NULL, *word;
	uint64_t dwell_us = GROUP_DWELL_US;

	while ((word = strtok_r(NULL, BLANKS, &save))) {
		char **value = !strcmp(word, "channels") ? &list
			       : !strcmp(word, "dwell")	 ? &dwell
							 : NULL;

		if (!value || *value || !(*value = strtok_r(NULL, BLANKS, &save)))
			return GROUP_USAGE;
	}
	if (!name || (dwell && !list))
		return GROUP_USAGE;
	if (!name_valid(name))
		return "a name is at most 31 letters, digits, dots, dashes and underscores";
	if (groups_file_find(f, name))
		return "a group of this name is there already";
	if (dwell && (duration_us(dwell, strlen(dwell), CYCLE_MAX_US, &dwell_us) ||
		      dwell_us < GROUP_DWELL_MIN_US))
		return "a dwell is a number and its unit, as 250ms, from 5ms to an hour";
	strcpy(l->name, name);
	return list ? add_list(f, l, list, dwell_us) : NULL;
}

/* ---- refocus --------------------------------------------------------------------------------- */

static const char *add_rule(struct refocus_line *l, char *save)
{
	char *name = strtok_r(NULL, BLANKS, &save), *word = strtok_r(NULL, BLANKS, &save);
	char *time = strtok_r(NULL, BLANKS, &save);
	uint64_t us;

	/* Some C libraries set it to NULL after the last word. */
	if (!time || !save || strcmp(word, "for"))
		return REFOCUS_USAGE;
	save += strspn(save, BLANKS);
	if (!*save)
		return REFOCUS_USAGE;
	if (strlen(save) >= sizeof(l->expression))
		return "an expression has at most 511 characters";
	if (!name_valid(name))
		return "a name is at most 31 letters, digits, dots, dashes and underscores";
	if (duration_us(time, strlen(time), DURATION_DAY_US, &us) || us < 1000)
		return "for how long: a number and its unit, as 30s, from 1ms to a day";
	strcpy(l->name, name);
	l->ms = us / 1000;
	snprintf(l->expression, sizeof(l->expression), "%s", save);
	return NULL;
}

/* ---------------------------------------------------------------------------------------------- */

static void *grown(void *list, unsigned int count, const void *item, size_t size)
{
	char *more = realloc(list, (count + 1) * size);

	if (more)
		memcpy(more + count * size, item, size);
	return more;
}

const char *groups_file_line(struct groups_file *f, char *line, unsigned int number)
{
	char *save, *word = strtok_r(line, BLANKS, &save);
	bool is_group = !strcmp(word, "group");
	const char *wrong = "there are at most 256 groups, and 32 rules";
	struct refocus_line rule = { .number = number };
	struct group_line group = { .number = number };
	void *more;

	if ((is_group ? f->groups_count : f->rules_count) < (is_group ? GROUPS_MAX : REFOCUS_MAX))
		wrong = is_group ? add_group(f, &group, save) : add_rule(&rule, save);
	if (wrong)
		return wrong;
	more = is_group ? grown(f->groups, f->groups_count, &group, sizeof(group))
			: grown(f->rules, f->rules_count, &rule, sizeof(rule));
	if (!more)
		return "out of memory";
	if (is_group) {
		f->groups = more;
		f->groups_count++;
	} else {
		f->rules = more;
		f->rules_count++;
	}
	return NULL;
}

const char *groups_file_check(struct groups_file *f, unsigned int *number)
{
	for (unsigned int i = 0; i < f->rules_count; i++) {
		struct refocus_line *l = &f->rules[i];

		l->group = groups_file_find(f, l->name);
		if (l->group)
			continue;
		*number = l->number;
		return "there is no such group; a line 'group NAME' makes it";
	}
	return NULL;
}

void groups_file_free(struct groups_file *f)
{
	free(f->groups);
	free(f->rules);
	*f = (struct groups_file){ 0 };
}
