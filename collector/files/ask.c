// SPDX-License-Identifier: GPL-2.0
/*
 * Files, the unprivileged side: see files.h. This process, not the privileged one, reserves disk
 * space for statistics and state: the file system's blocks reserved for root stay out of reach of
 * an attacker in this process.
 */
#include "files.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/privsep.h"

#define RESERVE_LEAST 65536

/* ---- requests -------------------------------------------------------------------------------- */

static int ask(int sock, const struct files_request_message *m, struct files_answer *a, int *fd)
{
	int fds[PRIVSEP_FDS_MAX];
	int err = privsep_send(sock, m, sizeof(*m), NULL, 0);

	err = err ?: privsep_recv(sock, a, sizeof(*a), fds);
	if (err)
		return err;
	if (fd)
		*fd = fds[0];
	return a->err;
}

int files_ask(int sock, enum files_request what, struct files_answer *a, int *fd)
{
	return ask(sock, &(struct files_request_message){ .what = what }, a, fd);
}

int files_ask_module(int sock, const char *module, struct files_answer *a, int *fd)
{
	struct files_request_message m = { .what = FILES_EVENT_LOG };

	strncpy(m.module, module, sizeof(m.module) - 1);
	return ask(sock, &m, a, fd);
}

/* ---- files that are replaced ----------------------------------------------------------------- */

struct room {
	const enum files_request ask_spare;
	uint64_t next, spare; /* bytes: wanted for the next file; reserved in the spare one */
	bool spared;	      /* the new file is written to the spare one */
};

static struct room *room_of(enum files_request what)
{
	static struct room stats = { .ask_spare = FILES_STATS_SPARE };
	static struct room state = { .ask_spare = FILES_STATE_SPARE };

	return what == FILES_STATS || what == FILES_STATS_DONE ? &stats : &state;
}

static int spare_open(int sock, const struct room *r, int *fd)
{
	struct files_answer a;

	return files_ask(sock, r->ask_spare, &a, fd);
}

static bool is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

/* Reserves blocks for so many bytes. Returns 0 or -ENOSPC or -EDQUOT; 0 too if the file system
 * cannot reserve: later writes then show whether there is space. */
static int reserve(int fd, uint64_t bytes)
{
	int err = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, bytes) ? -errno : 0;

	return is_full(err) ? err : 0;
}

/* Opens a new file with reserved space. */
static int new_open(int sock, enum files_request what, uint64_t bytes, int *fd)
{
	struct files_answer a;
	int err = files_ask(sock, what, &a, fd);

	if (err)
		return err;
	err = reserve(*fd, bytes > RESERVE_LEAST ? bytes : RESERVE_LEAST);
	if (err)
		close(*fd);
	return err;
}

/* On a full disk, the spare file is overwritten in place. */
FILE *files_new(int sock, enum files_request what, int *err)
{
	struct room *r = room_of(what);
	int fd = -1;
	FILE *f;

	*err = new_open(sock, what, r->next, &fd);
	r->spared = is_full(*err);
	if (r->spared)
		*err = spare_open(sock, r, &fd);
	f = *err ? NULL : fdopen(fd, "w");
	if (!*err && !f) {
		*err = -errno;
		close(fd);
	}
	return f;
}

/* Reserves the spare file's space while the disk has some: it may be full the next time. */
static void spare_keep(int sock, struct room *r, uint64_t size)
{
	int fd;

	r->next = 2 * size + RESERVE_LEAST;
	if (r->spare >= r->next - RESERVE_LEAST / 2 || spare_open(sock, r, &fd))
		return;
	if (reserve(fd, r->next) == 0)
		r->spare = r->next;
	close(fd);
}

/* On a full disk, an old file is overwritten. Its rest is filled with newlines, as truncating it
 * would release its blocks. */
static int blank_rest(FILE *f)
{
	struct stat st;
	long at;

	if (fflush(f) || fstat(fileno(f), &st))
		return -errno;
	at = ftell(f);
	if (at < 0)
		return -errno;
	for (; at < st.st_size && !ferror(f); at++)
		putc('\n', f);
	return ferror(f) ? -EIO : 0;
}

int files_new_done(int sock, enum files_request done, FILE *f, int err)
{
	struct room *r = room_of(done);
	struct files_answer a;
	long size;

	err = err ?: blank_rest(f);
	size = ftell(f);
	err = fclose(f) && !err ? -errno : err;
	err = err ?: files_ask(sock, done, &a, NULL);
	if (!err && !r->spared)
		spare_keep(sock, r, size);
	return err;
}
