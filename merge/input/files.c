// SPDX-License-Identifier: GPL-2.0
/* Files: see files.h. The first pass is in files_index.h. */
#include "files.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "files_index.h"
#include "merge/model/chunk.h"

#define SECRET_BYTES (64 * 1024) /* of each file */
#define LEAP_NS 10000000000LL
#define LOOK_EVERY 256		 /* extents */
#define SWEEP_SHARE 64		 /* so many sweeps while each sensor is read once */
#define WAITING_NS 61000000000LL /* more than clocks.h's sparse_ns */

struct files *files_open(struct take *t, struct names *names)
{
	struct files *f = calloc(1, sizeof(*f));

	if (f) {
		f->take = t;
		f->names = names;
	}
	return f;
}

int files_look(struct files *f)
{
	int err = 0;

	for (int i = 0; !err && i < f->names->count; i++)
		err = files_index(f, i);
	return err;
}

uint64_t files_missed(const struct files *f)
{
	return f->missed;
}

/* The run ids in the combos' names are random, and unknown to whoever sends frames. */
int files_secret(const struct files *f, uint8_t secret[IDENTITY_SECRET])
{
	crypto_generichash_state state;
	uint8_t *begin = malloc(SECRET_BYTES);

	if (!begin)
		return -ENOMEM;
	crypto_generichash_init(&state, NULL, 0, IDENTITY_SECRET);
	for (int i = 0; i < f->names->count; i++) {
		ssize_t n = pread(f->names->list[i].fd, begin, SECRET_BYTES, 0);

		if (n > 0)
			crypto_generichash_update(&state, begin, n);
	}
	crypto_generichash_final(&state, secret, IDENTITY_SECRET);
	free(begin);
	return 0;
}

void files_close(struct files *f)
{
	for (uint32_t i = 0; i < f->section_count; i++)
		sensors_section_free(&f->sections[i].of);
	for (uint32_t i = 0; i < f->stream_room; i++)
		free(f->streams[i].of);
	free(f->sections);
	free(f->streams);
	free(f);
}

/* ---- second pass ----------------------------------------------------------------------------- */

static void statistics(struct files *f, struct input_section *s, struct pcapng_block *b)
{
	f->missed += sensors_missed(s, b);
	take_statistics(f->take, s, b);
}

static int extent_take(struct files *f, struct section *s, struct pcapng_block *b,
		       struct chunk *chunk)
{
	if (b->type == BLOCK_PACKET)
		return take_packet(f->take, &s->of, b, chunk);
	if (b->type == BLOCK_STATISTICS)
		statistics(f, &s->of, b);
	return 0;
}

/* Takes an extent's whole blocks, of `len` bytes that could be read. Returns the bytes taken, or
 * -ENOMEM. */
static int64_t extent_blocks(struct files *f, const struct extent *e, struct chunk *chunk,
			     size_t len)
{
	struct section *s = &f->sections[e->section];
	bool swapped = s->of.swapped;
	size_t at = 0;

	while (at < len) {
		struct pcapng_block b;
		int64_t n = pcapng_block(&b, chunk->bytes + at, len - at, &swapped);

		if (n <= 0)
			break;
		if (extent_take(f, s, &b, chunk))
			return -ENOMEM;
		at += n;
	}
	return at;
}

/* The file may be another one, or shorter, than in the first pass. */
static int extent_read(struct files *f, const struct extent *e)
{
	uint32_t file = f->sections[e->section].file;
	struct chunk *chunk = chunk_make(e->len);
	int64_t taken;
	ssize_t n;
	int err;

	if (!chunk)
		return -ENOMEM;
	n = pread(f->names->list[file].fd, chunk->bytes, e->len, e->at);
	err = n < 0 ? -errno : n < (ssize_t)e->len ? -ESTALE : -EBADMSG;
	taken = extent_blocks(f, e, chunk, n < 0 ? 0 : n);
	if (taken >= 0 && taken < e->len)
		files_left_out(f, file, e->at + taken, err);
	chunk_release(chunk);
	f->done += e->len;
	return taken < 0 ? taken : 0;
}

/* How far the sensor has come: its domain that is furthest behind. A clock that is not known may be
 * far off. If enough of its frames wait, those of others are read first. */
static int64_t reached(const struct files *f, uint32_t sensor)
{
	const struct input_sensor *s = &f->take->sensors->list[sensor];
	int64_t least = INT64_MAX, at;
	bool any = false;

	for (uint8_t i = 0; i < s->radios; i++) {
		const struct domain *d = f->take->merge->radios.list[s->radio[i]].domain;

		if (!d || !d->arrived)
			continue;
		any = true;
		at = d->clock.known || d->placed || d->again
			     ? domain_unified(d, d->newest_ns)
			     : d->others_ns + d->newest_ns - d->first_ns;
		if ((d->clock.known || d->newest_ns - d->first_ns < WAITING_NS) && at < least)
			least = at;
	}
	return any ? least : INT64_MIN;
}

/* Looks at all streams again: clocks that were found or set change how far all have come. */
static void look_at_all(struct files *f)
{
	for (uint32_t i = 0; i < f->take->sensors->count && i < f->stream_room; i++)
		if (!f->streams[i].leapt)
			f->streams[i].reached_ns = reached(f, i);
	f->looked = 0;
}

/* Whether nothing of a sensor was read yet: its clock is not known, and it may be the first one. */
static bool is_unread(const struct stream *s)
{
	return s->count && !s->next;
}

static bool any_unread(struct files *f)
{
	uint32_t n = f->take->sensors->count < f->stream_room ? f->take->sensors->count
							      : f->stream_room;

	while (f->begun < n && !is_unread(&f->streams[f->begun]))
		f->begun++;
	return f->begun < n;
}

/* Returns the sensor that is furthest behind, or -1 at the end. */
static int64_t furthest(const struct files *f)
{
	int64_t best = -1;

	for (uint32_t i = 0; i < f->take->sensors->count && i < f->stream_room; i++) {
		const struct stream *s = &f->streams[i];

		if (s->next < s->count && (best < 0 || s->reached_ns < f->streams[best].reached_ns))
			best = i;
		if (is_unread(s))
			return i;
	}
	return best;
}

/* Somebody who has come far ahead at once may have a wrong stamp: what follows will tell. */
static void leap(struct stream *s, int64_t reached_ns)
{
	s->leapt = !s->leapt && s->reached_ns != INT64_MIN && reached_ns - s->reached_ns > LEAP_NS;
	if (!s->leapt)
		s->reached_ns = reached_ns;
}

int files_read(struct files *f, void (*progress)(void *, double), void *context)
{
	struct merge *m = f->take->merge;
	int64_t sensor;
	uint64_t set;
	int err = 0;

	look_at_all(f);
	while (!err && (sensor = furthest(f)) >= 0) {
		struct stream *s = &f->streams[sensor];

		err = extent_read(f, &s->of[s->next++]);
		leap(s, reached(f, sensor));
		if (s->next == s->count)
			merge_ended(m, sensor);
		set = m->set;
		/* A sweep looks at all sensors. */
		if (!err && ++f->unswept > f->take->sensors->count / SWEEP_SHARE &&
		    !any_unread(f)) {
			err = merge_sweep(m);
			f->unswept = 0;
		}
		if (set != m->set || ++f->looked == LOOK_EVERY)
			look_at_all(f);
		if (progress)
			progress(context, f->bytes ? (double)f->done / f->bytes : 1);
	}
	return err ?: merge_finish(m);
}
