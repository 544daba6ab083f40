/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Combos: what this room has for all sensors together. In: pieces of authentic messages
 * (network/messages.h). A frame's way through it:
 *
 *     intake.c: intake_piece    a piece comes
 *     reassemble.c, gaps.c      pieces become combos again, in order
 *     turns.c                   whose combo is taken next, and when
 *     split.c: split_next       the combo is taken:
 *       forward.c                 it was in a sensor's spool
 *       decompress.c              its body
 *       event.c, frame_check.c    what of it must not be written
 *     output/output.h           frames and events
 *
 * Beside them: runs.c begins and ends runs, one_way.c has what is special about sensors that hear
 * nothing. Each stage includes this file, which includes none of those that take a combo's way.
 */
#ifndef COLLECTOR_COMBO_COMBOS_H
#define COLLECTOR_COMBO_COMBOS_H

#include <stdint.h>

#include "collector/model/sensors.h"
#include "collector/output/output.h"
#include "decompress.h"
#include "event.h"
#include "frame_check.h"
#include "reassemble_pool.h"
#include "wire/spool.h"

/* The sensors that take turns (turns.h). */
struct turns {
	struct sensor *first, *last; /* whose turn is next */
	struct sensor *held;
	uint64_t looked_ns; /* at those */
};

struct combos {
	struct sensors *sensors;
	struct output *output;
	struct decompress decompress;
	struct reassemble_pool pool;	       /* of all sensors' pieces */
	struct turns turns;		       /* whose combo is taken next */
	struct event events[COMBO_EVENTS_MAX]; /* of the combo that is being taken */
	struct frame_check check;	       /* of the same */
	uint8_t combo[SPOOL_RECORD_MAX];       /* that was opened out of a record */
	/* A frame or an event of a combo, in their order; e is NULL, or f is (refocus.c). NULL:
	 * there are no rules. */
	void (*framed)(void *user, struct sensor *s, const struct combo_frame *f,
		       const struct combo_event *e, uint64_t now_ns);
	void *framed_user;
};

/* The pointers above are set, the rest is zeroed. Returns 0 or -ENOMEM. */
int combos_init(struct combos *c);
void combos_free(struct combos *c);
/* The sensor's keys are others now: what waits is not its own. */
void combos_forget(struct combos *c, struct sensor *s);

#endif
