/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frame check: frames that arrived and must not be written, since they could make the file
 * unreadable for all. In: a combo. Out: which of its frames, and events, are refused, and why:
 * their link type is not listed for the sensor (linktypes.h), their pseudo-header is cut or wrong
 * (pseudo_header.h), or the sensor has used up its interface blocks (interfaces.h). Refused frames
 * are counted as `lost_refused`; each reason is said once for each sensor.
 */
#ifndef COLLECTOR_COMBO_FRAME_CHECK_H
#define COLLECTOR_COMBO_FRAME_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "wire/combo.h"

struct sensor;

enum frame_check_why {
	FRAME_CHECK_NOTHING,
	FRAME_CHECK_LINKTYPE,
	FRAME_CHECK_HEADER,
	FRAME_CHECK_INTERFACE,
};

/* What is decided of a combo. */
struct frame_check {
	uint32_t frames; /* that are refused */
	uint32_t events; /* that were to be written, and are not */
	unsigned int count;
	struct frame_check_kind {
		uint16_t linktype;
		uint8_t interface;
		uint8_t why;	 /* enum frame_check_why: all frames of this kind */
		bool has_header; /* each frame is looked at */
	} kinds[COMBO_KINDS_MAX];
};

/* Decides of a combo that is just open, whose events have been read; those that are refused become
 * EVENT_BAD. interfaces_begin has been called. Says what is refused. */
void frame_check_combo(struct frame_check *r, struct sensor *s, struct combo_reader *reader,
		       struct event *events);
/* Whether a frame of that combo is refused. */
bool frame_check_frame(const struct frame_check *r, const struct combo_frame *f);

#endif
