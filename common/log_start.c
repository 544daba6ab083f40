// SPDX-License-Identifier: GPL-2.0
/* The log of a program that runs until it is stopped: see log.h. In: the level, the environment. */
#include "log.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* As `tcpdump -tttt` prints it, without the fraction. */
static size_t log_stamp(char *text, size_t size)
{
	time_t now = time(NULL);
	struct tm local;

	if (!localtime_r(&now, &local))
		return 0;
	return strftime(text, size, "%Y-%m-%d %H:%M:%S ", &local);
}

/* The journal names its socket's device and inode (systemd.exec(5)). A program whose standard error
 * was redirected since has the variable too. */
static bool log_is_journal(void)
{
	const char *named = getenv("JOURNAL_STREAM");
	char stream[64];
	struct stat st;

	if (!named || fstat(STDERR_FILENO, &st))
		return false;
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	return !strcmp(named, stream);
}

void log_start(enum log_level level)
{
	tzset(); /* reads a file, which the sandbox will not allow */
	log_settings.level = level;
	log_settings.stamp = log_is_journal() ? NULL : log_stamp;
}
