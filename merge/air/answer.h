/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers: an ACK or a CTS comes a SIFS behind the frame that it answers. If one interrupt stamped
 * both of them, both are late together, and the time of the answer follows from that of the frame's
 * transmission, which others have stamped in time.
 */
#ifndef MERGE_AIR_ANSWER_H
#define MERGE_AIR_ANSWER_H

#include "merge/model/transmission.h"

#define ANSWER_NEAR_NS 120000 /* the answer's stamp behind the frame's */
#define ANSWER_LATE_NS 60000

/* A radio's last reception. */
struct answered {
	const struct transmission *by; /* open for as long as an answer can come */
	int64_t unified_ns;
	bool late;
};

/* Returns the time at which the reception's transmission is to be looked for: its own, or an
 * earlier one. */
int64_t answer_time(const struct answered *last, const struct reception *r, int64_t unified_ns);
/* Notes that the reception is in a transmission. */
void answer_note(struct answered *last, const struct transmission *t, int64_t unified_ns);

#endif
