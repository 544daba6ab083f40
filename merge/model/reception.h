/* SPDX-License-Identifier: GPL-2.0 */
/* Reception: a frame as one radio has heard it. */
#ifndef MERGE_MODEL_RECEPTION_H
#define MERGE_MODEL_RECEPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcapng/receptions.h"

/* Memory that receptions point into. */
struct chunk {
	unsigned int users; /* receptions, and who fills it; freed after the last one */
	size_t size;
	uint8_t bytes[];
};

struct reception {
	int64_t stamp_ns; /* the sensor's, since 1970 */
	int64_t own_ns;	  /* by the clock of the domain, without steps */
	uint64_t key;	  /* frame/identity.h */
	uint64_t address; /* 48 bits: an ACK's or CTS's receiver, others' transmitter; 0: none */
	struct chunk *chunk;
	const uint8_t *frame;
	uint32_t kept, whole; /* bytes of the frame, with its radiotap header */
	uint32_t length;      /* on the air, without FCS */
	uint32_t radio;
	uint16_t mhz;
	uint8_t class, flags;
	uint8_t rate;  /* 500 kbit/s; 0: not said */
	int8_t signal; /* dBm */
	bool finds, tracks;
	bool has_tsft; /* own_ns is the radio's TSFT, until the merge takes the reception */
};

#endif
