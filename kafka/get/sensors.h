/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensors: reads all of PREFIX.sensors into records, and goes on reading. In: the topic, from its
 * beginning. Out: records, and how far it has read. Always holds: it is in no group, so it commits
 * nothing.
 */
#ifndef KAFKA_GET_SENSORS_H
#define KAFKA_GET_SENSORS_H

#include "kafka/client/client.h"
#include "records.h"
#include "strangers.h"
#include "kafka/client/topic_error.h"
#include "watermarks.h"

struct sensors {
	struct client client;
	struct brokers brokers;
	struct watermarks watermarks;
	struct records *records;
	struct strangers *strangers;
	uint64_t received, reached; /* messages; the last ticket */
	char why[TOPIC_ERROR_MAX];  /* the topic cannot be read; "": it can */
	const char *topic;
	bool caught_up; /* all that was there at the start is read */
};

/* Returns 0, or -errno after a line. */
int sensors_open(struct sensors *s, const struct kafka_config *config, const char *group,
		 const char *topic, int32_t partitions);
/* Takes what has come. Returns whether there is something new for holds. */
bool sensors_serve(struct sensors *s);
void sensors_close(struct sensors *s);

#endif
