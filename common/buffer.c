// SPDX-License-Identifier: GPL-2.0
/* Buffer: see buffer.h. */
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint8_t *bytes_reserve(struct bytes *b, size_t more)
{
	size_t size = b->len + more + b->size / 2 + 256;
	uint8_t *data;

	if (b->data && b->size - b->len >= more)
		return b->data + b->len;
	data = realloc(b->data, size);
	b->failed |= !data;
	if (!data)
		return NULL;
	b->data = data;
	b->size = size;
	return data + b->len;
}

void bytes_put(struct bytes *b, const void *data, size_t len)
{
	uint8_t *to = bytes_reserve(b, len);

	if (!to || !len)
		return;
	memcpy(to, data, len);
	b->len += len;
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

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}
