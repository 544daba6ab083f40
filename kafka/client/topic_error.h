/* SPDX-License-Identifier: GPL-2.0 */
/* Topic errors: what people must do about an error of a topic that is read. */
#ifndef KAFKA_CLIENT_TOPIC_ERROR_H
#define KAFKA_CLIENT_TOPIC_ERROR_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>

#define TOPIC_ERROR_MAX 400

/* Writes that a topic is missing, and what creates it. */
void topic_missing(char *why, size_t size, const char *name);
/* Returns whether the error is the topic's or the group's, with what to do in `why`. */
bool topic_error(rd_kafka_resp_err_t err, const char *topic, char why[TOPIC_ERROR_MAX]);

#endif
