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

#define TIME_MAX VARINT_MAX /* bytes a frame adds to `times` at most */
#define SIZE_MAX_PAIR 10    /* and to `sizes`: two 32-bit varints */
#define KIND_MAX (VARINT_MAX + 3 + 2)

static int column_init(struct combo_column *c, size_t cap)
{
	c->p = malloc(cap);
	c->cap = cap;
	return c->p ? 0 : -ENOMEM;
}

int combo_init(struct combo *c, size_t size, size_t snaplen)
{
	size_t columns = size + TIME_MAX + SIZE_MAX_PAIR;

	memset(c, 0, sizeof(*c));
	c->size = size;
	c->data_cap = size > snaplen ? size : snaplen;
	/* What columns hold counts against `size`, so together they never exceed it by more
	 * than one frame's share. */
	c->headroom = columns + KIND_MAX + COMBO_HEADROOM_MAX;
	c->room = malloc(c->headroom + c->data_cap);
	if (!c->room || column_init(&c->times, columns) || column_init(&c->sizes, columns) ||
	    column_init(&c->kinds, columns + KIND_MAX)) {
		combo_free(c);
		return -ENOMEM;
	}
	return 0;
}

void combo_free(struct combo *c)
{
	free(c->room);
	free(c->times.p);
	free(c->sizes.p);
	free(c->kinds.p);
	memset(c, 0, sizeof(*c));
}

void combo_reset(struct combo *c)
{
	c->frames = 0;
	c->run_frames = 0;
	c->times.len = c->sizes.len = c->kinds.len = 0;
	c->data_len = 0;
	c->body = NULL;
	c->body_len = 0;
}

static size_t combo_used(const struct combo *c)
{
	return c->data_len + c->times.len + c->sizes.len + c->kinds.len;
}

int combo_fits(const struct combo *c, uint32_t kept_len)
{
	if (c->frames == 0)
		return kept_len <= c->data_cap;
	return c->frames < COMBO_FRAMES_MAX &&
	       combo_used(c) + TIME_MAX + SIZE_MAX_PAIR + KIND_MAX + kept_len <= c->size;
}

static void kinds_end_run(struct combo *c)
{
	uint8_t *p = c->kinds.p + c->kinds.len;

	p += store_varint(p, c->run_frames);
	p += store_varint(p, c->linktype);
	*p++ = c->interface;
	*p++ = c->direction;
	c->kinds.len = p - c->kinds.p;
	c->run_frames = 0;
}

void combo_append(struct combo *c, const struct combo_frame *f)
{
	int same = c->linktype == f->linktype && c->interface == f->interface &&
		   c->direction == f->direction;

	if (c->run_frames && !same)
		kinds_end_run(c);
	c->linktype = f->linktype;
	c->interface = f->interface;
	c->direction = f->direction;
	c->run_frames++;

	if (c->frames == 0)
		c->base_ns = c->last_ns = f->time_ns;
	c->times.len +=
		store_varint(c->times.p + c->times.len, zigzag((int64_t)(f->time_ns - c->last_ns)));
	c->last_ns = f->time_ns;
	c->sizes.len += store_varint(c->sizes.p + c->sizes.len, f->kept_len);
	c->sizes.len += store_varint(c->sizes.p + c->sizes.len, f->orig_len - f->kept_len);
	memcpy(c->room + c->headroom + c->data_len, f->data, f->kept_len);
	c->data_len += f->kept_len;
	c->frames++;
}

