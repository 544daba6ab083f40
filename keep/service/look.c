// SPDX-License-Identifier: GPL-2.0
/* Look: see look.h. */
#include "look.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "archive/index_read.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "common/stop.h"
#include "keep/folder/origin.h"
#include "keep/folder/permitted.h"

#define PACK_NS 60000000000ULL /* of packing before the next look */

/* ---- packing --------------------------------------------------------------------------------- */

static void add(struct look *l, const char *stem, const struct packed *p)
{
	l->files++;
	l->packed.frames += p->frames;
	l->packed.bytes += p->bytes;
	l->packed.compressed += p->compressed;
	l->packed.index += p->index;
	log_verbose("%s: %llu frames, %llu bytes, %llu compressed, index %llu", stem,
		    (unsigned long long)p->frames, (unsigned long long)p->bytes,
		    (unsigned long long)p->compressed, (unsigned long long)p->index);
}

static bool is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

/* The log names a damaged file once, until the file changes. */
static int packed(struct look *l, const struct stem *s, int err, const struct packed *p)
{
	if (!err)
		add(l, s->name, p);
	else if (err == -EINTR || err == -ENOMEM)
		return err;
	else if (is_full(err))
		l->full = true;
	else if (err != -EWOULDBLOCK && err != -ESTALE) {
		l->failed = true;
		known_note(&l->known, s);
	}
	return 0;
}

/* Whether the file is ours, and nobody writes to it. Programs of others may write more to their
 * files, and do not expect that they are deleted. A collector may write more to the last file of a
 * series, or to a file of no series; saluki-merge does not, and has a lock as long as it runs. */
static bool is_closed(struct look *l, const struct stem *s)
{
	char name[NAME_MAX + 1];
	struct origin o;
	int fd = form_open(l->folder, s->name, FORM_PCAPNG, name), err;

	if (fd == -ENOENT)
		return false;
	err = fd < 0 ? 0 : origin_read(&o, fd);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !s->is_followed && !l->finished)
		return !err && o.is_merged;
	if (fd >= 0 && !err && origin_is_ours(&o) && !o.is_ring)
		return true;
	l->failed |= fd < 0;
	log_line("%s: %s; it is left as it is", name,
		 fd < 0	     ? strerror(-fd)
		 : err	     ? "is not a pcapng file"
		 : o.is_ring ? "its collector deletes files itself (-W)"
			     : "was not written by saluki-collector or saluki-merge");
	known_note(&l->known, s);
	return false;
}

static const struct pack_options index_alone = { .compress = false, .columns = -1 };

static bool has_index(int folder, const struct stem *s)
{
	return pack_is_done(folder, s, &index_alone);
}

static int pack_as(const struct look *l, const struct stem *s, const struct pack_options *o,
		   struct packed *p)
{
	return s->has[FORM_PCAPNG] ? pack(l->folder, s->name, o, p)
				   : pack_index(l->folder, s->name, o, p);
}

/* Without room, a file is packed without tables, or gets an index alone, which is small: else it
 * could not be deleted either. The rest is made when there is room. After the first file
 * that has no room, others are not walked in vain. */
static int pack_form(struct look *l, const struct stem *s, struct packed *p)
{
	const struct pack_options without = { .compress = l->pack.compress, .columns = -1 };
	int err = l->full ? -ENOSPC : pack_as(l, s, &l->pack, p);

	if (is_full(err) && !l->full && l->pack.columns >= 0 &&
	    !pack_is_done(l->folder, s, &without))
		err = pack_as(l, s, &without, p);
	l->full |= is_full(err);
	if (is_full(err) && !has_index(l->folder, s))
		pack_as(l, s, &index_alone, p);
	return err;
}

static int pack_stem(struct look *l, const struct stem *s)
{
	struct packed p = { .frames = 0 };

	if (known_has(&l->known, s))
		return 0;
	if (pack_is_done(l->folder, s, &l->pack)) {
		known_note(&l->known, s);
		return 0;
	}
	if (s->has[FORM_PCAPNG] ? !is_closed(l, s) : !s->has[FORM_ZST])
		return 0;
	return packed(l, s, pack_form(l, s, &p), &p);
}

/* An index whose capture was deleted. */
static void remove_orphan(struct look *l, const struct stem *s)
{
	char name[NAME_MAX + 1];

	struct index_head head;
	int fd, err;

	if (s->has[FORM_PCAPNG] || s->has[FORM_ZST])
		return;
	fd = form_open(l->folder, s->name, FORM_INDEX, name);
	if (fd < 0)
		return;
	err = index_read_head(&head, fd);
	close(fd);
	if (!err || err == -EPROTO) /* an index, of any version */
		unlinkat(l->folder, name, 0);
}

