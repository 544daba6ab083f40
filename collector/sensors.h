/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sensors that may send, from the file given with --sensors: a line each,
 *
 *     NAME ID PUBLIC-KEY
 *
 * '#' begins a comment. What the collector knows of one sensor is in struct sensor; each part
 * belongs to the stage whose header defines it.
 */
#ifndef COLLECTOR_SENSORS_H
#define COLLECTOR_SENSORS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "interfaces.h"
#include "ledger.h"
#include "output.h"
#include "reassemble.h"
#include "wire/info.h"
#include "wire/keys.h"
#include "wire/seal.h"

#define SENSOR_NAME_MAX 32

struct session {
	bool valid;
	uint32_t id;
	uint64_t run;
	struct seal_session seal;
};

/* What a sensor said of itself, as it came: taken apart (wire/info.h) where it is needed, for there
 * may be thousands of sensors. */
struct sensor_info {
	uint16_t len;
	char text[INFO_LEN_MAX];
};

/* Where a run was left for another one; it may be carried on. */
struct sensor_run {
	uint64_t run;
	uint64_t next;	    /* combo */
	uint64_t accounted; /* frames */
	bool valid;
};

struct sensor {
	char name[SENSOR_NAME_MAX];
	uint16_t id;
	uint8_t public[KEY_LEN];

	/* receive.c, open.c */
	struct session current, candidate; /* the candidate becomes current when it is used */
	struct sensor_info info, candidate_info;
	uint64_t change;	  /* number of the change that `info` is as of */
	struct sensor_run before; /* the run before the present one */
	uint64_t init_ns;	  /* `time` of the newest INIT: an older one is a replay */
	struct sockaddr_storage address;
	socklen_t address_len;
	uint64_t credit;	  /* bytes heard from there and not answered yet */
	unsigned int unreceipted; /* datagrams heard since the last receipt */
	bool receipt_due;
	uint64_t final_since_ns; /* the final totals came, but not all frames yet */
	bool final_confirmed;

	struct reassembly reassembly;
	struct ledger ledger;
	struct interfaces interfaces;
};

struct sensors {
	struct sensor *list;
	unsigned int count;
};

/* Reads the file. Returns 0, or -errno after a line that names file, line and mistake. */
int sensors_read(struct sensors *s, const char *path);
void sensors_free(struct sensors *s);
/* NULL where the key is not listed. */
struct sensor *sensors_by_key(struct sensors *s, const uint8_t public[KEY_LEN]);

#endif
