// SPDX-License-Identifier: GPL-2.0
/*
 * Event log, recovery: see event_log_recover.h. Walks through the output twice: the first walk
 * finds the place of each file's last line, the second copies the later lines. No lines are kept in
 * memory, as there may be any number.
 */
#include "event_log_recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "pcapng_walk.h"
#include "sensor.h"

/* A block's place. */
struct place {
	unsigned int span;
	int64_t at;
};

struct recovery {
	struct event_log *lines;
	struct place *ends; /* per file, the place of its last line; `at` -1: before all */
	unsigned int ends_room;
	struct event_log_names names[1 << 16]; /* by the sensor's id */
	uint16_t sensor;		       /* of the walk's current combo */
	uint8_t *buffer;
	size_t len, size;
	uint64_t now_ns;
};

static bool is_behind(const struct place *a, const struct place *b)
{
	return a->span > b->span || (a->span == b->span && a->at > b->at);
}

/* Returns NULL without memory. */
static struct place *end_of(struct recovery *r, uint32_t file)
{
	struct place *ends = r->ends;
	unsigned int room = r->lines->room;

	if (file >= r->ends_room) {
		ends = realloc(ends, room * sizeof(*ends));
		if (!ends)
			return NULL;
		for (unsigned int i = r->ends_room; i < room; i++)
			ends[i] = (struct place){ 0, -1 };
		r->ends = ends;
		r->ends_room = room;
	}
	return &ends[file];
}

/* The first walk: compares a line with its file's last line. */
static void compare(struct recovery *r, const struct place *p, const struct pcapng_block *b,
		    const char *module)
{
	struct event_log *l = r->lines;
	uint32_t number = event_log_file(l, module, &r->names[r->sensor]);
	struct place *end = number == EVENT_LOG_NONE ? NULL : end_of(r, number);
	struct event_log_file *f;

	if (!end)
		return;
	f = &l->of[number];
	if (event_log_open(l, f, r->now_ns) || !f->end)
		return;
	if (strlen(f->end) == b->line_len && !memcmp(f->end, b->line, b->line_len))
		*end = *p;
}

static void flush(struct recovery *r)
{
	event_log_flush(r->lines, r->buffer, true);
	r->len = 0;
}

/* The second walk. */
static void copy(struct recovery *r, const struct place *p, const struct pcapng_block *b,
		 const char *module)
{
	struct event_log_names *names = &r->names[r->sensor];
	uint32_t number = event_log_file(r->lines, module, names);
	struct place *end = number == EVENT_LOG_NONE ? NULL : end_of(r, number);

	if (!end || !is_behind(p, end))
		return;
	if (r->len + b->line_len > r->size || !event_log_have_room(r->lines, 1))
		flush(r);
	memcpy(r->buffer + r->len, b->line, b->line_len);
	event_log_add(r->lines, module, names, NULL, r->len, b->line_len);
	r->len += b->line_len;
}

static int span_walk(struct recovery *r, const struct event_log_span *s, unsigned int number,
		     void (*each)(struct recovery *, const struct place *,
				  const struct pcapng_block *, const char *))
{
	char module[MODULE_EVENT_NAME_MAX + 1];
	struct pcapng_block b;
	struct pcapng_walk w;
	int got = pcapng_walk_init(&w, s->fd, s->from, s->len);

	while (!got && (got = pcapng_walk_next(&w, &b)) == 1) {
		got = 0;
		if (b.named)
			r->sensor = b.name.sensor;
		if (b.line && b.line_len < EVENT_JSON_MAX &&
		    event_json_module(module, b.line, b.line_len))
			each(r, &(struct place){ number, b.at }, &b, module);
	}
	pcapng_walk_free(&w);
	return got;
}

static int walk(struct recovery *r, const struct event_log_span *spans, unsigned int count)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < count; i++)
		err = span_walk(r, &spans[i], i, compare);
	for (unsigned int i = 0; !err && i < count; i++)
		err = span_walk(r, &spans[i], i, copy);
	flush(r);
	return err;
}

void event_log_recover(struct event_log *l, const struct event_log_span *spans, unsigned int count,
		       uint8_t *buffer, size_t size)
{
	struct recovery *r = calloc(1, sizeof(*r));
	uint64_t before = l->written;
	int err = -ENOMEM;

	if (r) {
		r->lines = l;
		r->buffer = buffer;
		r->size = size;
		r->now_ns = monotonic_ns();
		l->recovering = true;
		err = walk(r, spans, count);
		l->recovering = false;
	}
	l->recovered += l->written - before;
	l->written = before;
	if (err)
		log_line("--events %s: lines that a collector before left out may be missing: %s",
			 l->folder, strerror(-err));
	else if (l->recovered)
		log_info("--events %s: %llu line%s that a collector before had not come to",
			 l->folder, (unsigned long long)l->recovered, PLURAL(l->recovered));
	for (unsigned int i = 0; i < l->count; i++) {
		free(l->of[i].end);
		l->of[i].end = NULL;
	}
	if (r)
		free(r->ends);
	free(r);
}
