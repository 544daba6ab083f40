// SPDX-License-Identifier: GPL-2.0
/*
 * Files: see files.h. Always holds: no file that exists is overwritten; FILE is appended to,
 * every file of a series is new.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <saluki/log.h>
#include <saluki/privsep.h>

int files_init(struct files *f, const struct collector_options *o)
{
	struct stat st;

	memset(f, 0, sizeof(*f));
	f->o = o;
	f->number = 1;
	if (!strcmp(o->write, "-"))
		return 0;
	if (stat(o->write, &st) == 0) {
		f->is_dir = S_ISDIR(st.st_mode);
		return 0;
	}
	if (errno != ENOENT || o->write[strlen(o->write) - 1] == '/') {
		log_line("-w %s: %s", o->write, strerror(errno));
		return -errno;
	}
	return 0;
}

/* Names as dumpcap gives them: PREFIX_NNNNN_YYYYmmddHHMMSS.pcapng. */
static int series_name(const struct files *f, char *name, size_t size)
{
	const char *path = f->o->write, *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');
	char stamp[32];
	time_t now = time(NULL);
	struct tm tm;
	int n;

	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", localtime_r(&now, &tm));
	if (f->is_dir)
		n = snprintf(name, size, "%s%ssaluki_%05u_%s.pcapng", path,
			     path[strlen(path) - 1] == '/' ? "" : "/", f->number, stamp);
	else
		n = snprintf(name, size, "%.*s_%05u_%s%s",
			     dot ? (int)(dot - path) : (int)strlen(path), path, f->number, stamp,
			     dot ? dot : ".pcapng");
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

static int open_series(struct files *f, struct files_answer *a)
{
	int fd;

	do {
		if (series_name(f, a->name, sizeof(a->name)))
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

static int open_output(struct files *f, struct files_answer *a)
{
	struct stat st;
	int fd;

	if (!strcmp(f->o->write, "-")) {
		snprintf(a->name, sizeof(a->name), "standard output");
		return dup(STDOUT_FILENO);
	}
	if (f->is_dir || f->o->rotate_bytes || f->o->rotate_s)
		fd = open_series(f, a);
	else
		fd = open_single(f, a);
	/* Two collectors in one file would tear each other's blocks. Released with the last copy
	 * of the descriptor. */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) &&
	    errno == EWOULDBLOCK) {
		close(fd);
		return -EWOULDBLOCK;
	}
	return fd;
}

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

int files_answer(struct files *f, int sock)
{
	struct files_answer a = { 0 };
	uint8_t what;
	int fd = -1, err = privsep_recv(sock, &what, sizeof(what), NULL);

	if (err)
		return -EPIPE;
	if (what == FILES_OUTPUT)
		fd = open_output(f, &a);
	else if (what == FILES_STATS)
		fd = open_stats(f);
	else if (f->o->stats_file)
		a.err = rename(f->stats_temporary, f->o->stats_file) ? -errno : 0;
	else
		a.err = -EINVAL;
	if (what != FILES_STATS_DONE && fd < 0)
		a.err = fd;
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
