/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unpack: turns a combo's bytes into frames and events. In: a combo of an authentic sensor. Out: a
 * reader of its frames and events, all of them checked. The result depends on nothing else, so any
 * thread may do it at any time.
 */
#ifndef COLLECTOR_COMBO_UNPACK_H
#define COLLECTOR_COMBO_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decompress.h"
#include "wire/combo.h"

struct unpacked {
	const uint8_t *combo; /* as received */
	size_t len;
	struct combo_reader reader;   /* points into the combo, or into `body` */
	uint8_t body[COMBO_BODY_MAX]; /* decompressed */
};

/* Unpacks the combo of a sensor id and a count. Returns whether it is valid. */
bool unpack_combo(struct unpacked *u, struct decompress *d, const uint8_t *combo, size_t len,
		  uint16_t id, uint64_t count);

#endif
