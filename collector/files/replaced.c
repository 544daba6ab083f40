// SPDX-License-Identifier: GPL-2.0
/*
 * Replaced: see replaced.h. Always holds: the name leads to the complete old or new file; the state
 * file of this name is locked by us.
 */
#include "replaced.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"

/* ---- any of them ----------------------------------------------------------------------------- */

static int paths_set(struct replaced *r)
{
	int len = sizeof(r->path);

	if (snprintf(r->temporary, len, "%s.new", r->path) >= len ||
	    snprintf(r->spare, len, "%s.spare", r->path) >= len)
		return -ENAMETOOLONG;
	return 0;
}

static int temporary_open(struct replaced *r, mode_t mode)
{
	int fd;

	r->spared = false;
	unlink(r->temporary);
	fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

/* Opens the spare file, and removes the temporary one. */
static int spare_open(struct replaced *r, mode_t mode)
{
	int fd;

	r->spared = true;
	unlink(r->temporary);
	/* O_NONBLOCK: opening a FIFO would wait for its reader. */
	fd = open(r->spare, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);
	return fd < 0 ? -errno : fd;
}

/* Puts the new file in place. After a spare file, the old file becomes the next spare and keeps its
 * blocks. */
static int files_replaced_put(struct replaced *r)
{
	if (r->spared &&
	    !syscall(SYS_renameat2, AT_FDCWD, r->spare, AT_FDCWD, r->path, RENAME_EXCHANGE))
		return 0;
	if (r->spared && errno != ENOENT)
		return -errno;
	/* A first spare file has no old file to exchange with. */
	return rename(r->spared ? r->spare : r->temporary, r->path) ? -errno : 0;
}

/* ---- the state, at the start ----------------------------------------------------------------- */

/* Sets the state's path: --state, or next to the output. Returns false if no state is kept. */
static bool state_path(struct files *f)
{
	const char *write = f->o->write;
	struct stat st;
	int n;

	if (f->o->state && !strcmp(f->o->state, "none"))
		return false;
	if (f->o->state)
		n = snprintf(f->state.path, sizeof(f->state.path), "%s", f->o->state);
	else if (!write || !strcmp(write, "-"))
		return false;
	else if (f->is_dir)
		n = snprintf(f->state.path, sizeof(f->state.path), "%s%ssaluki.state", write,
			     write[strlen(write) - 1] == '/' ? "" : "/");
	else if (stat(write, &st) == 0 && !S_ISREG(st.st_mode))
		return false; /* a FIFO or device: it cannot be read again */
	else
		n = snprintf(f->state.path, sizeof(f->state.path), "%s.state", write);
	return n < (int)sizeof(f->state.path) && paths_set(&f->state) == 0;
}

/* Another collector may have replaced the file before we locked it: then the lock is on an old
 * file. */
static bool still_in_place(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int state_lock(struct files *f)
{
	int fd, err;

	for (;;) {
		fd = open(f->state.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
		if (fd < 0)
			return -errno;
		err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
		if (!err && still_in_place(fd, f->state.path))
			break;
		close(fd);
		if (err)
			return err;
	}
	f->state_fd = fd;
	return 0;
}

int files_replaced_init(struct files *f)
{
	int err = state_path(f) ? state_lock(f) : -ENOENT;

	if (!err)
		return 0;
	if (err == -EWOULDBLOCK) {
		if (f->o->state)
			log_line("--state %s: another saluki-collector uses it", f->o->state);
		else
			log_line("-w %s: another saluki-collector writes to it", f->o->write);
		return err;
	}
	if (f->state.path[0])
		log_line("warning: %s: %s; no state is kept: if this collector is killed, "
			 "frames may be written again",
			 f->state.path, strerror(-err));
	f->state.path[0] = 0;
	return 0;
}

void files_replaced_free(struct files *f)
{
	if (f->state_fd >= 0)
		close(f->state_fd);
	if (f->state_new_fd >= 0)
		close(f->state_new_fd);
}

/* ---- new ones -------------------------------------------------------------------------------- */

static int stats_paths(struct files *f)
{
	int len = sizeof(f->stats.path);

	if (!f->o->stats_file)
		return -EINVAL; /* the asking process is not trusted */
	if (!f->stats.path[0] &&
	    (snprintf(f->stats.path, len, "%s", f->o->stats_file) >= len || paths_set(&f->stats)))
		return -ENAMETOOLONG;
	return 0;
}

int files_replaced_stats(struct files *f)
{
	return stats_paths(f) ?: temporary_open(&f->stats, 0644);
}

int files_replaced_stats_spare(struct files *f)
{
	return stats_paths(f) ?: spare_open(&f->stats, 0644);
}

int files_replaced_stats_done(struct files *f)
{
	return f->stats.path[0] ? files_replaced_put(&f->stats) : -EINVAL;
}

/* Locks the state's successor. */
static int state_new(struct files *f, int fd)
{
	if (fd < 0)
		return fd;
	if (f->state_new_fd >= 0)
		close(f->state_new_fd);
	f->state_new_fd = dup(fd);
	return files_locked(fd);
}

int files_replaced_state(struct files *f)
{
	return f->state.path[0] ? state_new(f, temporary_open(&f->state, 0600)) : -ENOENT;
}

int files_replaced_state_spare(struct files *f)
{
	return f->state.path[0] ? state_new(f, spare_open(&f->state, 0600)) : -ENOENT;
}

int files_replaced_state_read(struct files *f, struct files_answer *a)
{
	int fd;

	if (!f->state.path[0])
		return -ENOENT;
	snprintf(a->name, sizeof(a->name), "%s", f->state.path);
	fd = open(f->state.path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int files_replaced_state_done(struct files *f)
{
	int err;

	if (f->state_new_fd < 0)
		return -EINVAL;
	err = files_replaced_put(&f->state);
	if (err)
		return err;
	close(f->state_fd);
	f->state_fd = f->state_new_fd;
	f->state_new_fd = -1;
	return 0;
}
