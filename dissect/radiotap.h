/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Radiotap (radiotap.org): where the fields of a header are. In: untrusted bytes. Out: an offset
 * for each field. All present words of radiotap's own namespaces are followed, and vendors' fields
 * are skipped. Of a field that the header has more than once, the first one counts: the later ones
 * are of single antennas.
 */
#ifndef DISSECT_RADIOTAP_H
#define DISSECT_RADIOTAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/parse_dot11.h" /* flags: RADIOTAP_FCS and others */

/* Bits of the present word. */
enum {
	RADIOTAP_TSFT = 0,
	RADIOTAP_FLAGS = 1,
	RADIOTAP_RATE = 2,
	RADIOTAP_CHANNEL = 3,
	RADIOTAP_SIGNAL = 5,
	RADIOTAP_NOISE = 6,
	RADIOTAP_XCHANNEL = 18,
	RADIOTAP_MCS = 19,
	RADIOTAP_AMPDU = 20,
	RADIOTAP_VHT = 21,
	RADIOTAP_HE = 23,
	RADIOTAP_ZERO_LENGTH = 26, /* no frame follows */
	RADIOTAP_FIELDS = 28
};

struct radiotap_header {
	uint32_t has;		      /* bit per field */
	uint16_t len;		      /* bytes of the header; at least 8 */
	uint16_t begin;		      /* offset of the first field; 0: the present words do not
				       * end inside the header */
	uint16_t at[RADIOTAP_FIELDS]; /* offset from the frame's begin, where `has` has its bit */
};

/* Finds the fields. Returns 0, or -EBADMSG: the `len` kept bytes have no whole header of version 0.
 * If the header is too short for its fields, or an unknown field comes before them, the fields
 * before that are found. */
int radiotap_find(struct radiotap_header *r, const uint8_t *frame, size_t len);

/* The same, of the first present word's fields up to `last`. */
int radiotap_find_first(struct radiotap_header *r, const uint8_t *frame, size_t len, int last);

/* Returns the frequency in MHz of a header, which may be malformed. 0: none. */
uint16_t radiotap_frequency(const uint8_t *frame, size_t len);

/* Whether the header has a channel; sets its frequency in MHz and its flags. BSD's drivers write
 * XChannel in place of the channel. */
bool radiotap_channel(const struct radiotap_header *r, const uint8_t *frame, uint16_t *mhz,
		      uint16_t *flags);

/* Returns a field's bytes, or NULL. */
static inline const uint8_t *radiotap_field(const struct radiotap_header *r, const uint8_t *frame,
					    int field)
{
	return r->has & 1u << field ? frame + r->at[field] : NULL;
}

#endif
