// SPDX-License-Identifier: GPL-2.0
/*
 * parquet_join OUT KEY VALUE IN...     joins files, with one pair of metadata
 * parquet_join KEY IN                  prints a file's number of rows and its value of KEY
 *
 * A file that is refused is named, and passed over; then the status is 3, and 1 after any other
 * error.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keep/compact/concat.h"

static int say(const char *what, int err)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	return 1;
}

static int look(const char *key, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *value;
	int64_t rows;
	int err = parquet_key_value(fd, key, &value, &rows);

	close(fd);
	if (err)
		return say(path, err);
	printf("%" PRId64 " %s\n", rows, value ? value : "(none)");
	free(value);
	return 0;
}

int main(int argc, char **argv)
{
	struct parquet_pair pair;
	struct parquet_concat *c;
	int fd, err, status = 0;

	if (argc < 5)
		return argc == 3 ? look(argv[1], argv[2]) : 2;
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return say(argv[1], -errno);
	err = parquet_concat_begin(&c, fd);
	if (err)
		return say(argv[1], err);
	for (int i = 4; i < argc; i++) {
		int in = open(argv[i], O_RDONLY | O_CLOEXEC);
		int refused = parquet_concat_add(c, in);

		close(in);
		if (!refused)
			continue;
		say(argv[i], refused);
		status = 3;
	}
	pair = (struct parquet_pair){ argv[2], argv[3] };
	err = parquet_concat_end(c, &pair, 1, "parquet_join");
	close(fd);
	return err ? say(argv[1], err) : status;
}
