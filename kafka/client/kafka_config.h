/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings of librdkafka. In: the file of --kafka-config, with lines as "key=value", and the
 * settings of a stage. Out: a configuration for rd_kafka_new(). Always holds: the file cannot
 * change a setting on which a guarantee depends, and none of its values gets into the log.
 */
#ifndef KAFKA_CLIENT_KAFKA_CONFIG_H
#define KAFKA_CLIENT_KAFKA_CONFIG_H

#include <librdkafka/rdkafka.h>

#define KAFKA_CONFIG_LINES_MAX 256

struct kafka_config {
	const char *path, *brokers;
	char *text; /* of the file; NULL: there is none */
	struct kafka_config_line {
		const char *key, *value;
		unsigned int number;
	} lines[KAFKA_CONFIG_LINES_MAX];
	unsigned int count;
};

/* A setting of the program. A list ends without a key. */
struct kafka_setting {
	const char *key, *value;
};

/* `path`: NULL: no file. Returns 0, or -errno after a line. */
int kafka_config_read(struct kafka_config *c, const char *path, const char *brokers);
/* Returns a new configuration with the settings of `ours` and of the file, of which the file's
 * have precedence; NULL after a line. */
rd_kafka_conf_t *kafka_config_make(const struct kafka_config *c, const struct kafka_setting *ours);
/* Wipes the file's text. */
void kafka_config_free(struct kafka_config *c);

#endif
