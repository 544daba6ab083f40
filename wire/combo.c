// SPDX-License-Identifier: GPL-2.0
/*
 * Combo codec: see combo.h for the format. In: frames, or a body from the wire. Out: a body, or
 * frames. Always holds: nothing is allocated after combo_init, and nothing outside the given
 * body is read, whatever it says.
 */
#include "combo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

/* Bytes a frame adds to a column at most. */
static const uint8_t column_max[COMBO_COLUMNS] = {
	[COMBO_KINDS] = VARINT_MAX + 3 + 2,
	[COMBO_TIMES] = VARINT_MAX,
	[COMBO_KEPTS] = 5,
	[COMBO_CUTS] = 5,
	[COMBO_FORMS] = 1,
	[COMBO_CLOCKS] = VARINT_MAX,
	[COMBO_STAMPS] = VARINT_MAX,
	[COMBO_AGGREGATES] = 5,
	[COMBO_SIGNALS] = FORM_SIGNALS,
	[COMBO_SEQUENCES] = 3,
	[COMBO_BEACONS] = VARINT_MAX,
	[COMBO_PACKETS] = 7,
};
#define FRAME_MAX 87 /* the sum of these */

/* What columns hold counts against `size`, so none exceeds it by more than one frame's share. */
static size_t column_cap(int i, size_t size)
{
	size_t all = (size_t)COMBO_FRAMES_MAX * column_max[i];

	return (all < size ? all : size) + FRAME_MAX;
}

int combo_init(struct combo *c, size_t size, size_t snaplen)
{
	size_t memory = 0;

	memset(c, 0, sizeof(*c));
	c->size = size;
	c->data_cap = size > snaplen ? size : snaplen;
	c->headroom = size + FRAME_MAX + COMBO_HEADROOM_MAX;
	for (int i = 0; i < COMBO_COLUMNS; i++)
		memory += column_cap(i, size);
	c->memory = malloc(memory);
	c->room = malloc(c->headroom + c->data_cap);
	if (!c->memory || !c->room) {
		combo_free(c);
		return -ENOMEM;
	}
	memory = 0;
	for (int i = 0; i < COMBO_COLUMNS; i++) {
		c->columns[i].p = c->memory + memory;
		memory += column_cap(i, size);
	}
	return 0;
}

void combo_free(struct combo *c)
{
	free(c->room);
	free(c->memory);
	memset(c, 0, sizeof(*c));
}

void combo_reset(struct combo *c)
{
	c->frames = 0;
	c->run_frames = 0;
	for (int i = 0; i < COMBO_COLUMNS; i++)
		c->columns[i].len = 0;
	c->columns_len = 0;
	c->fine = c->has_forms = false;
	c->data_len = 0;
	c->body = NULL;
	c->body_len = 0;
}

int combo_fits(const struct combo *c, uint32_t kept_len)
{
	if (c->frames == 0)
		return kept_len <= c->data_cap;
	return c->frames < COMBO_FRAMES_MAX &&
	       c->data_len + c->columns_len + FRAME_MAX + kept_len <= c->size;
}

static inline void put_varint(struct combo *c, enum combo_column i, uint64_t v)
{
	uint8_t *p = c->columns[i].p + c->columns[i].len;
	size_t n = 1;

	if (v < 0x80)
		*p = v;
	else
		n = store_varint(p, v);
	c->columns[i].len += n;
	c->columns_len += n;
}

static inline void put_byte(struct combo *c, enum combo_column i, uint8_t v)
{
	c->columns[i].p[c->columns[i].len++] = v;
	c->columns_len++;
}

static void kinds_end_run(struct combo *c)
{
	put_varint(c, COMBO_KINDS, c->run_frames);
	put_varint(c, COMBO_KINDS, c->linktype);
	put_byte(c, COMBO_KINDS, c->interface);
	put_byte(c, COMBO_KINDS, c->direction);
	c->run_frames = 0;
}

static void append_kind(struct combo *c, const struct combo_frame *f)
{
	int same = c->linktype == f->linktype && c->interface == f->interface &&
		   c->direction == f->direction;

	if (c->run_frames && !same)
		kinds_end_run(c);
	c->linktype = f->linktype;
	c->interface = f->interface;
	c->direction = f->direction;
	c->run_frames++;
}

