/* SPDX-License-Identifier: GPL-2.0 */
/* Writes a sensor's config file (saluki-files(5), "CONFIG FILES"), which has its private key: for
 * `saluki-collector enrol` and `saluki setup`. */
#ifndef WIRE_SENSOR_CONFIG_H
#define WIRE_SENSOR_CONFIG_H

#include "keys.h"

#define SENSOR_CONFIG_TO_MAX 280 /* bytes of a HOST:PORT, with its 0 byte */

struct sensor_config {
	const char *sensor; /* for the file's first line; "": not known */
	const char *to[KEYS_PEERS_MAX];
	unsigned int to_count;
	uint8_t secret[KEY_LEN];
	const char *collectors[KEYS_PEERS_MAX]; /* public keys as text */
	unsigned int collector_count;
	const char *preshared; /* as text, for the first collector; "": none */
};

/* Writes the file to disk. Returns 0 or -errno. */
int sensor_config_write(int fd, const struct sensor_config *c);

#endif
