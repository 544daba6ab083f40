// SPDX-License-Identifier: GPL-2.0
/* Sensor: see sensor.h. */
#include "sensor.h"

#include <errno.h>
#include <stdlib.h>

int output_sensor_new(struct sensor *s)
{
	s->output = calloc(1, sizeof(*s->output));
	return s->output ? 0 : -ENOMEM;
}

void output_sensor_free(struct sensor *s)
{
	free(s->output);
	s->output = NULL;
}
