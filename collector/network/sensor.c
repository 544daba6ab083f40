// SPDX-License-Identifier: GPL-2.0
/* Sensor: see sensor.h. */
#include "sensor.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>

int network_sensor_new(struct sensor *s)
{
	struct network_sensor *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	keys_lock(n, sizeof(*n));
	n->current = n->candidate = n->old = -1;
	s->network = n;
	return 0;
}

int network_sensor_sessions(struct sensor *s)
{
	struct network_sensor *n = s->network;

	if (n->sessions)
		return 0;
	n->sessions = calloc(SENSOR_SESSIONS, sizeof(*n->sessions));
	if (!n->sessions)
		return -ENOMEM;
	keys_lock(n->sessions, SENSOR_SESSIONS * sizeof(*n->sessions));
	return 0;
}

int sensor_second_make(struct sensor *s)
{
	struct network_sensor *n = s->network;

	n->second = n->second ?: calloc(1, sizeof(*n->second));
	if (!n->second)
		return -ENOMEM;
	keys_lock(n->second, sizeof(*n->second));
	return 0;
}

void sensor_second_free(struct sensor *s)
{
	if (s->network->second)
		sodium_memzero(s->network->second, sizeof(*s->network->second));
	free(s->network->second);
	s->network->second = NULL;
}

void network_sensor_free(struct sensor *s)
{
	if (!s->network)
		return;
	free(s->network->sessions); /* each session was wiped when it ended */
	sensor_second_free(s);
	sodium_memzero(s->network, sizeof(*s->network));
	free(s->network);
	s->network = NULL;
}
