// SPDX-License-Identifier: GPL-2.0
/* Ring: see ring.h. */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "pcapng/section.h"

#define HEAD 1024 /* bytes that have the section header's comment */

/* Whether the opened file begins with a section header of this ring. */
static bool is_of(const struct ring *r, int fd)
{
	static const uint8_t section[] = { 0x0a, 0x0d, 0x0d, 0x0a };
	char head[HEAD];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	n = read(fd, head, sizeof(head));
	return n > (ssize_t)sizeof(section) && !memcmp(head, section, sizeof(section)) &&
	       memmem(head, n, r->comment, strlen(r->comment));
}

static int ring_open(const char *name)
{
	return open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static int append(struct ring *r, const char *name)
{
	char **longer = realloc(r->names, (r->count + 1) * sizeof(*longer));

	if (!longer)
		return -ENOMEM;
	r->names = longer;
	longer[r->count] = strdup(name);
	if (!longer[r->count])
		return -ENOMEM;
	r->count++;
	return 0;
}

/* Deletes a file, which may have been replaced, moved or deleted since. */
static void drop(const struct ring *r, const char *name)
{
	int fd = ring_open(name);

	if (fd < 0)
		return;
	/* The lock is another collector's. */
	if (is_of(r, fd) && !flock(fd, LOCK_EX | LOCK_NB) && unlink(name) && errno != ENOENT)
		log_line("warning: %s: cannot be deleted, and stays (-W): %s", name,
			 strerror(errno));
	close(fd);
}

/* Empty files would push full ones out, when collectors end early again and again. */
static int take_old(struct ring *r, const char *name)
{
	int fd = ring_open(name), err = 0;

	if (fd < 0)
		return 0;
	if (is_of(r, fd)) {
		if (series_is_empty(fd))
			drop(r, name);
		else
			err = append(r, name);
	}
	close(fd);
	return err;
}

int ring_init(struct ring *r, const struct series *s, unsigned int most, char *const *files,
	      unsigned int count)
{
	char base[NAME_MAX + 1];
	int err = series_base(s, base, sizeof(base));

	*r = (struct ring){ .most = most };
	if (err)
		return err;
	snprintf(r->comment, sizeof(r->comment), SECTION_RING_BEGIN "%s" SECTION_RING_END, base);
	for (unsigned int i = 0; i < count && !err; i++)
		err = take_old(r, files[i]);
	return err;
}

void ring_add(struct ring *r, const char *name)
{
	unsigned int surplus;

	if (!*r->comment)
		return;
	if (append(r, name))
		log_line("warning: %s: no memory to note it; it stays (-W)", name);
	surplus = r->count > r->most ? r->count - r->most : 0;
	for (unsigned int i = 0; i < surplus; i++) {
		drop(r, r->names[i]);
		free(r->names[i]);
	}
	r->count -= surplus;
	memmove(r->names, r->names + surplus, r->count * sizeof(*r->names));
}

void ring_forget(struct ring *r, const char *name)
{
	if (r->count && !strcmp(r->names[r->count - 1], name))
		free(r->names[--r->count]);
}

void ring_free(struct ring *r)
{
	while (r->count)
		free(r->names[--r->count]);
	free(r->names);
	*r = (struct ring){ 0 };
}
