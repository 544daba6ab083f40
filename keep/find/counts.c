// SPDX-License-Identifier: GPL-2.0
/* Counts: see counts.h. */
#include "counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"

#define SECOND_NS 1000000000LL

static struct count *find(struct counts *c, const char *name)
{
	for (unsigned int i = c->count; i-- > 0;)
		if (!strcmp(c->list[i].name, name))
			return &c->list[i];
	return NULL;
}

static struct count *add(struct counts *c, const char *name)
{
	if (c->count == c->room) {
		unsigned int room = 2 * c->room + 16;
		struct count *longer = realloc(c->list, room * sizeof(*longer));

		if (!longer)
			return NULL;
		c->list = longer;
		c->room = room;
	}
	c->list[c->count] = (struct count){ .first_ns = INT64_MAX, .last_ns = INT64_MIN };
	snprintf(c->list[c->count].name, sizeof(c->list[0].name), "%s", name);
	return &c->list[c->count++];
}

int counts_frame(struct counts *c, const struct found *f)
{
	const struct section_interface *i = f->interface;
	char name[sizeof(c->list[0].name)];
	struct count *n;

	snprintf(name, sizeof(name), "%s%s%s", i->sensor, *i->sensor ? ":" : "", i->name);
	log_clean(name);
	n = find(c, name) ?: add(c, name);
	if (!n)
		return -ENOMEM;
	n->frames++;
	n->bytes += f->block->whole;
	if (f->ns < n->first_ns)
		n->first_ns = f->ns;
	if (f->ns > n->last_ns)
		n->last_ns = f->ns;
	return 0;
}

static const char *moment_text(char text[40], int64_t ns)
{
	int64_t part_ns = (ns % SECOND_NS + SECOND_NS) % SECOND_NS;
	time_t s = (ns - part_ns) / SECOND_NS;
	struct tm tm;
	size_t n;

	localtime_r(&s, &tm);
	n = strftime(text, 40, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text + n, 40 - n, ".%06" PRId64, part_ns / 1000);
	return text;
}

static void print_row(const struct count *n)
{
	char first[40], last[40];

	printf("%-24s %12" PRIu64 " %14" PRIu64 "  %s  %s\n", *n->name ? n->name : "-", n->frames,
	       n->bytes, moment_text(first, n->first_ns), moment_text(last, n->last_ns));
}

void counts_print(const struct counts *c)
{
	uint64_t frames = 0, bytes = 0;

	if (c->count)
		printf("%-24s %12s %14s  %-26s  %s\n", "sensor:interface", "frames", "bytes",
		       "first", "last");
	for (unsigned int i = 0; i < c->count; i++) {
		print_row(&c->list[i]);
		frames += c->list[i].frames;
		bytes += c->list[i].bytes;
	}
	printf("%-24s %12" PRIu64 " %14" PRIu64 "\n", "all", frames, bytes);
}

void counts_free(struct counts *c)
{
	free(c->list);
	*c = (struct counts){ .list = NULL };
}
