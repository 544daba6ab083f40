// SPDX-License-Identifier: GPL-2.0
/*
 * Combo, the sensor's side: see combo.h for the format. In: frames and events. Out: a body. Always
 * holds: nothing is allocated after combo_init. The mirror is combo_open.c.
 */
#include "combo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

#define DENSE_MIN 64	 /* bytes; fewer do not show what they are */
#define DENSE_SAMPLE 512 /* bytes */

#define NS_32_BITS 4000000000u /* and some that are left */

/* The columns, then the frames' bytes; in the end the checksums are behind these. */
static size_t data_memory(struct combo *c, size_t size, size_t snaplen)
{
	c->size = size;
	c->data_cap = size > snaplen ? size : snaplen;
	c->headroom = size + COMBO_FRAME_MAX + COMBO_HEADROOM_MAX;
	return c->headroom + c->data_cap + COMBO_FRAME_MAX;
}

/* All memory is one block: the C library of small machines wastes some of each. */
int combo_init_shared(struct combo *c, size_t size, size_t snaplen, const struct combo *other)
{
	size_t memory = other ? 0 : sizeof(*c->templates);
	uint8_t *p;

	memset(c, 0, sizeof(*c));
	memory += columns_memory(size, snaplen);
	p = c->memory = malloc(memory + data_memory(c, size, snaplen));
	if (!p)
		return -ENOMEM;
	c->templates = other ? other->templates : (void *)p;
	columns_init(c, p + (other ? 0 : sizeof(*c->templates)), size, snaplen);
	return 0;
}

int combo_init(struct combo *c, size_t size, size_t snaplen)
{
	return combo_init_shared(c, size, snaplen, NULL);
}

void combo_free(struct combo *c)
{
	free(c->memory);
	memset(c, 0, sizeof(*c));
}

void combo_reset(struct combo *c)
{
	c->frames = c->events = c->event_frames = 0;
	c->run_frames = 0;
	columns_reset(c);
	c->kept_bytes = c->seen.count = 0;
	c->fine = c->divided = c->has_forms = c->has_flows = false;
	c->has_tails = c->has_randoms = false;
	c->data_len = 0;
	c->body = NULL;
	c->body_len = 0;
}

bool combo_kinds_add(struct combo_kinds *k, uint16_t linktype, uint8_t interface)
{
	uint32_t kind = (uint32_t)linktype << 8 | interface;

	for (uint32_t i = 0; i < k->count; i++)
		if (k->list[i] == kind)
			return true;
	if (k->count == COMBO_KINDS_MAX)
		return false;
	k->list[k->count++] = kind;
	return true;
}

static void kinds_end_run(struct combo *c)
{
	size_t n = put_varint(c, COMBO_KINDS, c->run_frames);

	n += put_varint(c, COMBO_KINDS, c->linktype);
	n += put_byte(c, COMBO_KINDS, c->interface);
	n += put_byte(c, COMBO_KINDS, c->direction);
	c->columns_len += n;
	c->run_frames = 0;
}

static __attribute__((noinline)) void kinds_begin_run(struct combo *c, const struct combo_frame *f)
{
	if (c->run_frames)
		kinds_end_run(c);
	combo_kinds_add(&c->seen, f->linktype, f->interface);
	c->linktype = f->linktype;
	c->interface = f->interface;
	c->direction = f->direction;
}

static void append_kind(struct combo *c, const struct combo_frame *f)
{
	if (!c->run_frames || c->linktype != f->linktype || c->interface != f->interface ||
	    c->direction != f->direction)
		kinds_begin_run(c, f);
	c->run_frames++;
}

/* A time stamp's microseconds and rest. Most are computed from the last frame's, as 32-bit machines
 * need hundreds of instructions to divide 64 bits. Time stamps of a file may overflow 64 bits. */
static void divide_time(struct combo *c, uint64_t time_ns)
{
	uint64_t delta = time_ns - c->last_ns;

	if (c->divided && delta < NS_32_BITS && delta <= time_ns) {
		uint32_t rest = c->last_rest + (uint32_t)delta;

		c->last_us += rest / 1000;
		c->last_rest = rest % 1000;
	} else {
		c->last_us = time_ns / 1000;
		c->last_rest = time_ns % 1000;
		c->divided = true;
	}
}

/* Whether the step to this time stamp is a whole number of microseconds. After an overflow it is
 * none. */
static bool is_coarse(struct combo *c, uint64_t time_ns, int64_t step)
{
	uint32_t rest = c->last_rest;

	divide_time(c, time_ns);
	return c->frames == 0 || (c->last_rest == rest && (step < 0) == (time_ns < c->last_ns));
}

