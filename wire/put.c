// SPDX-License-Identifier: GPL-2.0
/* Put: see put.h. */
#include "put.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"

/* ---- messages -------------------------------------------------------------------------------- */

size_t put_write(uint8_t *out, const struct put *p)
{
	uint8_t *at = out + PUT_HEAD_LEN;

	out[0] = PUT_MESSAGE;
	store_be(out + 1, p->number, 8);
	out[9] = p->topic;
	store_be(out + 10, p->time_ms, 8);
	out[18] = p->key_len;
	out[19] = p->header_len;
	if (p->key_len)
		memcpy(at, p->key, p->key_len);
	if (p->header_len)
		memcpy(at + p->key_len, p->header, p->header_len);
	return PUT_HEAD_LEN + p->key_len + p->header_len;
}

int put_read(struct put *p, const uint8_t *in, size_t len)
{
	size_t head;

	if (len < PUT_HEAD_LEN || in[0] != PUT_MESSAGE || in[9] >= PUT_TOPICS ||
	    in[18] > PUT_KEY_MAX)
		return -EBADMSG;
	head = PUT_HEAD_LEN + in[18] + (size_t)in[19];
	if (len < head || len - head > PUT_VALUE_MAX)
		return -EBADMSG;
	*p = (struct put){
		.number = load_be(in + 1, 8),
		.topic = in[9],
		.time_ms = load_be(in + 10, 8),
		.key = in + PUT_HEAD_LEN,
		.key_len = in[18],
		.header = in + PUT_HEAD_LEN + in[18],
		.header_len = in[19],
		.value = in + head,
		.value_len = len - head,
	};
	return 0;
}

void put_hello(uint8_t *out, enum put_role role)
{
	out[0] = PUT_HELLO;
	store_be(out + 1, PUT_MAGIC, 4);
	out[5] = PUT_VERSION;
	out[6] = role;
}

int put_hello_read(const uint8_t *in, size_t len, enum put_role role)
{
	if (len < PUT_HELLO_LEN || in[0] != PUT_HELLO || load_be(in + 1, 4) != PUT_MAGIC)
		return -EBADMSG;
	if (in[5] != PUT_VERSION)
		return -EPROTO;
	return in[6] == role ? 0 : -EPROTOTYPE;
}

/* ---- names ----------------------------------------------------------------------------------- */

void put_name_write(uint8_t out[PUT_NAME_LEN], const struct put_name *n)
{
	out[0] = PUT_NAME_VERSION;
	out[1] = n->kind;
	store_be(out + 2, n->sensor, 2);
	store_be(out + 4, n->frames, 4);
	store_be(out + 8, n->run, 8);
	store_be(out + 16, n->count, 8);
	store_be(out + 24, n->first, 8);
	store_be(out + 32, n->info, 8);
}

int put_name_read(struct put_name *n, const uint8_t *in, size_t len)
{
	if (!len)
		return -EBADMSG;
	if (in[0] != PUT_NAME_VERSION)
		return -EPROTO;
	if (len < PUT_NAME_LEN)
		return -EBADMSG;
	*n = (struct put_name){
		.kind = in[1],
		.sensor = load_be(in + 2, 2),
		.frames = load_be(in + 4, 4),
		.run = load_be(in + 8, 8),
		.count = load_be(in + 16, 8),
		.first = load_be(in + 24, 8),
		.info = load_be(in + 32, 8),
	};
	return n->kind >= PUT_KIND_COMBO && n->kind <= PUT_KIND_PROGRESS ? 0 : -EPROTO;
}
