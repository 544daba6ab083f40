/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records: the sensors' records in the log (collector/model/sensor_record.h), by name and hash. In:
 * messages of the topic PUT_SENSORS. Out: a record's text. Always holds: a text has the hash in its
 * key, and there are at most RECORDS_MAX. A further one replaces the oldest.
 */
#ifndef COLLECTOR_SOURCE_RECORDS_H
#define COLLECTOR_SOURCE_RECORDS_H

#include <sodium.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/model/sensor_record.h"

#define RECORDS_MAX 200000

struct record {
	struct record *next; /* in the bucket */
	uint64_t hash;
	char name[SENSOR_NAME_MAX];
	uint16_t len;
	char text[];
};

struct records {
	struct record **buckets;
	struct record **list; /* RECORDS_MAX, in the order of arrival */
	unsigned int count;   /* of `list` */
	unsigned int oldest;  /* the next one to replace, once the list is full */
	uint8_t secret[crypto_shorthash_KEYBYTES];
};

int records_init(struct records *r); /* returns 0 or -ENOMEM */
void records_free(struct records *r);
/* Keeps a message's record. Other keys of the topic, and records without text, are passed over.
 * Returns 0, -EBADMSG or -ENOMEM. */
int records_put(struct records *r, const struct put *p);
/* Returns NULL if it has not come. Valid until the next records_put. */
const struct record *records_find(const struct records *r, const char *name, uint64_t hash);

#endif
