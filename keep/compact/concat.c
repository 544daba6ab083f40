// SPDX-License-Identifier: GPL-2.0
#include "concat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keep/parquet/internal.h"
#include "footer_read.h"
#include "thrift_read.h"

#define COPY_BYTES (1 << 20)
#define FNV_BASIS 0xcbf29ce484222325U
#define FNV_PRIME 0x100000001b3U

struct parquet_concat {
	int fd, error;
	uint64_t written;
	struct footer footer;
	struct bytes buffer;
};

int parquet_concat_begin(struct parquet_concat **concat, int fd)
{
	struct parquet_concat *c = calloc(1, sizeof(*c));

	*concat = c;
	if (!c)
		return -ENOMEM;
	c->fd = fd;
	bytes_put(&c->buffer, PARQUET_MAGIC, 4);
	c->written = 4;
	return 0;
}

/* One file: what its offsets grow by, and what was seen in its row groups. */
struct shift {
	uint64_t delta, body_end;
	int64_t rows;
	bool bad;
};

/* A thrift_change for a RowGroup. A case has the ids of the fields that lead to it, one a byte. */
static int64_t adjust(void *context, const int *path, int depth, int64_t v)
{
	struct shift *s = context;
	uint64_t place = 0;

	for (int i = 0; i < depth; i++)
		place = place << 8 | (uint8_t)(path[i] < 255 ? path[i] : 255);
	switch (place) {
	case 0x03: /* num_rows */
		s->bad |= v < 0 || __builtin_add_overflow(s->rows, v, &s->rows);
		return v;
	case 0x010002: /* ColumnChunk.file_offset: 0 where it is not used */
		if (!v)
			return v;
	/* fall through */
	case 0x05:	 /* file_offset */
	case 0x010004:	 /* offset_index_offset */
	case 0x010006:	 /* column_index_offset */
	case 0x01000309: /* data_page_offset */
	case 0x0100030a: /* index_page_offset */
	case 0x0100030b: /* dictionary_page_offset */
	case 0x0100030e: /* bloom_filter_offset */
		s->bad |= v < 4 || (uint64_t)v >= s->body_end;
		return (int64_t)((uint64_t)v + s->delta);
	default:
		return v;
	}
}

static bool equal(const struct bytes *a, const struct thrift_in *b)
{
	size_t len = (size_t)(b->end - b->at);

	return a->len == len && (!len || !memcmp(a->data, b->at, len));
}

/* Adds row groups to the footer. After -EINVAL and -EBADMSG the footer is as before. */
static int add_groups(struct parquet_concat *c, struct footer_in *in)
{
	struct shift s = { .delta = c->written - 4, .body_end = in->body_end };
	size_t before = c->footer.groups.len;
	int of;
	uint32_t count;

	if (c->footer.schema.len &&
	    (!equal(&c->footer.schema, &in->schema) || !equal(&c->footer.orders, &in->orders)))
		return -EINVAL;
	count = thrift_read_list(&in->groups, &of);
	for (uint32_t i = 0; i < count && !s.bad && !in->groups.bad; i++)
		thrift_copy(&in->groups, &c->footer.groups, of, adjust, &s);
	if (s.bad || in->groups.bad || (count && of != THRIFT_STRUCT) || s.rows != in->rows ||
	    c->footer.group_count + count > INT32_MAX || c->footer.rows > INT64_MAX - s.rows) {
		c->footer.groups.len = before;
		return -EBADMSG;
	}
	if (!c->footer.schema.len) {
		bytes_put(&c->footer.schema, in->schema.at,
			  (size_t)(in->schema.end - in->schema.at));
		bytes_put(&c->footer.orders, in->orders.at,
			  (size_t)(in->orders.end - in->orders.at));
	}
	c->footer.group_count += count;
	c->footer.rows += s.rows;
	return c->footer.schema.failed || c->footer.orders.failed || c->footer.groups.failed
		       ? -ENOMEM
		       : 0;
}

