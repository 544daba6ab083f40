// SPDX-License-Identifier: GPL-2.0
/* Pipe: see pipe.h. In: untrusted bytes. Receptions hold the memory that the bytes were read into.
 */
#include "pipe.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/stop.h"
#include "merge/model/chunk.h"

#define CHUNK (256 * 1024)
#define ROOM_LEAST (16 * 1024) /* for one read */

struct stream {
	struct take *take;
	struct input_section section;
	struct chunk *chunk;
	size_t from, to; /* bytes of the chunk that are not yet taken */
	uint64_t at;	 /* bytes taken */
	uint64_t *missed;
};

/* Moves what is not yet taken to a chunk with room for at least `len` bytes. */
static int move(struct stream *s, size_t len)
{
	size_t have = s->to - s->from, size = have + len > CHUNK ? have + len : CHUNK;
	struct chunk *next = chunk_make(size);

	if (!next)
		return -ENOMEM;
	if (s->chunk && have)
		memcpy(next->bytes, s->chunk->bytes + s->from, have);
	chunk_release(s->chunk);
	s->chunk = next;
	s->from = 0;
	s->to = have;
	return 0;
}

/* A new section has its own interfaces. */
static int section(struct stream *s, bool swapped)
{
	sensors_section_free(&s->section);
	s->section.swapped = swapped;
	return 0;
}

static int take_block(struct stream *s, struct pcapng_block *b)
{
	switch (b->type) {
	case BLOCK_SECTION:
		return section(s, b->swapped);
	case BLOCK_INTERFACE:
		return sensors_interface(s->take->sensors, &s->section, b, "standard input");
	case BLOCK_PACKET:
		return take_packet(s->take, &s->section, b, s->chunk);
	case BLOCK_STATISTICS:
		*s->missed += sensors_missed(&s->section, b);
		take_statistics(s->take, &s->section, b);
		return 0;
	case BLOCK_SIMPLE: /* without a stamp */
		s->take->counters.other++;
		return 0;
	default:
		return 0;
	}
}

/* Takes all complete blocks. Returns 0, -EBADMSG, or what a function said. */
static int take_blocks(struct stream *s)
{
	int err = 0;

	while (!err && s->from < s->to) {
		struct pcapng_block b;
		int64_t n = pcapng_block(&b, s->chunk->bytes + s->from, s->to - s->from,
					 &s->section.swapped);

		if (n == 0)
			return 0;
		if (n < 0 || (!s->at && b.type != BLOCK_SECTION))
			return -EBADMSG;
		err = take_block(s, &b);
		s->from += n;
		s->at += n;
	}
	return err;
}

/* Returns the bytes read, 0 at the end, or -errno; -EINTR after a signal. */
static ssize_t fill(struct stream *s, int fd)
{
	size_t room = s->chunk ? s->chunk->size - s->to : 0;
	ssize_t n;

	/* The rest of a block may be larger than a chunk. */
	if (room < ROOM_LEAST) {
		size_t have = s->to - s->from;

		if (move(s, have > CHUNK / 2 ? have : ROOM_LEAST))
			return -ENOMEM;
	}
	n = stop_wait(fd, POLLIN, -1);
	if (n < 0)
		return n;
	n = read(fd, s->chunk->bytes + s->to, s->chunk->size - s->to);
	if (n > 0)
		s->to += n;
	return n < 0 ? -errno : n;
}

static int bad_block(struct stream *s)
{
	if (!s->at) {
		log_line("-r -: standard input is not pcapng");
		return -EBADMSG;
	}
	log_line("-r -: malformed block at byte %llu; the rest is left out",
		 (unsigned long long)s->at);
	s->take->counters.bad_blocks++;
	return 0;
}

static void ended(struct stream *s)
{
	if (s->to > s->from) {
		log_line("-r -: standard input ends inside a block");
	} else if (!s->at) {
		log_line("-r -: standard input is empty");
	}
}

int pipe_read(struct take *t, int fd, uint64_t *missed, void (*progress)(void *, double),
	      void *context)
{
	struct stream s = { .take = t, .missed = missed };
	ssize_t n = 1;
	int err = 0;

	t->merge->hold_ns = PIPE_HOLD_NS;
	t->merge->rehearsed_ns = PIPE_REHEARSED_NS;
	t->merge->clocks.sparse_ns = t->merge->clocks.alone_ns; /* the sweep does not wait for it */
	while (!err && !stop_count() && (n = fill(&s, fd)) != 0) {
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n < 0) {
			log_line("-r -: %s", strerror(-n));
			err = n;
			break;
		}
		err = take_blocks(&s);
		if (err == -EBADMSG) {
			err = bad_block(&s);
			break;
		}
		err = err ?: merge_sweep(t->merge);
		if (progress)
			progress(context, -1);
	}
	if (!err && n == 0)
		ended(&s);
	chunk_release(s.chunk);
	sensors_section_free(&s.section);
	return err ?: merge_finish(t->merge);
}
