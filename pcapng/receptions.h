/* SPDX-License-Identifier: GPL-2.0 */
/* Receptions: who has heard a transmission of a unified trace (saluki-files(5)): the options of its
 * packet block. */
#ifndef PCAPNG_RECEPTIONS_H
#define PCAPNG_RECEPTIONS_H

#include "block.h"

#define RECEPTION_LEN 23 /* in the option */
#define RECEPTIONS_VERSION 1
#define RECEPTIONS_EACH 2048		     /* in an option; the next one follows it */
#define RECEPTIONS_HEAD 9		     /* the option's code, length, enterprise and version */
#define RECEPTIONS_GAP (RECEPTIONS_HEAD + 3) /* with padding, between two options' receptions */

/* Bits of `flags`. */
enum {
	HEARD_LATE = 1, /* it came after its transmission was written */
	HEARD_BAD_FCS = 2,
	HEARD_AMBIGUOUS = 4, /* another transmission was in reach, too */
	HEARD_UNALIGNED = 8, /* the sensor's clock was never found */
	HEARD_OFF = 16,	     /* more than 5 sigma from the transmission's time */
	HEARD_UNSETTLED = 32 /* while the radio changed its channel */
};

/* A transmission's options with its receptions. */
struct trace_receptions {
	uint64_t number;   /* of the transmission; 0: none */
	const uint8_t *of; /* of the first option; NULL: none */
	uint32_t count;
};

struct trace_reception {
	uint16_t sensor, part;
	uint8_t interface, flags;
	int8_t signal;
	int32_t off_ns; /* from the transmission's time */
	uint32_t sigma_ns;
	int64_t stamp_ns; /* minus the transmission's time */
};

/* Reads the options of a packet block. */
struct trace_receptions trace_receptions(struct pcapng_block *b);
struct trace_reception trace_reception(const struct trace_receptions *r, uint32_t number);

#endif
