// SPDX-License-Identifier: GPL-2.0
/* Extcap install: see extcap_install.h. */
#include "extcap_install.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

/* Where Wireshark looks for a user's programs. It has another folder since version 4.2, and reads
 * this one too. */
static int folder_of_user(char folder[PATH_MAX])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config)
		return snprintf(folder, PATH_MAX, "%s/wireshark/extcap", config);
	return home && *home ? snprintf(folder, PATH_MAX, "%s/.config/wireshark/extcap", home) : 0;
}

static int make_folders(char *folder)
{
	for (char *p = strchr(folder + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(folder, 0700);
		*p = '/';
	}
	return mkdir(folder, 0700) && errno != EEXIST ? -errno : 0;
}

/* Replaces only a link. */
static int link_there(const char *program, const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		unlink(path);
	return symlink(program, path) ? -errno : 0;
}

int extcap_install(const char *link, const char *display)
{
	char program[PATH_MAX] = "", folder[PATH_MAX], path[PATH_MAX + 32];
	int err = readlink("/proc/self/exe", program, sizeof(program) - 1) < 0 ? -errno : 0;
	int len = folder_of_user(folder);

	if (!err && (len <= 0 || len >= PATH_MAX))
		err = -ENOENT;
	err = err ?: make_folders(folder);
	snprintf(path, sizeof(path), "%s/%s", err ? "extcap" : folder, link);
	err = err ?: link_there(program, path);
	if (err)
		log_line("%s: %s", path, strerror(-err));
	else
		log_line("%s: made; Wireshark lists the interface %s at its next start", path,
			 display);
	return err ? 1 : 0;
}