static void append_time(struct combo *c, const struct combo_frame *f)
{
	int64_t delta;

	if (c->frames == 0)
		c->base_ns = c->last_ns = f->time_ns;
	delta = (int64_t)(f->time_ns - c->last_ns);
	if (!c->fine)
		c->fine = delta % 1000 != 0;
	put_varint(c, COMBO_TIMES, zigzag(delta));
	c->last_ns = f->time_ns;
}

static void put_differences(struct combo *c, const struct form *m, const struct form_fields *d)
{
	put_varint(c, COMBO_CUTS, zigzag((int32_t)d->cut));
	if (m->radio.clock)
		put_varint(c, COMBO_CLOCKS, d->clock);
	if (m->radio.stamp)
		put_varint(c, COMBO_STAMPS, d->stamp);
	if (m->radio.aggregate)
		put_varint(c, COMBO_AGGREGATES, d->aggregate);
	for (int i = 0; i < m->radio.signal_count; i++)
		put_byte(c, COMBO_SIGNALS, d->signals[i]);
	if (m->sequence)
		put_varint(c, COMBO_SEQUENCES, d->sequence);
	if (m->beacon)
		put_varint(c, COMBO_BEACONS, d->beacon);
	if (m->packet)
		put_varint(c, COMBO_PACKETS, d->packet);
}

static void append_plain(struct combo *c, const struct combo_frame *f)
{
	put_varint(c, COMBO_KEPTS, f->kept_len);
	put_varint(c, COMBO_CUTS, f->orig_len - f->kept_len);
	c->data_len += f->kept_len;
}

/* The frame's bytes have been copied behind the others; only those of a new form stay there. */
static void append_form(struct combo *c, const struct combo_frame *f, uint8_t *bytes)
{
	struct form_fields d;
	struct form *m;
	bool is_new;

	if (!c->has_forms)
		forms_reset(&c->forms);
	c->has_forms = true;
	m = forms_find(&c->forms, &d, bytes, f->kept_len, f->linktype, &is_new);
	if (is_new) {
		put_byte(c, COMBO_FORMS, 0);
		put_varint(c, COMBO_KEPTS, f->kept_len);
		c->data_len += f->kept_len;
	} else {
		put_byte(c, COMBO_FORMS, forms_number(&c->forms, m));
	}
	d.cut = f->orig_len - f->kept_len;
	forms_differ(&c->forms, m, &d, f->time_ns / 1000);
	put_differences(c, m, &d);
}

void combo_append(struct combo *c, const struct combo_frame *f)
{
	uint8_t *bytes = c->room + c->headroom + c->data_len;

	append_kind(c, f);
	append_time(c, f);
	memcpy(bytes, f->data, f->kept_len);
	if (!forms_apply(f->linktype)) {
		append_plain(c, f);
	} else if (f->kept_len > FORM_LEN_MAX) {
		put_byte(c, COMBO_FORMS, 0);
		append_plain(c, f);
	} else {
		append_form(c, f, bytes);
	}
	c->frames++;
}

/* Capture files often have microseconds: their times are smaller by a thousand. */
static void times_coarsen(struct combo *c)
{
	uint8_t *times = c->columns[COMBO_TIMES].p, *out = times;
	const uint8_t *p = times, *end = times + c->columns[COMBO_TIMES].len;
	uint64_t delta;

	while (p < end && load_varint(&p, end, &delta) == 0)
		out += store_varint(out, zigzag(unzigzag(delta) / 1000));
	c->columns_len -= end - out;
	c->columns[COMBO_TIMES].len = out - times;
}

void combo_close(struct combo *c)
{
	uint8_t head[VARINT_MAX * (2 + COMBO_COLUMNS) + 8], *p = head;
	size_t head_len;

	kinds_end_run(c);
	if (!c->fine)
		times_coarsen(c);
	p += store_varint(p, c->first);
	store_be(p, c->base_ns, 8);
	p += 8;
	p += store_varint(p, c->fine ? 1 : 1000);
	for (int i = 0; i < COMBO_COLUMNS; i++)
		p += store_varint(p, c->columns[i].len);
	head_len = p - head;

	c->body = c->room + c->headroom - c->columns_len - head_len;
	c->body_len = head_len + c->columns_len + c->data_len;
	p = c->body;
	memcpy(p, head, head_len);
	p += head_len;
	for (int i = 0; i < COMBO_COLUMNS; i++) {
		memcpy(p, c->columns[i].p, c->columns[i].len);
		p += c->columns[i].len;
	}
}

