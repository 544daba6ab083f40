/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame's bytes below its short line, as tcpdump's -x, -X and -A print them.
 */
#ifndef PRINT_DUMP_H
#define PRINT_DUMP_H

#include <stdint.h>

#include "print_options.h"
#include "screen.h"

/* `behind`: the offset after the link-layer headers. */
void dump_frame(struct screen *s, const struct print_options *o, const uint8_t *data,
		unsigned int len, unsigned int behind);

#endif
