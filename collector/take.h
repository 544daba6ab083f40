/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take: what authentic messages of sensors lead to. In: messages (open.h). Out: frames, to
 * output.h; what the ledger and the sensor's ACKs say.
 */
#ifndef COLLECTOR_TAKE_H
#define COLLECTOR_TAKE_H

#include "open.h"

enum take_result {
	TAKE_NONE,  /* no combo is due that is whole */
	TAKE_TAKEN, /* one was taken; there may be more */
	TAKE_HELD,  /* one is due, and must wait for the disk */
};

/* Takes the next combo of a sensor, or begins the run that waited for its last one (serve.h). */
enum take_result take_next(struct open *o, struct sensor *s, uint64_t now_ns);

/* A session begins: its run, and what the sensor says of itself, are the present ones. Where combos
 * of another run wait for the disk they come first: until then sensor.waiting is set, and nothing
 * of the new run is kept. */
void take_session(struct open *o, struct sensor *s, const struct session *session, uint64_t now_ns);
/* Takes one message that came in a session of the present run. Returns whether it is kept, so that
 * it is acknowledged. */
bool take_message(struct open *o, struct sensor *s, const uint8_t *message, size_t len,
		  uint64_t now_ns);

/* The same of a session whose run waits: only what the sensor says of itself is kept. */
bool take_message_early(struct session *session, const uint8_t *message, size_t len);

/* What is missing below `combo` will not come, and there were `first` frames of the run before it:
 * the others are taken. `gone` counts those that are missing: ledger_floor or ledger_gone. */
void take_past(struct open *o, struct sensor *s, uint64_t combo, uint64_t first,
	       int (*gone)(struct ledger *, uint64_t));
/* Nothing else will come of the present run: what is whole is to be taken, whatever is missing. */
void take_rest(struct open *o, struct sensor *s);
/* Writes an ACK of the present session. */
void take_ack(struct open *o, struct sensor *s, uint8_t out[ACK_LEN]);

#endif
