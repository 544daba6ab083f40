/* SPDX-License-Identifier: GPL-2.0 */
/* The options of saluki-kafka's commands. Strings point into argv, or into the config file. */
#ifndef KAFKA_OPTIONS_OPTIONS_H
#define KAFKA_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/host_name.h"
#include "common/log.h"

#define OPTIONS_PREFIX_DEFAULT "saluki"
#define OPTIONS_PREFIX_MAX 200 /* a topic's name has up to 249 characters */
#define OPTIONS_PARTITIONS 12
#define OPTIONS_REPLICAS 3
#define OPTIONS_USER                                                                               \
	"saluki-kafka" /* if there is one; its group may use the collectors' sockets               \
			*/

enum options_command { OPTIONS_PUT, OPTIONS_GET, OPTIONS_TOPICS };

struct kafka_options {
	enum options_command command;
	const char *socket;
	const char *brokers;
	const char *prefix;
	const char *kafka_config; /* NULL: none */
	const char *group;
	const char *instance;
	char host[HOST_NAME_LEN]; /* what `instance` is by default */
	bool allow_weak;
	long partitions, replicas;
	int64_t retention_ms; /* of new topics; 0: as the brokers have it */
	const char *user;
	enum log_level level;
};

/* Returns 0, -1 if all is done (--help), or an exit status after a line. */
int options_parse(struct kafka_options *o, enum options_command command, int argc, char **argv);

#endif
