// SPDX-License-Identifier: GPL-2.0
/* Pins: see pin.h. */
#include "pin.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"

#define PIN_PATH_MAX 192 /* modules' maps have the longest */
#define PATIENCE_MS 2000
#define PIN_NEW "new" /* until it replaces another */

void pin_zero(struct pin *p)
{
	memset(p, 0, sizeof(*p));
	p->dir = -1;
}

static void close_zero(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pin_path(char *out, int size, const char *interface)
{
	snprintf(out, size, PIN_ROOT "/%s", interface);
	for (char *c = out + strlen(PIN_ROOT); *c; c++)
		if (*c == '.')
			*c = ':'; /* which no interface's name contains */
}

/* After an agent was killed, its second process has the lock until it ends, which is soon. */
static int lock_patiently(int fd)
{
	struct timespec t = { 0, 10000000 };
	int err = 0;

	for (int left_ms = PATIENCE_MS; left_ms >= 0; left_ms -= 10) {
		err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
		if (err != -EWOULDBLOCK)
			break;
		nanosleep(&t, NULL);
	}
	return err;
}

/* Another saluki may have removed the empty root folder meanwhile. */
static int make_folder(const char *path)
{
	for (int tries = 0; tries < 10; tries++) {
		if (mkdir(PIN_ROOT, 0700) && errno != EEXIST)
			return -errno;
		if (mkdir(path, 0700) == 0 || errno == EEXIST)
			return 0;
		if (errno != ENOENT)
			return -errno;
	}
	return -ENOENT;
}

/* Makes, opens and locks the folder of pins. */
static int lock_folder(struct pin *p, const char *interface)
{
	int err;

	pin_path(p->path, sizeof(p->path), interface);
	err = make_folder(p->path);
	if (err)
		return err;
	p->dir = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = p->dir < 0 ? -errno : lock_patiently(p->dir);
	if (err)
		close_zero(&p->dir); /* the pins are not ours to remove */
	return err;
}

/* ---- pins ------------------------------------------------------------------------------------ */

bool pin_is_mounted(void)
{
	struct statfs st;

	return statfs(PIN_MOUNT, &st) == 0 && (unsigned int)st.f_type == BPF_FS_MAGIC;
}

int pin_mount(void)
{
	if (pin_is_mounted())
		return 0;
	return mount("bpf", PIN_MOUNT, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700")
		       ? -errno
		       : 1;
}

int pin_take(struct pin *p, const char *interface)
{
	int err = pin_mount();

	err = err < 0 ? err : lock_folder(p, interface);
	if (err == -EWOULDBLOCK)
		log_line("%s: another saluki captures here; stop it first ('fuser -v %s' shows it)",
			 interface, p->path);
	else if (err == -EACCES || err == -EPERM)
		log_line("%s: cannot make its folder of pins: not permitted; run as root",
			 interface);
	else if (err)
		log_line("%s: cannot make its folder of pins: %s; is bpffs mounted on /sys/fs/bpf?",
			 interface, strerror(-err));
	return err;
}

void pin_release(struct pin *p)
{
	if (p->dir >= 0)
		rmdir(p->path); /* if it is empty, and the root too */
	close_zero(&p->dir);
	rmdir(PIN_ROOT);
}

static int put(const struct pin *p, const char *name, int fd)
{
	char path[PIN_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", p->path, name);
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

int pin_put(const struct pin *p, const char *name, int fd)
{
	int err = put(p, name, fd);

	if (err != -EEXIST)
		return err;
	/* The name always has one of the two: an object that only a pin holds would end without it.
	 */
	pin_remove(p, PIN_NEW);
	err = put(p, PIN_NEW, fd);
	return err ?: pin_rename(p, PIN_NEW, name);
}

int pin_rename(const struct pin *p, const char *from, const char *to)
{
	return renameat(p->dir, from, p->dir, to) ? -errno : 0;
}

int pin_get(const struct pin *p, const char *name)
{
	char path[PIN_PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", p->path, name);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

void pin_remove(const struct pin *p, const char *name)
{
	if (p->dir >= 0)
		unlinkat(p->dir, name, 0);
}

/* The config first: without it the rest is ignored, if we are killed now. Modules' pins have other
 * names. */
static const char *const names[] = {
	"config",	  "ring",      "mapped",   "wakeup",	   "journal",	  "counters",
	"filter",	  "link",      "program",  "link_ingress", "link_egress", "program_ingress",
	"program_egress", "slots_xdp", "slots_tc", PIN_NEW,
};

bool pin_is_empty(const struct pin *p)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (faccessat(p->dir, names[i], F_OK, 0) == 0)
			return false;
	return true;
}

void pin_clear_modules(const struct pin *p)
{
	DIR *d = p->dir < 0 ? NULL : opendir(p->path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "module", strlen("module")))
			pin_remove(p, e->d_name);
	if (d)
		closedir(d);
}

void pin_clear(const struct pin *p)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		pin_remove(p, names[i]);
	pin_clear_modules(p);
}
