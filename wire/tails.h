/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tails: the bytes of a frame behind those that templates understand. Tails that look random, such
 * as encrypted ones, would only cost zstd time. So the sensor judges each long tail when it appends
 * the frame. The column `places` of combo.h says where the tail is:
 *
 *     TAILS_BYTES     among the frames' bytes, as all shorter tails are
 *     TAILS_RANDOM    in the column `randoms`, which is stored uncompressed
 *     TAILS_REPEATED  it is the same as a tail in `randoms`, as after a retransmission or from a
 *                     mirror port. The column `references` says how many of these tails back it is
 *
 * A tail begins behind the head of an Ethernet frame (wired_templates.h), and behind the first
 * TAILS_HEAD bytes of any other frame.
 */
#ifndef WIRE_TAILS_H
#define WIRE_TAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAILS_HEAD 64 /* bytes: about the headers of an 802.11 frame */
#define TAILS_MIN 72  /* bytes of a long tail; inner headers of a tunnel are often shorter */
#define TAILS_BACK 255
#define TAILS_BUCKETS 256
#define TAILS_PLACES 4 /* in a byte */
#define TAILS_BITS 2   /* of a place */

enum {
	TAILS_BYTES = 0,
	TAILS_RANDOM = 1,
	TAILS_REPEATED = 2,
};

/* The long tails of a combo. */
struct tails {
	uint32_t count;	 /* all of them */
	uint32_t random; /* those in `randoms` */
	uint8_t places;	 /* collector only: places of a byte that are not taken yet */
	uint16_t buckets[TAILS_BUCKETS]; /* sensor only: the number of a hash's last random tail */
	struct {
		const uint8_t *at;
		size_t len;
	} list[TAILS_BACK + 1]; /* the last ones in `randoms`; number n is at n modulo the size */
};

struct combo;
struct combo_reader;

/* Empties the list, for a combo's first long tail. */
void tails_reset(struct tails *t);
/* Sensor: notes a long tail's place, and appends the tail to `randoms` if it looks random. If not,
 * returns false, and the caller appends it to the frames' bytes. */
bool tails_put_long(struct combo *c, const uint8_t *bytes, size_t len);
/* Collector: points `*from` at the next tail, which has `len` bytes. Returns 0 or -EBADMSG. */
int tails_take(struct combo_reader *r, size_t len, const uint8_t **from);

#endif
