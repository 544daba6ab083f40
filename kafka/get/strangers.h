/* SPDX-License-Identifier: GPL-2.0 */
/* Strangers: messages in the topics that saluki-kafka did not write. They are counted and passed
 * over, and one line a minute names one of them. */
#ifndef KAFKA_GET_STRANGERS_H
#define KAFKA_GET_STRANGERS_H

#include <librdkafka/rdkafka.h>
#include <stdint.h>

struct strangers {
	uint64_t count, said; /* messages; those that the log has counted */
	uint64_t said_ns;
};

void strangers_say(struct strangers *s, const rd_kafka_message_t *m, const char *why);

#endif
