/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEB_METRICS_SUMS_H
#define WEB_METRICS_SUMS_H

#include <stdio.h>

#include "sums.h"

/* Write the families saluki_channel_* for each group, and saluki_module_*. */
void metrics_group_channels(FILE *f, const struct sums *s);
void metrics_modules(FILE *f, const struct sums *s);

#endif
