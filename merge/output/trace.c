// SPDX-License-Identifier: GPL-2.0
/* Trace: see trace.h. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "common/log.h"
#include "merge/model/reception.h"
#include "wire/bytes.h"
#include "writer.h"

static int read_blocks(const char *path, const uint8_t *p, size_t len,
		       int (*block)(void *, struct pcapng_block *), void *context)
{
	const uint8_t *begin = p;
	bool swapped = false;
	struct pcapng_block b;
	int64_t size = 0;
	int err = 0;

	while (!err && len && (size = pcapng_block(&b, p, len, &swapped)) > 0) {
		if (p == begin && b.type != BLOCK_SECTION)
			size = -EBADMSG;
		if (size < 0)
			break;
		err = block(context, &b);
		p += size;
		len -= size;
	}
	if (err)
		return err;
	if (len && p == begin)
		log_line("%s: is not a pcapng file", path);
	else if (size < 0)
		log_line("%s: malformed block at byte %zu", path, (size_t)(p - begin));
	else if (len)
		log_line("%s: ends inside a block", path);
	return len ? -EBADMSG : 0;
}

int trace_read(const char *path, int (*block)(void *, struct pcapng_block *), void *context)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st = { .st_size = 0 };
	void *p = MAP_FAILED;

	if (fd < 0 || fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (!st.st_size)
		err = -ENODATA;
	else if ((p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err) {
		log_line("%s: %s", path,
			 err == -EINVAL	   ? "is not a file"
			 : err == -ENODATA ? "is empty"
					   : strerror(-err));
		return err;
	}
	err = read_blocks(path, p, st.st_size, block, context);
	munmap(p, st.st_size);
	return err;
}

struct trace_receptions trace_receptions(struct pcapng_block *b)
{
	struct trace_receptions r = { .number = 0 };
	struct pcapng_option o;

	while (pcapng_option(b, &o)) {
		if (o.code == EPB_PACKETID && o.len == 8)
			memcpy(&r.number, o.value, 8);
		if (o.code == OPT_DATA && o.len > 5 && load_be(o.value, 4) == ENTERPRISE &&
		    o.value[4] == RECEPTIONS_VERSION) {
			r.of = o.value + 5;
			r.count = (o.len - 5) / RECEPTION_LEN;
		}
	}
	if (b->swapped)
		r.number = __builtin_bswap64(r.number);
	return r;
}

struct trace_reception trace_reception(const struct trace_receptions *r, uint32_t number)
{
	const uint8_t *p = r->of + number * RECEPTION_LEN;

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
