// SPDX-License-Identifier: GPL-2.0
/* Files: see files.h. The first pass is in files_index.h. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
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

/* Nothing is written if a file is of another kind. An incomplete one may just have been begun. */
static bool is_pcapng(int fd, const char *name)
{
	static const uint32_t section = BLOCK_SECTION; /* the same in both byte orders */
	uint32_t type;
	ssize_t n = pread(fd, &type, sizeof(type), 0);

	if (n < 0)
		log_line("%s: %s", name, strerror(errno));
	else if (memcmp(&type, &section, n))
		log_line("%s: is not a pcapng file", name);
	else
		return true;
	return false;
}

static bool open_one(struct files *f, const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		log_line("%s: %s", name, strerror(errno));
		return false;
	}
	f->fds[f->count++] = fd;
	return is_pcapng(fd, name);
}

struct files *files_open(struct take *t, char *const *names, int count)
{
	struct files *f = calloc(1, sizeof(*f));

	if (f)
		f->fds = malloc(count * sizeof(*f->fds));
	if (!f || !f->fds) {
		log_line("out of memory");
		free(f);
		return NULL;
	}
	f->take = t;
	f->names = names;
	for (int i = 0; i < count; i++)
		if (!open_one(f, names[i])) {
			files_close(f);
			return NULL;
		}
	return f;
}

int files_look(struct files *f)
{
	int err = 0;

	for (int i = 0; !err && i < f->count; i++)
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
	for (int i = 0; i < f->count; i++) {
		ssize_t n = pread(f->fds[i], begin, SECRET_BYTES, 0);

		if (n > 0)
			crypto_generichash_update(&state, begin, n);
	}
	crypto_generichash_final(&state, secret, IDENTITY_SECRET);
	free(begin);
	return 0;
}

void files_close(struct files *f)
{
	for (int i = 0; i < f->count; i++)
		close(f->fds[i]);
	for (uint32_t i = 0; i < f->section_count; i++)
		sensors_section_free(&f->sections[i].of);
	for (uint32_t i = 0; i < f->stream_room; i++)
		free(f->streams[i].of);
	free(f->fds);
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

static int extent_read(struct files *f, const struct extent *e)
{
	struct section *s = &f->sections[e->section];
	struct chunk *chunk = chunk_make(e->len);
	bool swapped = s->of.swapped;
	int err = 0;

	if (!chunk)
		return -ENOMEM;
	if (pread(f->fds[s->file], chunk->bytes, e->len, e->at) != (ssize_t)e->len) {
		log_line("%s: cannot be read at byte %llu", f->names[s->file],
			 (unsigned long long)e->at);
		err = -EIO;
	}
	for (uint32_t at = 0; !err && at < e->len;) {
		struct pcapng_block b;
		int64_t n = pcapng_block(&b, chunk->bytes + at, e->len - at, &swapped);

		if (n <= 0) /* it was another one in the first pass */
			break;
		if (b.type == BLOCK_PACKET)
			err = take_packet(f->take, &s->of, &b, chunk);
		else if (b.type == BLOCK_STATISTICS)
			statistics(f, &s->of, &b);
		at += n;
	}
	chunk_release(chunk);
	f->done += e->len;
	return err;
}

/* How far the sensor has come: its domain that is furthest behind. A clock that is not known may be
 * far off. If enough of its frames wait, those of others are read first. */
static int64_t reached(const struct files *f, uint32_t sensor)
{
	const struct input_sensor *s = &f->take->sensors->list[sensor];
	int64_t least = INT64_MAX;
	bool any = false;

	for (uint8_t i = 0; i < s->radios; i++) {
		const struct domain *d = f->take->merge->radios.list[s->radio[i]].domain;

		if (!d || !d->arrived)
			continue;
		any = true;
		if ((d->clock.known || d->newest_ns - d->first_ns < WAITING_NS) &&
		    domain_unified(d, d->newest_ns) < least)
			least = domain_unified(d, d->newest_ns);
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
