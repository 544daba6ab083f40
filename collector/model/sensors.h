/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensors: those that may send. struct sensor has the state that all rooms share; the state of one
 * room is behind a pointer that this room sets. A sensor stays at its address in memory until the
 * end, also if it is not listed any more: then it has no handshake addresses and no keys, but still
 * its ledger. There may be 10,000, so state that an idle sensor does not need is behind a pointer.
 */
#ifndef COLLECTOR_MODEL_SENSORS_H
#define COLLECTOR_MODEL_SENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "coverage.h"
#include "ledger.h"
#include "linktypes.h"
#include "module_counts.h"
#include "sensors_file.h"
#include "wire/info.h"
#include "wire/keys.h"

/* A sensor's info as received. wire/info.h parses it when it is needed. */
struct sensor_info {
	uint16_t len;
	uint32_t version; /* differs between any two texts */
	char *text;	  /* malloc, ends with a 0 byte; NULL: none yet */
};

/* Whether a sensor is heard, as it was last logged. */
enum sensor_presence {
	SENSOR_NEVER, /* not since the start, or it is not listed */
	SENSOR_UP,
	SENSOR_SILENT, /* no datagram for --silent-after */
	SENSOR_ENDED,  /* its final totals came */
};

/* What an earlier collector knew of a sensor (output/state.h). */
struct sensor_before {
	uint32_t heard_s; /* its last datagram, seconds since 1970-01-01 UTC; 0: none */
	bool ended;	  /* in order */
};

struct sensor {
	/* state of each room, in the room's sensor.h */
	struct network_sensor *network;
	struct combo_sensor *combo;
	struct output_sensor *output;

	uint32_t index; /* in the list */
	uint16_t id;
	bool up;      /* it has a session */
	bool no_acks; /* its session is one-way: it gets no ACKs, and keeps no frames */
	bool one_way; /* it may have one-way sessions */
	bool final_heard, final_confirmed;
	struct linktypes linktypes;	     /* allowed ones */
	uint64_t heard_ns;		     /* monotonic: its last authentic datagram */
	uint64_t due_ns;		     /* monotonic: when an ACK is due; 0: none is */
	struct sensor *due_next, **due_link; /* list of due ACKs; link NULL: not in it */
	struct ledger ledger;		     /* begins with what combos change */
	/* Combos use what is above: it is in few cache lines (session_receive.c). */

	char name[SENSOR_NAME_MAX];
	struct sensor_before before;
	bool listed;	/* in the current sensors file */
	bool in_status; /* the status line has counted it */
	enum sensor_presence presence;
	uint64_t twice_ns;  /* monotonic: two machines used its key, at the latest then */
	uint64_t silent_ns; /* monotonic: last datagram before the silence, if SENSOR_SILENT */
	uint8_t public[KEY_LEN], preshared[KEY_LEN];
	uint8_t next[KEY_LEN]; /* its next public key; zeros: none */
	struct sensor_place place;
	uint16_t group;			 /* its number in the file, from 1; 0: none */
	char group_name[GROUP_NAME_MAX]; /* "": none */
	uint64_t begun;			 /* number of sessions set up */
	struct sensor_info info;
	uint32_t links_version;		     /* of `info`, when `links` was taken from it */
	char links[INFO_INTERFACES_MAX + 1]; /* board/links.c */
	uint64_t change;		     /* number of the last change in `info` */
	struct coverage *coverage;	     /* of the present run; NULL: no channels sampled */
	struct module_counts *modules;	     /* NULL: no events of modules */
	struct commands_order *order;	     /* under way; NULL: none */
	struct group_member *member;	     /* NULL: it never was in a group */
};

struct sensors {
	struct sensor **list;
	unsigned int count;
	struct sensor *due; /* list of sensors with a due ACK */
};

/* Changes of a sensor, as bits. */
enum {
	SENSOR_NAMED = 1,     /* its name, or its group's */
	SENSOR_LINKTYPES = 2, /* its allowed link types */
	SENSOR_KEYS = 4,      /* its keys, or whether it is listed */
};

/* Callbacks for rooms with state of their own for each sensor. */
struct sensors_user {
	void *arg;
	int (*made)(void *arg, struct sensor *s);   /* returns 0 or -ENOMEM */
	void (*freed)(void *arg, struct sensor *s); /* also after `made` failed */
	/* Called after the sensor has its new name and keys. */
	void (*changed)(void *arg, struct sensor *s, unsigned int what);
};

/* Applies a sensors file to the list. Existing sensors are found by their ids and keep their state.
 * Returns 0, or -ENOMEM with the list unchanged. */
int sensors_apply(struct sensors *s, const struct sensors_file *f, const struct sensors_user *u);
/* Adds a sensor without a line. Returns NULL without memory. The caller then calls sensors_change.
 */
struct sensor *sensors_add(struct sensors *s, uint16_t id, const struct sensors_user *u);
/* Applies a line to one sensor. */
void sensors_change(struct sensor *s, const struct sensors_line *l, const struct sensors_user *u);
void sensors_free(struct sensors *s, const struct sensors_user *u);
/* Returns the listed sensor of this name, or NULL. */
struct sensor *sensors_by_name(struct sensors *s, const char *name);

/* Schedules an ACK to this sensor at `at_ns` (CLOCK_MONOTONIC), or earlier if one was due earlier.
 * Call it after moving `settled`. */
void sensors_due(struct sensors *list, struct sensor *s, uint64_t at_ns);
void sensors_not_due(struct sensor *s);
/* Sets a sensor's info to a copy of `text`. Returns 0, or -ENOMEM with `i` unchanged. */
int sensor_info_set(struct sensor_info *i, const void *text, size_t len);

#endif
