// SPDX-License-Identifier: GPL-2.0
/* Clocks: see clocks.h. */
#include "clocks.h"

#include <stdlib.h>
#include <string.h>

#define SETS (64 * 1024)
#define ALONE_NS 2100000000LL
#define SPARSE_NS 60000000000LL

int clocks_init(struct clocks *c)
{
	*c = (struct clocks){ .alone_ns = ALONE_NS, .sparse_ns = SPARSE_NS };
	return references_init(&c->references, SETS);
}

void clocks_free(struct clocks *c)
{
	for (unsigned int i = 0; i < c->count; i++) {
		queue_free(&c->list[i]->queue);
		free(c->list[i]->waiting);
		free(c->list[i]);
	}
	free(c->list);
	free(c->of_sensor);
	free(c->part.of);
	references_free(&c->references);
	c->list = NULL;
	c->count = 0;
}

static bool sensor_room(struct clocks *c, uint32_t sensor)
{
	uint32_t room = 2 * c->sensor_room + sensor + 16;
	struct clocks_sensor *more;

	if (sensor < c->sensor_room)
		return true;
	more = realloc(c->of_sensor, room * sizeof(*more));
	if (!more)
		return false;
	memset(more + c->sensor_room, 0, (room - c->sensor_room) * sizeof(*more));
	c->of_sensor = more;
	c->sensor_room = room;
	return true;
}

static bool list_room(struct clocks *c)
{
	unsigned int room = 2 * c->room + 16;
	void *more;

	if (c->count < c->room)
		return true;
	if (c->count >= REFERENCES_DOMAINS)
		return false;
	more = realloc(c->list, room * sizeof(*c->list));
	if (!more)
		return false;
	c->list = more;
	c->room = room;
	return true;
}

static struct domain *spare(struct clocks *c)
{
	struct domain *d = c->spare;

	c->spare = d->sibling;
	*d = (struct domain){ .number = d->number };
	return d;
}

static struct domain *another(struct clocks *c)
{
	struct domain *d = list_room(c) ? calloc(1, sizeof(*d)) : NULL;

	if (d) {
		d->number = c->count;
		c->list[c->count++] = d;
	}
	return d;
}

struct domain *clocks_add(struct clocks *c, uint32_t sensor)
{
	struct clocks_sensor *s;
	struct domain *d;

	if (!sensor_room(c, sensor))
		return NULL;
	d = c->spare ? spare(c) : another(c);
	if (!d)
		return NULL;
	s = &c->of_sensor[sensor];
	d->sensor = sensor;
	d->serial = c->serial++;
	d->run = s->run;
	d->again = s->had;
	s->had = true;
	*(s->last ? &s->last->sibling : &s->first) = d;
	s->last = d;
	return d;
}

void clocks_new_run(struct clocks *c, uint32_t sensor)
{
	struct clocks_sensor *s;

	if (!sensor_room(c, sensor)) /* then it has no domain either */
		return;
	s = &c->of_sensor[sensor];
	s->run_before = s->run;
	s->run = ++s->runs;
}

void clocks_run_before(struct clocks *c, uint32_t sensor)
{
	struct clocks_sensor *s = sensor < c->sensor_room ? &c->of_sensor[sensor] : NULL;
	uint32_t run = s ? s->run : 0;

	if (!s)
		return;
	s->run = s->run_before;
	s->run_before = run;
}

void clocks_give_back(struct clocks *c, struct domain *d)
{
	struct clocks_sensor *s = &c->of_sensor[d->sensor];
	struct domain *before = NULL;

	for (struct domain *o = s->first; o != d; o = o->sibling)
		before = o;
	*(before ? &before->sibling : &s->first) = d->sibling;
	if (s->last == d)
		s->last = before;
	queue_free(&d->queue);
	free(d->waiting);
	*d = (struct domain){ .number = d->number, .ended = true, .sibling = c->spare };
	c->spare = d;
}

void clocks_say(struct clocks *c, struct domain *d, const char *event)
{
	if (c->changed)
		c->changed(c->context, d, event);
}

uint64_t clocks_queued(const struct clocks *c)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < c->count; i++)
		sum += c->list[i]->queue.tail - c->list[i]->queue.kept;
	return sum;
}
