// SPDX-License-Identifier: GPL-2.0
/*
 * Combo, the collector's side: see combo.h for the format. In: a body from the wire. Out: frames,
 * events. Always holds: no byte outside the body is read, however malformed it is, and after
 * combo_open no step can fail. The mirror is combo.c.
 */
#include "combo.h"

#include <errno.h>
#include <string.h>

#include <saluki/record.h>

#include "columns.h"

int combo_header_read(struct combo_header *h, const uint8_t *in, size_t len, uint16_t sensor_id)
{
	if (len < COMBO_HEADER_LEN + COMBO_CODEC_LEN)
		return -EBADMSG;
	h->version = load_be(in, 2);
	h->sensor_id = load_be(in + 2, 2);
	h->seqn = load_be(in + 4, 2);
	h->frames = load_be(in + 6, 2);
	h->body_len = load_be(in + 8, 4);
	h->codec = in[COMBO_HEADER_LEN];
	if (load_be(in + 12, 4) != COMBO_MAGIC || h->version < COMBO_VERSION_OLDEST ||
	    h->version > COMBO_VERSION || h->sensor_id != sensor_id)
		return -EBADMSG;
	if (h->frames > COMBO_FRAMES_MAX || h->body_len > COMBO_BODY_MAX)
		return -EBADMSG;
	if ((h->codec & ~COMBO_DENSE) > COMBO_ZSTD_DOT11)
		return -EBADMSG;
	if (h->codec & COMBO_DENSE &&
	    (h->version <= COMBO_VERSION_WITHOUT_FLOWS || h->codec == COMBO_DENSE))
		return -EBADMSG;
	if (h->codec == COMBO_STORED && h->body_len != len - COMBO_HEADER_LEN - COMBO_CODEC_LEN)
		return -EBADMSG;
	return 0;
}

struct combo_preamble {
	uint64_t first, base_ns, unit_ns, lengths[COMBO_COLUMNS];
};

/* The columns that a body has lengths of. Versions before 4 list them all, whether they are empty
 * or not. They lack those of wired templates, and version 2 lacks events. */
static int read_present(uint64_t *present, const uint8_t **p, const uint8_t *end, uint16_t version)
{
	*present = (1ULL << COMBO_FLOWS) - 1;
	if (version == COMBO_VERSION_WITHOUT_FLOWS)
		*present |= 1ULL << COMBO_EVENTS;
	if (version <= COMBO_VERSION_WITHOUT_FLOWS)
		return 0;
	return load_varint(p, end, present) || *present >> COMBO_COLUMNS ? -EBADMSG : 0;
}

/* Returns the first byte of the columns, or NULL if the part before them is malformed. */
static const uint8_t *read_preamble(struct combo_preamble *pre, const uint8_t *p,
				    const uint8_t *end, uint16_t version)
{
	uint64_t present;

	if (load_varint(&p, end, &pre->first) || end - p < 8)
		return NULL;
	pre->base_ns = load_be(p, 8);
	p += 8;
	if (load_varint(&p, end, &pre->unit_ns) || read_present(&present, &p, end, version))
		return NULL;
	for (int i = 0; i < COMBO_COLUMNS; i++) {
		pre->lengths[i] = 0;
		if (present >> i & 1 && load_varint(&p, end, &pre->lengths[i]))
			return NULL;
	}
	return p;
}

bool combo_has_forms(const uint8_t *body, size_t len)
{
	struct combo_preamble pre;

	return read_preamble(&pre, body, body + len, COMBO_VERSION) && pre.lengths[COMBO_FORMS];
}

static int kinds_next_run(struct combo_reader *r)
{
	struct combo_cursor *c = &r->cursor;
	uint64_t linktype;

	if (take_varint(c, COMBO_KINDS, &c->run_left, UINT64_MAX) || c->run_left == 0 ||
	    take_varint(c, COMBO_KINDS, &linktype, UINT16_MAX) ||
	    take_byte(c, COMBO_KINDS, &c->interface) || take_byte(c, COMBO_KINDS, &c->direction))
		return -EBADMSG;
	c->linktype = linktype;
	return combo_kinds_add(&r->kinds, c->linktype, c->interface) ? 0 : -EBADMSG;
}

