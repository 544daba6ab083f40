// SPDX-License-Identifier: GPL-2.0
/* Pack: see pack.h. */
#include "pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/unpack.h"
#include "common/log.h"
#include "compress.h"
#include "keep/folder/same.h"
#include "keep/place/place.h"
#include "walk.h"
#include "wire/bytes.h"

/* One file's packing. */
struct packing {
	int folder, fd;
	const char *stem;
	char name[NAME_MAX + 1];
	struct stat st; /* before */
	struct walk walk;
	struct blocks blocks;
	struct place index, zst;
	struct compress *compress; /* NULL: does not compress */
	struct unpack *unpack;	   /* NULL: not compressed */
	struct index_head head;
};

/* ---- the input ------------------------------------------------------------------------------- */

/* A collector that writes to the file holds an exclusive lock. A collector that starts takes a
 * shared one for one of these. */
static int lock(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) ? -errno : 0;
}

static int open_input(struct packing *k, enum form form)
{
	k->fd = form_open(k->folder, k->stem, form, k->name);
	if (k->fd < 0)
		return k->fd;
	if (fstat(k->fd, &k->st))
		return -errno;
	return S_ISREG(k->st.st_mode) ? lock(k->fd) : -EINVAL;
}

/* Reads bytes of the capture file, which pass into its compressed form. */
static ssize_t read_capture(void *packing, uint8_t *to, size_t len, uint64_t at)
{
	struct packing *k = packing;
	ssize_t n = pread(k->fd, to, len, at);
	int err = 0;

	if (n < 0)
		return -errno;
	if (k->compress)
		err = compress_add(k->compress, to, n);
	return err ?: n;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* A unified trace's packets have receptions. */
static int walk(struct packing *k, const struct pack_options *o)
{
	int err = walk_init(&k->walk);

	columns_begin(&k->walk.columns, o->columns, k->stem, &k->st);
	err = err ?: walk_blocks(&k->walk, &k->blocks) ?: columns_finish(&k->walk.columns, &k->st);

	k->head.is_merged = k->walk.is_merged;
	k->head.tables = o->columns < 0 ? 0 : o->tables;
	k->head.pcapng_bytes = k->blocks.at;
	return err;
}

static int open_place(struct packing *k, struct place *p, enum form form)
{
	char name[NAME_MAX + 1];

	return form_name(k->stem, form, "", name, sizeof(name)) ?: place_open(p, k->folder, name);
}

static int write_index(struct packing *k, struct packed *p)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	int err = index_finish(k->walk.index, &k->head, &bytes, &len) ?:
			  open_place(k, &k->index, FORM_INDEX) ?:
			  place_write(&k->index, bytes, len) ?: place_sync(&k->index, &k->st);

	free(bytes);
	p->index = len;
	p->frames = index_frames(k->walk.index);
	p->bytes = k->head.pcapng_bytes;
	p->compressed = k->head.file_bytes;
	return err;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A file of another program, which takes no lock, may grow. */
static int check_unchanged(const struct packing *k)
{
	struct stat now, named;

	if (fstat(k->fd, &now) || fstatat(k->folder, k->name, &named, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return is_same(&k->st, &now) && is_same(&k->st, &named) ? 0 : -ESTALE;
}

static void packing_init(struct packing *k, int folder, const char *stem)
{
	*k = (struct packing){ .folder = folder, .fd = -1, .stem = stem };
	k->index.fd = k->zst.fd = -1;
	columns_begin(&k->walk.columns, -1, stem, &k->st);
}

/* Errors that the caller handles, or that were named. */
static bool is_quiet(int err)
{
	return err == -EINTR || err == -ESTALE || err == -EWOULDBLOCK || err == -ENOTUNIQ ||
	       err == -ENOSPC || err == -EDQUOT;
}

static void say_bad_events(const struct packing *k)
{
	uint64_t n = k->walk.columns.bad_events;

	if (n)
		log_line("%s: %llu module event%s malformed; %s not in the table", k->name,
			 (unsigned long long)n, n == 1 ? " is" : "s are",
			 n == 1 ? "it is" : "they are");
}

/* Removes what was not put in place. Says what went wrong. */
static int packing_end(struct packing *k, int err)
{
	bool malformed = err == -EBADMSG || err == -ENODATA;

	if (malformed && k->blocks.at)
		log_line("%s: %s at byte %llu; it is left as it is", k->name, blocks_error(err),
			 (unsigned long long)k->blocks.at);
	else if (malformed)
		log_line("%s: is not a pcapng file; it is left as it is", k->name);
	else if (err == -EMEDIUMTYPE)
		log_line(
			"%s: was not written by saluki-collector or saluki-merge; it is left as it "
			"is",
			k->name);
	else if (err == -EEXIST)
		log_line("%s: there is a compressed file of this name, of another capture; rename "
			 "one of them",
			 k->name);
	else if (err && !is_quiet(err))
		log_line("%s: %s", k->name, strerror(-err));
	else if (!err)
		say_bad_events(k);
	place_drop(&k->index);
	place_drop(&k->zst);
	compress_free(k->compress);
	unpack_free(k->unpack);
	blocks_close(&k->blocks);
	columns_end(&k->walk.columns);
	walk_free(&k->walk);
	if (k->fd >= 0)
		close(k->fd);
	return err;
}

/* ---- packing --------------------------------------------------------------------------------- */

static int begin_compression(struct packing *k)
{
	int err = open_place(k, &k->zst, FORM_ZST);

	if (err)
		return err;
	k->compress = compress_new(k->zst.fd, k->st.st_size);
	return k->compress ? 0 : -ENOMEM;
}

static int end_compression(struct packing *k)
{
	return compress_end(k->compress, &k->head.file_bytes, &k->head.end)
		       ?: place_sync(&k->zst, &k->st);
}

static int sync_folder(int folder)
{
	return fsync(folder) ? -errno : 0;
}

/* The index says that the tables are there, so they come first. A compressed file without an index
 * would be walked again. */
static int put_in_place(struct packing *k)
{
	int err = check_unchanged(k) ?: columns_put(&k->walk.columns) ?: place_put(&k->index);

	if (err || !k->compress)
		return err ?: sync_folder(k->folder);
	err = place_put(&k->zst) ?: sync_folder(k->folder) ?: check_unchanged(k);
	if (!err && unlinkat(k->folder, k->name, 0))
		err = -errno;
	return err;
}

int pack(int folder, const char *stem, const struct pack_options *o, struct packed *p)
{
	struct packing k;
	int err;

	packing_init(&k, folder, stem);
	err = pack_check(folder, stem, o) ?: open_input(&k, FORM_PCAPNG)
		      ?: same_capture(folder, stem, k.st.st_size);
	if (!err && o->compress)
		err = begin_compression(&k);
	err = err ?: blocks_open_from(&k.blocks, read_capture, &k, k.st.st_size) ?: walk(&k, o);
	if (!err && o->compress)
		err = end_compression(&k);
	err = err ?: write_index(&k, p) ?: put_in_place(&k);
	return packing_end(&k, err);
}

/* ---- an index alone -------------------------------------------------------------------------- */

static int read_end(struct packing *k)
{
	uint8_t end[4];

	k->head.file_bytes = k->st.st_size;
	if (pread(k->fd, end, sizeof(end), k->st.st_size - sizeof(end)) != sizeof(end))
		return -EBADMSG;
	k->head.end = load_le32(end);
	return 0;
}

int pack_index(int folder, const char *stem, const struct pack_options *o, struct packed *p)
{
	struct packing k;
	int err;

	packing_init(&k, folder, stem);
	err = pack_check(folder, stem, o) ?: open_input(&k, FORM_ZST) ?: read_end(&k);
	if (!err) {
		k.unpack = unpack_new(k.fd);
		err = k.unpack ? 0 : -ENOMEM;
	}
	err = err ?: blocks_open_from(&k.blocks, unpack_read, k.unpack, BLOCKS_UNTIL_END) ?:
		    walk(&k, o) ?: k.walk.is_ours ? 0 : -EMEDIUMTYPE;
	err = err ?: write_index(&k, p) ?:
		    columns_put(&k.walk.columns) ?: place_put(&k.index) ?: sync_folder(folder);
	return packing_end(&k, err);
}
