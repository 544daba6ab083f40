// SPDX-License-Identifier: GPL-2.0
/*
 * Columns, the sensor's memory: see columns.h. Together the columns have at most `--combo-size`
 * bytes, but any one of them may have nearly all. They share one block, which is divided as the
 * bytes come. A block of `--combo-size` for each column would take ten times the memory, and each
 * column in use would touch pages of its own. Always holds: while columns_len <= columns_safe, each
 * column has room for what one frame or event adds to it.
 */
#include "columns.h"

#include <string.h>

/* Bytes that each column has beyond its share, as a part of the combo's size. */
#define SPARE_SHIFT 4

/* The most that one frame or event adds to a column. */
static size_t step(int i)
{
	return i == COMBO_EVENTS ? COMBO_EVENT_HEAD_MAX + COMBO_EVENT_MAX
				 : COMBO_FRAME_MAX + WIRED_DIFFERENCES_MAX;
}

size_t columns_memory(size_t size)
{
	size_t bytes = size;

	for (int i = 0; i < COMBO_COLUMNS; i++)
		bytes += step(i) + (size >> SPARE_SHIFT);
	return bytes;
}

/* Returns the first byte behind a column's room. */
static const uint8_t *limit(const struct combo *c, int i)
{
	return i + 1 < COMBO_COLUMNS ? c->columns[i + 1].start : c->room;
}

/* Moves the columns to the memory's begin. */
static void close_gaps(struct combo *c)
{
	uint8_t *p = c->columns_memory;

	for (int i = 0; i < COMBO_COLUMNS; i++) {
		size_t n = column_len(c, i);

		memmove(p, c->columns[i].start, n);
		c->columns[i].start = p;
		c->columns[i].end = p += n;
	}
}

/* Divides the memory by the columns' lengths. */
static void spread(struct combo *c)
{
	size_t size = c->columns_size, spare = size >> SPARE_SHIFT;
	uint8_t *p = c->room;

	close_gaps(c);
	for (int i = COMBO_COLUMNS - 1; i >= 0; i--) {
		size_t n = column_len(c, i);

		p -= c->columns_len ? n * size / c->columns_len : size / COMBO_COLUMNS;
		p -= step(i) + spare;
		memmove(p, c->columns[i].start, n);
		c->columns[i].start = p;
		c->columns[i].end = p + n;
	}
	c->columns_safe = c->columns_len + spare;
}

void columns_find_room(struct combo *c)
{
	ptrdiff_t least = c->columns_size;

	for (int i = 0; i < COMBO_COLUMNS; i++) {
		ptrdiff_t room = limit(c, i) - c->columns[i].end - (ptrdiff_t)step(i);

		least = room < least ? room : least;
	}
	if (least < (ptrdiff_t)(c->columns_size >> SPARE_SHIFT) / 2)
		spread(c);
	else
		c->columns_safe = c->columns_len + least;
}

void columns_init(struct combo *c, uint8_t *memory, size_t size)
{
	c->columns_memory = memory;
	c->columns_size = size;
	c->room = memory + columns_memory(size);
	for (int i = 0; i < COMBO_COLUMNS; i++)
		c->columns[i].start = c->columns[i].end = memory;
	spread(c);
}

void columns_reset(struct combo *c)
{
	for (int i = 0; i < COMBO_COLUMNS; i++)
		c->columns[i].end = c->columns[i].start;
	c->columns_len = 0;
	c->columns_safe = c->columns_size >> SPARE_SHIFT;
}
