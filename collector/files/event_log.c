// SPDX-License-Identifier: GPL-2.0
/* Event log: see event_log.h. */
#include "event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "replaced.h"

#define SUFFIX ".jsonl"
#define OPEN_HOW (O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

static int folder_open(struct files *f)
{
	int fd = open(f->o->events, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fd = files_locked(fd);
	if (fd < 0)
		return fd;
	f->event_log_folder = fd;
	return faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) ? -errno : 0;
}

int files_event_log_init(struct files *f)
{
	int err = f->o->events ? folder_open(f) : 0;

	if (err)
		log_line("--events %s: %s", f->o->events,
			 err == -EWOULDBLOCK ? "another saluki-collector writes to it"
					     : strerror(-err));
	return err;
}

void files_event_log_free(struct files *f)
{
	if (f->event_log_folder >= 0)
		close(f->event_log_folder);
}

int files_event_log_open(struct files *f, const char *module, struct files_answer *a)
{
	size_t len = strnlen(module, MODULE_EVENT_NAME_MAX + 1);
	char name[MODULE_EVENT_NAME_MAX + sizeof(SUFFIX)];
	struct stat st;
	int fd;

	if (f->event_log_folder < 0 || !module_event_name_is_good(module, len))
		return -EINVAL; /* the asking process is not trusted */
	snprintf(name, sizeof(name), "%s" SUFFIX, module);
	snprintf(a->name, sizeof(a->name), "%s", name);
	/* O_NONBLOCK: opening a FIFO would wait for its reader. */
	fd = openat(f->event_log_folder, name, OPEN_HOW);
	if (fd < 0 && errno == ENOENT) {
		int err = files_limit_module(&f->limit, f->event_log_folder, monotonic_ns());

		if (err)
			return err;
		fd = openat(f->event_log_folder, name, OPEN_HOW | O_CREAT, 0640);
	}
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}
