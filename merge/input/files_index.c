// SPDX-License-Identifier: GPL-2.0
/* Index of files: see files_index.h. */
#include "files_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcapng/blocks.h"
#include "common/log.h"

/* Bytes. A longer run of one sensor's blocks is several extents. */
#define EXTENT_MAX (32 * 1024)

struct walk {
	struct files *f;
	uint32_t file;
	uint64_t at;	    /* of the block */
	struct extent open; /* being made; len 0: none */
	int64_t sensor;
};

void files_left_out(struct files *f, uint32_t file, uint64_t at, int64_t err)
{
	struct input_file *i = &f->names->list[file];

	if (i->left_out)
		return;
	log_line("%s: %s at byte %llu; the rest is left out", i->name, blocks_error(err),
		 (unsigned long long)at);
	i->left_out = true;
	f->take->counters.bad_blocks++;
}

static int stream_add(struct files *f, uint32_t sensor, const struct extent *e)
{
	struct stream *s;
	void *more;

	if (sensor >= f->stream_room) {
		uint32_t room = 2 * f->stream_room + sensor + 16;

		more = realloc(f->streams, room * sizeof(*f->streams));
		if (!more)
			return -ENOMEM;
		f->streams = more;
		memset(f->streams + f->stream_room, 0,
		       (room - f->stream_room) * sizeof(*f->streams));
		f->stream_room = room;
	}
	s = &f->streams[sensor];
	if (s->count == s->room) {
		more = realloc(s->of, (2 * s->room + 64) * sizeof(*s->of));
		if (!more)
			return -ENOMEM;
		s->of = more;
		s->room = 2 * s->room + 64;
	}
	s->of[s->count++] = *e;
	f->bytes += e->len;
	return 0;
}

static int extent_end(struct walk *w)
{
	int err = w->open.len ? stream_add(w->f, w->sensor, &w->open) : 0;

	w->open.len = 0;
	return err;
}

static int extent_grow(struct walk *w, uint32_t sensor, uint32_t len)
{
	int err = 0;

	if (w->open.len && (w->sensor != sensor || w->open.len + len > EXTENT_MAX))
		err = extent_end(w);
	if (!w->open.len) {
		w->open = (struct extent){ .at = w->at, .section = w->f->section_count - 1 };
		w->sensor = sensor;
	}
	w->open.len += len;
	return err;
}

static int section_begin(struct walk *w, bool swapped)
{
	struct files *f = w->f;
	void *more;

	if (f->section_count == f->section_room) {
		more = realloc(f->sections, (2 * f->section_room + 8) * sizeof(*f->sections));
		if (!more)
			return -ENOMEM;
		f->sections = more;
		f->section_room = 2 * f->section_room + 8;
	}
	f->sections[f->section_count++] =
		(struct section){ .of = { .swapped = swapped }, .file = w->file };
	return 0;
}

/* Blocks that are left to other mergers need no extents. */
static int note_frames(struct walk *w, const struct input_section *s, const struct pcapng_block *b)
{
	if (b->interface < s->count && !s->of[b->interface].left)
		return extent_grow(w, s->of[b->interface].sensor, b->len);
	if (b->interface >= s->count)
		w->f->take->counters.astray++;
	else if (b->type == BLOCK_PACKET)
		take_left(w->f->take, &s->of[b->interface]);
	return extent_end(w);
}

/* Looks at a block. The walk's sections begin with the file's first. */
static int note(struct walk *w, struct pcapng_block *b)
{
	struct files *f = w->f;
	struct input_section *s;
	int err = 0;

	if (b->type == BLOCK_SECTION) {
		err = extent_end(w);
		return err ?: section_begin(w, b->swapped);
	}
	s = &f->sections[f->section_count - 1].of;
	switch (b->type) {
	case BLOCK_INTERFACE:
		err = extent_end(w);
		return err
			       ?: sensors_interface(f->take->sensors, s, b,
						    f->names->list[w->file].name);
	case BLOCK_PACKET:
	case BLOCK_STATISTICS:
		return note_frames(w, s, b);
	case BLOCK_SIMPLE: /* without a stamp */
		f->take->counters.other++;
		return extent_end(w);
	default:
		return extent_end(w);
	}
}

/* Nothing behind a malformed block can be trusted. */
static int walk(struct walk *w, struct blocks *blocks)
{
	struct pcapng_block b;
	int64_t n;
	int err = 0;

	while (!err && (n = blocks_next(blocks, &b)) > 0) {
		w->at = blocks->at - n;
		err = note(w, &b);
	}
	if (err)
		return err;
	if (n == -ENODATA)
		log_info("%s: ends inside a block at byte %llu; it may still be written",
			 w->f->names->list[w->file].name, (unsigned long long)blocks->at);
	else if (!blocks->size)
		log_info("%s: is empty; it may still be written", w->f->names->list[w->file].name);
	else if (n < 0)
		files_left_out(w->f, w->file, blocks->at, n);
	return extent_end(w);
}

int files_index(struct files *f, uint32_t file)
{
	struct walk w = { .f = f, .file = file };
	struct blocks blocks;
	int err = blocks_open(&blocks, f->names->list[file].fd);

	err = err ?: walk(&w, &blocks);
	blocks_close(&blocks);
	if (err)
		log_line("%s: %s", f->names->list[file].name, strerror(-err));
	return err;
}
