/* SPDX-License-Identifier: GPL-2.0 */
/* Fill: puts frames from a source, and modules' events between them, into a combo. */
#ifndef AGENT_CAPTURE_FILL_H
#define AGENT_CAPTURE_FILL_H

#include <stdbool.h>

#include "wire/combo.h"
#include "wire/wired_templates.h"

#define FILL_WHOLE_MORE 8 /* columns of a frame that is stored as it is, bytes */

/* Whether a frame is stored as it is, which needs some bytes more than it has. */
static inline bool fill_is_whole(const struct combo_frame *f)
{
	return f->kept_len > WIRED_HEAD_MAX && wired_templates_apply(f->linktype);
}

/* Returns an estimate of a frame's bytes in a combo, in 1/16. `frame_cost` is the average of frames
 * that are not stored as they are. */
static inline uint32_t fill_cost(const struct combo_frame *f, uint32_t frame_cost)
{
	return fill_is_whole(f) ? 16 * (f->kept_len + FILL_WHOLE_MORE) : frame_cost;
}

/* Returns whether this is a module's event and not a frame. */
bool fill_is_event(const struct combo_frame *f);
/* Returns whether a module's event has a length that Saluki's programs write. */
bool fill_event_is_valid(const struct combo_frame *f);
/* Copies a frame or a valid event into `c`. Returns false if it does not fit; an empty combo takes
 * any. */
bool fill(struct combo *c, const struct combo_frame *f);

#endif
