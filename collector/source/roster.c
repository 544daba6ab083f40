// SPDX-License-Identifier: GPL-2.0
/* Roster: see roster.h. */
#include "roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/combo/combos.h"
#include "collector/combo/sensor.h"
#include "collector/output/interfaces.h"
#include "collector/output/sensor.h"
#include "wire/bytes.h"

#define BUCKETS (1u << 16)

/* ---- each room's part ------------------------------------------------------------------------ */

static int sensor_made(void *arg, struct sensor *s)
{
	(void)arg;
	return combo_sensor_new(s) ?: output_sensor_new(s);
}

static void sensor_freed(void *arg, struct sensor *s)
{
	(void)arg;
	combo_sensor_free(s);
	output_sensor_free(s);
}

/* A record may change with each combo, if two collectors have different sensors files. This makes
 * no new interface blocks and no lines in the log, as with a change of the sensors file. */
static void sensor_changed(void *arg, struct sensor *s, unsigned int what)
{
	struct roster *r = arg;

	(void)s;
	r->changed |= (what & SENSOR_NAMED) != 0;
}

static struct sensors_user rooms(struct roster *r)
{
	return (struct sensors_user){
		.arg = r, .made = sensor_made, .freed = sensor_freed, .changed = sensor_changed
	};
}

/* ---- the list -------------------------------------------------------------------------------- */

int roster_init(struct roster *r, struct combos *c)
{
	*r = (struct roster){ .combos = c,
			      .sensors = c->sensors,
			      .buckets = calloc(BUCKETS, sizeof(*r->buckets)) };
	crypto_shorthash_keygen(r->secret);
	return r->buckets ? 0 : -ENOMEM;
}

void roster_free(struct roster *r)
{
	const struct sensors_user user = rooms(r);

	if (!r->buckets)
		return;
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct roster_entry *e = r->buckets[i], *next; e; e = next) {
			next = e->next;
			combos_forget(r->combos, e->sensor);
			free(e);
		}
	sensors_free(r->sensors, &user);
	free(r->buckets);
	r->buckets = NULL;
}

static struct roster_entry **bucket(const struct roster *r, const char *name, uint16_t id)
{
	struct {
		char name[SENSOR_NAME_MAX]; /* padded with zeros */
		uint16_t id;
	} key = { .id = id };
	uint8_t out[crypto_shorthash_BYTES];

	_Static_assert(sizeof(key) == SENSOR_NAME_MAX + 2, "no bytes between");
	strcpy(key.name, name);
	crypto_shorthash(out, (const uint8_t *)&key, sizeof(key), r->secret);
	return &r->buckets[load_be(out, 8) % BUCKETS];
}

struct roster_entry *roster_find(const struct roster *r, const char *name, uint16_t id)
{
	struct roster_entry *e = *bucket(r, name, id);

	while (e && (e->sensor->id != id || strcmp(e->sensor->name, name)))
		e = e->next;
	return e;
}

/* ---- records --------------------------------------------------------------------------------- */

/* A one-way sensor does not know its id, so its combos may have none. */
static int read_line(struct sensors_line *line, const struct record *x, uint16_t id)
{
	int err = sensor_record_read(line, x->text, x->len);

	line->one_way = true;
	return err ?: line->id != id || strcmp(line->name, x->name) ? -EBADMSG : 0;
}

static int apply(struct roster *r, struct sensor *s, const struct sensors_line *line,
		 const struct record *x)
{
	const struct sensors_user user = rooms(r);
	struct info info;

	if (sensor_info_set(&s->info, x->text, x->len))
		return -ENOMEM;
	sensors_change(s, line, &user);
	info_read(&info, x->text, x->len);
	s->change = info.change;
	interfaces_describe(s, &info);
	return 0;
}

int roster_describe(struct roster *r, struct roster_entry *e, const struct record *x)
{
	struct sensors_line line;
	int err = read_line(&line, x, e->sensor->id);

	err = err ?: apply(r, e->sensor, &line, x);
	if (!err)
		e->info = x->hash;
	return err;
}

int roster_make(struct roster *r, struct roster_entry **made, uint16_t id, const struct record *x)
{
	const struct sensors_user user = rooms(r);
	struct roster_entry *e, **in;
	struct sensors_line line;
	int err = read_line(&line, x, id);

	if (err)
		return err;
	if (r->sensors->count >= ROSTER_MAX)
		return -ENOSPC;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->sensor = sensors_add(r->sensors, id, &user);
	if (!e->sensor) {
		free(e);
		return -ENOMEM;
	}
	in = bucket(r, x->name, id);
	e->next = *in;
	*in = e;
	*made = e;
	strcpy(e->sensor->name, x->name);
	written_gaps(&r->combos->output->names, id, &e->late);
	e->sensor->output->late = &e->late;
	r->changed = true;
	return roster_describe(r, e, x);
}
