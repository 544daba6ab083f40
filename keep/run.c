// SPDX-License-Identifier: GPL-2.0
/* Run: see run.h. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ioprio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/notify.h"
#include "common/stop.h"
#include "process/lock.h"
#include "process/sandbox.h"
#include "service/look.h"

#define NICE 19
#define LOOK_LEAST_MS 5000
#define LOOK_SHARE 100 /* a look without news takes at most this part of the time */
#define REST_SHARE 4   /* with news, it takes a fifth */
#define REST_MOST_MS 2000

struct run {
	const struct keep_options *o;
	int lock, changes; /* descriptors */
	struct look look;
	struct notify notify;
};

/* ---- start ----------------------------------------------------------------------------------- */

static int open_folder(struct run *r)
{
	r->look.folder = open(r->o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->look.folder < 0) {
		log_line("%s: %s", r->o->folder, strerror(errno));
		return -errno;
	}
	r->lock = lock_captures(r->look.folder, r->o->folder);
	return r->lock < 0 ? r->lock : 0;
}

static int open_columns(struct run *r)
{
	const char *name = r->o->columns;
	int err;

	if (!name)
		return 0;
	r->look.pack.columns = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->look.pack.columns < 0) {
		log_line("--columns %s: %s", name, strerror(errno));
		return -errno;
	}
	err = lock_columns(r->look.pack.columns, name, r->o->folder, &r->look.pack.tables);
	return err < 0 ? err : 0;
}

/* The collector and everybody else come first. */
static void give_way(void)
{
	setpriority(PRIO_PROCESS, 0, NICE);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static int watch(struct run *r)
{
	r->changes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (r->changes < 0 ||
	    inotify_add_watch(r->changes, r->o->folder, IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
		log_line("%s: cannot be watched: %s", r->o->folder, strerror(errno));
		return -errno;
	}
	return 0;
}

/* ---- looks ----------------------------------------------------------------------------------- */

/* Whether a capture file was closed, or moved here. */
static bool has_news(struct run *r)
{
	union {
		struct inotify_event e;
		char bytes[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
	} buffer;
	bool news = false;
	ssize_t n;

	while ((n = read(r->changes, buffer.bytes, sizeof(buffer.bytes))) > 0) {
		for (char *p = buffer.bytes; p < buffer.bytes + n;) {
			struct inotify_event *e = (struct inotify_event *)p;
			size_t len;

			news |= e->mask & IN_Q_OVERFLOW ||
				(e->len && form_of(e->name, &len) == FORM_PCAPNG);
			p += sizeof(*e) + e->len;
		}
	}
	return news;
}

/* In a folder of many files, a look takes long also if there is little news. */
static int rest(uint64_t took_ns)
{
	uint64_t ms = took_ns * REST_SHARE / 1000000;

	return stop_wait(-1, 0, ms < REST_MOST_MS ? ms : REST_MOST_MS);
}

static int wait_for_news(struct run *r, uint64_t took_ns)
{
	uint64_t until_ms = took_ns * LOOK_SHARE / 1000000, now_ns = monotonic_ns();
	int err = rest(took_ns) ?: 1;

	if (until_ms < LOOK_LEAST_MS)
		until_ms = LOOK_LEAST_MS;
	while (err > 0 && !has_news(r)) {
		uint64_t gone_ms = (monotonic_ns() - now_ns) / 1000000;

		if (gone_ms >= until_ms)
			return 0;
		err = stop_wait(r->changes, POLLIN, until_ms - gone_ms);
	}
	return err < 0 ? err : 0;
}

static void tell(struct run *r)
{
	char status[128];

	snprintf(status, sizeof(status), "%llu files packed, %llu deleted",
		 (unsigned long long)r->look.files, (unsigned long long)r->look.retired.files);
	notify_alive(&r->notify, status);
}

/* A full disk may have space later. */
static int serve(struct run *r)
{
	int err = 0;

	tell(r); /* the first look may take long */
	while (err >= 0) {
		uint64_t began_ns = monotonic_ns();

		err = look(&r->look);
		if (err > 0)
			continue;
		if (err == -ENOSPC || err == -ENOMEM)
			err = 0;
		if (!err)
			tell(r);
		err = err ?: wait_for_news(r, monotonic_ns() - began_ns);
	}
	notify_stopping(&r->notify);
	return err == -EINTR ? 0 : err;
}

static void say_end(const struct run *r)
{
	log_info(
		"packed %llu file%s: %llu MiB, now %llu MiB, and %llu KiB of indexes; deleted %llu",
		(unsigned long long)r->look.files, PLURAL(r->look.files),
		(unsigned long long)(r->look.packed.bytes >> 20),
		(unsigned long long)(r->look.packed.compressed >> 20),
		(unsigned long long)(r->look.packed.index >> 10),
		(unsigned long long)r->look.retired.files);
}

static int look_once(struct look *l)
{
	int err;

	do
		err = look(l);
	while (err > 0);
	return err;
}

int run(const struct keep_options *o)
{
	struct run r = {
		.o = o,
		.lock = -1,
		.changes = -1,
		.look = { .folder = -1,
			  .name = o->folder,
			  .finished = o->finished,
			  .pack = { .compress = o->compress, .columns = -1 },
			  .max_age_us = o->max_age_us,
			  .max_bytes = o->max_bytes,
			  .min_free = o->has_min_free ? &o->min_free : NULL,
			  .once = o->once },
		.notify = NOTIFY_NONE,
	};
	int err = open_folder(&r) ?: open_columns(&r), status;

	age_begin(&r.look.age, r.lock, o->once);
	closed_begin(&r.look.closed, r.look.pack.columns, o->columns_age_us);
	stop_catch();
	err = err ?: o->once ? 0 : watch(&r);
	if (!err && !o->once)
		notify_open(&r.notify);
	if (!err)
		give_way();
	err = err ?: sandbox_keep(o->folder, o->columns) ?: look_begin(&r.look);
	status = err == -EPERM ? EXIT_USAGE : 1;
	if (!err) {
		err = o->once ? look_once(&r.look) : serve(&r);
		say_end(&r);
		status = err == -EPERM ? EXIT_USAGE : err || (o->once && r.look.failed);
	}
	notify_close(&r.notify);
	look_end(&r.look);
	return status;
}