void combo_header_write(uint8_t out[COMBO_HEADER_LEN], uint16_t sensor_id, uint16_t seqn,
			uint16_t frames, uint32_t body_len)
{
	store_be(out, COMBO_VERSION, 2);
	store_be(out + 2, sensor_id, 2);
	store_be(out + 4, seqn, 2);
	store_be(out + 6, frames, 2);
	store_be(out + 8, body_len, 4);
	store_be(out + 12, COMBO_MAGIC, 4);
}

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
	if (load_be(in + 12, 4) != COMBO_MAGIC || h->version != COMBO_VERSION ||
	    h->sensor_id != sensor_id)
		return -EBADMSG;
	if (h->frames == 0 || h->frames > COMBO_FRAMES_MAX || h->body_len > COMBO_BODY_MAX)
		return -EBADMSG;
	if (h->codec > COMBO_ZSTD_DOT11)
		return -EBADMSG;
	if (h->codec == COMBO_STORED && h->body_len != len - COMBO_HEADER_LEN - COMBO_CODEC_LEN)
		return -EBADMSG;
	return 0;
}

static int combo_read(struct combo_reader *r, struct combo_frame *f);

/* Walks to the end and comes back: what it meets must be all there is. */
static int combo_check(struct combo_reader *r)
{
	struct combo_cursor start = r->cursor;
	struct combo_cursor *c = &r->cursor;
	struct combo_frame f;

	while (c->frames_left)
		if (combo_read(r, &f))
			return -EBADMSG;
	for (int i = 0; i < COMBO_COLUMNS; i++)
		if (c->columns[i].at != c->columns[i].end)
			return -EBADMSG;
	if (c->data.at != c->data.end || c->run_left)
		return -EBADMSG;
	r->cursor = start;
	r->has_forms = false;
	return 0;
}

struct combo_preamble {
	uint64_t first, base_ns, unit_ns, lengths[COMBO_COLUMNS];
};

/* Returns the first byte of the columns, NULL where what is in front of them is cut. */
static const uint8_t *read_preamble(struct combo_preamble *pre, const uint8_t *p,
				    const uint8_t *end)
{
	if (load_varint(&p, end, &pre->first) || end - p < 8)
		return NULL;
	pre->base_ns = load_be(p, 8);
	p += 8;
	if (load_varint(&p, end, &pre->unit_ns))
		return NULL;
	for (int i = 0; i < COMBO_COLUMNS; i++)
		if (load_varint(&p, end, &pre->lengths[i]))
			return NULL;
	return p;
}

bool combo_has_forms(const uint8_t *body, size_t len)
{
	struct combo_preamble pre;

	return read_preamble(&pre, body, body + len) && pre.lengths[COMBO_FORMS];
}

int combo_open(struct combo_reader *r, const uint8_t *body, size_t len, uint32_t frames)
{
	const uint8_t *p, *end = body + len;
	struct combo_cursor *c = &r->cursor;
	struct combo_preamble pre;

	memset(r, 0, offsetof(struct combo_reader, forms));
	p = read_preamble(&pre, body, end);
	if (!p || (pre.unit_ns != 1 && pre.unit_ns != 1000))
		return -EBADMSG;
	r->first = pre.first;
	r->unit_ns = pre.unit_ns;
	c->time_ns = pre.base_ns;
	c->frames_left = frames;
	for (int i = 0; i < COMBO_COLUMNS; i++) {
		if (pre.lengths[i] > (uint64_t)(end - p))
			return -EBADMSG;
		c->columns[i] = (struct combo_span){ p, p + pre.lengths[i] };
		p += pre.lengths[i];
	}
	c->data = (struct combo_span){ p, end };
	return combo_check(r);
}

static int take_varint(struct combo_cursor *c, enum combo_column i, uint64_t *v, uint64_t max)
{
	if (load_varint(&c->columns[i].at, c->columns[i].end, v) || *v > max)
		return -EBADMSG;
	return 0;
}

static int take_byte(struct combo_cursor *c, enum combo_column i, uint8_t *v)
{
	if (c->columns[i].at == c->columns[i].end)
		return -EBADMSG;
	*v = *c->columns[i].at++;
	return 0;
}

