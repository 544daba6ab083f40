/* SPDX-License-Identifier: GPL-2.0 */
/* Channel and signal of a capture header. */
#ifndef PRINT_LINE_RADIO_H
#define PRINT_LINE_RADIO_H

#include "dissect/radio.h"
#include "text.h"

/* Appends channel and signal, each with a blank. */
void radio_line(struct text *t, const struct radio *r);

#endif
