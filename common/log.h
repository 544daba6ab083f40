/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to people: one line on standard error, behind the program's name. Said once, where
 * the thing that failed is known by name. Traffic is never a reason for a line: that is what
 * counters are for.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What is behind the word for what there are so many of: "1 frame", "2 frames". */
#define PLURAL(n) ((n) == 1 ? "" : "s")

/* One write a line, so that lines of two processes do not mix. */
__attribute__((format(printf, 1, 2))) static inline void log_line(const char *fmt, ...)
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

#endif
