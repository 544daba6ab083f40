/* SPDX-License-Identifier: GPL-2.0 */
/* A buffer that grows and is reused. If memory runs out, it sets `failed` and takes nothing more,
 * so that callers check once, at the end. */
#ifndef COMMON_BUFFER_H
#define COMMON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *data;
	size_t len, size;
	bool failed;
};

/* Returns the end of the data, with room for `more` bytes; NULL without memory. */
uint8_t *bytes_reserve(struct bytes *b, size_t more);
void bytes_put(struct bytes *b, const void *data, size_t len);
/* Writes all and empties the buffer. Returns 0 or -errno: -ENOMEM if it had failed before. */
int bytes_write(struct bytes *b, int fd);
void bytes_free(struct bytes *b);

#endif
