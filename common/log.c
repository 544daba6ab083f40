// SPDX-License-Identifier: GPL-2.0
/* Messages: see log.h. In: a format. Out: one line, cut at 1 KB. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void log_line(const char *fmt, ...)
{
	char line[1024];
	va_list args;
	int n = snprintf(line, sizeof(line), "%s: ", program_invocation_short_name);

	va_start(args, fmt);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, args);
	va_end(args);
	strcat(line, "\n");
	fputs(line, stderr);
}
