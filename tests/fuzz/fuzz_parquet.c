// SPDX-License-Identifier: GPL-2.0
/* links: keep/compact/concat.o keep/compact/footer_read.o keep/compact/thrift_read.o
 * keep/parquet/footer.o keep/parquet/encode.o common/buffer.o
 */
/*
 * Joining Parquet files of a stranger. Input: the first one's length, 2 bytes, and both files.
 * Always holds: what was joined can be read, has all rows and the new metadata, and can be joined
 * again.
 */
#include <errno.h>

#include "fuzz.h"
#include "keep/compact/concat.h"

#define KEY "sources"

static int64_t rows_of(int fd, const char *want)
{
	char *value;
	int64_t rows;
	int err = parquet_key_value(fd, KEY, &value, &rows);

	CHECK(!err || err == -EBADMSG);
	CHECK(!want || (!err && value && !strcmp(value, want)));
	CHECK(err || rows >= 0);
	if (value)
		fuzz_touch((uint8_t *)value, strlen(value) + 1);
	free(value);
	return err ? -1 : rows;
}

/* Joins those that are taken. Returns a file, or -1 if there is none. */
static int join(const int *fds, int count, const char *sources)
{
	const struct parquet_pair pair = { KEY, sources };
	struct parquet_concat *c;
	int out = fuzz_file("", 0), taken = 0;
	int64_t rows = 0, more;

	CHECK(!parquet_concat_begin(&c, out));
	for (int i = 0; i < count; i++) {
		int err = parquet_concat_add(c, fds[i]);

		CHECK(!err || err == -EBADMSG || err == -EINVAL);
		if (err)
			continue;
		taken++;
		more = rows_of(fds[i],
			       NULL); /* -1: its metadata are malformed, which are left out */
		rows = rows < 0 || more < 0 ? -1 : rows + more;
	}
	CHECK(parquet_concat_end(c, &pair, 1, "fuzz") == (taken ? 0 : -EINVAL));
	if (taken) {
		more = rows_of(out, sources);
		CHECK(rows < 0 || more == rows);
		return out;
	}
	close(out);
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	size_t first = fuzz_number(&in, 2);
	const uint8_t *bytes = fuzz_bytes(&in, first, &first);
	int fds[2] = { fuzz_file(bytes, first), fuzz_file(in.p, (size_t)(in.end - in.p)) };
	int joined, twice[2];

	rows_of(fds[0], NULL);
	rows_of(fds[1], NULL);
	joined = join(fds, 2, "a,b");
	if (joined >= 0) {
		twice[0] = twice[1] = joined;
		int again = join(twice, 2, "c");

		CHECK(again >= 0);
		close(again);
		close(joined);
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}