/* Where the next frame that is put together begins. */
static uint8_t *frame_room(struct combo_reader *r, size_t *len)
{
	*len = sizeof(r->data) - r->bytes;
	return r->data + r->bytes;
}

/* Takes a length and that many bytes, and puts head and tail together if they are apart. */
static int take_bytes(struct combo_reader *r, struct combo_frame *f)
{
	const uint8_t *head, *tail;
	size_t head_len, room_len;
	uint8_t *room = frame_room(r, &room_len);
	uint64_t kept;

	if (take_varint(&r->cursor, COMBO_KEPTS, &kept, UINT32_MAX))
		return -EBADMSG;
	head_len = kept < TAILS_HEAD ? kept : TAILS_HEAD;
	if (take_span(&r->cursor.data, head_len, &head) || tails_take(r, kept - head_len, &tail))
		return -EBADMSG;
	f->kept_len = kept;
	f->data = head;
	if (tail == head + head_len)
		return 0;
	if (kept > room_len)
		return -EBADMSG;
	memcpy(room, head, head_len);
	memcpy(room + head_len, tail, kept - head_len);
	f->data = room;
	return 0;
}

static int take_fields(struct combo_cursor *c, const struct dot11_template *m, struct fields *d)
{
	uint64_t v;

	if (take_varint(c, COMBO_CUTS, &v, UINT32_MAX))
		return -EBADMSG;
	d->cut = unzigzag(v);
	if (m->at.radio.clock && take_varint(c, COMBO_CLOCKS, &d->clock, UINT64_MAX))
		return -EBADMSG;
	if (m->at.radio.stamp && take_varint(c, COMBO_STAMPS, &d->stamp, UINT64_MAX))
		return -EBADMSG;
	if (m->at.radio.aggregate) {
		if (take_varint(c, COMBO_AGGREGATES, &v, UINT32_MAX))
			return -EBADMSG;
		d->aggregate = v;
	}
	for (int i = 0; i < m->at.radio.signal_count; i++)
		if (take_byte(c, COMBO_SIGNALS, &d->signals[i]))
			return -EBADMSG;
	if (m->at.sequence) {
		if (take_varint(c, COMBO_SEQUENCES, &v, UINT16_MAX))
			return -EBADMSG;
		d->sequence = v;
	}
	if (m->at.beacon && take_varint(c, COMBO_BEACONS, &d->beacon, UINT64_MAX))
		return -EBADMSG;
	if (m->at.packet && take_varint(c, COMBO_PACKETS, &d->packet, (1ULL << 48) - 1))
		return -EBADMSG;
	return 0;
}

static int read_plain(struct combo_cursor *c, struct combo_frame *f)
{
	uint64_t cut;

	if (take_varint(c, COMBO_CUTS, &cut, UINT32_MAX - f->kept_len))
		return -EBADMSG;
	f->orig_len = f->kept_len + cut;
	return 0;
}

static int read_form(struct combo_reader *r, struct dot11_template *m, struct combo_frame *f)
{
	struct fields d;
	size_t room_len;
	uint8_t *room = frame_room(r, &room_len);

	if (!m || m->linktype != f->linktype || take_fields(&r->cursor, m, &d))
		return -EBADMSG;
	dot11_templates_sum(&r->templates.dot11, m, &d, f->time_ns / 1000);
	if (d.cut > UINT32_MAX - m->len || m->len > room_len)
		return -EBADMSG;
	dot11_templates_fill(m, &d, room);
	f->data = room;
	f->kept_len = m->len;
	f->orig_len = m->len + d.cut;
	return 0;
}

