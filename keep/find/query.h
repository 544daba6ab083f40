/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Query: what is searched. All that is given must fit; of several sensors, groups or addresses one.
 * In: an index, or a frame. Out: which chunks can have something, or whether the frame fits.
 */
#ifndef KEEP_FIND_QUERY_H
#define KEEP_FIND_QUERY_H

#include "archive/index_read.h"
#include "common/expression.h"
#include "keep/model/sections.h"

#define QUERY_WORDS_MAX 256

struct query {
	int64_t from_ns, to_ns; /* of stamps: from this one to before that one */
	const char *sensors[QUERY_WORDS_MAX], *groups[QUERY_WORDS_MAX];
	unsigned int sensor_count, group_count;				/* both 0: all */
	bool sensor_seen[QUERY_WORDS_MAX], group_seen[QUERY_WORDS_MAX]; /* in a file so far */
	uint8_t addresses[QUERY_WORDS_MAX][6];
	unsigned int address_count; /* 0: any */
	struct expression expression;
};

/* Adds an address as text: 00:11:22:aa:bb:cc, also with dashes, also 0:11:22:aa:b:cc. Returns 0,
 * -EINVAL or -E2BIG. */
int query_address(struct query *q, const char *text);
/* Whether a sensor is one of those that are searched, and notes that it was seen. */
bool query_sensor(struct query *q, const char *name, const char *group);
/* Whether the file can have something. Sets `wanted`, by chunk, to 1 for those that can. */
bool query_index(struct query *q, const struct index *x, uint8_t *wanted);
/* Whether a frame fits. `heard`: one of the searched sensors has it. */
bool query_frame(struct query *q, bool heard, int64_t ns, uint16_t linktype,
		 const struct pcapng_block *b);

#endif
