/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take: what authentic messages of sensors lead to. In: messages (open.h). Out: frames, to
 * output.h; what the ledger and the sensor's ACKs say.
 */
#ifndef COLLECTOR_TAKE_H
#define COLLECTOR_TAKE_H

#include "open.h"

/* A session begins: its run, and what the sensor says of itself, are the present ones. */
void take_session(struct open *o, struct sensor *s, struct session *session, uint64_t now_ns);
/* Takes one message that came in a session of the present run. Returns whether it is kept, so that
 * it is acknowledged. */
bool take_message(struct open *o, struct sensor *s, const uint8_t *message, size_t len,
		  uint64_t now_ns);

/* What is missing below `combo` will not come, and there were `first` frames of the run before it:
 * the others are taken. `gone` counts those that are missing: ledger_floor or ledger_gone. */
void take_past(struct open *o, struct sensor *s, uint64_t combo, uint64_t first,
	       int (*gone)(struct ledger *, uint64_t), uint64_t now_ns);
/* Takes all that is whole: nothing else will come. */
void take_rest(struct open *o, struct sensor *s, uint64_t now_ns);
/* Writes an ACK of the present session. */
void take_ack(struct sensor *s, uint8_t out[ACK_LEN]);

#endif
