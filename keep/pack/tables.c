// SPDX-License-Identifier: GPL-2.0
/* Tables: see tables.h. */
#include "tables.h"

#include <errno.h>
#include <sys/stat.h>

#include "walk.h"

int pack_tables(int fd, const char *stem, int columns)
{
	struct blocks blocks = { .fd = -1 };
	struct stat st;
	struct walk w;
	int err;

	if (fstat(fd, &st))
		return -errno;
	err = walk_init(&w);
	columns_begin(&w.columns, columns, stem, &st);
	err = err ?: blocks_open(&blocks, fd) ?: walk_blocks(&w, &blocks)
		  ?: columns_finish(&w.columns, &st) ?: columns_put(&w.columns);
	blocks_close(&blocks);
	columns_end(&w.columns);
	walk_free(&w);
	return err;
}