/* Takes the bytes that differ from those of another form. */
static int take_form_bytes(struct combo_cursor *c, uint8_t *bytes, uint32_t len)
{
	uint32_t groups = (len + 63) / 64;
	const uint8_t *group, *byte;
	uint8_t bits;

	if (take_span(&c->columns[COMBO_FORMS], groups, &group))
		return -EBADMSG;
	for (uint32_t at = 0; at < 64 * groups; at += 8) {
		if (!(group[at / 64] >> at / 8 % 8 & 1))
			continue;
		if (take_byte(c, COMBO_FORMS, &bits) || !bits)
			return -EBADMSG;
		for (uint32_t i = at; bits; i++, bits >>= 1) {
			if (!(bits & 1))
				continue;
			if (i >= len || take_span(&c->data, 1, &byte))
				return -EBADMSG;
			bytes[i] = *byte;
		}
	}
	return 0;
}

/* A new form, as differences from another one of the same length. */
static int read_form_difference(struct combo_reader *r, struct combo_frame *f)
{
	struct dot11_templates *t = &r->templates.dot11;
	const struct dot11_template *base;
	size_t room_len;
	uint8_t *room = frame_room(r, &room_len), back;

	if (take_byte(&r->cursor, COMBO_FORMS, &back))
		return -EBADMSG;
	base = dot11_templates_get(t, t->count - back);
	if (!base || base->linktype != f->linktype || base->len > room_len)
		return -EBADMSG;
	dot11_templates_copy(base, room);
	if (take_form_bytes(&r->cursor, room, base->len))
		return -EBADMSG;
	return read_form(r, dot11_templates_add(t, room, base->len, f->linktype), f);
}

/* A frame of a link type with forms: a known form, a new one, or too long for one. */
static int read_forms(struct combo_reader *r, struct combo_frame *f)
{
	struct dot11_templates *t = &r->templates.dot11;
	struct combo_cursor *c = &r->cursor;
	uint8_t n;

	if (!r->has_forms)
		dot11_templates_reset(t, r->version > COMBO_VERSION_WITHOUT_FLOWS
						 ? DOT11_TEMPLATES_MAX
						 : DOT11_TEMPLATES_MAX_OLD);
	r->has_forms = true;
	if (take_byte(c, COMBO_FORMS, &n))
		return -EBADMSG;
	if (n == DOT11_TEMPLATES_DIFFERENCE && r->version > COMBO_VERSION_WITHOUT_FLOWS)
		return read_form_difference(r, f);
	if (n)
		return read_form(r, dot11_templates_get(t, n), f);
	if (take_bytes(r, f))
		return -EBADMSG;
	if (f->kept_len > DOT11_TEMPLATES_LEN_MAX)
		return read_plain(c, f);
	return read_form(r, dot11_templates_add(t, f->data, f->kept_len, f->linktype), f);
}

static int read_wired(struct combo_reader *r, struct combo_frame *f)
{
	size_t len;
	uint8_t *room = frame_room(r, &len);

	return wired_next(r, f, room, len);
}

static int combo_read(struct combo_reader *r, struct combo_frame *f)
{
	struct combo_cursor *c = &r->cursor;
	uint64_t delta;
	int err;

	if (c->run_left == 0 && kinds_next_run(r))
		return -EBADMSG;
	if (take_varint(c, COMBO_TIMES, &delta, UINT64_MAX))
		return -EBADMSG;
	c->time_ns += (uint64_t)unzigzag(delta) * r->unit_ns;
	f->time_ns = c->time_ns;
	f->linktype = c->linktype;
	f->interface = c->interface;
	f->direction = c->direction;
	c->run_left--;
	if (wired_templates_apply(f->linktype) && r->version > COMBO_VERSION_WITHOUT_FLOWS)
		err = read_wired(r, f);
	else if (dot11_templates_apply(f->linktype))
		err = read_forms(r, f);
	else
		err = take_bytes(r, f) || read_plain(c, f);
	if (err || f->kept_len > sizeof(r->data) - r->bytes)
		return -EBADMSG;
	r->bytes += f->kept_len;
	r->unsettled += (f->direction & SALUKI_UNSETTLED) != 0;
	return 0;
}

/* Takes the next event of the column, if at most `since` frames come before it. A damaged event
 * ends the column too early, which read_events finds. */
