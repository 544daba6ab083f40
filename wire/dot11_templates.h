/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dot11 templates: what one 802.11 frame of a combo has in common with those before it. Used by
 * combo.c on both ends; the columns are described in combo.h.
 *
 * A few fields of radiotap and 802.11 headers differ in every frame, and only they do: clocks and
 * counters. With those at zero a frame is one of a few dozen *forms* that come again and again,
 * and the fields themselves are nearly what can be expected of them. So a form's bytes are in
 * the combo once, a frame is a number of a form and the differences from what was expected, and
 * zstd has a quarter of the bytes to go through, most of them zeros.
 *
 * What is expected of a field (fields.h):
 *
 *     clock     radiotap TSFT, 8 bytes: as far ahead of the frame's time stamp as in the last
 *               frame of this form, or where the form is new in the last frame that had one
 *     stamp     radiotap time stamp in microseconds, 8 bytes: as far ahead of the frame's time
 *               stamp as in the last frame that had one
 *     aggregate  radiotap A-MPDU reference number, 4 bytes: again the last frame's
 *     signals   radiotap antenna signals in dBm and dB, of all antennas, and lock quality, 1 byte
 *               each, FIELDS_SIGNALS at most: those of the station's last frame
 *     sequence  sequence control, 2 bytes: the next number of this counter (again the last one
 *               where the retry bit is set), fragment 0
 *     beacon    time stamp of a beacon or probe response, 8 bytes: as far ahead of `clock`, or
 *               without one of the time stamp, as the station's last one
 *     packet    CCMP or GCMP packet number, 6 of 8 bytes: one more than this pair's last one
 *     cut       bytes cut off the frame: as many as of the form's last frame
 *
 * What is learnt of stations and pairs of stations is in tables of FIELDS_SLOTS entries, zero at
 * the start of a combo; the slot is a hash of addresses (fields.c), and two that share a slot
 * cost a few bytes.
 */
#ifndef WIRE_DOT11_TEMPLATES_H
#define WIRE_DOT11_TEMPLATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/linktype.h>

#include "fields.h"

#define DOT11_TEMPLATES_MAX 255	    /* forms of a combo; further ones are not remembered */
#define DOT11_TEMPLATES_LEN_MAX 512 /* bytes; longer frames are stored as they are */
#define DOT11_TEMPLATES_BUCKETS 256

struct dot11_template {
	const uint8_t *bytes; /* in the combo */
	uint32_t hash;
	uint16_t len, linktype;
	struct places at;
	uint8_t next;	/* of the bucket, 0: the last one */
	uint32_t cut;	/* of the last frame of this form */
	uint64_t ahead; /* its clock less its time stamp, us */
};

struct dot11_templates {
	uint32_t count;
	uint64_t ahead; /* as in struct dot11_template, of the last frame that had a clock */
	uint64_t stamp_ahead;
	uint32_t aggregate;
	uint8_t signals[FIELDS_SLOTS][FIELDS_SIGNALS];
	uint16_t sequences[FIELDS_SLOTS];
	uint64_t beacons[FIELDS_SLOTS], packets[FIELDS_SLOTS];
	uint8_t buckets[DOT11_TEMPLATES_BUCKETS]; /* sensor only: the first form of a hash */
	struct radiotap_layouts layouts;
	struct dot11_template
		list[DOT11_TEMPLATES_MAX + 1]; /* the first is for frames that are not remembered */
};

/* Forgets everything; for the first frame with forms of a combo. */
void dot11_templates_reset(struct dot11_templates *f);
/* Returns whether frames of this link type have forms. */
static inline bool dot11_templates_apply(uint16_t linktype)
{
	return linktype == LINKTYPE_RADIOTAP || linktype == LINKTYPE_IEEE802_11;
}

/* Sensor. Takes the fields out of a frame, leaving zeros, and returns its form: one known, or a
 * new one (`*is_new`) whose bytes must then stay where they are as long as `f` is used. */
struct dot11_template *dot11_templates_find(struct dot11_templates *f, struct fields *fields,
					    uint8_t *frame, uint32_t len, uint16_t linktype,
					    bool *is_new);
/* Collector. The next form, from bytes of a combo. */
struct dot11_template *dot11_templates_add(struct dot11_templates *f, const uint8_t *bytes,
					   uint32_t len, uint16_t linktype);
/* Collector. Form number `n` as the sensor counts them, or NULL. */
struct dot11_template *dot11_templates_get(struct dot11_templates *f, uint32_t n);
static inline uint32_t dot11_templates_number(const struct dot11_templates *f,
					      const struct dot11_template *form)
{
	return form - f->list;
}

/* Sensor: fields become differences. Collector (dot11_templates_sum): differences become fields.
 * Both learn. `time_us` is the frame's time stamp. */
void dot11_templates_differ(struct dot11_templates *f, struct dot11_template *form,
			    struct fields *d, uint64_t time_us);
void dot11_templates_sum(struct dot11_templates *f, struct dot11_template *form, struct fields *d,
			 uint64_t time_us);
/* Collector: puts the fields into a copy of the form's bytes. */
void dot11_templates_fill(const struct dot11_template *form, const struct fields *fields,
			  uint8_t *frame);

#endif
