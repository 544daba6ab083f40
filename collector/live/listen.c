// SPDX-License-Identifier: GPL-2.0
/*
 * Live, the privileged process: see live.h. In: connections. Out: descriptors of the memories. It
 * never reads from viewers, and does not wait for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/files/sealed_memory.h"
#include "common/log.h"
#include "live.h"

/* ---- memories -------------------------------------------------------------------------------- */

static int memories_make(struct live_socket *s, struct live *l, uint32_t bytes)
{
	void *ring = NULL, *table = NULL;

	s->wanted = mmap(NULL, sizeof(*s->wanted), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->wanted == MAP_FAILED) {
		s->wanted = NULL;
		return -errno;
	}
	s->out.fds[LIVE_FD_RING] =
		sealed_memory_make("saluki-live", LIVE_DATA + (size_t)bytes, &ring);
	if (s->out.fds[LIVE_FD_RING] < 0)
		return s->out.fds[LIVE_FD_RING];
	s->out.fds[LIVE_FD_TABLE] =
		sealed_memory_make("saluki-live-table", LIVE_TABLE_BYTES, &table);
	if (s->out.fds[LIVE_FD_TABLE] < 0) {
		munmap(ring, LIVE_DATA + (size_t)bytes);
		return s->out.fds[LIVE_FD_TABLE];
	}
	*s->wanted = LIVE_AWAITED;
	*l = (struct live){ .ring = ring, .table = table, .wanted = s->wanted, .size = bytes };
	*l->ring =
		(struct live_ring){ .magic = LIVE_MAGIC, .version = LIVE_VERSION, .size = bytes };
	*l->table = (struct live_table){ .magic = LIVE_MAGIC, .version = LIVE_VERSION };
	return 0;
}

static void memories_unmap(struct live *l)
{
	if (!l->ring)
		return;
	munmap(l->ring, LIVE_DATA + (size_t)l->size);
	munmap(l->table, LIVE_TABLE_BYTES);
	l->ring = NULL;
}

/* ---- socket ---------------------------------------------------------------------------------- */

static int make(struct live_socket *s, struct live *l, const char *path, uint32_t bytes,
		const char **why)
{
	int err = LIVE_POSSIBLE ? memories_make(s, l, bytes) : -EOPNOTSUPP, ends[2];

	if (!err && pipe2(ends, O_CLOEXEC))
		err = -errno;
	if (err) {
		*why = strerror(-err);
		return err;
	}
	s->out.fds[LIVE_FD_END] = ends[0];
	s->end = ends[1];
	return handout_listen(&s->out, path, !strcmp(path, LIVE_PATH), why);
}

int live_make(struct live_socket *s, struct live *l, const char *path, uint32_t bytes)
{
	const char *why;
	int err = make(s, l, path, bytes, &why);

	if (!err) {
		handout_permit("--live", path, LIVE_GROUP);
		return 0;
	}
	log_line("--live %s: %s", path, why);
	live_socket_free(s);
	memories_unmap(l);
	return err;
}

void live_hand_out(struct live_socket *s, uint64_t now_ns)
{
	const struct live_hello hello = { LIVE_MAGIC, LIVE_VERSION };

	__atomic_store_n(s->wanted, LIVE_LOOKED_AT,
			 __ATOMIC_RELEASE); /* the next combo is in the ring */
	handout_give(&s->out, &hello, sizeof(hello), now_ns);
}

/* ---- the two processes ----------------------------------------------------------------------- */

static void close_end(struct live_socket *s)
{
	if (s->end >= 0)
		close(s->end);
	s->end = -1;
}

void live_socket_privileged(struct live_socket *s, struct live *l)
{
	close_end(s); /* so that the pipe hangs up when the receiving process ends */
	memories_unmap(l);
}

void live_socket_receiving(struct live_socket *s)
{
	handout_close(&s->out);
}

void live_socket_free(struct live_socket *s)
{
	handout_close(&s->out);
	close_end(s);
}
