// SPDX-License-Identifier: GPL-2.0
/* Unpack: see unpack.h. */
#include "unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "common/stop.h"

#define BUFFER (256 * 1024)

struct unpack {
	int fd;
	uint64_t read, made; /* bytes of the file, and of its content */
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;
	size_t hint; /* 0: between two frames */
	bool ended;  /* the file */
	uint8_t buffer[BUFFER], dropped[BUFFER];
};

struct unpack *unpack_new(int fd)
{
	struct unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->fd = fd;
	u->zstd = ZSTD_createDCtx();
	u->in.src = u->buffer;
	if (!u->zstd) {
		free(u);
		return NULL;
	}
	return u;
}

void unpack_free(struct unpack *u)
{
	if (u)
		ZSTD_freeDCtx(u->zstd);
	free(u);
}

static int refill(struct unpack *u)
{
	ssize_t n = pread(u->fd, u->buffer, BUFFER, u->read);

	if (n < 0)
		return -errno;
	u->ended = !n;
	u->read += n;
	u->in.size = n;
	u->in.pos = 0;
	return 0;
}

/* Returns how many bytes were made, 0 at the end, or -errno. */
static ssize_t make(struct unpack *u, uint8_t *to, size_t len)
{
	ZSTD_outBuffer out = { .dst = to, .size = len };

	while (!out.pos) {
		size_t hint;
		int err = 0;

		if (u->in.pos == u->in.size && !u->ended)
			err = refill(u);
		if (err)
			return err;
		if (u->ended && !u->hint)
			break;
		hint = ZSTD_decompressStream(u->zstd, &out, &u->in);
		/* Without input, zstd may still have content to give. */
		if (ZSTD_isError(hint) || (u->ended && hint && !out.pos))
			return -EBADMSG;
		u->hint = hint;
	}
	u->made += out.pos;
	return out.pos;
}

ssize_t unpack_read(void *unpack, uint8_t *to, size_t len, uint64_t at)
{
	struct unpack *u = unpack;

	if (at < u->made)
		return -ESPIPE;
	while (u->made < at) {
		uint64_t before = at - u->made;
		ssize_t n = make(u, u->dropped, before < BUFFER ? before : BUFFER);

		if (n <= 0)
			return n;
		if (stop_wait(-1, 0, 0) < 0)
			return -EINTR;
	}
	return len ? make(u, to, len) : 0;
}
