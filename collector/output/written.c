// SPDX-License-Identifier: GPL-2.0
/* Written: see written.h. */
#include "written.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcapng_walk.h"

static int run_index(const struct written_sensor *s, uint64_t run)
{
	for (unsigned int i = 0; s && i < s->count; i++)
		if (s->runs[i].run == run)
			return i;
	return -1;
}

const struct sensor_run *written_find(const struct written *n, uint16_t sensor, uint64_t run)
{
	const struct written_sensor *s = n->of[sensor];
	int i = run_index(s, run);

	return i < 0 ? NULL : &s->runs[i];
}

/* Makes room at the front, for the latest run. The last one is forgotten. */
static struct sensor_run *run_begin(struct written_sensor *s, uint64_t run)
{
	if (s->count < WRITTEN_RUNS)
		s->count++;
	memmove(s->runs + 1, s->runs, (s->count - 1) * sizeof(s->runs[0]));
	s->runs[0] = (struct sensor_run){ .run = run };
	return &s->runs[0];
}

static struct sensor_run *run_to_front(struct written_sensor *s, int i)
{
	struct sensor_run run = s->runs[i];

	memmove(s->runs + 1, s->runs, i * sizeof(s->runs[0]));
	s->runs[0] = run;
	return &s->runs[0];
}

/* Returns NULL without memory. */
static struct written_sensor *find_or_make(struct written *n, uint16_t sensor)
{
	if (!n->of[sensor]) {
		n->of[sensor] = calloc(1, sizeof(*n->of[sensor]));
		n->count += n->of[sensor] != NULL;
	}
	return n->of[sensor];
}

int written_put(struct written *n, uint16_t sensor, uint64_t run, uint64_t next, uint64_t accounted)
{
	struct written_sensor *s = find_or_make(n, sensor);
	struct sensor_run *r;
	int i = run_index(s, run);

	if (!s)
		return -ENOMEM;
	r = i < 0 ? run_begin(s, run) : run_to_front(s, i);
	if (next > r->next)
		r->next = next;
	if (accounted > r->accounted)
		r->accounted = accounted;
	return 0;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* Returns NULL without memory. */
static struct late *late_of(struct written *n, uint16_t sensor)
{
	struct written_sensor *s = find_or_make(n, sensor);

	if (s && !s->late)
		s->late = calloc(1, sizeof(*s->late));
	return s ? s->late : NULL;
}

void written_gaps_put(struct written *n, uint16_t sensor, struct late *l)
{
	struct late *known = late_of(n, sensor);

	l->changed = false;
	if (known)
		*known = *l;
}

int written_gap_put(struct written *n, uint16_t sensor, const struct late_gap *g)
{
	struct late *known = late_of(n, sensor);

	if (!known)
		return -ENOMEM;
	late_add(known, g);
	return 0;
}

void written_gaps(struct written *n, uint16_t sensor, struct late *l)
{
	struct written_sensor *s = n->of[sensor];

	if (s && s->late && !s->given)
		*l = *s->late;
	if (s)
		s->given = true;
}

/* Finds the gap before a combo in a file, or the one that it fills. */
static int scan_gap(struct written *n, const struct combo_name *name)
{
	const struct sensor_run *r = written_find(n, name->sensor, name->run);
	const struct put_name p = {
		.run = name->run, .count = name->count, .first = name->first, .frames = name->frames
	};
	struct late_gap before = { .run = name->run,
				   .from = r ? r->next : 0,
				   .to = name->count,
				   .first = r ? r->accounted : 0,
				   .end = name->first,
				   .earlier = true };
	struct late_gap *g;

	if (!n->gaps || (!r && !n->from_state))
		return 0;
	if (before.from < before.to)
		return written_gap_put(n, name->sensor, &before);
	g = n->of[name->sensor] && n->of[name->sensor]->late
		    ? late_find(n->of[name->sensor]->late, &p)
		    : NULL;
	if (g)
		late_fill(n->of[name->sensor]->late, g, &p);
	return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The walk's current combo. */
struct scan {
	struct combo_place in;
	int64_t at; /* its first block's place */
};

static int scan_block(struct written *n, struct scan *s, const struct pcapng_block *b)
{
	const struct combo_name *name = &s->in.name;

	if (b->kind == PCAPNG_SECTION)
		s->in.left = 0;
	/* Other statistics blocks are between combos, and end the current one. */
	if (b->kind != PCAPNG_PACKET && b->kind != PCAPNG_STATISTICS &&
	    b->kind != PCAPNG_MODULE_EVENT)
		return 0;
	if (b->named)
		s->at = b->at;
	if (!combo_place_block(&s->in, b->named ? &b->name : NULL))
		return 0;
	return scan_gap(n, name)
		       ?: written_put(n, name->sensor, name->run, name->count + 1,
				      name->first + name->frames);
}

int64_t written_scan(struct written *n, int fd, int64_t from, int64_t len)
{
	struct pcapng_block b;
	struct pcapng_walk w;
	struct scan s = { 0 };
	int got = pcapng_walk_init(&w, fd, from, len);

	while (!got && (got = pcapng_walk_next(&w, &b)) == 1)
		got = scan_block(n, &s, &b);
	pcapng_walk_free(&w);
	if (got)
		return got;
	if (w.at == 0 && len > 0 && len < 12)
		return -EBADMSG; /* too short to be recognised */
	/* A combo is one write: if its end is missing, no block follows. */
	return s.in.left ? s.at : w.at;
}

void written_free(struct written *n)
{
	for (int i = 0; n->count; i++) {
		n->count -= n->of[i] != NULL;
		if (n->of[i])
			free(n->of[i]->late);
		free(n->of[i]);
	}
	memset(n, 0, sizeof(*n));
}