void combo_close(struct combo *c)
{
	uint8_t head[VARINT_MAX * 4 + 8], *p = head;
	size_t head_len, columns;

	kinds_end_run(c);
	p += store_varint(p, c->first);
	store_be(p, c->base_ns, 8);
	p += 8;
	p += store_varint(p, c->kinds.len);
	p += store_varint(p, c->times.len);
	p += store_varint(p, c->sizes.len);
	head_len = p - head;
	columns = c->kinds.len + c->times.len + c->sizes.len;

	c->body = c->room + c->headroom - columns - head_len;
	c->body_len = head_len + columns + c->data_len;
	p = c->body;
	memcpy(p, head, head_len);
	p += head_len;
	memcpy(p, c->kinds.p, c->kinds.len);
	p += c->kinds.len;
	memcpy(p, c->times.p, c->times.len);
	p += c->times.len;
	memcpy(p, c->sizes.p, c->sizes.len);
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
	if (h->codec != COMBO_STORED && h->codec != COMBO_ZSTD)
		return -EBADMSG;
	if (h->codec == COMBO_STORED && h->body_len != len - COMBO_HEADER_LEN - COMBO_CODEC_LEN)
		return -EBADMSG;
	return 0;
}

/* Takes the next `len` bytes of the body as one column. */
static int column_take(const uint8_t **p, const uint8_t *end, uint64_t len, const uint8_t **from,
		       const uint8_t **to)
{
	if (len > (uint64_t)(end - *p))
		return -EBADMSG;
	*from = *p;
	*p += len;
	*to = *p;
	return 0;
}

/* Walks a copy of the reader to its end: what it meets must be all there is. */
static int combo_check(struct combo_reader r)
{
	struct combo_frame f;
	int err;

	while ((err = combo_next(&r, &f)) == 1)
		;
	if (err)
		return err;
	if (r.kinds != r.kinds_end || r.times != r.times_end || r.sizes != r.sizes_end ||
	    r.data != r.data_end || r.run_left)
		return -EBADMSG;
	return 0;
}

int combo_open(struct combo_reader *r, const uint8_t *body, size_t len, uint32_t frames)
{
	const uint8_t *p = body, *end = body + len;
	uint64_t kinds, times, sizes;

	memset(r, 0, sizeof(*r));
	r->frames_left = frames;
	if (load_varint(&p, end, &r->first) || end - p < 8)
		return -EBADMSG;
	r->time_ns = load_be(p, 8);
	p += 8;
	if (load_varint(&p, end, &kinds) || load_varint(&p, end, &times) ||
	    load_varint(&p, end, &sizes))
		return -EBADMSG;
	if (column_take(&p, end, kinds, &r->kinds, &r->kinds_end) ||
	    column_take(&p, end, times, &r->times, &r->times_end) ||
	    column_take(&p, end, sizes, &r->sizes, &r->sizes_end))
		return -EBADMSG;
	r->data = p;
	r->data_end = end;
	return combo_check(*r);
}

static int kinds_next_run(struct combo_reader *r)
{
	uint64_t linktype;

	if (load_varint(&r->kinds, r->kinds_end, &r->run_left) || r->run_left == 0 ||
	    load_varint(&r->kinds, r->kinds_end, &linktype) || linktype > UINT16_MAX ||
	    r->kinds_end - r->kinds < 2)
		return -EBADMSG;
	r->linktype = linktype;
	r->interface = *r->kinds++;
	r->direction = *r->kinds++;
	return 0;
}

int combo_next(struct combo_reader *r, struct combo_frame *f)
{
	uint64_t delta, kept, cut;

	if (r->frames_left == 0)
		return 0;
	if (r->run_left == 0 && kinds_next_run(r))
		return -EBADMSG;
	if (load_varint(&r->times, r->times_end, &delta) ||
	    load_varint(&r->sizes, r->sizes_end, &kept) ||
	    load_varint(&r->sizes, r->sizes_end, &cut))
		return -EBADMSG;
	if (kept > (uint64_t)(r->data_end - r->data) || cut > UINT32_MAX - kept)
		return -EBADMSG;
	r->time_ns += (uint64_t)unzigzag(delta);
	f->time_ns = r->time_ns;
	f->kept_len = kept;
	f->orig_len = kept + cut;
	f->linktype = r->linktype;
	f->interface = r->interface;
	f->direction = r->direction;
	f->data = r->data;
	r->data += kept;
	r->run_left--;
	r->frames_left--;
	return 1;
}
