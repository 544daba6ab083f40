// SPDX-License-Identifier: GPL-2.0
#include "page.h"

#include <errno.h>
#include <zstd.h>

#include "thrift.h"

#define LEVEL 1

static size_t compress(struct pages *p)
{
	size_t room = ZSTD_compressBound(p->body.len), len;

	p->packed.len = 0;
	if (!bytes_reserve(&p->packed, room) || p->body.failed)
		return 0;
	len = ZSTD_compressCCtx(p->zstd, p->packed.data, room, p->body.data, p->body.len, LEVEL);
	if (ZSTD_isError(len))
		p->error = -ENOMEM;
	if (room > INT32_MAX) /* of what Parquet's numbers of bytes are */
		p->error = -EFBIG;
	return p->error ? 0 : len;
}

void page_put(struct pages *p, struct chunk *k, enum page_type type, uint32_t count,
	      enum page_encoding encoding)
{
	size_t len = compress(p), begin = p->out.len;
	struct thrift t = { &p->out, 0 }, head;

	thrift_int(&t, 1, THRIFT_I32, type);
	thrift_int(&t, 2, THRIFT_I32, (int64_t)p->body.len);
	thrift_int(&t, 3, THRIFT_I32, (int64_t)len);
	head = thrift_struct(&t, type == PAGE_DATA ? 5 : 7);
	thrift_int(&head, 1, THRIFT_I32, count);
	thrift_int(&head, 2, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift_int(&head, 3, THRIFT_I32, ENCODING_RLE); /* definition levels */
		thrift_int(&head, 4, THRIFT_I32, ENCODING_RLE); /* repetition levels */
		k->data = p->written + begin;
		k->encoding = encoding;
	}
	thrift_stop(&head);
	thrift_stop(&t);
	k->raw += p->out.len - begin + p->body.len;
	bytes_put(&p->out, p->packed.data, len);
	k->packed += p->out.len - begin;
	p->body.len = 0;
}
