// SPDX-License-Identifier: GPL-2.0
/* Lines: see lines.h. */
#include "lines.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <saluki/log.h>
#include <saluki/monotonic.h>

#include "files.h"
#include "output.h"

#define BATCH 256 /* lines in one write */

void lines_init(struct lines *l, const char *folder, int files)
{
	memset(l, 0, sizeof(*l));
	l->folder = folder;
	l->files = files;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void tell(const struct lines *l, struct lines_file *f, int err)
{
	if (!f->told)
		log_line("%s/%s.jsonl: %s; its lines are in the capture alone until it can be "
			 "written",
			 l->folder, f->module,
			 err == -EBADMSG ? "is no file of lines" : strerror(-err));
	f->told = true;
}

static void tell_refused(struct lines *l)
{
	if (!l->told)
		log_line("--events %s: there are %d files, or a sensor has named %d of them; what "
			 "other modules say is in the capture alone",
			 l->folder, LINES_FILES_MAX, LINES_SENSOR_MAX);
	l->told = true;
}

/* Finds the last line of a file, whole or begun. Returns its bytes, -EBADMSG where it is longer
 * than any of ours, or -errno. */
static ssize_t tail_read(int fd, off_t size, char tail[SAID_JSON_MAX], const char **begin)
{
	size_t len = size < SAID_JSON_MAX ? size : SAID_JSON_MAX;
	ssize_t n = pread(fd, tail, len, size - len);
	const char *newline;

	if (n != (ssize_t)len)
		return n < 0 ? -errno : -EIO;
	newline = len > 1 ? memrchr(tail, '\n', len - 1) : NULL;
	if (!newline && size > (off_t)len)
		return -EBADMSG;
	*begin = newline ? newline + 1 : tail;
	return tail + len - *begin;
}

/* Cuts off what a kill in the middle of a write left, and copies the last whole line. */
static int adopt(int fd, char *last)
{
	char tail[SAID_JSON_MAX];
	const char *line = tail;
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st))
		return -errno;
	for (;;) {
		len = tail_read(fd, st.st_size, tail, &line);
		if (len <= 0)
			return len; /* it is empty, or none */
		if (line[len - 1] == '\n')
			break;
		if (*line != '{')
			return -EBADMSG;
		st.st_size -= len;
		if (ftruncate(fd, st.st_size))
			return -errno;
	}
	if (last) {
		memcpy(last, line, len - 1);
		last[len - 1] = 0;
	}
	return 0;
}

static struct lines_file *file_find(struct lines *l, const char *module)
{
	for (unsigned int i = 0; i < l->count; i++)
		if (!strcmp(l->of[i].module, module))
			return &l->of[i];
	return NULL;
}

struct lines_file *lines_file(struct lines *l, const char *module, uint16_t *named)
{
	struct lines_file *f = file_find(l, module);

	if (f)
		return f;
	if (l->count == LINES_FILES_MAX || (named && *named >= LINES_SENSOR_MAX)) {
		tell_refused(l);
		return NULL;
	}
	if (named)
		++*named;
	f = &l->of[l->count++];
	*f = (struct lines_file){ .fd = -1 };
	strcpy(f->module, module);
	return f;
}

static int file_open(struct lines *l, struct lines_file *f)
{
	struct files_answer a;
	int fd, err = files_ask_module(l->files, f->module, &a, &fd);

	if (err)
		return err;
	err = adopt(fd, l->last ? l->last[f - l->of] : NULL);
	if (err)
		close(fd);
	else
		f->fd = fd;
	return err;
}

struct lines_file *lines_open(struct lines *l, const char *module, uint16_t *named, uint64_t now_ns)
{
	struct lines_file *f = lines_file(l, module, named);
	int err;

	if (!f || f->fd >= 0)
		return f;
	if (now_ns < f->no_open_until_ns)
		return NULL;
	err = file_open(l, f);
	if (!err)
		return f;
	f->no_open_until_ns = now_ns + LINES_RETRY_NS;
	f->refused = err == FILES_TOO_MANY;
	if (f->refused)
		tell_refused(l);
	else
		tell(l, f, err);
	return NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

void lines_add(struct lines *l, const char *module, uint16_t *named, uint32_t at, uint16_t len,
	       uint64_t now_ns)
{
	struct lines_file *f = l->folder ? lines_open(l, module, named, now_ns) : NULL;

	if (!l->folder)
		return;
	if (!f) {
		f = file_find(l, module);
		*(f && !f->refused ? &l->lost : &l->refused) += 1;
		return;
	}
	l->places[l->waiting++] = (struct lines_place){ at, len, f - l->of };
	f->waiting++;
}

/* Writes all of it, or nothing. Returns 0 or -errno. */
static int batch_write(int fd, const struct iovec *list, int count, size_t len)
{
	struct stat st;
	ssize_t n;
	int err;

	if (fstat(fd, &st))
		return -errno;
	do {
		n = writev(fd, list, count);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len)
		return 0;
	err = n < 0 ? -errno : -ENOSPC;
	if (n > 0 && ftruncate(fd, st.st_size))
		log_line("a file of lines cannot be cut back: %s", strerror(errno));
	return err;
}

static void batch(struct lines *l, struct lines_file *f, const struct iovec *list, int count,
		  size_t len)
{
	int err = batch_write(f->fd, list, count, len);

	if (err) {
		l->lost += count / 2;
		f->failed_ns = monotonic_ns();
		tell(l, f, err);
		return;
	}
	l->written += count / 2;
	/* On a full disk a small batch may fit where a large one did not. */
	if (f->told && monotonic_ns() > f->failed_ns + OUTPUT_RECOVERED_NS) {
		log_line("%s/%s.jsonl: writing again", l->folder, f->module);
		f->told = false;
	}
}

static void file_flush(struct lines *l, struct lines_file *f, const uint8_t *buffer)
{
	struct iovec list[2 * BATCH];
	size_t len = 0;
	int n = 0;

	for (unsigned int i = 0; f->waiting; i++) {
		const struct lines_place *p = &l->places[i];

		if (&l->of[p->file] != f)
			continue;
		list[n++] = (struct iovec){ (void *)(buffer + p->at), p->len };
		list[n++] = (struct iovec){ "\n", 1 };
		len += p->len + 1;
		if (--f->waiting && n < 2 * BATCH)
			continue;
		batch(l, f, list, n, len);
		n = len = 0;
	}
}

void lines_flush(struct lines *l, const uint8_t *buffer, bool written)
{
	for (unsigned int i = 0; l->waiting && i < l->count; i++) {
		if (written)
			file_flush(l, &l->of[i], buffer);
		l->of[i].waiting = 0;
	}
	if (!written)
		l->lost += l->waiting;
	l->waiting = 0;
}

void lines_close(struct lines *l)
{
	for (unsigned int i = 0; i < l->count; i++) {
		if (l->of[i].fd >= 0)
			close(l->of[i].fd);
		l->of[i].fd = -1;
		l->of[i].no_open_until_ns = 0;
	}
}
