/* SPDX-License-Identifier: GPL-2.0 */
/* The sensor, as `saluki run` and `saluki capture` run it. */
#ifndef AGENT_RUN_H
#define AGENT_RUN_H

#include "agent/options/run_options.h"

/* Starts the sensor's two processes, of which this one becomes the privileged one, and waits for
 * the end. Call keys_init() before. Closes a local collector's socket. Returns the exit status. */
int run_sensor(const struct run_options *o);

#endif
