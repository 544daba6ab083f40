/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frame check: refuses received frames that could make the file unreadable. In: a combo. Out: its
 * refused frames and events. A frame is refused if its link type is not listed for the sensor
 * (linktypes.h), its pseudo-header is truncated or wrong (pseudo_header.h), or the sensor has no
 * interface block left (interfaces.h). Refused frames count as `lost_refused`. Each reason is
 * logged once per sensor. Clock readings need any interface block: without one, and without a frame
 * that gets one, they are left out.
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

/* The decisions about a combo. */
struct frame_check {
	uint32_t frames;		 /* refused frames */
	uint32_t events;		 /* refused dwells, and readings without a place */
	const struct combo_frame *first; /* the first frame that is not refused; NULL: none */
	unsigned int count;
	struct frame_check_kind {
		uint16_t linktype;
		uint8_t interface;
		uint8_t why;	 /* enum frame_check_why: for all frames of this kind */
		bool has_header; /* each frame's pseudo-header is checked */
	} kinds[COMBO_KINDS_MAX];
};

/* Checks a combo after combo_open_version, event_read and interfaces_begin. Marks refused events as
 * EVENT_BAD or EVENT_LEFT, and logs each new reason. */
void frame_check_combo(struct frame_check *r, struct sensor *s, struct combo_reader *reader,
		       struct event *events);
/* Whether a frame of the checked combo is refused. */
bool frame_check_frame(const struct frame_check *r, const struct combo_frame *f);

#endif
