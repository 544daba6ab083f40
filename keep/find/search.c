// SPDX-License-Identifier: GPL-2.0
/* Search: see search.h. */
#include "search.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/unpack.h"
#include "common/log.h"
#include "common/stop.h"
#include "keep/folder/origin.h"
#include "keep/folder/same.h"
#include "pcapng/blocks.h"
#include "pcapng/receptions.h"

#define TELL_EVERY 16384 /* frames */
#define ZST_LAST 't'	 /* of a compressed file's name */
#define IDS (UINT16_MAX + 1)

/* One file's search. */
struct reader {
	struct search *of;
	char name[NAME_MAX + 1];
	int fd;
	struct unpack *unpack; /* NULL: it is not compressed */
	struct blocks blocks;
	struct sections sections;
	bool is_merged;
	uint64_t trace;
	uint64_t section; /* sections so far, also before `again` */
	uint64_t *ids;	  /* of a unified trace: the last section where a sensor is searched */
	struct index index;
	bool has_index;
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
	uint32_t from = 0, to = r->index.chunk_count;

	if (!r->again)
		return false;
	while (from + 1 < to) {
		uint32_t middle = from + (to - from) / 2;

		if (r->index.chunks[middle].at <= at)
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

	while (!err && n > 0 && r->blocks.at < to) {
		uint64_t at = r->blocks.at;

		err = r->of->blocks++ % TELL_EVERY ? 0 : tell(r->of);
		if (err)
			break;
		n = blocks_next(&r->blocks, &b);
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
	const struct index *x = &r->index;
	uint8_t *describing = malloc(x->chunk_count + 1);
	int err = describing ? 0 : -ENOMEM;

	if (!err)
		mark_describing(x, describing);
	for (uint32_t i = 0; !err && i < x->chunk_count; i++) {
		if (!r->wanted[i] && !describing[i])
			continue;
		if (r->blocks.at < x->chunks[i].at)
			r->blocks.at = x->chunks[i].at;
		r->searched = i;
		err = read_to(r, chunk_end(x, i), r->wanted[i]);
		if (!err && r->blocks.at < chunk_end(x, i))
			err = -EBADMSG; /* the file ends before */
	}
	r->until = r->blocks.at;
	free(describing);
	return err;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool index_fits(const struct reader *r, const struct stem *s)
{
	struct stat st;

	if (!s->has[FORM_PCAPNG])
		return index_is_of(&r->index.head, r->fd);
	return !fstat(r->fd, &st) && (uint64_t)st.st_size == r->index.head.pcapng_bytes;
}

/* By the sizes alone, before the file is opened. */
static bool index_matches(const struct index *x, const struct stem *s)
{
	if (s->has[FORM_PCAPNG])
		return !x->head.file_bytes && x->head.pcapng_bytes == s->bytes[FORM_PCAPNG];
	return x->head.file_bytes == s->bytes[FORM_ZST];
}

/* Returns 0, or -EBADMSG if the index cannot be used: the file is then read whole. */
static int open_index(struct reader *r, const struct stem *s)
{
	char name[NAME_MAX + 1];
	int fd, err;

	if (!s->has[FORM_INDEX])
		return 0;
	fd = form_open(r->of->folder, s->name, FORM_INDEX, name);
	if (fd == -ENOENT)
		return 0;
	err = fd < 0 ? fd : index_read(&r->index, fd);
	if (fd >= 0)
		close(fd);
	if (!err && !index_matches(&r->index, s)) {
		/* The index of a capture file that grew, or was written anew, is older than the
		 * file. */
		if (!s->has[FORM_PCAPNG])
			log_line("%s: is of another file; the file is searched without it", name);
		index_close(&r->index);
		return 0;
	}
	r->has_index = !err;
	if (err && err != -ENOMEM)
		log_line("%s: %s; the file is searched without it", name, index_error(err));
	return err == -ENOMEM ? err : 0;
}

static int open_blocks(struct reader *r)
{
	if (r->name[strlen(r->name) - 1] != ZST_LAST)
		return blocks_open(&r->blocks, r->fd);
	r->unpack = unpack_new(r->fd);
	if (!r->unpack)
		return -ENOMEM;
	return blocks_open_from(&r->blocks, unpack_read, r->unpack, BLOCKS_UNTIL_END);
}

static int open_capture(struct reader *r, const struct stem *s)
{
	r->fd = form_open(r->of->folder, s->name, s->has[FORM_PCAPNG] ? FORM_PCAPNG : FORM_ZST,
			  r->name);
	if (r->fd == -ENOENT && s->has[FORM_PCAPNG]) /* it was compressed just now */
		r->fd = form_open(r->of->folder, s->name, FORM_ZST, r->name);
	if (r->fd < 0)
		return r->fd;
	if (r->has_index && !index_fits(r, s)) {
		/* A file that grows has an older index, or none. */
		if (!s->has[FORM_PCAPNG])
			log_line("%s: its index is of another file; it is searched without",
				 r->name);
		r->has_index = false;
	}
	return open_blocks(r);
}

/* keep/pack leaves both as they are. */
static void check_other_form(struct reader *r, const struct stem *s)
{
	struct stat st;

	if (!s->has[FORM_ZST] || r->name[strlen(r->name) - 1] == ZST_LAST || fstat(r->fd, &st) ||
	    !same_capture(r->of->folder, s->name, st.st_size))
		return;
	log_line("%s.zst: is of another capture than %s; it is not searched; rename one of them",
		 r->name, r->name);
	r->of->damaged++;
}

static void close_blocks(struct reader *r)
{
	blocks_close(&r->blocks);
	unpack_free(r->unpack);
	r->unpack = NULL;
	sections_free(&r->sections);
}

static void reader_end(struct reader *r)
{
	if (r->has_index || r->index.bytes)
		index_close(&r->index);
	close_blocks(r);
	free(r->wanted);
	free(r->ids);
	if (r->fd >= 0)
		close(r->fd);
}

/* An index that leads to no block, or past one, is wrong, or the file is. */
static int read_file(struct reader *r)
{
	int err;

	if (!r->has_index)
		return read_to(r, UINT64_MAX, true);
	err = read_chunks(r);
	if (err != -EBADMSG && err != -ENODATA)
		return err;
	close_blocks(r);
	r->again = true;
	err = open_blocks(r);
	return err ?: read_to(r, UINT64_MAX, true);
}

/* Whether the error is this file's alone. The end of a file that is being written is no error. */
static int read_end(struct reader *r, const struct stem *s, int err)
{
	if (err >= 0 || err == -EINTR || err == -ENOMEM || r->of->stopped)
		return err;
	if (err == -ENODATA && s->has[FORM_PCAPNG] && !s->is_followed)
		return 0;
	log_line("%s: %s at byte %llu; the rest is not searched", r->name, blocks_error(err),
		 (unsigned long long)r->blocks.at);
	r->of->damaged++;
	return 0;
}

static int search_file(struct search *s, const struct stem *stem)
{
	struct reader r = { .of = s, .fd = -1 };
	int err = open_index(&r, stem);
	bool wanted = true;

	if (!err && r.has_index) {
		r.wanted = malloc(r.index.chunk_count + 1);
		err = r.wanted ? 0 : -ENOMEM;
		wanted = !err && query_index(s->query, &r.index, r.wanted);
	}
	if (!err && wanted) {
		err = open_capture(&r, stem);
		s->opened += !err;
		if (!err)
			check_other_form(&r, stem);
		if (err == -ENOENT) /* it was deleted just now */
			err = 0;
		else
			err = read_end(&r, stem, err ?: read_file(&r));
	}
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
