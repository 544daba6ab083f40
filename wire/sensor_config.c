// SPDX-License-Identifier: GPL-2.0
/* Sensor's config file: see sensor_config.h. */
#include "sensor_config.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_MAX_LEN (SENSOR_CONFIG_TO_MAX + 8)
#define TEXT_MAX ((2 * KEYS_PEERS_MAX + 3) * LINE_MAX_LEN)

int sensor_config_write(int fd, const struct sensor_config *c)
{
	char text[TEXT_MAX], secret[KEY_TEXT_LEN];
	int n = snprintf(text, sizeof(text), "# saluki run --config FILE -i IF%s%.64s\n",
			 *c->sensor ? ": " : "", c->sensor),
	    err;

	for (unsigned int i = 0; i < c->to_count; i++)
		n += snprintf(text + n, sizeof(text) - n, "to = %.279s\n", c->to[i]);
	key_to_text(secret, c->secret);
	n += snprintf(text + n, sizeof(text) - n, "key-text = %s\n", secret);
	for (unsigned int i = 0; i < c->collector_count; i++)
		n += snprintf(text + n, sizeof(text) - n, "collector = %.44s\n", c->collectors[i]);
	if (*c->preshared)
		n += snprintf(text + n, sizeof(text) - n, "preshared = %.44s\n", c->preshared);
	errno = ENOSPC; /* if only a part is written */
	err = write(fd, text, n) == n && fsync(fd) == 0 ? 0 : -errno;
	sodium_memzero(text, sizeof(text));
	sodium_memzero(secret, sizeof(secret));
	return err;
}
