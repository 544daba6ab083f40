// SPDX-License-Identifier: GPL-2.0
/* Outlet: see outlet.h. */
#include "outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/stop.h"

#define ENDING ".pcapng"
#define SERIES_MAX 100000 /* files */

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
	struct stat st;

	return path[strlen(path) - 1] == '/' || (!stat(path, &st) && S_ISDIR(st.st_mode));
}

/* "x/y.pcapng" is "x/y"; a folder "x" is "x/WORD". Returns 0 or -ENAMETOOLONG. */
static int prefix_of(struct outlet *o, const char *write, const char *word)
{
	size_t len = strlen(write), end = strlen(ENDING);
	int n;

	if (is_folder(write))
		n = snprintf(o->prefix, sizeof(o->prefix), "%s%s%s", write,
			     write[len - 1] == '/' ? "" : "/", word);
	else
		n = snprintf(o->prefix, sizeof(o->prefix), "%.*s",
			     (int)(len > end && !strcmp(write + len - end, ENDING) ? len - end
										   : len),
			     write);
	return n < (int)sizeof(o->prefix) - 32 ? 0 : -ENAMETOOLONG;
}

static void name_of(const struct outlet *o, unsigned int number, char name[PATH_MAX])
{
	snprintf(name, PATH_MAX, "%.*s_%05u" ENDING, PATH_MAX - 32, o->prefix, number);
}

