// SPDX-License-Identifier: GPL-2.0
/* Index read: see index_read.h. All sections are walked once when the index is read, so that what
 * the cursors read later is known to be well-formed. */
#include "index_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index_format.h"
#include "wire/bytes.h"

/* The bytes that are still to be checked. */
struct rest {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t take(struct rest *r)
{
	uint64_t v = 0;

	if (!r->bad && load_varint(&r->at, r->end, &v))
		r->bad = true;
	return r->bad ? 0 : v;
}

/* Returns a number of things, each of which has at least `least` bytes. */
static uint32_t take_count(struct rest *r, size_t least)
{
	uint64_t v = take(r);

	if (v > (size_t)(r->end - r->at) / least)
		r->bad = true;
	return r->bad ? 0 : v;
}

static void skip(struct rest *r, uint64_t bytes)
{
	if (r->bad || bytes > (size_t)(r->end - r->at))
		r->bad = true;
	else
		r->at += bytes;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void check_name(struct rest *r)
{
	uint64_t len = take(r);

	r->bad |= len >= INDEX_NAME_MAX;
	skip(r, len);
}

/* Ranges are in order, not empty, and apart. */
static void check_ranges(struct rest *r, uint32_t chunks)
{
	uint64_t len = take(r), to = 0;
	struct rest in = { .at = r->at };

	skip(r, len);
	in.end = r->at;
	for (bool first = true; !r->bad && in.at < in.end; first = false) {
		uint64_t gap = take(&in), count = take(&in);

		if (in.bad || gap > chunks || count > chunks || !count || (!gap && !first) ||
		    to + gap + count > chunks)
			r->bad = true;
		to += gap + count;
	}
}

static int check_chunks(struct index *x, struct rest *r)
{
	uint64_t at = 0;

	x->chunk_count = take_count(r, 2);
	x->chunks = malloc((x->chunk_count + 1) * sizeof(*x->chunks));
	if (!x->chunks)
		return -ENOMEM;
	for (uint32_t i = 0; !r->bad && i < x->chunk_count; i++) {
		struct index_chunk *c = &x->chunks[i];
		uint64_t since = take(r), span = take(r);

		*c = (struct index_chunk){ .first_ns = 1 };
		if (span) {
			c->first_ns = (int64_t)((uint64_t)x->head.first_ns + take(r));
			c->last_ns = (int64_t)((uint64_t)c->first_ns + span - 1);
		}
		r->bad |= since > x->head.pcapng_bytes - at || (i ? !since : since != 0);
		at += since;
		c->at = at;
	}
	return 0;
}

static void check_sensors(struct index *x, struct rest *r)
{
	x->sensor_count = take_count(r, 7);
	x->sensors = r->at - x->bytes;
	for (uint32_t i = 0; !r->bad && i < x->sensor_count; i++) {
		r->bad |= take(r) > UINT16_MAX;
		check_name(r);
		check_name(r);
		for (int n = 0; n < 3; n++)
			take(r);
		check_ranges(r, x->chunk_count);
	}
}

static void check_runs(struct index *x, struct rest *r)
{
	x->run_count = take_count(r, 4);
	x->runs = r->at - x->bytes;
	for (uint32_t i = 0; !r->bad && i < x->run_count; i++) {
		r->bad |= take(r) > UINT16_MAX;
		for (int n = 0; n < 3; n++)
			take(r);
	}
}

static void check_addresses(struct index *x, struct rest *r)
{
	const uint8_t *of, *begins, *lists;

	x->address_count = take_count(r, INDEX_ADDRESS_LEN + 1);
	of = r->at;
	x->addresses = of - x->bytes;
	skip(r, (uint64_t)x->address_count * INDEX_ADDRESS_LEN);
	begins = r->at;
	skip(r, 4ULL * index_steps(x->address_count));
	lists = r->at;
	for (uint32_t i = 0; !r->bad && i < x->address_count; i++) {
		const uint8_t *a = of + i * INDEX_ADDRESS_LEN;

		if (i && memcmp(a - INDEX_ADDRESS_LEN, a, INDEX_ADDRESS_LEN) >= 0)
			r->bad = true;
		if (i % INDEX_STEP == 0 &&
		    load_le32(begins + i / INDEX_STEP * 4) != (uint64_t)(r->at - lists))
			r->bad = true;
		check_ranges(r, x->chunk_count);
	}
	r->bad |= r->at != r->end;
}

static void read_head(struct index_head *h, const uint8_t *p)
{
	uint32_t flags = load_le32(p + INDEX_HASHED_AT);

	*h = (struct index_head){
		.tables = load_le64(p + 24),
		.pcapng_bytes = load_le64(p + 32),
		.file_bytes = load_le64(p + 40),
		.end = load_le32(p + 48),
		.all_addresses = flags & INDEX_FLAG_ALL_ADDRESSES,
		.is_merged = flags & INDEX_FLAG_IS_MERGED,
		.first_ns = (int64_t)load_le64(p + 52),
		.last_ns = (int64_t)load_le64(p + 60),
		.frames = load_le64(p + 68),
	};
}

static int check_version(const uint8_t *bytes, size_t len)
{
	if (len < INDEX_MAGIC_LEN + 4 || memcmp(bytes, INDEX_MAGIC, INDEX_MAGIC_LEN))
		return -EBADMSG;
	if (load_le32(bytes + INDEX_MAGIC_LEN) != INDEX_VERSION)
		return -EPROTO;
	return len < INDEX_HEAD_LEN ? -EBADMSG : 0;
}

static int check(struct index *x)
{
	struct rest r = { .at = x->bytes + INDEX_HEAD_LEN, .end = x->bytes + x->len };
	int err = check_version(x->bytes, x->len);

	if (err)
		return err;
	if (load_le64(x->bytes + INDEX_HASHED_AT - 8) !=
	    index_hash(x->bytes + INDEX_HASHED_AT, x->len - INDEX_HASHED_AT))
		return -EBADMSG;
	read_head(&x->head, x->bytes);
	if (check_chunks(x, &r))
		return -ENOMEM;
	x->describing = r.at - x->bytes;
	check_ranges(&r, x->chunk_count);
	check_sensors(x, &r);
	check_runs(x, &r);
	check_addresses(x, &r);
	return r.bad ? -EBADMSG : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

int index_take(struct index *x, uint8_t *bytes, size_t len)
{
	int err;

	*x = (struct index){ .bytes = bytes, .len = len };
	err = check(x);
	if (err)
		index_close(x);
	return err;
}

int index_read(struct index *x, int fd)
{
	struct stat st;
	uint8_t *bytes;
	size_t len = 0;
	ssize_t n = 1;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (st.st_size > INDEX_BYTES_MAX)
		return -EFBIG;
	bytes = malloc(st.st_size + 1);
	if (!bytes)
		return -ENOMEM;
	for (; len < (size_t)st.st_size && n > 0; len += n > 0 ? n : 0)
		n = pread(fd, bytes + len, st.st_size - len, len);
	if (n < 0) {
		free(bytes);
		return -errno;
	}
	return index_take(x, bytes, len);
}

const char *index_error(int err)
{
	return err == -EBADMSG	? "is damaged"
	       : err == -EPROTO ? "is of another version"
				: strerror(-err);
}

int index_read_head(struct index_head *h, int fd)
{
	uint8_t bytes[INDEX_HEAD_LEN];
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
	int err = n < 0 ? -errno : check_version(bytes, n);

	if (!err)
		read_head(h, bytes);
	return err;
}

bool index_is_one(int fd)
{
	uint8_t magic[INDEX_MAGIC_LEN];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, INDEX_MAGIC, sizeof(magic));
}

bool index_is_of(const struct index_head *h, int fd)
{
	uint8_t end[4];
	struct stat st;

	return !fstat(fd, &st) && st.st_size >= (off_t)sizeof(end) &&
	       (uint64_t)st.st_size == h->file_bytes &&
	       pread(fd, end, sizeof(end), st.st_size - sizeof(end)) == sizeof(end) &&
	       load_le32(end) == h->end;
}

void index_close(struct index *x)
{
	free(x->bytes);
	free(x->chunks);
	x->bytes = NULL;
	x->chunks = NULL;
}
