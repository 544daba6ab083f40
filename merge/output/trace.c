// SPDX-License-Identifier: GPL-2.0
/* Trace: see trace.h. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pcapng/build.h"
#include "common/log.h"
#include "pcapng/blocks.h"
#include "merge/model/reception.h"
#include "wire/bytes.h"
#include "writer.h"

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

static const uint8_t *reception_at(const struct trace_receptions *r, uint32_t number)
{
	return r->of + number * RECEPTION_LEN + number / RECEPTIONS_EACH * RECEPTIONS_GAP;
}

/* A further option counts if it is directly behind an option that is full. */
static void add_receptions(struct trace_receptions *r, const uint8_t *of, size_t len)
{
	uint32_t count = len / RECEPTION_LEN;

	if (!r->of)
		r->of = of;
	else if (!r->count || r->count % RECEPTIONS_EACH || of != reception_at(r, r->count))
		return;
	r->count += count < RECEPTIONS_EACH ? count : RECEPTIONS_EACH;
}

struct trace_receptions trace_receptions(struct pcapng_block *b)
{
	struct trace_receptions r = { .number = 0 };
	struct pcapng_option o;

	while (pcapng_option(b, &o)) {
		if (o.code == EPB_PACKETID && o.len == 8)
			memcpy(&r.number, o.value, 8);
		if (o.code == OPT_DATA && o.len > 5 && load_be(o.value, 4) == ENTERPRISE &&
		    o.value[4] == RECEPTIONS_VERSION)
			add_receptions(&r, o.value + 5, o.len - 5);
	}
	if (b->swapped)
		r.number = __builtin_bswap64(r.number);
	return r;
}

struct trace_reception trace_reception(const struct trace_receptions *r, uint32_t number)
{
	const uint8_t *p = reception_at(r, number);

	return (struct trace_reception){
		.sensor = load_be(p, 2),
		.interface = p[2],
		.flags = p[3],
		.signal = (int8_t)p[4],
		.off_ns = (int32_t)load_be(p + 5, 4),
		.sigma_ns = load_be(p + 9, 4),
		.part = load_be(p + 13, 2),
		.stamp_ns = (int64_t)load_be(p + 15, 8),
	};
}

bool trace_comes_late(const struct trace_receptions *r, uint64_t last)
{
	return r->number <= last && r->count && trace_reception(r, 0).flags & HEARD_LATE;
}
