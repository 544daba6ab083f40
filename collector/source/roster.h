/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Roster: the sensors whose combos are in the log, by name and id. In: records. Out: sensors, with
 * every room's part, and their descriptions. Always holds: at most ROSTER_MAX sensors.
 */
#ifndef COLLECTOR_SOURCE_ROSTER_H
#define COLLECTOR_SOURCE_ROSTER_H

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/model/sensors.h"
#include "collector/output/late.h"
#include "records.h"

#define ROSTER_MAX 65536

struct roster_entry {
	struct roster_entry *next; /* in the bucket */
	struct sensor *sensor;
	uint64_t info; /* hash of its present record */
	struct late late;
	uint32_t moves;	    /* take.h: at its last message */
	uint64_t logged_ns; /* when an unknown record was last logged; 0: never */
};

struct combos;

struct roster {
	struct combos *combos;
	struct sensors *sensors;
	struct roster_entry **buckets;
	bool changed; /* names or groups changed since the caller cleared it */
	uint8_t secret[crypto_shorthash_KEYBYTES];
};

int roster_init(struct roster *r, struct combos *c); /* returns 0 or -ENOMEM */
/* Frees the sensors too. */
void roster_free(struct roster *r);
/* Returns NULL if there is none. */
struct roster_entry *roster_find(const struct roster *r, const char *name, uint16_t id);
/* Makes a sensor from its record. Returns 0, -EBADMSG for a record that is malformed or of another
 * sensor, -ENOSPC if there are ROSTER_MAX, or -ENOMEM. */
int roster_make(struct roster *r, struct roster_entry **e, uint16_t id, const struct record *x);
/* Gives the sensor another record. Its earlier combos are taken. Returns as roster_make. */
int roster_describe(struct roster *r, struct roster_entry *e, const struct record *x);

#endif
