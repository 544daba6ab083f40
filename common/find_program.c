// SPDX-License-Identifier: GPL-2.0
/* Find program: see find_program.h. */
#include "find_program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool find_program(const char *program, char *path)
{
	const char *folders = getenv("PATH") ?: "/usr/sbin:/usr/bin:/sbin:/bin";
	char at[PATH_MAX];

	while (*folders) {
		size_t len = strcspn(folders, ":");
		int n = snprintf(at, sizeof(at), "%.*s/%s", (int)len, folders, program);

		if (len && n < (int)sizeof(at) && access(at, X_OK) == 0) {
			if (path)
				strcpy(path, at);
			return true;
		}
		folders += len + (folders[len] == ':');
	}
	return false;
}
