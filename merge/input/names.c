// SPDX-License-Identifier: GPL-2.0
/* Names: see names.h. */
#include "names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/directory.h"
#include "common/log.h"
#include "pcapng/block.h"
#include "pcapng/section.h"

#define SHB_APPLICATION 4
#define ENDING ".pcapng"
#define COMPRESSED ".pcapng.zst" /* saluki-keep has compressed it */
#define BEGIN 1024		 /* bytes that tell what a file is */
#define OTHERS 16 /* open files that are no input: standard ones, the trace, those of libraries */

static const char merged[] = "is a trace of saluki-merge; give the files of saluki-collector";

static bool has(const struct names *n, const struct stat *st)
{
	for (int i = 0; i < n->count; i++)
		if (n->list[i].inode == st->st_ino && n->list[i].device == st->st_dev)
			return true;
	return false;
}

bool names_has(const struct names *n, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && has(n, &st);
}

static int append(struct names *n, const char *path, const struct stat *st, bool in_folder)
{
	if (n->count == n->room) {
		int room = 2 * n->room + 64;
		struct input_file *more = realloc(n->list, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		n->list = more;
		n->room = room;
	}
	n->list[n->count] = (struct input_file){ .name = strdup(path),
						 .fd = -1,
						 .device = st->st_dev,
						 .inode = st->st_ino,
						 .in_folder = in_folder };
	return n->list[n->count++].name ? 0 : -ENOMEM;
}

/* ---- collecting ------------------------------------------------------------------------------ */

static int add_file(struct names *n, const char *path, const struct stat *st, bool in_folder)
{
	const char *wrong = NULL;

	if (!S_ISREG(st->st_mode))
		wrong = "is not a file; to read a pipe, use -r -";
	else if (has(n, st))
		wrong = "is given twice";
	else
		return append(n, path, st, in_folder);
	if (in_folder) {
		log_info("%s: is left out: it %s", path, wrong);
		return 0;
	}
	log_line("%s: %s", path, wrong);
	return -EINVAL;
}

static int is_capture(const struct dirent *d)
{
	return directory_ending(d->d_name, ENDING) || directory_ending(d->d_name, COMPRESSED);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct names *n, const char *folder)
{
	struct dirent **list;
	int count = scandir(folder, &list, is_capture, by_name), err = count < 0 ? -errno : 0;
	struct stat st;

	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (asprintf(&path, "%s/%s", folder, list[i]->d_name) < 0)
			err = -ENOMEM;
		else if (!err && !stat(path, &st))
			err = add_file(n, path, &st, true);
		else if (!err && errno != ENOENT) /* the collector deletes its oldest files (-W) */
			err = -errno;
		free(path);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
	if (err)
		log_line("%s: %s", folder, strerror(-err));
	else if (!count)
		log_line("%s: has no file that ends in " ENDING, folder);
	return err ?: count ? 0 : -ENOENT;
}

int names_add(struct names *n, const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		int err = -errno;

		log_line("%s: %s", path, strerror(-err));
		return err;
	}
	return S_ISDIR(st.st_mode) ? add_folder(n, path) : add_file(n, path, &st, false);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int too_many(int count)
{
	struct rlimit limit = { .rlim_cur = 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	log_line("%d files are to be read at once, but this process may open only %llu; raise the "
		 "limit to %d with 'ulimit -n', or with LimitNOFILE= in a systemd unit",
		 count, (unsigned long long)limit.rlim_cur, count + OTHERS);
	return -EMFILE;
}

/* All files are open at once. */
static int raise_limit(int count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_max < (rlim_t)count + OTHERS ? too_many(count) : 0;
}

static bool is_merged(struct pcapng_block b)
{
	struct pcapng_option o;
	bool own = false;

	while (pcapng_option(&b, &o))
		own |= o.code == SHB_APPLICATION && o.len > strlen(SECTION_MERGE) &&
		       !memcmp(o.value, SECTION_MERGE, strlen(SECTION_MERGE));
	return own;
}

/* Returns what is wrong with an open file, or NULL. An incomplete one may just have been begun. */
static const char *wrong_with(int fd)
{
	static const uint32_t section = BLOCK_SECTION; /* the same in both byte orders */
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	uint8_t begin[BEGIN];
	ssize_t n = pread(fd, begin, sizeof(begin), 0);
	bool swapped = false;
	struct pcapng_block b;
	int64_t len;

	if (n < 0)
		return strerror(errno);
	if (n >= 4 && !memcmp(begin, zstd, sizeof(zstd)))
		return "is compressed; unpack it with 'zstd -d'";
	len = pcapng_block(&b, begin, n, &swapped);
	if (len < 0 || memcmp(begin, &section, n < 4 ? n : 4))
		return "is not a pcapng file";
	return len > 0 && is_merged(b) ? merged : NULL;
}

static void file_close(struct input_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* A file that is left out is not open. Returns 0, or -errno after a line. */
static int open_file(struct names *n, struct input_file *f, uint64_t *bad)
{
	const char *wrong;

	f->fd = open(f->name, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0 && errno == EMFILE)
		return too_many(n->count);
	if (f->fd < 0 && errno == ENOENT && f->in_folder)
		return 0;
	wrong = f->fd < 0 ? strerror(errno) : wrong_with(f->fd);
	if (!wrong)
		return 0;
	if (!f->in_folder) {
		log_line("%s: %s", f->name, wrong);
		return -EINVAL;
	}
	file_close(f);
	if (wrong == merged) {
		log_info("%s: is left out: it %s", f->name, wrong);
		return 0;
	}
	log_line("%s: %s; it is left out", f->name, wrong);
	++*bad;
	return 0;
}

/* Keeps the open files. */
static int keep_open(struct names *n)
{
	int kept = 0;

	for (int i = 0; i < n->count; i++)
		if (n->list[i].fd >= 0)
			n->list[kept++] = n->list[i];
		else
			free(n->list[i].name);
	n->count = kept;
	if (!kept)
		log_line("there is no file to merge");
	return kept ? 0 : -ENOENT;
}

int names_open(struct names *n, uint64_t *bad)
{
	int err = raise_limit(n->count);

	for (int i = 0; !err && i < n->count; i++)
		err = open_file(n, &n->list[i], bad);
	return err ?: keep_open(n);
}

void names_free(struct names *n)
{
	for (int i = 0; i < n->count; i++) {
		file_close(&n->list[i]);
		free(n->list[i].name);
	}
	free(n->list);
	*n = (struct names){ .list = NULL };
}
