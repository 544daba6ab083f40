// SPDX-License-Identifier: GPL-2.0
/* Reader: see reader.h. */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 1000

static void copy_out(const struct source *s, uint64_t pos, void *to, size_t len)
{
	uint64_t begin = pos % s->size;
	size_t first = len <= s->size - begin ? len : s->size - begin;

	memcpy(to, source_data(s) + begin, first);
	memcpy((uint8_t *)to + first, source_data(s), len - first);
}

static uint64_t head(const struct source *s)
{
	return live_load(&s->ring->head);
}

/* Whether the bytes copied at `pos` were overwritten meanwhile. */
static bool is_void(const struct source *s, uint64_t pos)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return live_load(&s->ring->floor) > pos;
}

/* ---- numbers that belong together ------------------------------------------------------------ */

static uint32_t sensors(const struct source *s)
{
	uint32_t n = __atomic_load_n(&s->table->sensors, __ATOMIC_RELAXED);

	return n < LIVE_SENSORS_MAX ? n : LIVE_SENSORS_MAX;
}

static bool is_writing(const struct source *s, uint32_t *seq)
{
	*seq = __atomic_load_n(&s->ring->writing, __ATOMIC_ACQUIRE);
	return *seq & 1;
}

static bool has_written(const struct source *s, uint32_t seq)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&s->ring->writing, __ATOMIC_RELAXED) != seq;
}

static uint64_t frames_of(const struct source *s, uint32_t sensor)
{
	return live_load(&source_sensors(s)[sensor].frames);
}

/* Takes the head and all sensors' frames, of one moment if possible. */
static void begin_at_head(struct reader *r)
{
	const struct source *s = r->source;
	uint32_t seq;

	for (int i = 0; i < TRIES; i++) {
		bool writing = is_writing(s, &seq);

		r->pos = head(s);
		for (uint32_t n = 0; n < sensors(s); n++)
			r->next[n] = frames_of(s, n);
		if (!writing && !has_written(s, seq))
			return;
	}
}

bool reader_missed(struct reader *r, void (*add)(void *user, uint32_t sensor, uint64_t missed),
		   void *user)
{
	const struct source *s = r->source;
	uint64_t *now = calloc(LIVE_SENSORS_MAX, sizeof(*now));
	uint32_t count = sensors(s), seq;
	bool together = now && !is_writing(s, &seq) && head(s) == r->pos;

	for (uint32_t n = 0; together && n < count; n++)
		now[n] = frames_of(s, n);
	together = together && !has_written(s, seq);
	for (uint32_t n = 0; together && n < count; n++) {
		if (now[n] > r->next[n])
			add(user, n, now[n] - r->next[n]);
		r->next[n] = now[n];
	}
	free(now);
	r->overrun = r->overrun && !together;
	return together;
}

/* ---- records --------------------------------------------------------------------------------- */

int reader_begin(struct reader *r, const struct source *s, bool all)
{
	*r = (struct reader){ .source = s };
	r->next = calloc(LIVE_SENSORS_MAX, sizeof(*r->next));
	r->copy = malloc(LIVE_RECORD_MAX);
	if (!r->next || !r->copy) {
		reader_end(r);
		return -ENOMEM;
	}
	if (!all)
		begin_at_head(r);
	return 0;
}

void reader_end(struct reader *r)
{
	free(r->next);
	free(r->copy);
	*r = (struct reader){ 0 };
}

/* The numbers of frames later show how many frames were missed. */
static int skip(struct reader *r)
{
	r->pos = head(r->source);
	r->overrun = true;
	return READER_OVERRUN;
}

static bool is_sound(const struct live_record *h, uint64_t behind)
{
	return h->len >= sizeof(*h) && h->len <= LIVE_RECORD_MAX && h->len % 8 == 0 &&
	       h->len <= behind && h->blocks_len <= h->len - sizeof(*h) &&
	       h->sensor < LIVE_SENSORS_MAX;
}

static uint64_t account(struct reader *r, const struct live_record *h)
{
	uint64_t *next = &r->next[h->sensor];
	uint64_t missed = h->before > *next ? h->before - *next : 0;

	*next = h->before + h->frames;
	return missed;
}

int reader_next(struct reader *r, struct live_record *record, const uint8_t **blocks,
		uint64_t *missed)
{
	const struct source *s = r->source;
	uint64_t behind = head(s) - r->pos;

	if (!behind)
		return READER_NOTHING;
	if (behind > s->size)
		return (int64_t)behind < 0 ? -EBADMSG : skip(r);
	if (behind < sizeof(*record))
		return -EBADMSG;
	copy_out(s, r->pos, record, sizeof(*record));
	if (is_void(s, r->pos))
		return skip(r);
	if (!is_sound(record, behind))
		return -EBADMSG;
	copy_out(s, r->pos, r->copy, record->len);
	if (is_void(s, r->pos))
		return skip(r);
	r->pos += record->len;
	*blocks = r->copy + sizeof(*record);
	*missed = account(r, record);
	return READER_RECORD;
}
