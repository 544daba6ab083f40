// SPDX-License-Identifier: GPL-2.0
/* Source: see source.h. */
#include "source.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/series_name.h"
#include "common/log.h"
#include "keep/folder/same.h"

void source_init(struct source *s, int folder)
{
	*s = (struct source){ .folder = folder, .fd = -1 };
}

/* ---- the index ------------------------------------------------------------------------------- */

static bool index_fits(const struct source *s, const struct stem *stem)
{
	struct stat st;

	if (!stem->has[FORM_PCAPNG])
		return index_is_of(&s->index.head, s->fd);
	return !fstat(s->fd, &st) && (uint64_t)st.st_size == s->index.head.pcapng_bytes;
}

/* A capture file that grew, or was written again, is newer than its index. */
static void say_other(const struct stem *stem)
{
	if (!stem->has[FORM_PCAPNG])
		log_line("%s" ARCHIVE_INDEX ": is of another file; the file is searched without it",
			 stem->name);
}

int source_index(struct source *s, const struct stem *stem)
{
	char name[NAME_MAX + 1];
	int fd, err;

	if (!stem->has[FORM_INDEX])
		return 0;
	fd = form_open(s->folder, stem->name, FORM_INDEX, name);
	if (fd == -ENOENT)
		return 0;
	err = fd < 0 ? fd : index_read(&s->index, fd);
	if (fd >= 0)
		close(fd);
	if (err == -ENOMEM)
		return err;
	s->has_index = !err && same_sizes(&s->index.head, stem);
	if (err)
		log_line("%s: %s; the file is searched without it", name, index_error(err));
	else if (!s->has_index)
		say_other(stem);
	return 0;
}

/* ---- the capture ----------------------------------------------------------------------------- */

static int open_blocks(struct source *s)
{
	if (!s->is_compressed)
		return blocks_open(&s->blocks, s->fd);
	s->unpack = unpack_new(s->fd);
	if (!s->unpack)
		return -ENOMEM;
	return blocks_open_from(&s->blocks, unpack_read, s->unpack, BLOCKS_UNTIL_END);
}

static void close_blocks(struct source *s)
{
	blocks_close(&s->blocks);
	unpack_free(s->unpack);
	s->unpack = NULL;
}

int source_open(struct source *s, const struct stem *stem)
{
	s->is_compressed = !stem->has[FORM_PCAPNG];
	if (!s->is_compressed)
		s->fd = form_open(s->folder, stem->name, FORM_PCAPNG, s->name);
	if (s->fd == -ENOENT) /* it was compressed just now */
		s->is_compressed = true;
	if (s->is_compressed)
		s->fd = form_open(s->folder, stem->name, FORM_ZST, s->name);
	if (s->fd < 0)
		return s->fd;
	if (s->has_index && !index_fits(s, stem)) {
		say_other(stem);
		s->has_index = false;
	}
	return open_blocks(s);
}

bool source_has_double(const struct source *s, const struct stem *stem)
{
	struct stat st;

	if (!stem->has[FORM_ZST] || s->is_compressed || fstat(s->fd, &st) ||
	    !same_capture(s->folder, stem->name, st.st_size))
		return false;
	log_line("%s.zst: is of another capture than %s; it is not searched; rename one of them",
		 s->name, s->name);
	return true;
}

int source_rewind(struct source *s)
{
	close_blocks(s);
	return open_blocks(s);
}

void source_close(struct source *s)
{
	index_close(&s->index);
	close_blocks(s);
	if (s->fd >= 0)
		close(s->fd);
}
