/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Air time: how long a frame was on the air, by what its radiotap header says of rate and preamble.
 * IEEE 802.11-2020: clauses 15 and 16 (DSSS), 17 (OFDM), 19 (HT), 21 (VHT); 802.11ax: 27 (HE).
 */
#ifndef MERGE_OUTPUT_STATS_AIRTIME_H
#define MERGE_OUTPUT_STATS_AIRTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct airtime {
	double mbit_s;	      /* of the bytes; 0: the header does not say a rate */
	double preamble_us;   /* with the PHY's headers */
	double symbol_us;     /* the time is rounded up to it; 0: it is not */
	unsigned int service; /* bits that the PHY adds */
	bool aggregates;      /* HT, VHT or HE: can be an A-MPDU */
	bool aggregated;      /* a subframe of an A-MPDU, which has one preamble */
	uint32_t aggregate;   /* the A-MPDU's number, as the radio counts them */
};

/* Reads the header at the begin of `len` kept bytes. In: untrusted bytes. */
void airtime_read(struct airtime *a, const uint8_t *frame, size_t len);
/* Returns the time in us of `bytes` with their FCS; 0 if the rate is not known. `preamble`: whether
 * the frame has one of its own. */
double airtime_us(const struct airtime *a, uint32_t bytes, bool preamble);

#endif