static void name_it(struct outlet *o, const char *write)
{
	if (o->rotate_bytes)
		name_of(o, o->number, o->name);
	else if (is_folder(write))
		snprintf(o->name, sizeof(o->name), "%.*s" ENDING, PATH_MAX - 32, o->prefix);
	else
		snprintf(o->name, sizeof(o->name), "%s", write);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int failed(struct outlet *o, int err)
{
	bool said = o->err;

	o->err = o->err ?: err;
	if (err != -EPIPE && !said)
		log_line("-w %s: %s", o->name,
			 err == -ECANCELED ? "its reader takes nothing; the end of the trace is "
					     "not written"
			 : err == -EWOULDBLOCK ? "another program writes to it, or compresses it"
					       : strerror(-err));
	return o->err;
}

/* An old file's bytes are compared later. A pipe waits for its reader. */
static int open_file(struct outlet *o)
{
	int flags = O_CREAT | O_CLOEXEC | (o->live && o->rotate_bytes ? O_EXCL : 0);
	struct stat st;

	o->at = o->there = 0;
	if (!(flags & O_EXCL) && !stat(o->name, &st) && S_ISFIFO(st.st_mode))
		o->fd = open(o->name, O_WRONLY | O_CLOEXEC);
	else
		o->fd = open(o->name, O_RDWR | flags, 0640);
	if (o->fd < 0 && (errno == EACCES || errno == ENXIO || errno == EINVAL))
		o->fd = open(o->name, O_WRONLY | flags, 0640); /* a device, or no right to read */
	if (o->fd < 0 || fstat(o->fd, &st))
		return -errno;
	if (o->forbidden && o->forbidden(o->context, o->fd, o->name))
		return o->err = -EINVAL;
	o->is_file = S_ISREG(st.st_mode);
	/* saluki-keep leaves a locked file alone. */
	if (o->is_file && flock(o->fd, LOCK_EX | LOCK_NB))
		return -errno;
	if (o->is_file && (fcntl(o->fd, F_GETFL) & O_ACCMODE) == O_RDWR)
		o->there = st.st_size;
	else if (o->is_file && ftruncate(o->fd, 0))
		return -errno;
	return 0;
}

/* Whether saluki-keep has compressed an earlier file of this name. */
static bool is_kept(const char *name)
{
	char kept[PATH_MAX];
	int fd;

	if (snprintf(kept, sizeof(kept), "%s.zst", name) >= (int)sizeof(kept))
		return false;
	fd = open(kept, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EACCES;
}

static int open_next(struct outlet *o)
{
	int err;

	do {
		o->number++;
		name_it(o, o->name);
		err = o->live && is_kept(o->name) ? -EEXIST : open_file(o);
	} while (err == -EEXIST && o->number < SERIES_MAX);
	return err;
}

int outlet_open(struct outlet *o, const char *write, const char *word, uint64_t rotate_bytes,
		bool live, bool (*forbidden)(void *, int, const char *), void *context)
{
	struct stat st;
	int err = 0;

	*o = (struct outlet){ .fd = -1, .rotate_bytes = rotate_bytes, .live = live };
	o->forbidden = forbidden;
	o->context = context;
	o->room = OUTLET_BUFFER;
	o->buffer = malloc(o->room);
	snprintf(o->name, sizeof(o->name), "%s", write);
	if (!o->buffer)
		return failed(o, -ENOMEM);
	if (!strcmp(write, "-")) {
		o->fd = STDOUT_FILENO;
		o->is_file = !fstat(o->fd, &st) && S_ISREG(st.st_mode);
		return forbidden && forbidden(context, o->fd, "-") ? -EINVAL : 0;
	}
	err = prefix_of(o, write, word);
	if (!err && rotate_bytes) {
		err = open_next(o);
	} else if (!err) {
		name_it(o, write);
		err = open_file(o);
	}
	return err ? failed(o, err) : 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* How many of the bytes are in the file already; the file ends where it differs. Returns that, or
 * -errno. */
static ssize_t same(struct outlet *o)
{
	uint8_t old[65536];
	size_t done = 0;

	while (done < o->used && o->at + done < o->there) {
		size_t want = o->used - done < sizeof(old) ? o->used - done : sizeof(old);
		ssize_t n = pread(o->fd, old, want, o->at + done);

		if (n <= 0 || memcmp(old, o->buffer + done, n)) {
			o->there = 0;
			break;
		}
		done += n;
	}
	if (o->there && o->at + done < o->there)
		return done;
	o->there = 0; /* from here on all is new */
	if (ftruncate(o->fd, o->at + done) || lseek(o->fd, o->at + done, SEEK_SET) < 0)
		return -errno;
	return done;
}

/* Returns how many bytes were written, or -errno. */
static ssize_t write_some(struct outlet *o, const uint8_t *p, size_t len)
{
	ssize_t n;

	if (!o->is_file)
		return stop_write(o->fd, p, len);
	n = write(o->fd, p, len);
	return n < 0 ? -errno : n;
}

int outlet_flush(struct outlet *o)
{
	size_t done = 0;

	if (o->err)
		return o->err;
	if (o->there) {
		ssize_t n = same(o);

		if (n < 0)
			return failed(o, n);
		done = n;
	}
	while (done < o->used) {
		ssize_t n = write_some(o, o->buffer + done, o->used - done);

		if (n == -EINTR)
			continue;
		if (n < 0) {
			o->left = n == -EPIPE;
			return failed(o, n);
		}
		done += n;
	}
	o->at += o->used;
	o->used = 0;
	return 0;
}

uint8_t *outlet_room(struct outlet *o, size_t len)
{
	if (o->room - o->used < len && outlet_flush(o))
		return NULL;
	if (o->room < len) {
		uint8_t *more = realloc(o->buffer, len);

		if (!more) {
			failed(o, -ENOMEM);
			return NULL;
		}
		o->buffer = more;
		o->room = len;
	}
	return o->err ? NULL : o->buffer + o->used;
}

void outlet_used(struct outlet *o, size_t len)
{
	o->used += len;
}

bool outlet_is_full(const struct outlet *o)
{
	return o->rotate_bytes && o->at + o->used >= o->rotate_bytes;
}

int outlet_next(struct outlet *o)
{
	int err = outlet_end(o);

	if (err)
		return err;
	err = open_next(o);
	return err ? failed(o, err) : 0;
}

int outlet_end(struct outlet *o)
{
	int err = outlet_flush(o);

	if (!err && o->there > o->at && ftruncate(o->fd, o->at))
		err = failed(o, -errno);
	if (o->fd > STDOUT_FILENO) {
		if (close(o->fd) && !err)
			err = failed(o, -errno);
		o->fd = -1;
	}
	return err;
}

static bool is_there(const char *name)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EACCES;
}

/* Looks for files of a longer series behind the last one. */
static int look_behind(struct outlet *o)
{
	char first[PATH_MAX], last[PATH_MAX];
	unsigned int n = o->number;

	name_of(o, n + 1, first);
	do
		name_of(o, ++n, last);
	while (n < SERIES_MAX && is_there(last));
	if (n == o->number + 1)
		return 0;
	name_of(o, n - 1, last);
	log_line("%s to %s are of an earlier trace with more files, and not of this one; remove "
		 "them",
		 first, last);
	return o->err = -EEXIST;
}

int outlet_finish(struct outlet *o)
{
	int err = outlet_end(o);

	return err || !o->rotate_bytes || o->live ? err : look_behind(o);
}

void outlet_free(struct outlet *o)
{
	if (o->fd > STDOUT_FILENO)
		close(o->fd);
	free(o->buffer);
	o->buffer = NULL;
	o->fd = -1;
}
