// SPDX-License-Identifier: GPL-2.0
/* Search: see search.h. */
#include "search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/stop.h"
#include "keep/folder/origin.h"
#include "pcapng/receptions.h"
#include "source.h"

#define TELL_EVERY 16384 /* frames */
#define IDS (UINT16_MAX + 1)

/* One file's search. */
struct reader {
	struct search *of;
	struct source source;
	struct sections sections;
	bool is_merged;
	uint64_t trace;
	uint64_t section;  /* sections so far, also before `again` */
	uint64_t *ids;	   /* of a unified trace: the last section where a sensor is searched */
	uint8_t *wanted;   /* by chunk */
	uint32_t searched; /* chunks that were searched with the index, */
	uint64_t until;	   /* and the next one as far as this place */
	bool again;	   /* the index lied: the file is read from its begin */
};

/* Signals come only while something waits for them. */
static int tell(struct search *s)
{
	int err = stop_wait(-1, 0, 0);

	if (!err && s->progress)
		err = s->progress(s->context, s);
	s->stopped |= err != 0;
	return err;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int begin_section(struct reader *r, struct pcapng_block *b)
{
	struct origin origin;

	origin_section(&origin, *b);
	r->is_merged = origin_is_unified(&origin);
	r->trace = origin.trace;
	r->section++;
	if (r->is_merged && !r->ids)
		r->ids = calloc(IDS, sizeof(*r->ids));
	if (r->is_merged && !r->ids)
		return -ENOMEM;
	return sections_block(&r->sections, b);
}

/* `number` is 1 if the interface's sensor is searched. */
static int describe(struct reader *r, struct pcapng_block *b)
{
	int err = sections_block(&r->sections, b);
	struct section_interface *i;

	if (err)
		return err;
	i = &r->sections.list[r->sections.count - 1];
	i->number = query_sensor(r->of->query, i->sensor, i->group);
	if (r->is_merged && *i->sensor)
		r->ids[i->id] = i->number ? r->section : 0;
	return 0;
}

static bool is_heard(const struct reader *r, const struct section_interface *i,
		     struct pcapng_block b)
{
	struct trace_receptions receptions;

	if (!r->is_merged || (!r->of->query->sensor_count && !r->of->query->group_count))
		return i->number;
	receptions = trace_receptions(&b);
	if (!receptions.count) /* of saluki-merge --all */
		return i->number;
	for (uint32_t n = 0; n < receptions.count; n++)
		if (r->ids[trace_reception(&receptions, n).sensor] == r->section)
			return true;
	return false;
}

static bool is_transmission(const struct reader *r, struct pcapng_block b)
{
	return r->is_merged && trace_receptions(&b).count;
}

static int frame(struct reader *r, struct pcapng_block *b)
{
	struct search *s = r->of;
	struct section_interface *i = sections_interface(&r->sections, b);
	int64_t ns;
	int err;

	if (!i)
		return -EBADMSG;
	s->frames++;
	ns = sections_ns(i, b);
	if (!query_frame(s->query, is_heard(r, i, *b), ns, i->linktype, b))
		return 0;
	s->matched++;
	err = s->take(s->context,
		      &(struct found){ .interface = i,
				       .block = b,
				       .ns = ns,
				       .radios = is_transmission(r, *b) ? &r->sections : NULL,
				       .trace = r->trace });
	s->stopped = err != 0;
	return err;
}

static int block(struct reader *r, struct pcapng_block *b, bool frames)
{
	if (b->type == BLOCK_SECTION)
		return begin_section(r, b);
	if (b->type == BLOCK_INTERFACE)
		return describe(r, b);
	return b->type == BLOCK_PACKET && frames ? frame(r, b) : 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Whether frames at this place were found before the index turned out to be wrong. */
static bool is_searched(const struct reader *r, uint64_t at)
{
	uint32_t from = 0, to = r->source.index.chunk_count;

	if (!r->again)
		return false;
	while (from + 1 < to) {
		uint32_t middle = from + (to - from) / 2;

		if (r->source.index.chunks[middle].at <= at)
			from = middle;
		else
			to = middle;
	}
	return to && r->wanted[from] &&
	       (from < r->searched || (from == r->searched && at < r->until));
}

/* Reads blocks up to the place `to`. `frames`: also frames. */
static int read_to(struct reader *r, uint64_t to, bool frames)
{
	struct pcapng_block b;
	int64_t n = 1;
	int err = 0;

	while (!err && n > 0 && r->source.blocks.at < to) {
		uint64_t at = r->source.blocks.at;

		err = r->of->blocks++ % TELL_EVERY ? 0 : tell(r->of);
		if (err)
			break;
		n = blocks_next(&r->source.blocks, &b);
		err = n < 0 ? (int)n : n ? block(r, &b, frames && !is_searched(r, at)) : 0;
	}
	return err;
}

static void mark_describing(const struct index *x, uint8_t *describing)
{
	struct index_cursor c = index_describing(x);
	struct index_range range;

	memset(describing, 0, x->chunk_count);
	while (index_range_next(&c, &range))
		memset(describing + range.from, 1, range.to - range.from);
}

static uint64_t chunk_end(const struct index *x, uint32_t i)
{
	return i + 1 < x->chunk_count ? x->chunks[i + 1].at : x->head.pcapng_bytes;
}

/* Reads the chunks that can have something, and those that describe interfaces. */
static int read_chunks(struct reader *r)
{
	const struct index *x = &r->source.index;
	uint8_t *describing = malloc(x->chunk_count + 1);
	int err = describing ? 0 : -ENOMEM;

	if (!err)
		mark_describing(x, describing);
	for (uint32_t i = 0; !err && i < x->chunk_count; i++) {
		if (!r->wanted[i] && !describing[i])
			continue;
		if (r->source.blocks.at < x->chunks[i].at)
			r->source.blocks.at = x->chunks[i].at;
		r->searched = i;
		err = read_to(r, chunk_end(x, i), r->wanted[i]);
		if (!err && r->source.blocks.at < chunk_end(x, i))
			err = -EBADMSG; /* the file ends before */
	}
	r->until = r->source.blocks.at;
	free(describing);
	return err;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* An index that leads to no block, or past one, is wrong, or the file is. */
static int read_file(struct reader *r)
{
	int err;

	if (!r->source.has_index)
		return read_to(r, UINT64_MAX, true);
	err = read_chunks(r);
	if (err != -EBADMSG && err != -ENODATA)
		return err;
	sections_free(&r->sections);
	r->again = true;
	err = source_rewind(&r->source);
	return err ?: read_to(r, UINT64_MAX, true);
}

/* Whether the error is this file's alone. The end of a file that is being written is no error. */
static int read_end(struct reader *r, const struct stem *s, int err)
{
	if (err >= 0 || err == -EINTR || err == -ENOMEM || r->of->stopped)
		return err;
	if (err == -ENODATA && s->has[FORM_PCAPNG] && !s->is_followed)
		return 0;
	log_line("%s: %s at byte %llu; the rest is not searched", r->source.name, blocks_error(err),
		 (unsigned long long)r->source.blocks.at);
	r->of->damaged++;
	return 0;
}

static void reader_end(struct reader *r)
{
	source_close(&r->source);
	sections_free(&r->sections);
	free(r->wanted);
	free(r->ids);
}

/* A file that was deleted just now is no error. */
static int read_source(struct reader *r, const struct stem *stem)
{
	struct search *s = r->of;
	int err = source_open(&r->source, stem);

	if (err == -ENOENT)
		return 0;
	s->opened += !err;
	s->damaged += !err && source_has_double(&r->source, stem);
	return read_end(r, stem, err ?: read_file(r));
}

static int search_file(struct search *s, const struct stem *stem)
{
	struct reader r = { .of = s };
	bool wanted = true;
	int err;

	source_init(&r.source, s->folder);
	err = source_index(&r.source, stem);
	if (!err && r.source.has_index) {
		r.wanted = malloc(r.source.index.chunk_count + 1);
		err = r.wanted ? 0 : -ENOMEM;
		wanted = !err && query_index(s->query, &r.source.index, r.wanted);
	}
	if (!err && wanted)
		err = read_source(&r, stem);
	reader_end(&r);
	return err;
}

/* ---- folders --------------------------------------------------------------------------------- */

int search(struct search *s, const struct listing *l)
{
	int err = 0;

	s->of = l->count;
	for (unsigned int i = 0; !err && i < l->count; i++) {
		const struct stem *stem = &l->list[i];

		err = tell(s);
		if (!err && (stem->has[FORM_PCAPNG] || stem->has[FORM_ZST]))
			err = search_file(s, stem);
		s->files++;
	}
	return err;
}