static void append_time(struct combo *c, const struct combo_frame *f)
{
	int64_t step;

	if (c->frames == 0)
		c->base_ns = c->last_ns = f->time_ns;
	step = f->time_ns - c->last_ns;
	if (c->fine && wired_templates_apply(f->linktype))
		c->divided = false;
	else if (!is_coarse(c, f->time_ns, step))
		c->fine = true;
	c->columns_len += put_varint(c, COMBO_TIMES, zigzag(step));
	c->last_ns = f->time_ns;
}

static void put_differences(struct combo *c, const struct dot11_template *m, const struct fields *d)
{
	size_t n = put_varint(c, COMBO_CUTS, zigzag((int32_t)d->cut));

	if (m->at.radio.clock)
		n += put_varint(c, COMBO_CLOCKS, d->clock);
	if (m->at.radio.stamp)
		n += put_varint(c, COMBO_STAMPS, d->stamp);
	if (m->at.radio.aggregate)
		n += put_varint(c, COMBO_AGGREGATES, d->aggregate);
	for (int i = 0; i < m->at.radio.signal_count; i++)
		n += put_byte(c, COMBO_SIGNALS, d->signals[i]);
	if (m->at.sequence)
		n += put_varint(c, COMBO_SEQUENCES, d->sequence);
	if (m->at.beacon)
		n += put_varint(c, COMBO_BEACONS, d->beacon);
	if (m->at.packet)
		n += put_varint(c, COMBO_PACKETS, d->packet);
	c->columns_len += n;
}

static void append_plain(struct combo *c, const struct combo_frame *f)
{
	size_t head = f->kept_len < TAILS_HEAD ? f->kept_len : TAILS_HEAD;

	c->columns_len += put_varint(c, COMBO_KEPTS, f->kept_len);
	c->columns_len += put_varint(c, COMBO_CUTS, f->orig_len - f->kept_len);
	put_bytes(c, f->data, head);
	put_tail(c, f->data + head, f->kept_len - head);
}

/* The form's bytes are after the others, and stay there as they are or as differences. If the tail
 * looks random, only the form's head stays, and the form is not found again. */
static void append_new_form(struct combo *c, struct dot11_template *m, uint8_t *bytes)
{
	struct dot11_templates *t = &c->templates->dot11;
	uint8_t *p = c->columns[COMBO_FORMS].end;
	uint32_t len = m->len;
	struct dot11_shrunk s;

	if (dot11_templates_shrink(t, m, bytes, &s, p + 2)) {
		p[0] = DOT11_TEMPLATES_DIFFERENCE;
		p[1] = s.back;
		c->columns[COMBO_FORMS].end += 2 + s.bits_len;
		c->columns_len += 2 + s.bits_len;
		c->data_len += s.bytes_len;
		return;
	}
	c->columns_len += put_byte(c, COMBO_FORMS, DOT11_TEMPLATES_WHOLE);
	c->columns_len += put_varint(c, COMBO_KEPTS, len);
	if (len >= TAILS_HEAD + TAILS_MIN &&
	    tails_put_long(c, bytes + TAILS_HEAD, len - TAILS_HEAD)) {
		dot11_templates_forget(t, m);
		len = TAILS_HEAD;
	}
	c->data_len += len;
}

/* The frame's bytes are copied after the others. Only those of a new form stay. */
static void append_form(struct combo *c, const struct combo_frame *f)
{
	uint8_t *bytes = c->room + c->headroom + c->data_len;
	struct dot11_templates *t = &c->templates->dot11;
	struct fields d;
	struct dot11_template *m;
	bool is_new;

	memcpy(bytes, f->data, f->kept_len);
	if (!c->has_forms)
		dot11_templates_reset(t, DOT11_TEMPLATES_MAX);
	c->has_forms = true;
	m = dot11_templates_find(t, &d, bytes, f->kept_len, f->linktype, &is_new);
	if (is_new)
		append_new_form(c, m, bytes);
	else
		c->columns_len += put_byte(c, COMBO_FORMS, dot11_templates_number(t, m));
	d.cut = f->orig_len - f->kept_len;
	dot11_templates_differ(t, m, &d, c->last_us);
	put_differences(c, m, &d);
}

