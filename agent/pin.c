// SPDX-License-Identifier: GPL-2.0
/* Pins: see pin.h. */
#include "pin.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <saluki/log.h>

void pin_zero(struct pin *p)
{
	memset(p, 0, sizeof(*p));
	p->lock = p->dir = -1;
}

static void close_zero(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Opens and locks the file; -ESTALE where the one that was locked is not there any more. */
static int lock_file(struct pin *p)
{
	struct stat ours, there;

	p->lock = open(p->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (p->lock < 0)
		return 0; /* no /run here: then the lock of the pins must do */
	if (flock(p->lock, LOCK_EX | LOCK_NB))
		return -errno;
	if (fstat(p->lock, &ours) || stat(p->lock_path, &there) || ours.st_ino != there.st_ino) {
		close_zero(&p->lock);
		return -ESTALE;
	}
	return 0;
}

/* The folder of pins alone does not do: `ip netns exec` hides it behind a /sys of its own, and
 * namespaces may share one. So this lock is named for the network namespace. */
static int lock_interface(struct pin *p, const char *interface)
{
	struct stat ns;
	int err;

	if (stat("/proc/self/ns/net", &ns))
		return 0;
	mkdir(PIN_LOCK_ROOT, 0700);
	snprintf(p->lock_path, sizeof(p->lock_path), PIN_LOCK_ROOT "/%llu.%s",
		 (unsigned long long)ns.st_ino, interface);
	for (int tries = 0; (err = lock_file(p)) == -ESTALE && tries < 10; tries++)
		;
	if (err)
		close_zero(&p->lock);
	return err == -ESTALE ? -EWOULDBLOCK : err;
}

static void unlock_interface(struct pin *p)
{
	if (p->lock < 0)
		return;
	unlink(p->lock_path); /* while it is locked: see lock_file */
	close_zero(&p->lock);
}

/* Makes, opens and locks the folder of pins. */
static int lock_folder(struct pin *p, const char *interface)
{
	int err = 0;

	/* bpffs takes no dots (eth0.100), and no interface has a colon in its name. */
	snprintf(p->path, sizeof(p->path), PIN_ROOT "/%s", interface);
	for (char *c = p->path + strlen(PIN_ROOT); *c; c++)
		if (*c == '.')
			*c = ':';
	if ((mkdir(PIN_ROOT, 0700) && errno != EEXIST) || (mkdir(p->path, 0700) && errno != EEXIST))
		return -errno;
	p->dir = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0 || flock(p->dir, LOCK_EX | LOCK_NB)) {
		err = -errno;
		close_zero(&p->dir); /* the pins are not ours to remove */
	}
	return err;
}

/* ---- pins ------------------------------------------------------------------------------------ */

/* Mounts bpffs where no init system has done it, as iproute2 and bpftool do. */
static int mount_bpffs(void)
{
	struct statfs st;

	if (statfs("/sys/fs/bpf", &st) == 0 && (unsigned int)st.f_type == BPF_FS_MAGIC)
		return 0;
	return mount("bpf", "/sys/fs/bpf", "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700")
		       ? -errno
		       : 0;
}

static int pin_one(const struct pin *p, const struct pin_map *m)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", p->path, m->name);
	unlink(path); /* of an agent that was killed: the locks say that none runs */
	return m->fd >= 0 && bpf_obj_pin(m->fd, path) ? -errno : 0;
}

static void unpin_all(struct pin *p)
{
	static const char *const names[] = { "ring", "mapped", "counters" };

	if (p->dir < 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(p->dir, names[i], 0);
	rmdir(p->path);
	close_zero(&p->dir);
}

int pin_take(struct pin *p, const char *interface, const struct pin_map *maps)
{
	int err = lock_interface(p, interface);

	err = err ?: mount_bpffs();
	err = err ?: lock_folder(p, interface);
	if (err == -EWOULDBLOCK) {
		log_line("%s: another saluki captures here; stop it first ('fuser -v %s' shows it)",
			 interface, p->lock >= 0 ? p->path : p->lock_path);
		return err;
	}
	for (; maps->name && !err; maps++)
		err = pin_one(p, maps);
	if (err)
		log_line("%s: cannot pin its maps: %s; is bpffs mounted on /sys/fs/bpf?", interface,
			 strerror(-err));
	return err;
}

void pin_drop(struct pin *p)
{
	unpin_all(p);
	unlock_interface(p);
}
