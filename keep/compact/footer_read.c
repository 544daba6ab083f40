// SPDX-License-Identifier: GPL-2.0
#include "footer_read.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keep/parquet/internal.h"
#include "wire/bytes.h"

#define FOOTER_MAX (256U << 20)

/* Returns 0, or -EBADMSG where the file ends. */
static int read_at(int fd, uint8_t *to, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pread(fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		to += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int load(struct footer_in *f, int fd)
{
	uint8_t first[4], last[8];
	struct stat st;
	uint64_t size;
	int err;

	if (fstat(fd, &st))
		return -errno;
	size = (uint64_t)st.st_size;
	if (size < sizeof(first) + sizeof(last))
		return -EBADMSG;
	err = read_at(fd, first, sizeof(first), 0);
	if (!err)
		err = read_at(fd, last, sizeof(last), size - sizeof(last));
	if (err)
		return err;
	f->raw.len = load_le32(last);
	if (memcmp(first, PARQUET_MAGIC, 4) || memcmp(last + 4, PARQUET_MAGIC, 4) ||
	    f->raw.len > FOOTER_MAX || f->raw.len > size - sizeof(first) - sizeof(last))
		return -EBADMSG;
	f->body_end = size - sizeof(last) - f->raw.len;
	size = f->raw.len;
	f->raw.len = 0;
	if (!bytes_reserve(&f->raw, size))
		return -ENOMEM;
	f->raw.len = size;
	return read_at(fd, f->raw.data, size, f->body_end);
}

int footer_read(struct footer_in *f, int fd)
{
	struct thrift_in *lists[] = { NULL,	  NULL,	     &f->schema, NULL,
				      &f->groups, &f->pairs, NULL,	 &f->orders };
	struct thrift_place p = { 0 };
	struct thrift_in in;
	int err;

	*f = (struct footer_in){ .rows = -1 };
	err = load(f, fd);
	if (err)
		return err;
	in = (struct thrift_in){ f->raw.data, f->raw.data + f->raw.len, false };
	while (thrift_next(&in, &p)) {
		const uint8_t *begin = in.at;

		if (p.id == 3 && p.type == THRIFT_I64) {
			f->rows = thrift_read_int(&in);
			continue;
		}
		if (p.id == 6 && p.type == THRIFT_BINARY) {
			f->creator_len = thrift_read_len(&in);
			f->creator = in.at;
			in.at += f->creator_len;
			continue;
		}
		thrift_skip(&in, &p);
		if (p.type == THRIFT_LIST && p.id > 0 && p.id < 8 && lists[p.id])
			*lists[p.id] = (struct thrift_in){ begin, in.at, false };
	}
	if (in.bad || f->rows < 0 || !f->schema.at || !f->orders.at || !f->groups.at)
		return -EBADMSG;
	return 0;
}

void footer_in_free(struct footer_in *f)
{
	bytes_free(&f->raw);
}
