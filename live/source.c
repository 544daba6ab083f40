// SPDX-License-Identifier: GPL-2.0
/*
 * Source: see source.h. Always holds: the memories have their mapped size, and seals prevent
 * shortening them.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

static const void *map(int fd, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Returns a memory's size, or 0 if it could become shorter. */
static uint64_t sealed_size(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) || st.st_size < 0)
		return 0;
	return st.st_size;
}

static int map_both(struct source *s, const struct live_hello *hello, const int *fds)
{
	uint64_t ring = sealed_size(fds[LIVE_FD_RING]), table = sealed_size(fds[LIVE_FD_TABLE]);

	if (hello->magic != LIVE_MAGIC)
		return -EBADMSG;
	if (hello->version != LIVE_VERSION)
		return -EPROTONOSUPPORT;
	if (ring < LIVE_DATA + LIVE_BYTES_MIN || ring > LIVE_DATA + (uint64_t)LIVE_BYTES_MAX ||
	    ring % 8 || table != LIVE_TABLE_BYTES)
		return -EBADMSG;
	s->size = ring - LIVE_DATA;
	s->ring = map(fds[LIVE_FD_RING], ring);
	s->table = s->ring ? map(fds[LIVE_FD_TABLE], table) : NULL;
	return s->table ? 0 : -ENOMEM;
}

int source_map(struct source *s, const struct live_hello *hello, const int *fds)
{
	int err;

	*s = (struct source){ .end = fds[LIVE_FD_END] };
	err = map_both(s, hello, fds);
	close(fds[LIVE_FD_RING]);
	close(fds[LIVE_FD_TABLE]);
	if (!err)
		return 0;
	log_line("the collector's live frames cannot be read: %s",
		 err == -EPROTONOSUPPORT ? "it is of another version than saluki-live"
		 : err == -EBADMSG	 ? "what it hands out is malformed"
					 : strerror(-err));
	source_unmap(s);
	return err;
}

void source_unmap(struct source *s)
{
	if (s->ring)
		munmap((void *)s->ring, LIVE_DATA + (size_t)s->size);
	if (s->table)
		munmap((void *)s->table, LIVE_TABLE_BYTES);
	if (s->end >= 0)
		close(s->end);
	*s = (struct source){ .end = -1 };
}
