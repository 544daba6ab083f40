/* SPDX-License-Identifier: GPL-2.0 */
/* Metrics: the state in Prometheus' text format 0.0.4. */
#ifndef WEB_METRICS_H
#define WEB_METRICS_H

#include "resources.h"

/* As struct web_resource's `write`. */
int metrics_write(FILE *out, const struct web_look *l, const char *arg);

#endif
