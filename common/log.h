/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to people: one line on standard error, behind the program's name. Said once, where
 * the thing that failed is known by name. Traffic is never a reason for a line: that is what
 * counters are for. For all programs, and for wire/, which has one file to complain of.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stddef.h>
#include <stdint.h>

/* The end of a noun that has a number in front: "1 frame", "2 frames". */
#define PLURAL(n) ((n) == 1 ? "" : "s")

enum log_level { LOG_LEVEL_QUIET = -1, LOG_LEVEL_NORMAL, LOG_LEVEL_VERBOSE };

/* Set before other processes and threads start. */
struct log_settings {
	enum log_level level;
	int fd;					  /* 0: standard error */
	size_t (*stamp)(char *text, size_t size); /* writes the time before a line; NULL: none */
	const char *where; /* the place in a file that lines are about; NULL: none */
	uint32_t *shown;   /* a status line is below the log: terminal_line.h; NULL: never */
};
extern struct log_settings log_settings;

/* For a program that runs until it is stopped: sets the level, and puts the local time before each
 * line. If standard error is the systemd journal, lines have no time. */
void log_start(enum log_level level);

/* Logs an error, a warning, or the end of a fault. Makes one write per line, so that lines of two
 * processes do not mix. Control characters are replaced. */
__attribute__((format(printf, 1, 2))) void log_line(const char *fmt, ...);
/* Not with -q. */
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);
/* With -v. */
__attribute__((format(printf, 1, 2))) void log_verbose(const char *fmt, ...);
/* Replaces control characters, as above: names of interfaces can have any. */
void log_clean(char *text);
/* Whole lines of a report, as they are. */
void log_report(const char *lines);

#endif
