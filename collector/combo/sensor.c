// SPDX-License-Identifier: GPL-2.0
/* Sensor: see sensor.h. */
#include "sensor.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>

int combo_sensor_new(struct sensor *s)
{
	s->combo = calloc(1, sizeof(*s->combo));
	if (!s->combo)
		return -ENOMEM;
	keys_lock(s->combo, sizeof(*s->combo));
	return 0;
}

void combo_sensor_free(struct sensor *s)
{
	if (!s->combo)
		return;
	free(s->combo->next.info.text);
	sodium_memzero(s->combo, sizeof(*s->combo));
	free(s->combo);
	s->combo = NULL;
}
