// SPDX-License-Identifier: GPL-2.0
/* Event log: see event_log.h. */
#include "event_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collector/files/files.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "sensor.h"

#define BATCH 256	   /* lines in one write */
#define NOT_FREE (-EXFULL) /* less than --keep-free would be left: no write returns this */

void event_log_init(struct event_log *l, const struct collector_options *o, int files)
{
	memset(l, 0, sizeof(*l));
	l->folder = o->events;
	l->keep_free = &o->keep_free;
	l->files = files;
	l->first_waiting = EVENT_LOG_NONE;
}

static void log_failed(const struct event_log *l, struct event_log_file *f, int err)
{
	if (!f->logged)
		log_line("%s/%s.jsonl: %s; its lines are in the capture alone until it can be "
			 "written",
			 l->folder, f->module,
			 err == -EBADMSG	 ? "is no file of lines"
			 : err == NOT_FREE	 ? "No space left on device above --keep-free"
			 : err == FILES_TOO_MANY ? "there are too many files"
						 : strerror(-err));
	f->logged = true;
}

static void log_refused(const struct event_log *l, struct event_log_names *names,
			const char *sensor)
{
	if (sensor && !names->logged)
		log_line("--events %s: sensor %s has named %d new modules; what others that it "
			 "names say is in the capture alone",
			 l->folder, sensor, EVENT_LOG_SENSOR_MAX);
	names->logged = true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

void event_log_add(struct event_log *l, const char *module, struct event_log_names *names,
		   const char *sensor, uint32_t at, uint16_t len)
{
	uint32_t number = l->folder ? event_log_file(l, module, names) : EVENT_LOG_NONE;
	struct event_log_file *f;

	if (!l->folder)
		return;
	if (number == EVENT_LOG_NONE) {
		log_refused(l, names, sensor);
		l->refused++;
		return;
	}
	f = &l->of[number];
	if (!event_log_may_open(l, f, names)) {
		l->refused++;
		return;
	}
	l->waiting_bytes += len + 1 + (f->waiting ? 0 : EVENT_LOG_BLOCK);
	if (f->waiting++ == 0) {
		f->first = l->waiting;
		f->next_waiting = l->first_waiting;
		l->first_waiting = number;
	} else {
		l->places[f->last].next = l->waiting;
	}
	f->last = l->waiting;
	l->places[l->waiting++] = (struct event_log_place){ at, len, EVENT_LOG_NONE };
}

/* Writes all, or nothing. Returns 0 or -errno. */
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

static bool has_room(const struct event_log *l, const struct event_log_file *f, size_t len)
{
	struct free_space d;

	return !free_space_ask(&d, f->fd, l->keep_free) || free_space_fits(&d, len, f->logged);
}

static void batch(struct event_log *l, struct event_log_file *f, const struct iovec *list,
		  int count, size_t len)
{
	int err = has_room(l, f, len) ? batch_write(f->fd, list, count, len) : NOT_FREE;

	if (err) {
		l->lost += count / 2;
		f->failed_ns = monotonic_ns();
		log_failed(l, f, err);
		return;
	}
	l->written += count / 2;
	/* On a full disk a small batch may fit where a large one did not. */
	if (f->logged && monotonic_ns() > f->failed_ns + FREE_SPACE_RECOVERED_NS) {
		log_line("%s/%s.jsonl: writing again", l->folder, f->module);
		f->logged = false;
	}
}

/* Writes all waiting lines of a file. */
static void file_flush(struct event_log *l, struct event_log_file *f, const uint8_t *buffer)
{
	struct iovec list[2 * BATCH];
	size_t len = 0;
	int n = 0, err = event_log_open(l, f, monotonic_ns());

	if (err) {
		*(err == FILES_TOO_MANY ? &l->refused : &l->lost) += f->waiting;
		if (err != -EAGAIN)
			log_failed(l, f, err);
		return;
	}
	for (uint32_t i = f->first; i != EVENT_LOG_NONE; i = l->places[i].next) {
		const struct event_log_place *p = &l->places[i];

		list[n++] = (struct iovec){ (void *)(buffer + p->at), p->len };
		list[n++] = (struct iovec){ "\n", 1 };
		len += p->len + 1;
		if (p->next != EVENT_LOG_NONE && n < 2 * BATCH)
			continue;
		batch(l, f, list, n, len);
		n = len = 0;
	}
}

void event_log_flush(struct event_log *l, const uint8_t *buffer, bool written)
{
	while (l->first_waiting != EVENT_LOG_NONE) {
		struct event_log_file *f = &l->of[l->first_waiting];

		if (written)
			file_flush(l, f, buffer);
		f->waiting = 0;
		l->first_waiting = f->next_waiting;
	}
	if (!written)
		l->lost += l->waiting;
	l->waiting = 0;
	l->waiting_bytes = 0;
}

void event_log_close(struct event_log *l)
{
	while (l->open_count) {
		struct event_log_file *f = &l->of[l->open[--l->open_count]];

		close(f->fd);
		f->fd = -1;
	}
	for (unsigned int i = 0; i < l->count; i++)
		l->of[i].no_open_until_ns = 0;
}

void event_log_free(struct event_log *l)
{
	event_log_close(l);
	for (unsigned int i = 0; i < l->count; i++)
		free(l->of[i].end);
	free(l->of);
	free(l->index);
	l->of = NULL;
	l->index = NULL;
	l->count = l->room = 0;
}
