// SPDX-License-Identifier: GPL-2.0
/* Files of modules' lines: see files_lines.h. */
#include "files_lines.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saluki/log.h>

#include "files_replaced.h"
#include "lines.h"

#define SUFFIX ".jsonl"

static bool module_is_known(const struct files *f, const char *module)
{
	for (unsigned int i = 0; i < f->module_count; i++)
		if (!strcmp(f->modules[i], module))
			return true;
	return false;
}

static void module_add(struct files *f, const char *module, size_t len)
{
	memcpy(f->modules[f->module_count], module, len);
	f->modules[f->module_count++][len] = 0;
}

/* Notes the files that are there. */
static int folder_read(struct files *f)
{
	int fd = dup(f->lines_folder);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while (f->module_count < LINES_FILES_MAX && (e = readdir(d))) {
		const char *end = strrchr(e->d_name, '.');
		size_t len = end ? end - e->d_name : 0;

		if (end && !strcmp(end, SUFFIX) && said_name_is_good(e->d_name, len))
			module_add(f, e->d_name, len);
	}
	closedir(d);
	return 0;
}

static int folder_open(struct files *f)
{
	int fd = open(f->o->events, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fd = files_locked(fd);
	if (fd < 0)
		return fd;
	f->lines_folder = fd;
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		return -errno;
	f->modules = calloc(LINES_FILES_MAX, sizeof(f->modules[0]));
	return f->modules ? folder_read(f) : -ENOMEM;
}

int files_lines_init(struct files *f)
{
	int err = f->o->events ? folder_open(f) : 0;

	if (err)
		log_line("--events %s: %s", f->o->events,
			 err == -EWOULDBLOCK ? "another saluki-collector writes to it"
					     : strerror(-err));
	return err;
}

void files_lines_free(struct files *f)
{
	if (f->lines_folder >= 0)
		close(f->lines_folder);
	free(f->modules);
}

int files_lines_open(struct files *f, const char *module, struct files_answer *a)
{
	size_t len = strnlen(module, SAID_NAME_MAX + 1);
	char name[SAID_NAME_MAX + sizeof(SUFFIX)];
	struct stat st;
	int fd;

	if (f->lines_folder < 0 || !said_name_is_good(module, len))
		return -EINVAL; /* who asks is not to be trusted */
	if (!module_is_known(f, module)) {
		if (f->module_count == LINES_FILES_MAX)
			return FILES_TOO_MANY;
		module_add(f, module, len);
	}
	snprintf(name, sizeof(name), "%s" SUFFIX, module);
	snprintf(a->name, sizeof(a->name), "%s", name);
	/* To write to a FIFO would be to wait for its reader. */
	fd = openat(f->lines_folder, name,
		    O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}
