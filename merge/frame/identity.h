/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Identity: two radios have heard the same transmission if their frames have the same key, and were
 * heard at the same time. The key is of the bytes that a transmission does not share with others,
 * and of the length on the air. No byte behind the 64th of the MAC frame is looked at, so that cut
 * frames and whole ones have the same key. Terms are those of IEEE 802.11-2020, section 9.
 */
#ifndef MERGE_FRAME_IDENTITY_H
#define MERGE_FRAME_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "radiotap.h"

#define IDENTITY_BYTES 64     /* of the MAC frame */
#define IDENTITY_SECRET 16    /* bytes of the key of SipHash-2-4: frames are anyone's */
#define IDENTITY_PN_LEAST 256 /* after a new key, packet numbers begin again */

enum frame_class {
	FRAME_BEACON, /* beacons and probe responses, first attempts */
	FRAME_MANAGEMENT,
	FRAME_DATA,
	FRAME_RETRY, /* of any of the above: the second and later attempts are equal */
	FRAME_ACK,
	FRAME_CTS,
	FRAME_RTS,
	FRAME_BLOCK_ACK,
	FRAME_NULL, /* null data, PS-Poll, CF-End and other control frames */
	FRAME_BAD_FCS,
	FRAME_CLASSES,
	FRAME_OPAQUE = FRAME_CLASSES /* malformed, or of another link type: only for --all */
};

struct identity {
	enum frame_class class;
	bool finds;  /* unique for long: finds clocks and their steps */
	bool tracks; /* unique for a second: corrects clocks */
	uint64_t key;
	uint8_t mac_len; /* bytes of the MAC frame in `mac` */
	uint32_t length; /* on the air, without FCS. What is hashed begins here */
	uint8_t mac[IDENTITY_BYTES + 4];
};

/* Reads a frame that was cut to `kept` bytes, and has `whole` bytes with its radiotap header.
 * Returns 0, or -EBADMSG if it is malformed, or cut so short that its key is not known. */
int identity_read(struct identity *i, const struct radiotap *r, const uint8_t *frame, size_t kept,
		  size_t whole, const uint8_t secret[IDENTITY_SECRET]);
/* Returns the transmitter's address, or the receiver's, or NULL if the frame has none. */
const uint8_t *identity_transmitter(const struct identity *i);
const uint8_t *identity_receiver(const struct identity *i);
/* Returns a word for `class`: "beacon", "management", "data" ... */
const char *frame_class_word(enum frame_class class);

#endif
