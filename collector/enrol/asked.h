/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands add, enrol and remove are asked for, by their options and the collector's
 * config file. */
#ifndef COLLECTOR_ENROL_ASKED_H
#define COLLECTOR_ENROL_ASKED_H

#include "common/config.h"
#include "wire/keys.h"

#define ENROL_TO_MAX 4 /* collectors of a sensor */

enum {
	ASKED_SENSORS = 256,
	ASKED_CONTROL,
	ASKED_CONFIG,
	ASKED_GROUP,
	ASKED_KEY,
	ASKED_TO,
	ASKED_OUT,
	ASKED_PSK,
};

#define ASKED_SENSORS_DEF                                                                          \
	{                                                                                          \
		ASKED_SENSORS, "sensors", "FILE", "the collector's sensors file"                   \
	}
#define ASKED_CONTROL_DEF                                                                          \
	{                                                                                          \
		ASKED_CONTROL, "control", "PATH",                                                  \
			"the collector's control socket\n"                                         \
			"(default " CONTROL_PATH ")"                                               \
	}
#define ASKED_GROUP_DEF                                                                            \
	{                                                                                          \
		ASKED_GROUP, "group", "GROUP", "the new sensors' group"                            \
	}

struct asked {
	const char *sensors, *control, *config, *group, *key, *out;
	const char *to[ENROL_TO_MAX];
	unsigned int to_count;
	bool psk;
	struct config file; /* of --config */
	struct keypair own; /* the collector's, if the config file has it */
};

/* Reads a command's options, and what they leave open from --config. Returns 0, or an exit status
 * after all messages: 2 for bad usage, -1 if --help is asked for. */
int asked_read(struct asked *a, const struct option_def *defs, int argc, char **argv);
/* Reads --key. Returns 0, or -errno after a line. */
int asked_key(struct asked *a);
/* Returns 0 if all that was printed is out; otherwise logs that the change is made nevertheless. */
int asked_printed(void);
void asked_free(struct asked *a);

#endif
