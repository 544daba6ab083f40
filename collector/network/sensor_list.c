// SPDX-License-Identifier: GPL-2.0
/* Sensor list: see sensor_list.h. */
#include "sensor_list.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "collector/combo/sensor.h"
#include "collector/output/interfaces.h"
#include "collector/output/sensor.h"
#include "common/log.h"
#include "sensor.h"
#include "sensor_sessions.h"

/* Table entries for an idle sensor: the slots of three intervals, and some hundred addresses of a
 * session. */
#define TABLE_A_SENSOR 608
#define TABLE_LEAST 16384

void sensor_list_init(struct network *o, uint64_t floor_ns)
{
	handshake_init(&o->handshake, floor_ns);
	o->requests.handshake = &o->handshake;
	o->requests.table = &o->table;
	o->requests.sensors = o->sensors;
	handshake_requests_init(&o->requests);
}

/* Makes each room's part of a new sensor. */
static int sensor_made(void *arg, struct sensor *s)
{
	(void)arg;
	return network_sensor_new(s) ?: combo_sensor_new(s) ?: output_sensor_new(s);
}

static void sensor_freed(void *arg, struct sensor *s)
{
	(void)arg;
	network_sensor_free(s);
	combo_sensor_free(s);
	output_sensor_free(s);
}

static void keys_add(struct network *o, struct sensor *s)
{
	int err = handshake_add(&o->handshake, &o->table, s);

	if (err == -EINVAL) {
		log_line("sensor %s: its public key is invalid", s->name);
		s->listed = false;
		return;
	}
	if (err == -ENOKEY)
		log_line("sensor %s: its next public key is invalid, and is not used", s->name);
	if (err == -ENOMEM || handshake_requests_add(&o->requests, &o->table, s))
		log_line("sensor %s: out of memory; not all its keys set up sessions", s->name);
}

/* The shared secrets that set its sessions up, zeros: none. */
struct secrets {
	uint8_t of[SENSOR_SESSIONS][KEY_LEN];
};

static void secrets_note(struct secrets *x, const struct sensor *s)
{
	memset(x, 0, sizeof(*x));
	for (int i = 0; s->network->sessions && i < SENSOR_SESSIONS; i++)
		if (s->network->sessions[i].rx.owner)
			memcpy(x->of[i], sensor_pair(s, s->network->sessions[i].pair)->shared,
			       KEY_LEN);
}

/* Finds the pair that has the secret. Returns -1 if there is none. */
static int pair_of(const struct sensor *s, const uint8_t shared[KEY_LEN])
{
	for (unsigned int i = 0; s->listed && i < SENSOR_PAIRS; i++)
		if (sensor_has_pair(s, i) &&
		    !sodium_memcmp(sensor_pair(s, i)->shared, shared, KEY_LEN))
			return i;
	return -1;
}

/* Sessions whose keys are still listed go on, as when a sensor's next key becomes its only one. */
static bool secrets_remain(const struct secrets *x, const struct sensor *s)
{
	for (int i = 0; s->network->sessions && i < SENSOR_SESSIONS; i++) {
		struct session *c = &s->network->sessions[i];
		int pair;

		if (!c->rx.owner)
			continue;
		pair = pair_of(s, x->of[i]);
		if (pair < 0 || (c->no_acks && !s->one_way))
			return false;
		c->pair = pair;
	}
	return true;
}

/* Handles a sensor that is new, was removed, or has other keys. */
static void keys_changed(struct network *o, struct sensor *s)
{
	bool had = !sodium_is_zero(s->network->pair.shared, KEY_LEN);
	struct secrets before;

	secrets_note(&before, s);
	if (had) {
		handshake_requests_remove(&o->table, s);
		handshake_remove(&o->table, s);
	}
	if (s->listed)
		keys_add(o, s);
	if (had && !secrets_remain(&before, s)) {
		sensor_sessions_end(o, s);
		combos_forget(o->combos, s);
	}
	sodium_memzero(&before, sizeof(before));
}

static void sensor_changed(void *arg, struct sensor *s, unsigned int what)
{
	if (what & SENSOR_NAMED)
		interfaces_forget(s); /* blocks contain the names */
	if (what & SENSOR_LINKTYPES)
		s->combo->refused_logged = 0;
	if (what & SENSOR_KEYS)
		keys_changed(arg, s);
}

static struct sensors_user rooms(struct network *o)
{
	return (struct sensors_user){
		.arg = o, .made = sensor_made, .freed = sensor_freed, .changed = sensor_changed
	};
}

int sensor_list_apply(struct network *o, const struct sensors_file *f)
{
	const struct sensors_user user = rooms(o);
	int err = 0;

	if (!o->table.entries)
		err = table_init(&o->table, (uint64_t)f->count * TABLE_A_SENSOR + TABLE_LEAST);
	err = err ?: sensors_apply(o->sensors, f, &user);
	if (err)
		log_line("out of memory for %u sensors", f->count);
	return err;
}

void sensor_list_free(struct network *o)
{
	const struct sensors_user user = rooms(o);

	for (unsigned int i = 0; i < o->sensors->count; i++) {
		sensor_sessions_end(o, o->sensors->list[i]);
		combos_forget(o->combos, o->sensors->list[i]);
	}
	sensors_free(o->sensors, &user);
	table_free(&o->table);
	sodium_memzero(&o->handshake, sizeof(o->handshake));
	sodium_memzero(&o->requests, sizeof(o->requests));
}
