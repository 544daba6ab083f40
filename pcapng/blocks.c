// SPDX-License-Identifier: GPL-2.0
/* Blocks: see blocks.h. */
#include "blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW (2 * PCAPNG_BLOCK_MAX)

static ssize_t read_file(void *context, uint8_t *to, size_t len, uint64_t at)
{
	const struct blocks *r = context;
	ssize_t n = pread(r->fd, to, len, at);

	return n < 0 ? -errno : n;
}

int blocks_open_from(struct blocks *r, blocks_read read, void *context, uint64_t size)
{
	*r = (struct blocks){ .fd = -1, .read = read, .context = context, .size = size };
	r->window = malloc(WINDOW);
	return r->window ? 0 : -ENOMEM;
}

int blocks_open(struct blocks *r, int fd)
{
	struct stat st;
	int err;

	*r = (struct blocks){ .fd = fd };
	if (fstat(fd, &st))
		return -errno;
	err = blocks_open_from(r, read_file, r, st.st_size);
	r->fd = fd;
	return err;
}

/* Moves the window on to the next block. */
static void move(struct blocks *r)
{
	uint64_t into = r->at - r->window_at;

	r->window_at = r->at;
	if (into >= r->window_len) {
		r->window_len = 0;
		return;
	}
	r->window_len -= into;
	memmove(r->window, r->window + into, r->window_len);
}

static int fill(struct blocks *r)
{
	size_t want = r->size - r->at < WINDOW ? r->size - r->at : WINDOW;
	ssize_t n = 1;

	move(r);
	if (r->err)
		return r->err;
	while (r->window_len < want && n) {
		n = r->read(r->context, r->window + r->window_len, want - r->window_len,
			    r->at + r->window_len);
		if (n < 0) {
			r->err = n; /* the blocks before it come first */
			return 0;
		}
		r->window_len += n;
	}
	if (r->size == BLOCKS_UNTIL_END && r->window_len < want)
		r->size = r->at + r->window_len;
	else
		r->shorter |= r->window_len < want;
	return 0;
}

/* Returns 0 if the window has only a part of the block. */
static int64_t parse(struct blocks *r, struct pcapng_block *b)
{
	size_t into = r->at - r->window_at;
	int64_t n = 0;

	if (into < r->window_len)
		n = pcapng_block(b, r->window + into, r->window_len - into, &r->swapped);
	return n > 0 && r->at == 0 && b->type != BLOCK_SECTION ? -EBADMSG : n;
}

int64_t blocks_next(struct blocks *r, struct pcapng_block *b)
{
	int64_t n;

	if (r->at >= r->size)
		return 0;
	n = parse(r, b);
	if (n == 0) {
		int err = fill(r);

		if (err)
			return err;
		n = parse(r, b);
	}
	if (n == 0 && r->err)
		return r->err;
	if (n == 0 && r->at >= r->size)
		return 0;
	if (n == 0)
		return r->shorter ? -ESTALE : -ENODATA;
	if (n > 0)
		r->at += n;
	return n;
}

const char *blocks_error(int64_t err)
{
	return err == -EBADMSG	 ? "malformed block"
	       : err == -ENODATA ? "ends inside a block"
	       : err == -ESTALE	 ? "became shorter while it was read"
				 : strerror(-err);
}

void blocks_close(struct blocks *r)
{
	free(r->window);
	r->window = NULL;
}
