/* SPDX-License-Identifier: GPL-2.0 */
/* The families of saluki-kafka at the collector's --sink and --source. In: one state. */
#ifndef WEB_METRICS_KAFKA_H
#define WEB_METRICS_KAFKA_H

#include <stdio.h>

#include "board/board.h"

/* Write nothing without the option. */
void metrics_sink(FILE *f, const struct board_collector *c);
void metrics_source(FILE *f, const struct board_collector *c);

#endif
