// SPDX-License-Identifier: GPL-2.0
/*
 * Output file: see output_file.h. Always holds: a regular file ends where the last write that
 * succeeded did.
 */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/files/files.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "recover.h"

/* Appends to a file of an earlier run, and truncates an incomplete write. */
static int adopt(struct output *out)
{
	int64_t whole = recover_file(out, out->name, out->fd);

	if (whole == -EBADMSG)
		log_line("-w %s: exists and is not a whole pcapng file; give another name",
			 out->name);
	if (whole < 0)
		return whole;
	if (lseek(out->fd, whole, SEEK_SET) < 0)
		return -errno;
	out->size = whole;
	recover_event_log(out, out->name, out->fd, whole);
	return 0;
}

/* Sets the position of the next write to a file. */
static uint64_t position(int fd, uint64_t size)
{
	off_t at = lseek(fd, 0, SEEK_CUR);

	return at < 0 || (fcntl(fd, F_GETFL) & O_APPEND) ? size : (uint64_t)at;
}

int output_file_next(struct output *out)
{
	struct files_answer a;
	struct stat st;
	int fd, err = files_ask(out->files, FILES_OUTPUT, &a, &fd);

	if (err && out->no_rotation_logged == err)
		return err;
	out->no_rotation_logged = err;
	if (err) {
		log_line("-w %s: %s", a.name[0] ? a.name : out->o->write,
			 err == -EWOULDBLOCK	 ? "another saluki-collector writes to it"
			 : err == -ENXIO	 ? "nobody reads this FIFO; start its reader first"
			 : err == FILES_TOO_MANY ? "no other file may be opened so soon"
						 : strerror(-err));
		return err;
	}
	if (out->fd >= 0)
		close(out->fd);
	out->fd = fd;
	snprintf(out->name, sizeof(out->name), "%s", a.name);
	snprintf(out->ring, sizeof(out->ring), "%s", a.ring);
	out->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	/* Standard output may be a file with others' data. Never truncates before our beginning. */
	out->size = out->regular ? position(fd, st.st_size) : 0;
	out->size_max = out->regular && a.in_series ? a.size_max : UINT64_MAX;
	out->opened_ns = monotonic_ns();
	out->fresh = true;
	out->ended = false;
	return a.existed ? adopt(out) : 0;
}

/* Waits until a pipe accepts PIPE_BUF bytes. Returns 0, or -EPIPE after a stop if its reader has
 * read nothing for a second. */
static int wait_writable(struct output *out)
{
	struct pollfd p = { .fd = out->fd, .events = POLLOUT };

	while (poll(&p, 1, 1000) <= 0) {
		signals_take(out->orders);
		if (out->orders->stop)
			return -EPIPE;
	}
	return 0;
}

int output_file_write(struct output *out)
{
	size_t done = 0;

	while (done < out->len) {
		size_t len = out->len - done;
		int err = out->regular ? 0 : wait_writable(out);
		ssize_t n;

		if (!out->regular && len > PIPE_BUF)
			len = PIPE_BUF; /* more could block */
		n = err ? -1 : write(out->fd, out->buffer + done, len);
		if (!err && n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0) {
			err = err ? err : n < 0 ? -errno : -ENOSPC;
			if (out->regular && (ftruncate(out->fd, out->size) ||
					     lseek(out->fd, out->size, SEEK_SET) < 0))
				log_line("%s: cannot be cut back: %s", out->name, strerror(errno));
			return err;
		}
		done += n;
	}
	return 0;
}
