// SPDX-License-Identifier: GPL-2.0
/* Trace: see trace.h. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "pcapng/blocks.h"

/* Returns an open file, or -errno after a line. */
static int open_trace(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = { .st_size = 0 };
	const char *wrong = NULL;

	if (fd < 0 || fstat(fd, &st))
		wrong = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		wrong = "is not a file";
	else if (!st.st_size)
		wrong = "is empty";
	if (!wrong)
		return fd;
	log_line("%s: %s", path, wrong);
	if (fd >= 0)
		close(fd);
	return -EINVAL;
}

static int read_blocks(const char *path, struct blocks *blocks,
		       int (*block)(void *, struct pcapng_block *), void *context)
{
	struct pcapng_block b;
	int64_t n;
	int err = 0;

	while (!err && (n = blocks_next(blocks, &b)) > 0)
		err = block(context, &b);
	if (err || !n)
		return err;
	if (!blocks->at)
		log_line("%s: is not a pcapng file", path);
	else
		log_line("%s: %s at byte %llu", path, blocks_error(n),
			 (unsigned long long)blocks->at);
	return -EBADMSG;
}

int trace_read(const char *path, int (*block)(void *, struct pcapng_block *), void *context)
{
	int fd = open_trace(path), err;
	struct blocks blocks;

	if (fd < 0)
		return fd;
	err = blocks_open(&blocks, fd);
	if (err)
		log_line("%s: %s", path, strerror(-err));
	err = err ?: read_blocks(path, &blocks, block, context);
	blocks_close(&blocks);
	close(fd);
	return err;
}

bool trace_comes_late(const struct trace_receptions *r, uint64_t last)
{
	return r->number <= last && r->count && trace_reception(r, 0).flags & HEARD_LATE;
}