void combo_append(struct combo *c, const struct combo_frame *f)
{
	columns_make_room(c);
	c->kept_bytes += f->kept_len;
	append_kind(c, f);
	append_time(c, f);
	c->frames++;
	if (wired_templates_apply(f->linktype)) {
		wired_append(c, f);
	} else if (!dot11_templates_apply(f->linktype)) {
		append_plain(c, f);
	} else if (f->kept_len > DOT11_TEMPLATES_LEN_MAX) {
		c->columns_len += put_byte(c, COMBO_FORMS, DOT11_TEMPLATES_WHOLE);
		append_plain(c, f);
	} else {
		append_form(c, f);
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

bool combo_event_fits(const struct combo *c, size_t len)
{
	if (combo_is_empty(c))
		return len <= COMBO_EVENT_MAX;
	return len <= COMBO_EVENT_MAX && c->events < COMBO_EVENTS_MAX &&
	       c->data_len + c->columns_len + COMBO_FRAME_MAX + COMBO_EVENT_HEAD_MAX + len <=
		       c->size;
}

void combo_event(struct combo *c, uint32_t type, const void *bytes, size_t len)
{
	size_t n;

	columns_make_room(c);
	n = put_varint(c, COMBO_EVENTS, c->frames - c->event_frames);
	n += put_varint(c, COMBO_EVENTS, type);
	n += put_varint(c, COMBO_EVENTS, len);
	memcpy(c->columns[COMBO_EVENTS].end, bytes, len);
	c->columns[COMBO_EVENTS].end += len;
	c->columns_len += n + len;
	c->event_frames = c->frames;
	c->events++;
}

/* Capture files often have microseconds, so their times need three digits less. */
static void times_coarsen(struct combo *c)
{
	uint8_t *out = c->columns[COMBO_TIMES].start;
	const uint8_t *p = out, *end = c->columns[COMBO_TIMES].end;
	uint64_t delta;

	while (p < end && load_varint(&p, end, &delta) == 0)
		out += store_varint(out, zigzag(unzigzag(delta) / 1000));
	c->columns_len -= end - out;
	c->columns[COMBO_TIMES].end = out;
}

/* Without a random tail, all tails are among the frames' bytes. */
static void drop_places(struct combo *c)
{
	c->columns_len -= column_len(c, COMBO_PLACES);
	c->columns[COMBO_PLACES].end = c->columns[COMBO_PLACES].start;
}

/* Whether zstd would not make these bytes smaller, from the counts of each value in a sample:
 * those of random bytes are all alike, and the sum of their squares is the least. */
static bool is_dense(const uint8_t *bytes, size_t len)
{
	size_t n = len < DENSE_SAMPLE ? len : DENSE_SAMPLE, step = len / (n ? n : 1);
	uint16_t counts[256] = { 0 };
	size_t squares = 0;

	if (n < DENSE_MIN)
		return false;
	for (size_t i = 0; i < n; i++)
		squares += 2 * counts[bytes[i * step]]++ + 1;
	return squares <= n + n * n / 256 * 5 / 4;
}

static size_t write_preamble(const struct combo *c, uint8_t *out)
{
	uint64_t present = 0;
	uint8_t *p = out;

	for (int i = 0; i < COMBO_COLUMNS; i++)
		present |= (uint64_t)(column_len(c, i) != 0) << i;
	p += store_varint(p, c->first);
	store_be(p, c->frames ? c->base_ns : 0, 8);
	p += 8;
	p += store_varint(p, c->fine ? 1 : 1000);
	p += store_varint(p, present);
	for (int i = 0; i < COMBO_COLUMNS; i++)
		if (column_len(c, i))
			p += store_varint(p, column_len(c, i));
	return p - out;
}

void combo_close(struct combo *c)
{
	uint8_t head[VARINT_MAX * (3 + COMBO_COLUMNS) + 8], *p, *data = c->room + c->headroom;
	const uint8_t *randoms = c->columns[COMBO_RANDOMS].start;
	size_t head_len, randoms_len = column_len(c, COMBO_RANDOMS);

	if (c->frames)
		kinds_end_run(c);
	if (!c->fine)
		times_coarsen(c);
	if (!c->has_randoms)
		drop_places(c);
	head_len = write_preamble(c, head);
	p = c->body = data - (c->columns_len - randoms_len) - head_len;
	c->body_len = head_len + c->columns_len + c->data_len;
	memcpy(p, head, head_len);
	p += head_len;
	for (int i = 0; i < COMBO_RANDOMS; i++) {
		memcpy(p, c->columns[i].start, column_len(c, i));
		p += column_len(c, i);
	}
	memcpy(data + c->data_len, randoms, randoms_len);
	c->dense_len = is_dense(randoms, randoms_len) ? randoms_len : 0;
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
