/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dot11 templates: remove the parts that an 802.11 frame shares with earlier frames of its combo.
 * Both ends use them, in combo.c and combo_open.c. combo.h describes the columns.
 *
 * A few fields of radiotap and 802.11 headers differ in every frame: clocks and counters. With
 * these at zero, a frame is one of a few dozen recurring *forms*, and the fields can be predicted.
 * So the combo has a form's bytes once. Each frame has its form's number and the differences from
 * the predictions. zstd then reads a quarter of the bytes, most of them zeros. A new form that is
 * like an earlier one is stored as differences from it.
 *
 * The prediction for each field (fields.h):
 *
 *     clock      radiotap TSFT, 8 bytes: its distance from the frame's time stamp is that of this
 *                form's last frame or, for a new form, of the last frame with a TSFT
 *     stamp      radiotap time stamp in microseconds, 8 bytes: its distance from the frame's time
 *                stamp is that of the last frame with this field
 *     aggregate  radiotap A-MPDU reference number, 4 bytes: the last frame's value
 *     signals    radiotap antenna signals in dBm and dB, of all antennas, and lock quality, 1 byte
 *                each, at most FIELDS_SIGNALS: the values of the station's last frame
 *     sequence   sequence control, 2 bytes: this counter's last value + 1, fragment 0; with the
 *                retry bit, the last value
 *     beacon     time stamp of a beacon or probe response, 8 bytes: its distance from `clock` is
 *                that of the station's last one; without `clock`, its distance from the frame's
 *                time stamp
 *     packet     CCMP or GCMP packet number, 6 of 8 bytes: this pair's last value + 1
 *     cut        bytes truncated from the frame: the value of the form's last frame
 *
 * Tables of FIELDS_SLOTS entries have the state per station and per pair of stations. They are zero
 * at the start of a combo. The slot is a hash of addresses (fields.c). If two stations share a
 * slot, the combo grows by a few bytes.
 */
#ifndef WIRE_DOT11_TEMPLATES_H
#define WIRE_DOT11_TEMPLATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saluki/linktype.h>

#include "fields.h"

#define DOT11_TEMPLATES_MAX 254	    /* forms of a combo; more are not stored */
#define DOT11_TEMPLATES_MAX_OLD 255 /* in versions without differences */
#define DOT11_TEMPLATES_LEN_MAX 512 /* bytes; longer frames are stored as they are */
#define DOT11_TEMPLATES_BUCKETS 256
#define DOT11_TEMPLATES_LASTS 256
#define DOT11_TEMPLATES_BITS_MAX (DOT11_TEMPLATES_LEN_MAX / 64 + DOT11_TEMPLATES_LEN_MAX / 8)
/* Bytes of forms that a combo has as differences; 32-bit machines have little memory. */
#define DOT11_TEMPLATES_ROOM (sizeof(void *) == 4 ? 4096 : 32768)

/* Values of the column `forms` that are no form's number. */
enum {
	DOT11_TEMPLATES_WHOLE = 0,	 /* a new form, stored as it is */
	DOT11_TEMPLATES_DIFFERENCE = 255 /* a new form, as differences from another form */
};

struct dot11_template {
	const uint8_t *bytes; /* in the combo, or of a frame; fields may have any values */
	uint32_t hash;
	uint16_t len, linktype;
	struct places at;
	uint8_t next;	/* of the bucket, 0: the last one */
	uint32_t cut;	/* of the last frame of this form */
	uint64_t ahead; /* its clock minus its time stamp, us */
};

struct dot11_templates {
	uint32_t max; /* forms that get a number */
	uint32_t count;
	uint64_t ahead; /* as in struct dot11_template, of the last frame that had a clock */
	uint64_t stamp_ahead;
	uint32_t aggregate;
	uint8_t signals[FIELDS_SLOTS][FIELDS_SIGNALS];
	uint16_t sequences[FIELDS_SLOTS];
	uint64_t beacons[FIELDS_SLOTS], packets[FIELDS_SLOTS];
	uint8_t buckets[DOT11_TEMPLATES_BUCKETS]; /* sensor only: the first form of a hash */
	/* Sensor only: the last form of a length, and that of a length and a station. */
	uint8_t lengths[DOT11_TEMPLATES_LASTS], stations[DOT11_TEMPLATES_LASTS];
	uint32_t room_len;
	struct radiotap_layouts layouts;
	struct dot11_template
		list[DOT11_TEMPLATES_MAX_OLD + 1]; /* the first is for frames beyond the limit */
	uint8_t room[DOT11_TEMPLATES_ROOM];	   /* sensor only: bytes of forms */
};

/* Resets all, for a combo's first frame with a form. */
void dot11_templates_reset(struct dot11_templates *f, uint32_t max);
/* Returns whether frames of this link type have forms. */
static inline bool dot11_templates_apply(uint16_t linktype)
{
	return linktype == LINKTYPE_RADIOTAP || linktype == LINKTYPE_IEEE802_11;
}

/* Sensor. Moves the fields out of a frame, leaving zeros, and returns its form. The bytes of a new
 * form (`*is_new`) must stay in place as long as `f` is used, or until dot11_templates_shrink. */
struct dot11_template *dot11_templates_find(struct dot11_templates *f, struct fields *fields,
					    uint8_t *frame, uint32_t len, uint16_t linktype,
					    bool *is_new);

/* A new form as differences from another one. */
struct dot11_shrunk {
	uint8_t back; /* forms between the other form and this one */
	uint8_t bits_len;
	uint16_t bytes_len;
};

/* Sensor. Replaces a new form's bytes, which are at `bytes`, by those that differ from an earlier
 * form of the same length, and writes at most DOT11_TEMPLATES_BITS_MAX bytes of `bits`. Returns
 * false, without changes, if this does not pay. Called once for each new form. */
bool dot11_templates_shrink(struct dot11_templates *f, struct dot11_template *form, uint8_t *bytes,
			    struct dot11_shrunk *s, uint8_t *bits);
/* Sensor. A form that was just made is not found again: not all of its bytes stay in place. */
void dot11_templates_forget(struct dot11_templates *f, struct dot11_template *m);
/* Collector. Adds the next form. The bytes must stay in place as long as `f` is used. */
struct dot11_template *dot11_templates_add(struct dot11_templates *f, const uint8_t *bytes,
					   uint32_t len, uint16_t linktype);
/* Collector. Returns form number `n` as the sensor counts, or NULL. */
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
/* Collector: copies the form's bytes, with its fields at zero. */
void dot11_templates_copy(const struct dot11_template *form, uint8_t *bytes);
/* Collector: copies the form's bytes, unless they are there, and puts the fields in. */
void dot11_templates_fill(const struct dot11_template *form, const struct fields *fields,
			  uint8_t *frame);

#endif