static int event_read(struct combo_span *column, uint32_t *since, struct combo_event *e)
{
	const uint8_t *p = column->at;
	uint64_t frames, type, len;

	if (load_varint(&p, column->end, &frames) || frames > *since ||
	    load_varint(&p, column->end, &type) || type > UINT32_MAX ||
	    load_varint(&p, column->end, &len) || len > COMBO_EVENT_MAX ||
	    len > (uint64_t)(column->end - p))
		return 0;
	*e = (struct combo_event){ .type = type, .len = len, .bytes = p };
	column->at = p + len;
	*since -= frames;
	return 1;
}

/* Walks all events, which combo_next_event takes later. */
static int read_events(struct combo_reader *r)
{
	struct combo_span column = r->cursor.columns[COMBO_EVENTS];
	uint32_t since = r->frames;
	struct combo_event e;

	while (event_read(&column, &since, &e) == 1)
		if (++r->events > COMBO_EVENTS_MAX)
			return -EBADMSG;
	return column.at == column.end ? 0 : -EBADMSG;
}

/* Whether all bytes of the body belong to a frame or an event. */
static bool all_taken(const struct combo_cursor *c)
{
	for (int i = 0; i < COMBO_COLUMNS; i++)
		if (i != COMBO_EVENTS && c->columns[i].at != c->columns[i].end)
			return false;
	return c->data.at == c->data.end && !c->run_left;
}

/* Points at the columns, and at the frames' bytes before `randoms`. */
static int set_columns(struct combo_cursor *c, const struct combo_preamble *pre, const uint8_t *p,
		       const uint8_t *end)
{
	for (int i = 0; i < COMBO_COLUMNS; i++) {
		if (pre->lengths[i] > (uint64_t)(end - p))
			return -EBADMSG;
		if (i == COMBO_RANDOMS)
			break;
		c->columns[i] = (struct combo_span){ p, p + pre->lengths[i] };
		p += pre->lengths[i];
	}
	c->data = (struct combo_span){ p, end - pre->lengths[COMBO_RANDOMS] };
	c->columns[COMBO_RANDOMS] = (struct combo_span){ c->data.end, end };
	return 0;
}

int combo_open_version(struct combo_reader *r, const uint8_t *body, size_t len, uint32_t frames,
		       uint16_t version)
{
	struct combo_preamble pre;
	const uint8_t *p = read_preamble(&pre, body, body + len, version);

	memset(r, 0, offsetof(struct combo_reader, templates));
	if (!p || (pre.unit_ns != 1 && pre.unit_ns != 1000) || frames > COMBO_FRAMES_MAX ||
	    set_columns(&r->cursor, &pre, p, body + len))
		return -EBADMSG;
	tails_reset(&r->templates.tails);
	r->has_tails = pre.lengths[COMBO_PLACES] != 0;
	r->first = pre.first;
	r->unit_ns = pre.unit_ns;
	r->cursor.time_ns = pre.base_ns;
	r->version = version;
	for (; r->frames < frames; r->frames++)
		if (combo_read(r, &r->list[r->frames]))
			return -EBADMSG;
	if (!all_taken(&r->cursor) || r->templates.tails.places || read_events(r) ||
	    (!r->frames && !r->events))
		return -EBADMSG;
	return 0;
}

int combo_open(struct combo_reader *r, const uint8_t *body, size_t len, uint32_t frames)
{
	return combo_open_version(r, body, len, frames, COMBO_VERSION);
}

int combo_next(struct combo_reader *r, struct combo_frame *f)
{
	if (r->taken == r->frames)
		return 0;
	*f = r->list[r->taken++];
	return 1;
}

int combo_next_event(struct combo_reader *r, struct combo_event *e)
{
	struct combo_cursor *c = &r->cursor;
	uint32_t since = r->taken - c->event_frames;
	int got = event_read(&c->columns[COMBO_EVENTS], &since, e);

	c->event_frames = r->taken - since;
	return got;
}

uint32_t combo_list_events(const struct combo_reader *r, struct combo_event list[COMBO_EVENTS_MAX])
{
	struct combo_span column = r->cursor.columns[COMBO_EVENTS];
	uint32_t since = r->frames, n = 0;

	while (n < COMBO_EVENTS_MAX && event_read(&column, &since, &list[n]) == 1)
		n++;
	return n;
}
