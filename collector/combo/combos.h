/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Combos: the room's state for all sensors. In: pieces of authentic messages (network/messages.h).
 * The path of a frame:
 *
 *     intake.c: intake_piece    takes a piece
 *     reassemble.c, gaps.c      reassemble combos from pieces, in order
 *     turns.c                   chooses the next sensor
 *     ahead_plan.c, ahead.c     let a second thread unpack the combos that come next
 *     split.c: split_next       takes the combo
 *     split_combo.c             splits it:
 *       forward.c                 opens it if it was in a sensor's spool
 *       unpack.c                  decompresses its body (decompress.c), and reads its frames
 *       event.c, frame_check.c    read its events, refuse unwritable frames
 *     output/output.h           writes frames and events
 *
 * runs.c begins and ends runs. one_way.c handles one-way sensors. Each stage includes this file,
 * which includes none of the stages that pass combos on.
 */
#ifndef COLLECTOR_COMBO_COMBOS_H
#define COLLECTOR_COMBO_COMBOS_H

#include <stdint.h>

#include "ahead.h"
#include "collector/model/sensors.h"
#include "collector/output/output.h"
#include "decompress.h"
#include "event.h"
#include "frame_check.h"
#include "reassemble_pool.h"
#include "unpack.h"
#include "wire/spool.h"

/* The sensors that take turns (turns.h). */
struct turns {
	struct sensor *first, *last; /* the queue; `first` has the next turn */
	struct sensor *held;
	uint64_t looked_ns; /* monotonic time of the last check of `held` */
};

struct combos {
	struct sensors *sensors;
	struct output *output;
	struct decompress decompress;
	struct unpacked unpacked; /* the current combo, unless `ahead` has it */
	struct ahead ahead;
	struct reassemble_pool pool;	       /* for all sensors' pieces */
	struct turns turns;		       /* order in which combos are taken */
	struct event events[COMBO_EVENTS_MAX]; /* of the current combo */
	struct frame_check check;	       /* of the current combo */
	uint8_t combo[SPOOL_RECORD_MAX];       /* opened from a spool's record */
	/* Called for each frame (`e` is NULL) and event (`f` is NULL) of a combo, in order
	 * (refocus.c). NULL: no rules. */
	void (*framed)(void *user, struct sensor *s, const struct combo_frame *f,
		       const struct combo_event *e, uint64_t now_ns);
	void *framed_user;
};

/* The caller sets the pointers above and zeroes the rest. Returns 0 or -ENOMEM. */
int combos_init(struct combos *c);
void combos_free(struct combos *c);
/* Drops a sensor's waiting pieces after its keys changed: they belong to the old keys. */
void combos_forget(struct combos *c, struct sensor *s);

#endif
