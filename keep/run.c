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
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/notify.h"
#include "common/stop.h"
#include "folder/listing.h"
#include "folder/origin.h"
#include "folder/permitted.h"
#include "folder/retire.h"
#include "left.h"
#include "pack/pack.h"
#include "sandbox.h"

#define LOCK_NAME ".saluki-keep"
#define NICE 19
#define SECOND_NS 1000000000LL
#define LOOK_LEAST_MS 5000
#define LOOK_SHARE 100 /* a look takes at most this part of the time */
#define JUMP_NS (3600 * SECOND_NS)
#define AFTER_JUMP_NS (3600 * SECOND_NS)

struct run {
	const struct keep_options *o;
	int folder, lock, changes; /* descriptors */
	struct left left;	   /* files that are left as they are */
	int64_t ahead_ns;	   /* CLOCK_REALTIME before CLOCK_BOOTTIME, at the last look */
	int64_t jumped_ns;	   /* CLOCK_BOOTTIME of the last jump of the clock */
	bool has_jumped;
	bool failed; /* a file could not be packed */
	struct packed all;
	uint64_t files; /* packed */
	struct retired retired;
	struct notify notify;
};

/* ---- start ----------------------------------------------------------------------------------- */

/* One program a folder. */
static int take_lock(struct run *r)
{
	r->lock = openat(r->folder, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (r->lock < 0 || flock(r->lock, LOCK_EX | LOCK_NB)) {
		log_line("%s: %s", r->o->folder,
			 errno == EWOULDBLOCK ? "another saluki-keep works here" : strerror(errno));
		return -EBUSY;
	}
	return 0;
}

static int open_folder(struct run *r)
{
	r->folder = open(r->o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->folder < 0) {
		log_line("%s: %s", r->o->folder, strerror(errno));
		return -errno;
	}
	return take_lock(r);
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

/* ---- packing --------------------------------------------------------------------------------- */

static void add(struct run *r, const char *stem, const struct packed *p)
{
	r->files++;
	r->all.frames += p->frames;
	r->all.bytes += p->bytes;
	r->all.compressed += p->compressed;
	r->all.index += p->index;
	log_verbose("%s: %llu frames, %llu bytes, %llu compressed, index %llu", stem,
		    (unsigned long long)p->frames, (unsigned long long)p->bytes,
		    (unsigned long long)p->compressed, (unsigned long long)p->index);
}

/* A file that does not walk is said once, until it changes. */
static int packed(struct run *r, const struct stem *s, int err, const struct packed *p)
{
	if (!err)
		add(r, s->name, p);
	else if (err == -EINTR || err == -ENOSPC || err == -ENOMEM)
		return err;
	else if (err != -EWOULDBLOCK && err != -ESTALE)
		r->failed |= left_note(&r->left, s);
	return 0;
}

/* Programs of others may write more to their files, and do not expect that they are deleted. */
static bool is_ours(struct run *r, const struct stem *s)
{
	char name[NAME_MAX + 1];
	struct origin o;
	int fd, err;

	if (form_name(s->name, FORM_PCAPNG, "", name, sizeof(name)))
		return false;
	fd = openat(r->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	err = origin_read(&o, fd);
	close(fd);
	if (!err && (o.is_collected || o.is_merged) && !o.is_ring)
		return true;
	log_line("%s: %s; it is left as it is", name,
		 err	     ? "is not a pcapng file"
		 : o.is_ring ? "its collector deletes files itself (-W)"
			     : "was not written by saluki-collector or saluki-merge");
	left_note(&r->left, s);
	return false;
}

static int pack_stem(struct run *r, const struct stem *s)
{
	struct packed p = { .frames = 0 };

	if (left_has(&r->left, s))
		return 0;
	if (s->has[FORM_PCAPNG]) {
		bool done = !r->o->compress && s->has[FORM_INDEX];

		if (done || !s->is_followed || !is_ours(r, s))
			return 0;
		return packed(r, s, pack(r->folder, s->name, r->o, &p), &p);
	}
	if (s->has[FORM_ZST] && !pack_index_fits(r->folder, s))
		return packed(r, s, pack_index(r->folder, s->name, &p), &p);
	return 0;
}

/* An index whose capture was deleted. */
static void remove_orphan(struct run *r, const struct stem *s)
{
	char name[NAME_MAX + 1];

	if (!s->has[FORM_PCAPNG] && !s->has[FORM_ZST] &&
	    !form_name(s->name, FORM_INDEX, "", name, sizeof(name)))
		unlinkat(r->folder, name, 0);
}

static int pack_all(struct run *r, struct listing *l)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < l->count; i++) {
		err = pack_stem(r, &l->list[i]);
		remove_orphan(r, &l->list[i]);
		if (!err && stop_count())
			err = -EINTR;
	}
	return err;
}

/* ---- deleting -------------------------------------------------------------------------------- */

/* A clock that was set wrong would make all files old. */
static bool age_is_known(struct run *r)
{
	int64_t boot_ns = (int64_t)clock_ns(CLOCK_BOOTTIME);
	int64_t ahead_ns = (int64_t)clock_ns(CLOCK_REALTIME) - boot_ns;
	int64_t by_ns = ahead_ns - r->ahead_ns;

	if (r->ahead_ns && (by_ns > JUMP_NS || by_ns < -JUMP_NS)) {
		log_line("the clock was set %s by %lld s; no file is deleted for its age in the "
			 "next hour",
			 by_ns > 0 ? "forward" : "back",
			 (long long)((by_ns > 0 ? by_ns : -by_ns) / SECOND_NS));
		r->has_jumped = true;
		r->jumped_ns = boot_ns;
	}
	r->ahead_ns = ahead_ns;
	return !r->has_jumped || boot_ns - r->jumped_ns >= AFTER_JUMP_NS;
}

static uint64_t min_free_bytes(const struct run *r)
{
	struct statvfs fs;

	if (!r->o->has_min_free || fstatvfs(r->folder, &fs))
		return 0;
	return space_of(&r->o->min_free, (uint64_t)fs.f_blocks * fs.f_frsize);
}

static int delete_old(struct run *r, struct listing *l)
{
	struct retire_limits limits = { .before_ns = INT64_MIN,
					.max_bytes = r->o->max_bytes,
					.min_free = min_free_bytes(r) };
	struct retired now;
	int err;

	if (age_is_known(r) && r->o->max_age_us)
		limits.before_ns = clock_ns(CLOCK_REALTIME) - (int64_t)(r->o->max_age_us * 1000);
	err = retire(r->folder, l, &limits, &now);
	if (now.files)
		log_info("deleted %llu file%s, %llu MiB; the last one is %s",
			 (unsigned long long)now.files, PLURAL(now.files),
			 (unsigned long long)(now.bytes >> 20), now.last);
	r->retired.files += now.files;
	r->retired.bytes += now.bytes;
	return err;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static int read_listing(struct run *r, struct listing *l)
{
	int err = listing_read(l, r->folder);

	if (err)
		log_line("%s: %s", r->o->folder, strerror(-err));
	return err;
}

/* Files are deleted before others are packed, which needs space. */
static int look(struct run *r)
{
	struct listing l;
	int err = read_listing(r, &l);

	if (err)
		return err;
	err = delete_old(r, &l) ?: pack_all(r, &l);
	listing_free(&l);
	return err;
}

static int begin(struct run *r)
{
	struct listing l;
	int err = read_listing(r, &l), removed;

	if (err)
		return err;
	err = permitted(r->folder, &l, r->o->has_min_free ? &r->o->min_free : NULL);
	listing_free(&l);
	if (err)
		return err;
	removed = pack_clean(r->folder);
	if (removed > 0)
		log_info("removed %d unfinished file%s of a saluki-keep that was killed", removed,
			 PLURAL(removed));
	return 0;
}

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

static int wait_for_news(struct run *r, uint64_t took_ns)
{
	uint64_t until_ms = took_ns * LOOK_SHARE / 1000000, now_ns = monotonic_ns();
	int err = 1;

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
		 (unsigned long long)r->files, (unsigned long long)r->retired.files);
	notify_alive(&r->notify, status);
}

/* A full disk may have space later. */
static int serve(struct run *r)
{
	int err = 0;

	while (!err) {
		uint64_t began_ns = monotonic_ns();

		err = look(r);
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
		(unsigned long long)r->files, PLURAL(r->files),
		(unsigned long long)(r->all.bytes >> 20),
		(unsigned long long)(r->all.compressed >> 20),
		(unsigned long long)(r->all.index >> 10), (unsigned long long)r->retired.files);
}

int run(const struct keep_options *o)
{
	struct run r = { .o = o, .folder = -1, .lock = -1, .changes = -1, .notify = NOTIFY_NONE };
	int err = open_folder(&r), status;

	stop_catch();
	err = err ?: o->once ? 0 : watch(&r);
	if (!err && !o->once)
		notify_open(&r.notify);
	if (!err)
		give_way();
	err = err ?: sandbox_keep(o->folder) ?: begin(&r);
	status = err == -EPERM ? EXIT_USAGE : 1;
	if (!err) {
		err = o->once ? look(&r) : serve(&r);
		say_end(&r);
		status = err || (o->once && r.failed);
	}
	notify_close(&r.notify);
	left_free(&r.left);
	return status;
}