static int kinds_next_run(struct combo_cursor *c)
{
	uint64_t linktype;

	if (take_varint(c, COMBO_KINDS, &c->run_left, UINT64_MAX) || c->run_left == 0 ||
	    take_varint(c, COMBO_KINDS, &linktype, UINT16_MAX) ||
	    take_byte(c, COMBO_KINDS, &c->interface) || take_byte(c, COMBO_KINDS, &c->direction))
		return -EBADMSG;
	c->linktype = linktype;
	return 0;
}

/* Takes a length and as many bytes. */
static int take_bytes(struct combo_cursor *c, struct combo_frame *f)
{
	uint64_t kept;

	if (take_varint(c, COMBO_KEPTS, &kept, c->data.end - c->data.at))
		return -EBADMSG;
	f->kept_len = kept;
	f->data = c->data.at;
	c->data.at += kept;
	return 0;
}

static int take_differences(struct combo_cursor *c, const struct form *m, struct form_fields *d)
{
	uint64_t v;

	if (take_varint(c, COMBO_CUTS, &v, UINT32_MAX))
		return -EBADMSG;
	d->cut = unzigzag(v);
	if (m->radio.clock && take_varint(c, COMBO_CLOCKS, &d->clock, UINT64_MAX))
		return -EBADMSG;
	if (m->radio.stamp && take_varint(c, COMBO_STAMPS, &d->stamp, UINT64_MAX))
		return -EBADMSG;
	if (m->radio.aggregate) {
		if (take_varint(c, COMBO_AGGREGATES, &v, UINT32_MAX))
			return -EBADMSG;
		d->aggregate = v;
	}
	for (int i = 0; i < m->radio.signal_count; i++)
		if (take_byte(c, COMBO_SIGNALS, &d->signals[i]))
			return -EBADMSG;
	if (m->sequence) {
		if (take_varint(c, COMBO_SEQUENCES, &v, UINT16_MAX))
			return -EBADMSG;
		d->sequence = v;
	}
	if (m->beacon && take_varint(c, COMBO_BEACONS, &d->beacon, UINT64_MAX))
		return -EBADMSG;
	if (m->packet && take_varint(c, COMBO_PACKETS, &d->packet, (1ULL << 48) - 1))
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

static int read_form(struct combo_reader *r, struct form *m, struct combo_frame *f)
{
	struct form_fields d;

	if (!m || m->linktype != f->linktype || take_differences(&r->cursor, m, &d))
		return -EBADMSG;
	forms_sum(&r->forms, m, &d, f->time_ns / 1000);
	if (d.cut > UINT32_MAX - m->len)
		return -EBADMSG;
	forms_fill(m, &d, r->frame);
	f->data = r->frame;
	f->kept_len = m->len;
	f->orig_len = m->len + d.cut;
	return 0;
}

/* A frame that may have a form: of a known one, of a new one, or too long to have one. */
static int read_forms(struct combo_reader *r, struct combo_frame *f)
{
	struct combo_cursor *c = &r->cursor;
	uint8_t n;

	if (!r->has_forms)
		forms_reset(&r->forms);
	r->has_forms = true;
	if (take_byte(c, COMBO_FORMS, &n))
		return -EBADMSG;
	if (n)
		return read_form(r, forms_get(&r->forms, n), f);
	if (take_bytes(c, f))
		return -EBADMSG;
	if (f->kept_len > FORM_LEN_MAX)
		return read_plain(c, f);
	return read_form(r, forms_add(&r->forms, f->data, f->kept_len, f->linktype), f);
}

static int combo_read(struct combo_reader *r, struct combo_frame *f)
{
	struct combo_cursor *c = &r->cursor;
	uint64_t delta;

	if (c->run_left == 0 && kinds_next_run(c))
		return -EBADMSG;
	if (take_varint(c, COMBO_TIMES, &delta, UINT64_MAX))
		return -EBADMSG;
	c->time_ns += (uint64_t)unzigzag(delta) * r->unit_ns;
	f->time_ns = c->time_ns;
	f->linktype = c->linktype;
	f->interface = c->interface;
	f->direction = c->direction;
	c->run_left--;
	c->frames_left--;
	if (forms_apply(f->linktype))
		return read_forms(r, f);
	return take_bytes(c, f) || read_plain(c, f) ? -EBADMSG : 0;
}

int combo_next(struct combo_reader *r, struct combo_frame *f)
{
	if (r->cursor.frames_left == 0)
		return 0;
	return combo_read(r, f) ? -EBADMSG : 1;
}
