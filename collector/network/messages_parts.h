/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of messages.h call of one another:
 *
 *     messages.c        messages, each to its place
 *     split.c  pieces become combos, and combos frames
 *     runs.c    sessions and runs begin; ACKs
 */
#ifndef COLLECTOR_NETWORK_MESSAGES_PARTS_H
#define COLLECTOR_NETWORK_MESSAGES_PARTS_H

#include "messages.h"

/* Takes a piece. Returns whether it is kept. */
bool split_piece(struct session_receive *o, struct sensor *s, const uint8_t *message, size_t len,
		 uint64_t now_ns);
/* The next combo that is due, where it is whole, with its length and count; NULL: none is. */
const uint8_t *split_whole(struct session_receive *o, struct sensor *s, size_t *len,
			   uint64_t *count);
/* Something has come, or will not: there may be a combo to take. */
void split_due(struct session_receive *o, struct sensor *s);
/* The run of the present session begins, unless combos of the one before it still wait. Returns
 * whether it does. */
bool runs_begin(struct session_receive *o, struct sensor *s, uint64_t now_ns);

#endif
