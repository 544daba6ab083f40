// SPDX-License-Identifier: GPL-2.0
/* Compress: see compress.h. */
#include "compress.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "wire/bytes.h"

#define BUFFER (256 * 1024)
#define CHECKSUM_LEN 4 /* at the frame's end, little-endian (RFC 8878, 3.1.1) */

struct compress {
	int fd;
	uint64_t written;
	ZSTD_CCtx *zstd;
	ZSTD_outBuffer out;
	uint8_t buffer[BUFFER];
	uint8_t tail[CHECKSUM_LEN]; /* the last bytes that were written */
};

static bool set_up(struct compress *c, uint64_t bytes)
{
	return c->zstd &&
	       !ZSTD_isError(
		       ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, COMPRESS_LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_checksumFlag, 1)) &&
	       !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(c->zstd, bytes));
}

struct compress *compress_new(int fd, uint64_t bytes)
{
	struct compress *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = fd;
	c->out = (ZSTD_outBuffer){ .dst = c->buffer, .size = BUFFER };
	c->zstd = ZSTD_createCCtx();
	if (set_up(c, bytes))
		return c;
	compress_free(c);
	return NULL;
}

void compress_free(struct compress *c)
{
	if (c)
		ZSTD_freeCCtx(c->zstd);
	free(c);
}

static void keep_tail(struct compress *c)
{
	size_t len = c->out.pos < CHECKSUM_LEN ? c->out.pos : CHECKSUM_LEN;

	memmove(c->tail, c->tail + len, CHECKSUM_LEN - len);
	memcpy(c->tail + CHECKSUM_LEN - len, c->buffer + c->out.pos - len, len);
}

static int flush(struct compress *c)
{
	size_t at = 0;

	while (at < c->out.pos) {
		ssize_t n = write(c->fd, c->buffer + at, c->out.pos - at);

		if (n <= 0)
			return n ? -errno : -ENOSPC;
		at += n;
	}
	keep_tail(c);
	c->written += c->out.pos;
	c->out.pos = 0;
	return 0;
}

/* Only the pledged size can be wrong, or memory be missing. */
static int failure(size_t result)
{
	return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? -ENOMEM : -ESTALE;
}

int compress_add(struct compress *c, const uint8_t *bytes, size_t len)
{
	ZSTD_inBuffer in = { .src = bytes, .size = len };
	int err = 0;

	while (!err && in.pos < in.size) {
		size_t n = ZSTD_compressStream2(c->zstd, &c->out, &in, ZSTD_e_continue);

		if (ZSTD_isError(n))
			return failure(n);
		if (c->out.pos == c->out.size)
			err = flush(c);
	}
	return err;
}

int compress_end(struct compress *c, uint64_t *written, uint32_t *checksum)
{
	ZSTD_inBuffer in = { .size = 0 };
	size_t left = 1;
	int err = 0;

	while (!err && left) {
		left = ZSTD_compressStream2(c->zstd, &c->out, &in, ZSTD_e_end);
		if (ZSTD_isError(left))
			return failure(left);
		err = flush(c);
	}
	*written = c->written;
	*checksum = load_le32(c->tail);
	return err;
}
