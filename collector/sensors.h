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

#include "ledger.h"
#include "output.h"
#include "reassemble.h"
#include "wire/keys.h"
#include "wire/seal.h"

#define SENSOR_NAME_MAX 32

struct session {
	bool valid;
	uint32_t id;
	uint64_t run;
	struct seal_session seal;
};

/* What a sensor said of itself when it set its session up; "" where it did not. */
struct sensor_info {
	char application[64], os[128], interface[64], source[32], filter[256], keep[16];
	uint32_t snaplen;
	uint64_t exported; /* frames of this run before the set-up */
};

struct sensor {
	char name[SENSOR_NAME_MAX];
	uint16_t id;
	uint8_t public[KEY_LEN];

	/* receive.c, open.c */
	struct session current, candidate; /* the candidate becomes current when it is used */
	struct sensor_info info, candidate_info;
	uint64_t init_ns; /* `time` of the newest INIT: an older one is a replay */
	struct sockaddr_storage address;
	socklen_t address_len;
	uint64_t credit;	  /* bytes heard from there and not answered yet */
	unsigned int unreceipted; /* datagrams heard since the last receipt */
	bool receipt_due;
	uint64_t final_since_ns; /* the final totals came, but not all frames yet */
	bool final_confirmed;

	struct reassembly reassembly;
	struct ledger ledger;
	struct output_interfaces interfaces;
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
