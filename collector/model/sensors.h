/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sensors that may send. What all rooms share of one is in struct sensor. What one room alone
 * knows of it is behind a pointer that this room made. A sensor stays where it is in memory until
 * the end, also when it is not listed any more: then it has no addresses and no keys, but its
 * ledger goes on saying where its frames are. There may be 10,000: what an idle one does not need
 * is a pointer.
 */
#ifndef COLLECTOR_MODEL_SENSORS_H
#define COLLECTOR_MODEL_SENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "coverage.h"
#include "ledger.h"
#include "linktypes.h"
#include "sensors_file.h"
#include "wire/info.h"
#include "wire/keys.h"

/* What a sensor said of itself, as it came: taken apart (wire/info.h) where it is needed. */
struct sensor_info {
	uint16_t len;
	char *text; /* malloc, with a 0 behind it; NULL: nothing yet */
};

struct sensor {
	char name[SENSOR_NAME_MAX];
	uint16_t id;
	uint32_t index; /* of it in the list */
	bool listed;	/* in the sensors file as it was read last */
	uint8_t public[KEY_LEN], preshared[KEY_LEN];
	bool one_way;		    /* it may have one-way sessions */
	uint16_t group;		    /* of the file, from 1; 0: it is in none */
	struct linktypes linktypes; /* that it may send */

	bool up;	   /* it has a session, */
	bool is_deaf;	   /* in which nothing goes to the sensor (--one-way) */
	uint64_t begun;	   /* sessions that began by set-up */
	uint64_t heard_ns; /* monotonic, of its last authentic datagram */

	struct sensor_info info;
	uint64_t change;		     /* number of the change that `info` is as of */
	uint64_t due_ns;		     /* monotonic: when an ACK is due; 0: none is */
	struct sensor *due_next, **due_link; /* in the list of those; link NULL: not in it */
	bool final_heard, final_confirmed;
	struct ledger ledger;
	struct coverage *coverage; /* of the present run; NULL: it samples no channels */

	/* what each room knows of it besides, in its sensor.h */
	struct network_sensor *network;
	struct combo_sensor *combo;
	struct output_sensor *output;
	struct commands_order *order; /* that is on its way; NULL: none */
	struct group_member *member;  /* NULL: it never was in a group */
};

struct sensors {
	struct sensor **list;
	unsigned int count;
	struct sensor *due; /* with an ACK to send */
};

/* What has changed of a sensor: bits. */
enum {
	SENSOR_NAMED = 1,     /* its name */
	SENSOR_LINKTYPES = 2, /* what it may send */
	SENSOR_KEYS = 4,      /* its keys, or whether it is listed */
};

/* Who else keeps something of sensors. */
struct sensors_user {
	void *arg;
	int (*made)(void *arg, struct sensor *s);   /* returns 0 or -ENOMEM */
	void (*freed)(void *arg, struct sensor *s); /* also of one whose `made` failed */
	/* The sensor has its new name and keys already. */
	void (*changed)(void *arg, struct sensor *s, unsigned int what);
};

/* Makes the list what a file says. A sensor is known by its id: one that is there already stays as
 * it is. Returns 0 or -ENOMEM, and then nothing has changed. */
int sensors_apply(struct sensors *s, const struct sensors_file *f, const struct sensors_user *u);
void sensors_free(struct sensors *s, const struct sensors_user *u);
/* NULL where there is none of that name that is listed. */
struct sensor *sensors_by_name(struct sensors *s, const char *name);

/* Whether nothing can be told to the sensor, so that it can keep nothing for us. */
static inline bool sensor_is_one_way(const struct sensor *s)
{
	return s->up && s->is_deaf;
}

/* An ACK to this sensor is due at `at_ns` (CLOCK_MONOTONIC), or sooner where it was so before. To
 * be called by whoever moves `settled`. */
void sensors_due(struct sensors *list, struct sensor *s, uint64_t at_ns);
void sensors_not_due(struct sensor *s);
/* Copies what a sensor says of itself from now on. Returns 0; with -ENOMEM `i` stays as it was. */
int sensor_info_set(struct sensor_info *i, const void *text, size_t len);

#endif
