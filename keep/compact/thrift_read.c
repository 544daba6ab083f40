// SPDX-License-Identifier: GPL-2.0
#include "thrift_read.h"

#include "wire/bytes.h"

#define DEPTH 16

static uint64_t varint(struct thrift_in *in)
{
	uint64_t v = 0;

	if (load_varint(&in->at, in->end, &v))
		in->bad = true;
	return v;
}

static uint8_t byte(struct thrift_in *in)
{
	if (in->at == in->end)
		in->bad = true;
	return in->bad ? 0 : *in->at++;
}

int64_t thrift_read_int(struct thrift_in *in)
{
	return unzigzag(varint(in));
}

bool thrift_next(struct thrift_in *in, struct thrift_place *f)
{
	uint8_t head = byte(in);

	f->type = head & 15;
	if (head == 0)
		return false;
	if (head >> 4)
		f->id += head >> 4;
	else
		f->id = (int16_t)thrift_read_int(in);
	return !in->bad;
}

/* All counted elements take at least a byte each, so a higher count is malformed. */
static uint32_t at_most_rest(struct thrift_in *in, uint64_t count)
{
	if (count > (uint64_t)(in->end - in->at))
		in->bad = true;
	return in->bad ? 0 : (uint32_t)count;
}

uint32_t thrift_read_len(struct thrift_in *in)
{
	return at_most_rest(in, varint(in));
}

uint32_t thrift_read_list(struct thrift_in *in, int *of)
{
	uint8_t head = byte(in);

	*of = head & 15;
	return at_most_rest(in, head >> 4 == 15 ? varint(in) : head >> 4);
}

struct copy {
	struct thrift_in *in;
	struct bytes *out;
	thrift_change *change;
	void *context;
	int path[DEPTH];
};

static void value(struct copy *c, int type, int depth);

static void fields(struct copy *c, int depth)
{
	struct thrift_place f = { 0 };
	const uint8_t *head = c->in->at;

	while (thrift_next(c->in, &f)) {
		if (c->out)
			bytes_put(c->out, head, (size_t)(c->in->at - head));
		c->path[depth] = f.id;
		if (f.type != THRIFT_TRUE && f.type != THRIFT_FALSE)
			value(c, f.type, depth + 1);
		head = c->in->at;
	}
	if (c->out)
		bytes_put(c->out, "", 1);
}

static void elements(struct copy *c, int depth)
{
	int of;
	uint32_t count = thrift_read_list(c->in, &of);

	if (c->out)
		thrift_list_head(c->out, of, count);
	for (uint32_t i = 0; i < count && !c->in->bad; i++)
		value(c, of, depth);
}

static void verbatim(struct copy *c, size_t len)
{
	if (c->out && !c->in->bad)
		bytes_put(c->out, c->in->at, len);
	c->in->at += c->in->bad ? 0 : len;
}

/* `depth` counts structs and lists: input cannot exhaust the stack. */
static void value(struct copy *c, int type, int depth)
{
	int64_t v;
	uint32_t len;

	switch (depth < DEPTH && !c->in->bad ? type : 0) {
	case THRIFT_TRUE: /* here an element of a list */
	case THRIFT_FALSE:
	case THRIFT_I8:
		verbatim(c, at_most_rest(c->in, 1));
		return;
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		v = thrift_read_int(c->in);
		if (c->change && type == THRIFT_I64)
			v = c->change(c->context, c->path, depth, v);
		if (c->out)
			bytes_varint(c->out, zigzag(v));
		return;
	case THRIFT_DOUBLE:
		verbatim(c, at_most_rest(c->in, 8));
		return;
	case THRIFT_BINARY:
		len = thrift_read_len(c->in);
		if (c->out)
			bytes_varint(c->out, len);
		verbatim(c, len);
		return;
	case THRIFT_LIST:
	case THRIFT_SET:
		c->path[depth] = 0;
		elements(c, depth + 1);
		return;
	case THRIFT_STRUCT:
		fields(c, depth);
		return;
	default: /* and maps, which Parquet does not use */
		c->in->bad = true;
	}
}

void thrift_copy(struct thrift_in *in, struct bytes *out, int type, thrift_change *change,
		 void *context)
{
	struct copy c = { in, out, change, context, { 0 } };

	value(&c, type, 0);
}

void thrift_skip(struct thrift_in *in, const struct thrift_place *f)
{
	if (f->type != THRIFT_TRUE && f->type != THRIFT_FALSE)
		thrift_copy(in, NULL, f->type, NULL, NULL);
}