static int copy_body(struct parquet_concat *c, int fd, uint64_t end)
{
	int err = bytes_write(&c->buffer, c->fd);

	for (uint64_t at = 4; at < end && !err;) {
		uint8_t *to = bytes_reserve(&c->buffer, COPY_BYTES);
		ssize_t n = -1;

		if (to)
			n = pread(fd, to, end - at < COPY_BYTES ? end - at : COPY_BYTES, (off_t)at);
		if (n < 0 && to && errno == EINTR)
			continue;
		if (n <= 0)
			return !to ? -ENOMEM : n ? -errno : -EIO;
		c->buffer.len += (size_t)n;
		at += (uint64_t)n;
		err = bytes_write(&c->buffer, c->fd);
	}
	c->written += end - 4;
	return err;
}

int parquet_concat_add(struct parquet_concat *c, int fd)
{
	struct footer_in in;
	int err;

	if (c->error)
		return c->error;
	err = footer_read(&in, fd);
	if (!err)
		err = add_groups(c, &in);
	if (!err)
		err = c->error = copy_body(c, fd, in.body_end);
	else if (err != -EBADMSG && err != -EINVAL)
		c->error = err;
	footer_in_free(&in);
	return err;
}

int parquet_concat_end(struct parquet_concat *c, const struct parquet_pair *pairs,
		       uint32_t pair_count, const char *created_by)
{
	int err = c->error;

	if (!err && !c->footer.schema.len)
		err = -EINVAL;
	if (!err) {
		footer_put(&c->footer, &c->buffer, pairs, pair_count, created_by);
		err = bytes_write(&c->buffer, c->fd);
	}
	parquet_concat_free(c);
	return err;
}

void parquet_concat_free(struct parquet_concat *c)
{
	if (!c)
		return;
	bytes_free(&c->footer.schema);
	bytes_free(&c->footer.orders);
	bytes_free(&c->footer.groups);
	bytes_free(&c->buffer);
	free(c);
}

/* Reads one KeyValue, and makes `value` a copy of its value if it has this key. */
static int read_pair(struct thrift_in *in, const char *key, char **value)
{
	const char *text[3] = { NULL, NULL, NULL };
	uint32_t len[3] = { 0 };
	struct thrift_place p = { 0 };

	while (thrift_next(in, &p)) {
		if (p.type != THRIFT_BINARY || p.id < 1 || p.id > 2) {
			thrift_skip(in, &p);
			continue;
		}
		len[p.id] = thrift_read_len(in);
		text[p.id] = (const char *)in->at;
		in->at += len[p.id];
	}
	if (in->bad)
		return -EBADMSG;
	if (!text[1] || !text[2] || len[1] != strlen(key) || memcmp(text[1], key, len[1]))
		return 0;
	*value = strndup(text[2], len[2]);
	return *value ? 0 : -ENOMEM;
}

static int find_value(struct thrift_in *pairs, const char *key, char **value)
{
	int of, err = 0;
	uint32_t count;

	if (!pairs->at)
		return 0;
	count = thrift_read_list(pairs, &of);
	for (uint32_t i = 0; i < count && !*value && !err; i++)
		err = of == THRIFT_STRUCT ? read_pair(pairs, key, value) : -EBADMSG;
	return err;
}

/* FNV-1a */
static uint64_t hash(const struct thrift_in *in, uint64_t h)
{
	for (const uint8_t *p = in->at; p < in->end; p++)
		h = (h ^ *p) * FNV_PRIME;
	return h;
}

int parquet_facts(int fd, const char *key, const char *program, struct parquet_facts *facts)
{
	struct footer_in in;
	size_t len = strlen(program);
	int err = footer_read(&in, fd);

	*facts = (struct parquet_facts){ .rows = in.rows };
	if (!err) {
		facts->schema = hash(&in.orders, hash(&in.schema, FNV_BASIS));
		facts->is_ours = in.creator && in.creator_len >= len &&
				 !memcmp(in.creator, program, len);
		err = find_value(&in.pairs, key, &facts->value);
	}
	footer_in_free(&in);
	return err;
}

int parquet_key_value(int fd, const char *key, char **value, int64_t *rows)
{
	struct parquet_facts facts;
	int err = parquet_facts(fd, key, "", &facts);

	*value = facts.value;
	*rows = facts.rows;
	return err;
}
