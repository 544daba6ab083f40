// SPDX-License-Identifier: GPL-2.0
/*
 * Files, the privileged side: see files.h. Always holds: no existing output file is overwritten;
 * FILE is appended to, and every file of a series is new.
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

#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"
#include "event_log.h"
#include "replaced.h"
#include "series.h"

/* ---- start ----------------------------------------------------------------------------------- */

static bool in_series(const struct files *f)
{
	return f->is_dir || f->o->rotate_bytes || f->o->rotate_s;
}

static int output_check(struct files *f)
{
	const char *write = f->o->write;
	struct stat st;

	if (!write || !strcmp(write, "-"))
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

/* The ring of a capture has no earlier files: nobody expects a new capture to delete an old one. */
static bool is_capture(const struct collector_options *o)
{
	return o->inherited > STDERR_FILENO;
}

int files_init(struct files *f, const struct collector_options *o)
{
	struct series s;
	int err, count;

	memset(f, 0, sizeof(*f));
	f->o = o;
	f->number = 1;
	f->state_fd = f->state_new_fd = f->event_log_folder = -1;
	files_limit_init(&f->limit);
	err = output_check(f) ?: files_event_log_init(f);
	if (err)
		return err;
	if (in_series(f) && strcmp(o->write, "-")) {
		s = series_of(o, f->is_dir);
		count = series_list(&s, &f->old, &f->number);
		f->old_count = count < 0 ? 0 : count;
		if (o->rotate_count)
			err = ring_init(&f->ring, &s, o->rotate_count, f->old,
					is_capture(o) ? 0 : f->old_count);
		if (err)
			log_line("-W: %s", strerror(-err));
	}
	return err ?: files_replaced_init(f);
}

static void old_forget(struct files *f)
{
	while (f->old_count)
		free(f->old[--f->old_count]);
}

void files_free(struct files *f)
{
	old_forget(f);
	free(f->old);
	files_replaced_free(f);
	files_event_log_free(f);
	files_limit_free(&f->limit);
	ring_free(&f->ring);
	memset(f, 0, sizeof(*f));
	f->state_fd = f->state_new_fd = f->event_log_folder = f->limit.last = -1;
}

/* ---- output files ---------------------------------------------------------------------------- */

static int open_series(struct files *f, struct files_answer *a)
{
	struct series s = series_of(f->o, f->is_dir);
	int fd;

	do {
		if (series_name(&s, f->number, a->name, sizeof(a->name)))
			return -ENAMETOOLONG;
		fd = open(a->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
		f->number++;
	} while (fd < 0 && errno == EEXIST);
	return fd < 0 ? -errno : fd;
}

/* Removes the file before the new one if it has only a section header, as after -G without frames.
 */
static void remove_empty(struct files *f)
{
	struct stat last, named;
	int fd = *f->last ? open(f->last, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;

	if (fd < 0)
		return;
	if (fstat(fd, &named) == 0 && fstat(f->limit.last, &last) == 0 &&
	    named.st_dev == last.st_dev && named.st_ino == last.st_ino && series_is_empty(fd) &&
	    unlink(f->last) == 0)
		ring_forget(&f->ring, f->last);
	close(fd);
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
	/* A pipe or a device is opened for writing only. A FIFO without a reader fails with ENXIO,
	 * as waiting here would block signals. */
	fd = open(a->name, (a->existed ? O_RDWR : O_WRONLY | O_NONBLOCK) | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int files_locked(int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return fd;
	close(fd);
	return -EWOULDBLOCK;
}

static int open_output(struct files *f, struct files_answer *a)
{
	struct stat st;
	int fd = files_limit_output(&f->limit, in_series(f) ? f->o : NULL, monotonic_ns());

	/* From the first output file on, earlier files are not opened: the process now reads
	 * strangers' datagrams. */
	old_forget(f);
	if (fd < 0)
		return fd;
	if (!strcmp(f->o->write, "-")) {
		snprintf(a->name, sizeof(a->name), "standard output");
		return dup(STDOUT_FILENO);
	}
	a->in_series = in_series(f);
	fd = a->in_series ? open_series(f, a) : open_single(f, a);
	if (fd >= 0 && a->in_series)
		remove_empty(f);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		a->size_max = files_limit_opened(&f->limit, f->o, fd);
		fd = files_locked(fd);
	}
	if (fd >= 0 && a->in_series) {
		snprintf(f->last, sizeof(f->last), "%s", a->name);
		snprintf(a->ring, sizeof(a->ring), "%s", f->ring.comment);
		ring_add(&f->ring, a->name);
	}
	return fd;
}

/* A collector that writes to a file has an exclusive lock. saluki-keep has a shared one while it
 * reads, which takes nothing from us. */
static int old_locked(int fd)
{
	int first = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;

	if (first != -EWOULDBLOCK || !flock(fd, LOCK_SH | LOCK_NB))
		return fd;
	close(fd);
	return -EWOULDBLOCK;
}

/* A file that saluki-keep has compressed since it was listed has an index instead. */
static int open_old_name(char *name, size_t size)
{
	size_t len = strlen(name), end = strlen(ARCHIVE_CAPTURE);
	int flags = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
	int fd = open(name, (series_is_index(name) ? O_RDONLY : O_RDWR) | flags);

	if (fd >= 0 || errno != ENOENT || len <= end ||
	    strcmp(name + len - end, ARCHIVE_CAPTURE) != 0)
		return fd;
	snprintf(name + len - end, size - (len - end), "%s", ARCHIVE_INDEX);
	return open(name, O_RDONLY | flags);
}

/* Opens the next older file for writing, as it may have to be truncated; an index for reading.
 * Opens no other file of the folder, and none after the first output file. */
static int open_old(struct files *f, struct files_answer *a)
{
	char *name;
	struct stat st;
	int fd = -1;

	while (f->old_count) {
		name = f->old[--f->old_count];
		snprintf(a->name, sizeof(a->name), "%s", name);
		free(name);
		fd = open_old_name(a->name, sizeof(a->name));
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			return series_is_index(a->name) ? fd : old_locked(fd);
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

static int open_sensors_file(struct files *f)
{
	int fd = open(f->o->sensors_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	files_limit_sensors_file(&f->limit, fd);
	return fd;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Returns a descriptor, or 0 if `none` is set, or -errno. */
static int serve(struct files *f, const struct files_request_message *m, struct files_answer *a,
		 bool *none)
{
	*none = m->what == FILES_STATS_DONE || m->what == FILES_STATE_DONE;
	switch (m->what) {
	case FILES_OUTPUT:
		return open_output(f, a);
	case FILES_OLD:
		return open_old(f, a);
	case FILES_SENSORS:
		return open_sensors_file(f);
	case FILES_STATS:
		return files_replaced_stats(f);
	case FILES_STATS_SPARE:
		return files_replaced_stats_spare(f);
	case FILES_STATS_DONE:
		return files_replaced_stats_done(f);
	case FILES_STATE_READ:
		return files_replaced_state_read(f, a);
	case FILES_STATE:
		return files_replaced_state(f);
	case FILES_STATE_SPARE:
		return files_replaced_state_spare(f);
	case FILES_STATE_DONE:
		return files_replaced_state_done(f);
	case FILES_EVENT_LOG:
		return files_event_log_open(f, m->module, a);
	default:
		return -EINVAL; /* the asking process is not trusted */
	}
}

/* Each process has its own files. */
static bool may_ask(uint8_t what, bool statistics)
{
	return statistics ==
	       (what == FILES_STATS || what == FILES_STATS_SPARE || what == FILES_STATS_DONE);
}

int files_answer(struct files *f, int sock, bool statistics)
{
	struct files_answer a = { 0 };
	struct files_request_message m;
	bool none = false;
	int got, fd, err = privsep_recv(sock, &m, sizeof(m), NULL);

	if (err)
		return -EPIPE;
	got = may_ask(m.what, statistics) ? serve(f, &m, &a, &none) : -EINVAL;
	fd = none ? -1 : got;
	a.err = got < 0 ? got : 0;
	err = privsep_send(sock, &a, sizeof(a), &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
	return err ? -EPIPE : 0;
}
