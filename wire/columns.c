// SPDX-License-Identifier: GPL-2.0
/*
 * Columns, the sensor's memory: see columns.h. Together the columns have at most `--combo-size`
 * bytes, but any one of them may have nearly all. They share one block, which is divided as the
 * bytes come; only `randoms` has its own place. A block of `--combo-size` for each column would
 * take ten times the memory, and each column in use would touch pages of its own. Always holds:
 * while columns_len <= columns_safe, each column has room for what one frame or event adds to it.
 */
#include "columns.h"

#include <string.h>

/* Bytes that each column has beyond its share. */
static size_t spare(size_t size)
{
	return size / 16;
}

/* The most that one frame or event adds to a column. */
static size_t step(int i)
{
	return i == COMBO_EVENTS ? COMBO_EVENT_HEAD_MAX + COMBO_EVENT_MAX
				 : COMBO_FRAME_MAX + WIRED_DIFFERENCES_MAX;
}

/* A frame's tail can be as long as the frame, and its bytes stay in place (tails.h). */
static size_t randoms_memory(size_t size, size_t snaplen)
{
	return (size > snaplen ? size : snaplen) + COMBO_FRAME_MAX;
}

size_t columns_memory(size_t size, size_t snaplen)
{
	size_t bytes = randoms_memory(size, snaplen) + size;

	for (int i = 0; i < COMBO_RANDOMS; i++)
		bytes += step(i) + spare(size);
	return bytes;
}

/* Moves the columns to the beginning of the memory. Returns their bytes. */
static size_t close_gaps(struct combo *c)
{
	uint8_t *p = c->columns_memory;

	for (int i = 0; i < COMBO_RANDOMS; i++) {
		size_t n = column_len(c, i);

		memmove(p, c->columns[i].start, n);
		c->columns[i].start = p;
		c->columns[i].end = p += n;
	}
	return p - c->columns_memory;
}

/* Divides the memory by the columns' lengths. */
static void spread(struct combo *c)
{
	size_t size = c->columns_size, all = close_gaps(c);
	uint8_t *p = c->columns[COMBO_RANDOMS].start;

	for (int i = COMBO_RANDOMS - 1; i >= 0; i--) {
		size_t n = column_len(c, i);

		p -= (all ? n * size / all : size / COMBO_COLUMNS) + step(i) + spare(size);
		memmove(p, c->columns[i].start, n);
		c->columns[i].start = p;
		c->columns[i].end = p + n;
	}
	c->columns_safe = c->columns_len + spare(size);
}

void columns_find_room(struct combo *c)
{
	ptrdiff_t least = c->columns_size;

	for (int i = 0; i < COMBO_RANDOMS; i++) {
		ptrdiff_t room = c->columns[i + 1].start - c->columns[i].end - (ptrdiff_t)step(i);

		least = room < least ? room : least;
	}
	if (least < (ptrdiff_t)spare(c->columns_size) / 2)
		spread(c);
	else
		c->columns_safe = c->columns_len + least;
}

void columns_init(struct combo *c, uint8_t *memory, size_t size, size_t snaplen)
{
	c->columns_memory = memory;
	c->columns_size = size;
	c->room = memory + columns_memory(size, snaplen);
	for (int i = 0; i < COMBO_COLUMNS; i++)
		c->columns[i].start = c->columns[i].end =
			i == COMBO_RANDOMS ? c->room - randoms_memory(size, snaplen) : memory;
	spread(c);
}

void columns_reset(struct combo *c)
{
	for (int i = 0; i < COMBO_COLUMNS; i++)
		c->columns[i].end = c->columns[i].start;
	c->columns_len = 0;
	c->columns_safe = spare(c->columns_size);
}
