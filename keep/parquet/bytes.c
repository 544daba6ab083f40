// SPDX-License-Identifier: GPL-2.0
#include "bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/bytes.h"

uint8_t *bytes_reserve(struct bytes *b, size_t more)
{
	if (!b->data || b->size - b->len < more) {
		size_t size = b->len + more + b->size / 2 + 256;
		uint8_t *data = realloc(b->data, size);

		if (!data) {
			b->failed = true;
			return NULL;
		}
		b->data = data;
		b->size = size;
	}
	return b->data + b->len;
}

void bytes_put(struct bytes *b, const void *data, size_t len)
{
	uint8_t *to = bytes_reserve(b, len);

	if (!to || !len)
		return;
	memcpy(to, data, len);
	b->len += len;
}

size_t bytes_begin(struct bytes *b)
{
	bytes_put(b, "\0\0\0", 4);
	return b->len;
}

void bytes_end(struct bytes *b, size_t begin)
{
	if (!b->failed)
		store_le(b->data + begin - 4, b->len - begin, 4);
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}

int bytes_write(struct bytes *b, int fd)
{
	for (size_t done = 0; !b->failed && done < b->len;) {
		ssize_t n = write(fd, b->data + done, b->len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	b->len = 0;
	return b->failed ? -ENOMEM : 0;
}
