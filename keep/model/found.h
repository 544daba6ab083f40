/* SPDX-License-Identifier: GPL-2.0 */
/* Found: a frame that a search has found. */
#ifndef KEEP_MODEL_FOUND_H
#define KEEP_MODEL_FOUND_H

#include "sections.h"

struct found {
	struct section_interface *interface;
	const struct pcapng_block *block;
	int64_t ns;
	/* Of a transmission: its section's interfaces, among them the radios that receptions name;
	 * else NULL. */
	struct sections *radios;
	uint64_t trace; /* the unified trace's number; 0: not known */
};

#endif
