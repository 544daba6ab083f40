// SPDX-License-Identifier: GPL-2.0
/* Records: see record.h. One line per change: WHAT NAME IFINDEX WIPHY TYPE. */
#include "record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".monitor"

static const char *const words[] = {
	[RECORD_MADE] = "made",
	[RECORD_TYPE] = "type",
	[RECORD_DOWN] = "down",
};

/* Opens and locks the file; -ESTALE if the locked file was removed. */
static int take(struct record *r)
{
	struct stat ours, there;
	int err;

	r->fd = open(r->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (r->fd < 0)
		return -errno;
	if (flock(r->fd, LOCK_EX | LOCK_NB) == 0 && fstat(r->fd, &ours) == 0 &&
	    stat(r->path, &there) == 0 && ours.st_ino == there.st_ino)
		return 0;
	err = errno == EWOULDBLOCK ? -EWOULDBLOCK : -ESTALE;
	record_leave(r);
	return err;
}

/* Reads one line. Returns whether it is a change. */
static bool parse(const char *line, struct record_change *c)
{
	char word[8];

	memset(c, 0, sizeof(*c));
	if (sscanf(line, "%7s %15s %d %u %u", word, c->name, &c->ifindex, &c->wiphy, &c->type) != 5)
		return false;
	for (c->what = RECORD_MADE; c->what <= RECORD_DOWN; c->what++)
		if (!strcmp(word, words[c->what]))
			return true;
	return false;
}

static void read_all(struct record *r)
{
	char text[RECORD_CHANGES_MAX * 80] = "", *line = text, *end;

	if (pread(r->fd, text, sizeof(text) - 1, 0) <= 0)
		return;
	for (; r->count < RECORD_CHANGES_MAX && (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		r->count += parse(line, &r->changes[r->count]);
	}
}

int record_take(struct record *r, const char *interface)
{
	int err = -ESTALE;

	r->count = 0;
	lock_path(r->path, interface, SUFFIX);
	mkdir(LOCK_ROOT, 0700);
	for (int tries = 0; err == -ESTALE && tries < 10; tries++)
		err = take(r);
	if (!err)
		read_all(r);
	return err == -ESTALE ? -EWOULDBLOCK : err;
}

int record_add(struct record *r, const struct record_change *c)
{
	char line[80];
	int len = snprintf(line, sizeof(line), "%s %s %d %u %u\n", words[c->what], c->name,
			   c->ifindex, c->wiphy, c->type);

	if (r->count == RECORD_CHANGES_MAX)
		return -ENOSPC;
	errno = EIO;
	/* One write, so that the line is there or not. */
	if (r->fd >= 0 && write(r->fd, line, len) != len)
		return -errno;
	r->changes[r->count++] = *c;
	return 0;
}

void record_remove(struct record *r)
{
	if (r->fd >= 0)
		unlink(r->path); /* while locked: see take */
	record_leave(r);
}

void record_leave(struct record *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	r->count = 0;
}

unsigned int record_list(char out[][RECORD_NAME_LEN], unsigned int max)
{
	DIR *dir = opendir(LOCK_ROOT);
	unsigned int count = 0;
	struct dirent *e;
	char prefix[16];
	size_t skip = snprintf(prefix, sizeof(prefix), "%u.", lock_namespace());

	while (dir && count < max && (e = readdir(dir))) {
		size_t len = strlen(e->d_name), tail = strlen(SUFFIX);

		if (len <= skip + tail || strncmp(e->d_name, prefix, skip) ||
		    strcmp(e->d_name + len - tail, SUFFIX) || len - skip - tail >= RECORD_NAME_LEN)
			continue;
		snprintf(out[count++], RECORD_NAME_LEN, "%.*s", (int)(len - skip - tail),
			 e->d_name + skip);
	}
	if (dir)
		closedir(dir);
	return count;
}
