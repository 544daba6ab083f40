// SPDX-License-Identifier: GPL-2.0
/*
 * Files: see files.h. Always holds: no file that exists is overwritten; FILE is appended to,
 * every file of a series is new.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saluki/log.h>
#include <saluki/privsep.h>

#include "series.h"

/* ---- start ----------------------------------------------------------------------------------- */

static bool in_series(const struct files *f)
{
	return f->is_dir || f->o->rotate_bytes || f->o->rotate_s;
}

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

/* Two collectors with one state would each forget what the other one wrote. */
static int state_init(struct files *f)
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

static int output_check(struct files *f)
{
	const char *write = f->o->write;
	struct stat st;

	if (!strcmp(write, "-"))
		return 0;
	if (stat(write, &st) == 0) {
		f->is_dir = S_ISDIR(st.st_mode);
		return 0;
	}
	if (errno != ENOENT || write[strlen(write) - 1] == '/') {
		log_line("-w %s: %s", write, strerror(errno));
		return -errno;
	}
	return 0;
}

int files_init(struct files *f, const struct collector_options *o)
{
	int err, count;

	memset(f, 0, sizeof(*f));
	f->o = o;
	f->number = 1;
	f->state_fd = f->state_new_fd = -1;
	err = output_check(f);
	if (err)
		return err;
	if (in_series(f) && strcmp(o->write, "-")) {
		count = series_list(&(struct series){ o->write, f->is_dir }, &f->old, &f->number);
		f->old_count = count < 0 ? 0 : count;
	}
	return state_init(f);
}

void files_free(struct files *f)
{
	for (unsigned int i = 0; i < f->old_count; i++)
		free(f->old[i]);
	free(f->old);
	if (f->state_fd >= 0)
		close(f->state_fd);
	if (f->state_new_fd >= 0)
		close(f->state_new_fd);
	memset(f, 0, sizeof(*f));
	f->state_fd = f->state_new_fd = -1;
}

/* ---- output files ---------------------------------------------------------------------------- */

static int open_series(struct files *f, struct files_answer *a)
{
	int fd;

	do {
		if (series_name(&(struct series){ f->o->write, f->is_dir }, f->number, a->name,
				sizeof(a->name)))
			return -ENAMETOOLONG;
		fd = open(a->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
		f->number++;
	} while (fd < 0 && errno == EEXIST);
	return fd < 0 ? -errno : fd;
}

static int open_single(struct files *f, struct files_answer *a)
{
	struct stat st;
	int fd;

	if (snprintf(a->name, sizeof(a->name), "%s", f->o->write) >= (int)sizeof(a->name))
		return -ENAMETOOLONG;
	fd = open(a->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd >= 0 || errno != EEXIST)
		return fd < 0 ? -errno : fd;
	if (stat(a->name, &st))
		return -errno;
	a->existed = S_ISREG(st.st_mode);
	/* A pipe or a device is written to as it is; a FIFO that nobody reads is ENXIO, for waiting
	 * here would be deaf to signals. */
	fd = open(a->name, (a->existed ? O_RDWR : O_WRONLY | O_NONBLOCK) | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Two collectors in one file would tear each other's blocks. Released with the last copy of the
 * descriptor. */
static int locked(int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return fd;
	close(fd);
	return -EWOULDBLOCK;
}

static int open_output(struct files *f, struct files_answer *a)
{
	struct stat st;
	int fd;

	if (!strcmp(f->o->write, "-")) {
		snprintf(a->name, sizeof(a->name), "standard output");
		return dup(STDOUT_FILENO);
	}
	fd = in_series(f) ? open_series(f, a) : open_single(f, a);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? locked(fd) : fd;
}

/* The next older one; it may have to be cut. Nothing else in the folder is opened. */
static int open_old(struct files *f, struct files_answer *a)
{
	char *name;
	struct stat st;
	int fd = -1;

	while (f->old_count) {
		name = f->old[--f->old_count];
		snprintf(a->name, sizeof(a->name), "%s", name);
		free(name);
		fd = open(a->name, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			return locked(fd);
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

/* ---- files that are replaced ----------------------------------------------------------------- */

static int open_stats(struct files *f)
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

static int done_stats(struct files *f)
{
	if (!f->o->stats_file)
		return -EINVAL;
	return rename(f->stats_temporary, f->o->stats_file) ? -errno : 0;
}

static int open_state(struct files *f)
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
	return locked(fd);
}

static int read_state(struct files *f, struct files_answer *a)
{
	int fd;

	if (!f->state[0])
		return -ENOENT;
	snprintf(a->name, sizeof(a->name), "%s", f->state);
	fd = open(f->state, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The new one is locked before it is in place. */
static int done_state(struct files *f)
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

static int open_sensors_file(struct files *f)
{
	int fd = open(f->o->sensors_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Returns a descriptor, or with `none` 0, or -errno. */
static int serve(struct files *f, uint8_t what, struct files_answer *a, bool *none)
{
	*none = what == FILES_STATS_DONE || what == FILES_STATE_DONE;
	switch (what) {
	case FILES_OUTPUT:
		return open_output(f, a);
	case FILES_OLD:
		return open_old(f, a);
	case FILES_SENSORS:
		return open_sensors_file(f);
	case FILES_STATS:
		return open_stats(f);
	case FILES_STATS_DONE:
		return done_stats(f);
	case FILES_STATE_READ:
		return read_state(f, a);
	case FILES_STATE:
		return open_state(f);
	case FILES_STATE_DONE:
		return done_state(f);
	default:
		return -EINVAL; /* who asks is not to be trusted */
	}
}

int files_answer(struct files *f, int sock)
{
	struct files_answer a = { 0 };
	uint8_t what;
	bool none;
	int got, fd, err = privsep_recv(sock, &what, sizeof(what), NULL);

	if (err)
		return -EPIPE;
	got = serve(f, what, &a, &none);
	fd = none ? -1 : got;
	a.err = got < 0 ? got : 0;
	err = privsep_send(sock, &a, sizeof(a), &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
	return err ? -EPIPE : 0;
}

int files_ask(int sock, enum files_request what, struct files_answer *a, int *fd)
{
	int fds[PRIVSEP_FDS_MAX];
	uint8_t request = what;
	int err = privsep_send(sock, &request, sizeof(request), NULL, 0);

	err = err ?: privsep_recv(sock, a, sizeof(*a), fds);
	if (err)
		return err;
	if (fd)
		*fd = fds[0];
	return a->err;
}
