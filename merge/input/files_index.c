// SPDX-License-Identifier: GPL-2.0
/* Index of files: see files_index.h. */
#include "files_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

#define WINDOW (2 * PCAPNG_BLOCK_MAX)
/* Bytes. A longer run of one sensor's blocks is several extents. */
#define EXTENT_MAX (32 * 1024)

struct walk {
	struct files *f;
	uint32_t file;
	uint64_t at, size; /* of the next block; of the file */
	uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	struct extent open; /* being made; len 0: none */
	int64_t sensor;
};

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
		return err ?: sensors_interface(f->take->sensors, s, b, f->names[w->file]);
	case BLOCK_PACKET:
	case BLOCK_STATISTICS:
		if (b->interface < s->count)
			return extent_grow(w, s->of[b->interface].sensor, b->len);
		f->take->counters.bad_blocks++;
		return extent_end(w);
	default:
		return extent_end(w);
	}
}

static ssize_t window_fill(struct walk *w)
{
	size_t want = w->size - w->at < WINDOW ? w->size - w->at : WINDOW;
	ssize_t n = pread(w->f->fds[w->file], w->window, want, w->at);

	w->window_at = w->at;
	w->window_len = n < 0 ? 0 : n;
	return n < 0 ? -errno : n;
}

/* A malformed block ends the file: nothing behind it can be trusted. */
static int walk(struct walk *w)
{
	const char *name = w->f->names[w->file];
	bool swapped = false;
	int err = 0;

	while (!err && w->at < w->size) {
		size_t into = w->at - w->window_at;
		struct pcapng_block b;
		int64_t n = 0;

		if (w->window_len > into)
			n = pcapng_block(&b, w->window + into, w->window_len - into, &swapped);
		if (n == 0 && into) {
			ssize_t got = window_fill(w);

			if (got <= 0)
				return got;
			n = pcapng_block(&b, w->window, w->window_len, &swapped);
		}
		if (n == 0) {
			log_info("%s: ends inside a block at byte %llu; it may still be written",
				 name, (unsigned long long)w->at);
			break;
		}
		if (n < 0 || (w->at == 0 && b.type != BLOCK_SECTION)) {
			if (w->at == 0) {
				log_line("%s: is not a pcapng file", name);
				return -EBADMSG;
			}
			log_line("%s: malformed block at byte %llu; the rest is left out", name,
				 (unsigned long long)w->at);
			w->f->take->counters.bad_blocks++;
			break;
		}
		err = note(w, &b);
		w->at += n;
	}
	return err ?: extent_end(w);
}

int files_index(struct files *f, uint32_t file)
{
	struct walk w = { .f = f, .file = file, .window = malloc(WINDOW) };
	struct stat st;
	int err = w.window ? 0 : -ENOMEM;

	if (!err && fstat(f->fds[file], &st))
		err = -errno;
	if (!err && st.st_size) {
		w.size = st.st_size;
		err = window_fill(&w) < 0 ? -EIO : walk(&w);
	}
	if (err && err != -EBADMSG)
		log_line("%s: %s", f->names[file], strerror(-err));
	free(w.window);
	return err;
}
