// SPDX-License-Identifier: GPL-2.0
/* Lock: see lock.h. */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

void lock_zero(struct lock *l)
{
	memset(l, 0, sizeof(*l));
	l->fd = -1;
}

uint32_t lock_namespace(void)
{
	struct stat ns;

	return stat("/proc/self/ns/net", &ns) ? 0 : ns.st_ino;
}

void lock_path(char out[LOCK_PATH_MAX], const char *interface, const char *suffix)
{
	snprintf(out, LOCK_PATH_MAX, LOCK_ROOT "/%u.%s%s", lock_namespace(), interface, suffix);
}

static const char *what_it_does(const char *suffix)
{
	if (!*suffix)
		return "captures here";
	return strcmp(suffix, ".radio") ? "reads the events of that module"
					: "changes its channels";
}

static void say_who(const struct lock *l, const char *interface, const char *suffix)
{
	char text[16] = "", who[80];

	if (pread(l->fd, text, sizeof(text) - 1, 0) < 0)
		text[0] = 0;
	text[strcspn(text, "\n")] = 0;
	snprintf(who, sizeof(who), "another saluki %s%s%s", what_it_does(suffix),
		 *text ? ", process " : "", text);
	if (l->instead)
		log_info("%s: %s; %s", interface, who, l->instead);
	else
		log_line("%s: %s; stop it first ('fuser -v %s' shows it)", interface, who, l->path);
}

/* Opens and locks the file; -ESTALE if the locked file was removed. */
static int lock_file(struct lock *l, const char *interface, const char *suffix, int how)
{
	struct stat ours, there;
	int err;

	l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->fd < 0)
		return 0; /* no /run: the lock on the pins must do */
	if (flock(l->fd, how) == 0 && fstat(l->fd, &ours) == 0 && stat(l->path, &there) == 0 &&
	    ours.st_ino == there.st_ino)
		return 0;
	err = errno == EWOULDBLOCK ? -EWOULDBLOCK : -ESTALE;
	if (err == -EWOULDBLOCK)
		say_who(l, interface, suffix);
	close(l->fd);
	l->fd = -1;
	return err;
}

static int take(struct lock *l, const char *interface, const char *suffix, int how)
{
	int err = -ESTALE, folder;

	lock_path(l->path, interface, suffix);
	mkdir(LOCK_ROOT, 0700);
	/* lock_sweep() must not have the lock for a moment. */
	folder = open(LOCK_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		flock(folder, LOCK_SH);
	for (int tries = 0; err == -ESTALE && tries < 10; tries++)
		err = lock_file(l, interface, suffix, how);
	if (folder >= 0)
		close(folder);
	/* Only for people: the lock works without it, for example on a full disk. */
	if (!err && l->fd >= 0 && ftruncate(l->fd, 0) == 0)
		dprintf(l->fd, "%d\n", getpid());
	return err == -ESTALE ? -EWOULDBLOCK : err;
}

int lock_take(struct lock *l, const char *interface, const char *suffix)
{
	return take(l, interface, suffix, LOCK_EX | LOCK_NB);
}

int lock_share(struct lock *l, const char *interface, const char *instead)
{
	int err;

	l->instead = instead;
	err = take(l, interface, "", LOCK_EX | LOCK_NB);
	l->is_shared = err == -EWOULDBLOCK;
	return l->is_shared ? 0 : err;
}

int lock_wait(struct lock *l, const char *interface, const char *suffix)
{
	return take(l, interface, suffix, LOCK_EX);
}

void lock_release(struct lock *l)
{
	if (l->fd < 0)
		return;
	unlink(l->path); /* while locked: see lock_file */
	close(l->fd);
	lock_zero(l);
}
