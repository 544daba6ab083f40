/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: what authentic messages of sensors lead to. In: messages (session_receive.h). Out:
 * frames, to output.h; what the ledger and the sensor's ACKs say.
 */
#ifndef COLLECTOR_NETWORK_MESSAGES_H
#define COLLECTOR_NETWORK_MESSAGES_H

#include "session_receive.h"

enum split_result {
	SPLIT_NONE,  /* no combo is due that is whole */
	SPLIT_TAKEN, /* one was taken; there may be more */
	SPLIT_HELD,  /* one is due, and must wait for the disk */
};

/* Takes the next combo of a sensor, or begins the run that waited for its last one (turns.h). */
enum split_result split_next(struct session_receive *o, struct sensor *s, uint64_t now_ns);

/* A session begins: its run, and what the sensor says of itself, are the present ones. Where combos
 * of another run wait for the disk they come first: until then sensor.waiting is set, and nothing
 * of the new run is kept. */
void runs_session(struct session_receive *o, struct sensor *s, const struct session *session,
		  uint64_t now_ns);
/* Takes one message that came in a session of the present run. Returns whether it is kept, so that
 * it is acknowledged. */
bool messages_take(struct session_receive *o, struct sensor *s, const uint8_t *message, size_t len,
		   uint64_t now_ns);

/* The same of a session whose run waits: only what the sensor says of itself is kept. */
bool messages_take_early(struct session *session, const uint8_t *message, size_t len);

/* What is missing below `combo` will not come, and there were `first` frames of the run before it:
 * the others are taken. `gone` counts those that are missing: ledger_floor or ledger_gone. */
void split_past(struct session_receive *o, struct sensor *s, uint64_t combo, uint64_t first,
		int (*gone)(struct ledger *, uint64_t));
/* Nothing else will come of the present run: what is whole is to be taken, whatever is missing. */
void split_rest(struct session_receive *o, struct sensor *s);
/* Writes an ACK of the present session. */
void runs_ack(struct session_receive *o, struct sensor *s, uint8_t out[ACK_LEN]);

#endif
