// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are replaced: see files_replaced.h. Always holds: the name has the old file or the new
 * one, whole; the state that it has is locked by us.
 */
#include "files_replaced.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saluki/log.h>

/* ---- the state, at the start ----------------------------------------------------------------- */

/* Where the state is: next to the output, unless it is said. Returns false where there is none. */
static bool state_path(struct files *f)
{
	const char *write = f->o->write, *slash = write[strlen(write) - 1] == '/' ? "" : "/";
	struct stat st;
	int n;

	if (f->o->state)
		n = snprintf(f->state, sizeof(f->state), "%s", f->o->state);
	else if (!strcmp(write, "-"))
		return false;
	else if (f->is_dir)
		n = snprintf(f->state, sizeof(f->state), "%s%ssaluki.state", write, slash);
	else if (stat(write, &st) == 0 && !S_ISREG(st.st_mode))
		return false; /* a FIFO or device: nobody reads names out of it again */
	else
		n = snprintf(f->state, sizeof(f->state), "%s.state", write);
	return n < (int)sizeof(f->state) - 4 &&
	       snprintf(f->state_temporary, sizeof(f->state_temporary), "%s.new", f->state) > 0;
}

/* The file is replaced while it is locked: what was locked may not be the one of this name. */
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
		fd = open(f->state, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
		if (fd < 0)
			return -errno;
		err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
		if (!err && still_in_place(fd, f->state))
			break;
		close(fd);
		if (err)
			return err;
	}
	f->state_fd = fd;
	return 0;
}

int replaced_init(struct files *f)
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
	if (f->state[0])
		log_line("warning: %s: %s; no state is kept, and should this collector be killed, "
			 "frames may be written again",
			 f->state, strerror(-err));
	f->state[0] = 0;
	return 0;
}

void replaced_free(struct files *f)
{
	if (f->state_fd >= 0)
		close(f->state_fd);
	if (f->state_new_fd >= 0)
		close(f->state_new_fd);
}

/* ---- new ones -------------------------------------------------------------------------------- */

int replaced_stats(struct files *f)
{
	int fd;

	if (!f->o->stats_file)
		return -EINVAL; /* who asks is not to be trusted */
	if (snprintf(f->stats_temporary, sizeof(f->stats_temporary), "%s.new", f->o->stats_file) >=
	    (int)sizeof(f->stats_temporary))
		return -ENAMETOOLONG;
	unlink(f->stats_temporary);
	fd = open(f->stats_temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd;
}

int replaced_stats_done(struct files *f)
{
	if (!f->o->stats_file)
		return -EINVAL;
	return rename(f->stats_temporary, f->o->stats_file) ? -errno : 0;
}

int replaced_state(struct files *f)
{
	int fd;

	if (!f->state[0])
		return -ENOENT;
	unlink(f->state_temporary);
	fd = open(f->state_temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (f->state_new_fd >= 0)
		close(f->state_new_fd);
	f->state_new_fd = dup(fd);
	return files_locked(fd);
}

int replaced_state_read(struct files *f, struct files_answer *a)
{
	int fd;

	if (!f->state[0])
		return -ENOENT;
	snprintf(a->name, sizeof(a->name), "%s", f->state);
	fd = open(f->state, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int replaced_state_done(struct files *f)
{
	if (f->state_new_fd < 0)
		return -EINVAL;
	if (rename(f->state_temporary, f->state))
		return -errno;
	close(f->state_fd);
	f->state_fd = f->state_new_fd;
	f->state_new_fd = -1;
	return 0;
}
