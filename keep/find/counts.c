// SPDX-License-Identifier: GPL-2.0
/* Counts: see counts.h. */
#include "counts.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"

#define SECOND_NS 1000000000LL

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct count *)a)->name, ((const struct count *)b)->name);
}

static int make_room(struct counts *c)
{
	uint32_t room = 2 * c->room + 16;
	struct count **longer;

	if (c->count < c->room)
		return 0;
	longer = realloc(c->list, room * sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	c->list = longer;
	c->room = room;
	return 0;
}

/* Returns the number of the interface's line, or -ENOMEM. Interfaces of one name share a line. */
static int64_t line_number(struct counts *c, const struct section_interface *i)
{
	struct count *n, **found;

	if (make_room(c))
		return -ENOMEM;
	n = malloc(sizeof(*n));
	if (!n)
		return -ENOMEM;
	*n = (struct count){ .number = c->count, .first_ns = INT64_MAX, .last_ns = INT64_MIN };
	snprintf(n->name, sizeof(n->name), "%s%s%s", i->sensor, *i->sensor ? ":" : "", i->name);
	log_clean(n->name);
	found = tsearch(n, &c->by_name, by_name);
	if (!found || *found != n) {
		free(n);
		return found ? (int64_t)(*found)->number : -ENOMEM;
	}
	c->list[c->count] = n;
	return c->count++;
}

int counts_frame(struct counts *c, const struct found *f)
{
	struct count *n;

	if (f->interface->copy < 0)
		f->interface->copy = line_number(c, f->interface);
	if (f->interface->copy < 0)
		return -ENOMEM;
	n = c->list[f->interface->copy];
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
	for (uint32_t i = 0; i < c->count; i++) {
		print_row(c->list[i]);
		frames += c->list[i]->frames;
		bytes += c->list[i]->bytes;
	}
	printf("%-24s %12" PRIu64 " %14" PRIu64 "\n", "all", frames, bytes);
}

void counts_free(struct counts *c)
{
	tdestroy(c->by_name, free);
	free(c->list);
	*c = (struct counts){ .list = NULL };
}