/* Returns 1 if there is more to do, after files were looked for that must be deleted. */
static int pack_all(struct look *l, struct listing *files)
{
	uint64_t until_ns = monotonic_ns() + PACK_NS;
	int err = 0;

	l->full = false;
	for (unsigned int i = 0; !err && i < files->count; i++) {
		if (monotonic_ns() > until_ns)
			return 1;
		err = pack_stem(l, &files->list[i]);
		remove_orphan(l, &files->list[i]);
		if (!err)
			err = stop_wait(-1, 0, 0);
	}
	return err;
}

/* ---- deleting -------------------------------------------------------------------------------- */

static uint64_t min_free_bytes(const struct look *l)
{
	struct statvfs fs;

	if (!l->min_free || fstatvfs(l->folder, &fs))
		return 0;
	return space_of(l->min_free, (uint64_t)fs.f_blocks * fs.f_frsize);
}

/* On a disk that is kept full, days could never be joined. */
static uint64_t wanted(const struct look *l)
{
	struct stat captures, columns;
	bool same_disk = l->closed.compact.wanted && !fstat(l->folder, &captures) &&
			 !fstat(l->closed.compact.folder, &columns) &&
			 captures.st_dev == columns.st_dev;

	return same_disk ? l->closed.compact.wanted : 0;
}

static int delete_old(struct look *l, struct listing *files)
{
	struct retire_limits limits = { .before_ns = INT64_MIN,
					.max_bytes = l->max_bytes,
					.min_free = min_free_bytes(l),
					.wanted = wanted(l),
					.finished = l->finished,
					.is_packed = has_index };
	struct retired now;
	int err;

	if (l->age.now_ns && l->max_age_us)
		limits.before_ns = l->age.now_ns - (int64_t)(l->max_age_us * 1000);
	err = retire(l->folder, files, &limits, &now);
	for (unsigned int i = 0; now.files && i < files->count; i++)
		if (!files->list[i].bytes[FORM_PCAPNG] && !files->list[i].bytes[FORM_ZST])
			known_forget(&l->known, &files->list[i]);
	if (now.files)
		log_info("deleted %llu file%s, %llu MiB; the last one is %s",
			 (unsigned long long)now.files, PLURAL(now.files),
			 (unsigned long long)(now.bytes >> 20), now.last);
	l->retired.files += now.files;
	l->retired.bytes += now.bytes;
	return err;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static int read_listing(struct look *l, struct listing *files)
{
	int err = listing_read(files, l->folder, true);

	if (err)
		log_line("%s: %s", l->name, strerror(-err));
	return err;
}

int look_begin(struct look *l)
{
	struct listing files;
	int err = read_listing(l, &files), removed;

	if (err)
		return err;
	err = permitted(l->folder, &files, l->min_free);
	listing_free(&files);
	if (err)
		return err;
	removed = pack_clean(l->folder);
	if (removed > 0)
		log_info("removed %d unfinished file%s of a saluki-keep that was killed", removed,
			 PLURAL(removed));
	return 0;
}

static int make_room(struct look *l)
{
	struct listing files;
	int err = read_listing(l, &files);

	if (err)
		return err;
	err = delete_old(l, &files);
	listing_free(&files);
	return err;
}

/* Files that have an index now can be deleted. Returns 1 if some were: others have room then. */
static int when_full(struct look *l)
{
	uint64_t before = l->retired.files;
	int err = make_room(l);

	if (!l->was_full)
		log_line("%s: no space is left on the disk; files wait to be packed", l->name);
	l->was_full = true;
	return err ?: l->retired.files > before ? 1 : -ENOSPC;
}

static int join_days(struct look *l)
{
	int err;

	do {
		err = closed_look(&l->closed, l->age.now_ns, min_free_bytes(l));
		if (err == -ENOSPC)
			err = make_room(l)
				      ?: closed_look(&l->closed, l->age.now_ns, min_free_bytes(l));
	} while (err > 0 && l->once);
	return err == -ENOSPC ? 0 : err;
}

/* Files are deleted before others are packed, which needs space. Days are joined last: a capture
 * file that was interrupted has its columns again by then. */
int look(struct look *l)
{
	struct listing files;
	int err = read_listing(l, &files);

	if (err)
		return err;
	age_look(&l->age);
	err = permitted(l->folder, &files, l->min_free)
		      ?: delete_old(l, &files) ?: pack_all(l, &files);
	listing_free(&files);
	if (err)
		return err;
	if (l->full)
		return when_full(l);
	l->was_full = false;
	err = join_days(l);
	l->failed |= err < 0 && err != -EINTR; /* capture files can be packed all the same */
	return err == -EINTR ? err : 0;
}

void look_end(struct look *l)
{
	known_free(&l->known);
	closed_end(&l->closed);
}
