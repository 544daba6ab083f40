// SPDX-License-Identifier: GPL-2.0
/*
 * Live, the privileged process: see live.h. In: connections. Out: descriptors of the memories. It
 * never reads from viewers, and does not wait for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/privsep.h"
#include "common/unix_listen.h"
#include "live.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define BACKLOG 128

/* ---- memories -------------------------------------------------------------------------------- */

/* Makes a memory and maps it. Seals prevent resizing, and writing through the descriptor. */
static int memory_make(const char *name, size_t len, void **map)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	*map = ftruncate(fd, len) ? MAP_FAILED
				  : mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = *map == MAP_FAILED ? -errno : 0;
	if (!err && fcntl(fd, F_ADD_SEALS,
			  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
		err = -errno; /* EINVAL before Linux 5.1 */
		munmap(*map, len);
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int memories_make(struct live_socket *s, struct live *l, uint32_t bytes)
{
	void *ring = NULL, *table = NULL;

	s->wanted = mmap(NULL, sizeof(*s->wanted), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->wanted == MAP_FAILED) {
		s->wanted = NULL;
		return -errno;
	}
	s->fds[LIVE_FD_RING] = memory_make("saluki-live", LIVE_DATA + (size_t)bytes, &ring);
	if (s->fds[LIVE_FD_RING] < 0)
		return s->fds[LIVE_FD_RING];
	s->fds[LIVE_FD_TABLE] = memory_make("saluki-live-table", LIVE_TABLE_BYTES, &table);
	if (s->fds[LIVE_FD_TABLE] < 0) {
		munmap(ring, LIVE_DATA + (size_t)bytes);
		return s->fds[LIVE_FD_TABLE];
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

static void permit_group(const char *path)
{
	const struct group *g = getgrnam(LIVE_GROUP);

	if (g && chown(path, -1, g->gr_gid) == 0 && chmod(path, 0660) == 0)
		return;
	log_info("--live %s: only this user can look: %s; 'groupadd --system " LIVE_GROUP
		 "' makes the group for viewers",
		 path, g ? strerror(errno) : "there is no group " LIVE_GROUP);
}

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
	s->fds[LIVE_FD_END] = ends[0];
	s->end = ends[1];
	s->listener = unix_listen(path, !strcmp(path, LIVE_PATH), BACKLOG, why);
	return s->listener < 0 ? s->listener : 0;
}

int live_make(struct live_socket *s, struct live *l, const char *path, uint32_t bytes)
{
	const char *why;
	int err = make(s, l, path, bytes, &why);

	if (!err) {
		permit_group(path);
		return 0;
	}
	log_line("--live %s: %s", path, why);
	live_socket_free(s);
	memories_unmap(l);
	return err;
}

bool live_hand_out(struct live_socket *s, uint64_t now_ns)
{
	const struct live_hello hello = { LIVE_MAGIC, LIVE_VERSION };
	int viewer;

	if (!rate_limit_takes(&s->rate, LIVE_HANDED_A_SECOND, now_ns))
		return false;
	viewer = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (viewer < 0)
		return true;
	__atomic_store_n(s->wanted, LIVE_LOOKED_AT,
			 __ATOMIC_RELEASE); /* the next combo is in the ring */
	privsep_send(viewer, &hello, sizeof(hello), s->fds, LIVE_FDS);
	close(viewer);
	return true;
}

/* ---- the two processes ----------------------------------------------------------------------- */

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void live_socket_privileged(struct live_socket *s, struct live *l)
{
	close_one(&s->end); /* so that the pipe hangs up when the receiving process ends */
	memories_unmap(l);
}

void live_socket_receiving(struct live_socket *s)
{
	close_one(&s->listener);
	for (int i = 0; i < LIVE_FDS; i++)
		close_one(&s->fds[i]);
}

void live_socket_free(struct live_socket *s)
{
	live_socket_receiving(s);
	close_one(&s->end);
}
