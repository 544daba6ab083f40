// SPDX-License-Identifier: GPL-2.0
/* Names: see names.h. */
#include "names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "pcapng.h"

#define SHB_APPLICATION 4
#define OWN "saluki-merge "
#define ENDING ".pcapng"

/* Whether the file is a trace of ours. */
static bool is_merged(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t begin[1024];
	ssize_t n = fd < 0 ? -1 : pread(fd, begin, sizeof(begin), 0);
	struct pcapng_block b;
	struct pcapng_option o;
	bool swapped = false, own = false;

	if (fd >= 0)
		close(fd);
	if (n <= 0 || pcapng_block(&b, begin, n, &swapped) <= 0 || b.type != BLOCK_SECTION)
		return false;
	while (pcapng_option(&b, &o))
		own |= o.code == SHB_APPLICATION && o.len > strlen(OWN) &&
		       !memcmp(o.value, OWN, strlen(OWN));
	return own;
}

static bool has(const struct names *n, const struct stat *st)
{
	for (int i = 0; i < n->count; i++)
		if (n->ids[i].inode == st->st_ino && n->ids[i].device == st->st_dev)
			return true;
	return false;
}

bool names_has(const struct names *n, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && has(n, &st);
}

/* Makes room for one more. */
static int grow(struct names *n)
{
	int room = 2 * n->room + 64;
	struct name_id *ids;
	char **of;

	if (n->count < n->room)
		return 0;
	of = realloc(n->of, room * sizeof(*of));
	if (!of)
		return -ENOMEM;
	n->of = of;
	ids = realloc(n->ids, room * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	n->ids = ids;
	n->room = room;
	return 0;
}

static int append(struct names *n, const char *path, const struct stat *st)
{
	if (grow(n))
		return -ENOMEM;
	n->of[n->count] = strdup(path);
	n->ids[n->count] = (struct name_id){ st->st_dev, st->st_ino };
	return n->of[n->count++] ? 0 : -ENOMEM;
}

static int add_file(struct names *n, const char *path, const struct stat *st, bool in_folder)
{
	const char *wrong = NULL;

	if (!S_ISREG(st->st_mode))
		wrong = "is not a file; to read a pipe, use -r -";
	else if (has(n, st))
		wrong = "is given twice";
	else if (is_merged(path))
		wrong = "is a trace of saluki-merge; give the files of saluki-collector";
	else
		return append(n, path, st);
	if (in_folder) {
		log_info("%s: is left out: it %s", path, wrong);
		return 0;
	}
	log_line("%s: %s", path, wrong);
	return -EINVAL;
}

static int is_capture(const struct dirent *d)
{
	size_t len = strlen(d->d_name), end = strlen(ENDING);

	return len > end && !strcmp(d->d_name + len - end, ENDING);
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
		else if (!err && stat(path, &st))
			err = -errno;
		else if (!err)
			err = add_file(n, path, &st, true);
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

void names_free(struct names *n)
{
	for (int i = 0; i < n->count; i++)
		free(n->of[i]);
	free(n->of);
	free(n->ids);
	*n = (struct names){ .of = NULL };
}
