/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Columns: writing and reading the columns of a combo (combo.h). Writers have made sure that the
 * frame fits (combo_fits), so they check nothing. Readers check every byte.
 */
#ifndef WIRE_COLUMNS_H
#define WIRE_COLUMNS_H

#include <errno.h>

#include "bytes.h"
#include "combo.h"

/* ---- sensor ---------------------------------------------------------------------------------- */

static inline size_t column_len(const struct combo *c, int i)
{
	return c->columns[i].end - c->columns[i].start;
}

/* Returns the bytes of memory for the columns of a combo of `size` bytes, with frames of at most
 * `snaplen` bytes. */
size_t columns_memory(size_t size, size_t snaplen);
/* Puts the columns there, and `room` behind them. The caller owns the memory. */
void columns_init(struct combo *c, uint8_t *memory, size_t size, size_t snaplen);
/* Empties them. They stay in their places, as the next combo is probably like this one. */
void columns_reset(struct combo *c);
/* Updates columns_safe. If a column has little room, first divides the memory again. */
void columns_find_room(struct combo *c);

/* Called before a frame or an event is appended. */
static inline void columns_make_room(struct combo *c)
{
	if (c->columns_len > c->columns_safe)
		columns_find_room(c);
}

/* These return the bytes written, and the caller sums them up. To the compiler, a store of a byte
 * may change any memory, so it would load and store a sum in memory for each byte. */
static inline size_t put_varint(struct combo *c, enum combo_column i, uint64_t v)
{
	uint8_t *p = c->columns[i].end;
	size_t n = 1;

	if (v < 0x80)
		*p = v;
	else
		n = store_varint(p, v);
	c->columns[i].end = p + n;
	return n;
}

static inline size_t put_byte(struct combo *c, enum combo_column i, uint8_t v)
{
	uint8_t *p = c->columns[i].end;

	*p = v;
	c->columns[i].end = p + 1;
	return 1;
}

static inline size_t put_be(struct combo *c, enum combo_column i, uint64_t v, int bytes)
{
	uint8_t *p = c->columns[i].end;

	store_be(p, v, bytes);
	c->columns[i].end = p + bytes;
	return bytes;
}

/* Appends to the frames' bytes. */
static inline void put_bytes(struct combo *c, const uint8_t *bytes, size_t len)
{
	memcpy(c->room + c->headroom + c->data_len, bytes, len);
	c->data_len += len;
}

static inline void put_tail(struct combo *c, const uint8_t *bytes, size_t len)
{
	if (len < TAILS_MIN || !tails_put_long(c, bytes, len))
		put_bytes(c, bytes, len);
}

/* ---- collector: return 0 or -EBADMSG -----------------------------------------------------------
 */

static inline int take_varint(struct combo_cursor *c, enum combo_column i, uint64_t *v,
			      uint64_t max)
{
	if (load_varint(&c->columns[i].at, c->columns[i].end, v) || *v > max)
		return -EBADMSG;
	return 0;
}

static inline int take_byte(struct combo_cursor *c, enum combo_column i, uint8_t *v)
{
	if (c->columns[i].at == c->columns[i].end)
		return -EBADMSG;
	*v = *c->columns[i].at++;
	return 0;
}

static inline int take_be(struct combo_cursor *c, enum combo_column i, uint32_t *v, int bytes)
{
	struct combo_span *s = &c->columns[i];

	if (s->end - s->at < bytes)
		return -EBADMSG;
	*v = load_be(s->at, bytes);
	s->at += bytes;
	return 0;
}

/* Points `*from` at the next `len` bytes. */
static inline int take_span(struct combo_span *s, size_t len, const uint8_t **from)
{
	if ((size_t)(s->end - s->at) < len)
		return -EBADMSG;
	*from = s->at;
	s->at += len;
	return 0;
}

#endif
