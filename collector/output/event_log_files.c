// SPDX-License-Identifier: GPL-2.0
/*
 * Event log, files: finds and opens files by modules' names: see event_log.h. Always holds: `open`
 * has all open files. If it is full, the least recently used file without waiting lines is closed.
 * A file with waiting lines would be opened again at once.
 */
#include "event_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/files/files.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "sensor.h"

#define ROOM_FIRST 16

/* ---- names ----------------------------------------------------------------------------------- */

/* FNV-1a. A sensor with colliding names makes a search longer by at most EVENT_LOG_SENSOR_MAX. */
static uint32_t hash(const char *name)
{
	uint32_t h = 0x811c9dc5;

	while (*name)
		h = (h ^ (uint8_t)*name++) * 0x01000193;
	return h;
}

/* Returns the place of a module's number in the table. */
static uint32_t *index_find(const struct event_log *l, const char *module)
{
	uint32_t mask = 2 * l->room - 1, i = hash(module) & mask;

	while (l->index[i] && strcmp(l->of[l->index[i] - 1].module, module))
		i = (i + 1) & mask;
	return &l->index[i];
}

static int room_make(struct event_log *l)
{
	unsigned int room = l->room ? 2 * l->room : ROOM_FIRST;
	struct event_log_file *of;
	uint32_t *index;

	if (l->count < l->room)
		return 0;
	index = calloc(2 * room, sizeof(*index));
	of = index ? realloc(l->of, room * sizeof(*of)) : NULL;
	if (!of) {
		free(index);
		return -ENOMEM;
	}
	free(l->index);
	l->of = of;
	l->index = index;
	l->room = room;
	for (uint32_t i = 0; i < l->count; i++)
		*index_find(l, of[i].module) = i + 1;
	return 0;
}

uint32_t event_log_file(struct event_log *l, const char *module, struct event_log_names *names)
{
	uint32_t *place = l->room ? index_find(l, module) : NULL;
	struct event_log_file *f;

	if (place && *place)
		return *place - 1;
	if (names->count == EVENT_LOG_SENSOR_MAX || room_make(l))
		return EVENT_LOG_NONE;
	names->count++;
	f = &l->of[l->count];
	*f = (struct event_log_file){ .fd = -1, .first = EVENT_LOG_NONE };
	strcpy(f->module, module);
	*index_find(l, module) = l->count + 1;
	return l->count++;
}

/* ---- open ------------------------------------------------------------------------------------ */

/* Finds a file's last line, complete or not. Returns its bytes, -EBADMSG if it is too long, or
 * another -errno. */
static ssize_t tail_read(int fd, off_t size, char tail[EVENT_JSON_MAX], const char **begin)
{
	size_t len = size < EVENT_JSON_MAX ? size : EVENT_JSON_MAX;
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

/* Truncates an incomplete line of a killed collector, and copies the last complete line. */
static int adopt(int fd, char **last)
{
	char tail[EVENT_JSON_MAX];
	const char *line = tail;
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st))
		return -errno;
	for (;;) {
		len = tail_read(fd, st.st_size, tail, &line);
		if (len <= 0)
			return len; /* an empty file, or an error */
		if (line[len - 1] == '\n')
			break;
		if (*line != '{')
			return -EBADMSG;
		st.st_size -= len;
		if (ftruncate(fd, st.st_size))
			return -errno;
	}
	if (!last)
		return 0;
	free(*last);
	*last = strndup(line, len - 1);
	return *last ? 0 : -ENOMEM;
}

static int file_open(struct event_log *l, struct event_log_file *f)
{
	struct files_answer a;
	int fd, err = files_ask_module(l->files, f->module, &a, &fd);

	if (err)
		return err;
	err = adopt(fd, l->recovering ? &f->end : NULL);
	if (err)
		close(fd);
	else
		f->fd = fd;
	return err;
}

bool event_log_may_open(const struct event_log *l, const struct event_log_file *f,
			struct event_log_names *names)
{
	if (f->fd >= 0 || f->waiting || l->open_count < EVENT_LOG_OPEN_MAX)
		return true;
	return rate_limit_takes(&names->opens, EVENT_LOG_OPENS, monotonic_ns());
}

/* Whether to close `a` rather than `b`. */
static bool goes_first(const struct event_log_file *a, const struct event_log_file *b)
{
	return !a->waiting == !b->waiting ? a->used < b->used : !a->waiting;
}

/* Returns a place in `open`. */
static uint32_t *open_place(struct event_log *l)
{
	uint32_t *first = &l->open[0];

	if (l->open_count < EVENT_LOG_OPEN_MAX)
		return &l->open[l->open_count++];
	for (unsigned int i = 1; i < l->open_count; i++)
		if (goes_first(&l->of[l->open[i]], &l->of[*first]))
			first = &l->open[i];
	close(l->of[*first].fd);
	l->of[*first].fd = -1;
	return first;
}

int event_log_open(struct event_log *l, struct event_log_file *f, uint64_t now_ns)
{
	int err;

	f->used = ++l->uses;
	if (f->fd >= 0)
		return 0;
	if (now_ns < f->no_open_until_ns)
		return -EAGAIN;
	err = file_open(l, f);
	if (err)
		f->no_open_until_ns = now_ns + EVENT_LOG_RETRY_NS;
	else
		*open_place(l) = f - l->of;
	return err;
}
