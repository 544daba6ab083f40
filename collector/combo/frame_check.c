// SPDX-License-Identifier: GPL-2.0
/* Frame check: see frame_check.h. */
#include "frame_check.h"

#include "common/log.h"
#include "pseudo_header.h"
#include "collector/model/sensors.h"
#include "sensor.h"
#include "collector/output/interfaces.h"

/* ---- log messages ---------------------------------------------------------------------------- */

static void log_linktype(const struct sensor *s, uint16_t linktype)
{
	char entry[LINKTYPES_TEXT_LEN];

	linktypes_entry(entry, &s->linktypes, linktype);
	log_line("sensor %s: frames of link type %u are refused; if it is to send them, put '%s' "
		 "into its line of the sensors file",
		 s->name, linktype, entry);
}

/* Logs each reason once, until the sensor's line in the sensors file changes. */
static void log_refused(struct sensor *s, const struct frame_check_kind *k,
			enum frame_check_why why)
{
	uint8_t bit = 1 << why;

	if (s->combo->refused_logged & bit)
		return;
	s->combo->refused_logged |= bit;
	if (why == FRAME_CHECK_LINKTYPE)
		log_linktype(s, k->linktype);
	else if (why == FRAME_CHECK_HEADER)
		log_line("sensor %s: frames of link type %u with a cut or wrong pseudo-header are "
			 "refused: they would make the file unreadable",
			 s->name, k->linktype);
	else
		log_line("sensor %s: has so many interfaces and link types that some are refused, "
			 "such as frames of interface %u with link type %u",
			 s->name, k->interface, k->linktype);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static void decide_kind(struct frame_check_kind *k, const struct sensor *s, unsigned int *left)
{
	if (!linktypes_has(&s->linktypes, k->linktype))
		k->why = FRAME_CHECK_LINKTYPE;
	else if (interfaces_known(s, k->linktype, k->interface))
		k->why = FRAME_CHECK_NOTHING;
	else if (*left)
		--*left;
	else
		k->why = FRAME_CHECK_INTERFACE;
	k->has_header = pseudo_header_has(k->linktype);
}

static void decide_kinds(struct frame_check *r, const struct sensor *s,
			 const struct combo_kinds *kinds, unsigned int *left)
{
	r->count = kinds->count;
	for (unsigned int i = 0; i < r->count; i++) {
		r->kinds[i] = (struct frame_check_kind){ .linktype = kinds->list[i] >> 8,
							 .interface = kinds->list[i] & 0xff };
		decide_kind(&r->kinds[i], s, left);
	}
}

static const struct frame_check_kind *kind_of(const struct frame_check *r,
					      const struct combo_frame *f)
{
	const struct frame_check_kind *k = r->kinds;

	while (k->linktype != f->linktype || k->interface != f->interface)
		k++;
	return k;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static enum frame_check_why why_frame(const struct frame_check_kind *k, const struct combo_frame *f)
{
	if (k->why || !k->has_header || pseudo_header_valid(f->linktype, f->data, f->kept_len))
		return k->why;
	return FRAME_CHECK_HEADER;
}

bool frame_check_frame(const struct frame_check *r, const struct combo_frame *f)
{
	return r->frames && why_frame(kind_of(r, f), f);
}

/* Counts the refused frames. */
static void count_frames(struct frame_check *r, struct sensor *s, const struct combo_reader *reader)
{
	for (uint32_t i = 0; i < reader->frames; i++) {
		const struct combo_frame *f = &reader->list[i];
		const struct frame_check_kind *k = kind_of(r, f);
		enum frame_check_why why = why_frame(k, f);

		r->frames += why != FRAME_CHECK_NOTHING;
		if (why)
			log_refused(s, k, why);
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Whether an interface block for this combo's frames also serves the dwell. */
static bool kind_will_do(const struct frame_check *r, uint8_t interface)
{
	for (unsigned int i = 0; i < r->count; i++)
		if (r->kinds[i].interface == interface && !r->kinds[i].why)
			return true;
	return false;
}

/* Refuses dwells that get no interface block. Each interface needs at most one block for dwells. */
static void frame_check_dwells(struct frame_check *r, const struct sensor *s, struct event *events,
			       unsigned int count, unsigned int left)
{
	bool granted[INFO_INTERFACES_MAX] = { false };

	for (unsigned int i = 0; i < count; i++) {
		uint8_t n = events[i].dwell.interface;

		if (events[i].kind != EVENT_DWELL || granted[n])
			continue;
		granted[n] = interfaces_dwell_known(s, n) || kind_will_do(r, n);
		if (!granted[n] && left && linktypes_80211(&s->linktypes) >= 0) {
			granted[n] = true;
			left--;
		}
		if (granted[n])
			continue;
		events[i].kind = EVENT_BAD;
		r->events++;
	}
}

/* Leaves out readings that come before the section's first block of the sensor, if the combo has no
 * frame whose block they could use. */
static void frame_check_readings(struct frame_check *r, const struct sensor *s,
				 struct event *events, unsigned int count)
{
	bool has_block = r->first || interfaces_any(s);

	for (unsigned int i = 0; i < count && !has_block; i++) {
		has_block = events[i].kind == EVENT_DWELL;
		if (events[i].kind != EVENT_READINGS)
			continue;
		events[i].kind = EVENT_LEFT;
		r->events++;
	}
}

static const struct combo_frame *first_frame(const struct frame_check *r,
					     const struct combo_reader *reader)
{
	for (uint32_t i = 0; i < reader->frames; i++)
		if (!frame_check_frame(r, &reader->list[i]))
			return &reader->list[i];
	return NULL;
}

/* ---------------------------------------------------------------------------------------------- */

void frame_check_combo(struct frame_check *r, struct sensor *s, struct combo_reader *reader,
		       struct event *events)
{
	unsigned int left = interfaces_left(s);
	bool look = false;

	r->frames = r->events = 0;
	decide_kinds(r, s, &reader->kinds, &left);
	for (unsigned int i = 0; i < r->count; i++)
		look |= r->kinds[i].why || r->kinds[i].has_header;
	if (look)
		count_frames(r, s, reader);
	if (!reader->events)
		return;
	r->first = first_frame(r, reader);
	frame_check_dwells(r, s, events, reader->events, left);
	frame_check_readings(r, s, events, reader->events);
}
