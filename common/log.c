// SPDX-License-Identifier: GPL-2.0
/* Messages: see log.h. In: a format. Out: one line, cut at 1 KB. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERASE "\r\033[K"

struct log_settings log_settings;

/* Returns the text that erases a status line below the log. */
static const char *log_erase(void)
{
	uint32_t *shown = log_settings.shown;

	return shown && __atomic_exchange_n(shown, 0, __ATOMIC_RELAXED) ? ERASE : "";
}

/* Two bytes of UTF-8 that a terminal takes for ESC and another character. */
static bool is_long_control(const char *c)
{
	return (c[0] & 0xff) == 0xc2 && (c[1] & 0xe0) == 0x80;
}

void log_clean(char *text)
{
	for (; *text; text++) {
		if (is_long_control(text))
			*text++ = '?';
		else if ((*text & 0xff) >= ' ' && *text != 0x7f)
			continue;
		*text = '?';
	}
}

static void put(const char *text)
{
	if (*text && write(log_settings.fd ?: STDERR_FILENO, text, strlen(text)) < 0)
		return; /* there is nobody to tell */
}

static void log_write(const char *fmt, va_list args)
{
	char line[1024], stamp[32] = "";
	int n, head;

	if (log_settings.stamp)
		log_settings.stamp(stamp, sizeof(stamp));
	n = snprintf(line, sizeof(line), "%s%s%s: ", log_erase(), stamp,
		     program_invocation_short_name);
	head = n;
	if (log_settings.where)
		n += snprintf(line + n, sizeof(line) / 2, "%s", log_settings.where);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, args);
	log_clean(line + head);
	strcat(line, "\n");
	put(line);
}

void log_line(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_write(fmt, args);
	va_end(args);
}

void log_info(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (log_settings.level >= LOG_LEVEL_NORMAL)
		log_write(fmt, args);
	va_end(args);
}

void log_verbose(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (log_settings.level >= LOG_LEVEL_VERBOSE)
		log_write(fmt, args);
	va_end(args);
}

void log_report(const char *lines)
{
	put(log_erase());
	put(lines);
}
